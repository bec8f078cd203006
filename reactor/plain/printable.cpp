#include "reactor/plain/printable.hpp"

#include "reactor/plain/printable_table.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>

namespace reactor {
namespace {

// Scripts that are written put up to five marks on a character; only floods put more.
constexpr std::size_t most_marks = 8;
constexpr std::string_view ellipsis = "…";

/// The next character of a text; length 1 and not valid for a byte that begins none.
struct character {
  std::uint32_t code;
  std::size_t length;
  bool valid;
};

character decode(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t n = first >= 0xc2 && first < 0xe0   ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  const character broken{first, 1, false};
  if (n == 0 || n > text.size()) return broken;
  std::uint32_t code = first & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return broken;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  // Overlong forms, surrogates and beyond U+10FFFF (RFC 3629).
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return broken;
  return {code, n, true};
}

template <std::size_t N>
bool is_in(const unicode::range (&table)[N], std::uint32_t code) noexcept {
  const auto* after =
      std::upper_bound(std::begin(table), std::end(table), code,
                       [](std::uint32_t c, const unicode::range& r) { return c < r.first; });
  return after != std::begin(table) && code <= std::prev(after)->last;
}

bool is_plain_ascii(std::uint32_t code) noexcept {
  return code >= 0x20 && code < 0x7f;
}

bool is_hidden(std::uint32_t code) noexcept {
  return !is_plain_ascii(code) && is_in(unicode::hidden, code);
}

bool is_mark(std::uint32_t code) noexcept {
  return code >= 0x300 && is_in(unicode::combining, code);
}

std::string escape(const character& c) {
  char text[16];
  std::snprintf(text, sizeof text,
                !c.valid          ? "\\x%02x"
                : c.code > 0xffff ? "\\U%08x"
                                  : "\\u%04x",
                static_cast<unsigned>(c.code));
  return text;
}

void append_json_unit(std::string& out, std::uint32_t unit) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(unit & 0xffff));
  out += text;
}

void append_json_escape(std::string& out, const character& c) {
  if (!c.valid) {
    out += "\\ufffd";
  } else if (c.code > 0xffff) {
    append_json_unit(out, 0xd800 + ((c.code - 0x10000) >> 10));
    append_json_unit(out, 0xdc00 + (c.code & 0x3ff));
  } else {
    append_json_unit(out, c.code);
  }
}

/// Whether the next character of a text may be seen; remembers how many marks the last one bears.
class judge {
public:
  bool fit(const character& c) noexcept {
    if (!c.valid || is_hidden(c.code)) {
      marks_ = 0;
      return false;
    }
    marks_ = is_mark(c.code) ? marks_ + 1 : 0;
    if (marks_ <= most_marks) return true;
    marks_ = 0;  // its escape is a character that bears none
    return false;
  }

private:
  std::size_t marks_ = 0;
};

bool all_plain_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return is_plain_ascii(c); });
}

std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit > ellipsis.size() ? limit - ellipsis.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text.append(ellipsis);
}

template <class Lines>
std::string shown(std::string_view text, std::size_t stop_at, Lines lines) {
  std::string out;
  out.reserve(std::min(text.size(), stop_at) + 16);
  judge seen;
  while (!text.empty() && out.size() <= stop_at) {
    const character c = decode(text);
    if (c.code == '\n' || c.code == '\t' || c.code == '\r') {
      lines(out, text);
      (void)seen.fit({' ', 1, true});
    } else if (seen.fit(c)) {
      out += text.substr(0, c.length);
    } else {
      out += escape(c);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit_bytes) {
  if (all_plain_ascii(text.substr(0, limit_bytes))) {
    if (text.size() <= limit_bytes) return std::string(text);
    return cut(std::string(text.substr(0, limit_bytes + 1)), limit_bytes);
  }
  return cut(shown(text, limit_bytes, [](std::string& out, std::string_view) { out += ' '; }),
             limit_bytes);
}

std::string printable_lines(std::string_view text) {
  return shown(text, std::string::npos, [](std::string& out, std::string_view rest) {
    if (rest.front() != '\r')
      out += rest.front();
    else if (!rest.substr(1).starts_with('\n'))
      out += "\\u000d";
  });
}

std::size_t columns(std::string_view text) noexcept {
  std::size_t n = 0;
  while (!text.empty()) {
    const character c = decode(text);
    n += is_plain_ascii(c.code)                    ? 1
         : is_mark(c.code)                         ? 0
         : c.valid && is_in(unicode::wide, c.code) ? 2
                                                   : 1;
    text.remove_prefix(c.length);
  }
  return n;
}

std::string_view first_columns(std::string_view text, std::size_t most) noexcept {
  std::size_t used = 0, n = 0;
  while (n < text.size()) {
    const character c = decode(text.substr(n));
    const std::size_t more = columns(text.substr(n, c.length));
    if (used + more > most) break;
    used += more;
    n += c.length;
  }
  return text.substr(0, n);
}

void append_json_escaped(std::string& out, std::string_view text) {
  judge seen;
  while (!text.empty()) {
    const character c = decode(text);
    if (c.code == '"' || c.code == '\\') {
      (void)seen.fit(c);
      out += '\\';
      out += static_cast<char>(c.code);
    } else if (c.code == '\n' || c.code == '\t') {
      (void)seen.fit({' ', 1, true});
      out += c.code == '\n' ? "\\n" : "\\t";
    } else if (seen.fit(c)) {
      out += text.substr(0, c.length);
    } else {
      append_json_escape(out, c);
    }
    text.remove_prefix(c.length);
  }
}

std::string printable_json(std::string json) {
  // Outside of strings JSON is ASCII, so what is unfit stands within one, where an escape is
  // allowed.
  const auto is_layout = [](char c) { return c == '\n' || c == '\t' || c == '\r'; };
  if (std::all_of(json.begin(), json.end(), [&](char c) {
        return is_plain_ascii(static_cast<unsigned char>(c)) || is_layout(c);
      }))
    return json;
  std::string out;
  out.reserve(json.size() + 64);
  judge seen;
  for (std::string_view rest = json; !rest.empty();) {
    const character c = decode(rest);
    if (is_layout(static_cast<char>(c.code)) && c.length == 1 && c.valid) {
      out += rest.front();
    } else if (seen.fit(c)) {
      out += rest.substr(0, c.length);
    } else {
      append_json_escape(out, c);
    }
    rest.remove_prefix(c.length);
  }
  return out;
}

}  // namespace reactor
