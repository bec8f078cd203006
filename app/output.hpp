#pragma once

#include "reactor/plain/result.hpp"

#include <boost/json/fwd.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// `-o`: for people, or as a document (document() below).
enum class output_format { text, wide, json, yaml };

enum class tone { plain, good, busy, bad, faint };

struct terminal_size {
  std::size_t columns = 80, rows = 24;
  friend bool operator==(const terminal_size&, const terminal_size&) = default;
};
/// As it is at this moment; 80×24 where there is no terminal or it does not say. For what draws on
/// a screen: tables ask output_columns().
terminal_size size_of_terminal(int fd);

/// Whether texts have colours.
enum class colours { none, shown };

/// What a person sees. Our literals are laid out as they are written; every other text becomes one
/// printable line of at most 4 KiB, whatever a cluster, a policy or a file put into it. There is no
/// way around it: only toned() and screen() add what a terminal obeys.
class page {
public:
  page() = default;
  template <std::size_t N>
  page(const char (&ours)[N]) : text_(ours) {}
  template <std::size_t N>
  page(char (&)[N]) = delete;
  template <class Text>
    requires std::same_as<Text, std::string> || std::same_as<Text, std::string_view> ||
             std::same_as<Text, const char*>
  page(const Text& theirs) : text_(one_line(theirs)) {}
  /// Several lines of foreign text; all but the first are indented, so that none looks like one
  /// of ours.
  static page lines(std::string_view theirs);

  page& operator+=(const page& more) {
    text_ += more.text_;
    return *this;
  }
  friend page operator+(page a, const page& b) { return std::move(a += b); }
  friend bool operator==(const page&, const page&) = default;
  const std::string& text() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  /// Columns on a terminal, for one line.
  std::size_t width() const noexcept;

private:
  friend page toned(const page& text, tone t, colours tint);
  friend page screen(const page& block, const terminal_size& size);
  friend page entering_screen();
  friend page leaving_screen();
  friend page redrawn(const page& line, std::size_t columns);
  friend page folded(const page& text, std::size_t columns, std::size_t hang);
  friend class table;
  static std::string one_line(std::string_view theirs);
  std::string text_;
};

/// Two-space indented JSON with numbers as people write them (371.5, not 3.715E2), ending in a
/// newline. What is not fit to be seen is escaped: a reader of JSON gets the same value, a terminal
/// obeys nothing.
std::string pretty_json(const boost::json::value& v);
/// What `-o json|yaml` prints: one object with apiVersion windlass.dev/v1alpha1, a kind, and keys
/// as Kubernetes writes them. docs/schema has a JSON Schema for each kind; a test holds real output
/// against them.
inline constexpr std::string_view document_version = "windlass.dev/v1alpha1";
/// `body` with apiVersion and kind before it.
boost::json::object document(std::string_view kind, boost::json::object body);
/// The value as JSON or YAML text, escaped as above.
std::string machine_text(const boost::json::value& v, output_format format);

/// A Go template applied to a document. Errors: what is wrong with the template, or why it ended.
using template_engine = std::function<reactor::result<std::string, std::string>(
    const std::string& text, const boost::json::value& data)>;

/// What -o asks for: a format, or a form that kubectl has beside it, which reads the document.
struct output_choice {
  output_format format = output_format::text;  // json for every other form
  enum class form {
    usual,
    name,
    jsonpath,
    jsonpath_as_json,
    go_template,
    custom_columns
  } as = form::usual;
  std::string expression = {};  // of the last four
  bool no_headers = false;
  template_engine engine = {};  // for go_template
  // NOLINTNEXTLINE(google-explicit-constructor): most commands ask for the format alone
  operator output_format() const noexcept { return format; }
  bool is_machine() const noexcept {
    return format == output_format::json || format == output_format::yaml;
  }
  /// Reads the value of -o. Returns what is wrong with it, "" for nothing. Blocks on the files of
  /// jsonpath-file and the like.
  std::string read(const std::string& text);
};
std::string machine_text(const boost::json::value& v, const output_choice& format) = delete;

/// What `choice` makes of a document. A list has its objects as `items`, each with kind and
/// metadata; a document without them is one object. Errors: a sentence.
reactor::result<std::string, std::string> document_text(const boost::json::object& document,
                                                        const output_choice& choice);
/// Writes that to standard output; why it cannot be is told on standard error. Returns the exit
/// code.
int write_document(const boost::json::object& document, const output_choice& choice);

/// Shown on a terminal, if NO_COLOR is not set, and always if CLICOLOR_FORCE is (--color).
colours colours_at(int fd);
/// Whether a view can be drawn there: a terminal, and not a dumb one. NO_COLOR takes the colours,
/// not the view.
bool is_screen(int fd);

/// `text` in a colour, or as it is.
page toned(const page& text, tone t, colours tint);
/// The whole of a terminal, whatever its cursor's place: the block's first lines, each cut to the
/// width, so that nothing wraps or scrolls.
page screen(const page& block, const terminal_size& size);
/// To a screen of its own, where nothing that was there before is lost, and back.
page entering_screen();
page leaving_screen();
/// One line in the place of the one in which the cursor is, cut to the width.
page redrawn(const page& line, std::size_t columns);

/// No limit to the width of a table or text: `-o wide`.
inline constexpr std::size_t any_width = 0;
/// What standard output fits into: $COLUMNS, else the width of the screen; no limit elsewhere, so
/// that no line of a pipe is ever broken.
std::size_t output_columns();
/// How many lines fit ($LINES, else the screen's); no limit (0) where standard output is no screen.
std::size_t output_rows();
/// Each line broken between words where it is wider than `columns`; what follows is indented as the
/// line is and `hang` more.
page folded(const page& text, std::size_t columns, std::size_t hang = 2);

/// Digests ("sha256:" and 64 digits) cut to twelve digits, for a person's eyes.
std::string with_short_digests(std::string_view text);

/// Columns padded to their widest cell, two spaces apart, as kubectl prints. A cell of more than
/// 200 columns sticks out instead of widening its column. Where a width is given the widest columns
/// become narrower and their cells go on in the next line.
class table {
public:
  explicit table(std::vector<page> head);
  void row(std::vector<page> cells) { rows_.push_back(std::move(cells)); }
  /// How much each column matters: where the words of all do not fit beside each other, the column
  /// with the smallest number is left out first, and none of must_stay.
  static constexpr unsigned must_stay = 100;
  void importance(std::vector<unsigned> of_columns) { importance_ = std::move(of_columns); }
  /// Without its first row, the heads.
  page without_head(const page& indent = {}, std::size_t columns = any_width) const;
  page text(const page& indent = {}, std::size_t columns = any_width) const;

private:
  std::size_t least_width() const;
  table narrowed(std::size_t columns) const;
  std::vector<std::vector<page>> rows_;
  std::vector<unsigned> importance_;  // of the columns; empty: all stay
};

/// Writes all of it; false when the reader is gone or the disk is full. These two are the only way
/// to a terminal.
bool write_out(int fd, const page& text);
template <std::same_as<std::string> Text>
bool write_out(int fd, const Text& text) = delete;  // a page, or bytes?
/// Bytes that a program may read: as they are into files and pipes, so that they equal Helm's;
/// printable on a terminal.
bool write_bytes(int fd, std::string_view bytes);

}  // namespace app
