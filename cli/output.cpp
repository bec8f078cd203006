#include "cli/output.hpp"

#include "k8s/yaml.hpp"

#include <boost/json.hpp>
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

/// Characters a terminal shows: neither continuation bytes nor colour sequences.
std::size_t width(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++n;
    }
  }
  return n;
}

}  // namespace

std::string pretty_json(const json::value& v) {
  std::string out;
  append(out, v, 0);
  return out + "\n";
}

std::string machine_text(const json::value& v, output_format format) {
  return format == output_format::yaml ? k8s::to_yaml(v) : pretty_json(v);
}

bool is_lively(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fd) && !(no_colour && *no_colour);
}

std::string toned(std::string_view text, tone t, bool lively) {
  static constexpr std::array<std::string_view, 5> codes = {"", "\033[32m", "\033[33m", "\033[31m",
                                                            "\033[2m"};
  const std::string_view code = codes[static_cast<std::size_t>(t)];
  if (!lively || code.empty() || text.empty()) return std::string(text);
  return std::string(code) + std::string(text) + "\033[0m";
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

table::table(std::vector<std::string> head) {
  rows_.push_back(std::move(head));
}

std::string table::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  std::string out;
  for (const auto& cells : rows_) {
    out += indent;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += cells[i];
      if (i + 1 < cells.size()) out.append(widths[i] - width(cells[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

bool write_out(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace cli
