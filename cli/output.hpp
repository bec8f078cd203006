#pragma once

#include "cli/arguments.hpp"

#include <boost/json/fwd.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

enum class tone { plain, good, busy, bad, faint };

/// What a person sees. Our literals are laid out as they are written; every other text becomes one printable line of at
/// most 4 KiB, whatever a cluster, a policy or a file put into it. There is no way around it: only toned() and redrawn()
/// add what a terminal obeys.
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
  /// Several lines of somebody else's; all but the first are indented, so that none looks like one of ours.
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
  friend page toned(const page& text, tone t, bool lively);
  friend page redrawn(std::size_t lines_before, const page& block, std::size_t columns);
  friend class table;
  static std::string one_line(std::string_view theirs);
  std::string text_;
};

/// Two-space indented JSON with numbers as people write them (371.5, not 3.715E2), ending in a newline.
/// What is not fit to be seen is escaped: a reader of JSON gets the same value, a terminal obeys nothing.
std::string pretty_json(const boost::json::value& v);
/// The value as JSON or YAML text, escaped as above.
std::string machine_text(const boost::json::value& v, output_format format);

/// Whether to use colours and redraw on this file descriptor: a terminal, and NO_COLOR is not set.
bool is_lively(int fd);

/// `text` in a colour, or as it is when not `lively`.
page toned(const page& text, tone t, bool lively);
/// A block of lines in the place of `lines_before` lines written before, each cut to the terminal's width.
page redrawn(std::size_t lines_before, const page& block, std::size_t columns);
/// The terminal's width; 120 where there is none.
std::size_t terminal_columns(int fd);

/// Digests ("sha256:" and 64 digits) cut to twelve digits, for a person's eyes.
std::string with_short_digests(std::string_view text);

/// Columns padded to their widest cell, two spaces apart, as kubectl prints. A cell of more than 200 columns sticks out
/// instead of widening its column.
class table {
public:
  explicit table(std::vector<page> head);
  void row(std::vector<page> cells) { rows_.push_back(std::move(cells)); }
  page text(const page& indent = {}) const;

private:
  std::vector<std::vector<page>> rows_;
};

/// Writes all of it; false when the reader is gone or the disk is full. These two are the only way to a terminal.
bool write_out(int fd, const page& text);
template <std::same_as<std::string> Text>
bool write_out(int fd, const Text& text) = delete;  // a page, or bytes?
/// Bytes that a program may read: as they are into files and pipes, so that they equal Helm's; printable on a terminal.
bool write_bytes(int fd, std::string_view bytes);

}  // namespace cli
