#include "formats/yaml/yaml_scalar.hpp"

#include "formats/go/literal.hpp"
#include "formats/plain/text.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace formats {
namespace {

using kind = plain_scalar::kind;

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool yaml_float(std::string_view s) {
  std::size_t i = 0;
  auto digits = [&] {
    auto start = i;
    while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
    return i > start;
  };
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  if (i < s.size() && s[i] == '.') {
    ++i;
    if (!digits()) return false;
  } else {
    if (!digits()) return false;
    if (i < s.size() && s[i] == '.') {
      ++i;
      digits();
    }
  }
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
    if (!digits()) return false;
  }
  return i == s.size();
}

/// The date forms go-yaml knows: they stay strings, but are not tried as anything else.
bool timestamp(std::string_view s) {
  std::size_t i = 0;
  auto number = [&](std::size_t low, std::size_t high, int smallest, int biggest) {
    auto start = i;
    int n = 0;
    while (i < s.size() && i - start < high && s[i] >= '0' && s[i] <= '9')
      n = n * 10 + (s[i++] - '0');
    return i - start >= low && n >= smallest && n <= biggest;
  };
  auto mark = [&](char c) { return i < s.size() && s[i] == c && ++i; };
  std::size_t year_end = 4;
  if (s.size() < 5 || s[4] != '-') return false;
  if (!number(4, 4, 0, 9999) || i != year_end || !mark('-')) return false;
  auto month_at = i;
  if (!number(1, 2, 1, 12) || !mark('-')) return false;
  auto day_at = i;
  if (!number(1, 2, 1, 31)) return false;
  // The day must exist in its month.
  int year = std::atoi(std::string(s.substr(0, 4)).c_str());
  int month = std::atoi(std::string(s.substr(month_at, 2)).c_str());
  int day = std::atoi(std::string(s.substr(day_at, 2)).c_str());
  static constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (day > lengths[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0))
    return false;
  if (i == s.size()) return true;
  bool zoned = s[i] == 'T' || s[i] == 't';
  if (!zoned && s[i] != ' ') return false;
  ++i;
  if (!number(1, 2, 0, 23) || !mark(':') || !number(1, 2, 0, 59) || !mark(':') ||
      !number(1, 2, 0, 59))
    return false;
  if (i < s.size() && (s[i] == '.' || s[i] == ',')) {
    ++i;
    auto start = i;
    while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
    if (i == start) return false;
  }
  if (!zoned) return i == s.size();
  if (i < s.size() && s[i] == 'Z') return i + 1 == s.size();
  if (i >= s.size() || (s[i] != '+' && s[i] != '-')) return false;
  ++i;
  return number(2, 2, 0, 24) && mark(':') && number(2, 2, 0, 60) && i == s.size();
}

plain_scalar integer(kind is, std::int64_t number) {
  plain_scalar out;
  out.is = is;
  out.number = number;
  return out;
}
plain_scalar real(double number) {
  plain_scalar out;
  out.is = kind::real;
  out.real = number;
  return out;
}
enum class truth : std::uint8_t { no, yes };
plain_scalar word(kind is, truth t = truth::no) {
  plain_scalar out;
  out.is = is;
  out.truth = t == truth::yes;
  return out;
}

/// What begins like a number: strconv's readers one after the other; underscores were left out.
plain_scalar number(std::string_view plain) {
  if (const auto i = parse_int(plain, 0); i.error == int_error::none)
    return integer(kind::int64, i.number);
  if (const auto u = parse_uint(plain, 0); u.error == int_error::none)
    return integer(kind::uint64, static_cast<std::int64_t>(u.number));
  if (const auto f = yaml_float(plain) ? parse_float(plain) : std::nullopt; f && !f->out_of_range)
    return real(f->number);
  const bool negative = plain.starts_with("-0b");
  if (!negative && !plain.starts_with("0b")) return {};
  const std::string_view digits = plain.substr(negative ? 3 : 2);
  const auto bits = negative ? parse_int("-" + std::string(digits), 2) : parse_int(digits, 2);
  return bits.error == int_error::none ? integer(kind::int64, bits.number) : plain_scalar();
}

}  // namespace

plain_scalar resolve_plain_scalar(std::string_view text, yaml_dates dates) {
  if (text.empty()) return word(kind::null);
  const char first = text[0];
  const bool digit = (first >= '0' && first <= '9') || first == '+' || first == '-';
  if (!digit && first != '.') {
    if (std::string_view("yYnNtTfFoO~").find(first) == std::string_view::npos) return {};
    if (one_of(text, {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"}))
      return word(kind::boolean, truth::yes);
    if (one_of(text, {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"}))
      return word(kind::boolean);
    return word(one_of(text, {"~", "null", "Null", "NULL"}) ? kind::null : kind::text);
  }
  if (one_of(text, {".nan", ".NaN", ".NAN"})) return real(std::nan(""));
  if (one_of(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) return real(HUGE_VAL);
  if (one_of(text, {"-.inf", "-.Inf", "-.INF"})) return real(-HUGE_VAL);
  if (first == '.') {
    const auto f = parse_float(text);
    return f && !f->out_of_range ? real(f->number) : plain_scalar();
  }
  if (dates == yaml_dates::told_apart && timestamp(text)) return word(kind::timestamp);
  if (text.find('_') == text.npos) return number(text);
  std::string plain(text);
  std::erase(plain, '_');
  const plain_scalar out = number(plain);
  reactor::wipe(plain);
  return out;
}

bool reads_as_text(std::string_view text) {
  const auto is = resolve_plain_scalar(text).is;
  // "<<" would merge and "=" is YAML 1.1's default value.
  return (is == kind::text || is == kind::timestamp) && text != "<<" && text != "=";
}

bool reads_as_non_string(std::string_view text) {
  return resolve_plain_scalar(text).is != kind::text;
}

}  // namespace formats
