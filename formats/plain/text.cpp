#include "formats/plain/text.hpp"

#include "formats/plain/deep_stack.hpp"

#include <unicode/uchar.h>

#include <algorithm>
#include <cstring>

namespace formats {
namespace {

constexpr const char* hex_digits = "0123456789abcdef";

bool in_mask(char32_t r, std::uint32_t mask) {
  return r <= 0x10ffff && (U_GET_GC_MASK(static_cast<UChar32>(r)) & mask) != 0;
}

void append_hex(std::string& out, char32_t r, int width) {
  for (int shift = (width - 1) * 4; shift >= 0; shift -= 4) out += hex_digits[(r >> shift) & 15];
}

void append_escaped(std::string& out, char32_t r, char mark, quoting how) {
  if (r == static_cast<char32_t>(mark) || r == '\\') {
    out += '\\';
    out += static_cast<char>(r);
    return;
  }
  if (how == quoting::ascii ? (r < 0x80 && is_print(r)) : is_print(r)) {
    append_rune(out, r);
    return;
  }
  switch (r) {
    case '\a': out += "\\a"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\v': out += "\\v"; return;
    default: break;
  }
  if (r < ' ' || r == 0x7f) {
    out += "\\x";
    append_hex(out, r, 2);
  } else if (r < 0x10000) {
    out += "\\u";
    append_hex(out, r, 4);
  } else {
    out += "\\U";
    append_hex(out, r, 8);
  }
}

}  // namespace

decoded decode_rune(std::string_view s) {
  if (s.empty()) return {rune_error, 0};
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  auto first = byte(0);
  if (first < 0x80) return {first, 1};
  auto tail = [&](std::size_t i) { return i < s.size() && (byte(i) & 0xc0) == 0x80; };
  if (first >= 0xc2 && first <= 0xdf && tail(1))
    return {static_cast<char32_t>((first & 0x1f) << 6 | (byte(1) & 0x3f)), 2};
  if (first >= 0xe0 && first <= 0xef && tail(1) && tail(2)) {
    char32_t r = (first & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
    if (r >= 0x800 && (r < 0xd800 || r > 0xdfff)) return {r, 3};
  }
  if (first >= 0xf0 && first <= 0xf4 && tail(1) && tail(2) && tail(3)) {
    char32_t r = (first & 0x07U) << 18 | (byte(1) & 0x3fU) << 12 | (byte(2) & 0x3fU) << 6 |
                 (byte(3) & 0x3fU);
    if (r >= 0x10000 && r <= 0x10ffff) return {r, 4};
  }
  return {rune_error, 1};
}

void append_rune(std::string& out, char32_t r) {
  if (r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff)) r = rune_error;
  if (r < 0x80) {
    out += static_cast<char>(r);
  } else if (r < 0x800) {
    out += static_cast<char>(0xc0 | r >> 6);
    out += static_cast<char>(0x80 | (r & 0x3f));
  } else if (r < 0x10000) {
    out += static_cast<char>(0xe0 | r >> 12);
    out += static_cast<char>(0x80 | (r >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (r & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | r >> 18);
    out += static_cast<char>(0x80 | (r >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (r >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (r & 0x3f));
  }
}

std::size_t rune_count(std::string_view s) {
  std::size_t n = 0;
  for (; !s.empty(); ++n) s.remove_prefix(static_cast<std::size_t>(decode_rune(s).size));
  return n;
}

bool valid_utf8(std::string_view s) {
  while (!s.empty()) {
    if (static_cast<unsigned char>(s[0]) < 0x80) {
      s.remove_prefix(1);
      continue;
    }
    auto d = decode_rune(s);
    if (!d.valid()) return false;
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return true;
}

namespace {

template <class F>
std::string mapped(std::string_view s, F f) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    auto d = decode_rune(s);
    append_rune(out, f(d.rune));
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out;
}

/// Without the runes at both ends of which `goes` is true; an invalid byte is rune_error.
template <class Goes>
std::string_view trimmed(std::string_view s, Goes goes) {
  while (!s.empty()) {
    const auto d = decode_rune(s);
    if (!goes(d.rune)) break;
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  while (!s.empty()) {
    std::size_t back = 1;
    while (back < s.size() && back < 4 &&
           (static_cast<unsigned char>(s[s.size() - back]) & 0xc0) == 0x80)
      ++back;
    auto d = decode_rune(s.substr(s.size() - back));
    if (static_cast<std::size_t>(d.size) != back) {
      d = {rune_error, 1};
      back = 1;
    }
    if (!goes(d.rune)) break;
    s.remove_suffix(back);
  }
  return s;
}

}  // namespace

std::string to_valid_utf8(std::string_view s) {
  return mapped(s, [](char32_t r) { return r; });
}

bool is_letter(char32_t r) {
  if (r < 0x80) return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z');
  return in_mask(r, U_GC_L_MASK);
}
bool is_digit(char32_t r) {
  if (r < 0x80) return r >= '0' && r <= '9';
  return in_mask(r, U_GC_ND_MASK);
}
bool is_number(char32_t r) {
  return in_mask(r, U_GC_N_MASK);
}
bool is_print(char32_t r) {
  if (r < 0x7f) return r >= ' ';
  return in_mask(r, U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK | U_GC_P_MASK | U_GC_S_MASK);
}
bool is_upper(char32_t r) {
  return in_mask(r, U_GC_LU_MASK);
}
bool is_lower(char32_t r) {
  return in_mask(r, U_GC_LL_MASK);
}
bool is_title(char32_t r) {
  return in_mask(r, U_GC_LT_MASK);
}
bool is_space(char32_t r) {
  if (r <= 0xff) return (r >= '\t' && r <= '\r') || r == ' ' || r == 0x85 || r == 0xa0;
  return r <= 0x10ffff && u_isUWhiteSpace(static_cast<UChar32>(r));
}
bool is_punct(char32_t r) {
  return in_mask(r, U_GC_P_MASK);
}
char32_t to_upper(char32_t r) {
  return static_cast<char32_t>(u_toupper(static_cast<UChar32>(r)));
}
char32_t to_lower(char32_t r) {
  return static_cast<char32_t>(u_tolower(static_cast<UChar32>(r)));
}
char32_t to_title(char32_t r) {
  return static_cast<char32_t>(u_totitle(static_cast<UChar32>(r)));
}

std::string upper(std::string_view s) {
  return mapped(s, to_upper);
}

std::string lower(std::string_view s) {
  return mapped(s, to_lower);
}

std::string quote(std::string_view s, char mark, quoting how) {
  std::string out;
  out.reserve(s.size() + 2);
  out += mark;
  while (!s.empty()) {
    auto d = decode_rune(s);
    if (!d.valid()) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(s[0]), 2);
    } else {
      append_escaped(out, d.rune, mark, how);
    }
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  out += mark;
  return out;
}

std::string quote_rune(char32_t r, quoting how) {
  if (r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff)) r = rune_error;
  std::string out = "'";
  append_escaped(out, r, '\'', how);
  out += '\'';
  return out;
}

std::string_view trim_space(std::string_view s) {
  return trimmed(s, is_space);
}

std::string_view trim_set(std::string_view s, std::string_view cutset) {
  std::u32string set;
  for (auto c = cutset; !c.empty();) {
    auto d = decode_rune(c);
    set += d.rune;
    c.remove_prefix(static_cast<std::size_t>(d.size));
  }
  std::sort(set.begin(), set.end());
  return trimmed(s, [&](char32_t r) { return std::binary_search(set.begin(), set.end(), r); });
}

std::size_t find_text(std::string_view s, std::string_view what, std::size_t from) {
  if (from > s.size()) return s.npos;
  const void* at = ::memmem(s.data() + from, s.size() - from, what.data(), what.size());
  return at ? static_cast<std::size_t>(static_cast<const char*>(at) - s.data()) : s.npos;
}

std::vector<std::string> split(std::string_view s, std::string_view separator, int limit) {
  std::vector<std::string> out;
  held_bytes parts;
  const auto add = [&](std::string_view part) {
    parts.add(64 + (part.size() > 15 ? part.size() : 0));
    out.emplace_back(part);
  };
  if (limit == 0) return out;
  if (separator.empty()) {
    while (!s.empty()) {
      if (limit > 0 && static_cast<int>(out.size()) == limit - 1) {
        add(s);
        return out;
      }
      auto d = decode_rune(s);
      add(s.substr(0, static_cast<std::size_t>(d.size)));
      s.remove_prefix(static_cast<std::size_t>(d.size));
    }
    return out;
  }
  for (;;) {
    auto at =
        limit > 0 && static_cast<int>(out.size()) == limit - 1 ? s.npos : find_text(s, separator);
    if (at == s.npos) break;
    add(s.substr(0, at));
    s.remove_prefix(at + separator.size());
  }
  add(s);
  return out;
}

std::string replace_all(std::string_view s, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) {
    while (!s.empty()) {
      auto d = decode_rune(s);
      out += to;
      out += s.substr(0, static_cast<std::size_t>(d.size));
      s.remove_prefix(static_cast<std::size_t>(d.size));
    }
    out += to;
    return out;
  }
  for (;;) {
    auto at = find_text(s, from);
    if (at == s.npos) break;
    check_text(out.size() + to.size());
    out += s.substr(0, at);
    out += to;
    s.remove_prefix(at + from.size());
  }
  out += s;
  return out;
}

bool equal_fold(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    auto x = decode_rune(a);
    auto y = decode_rune(b);
    auto fold = [](char32_t r) {
      return static_cast<char32_t>(u_foldCase(static_cast<UChar32>(r), U_FOLD_CASE_DEFAULT));
    };
    if (x.rune != y.rune && fold(x.rune) != fold(y.rune)) return false;
    a.remove_prefix(static_cast<std::size_t>(x.size));
    b.remove_prefix(static_cast<std::size_t>(y.size));
  }
  return a.empty() && b.empty();
}

}  // namespace formats
