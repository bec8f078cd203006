#include "app/output.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/write.hpp"

#include <boost/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace app {
namespace {

namespace json = boost::json;

void append(std::string& out, const json::value& v, std::size_t depth);

template <class Items, class Each>
void append_nested(std::string& out, const Items& items, char open, char close, std::size_t depth,
                   Each each) {
  if (items.empty()) {
    out += open;
    out += close;
    return;
  }
  out += open;
  bool first = true;
  for (const auto& item : items) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append((depth + 1) * 2, ' ');
    each(item);
  }
  out += '\n';
  out.append(depth * 2, ' ');
  out += close;
}

void append(std::string& out, const json::value& v, std::size_t depth) {
  if (const auto* o = v.if_object()) {
    append_nested(out, *o, '{', '}', depth, [&](const json::key_value_pair& member) {
      out += json::serialize(json::string_view(member.key())) + ": ";
      append(out, member.value(), depth + 1);
    });
  } else if (const auto* a = v.if_array()) {
    append_nested(out, *a, '[', ']', depth,
                  [&](const json::value& item) { append(out, item, depth + 1); });
  } else if (const auto* d = v.if_double()) {
    std::array<char, 32> text;
    const auto [end, ec] = std::to_chars(text.data(), text.data() + text.size(), *d);
    out.append(text.data(), ec == std::errc{} ? end : text.data());
  } else {
    out += json::serialize(v);
  }
}

constexpr std::size_t most_padded_columns = 200;

/// The length of the colour sequence at the start of a page's text; 0 for none. Only toned() puts
/// them there.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// What a line shows in at most so many columns, with its colours.
std::string cut_line(std::string_view line, std::size_t most) {
  std::string out;
  while (!line.empty()) {
    std::size_t n = colour_length(line);
    if (n == 0) {
      const std::size_t end = std::min(line.find('\033'), line.size());
      const std::string_view kept = reactor::first_columns(line.substr(0, end), most);
      most -= reactor::columns(kept);
      if (kept.size() < end) most = 0;
      out += kept;
      n = end;
    } else {
      out += line.substr(0, n);
    }
    line.remove_prefix(n);
  }
  return out;
}

std::size_t seen_columns(std::string_view text) {
  std::size_t n = 0;
  while (!text.empty()) {
    text.remove_prefix(colour_length(text));
    const std::size_t end = std::min(text.find('\033'), text.size());
    n += reactor::columns(text.substr(0, end));
    text.remove_prefix(end);
  }
  return n;
}

/// A line in pieces of at most `first` and then `next` columns, broken between words, within a word
/// where it is too long. A colour that goes on ends with each piece and begins again in the next
/// one.
std::vector<std::string> broken(std::string_view line, std::size_t first, std::size_t next) {
  std::vector<std::string> pieces(1);
  std::string colour;
  std::size_t used = 0, most = std::max<std::size_t>(first, 1);
  bool words = false;  // in this piece
  const auto cut = [&] {
    std::string& piece = pieces.back();
    piece.resize(piece.find_last_not_of(' ') + 1);
    if (!colour.empty()) piece += "\033[0m";
    pieces.push_back(colour);
    used = 0;
    words = false;
    most = std::max<std::size_t>(next, 1);
  };
  while (!line.empty()) {
    if (const std::size_t n = colour_length(line); n > 0) {
      colour = line.substr(0, n) == "\033[0m" ? std::string_view() : line.substr(0, n);
      pieces.back() += line.substr(0, n);
      line.remove_prefix(n);
      continue;
    }
    std::string_view word = line.substr(0, std::min(line.find_first_of(" \033"), line.size()));
    line.remove_prefix(word.size());
    if (words && used + reactor::columns(word) > most) cut();
    while (used + reactor::columns(word) > most) {
      std::string_view kept = reactor::first_columns(word, most - used);
      // One character that is wider than the piece.
      if (kept.empty() && used == 0) kept = reactor::first_columns(word, 2);
      if (kept.empty() && used == 0) kept = word;
      pieces.back() += kept;
      word.remove_prefix(kept.size());
      cut();
    }
    pieces.back() += word;
    used += reactor::columns(word);
    words = words || !word.empty();
    for (; line.starts_with(' '); line.remove_prefix(1))
      if (used < most) {
        pieces.back() += ' ';
        ++used;
      }
  }
  if (pieces.size() > 1 && seen_columns(pieces.back()) == 0) {
    pieces.pop_back();
    if (!colour.empty()) pieces.back() += "\033[0m";
  }
  return pieces;
}

/// Takes from the widest until they fit into so many columns together; breaks no word, of which
/// `words` has the longest of each, while another column has room between its words.
void make_fit(std::vector<std::size_t>& widths, const std::vector<std::size_t>& words,
              std::size_t together) {
  constexpr std::size_t least = 4;
  std::size_t sum = 0;
  for (std::size_t& w : widths) sum += w = std::min(w, std::max(together, least));
  while (sum > together) {
    // A column that can give without breaking a word gives first, the widest of them; then the one
    // with the longest word.
    std::size_t gives = widths.size(), most = 0;
    for (const bool breaks_words : {false, true}) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::size_t rank = breaks_words ? std::max(words[i], widths[i]) : widths[i];
        if (widths[i] > (breaks_words ? least : std::max(least, words[i])) && rank > most)
          gives = i, most = rank;
      }
      if (most > 0) break;
    }
    if (most == 0) return;
    --widths[gives];
    --sum;
  }
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    longest = std::max(longest, seen_columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

}  // namespace

std::string pretty_json(const json::value& v) {
  std::string out;
  append(out, v, 0);
  return reactor::printable_json(std::move(out)) + "\n";
}

json::object document(std::string_view kind, json::object body) {
  json::object o{{"apiVersion", document_version}, {"kind", kind}};
  for (json::key_value_pair& member : body) o.emplace(member.key(), std::move(member.value()));
  return o;
}

std::string machine_text(const json::value& v, output_format format) {
  return format == output_format::yaml
             ? formats::write_kubernetes_yaml(v, formats::key_order::sorted,
                                              formats::yaml_text::printable)
             : pretty_json(v);
}

bool is_screen(int fd) {
  const char* kind = std::getenv("TERM");
  return isatty(fd) && kind && *kind && std::string_view(kind) != "dumb";
}

colours colours_at(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (no_colour && *no_colour) return colours::none;
  const bool forced = force && *force && std::string_view(force) != "0";
  return forced || is_screen(fd) ? colours::shown : colours::none;
}

terminal_size size_of_terminal(int fd) {
  winsize size{};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0;
  return known ? terminal_size{size.ws_col, size.ws_row} : terminal_size{};
}

std::string page::one_line(std::string_view theirs) {
  return reactor::printable(theirs);
}

page page::lines(std::string_view theirs) {
  page made;
  const std::string fit = reactor::printable_lines(theirs);
  for (std::size_t begin = 0; begin < fit.size();) {
    const std::size_t end = std::min(fit.find('\n', begin), fit.size());
    const std::string_view line = std::string_view(fit).substr(begin, end - begin);
    if (begin > 0) made.text_ += line.starts_with("  ") ? "\n" : "\n  ";
    made.text_ += line;
    begin = end + 1;
  }
  return made;
}

std::size_t page::width() const noexcept {
  return seen_columns(text_);
}

page toned(const page& text, tone t, colours tint) {
  static constexpr std::array<std::string_view, 5> codes = {"", "\033[32m", "\033[33m", "\033[31m",
                                                            "\033[2m"};
  const std::string_view code = codes[static_cast<std::size_t>(t)];
  if (tint == colours::none || code.empty() || text.empty()) return text;
  page made;
  made.text_ = std::string(code) + text.text_ + "\033[0m";
  return made;
}

page screen(const page& block, const terminal_size& size) {
  page made;
  made.text_ = "\033[H";
  std::string_view rest = block.text_;
  for (std::size_t row = 0; row < size.rows && !rest.empty(); ++row) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    // Erased before it is written: behind a full line the cursor is still upon its last column.
    made.text_ +=
        (row > 0 ? "\r\n\033[2K" : "\033[2K") + cut_line(rest.substr(0, end), size.columns);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row + 1 < size.rows && rest.empty()) made.text_ += "\r\n\033[J";
  }
  return made;
}

page entering_screen() {
  page made;
  made.text_ = "\033[?1049h\033[?25l\033[H\033[2J";
  return made;
}

page leaving_screen() {
  page made;
  made.text_ = "\033[0m\033[?25h\033[?1049l";
  return made;
}

page redrawn(const page& line, std::size_t columns) {
  page made;
  made.text_ = "\r\033[2K" + cut_line(line.text_, columns);
  return made;
}

namespace {

/// The number of an environment variable; `otherwise` where it is none.
std::size_t number_in(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  const std::string_view set = text ? text : "";
  std::size_t number = 0;
  const auto [at, ec] = std::from_chars(set.data(), set.data() + set.size(), number);
  const bool usable = ec == std::errc() && at == set.data() + set.size() && number > 0;
  return usable && number < 10'000 ? number : otherwise;
}

}  // namespace

std::size_t output_columns() {
  if (!is_screen(STDOUT_FILENO)) return any_width;
  return number_in("COLUMNS", size_of_terminal(STDOUT_FILENO).columns);
}

std::size_t output_rows() {
  return is_screen(STDOUT_FILENO) ? number_in("LINES", size_of_terminal(STDOUT_FILENO).rows) : 0;
}

page folded(const page& text, std::size_t columns, std::size_t hang) {
  if (columns == any_width) return text;
  page made;
  for (std::string_view rest = text.text_; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::size_t indent =
        std::min(std::min(line.find_first_not_of(' '), line.size()) + hang, columns / 2);
    bool first = true;
    for (std::string& piece : broken(line, columns, columns - indent)) {
      if (!std::exchange(first, false)) made.text_ += "\n" + std::string(indent, ' ');
      made.text_ += piece;
    }
    if (end < rest.size()) made.text_ += "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return made;
}

std::string with_short_digests(std::string_view text) {
  constexpr std::string_view prefix = "sha256:";
  constexpr std::size_t all = 64, kept = 12;
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(prefix), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    std::size_t digits = prefix.size();
    while (digits < text.size() && digits < prefix.size() + all &&
           std::isxdigit(static_cast<unsigned char>(text[digits])))
      ++digits;
    out += text.substr(0, digits == prefix.size() + all ? prefix.size() + kept : digits);
    text.remove_prefix(digits);
  }
  return out;
}

table::table(std::vector<page> head) {
  rows_.push_back(std::move(head));
}

page table::without_head(const page& indent, std::size_t columns) const {
  table rest = *this;
  for (page& head : rest.rows_.front()) head = page();
  page out = rest.text(indent, columns);
  out.text_.erase(0, out.text_.find('\n') + 1);
  return out;
}

std::size_t table::least_width() const {
  std::vector<std::size_t> words;
  for (const auto& cells : rows_) {
    words.resize(std::max(words.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      words[i] = std::max(
          words[i], &cells == &rows_.front() ? cells[i].width() : longest_word(cells[i].text_));
  }
  std::size_t sum = words.empty() ? 0 : 2 * (words.size() - 1);
  for (const std::size_t one : words) sum += one;
  return sum;
}

/// Without its least important columns, so that no word has to be broken.
table table::narrowed(std::size_t columns) const {
  table out = *this;
  while (out.least_width() > columns && !out.importance_.empty()) {
    const auto least = std::ranges::min_element(out.importance_);
    if (*least >= must_stay) break;
    const auto at = least - out.importance_.begin();
    out.importance_.erase(least);
    for (auto& cells : out.rows_)
      if (static_cast<std::size_t>(at) < cells.size()) cells.erase(cells.begin() + at);
  }
  return out;
}

page table::text(const page& indent, std::size_t columns) const {
  if (columns != any_width && !importance_.empty()) {
    table narrow = narrowed(columns - std::min(columns, indent.width()));
    narrow.importance_.clear();
    return narrow.text(indent, columns);
  }
  const std::size_t room = columns - std::min(columns, indent.width());
  // Where words of all do not fit beside each other, the last column goes below them.
  const bool stacked = columns != any_width && rows_.front().size() > 1 && least_width() > room;
  const std::size_t beside = rows_.front().size() - (stacked ? 1 : 0);
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), std::min(cells.size(), beside)));
    for (std::size_t i = 0; i < widths.size() && i < cells.size(); ++i) {
      const std::size_t width = cells[i].width();
      if (columns != any_width || width <= most_padded_columns)
        widths[i] = std::max(widths[i], width);
    }
  }
  if (columns != any_width) {
    // What must stay in one line; a head does.
    std::vector<std::size_t> words(widths.size());
    for (const auto& cells : rows_)
      for (std::size_t i = 0; i < words.size() && i < cells.size(); ++i)
        words[i] = std::max(
            words[i], &cells == &rows_.front() ? cells[i].width() : longest_word(cells[i].text_));
    make_fit(widths, words, columns - std::min(columns, indent.width() + 2 * (widths.size() - 1)));
  }
  page out;
  for (const auto& cells : rows_) {
    std::vector<std::vector<std::string>> pieces;
    std::size_t height = 1;
    const std::size_t shown = std::min(cells.size(), beside);
    for (std::size_t i = 0; i < shown; ++i) {
      pieces.push_back(columns == any_width ? std::vector{cells[i].text_}
                                            : broken(cells[i].text_, widths[i], widths[i]));
      height = std::max(height, pieces.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      out += indent;
      std::size_t owed = 0;  // spaces, written when something follows
      for (std::size_t i = 0; i < shown; ++i) {
        std::size_t width = 0;
        if (line < pieces[i].size() && !pieces[i][line].empty()) {
          out.text_.append(std::exchange(owed, 0), ' ');
          out.text_ += pieces[i][line];
          width = seen_columns(pieces[i][line]);
        }
        owed += widths[i] > width ? widths[i] - width + 2 : 2;
      }
      out += "\n";
    }
    if (shown < cells.size() && !cells[shown].empty())
      out += folded(indent + page("    ") + cells[shown] + page("\n"), columns, 0);
  }
  return out;
}

bool write_out(int fd, const page& text) {
  return reactor::write_all(fd, text.text());
}

bool write_bytes(int fd, std::string_view bytes) {
  return ::isatty(fd) ? reactor::write_all(fd, reactor::printable_lines(bytes))
                      : reactor::write_all(fd, bytes);
}

}  // namespace app
