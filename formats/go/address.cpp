#include "formats/go/address.hpp"

#include "formats/plain/text.hpp"

#include <algorithm>
#include <string>

namespace formats {
namespace {

bool is_digit_of_ten(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit_of_ten(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

struct wrong {
  const char* what = nullptr;  // null: nothing
  std::string_view at;
};

/// The four numbers of an IPv4 address.
wrong four_numbers(std::string_view s) {
  int number = 0, digits = 0, dots = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (is_digit_of_ten(s[i])) {
      if (digits == 1 && number == 0) return {"IPv4 field has octet with leading zero", {}};
      number = number * 10 + (s[i] - '0');
      ++digits;
      if (number > 255) return {"IPv4 field has value >255", {}};
    } else if (s[i] == '.') {
      if (i == 0 || i + 1 == s.size() || s[i - 1] == '.')
        return {"IPv4 field must have at least one digit", s.substr(i)};
      if (dots == 3) return {"IPv4 address too long", {}};
      ++dots;
      number = digits = 0;
    } else {
      return {"unexpected character", s.substr(i)};
    }
  }
  return dots < 3 ? wrong{"IPv4 address too short", {}} : wrong{};
}

/// The groups of an IPv6 address, without its zone.
wrong groups(std::string_view s) {
  constexpr int all = 8;
  bool gap = false;
  int have = 0;
  if (s.starts_with("::")) {
    gap = true;
    s.remove_prefix(2);
    if (s.empty()) return {};
  }
  while (have < all) {
    const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(s, is_hex) - s.begin());
    if (digits > 4) return {"each group must have 4 or less digits", s};
    if (digits == 0) return {"each colon-separated field must have at least one digit", s};
    if (digits < s.size() && s[digits] == '.') {
      if (!gap && have != all - 2)
        return {"embedded IPv4 address must replace the final 2 fields of the address", s};
      if (have > all - 2)
        return {"too many hex fields to fit an embedded IPv4 at the end of the address", s};
      if (const wrong w = four_numbers(s); w.what) return w;
      s = {};
      have += 2;
      break;
    }
    ++have;
    s.remove_prefix(digits);
    if (s.empty()) break;
    if (s[0] != ':') return {"unexpected character, want colon", s};
    if (s.size() == 1) return {"colon must be followed by more characters", s};
    s.remove_prefix(1);
    if (s[0] != ':') continue;
    if (gap) return {"multiple :: in address", s};
    gap = true;
    s.remove_prefix(1);
    if (s.empty()) break;
  }
  if (!s.empty()) return {"trailing garbage after address", s};
  if (have < all && !gap) return {"address string too short", {}};
  if (have == all && gap) return {"the :: must expand to at least one field of zeros", {}};
  return {};
}

}  // namespace

ip_address parse_address(std::string_view text) {
  ip_address out;
  wrong w{"unable to parse IP", {}};
  const auto first = text.find_first_of(".:%");
  if (first != text.npos && text[first] == '.') {
    out.is_4 = true;
    w = four_numbers(text);
  } else if (first != text.npos && text[first] == '%') {
    w = {"missing IPv6 address", {}};
  } else if (first != text.npos) {
    const auto percent = text.find('%');
    if (percent != text.npos) out.zone = text.substr(percent + 1);
    w = percent != text.npos && out.zone.empty() ? wrong{"zone must be a non-empty string", {}}
                                                 : groups(text.substr(0, percent));
  }
  if (!w.what) return out;
  out.problem = "ParseAddr(" + quote(text) + "): " + w.what;
  if (!w.at.empty()) out.problem += " (at " + quote(w.at) + ")";
  return out;
}

}  // namespace formats
