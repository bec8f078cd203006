#include "formats/yaml/yaml_scalar.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace formats {
namespace {

namespace json = boost::json;

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// strconv.ParseInt and ParseUint with base 0, after underscores were taken out.
std::optional<json::value> integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    text.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  std::uint64_t magnitude = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr auto int_limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (negative) {
    if (magnitude > int_limit + 1) return std::nullopt;
    return json::value(static_cast<std::int64_t>(0 - magnitude));
  }
  if (magnitude <= int_limit) return json::value(static_cast<std::int64_t>(magnitude));
  return json::value(magnitude);
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t before = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - before;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  if (digits() == 0) {
    if (at >= text.size() || text[at] != '.') return false;
    ++at;
    if (digits() == 0) return false;
  } else if (at < text.size() && text[at] == '.') {
    ++at;
    digits();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::optional<json::value> resolve_plain_scalar(std::string_view text) {
  if (text.empty() || one_of(text, {"~", "null", "Null", "NULL"})) return json::value(nullptr);
  const char first = text[0];
  if (!is_digit(first) && first != '+' && first != '-' && first != '.') {
    if (one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
      return json::value(true);
    }
    if (one_of(text,
               {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
      return json::value(false);
    }
    return json::value(text);
  }
  if (one_of(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                    "-.inf", "-.Inf", "-.INF"})) {
    return std::nullopt;
  }
  std::string plain(text);
  std::erase(plain, '_');
  if (first != '.') {
    if (auto whole = integer(plain)) return whole;
  }
  if (looks_like_float(plain)) {
    const std::string_view digits = plain[0] == '+' ? std::string_view(plain).substr(1) : plain;
    double value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code == std::errc::result_out_of_range) {
      // Too small is zero to go-yaml as well; too large is infinite.
      return std::abs(std::strtod(plain.c_str(), nullptr)) < 1 ? std::optional(json::value(0.0))
                                                               : std::nullopt;
    }
    if (code != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
      return std::nullopt;
    }
    return json::value(value);
  }
  return json::value(text);
}

bool reads_as_text(std::string_view text) {
  const auto value = resolve_plain_scalar(text);
  // "<<" would merge and "=" is YAML 1.1's default value; a lone "~" is already null.
  return value && value->is_string() && text != "<<" && text != "=";
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80             ? 1
                               : (first & 0xE0) == 0xC0 ? 2
                               : (first & 0xF0) == 0xE0 ? 3
                               : (first & 0xF8) == 0xF0 ? 4
                                                        : 0;
    if (length == 0 || length > text.size() - i) return false;
    std::uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3Fu);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace formats
