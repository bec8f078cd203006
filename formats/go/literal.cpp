#include "formats/go/literal.hpp"

#include "formats/plain/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace formats {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

/// Underscores only between digits or after a base prefix.
bool underscores_ok(std::string_view s) {
  char last = '^';
  std::size_t i = 0;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  bool hex = false;
  if (s.size() >= 2 && s[0] == '0' && std::strchr("bBoOxX", s[1]) != nullptr) {
    i = 2;
    last = '0';
    hex = s[1] == 'x' || s[1] == 'X';
  }
  for (; i < s.size(); ++i) {
    if ((s[i] >= '0' && s[i] <= '9') || (hex && digit_of(s[i]) < 16)) {
      last = '0';
      continue;
    }
    if (s[i] == '_') {
      if (last != '0') return false;
      last = '_';
      continue;
    }
    if (last == '_') return false;
    last = '!';
  }
  return last != '_';
}

}  // namespace

std::optional<unquoted_char> unquote_char(std::string_view s, char mark) {
  if (s.empty()) return std::nullopt;
  auto c = static_cast<unsigned char>(s[0]);
  if (s[0] == mark && (mark == '\'' || mark == '"')) return std::nullopt;
  if (c >= 0x80) {
    auto d = decode_rune(s);
    return unquoted_char{d.rune, true, static_cast<std::size_t>(d.size)};
  }
  if (c != '\\') return unquoted_char{c, false, 1};
  if (s.size() < 2) return std::nullopt;
  auto simple = [](char32_t r) { return unquoted_char{r, false, 2}; };
  switch (s[1]) {
    case 'a': return simple('\a');
    case 'b': return simple('\b');
    case 'f': return simple('\f');
    case 'n': return simple('\n');
    case 'r': return simple('\r');
    case 't': return simple('\t');
    case 'v': return simple('\v');
    case '\\': return simple('\\');
    case '\'':
    case '"':
      if (s[1] != mark) return std::nullopt;
      return simple(static_cast<char32_t>(s[1]));
    case 'x':
    case 'u':
    case 'U': {
      std::size_t n = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : 8;
      if (s.size() < 2 + n) return std::nullopt;
      char32_t r = 0;
      for (std::size_t i = 2; i < 2 + n; ++i) {
        auto digit = digit_of(s[i]);
        if (digit > 15) return std::nullopt;
        r = r << 4 | static_cast<char32_t>(digit);
      }
      if (s[1] == 'x') return unquoted_char{r, false, 4};
      if (r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff)) return std::nullopt;
      return unquoted_char{r, true, 2 + n};
    }
    default: break;
  }
  if (s[1] < '0' || s[1] > '7' || s.size() < 4) return std::nullopt;
  char32_t r = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    if (s[i] < '0' || s[i] > '7') return std::nullopt;
    r = r * 8 + static_cast<char32_t>(s[i] - '0');
  }
  if (r > 255) return std::nullopt;
  return unquoted_char{r, false, 4};
}

std::optional<std::string> unquote(std::string_view s) {
  if (s.size() < 2 || s.front() != s.back()) return std::nullopt;
  char mark = s.front();
  s = s.substr(1, s.size() - 2);
  if (mark == '`') {
    if (s.find('`') != s.npos) return std::nullopt;
    std::string out;
    for (char c : s)
      if (c != '\r') out += c;
    return out;
  }
  if ((mark != '"' && mark != '\'') || s.find('\n') != s.npos) return std::nullopt;
  std::string out;
  std::size_t runes = 0;
  while (!s.empty()) {
    auto c = unquote_char(s, mark);
    if (!c) return std::nullopt;
    // Invalid bytes written as such stay as they are; escapes below 0x100 are bytes.
    if (c->size == 1 && static_cast<unsigned char>(s[0]) >= 0x80)
      append_rune(out, rune_error);
    else if (c->multibyte)
      append_rune(out, c->rune);
    else
      out += static_cast<char>(c->rune);
    s.remove_prefix(c->size);
    ++runes;
  }
  if (mark == '\'' && runes != 1) return std::nullopt;
  return out;
}

bool can_backquote(std::string_view s) {
  while (!s.empty()) {
    auto d = decode_rune(s);
    s.remove_prefix(static_cast<std::size_t>(d.size));
    if (d.size > 1) {
      if (d.rune == 0xfeff) return false;
      continue;
    }
    if (d.rune == rune_error) return false;
    if ((d.rune < ' ' && d.rune != '\t') || d.rune == '`' || d.rune == 0x7f) return false;
  }
  return true;
}

std::string unicode_name(char32_t r) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "U+%04X", static_cast<unsigned>(r));
  std::string out = buffer;
  if (is_print(r)) {
    out += " '";
    append_rune(out, r);
    out += '\'';
  }
  return out;
}

std::string format_float(double d, char format, int bits) {
  if (bits == 32) d = static_cast<float>(d);  // may become infinite
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  auto end =
      bits == 32
          ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(d),
                          std::chars_format::scientific)
                .ptr
          : std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  std::string out;
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  auto e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 1) digits += text.substr(2, e - 2);
  int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  if (digits == "0") exponent = 0;
  if (format == 'g') format = exponent < -4 || exponent >= 6 ? 'e' : 'f';
  if (format == 'e') {
    out += digits[0];
    if (digits.size() > 1) {
      out += '.';
      out += digits.substr(1);
    }
    out += exponent < 0 ? "e-" : "e+";
    int magnitude = std::abs(exponent);
    if (magnitude < 10) out += '0';
    out += std::to_string(magnitude);
    return out;
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
  } else if (digits.size() <= static_cast<std::size_t>(exponent) + 1) {
    out += digits;
    out.append(static_cast<std::size_t>(exponent) + 1 - digits.size(), '0');
  } else {
    out += digits.substr(0, static_cast<std::size_t>(exponent) + 1);
    out += '.';
    out += digits.substr(static_cast<std::size_t>(exponent) + 1);
  }
  return out;
}

std::optional<parsed_float> parse_float(std::string_view s) {
  std::string_view body = s;
  bool negative = false;
  if (!body.empty() && (body[0] == '+' || body[0] == '-')) {
    negative = body[0] == '-';
    body.remove_prefix(1);
  }
  std::string folded;
  for (char c : body) folded += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (folded == "inf" || folded == "infinity")
    return parsed_float{negative ? -HUGE_VAL : HUGE_VAL, false};
  if (folded == "nan")
    return s.size() == 3 ? std::optional(parsed_float{std::nan(""), false}) : std::nullopt;
  bool hex = folded.starts_with("0x");
  std::size_t i = hex ? 2 : 0;
  bool digits = false, dot = false, exponent = false, underscore = false;
  std::string clean = hex ? "0x" : "";
  for (; i < folded.size(); ++i) {
    char c = folded[i];
    if (c == '_') {
      underscore = true;
      continue;
    }
    if (c == '.') {
      if (dot) return std::nullopt;
      dot = true;
    } else if ((c >= '0' && c <= '9') || (hex && c >= 'a' && c <= 'f')) {
      digits = true;
    } else {
      break;
    }
    clean += c;
  }
  if (!digits) return std::nullopt;
  if (i < folded.size() && folded[i] == (hex ? 'p' : 'e')) {
    clean += folded[i++];
    exponent = true;
    if (i < folded.size() && (folded[i] == '+' || folded[i] == '-')) clean += folded[i++];
    bool some = false;
    for (; i < folded.size() && ((folded[i] >= '0' && folded[i] <= '9') || folded[i] == '_'); ++i) {
      if (folded[i] == '_') {
        underscore = true;
        continue;
      }
      some = true;
      clean += folded[i];
    }
    if (!some) return std::nullopt;
  } else if (hex) {
    return std::nullopt;
  }
  static_cast<void>(exponent);
  if (i != folded.size()) return std::nullopt;
  if (underscore && !underscores_ok(s)) return std::nullopt;
  double d = std::strtod(clean.c_str(), nullptr);
  if (negative) d = -d;
  return parsed_float{d, std::isinf(d)};
}

parsed_uint parse_uint(std::string_view s, int base) {
  parsed_uint out;
  auto whole = s;
  auto wrong = [&] {
    out.error = int_error::syntax;
    out.number = 0;
    return out;
  };
  if (s.empty()) return wrong();
  bool any_base = base == 0;
  if (base == 0) {
    base = 10;
    if (s[0] == '0') {
      char p = s.size() >= 3 ? static_cast<char>(s[1] | 0x20) : '0';
      if (p == 'b' || p == 'o' || p == 'x') {
        base = p == 'b' ? 2 : p == 'o' ? 8 : 16;
        s.remove_prefix(2);
      } else {
        base = 8;
        s.remove_prefix(1);
      }
    }
  }
  bool underscore = false;
  bool overflow = false;
  for (char c : s) {
    if (c == '_' && any_base) {
      underscore = true;
      continue;
    }
    auto digit = digit_of(c);
    if (digit >= base) return wrong();
    unsigned __int128 next =
        static_cast<unsigned __int128>(out.number) * static_cast<unsigned>(base) +
        static_cast<unsigned>(digit);
    if (next > ~std::uint64_t{0}) {
      // Go stops at the first overflow, whatever follows.
      overflow = true;
      break;
    }
    out.number = static_cast<std::uint64_t>(next);
  }
  if (overflow) {
    out.number = ~std::uint64_t{0};
    out.error = int_error::range;
    return out;
  }
  if (underscore && !underscores_ok(whole)) return wrong();
  return out;
}

parsed_int parse_int(std::string_view s, int base) {
  if (s.empty()) return {0, int_error::syntax};
  bool negative = s[0] == '-';
  auto body = s;
  if (s[0] == '+' || s[0] == '-') body.remove_prefix(1);
  auto u = parse_uint(body, base);
  if (u.error == int_error::syntax) return {0, int_error::syntax};
  constexpr std::uint64_t cutoff = std::uint64_t{1} << 63;
  if (!negative && (u.error == int_error::range || u.number >= cutoff))
    return {INT64_MAX, int_error::range};
  if (negative && (u.error == int_error::range || u.number > cutoff))
    return {INT64_MIN, int_error::range};
  return {static_cast<std::int64_t>(negative ? 0 - u.number : u.number), int_error::none};
}

std::int64_t to_int64(double d) {
  if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0)) return INT64_MIN;
  return static_cast<std::int64_t>(d);
}

}  // namespace formats
