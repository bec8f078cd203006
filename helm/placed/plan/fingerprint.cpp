#include "helm/placed/plan/fingerprint.hpp"

#include "formats/digest.hpp"
#include "formats/go/format.hpp"
#include "formats/json/json.hpp"

#include <charconv>
#include <cmath>

namespace helm::placed {
namespace {

/// Beyond this a double is written with an exponent, as everywhere.
constexpr double whole_limit = 1e21;

std::string json_of(const value& v) {
  json_style style;
  style.escapes = json_escapes::none;
  auto text = write_json(v, style);
  return text ? *std::move(text) : format_value(v);  // what JSON has no form for: infinity
}

std::string number_text(double d) {
  if (std::trunc(d) != d || std::fabs(d) >= whole_limit) return format_value(d);
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, d == 0 ? 0.0 : d, std::chars_format::fixed, 0);
  return {digits, end.ptr};
}

std::string text_of(const value& v) {
  if (v.is_nil()) return "<nil>";
  if (v.is_string()) return v.text();
  if (v.kind() == type::float64) return number_text(v.real());
  if (v.is_map() || v.is_list()) return json_of(v);
  return format_value(v);
}

}  // namespace

std::string fingerprint_text(const chart_coordinates& chart, const value& values) {
  std::string out = chart.repo + "|" + chart.name + "|" + chart.version;
  if (!values.is_map()) return out;
  for (const auto& [key, v] : values.entries()) out += "|" + key + "=" + text_of(v);
  return out;
}

std::string fingerprint(const chart_coordinates& chart, const value& values) {
  return formats::sha256_hex(fingerprint_text(chart, values));
}

std::string values_digest(const value& values) {
  const bool none = !values.is_map() || values.entries().empty();
  return formats::sha256_hex(none ? std::string("{}") : json_of(values));
}

}  // namespace helm::placed
