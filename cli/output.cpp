#include "cli/output.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/printable.hpp"

#include <boost/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace cli {
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

/// The length of the colour sequence at the start of a page's text; 0 for none. Only toned() puts them there.
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

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

std::string pretty_json(const json::value& v) {
  std::string out;
  append(out, v, 0);
  return reactor::printable_json(std::move(out)) + "\n";
}

std::string machine_text(const json::value& v, output_format format) {
  return format == output_format::yaml
             ? formats::to_yaml(v, formats::key_order::sorted, formats::yaml_text::printable)
             : pretty_json(v);
}

bool is_lively(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fd) && !(no_colour && *no_colour);
}

std::size_t terminal_columns(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
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
  std::size_t n = 0;
  for (std::string_view rest = text_; !rest.empty();) {
    if (const std::size_t colour = colour_length(rest)) {
      rest.remove_prefix(colour);
      continue;
    }
    const std::size_t end = std::min(rest.find('\033'), rest.size());
    n += reactor::columns(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return n;
}

page toned(const page& text, tone t, bool lively) {
  static constexpr std::array<std::string_view, 5> codes = {"", "\033[32m", "\033[33m", "\033[31m",
                                                            "\033[2m"};
  const std::string_view code = codes[static_cast<std::size_t>(t)];
  if (!lively || code.empty() || text.empty()) return text;
  page made;
  made.text_ = std::string(code) + text.text_ + "\033[0m";
  return made;
}

page redrawn(std::size_t lines_before, const page& block, std::size_t columns) {
  page made;
  if (lines_before > 0) made.text_ = "\033[" + std::to_string(lines_before) + "A";
  for (std::string_view rest = block.text_; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    made.text_ += "\033[2K" + cut_line(rest.substr(0, end), columns) + "\n";
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

page table::text(const page& indent) const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = cells[i].width();
      if (width <= most_padded_columns) widths[i] = std::max(widths[i], width);
    }
  }
  page out;
  for (const auto& cells : rows_) {
    out += indent;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += cells[i];
      if (i + 1 == cells.size()) continue;
      const std::size_t width = cells[i].width();
      out.text_.append(widths[i] > width ? widths[i] - width + 2 : 2, ' ');
    }
    out += "\n";
  }
  return out;
}

bool write_out(int fd, const page& text) {
  return write_all(fd, text.text());
}

bool write_bytes(int fd, std::string_view bytes) {
  return ::isatty(fd) ? write_all(fd, reactor::printable_lines(bytes)) : write_all(fd, bytes);
}

}  // namespace cli
