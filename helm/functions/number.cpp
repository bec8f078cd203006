#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace helm {

std::int64_t cast_int(const value& v) {
  switch (v.kind()) {
    case type::boolean: return v.boolean() ? 1 : 0;
    case type::float64: return to_int64(v.real());
    case type::string: {
      // A fraction of zeros is cut: "3.0" is 3.
      std::string_view s = v.text();
      auto zero = s.find_last_not_of('0');
      if (zero != s.npos && s[zero] == '.' && zero + 1 < s.size()) s = s.substr(0, zero);
      auto n = parse_int(s, 0);
      return n.error == int_error::none ? n.number : 0;
    }
    case type::object:
      if (v.type_name() == "time.Month" || v.type_name() == "time.Weekday")
        return v.object()->json().integer();
      return 0;
    default: return v.is_integer() ? v.integer() : 0;
  }
}

double cast_float(const value& v) {
  switch (v.kind()) {
    case type::boolean: return v.boolean() ? 1 : 0;
    case type::float64: return v.real();
    case type::string: {
      auto f = parse_float(v.text());
      return f && !f->out_of_range ? f->number : 0;
    }
    case type::uint64: return static_cast<double>(static_cast<std::uint64_t>(v.integer()));
    case type::object: return static_cast<double>(cast_int(v));
    default: return v.is_integer() ? static_cast<double>(v.integer()) : 0;
  }
}

namespace {

using args = std::span<value>;

value int64(std::int64_t i) {
  return value::integer(i, type::int64);
}
std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

value f_int(executor&, args a) {
  return value::integer(cast_int(a[0]), type::int_);
}
value f_int64(executor&, args a) {
  return int64(cast_int(a[0]));
}
value f_float64(executor&, args a) {
  return cast_float(a[0]);
}
value f_to_decimal(executor&, args a) {
  auto n = parse_int(sprint(a.first(1)), 8);
  return int64(n.error == int_error::none ? n.number : 0);
}
value f_add(executor&, args a) {
  std::int64_t sum = 0;
  for (const auto& v : a) sum = wrap_add(sum, cast_int(v));
  return int64(sum);
}
value f_add1(executor&, args a) {
  return int64(wrap_add(cast_int(a[0]), 1));
}
value f_sub(executor&, args a) {
  return int64(static_cast<std::int64_t>(static_cast<std::uint64_t>(cast_int(a[0])) -
                                         static_cast<std::uint64_t>(cast_int(a[1]))));
}
value f_mul(executor&, args a) {
  auto product = cast_int(a[0]);
  for (const auto& v : a.subspan(1)) product = wrap_mul(product, cast_int(v));
  return int64(product);
}
[[noreturn]] void zero_divisor() {
  throw function_error("runtime error: integer divide by zero");
}
value f_div(executor&, args a) {
  auto x = cast_int(a[0]);
  auto y = cast_int(a[1]);
  if (y == 0) zero_divisor();
  return int64(y == -1 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)) : x / y);
}
value f_mod(executor&, args a) {
  auto x = cast_int(a[0]);
  auto y = cast_int(a[1]);
  if (y == 0) zero_divisor();
  return int64(y == -1 ? 0 : x % y);
}
value f_max(executor&, args a) {
  auto out = cast_int(a[0]);
  for (const auto& v : a.subspan(1)) out = std::max(out, cast_int(v));
  return int64(out);
}
value f_min(executor&, args a) {
  auto out = cast_int(a[0]);
  for (const auto& v : a.subspan(1)) out = std::min(out, cast_int(v));
  return int64(out);
}
/// math.Max and Min: NaN wins, infinities as expected, zeros by sign.
double go_max(double a, double b) {
  if (std::isinf(a) && a > 0) return a;
  if (std::isinf(b) && b > 0) return b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double go_min(double a, double b) {
  if (std::isinf(a) && a < 0) return a;
  if (std::isinf(b) && b < 0) return b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
value f_maxf(executor&, args a) {
  double out = cast_float(a[0]);
  for (const auto& v : a.subspan(1)) out = go_max(out, cast_float(v));
  return out;
}
value f_minf(executor&, args a) {
  double out = cast_float(a[0]);
  for (const auto& v : a.subspan(1)) out = go_min(out, cast_float(v));
  return out;
}
value f_floor(executor&, args a) {
  return std::floor(cast_float(a[0]));
}
value f_ceil(executor&, args a) {
  return std::ceil(cast_float(a[0]));
}
value f_round(executor&, args a) {
  double threshold = a.size() > 2 ? a[2].real() : 0.5;
  double power = std::pow(10, static_cast<double>(a[1].integer()));
  double digit = power * cast_float(a[0]);
  double whole = 0;
  double fraction = std::modf(digit, &whole);
  return (fraction >= threshold ? std::ceil(digit) : std::floor(digit)) / power;
}

/// An exact decimal: digits × 10^exponent, as long as the arithmetic of a chart makes it.
class decimal {
public:
  explicit decimal(double d) {
    if (std::isnan(d) || std::isinf(d))
      throw function_error("Cannot create a Decimal from " + format_float(d));
    auto text = format_float(d, 'e');
    negative_ = text[0] == '-';
    auto e = text.find('e');
    exponent_ = std::atoi(text.c_str() + e + 1);
    for (char c : text.substr(0, e)) {
      if (c == '-') continue;
      if (c == '.') continue;
      digits_ += c;
    }
    exponent_ -= static_cast<int>(digits_.size()) - 1;
    trim();
  }
  friend decimal operator+(const decimal& a, const decimal& b) { return sum(a, b, b.negative_); }
  friend decimal operator-(const decimal& a, const decimal& b) { return sum(a, b, !b.negative_); }
  friend decimal operator*(const decimal& a, const decimal& b) {
    count_steps(1 + a.digits_.size() * b.digits_.size());
    std::string digits(a.digits_.size() + b.digits_.size(), 0);
    for (std::size_t i = a.digits_.size(); i-- > 0;) {
      int carry = 0;
      for (std::size_t j = b.digits_.size(); j-- > 0;) {
        int n = digits[i + j + 1] + (a.digits_[i] - '0') * (b.digits_[j] - '0') + carry;
        digits[i + j + 1] = static_cast<char>(n % 10);
        carry = n / 10;
      }
      digits[i] = static_cast<char>(digits[i] + carry);
    }
    for (auto& c : digits) c = static_cast<char>(c + '0');
    return decimal(a.negative_ != b.negative_, std::move(digits), a.exponent_ + b.exponent_);
  }
  /// Rounded half away from zero to 16 digits after the point.
  friend decimal operator/(const decimal& a, const decimal& b) {
    if (b.digits_ == "0") throw function_error("decimal division by 0");
    constexpr int places = 16;
    // a/b = (A × 10^s / B) × 10^-places with s = exponents brought to that scale.
    int shift = a.exponent_ - b.exponent_ + places;
    std::string numerator = a.digits_;
    std::string denominator = b.digits_;
    if (shift >= 0)
      numerator.append(static_cast<std::size_t>(shift), '0');
    else
      denominator.append(static_cast<std::size_t>(-shift), '0');
    count_steps(numerator.size() * (8 + denominator.size() / 2));
    std::string quotient, rest;
    for (char c : numerator) {
      if (rest != "0" || rest.empty())
        rest += c;
      else
        rest = std::string(1, c);
      strip(rest);
      char digit = '0';
      while (compare(rest, denominator) >= 0) {
        rest = subtract(rest, denominator);
        ++digit;
      }
      quotient += digit;
    }
    strip(quotient);
    if (compare(add(rest, rest), denominator) >= 0) quotient = add(quotient, "1");
    return decimal(a.negative_ != b.negative_, std::move(quotient), -places);
  }
  double real() const {
    auto text = (negative_ ? "-" : "") + digits_ + "e" + std::to_string(exponent_);
    return std::strtod(text.c_str(), nullptr);
  }

private:
  decimal(bool negative, std::string digits, int exponent)
      : negative_(negative), digits_(std::move(digits)), exponent_(exponent) {
    trim();
  }
  void trim() {
    strip(digits_);
    while (digits_.size() > 1 && digits_.back() == '0') {
      digits_.pop_back();
      ++exponent_;
    }
    if (digits_ == "0") {
      negative_ = false;
      exponent_ = 0;
    }
  }
  static void strip(std::string& s) {
    auto first = s.find_first_not_of('0');
    s = first == s.npos ? "0" : s.substr(first);
  }
  static int compare(const std::string& a, const std::string& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  static std::string add(std::string a, std::string b) {
    if (a.size() < b.size()) std::swap(a, b);
    b.insert(0, a.size() - b.size(), '0');
    int carry = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
      int n = a[i] - '0' + b[i] - '0' + carry;
      a[i] = static_cast<char>('0' + n % 10);
      carry = n / 10;
    }
    if (carry) a.insert(0, "1");
    strip(a);
    return a;
  }
  /// a − b for a ≥ b.
  static std::string subtract(std::string a, std::string b) {
    b.insert(0, a.size() - b.size(), '0');
    int borrow = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
      int n = a[i] - b[i] - borrow;
      borrow = n < 0;
      a[i] = static_cast<char>('0' + (n + 10) % 10);
    }
    strip(a);
    return a;
  }
  static decimal sum(const decimal& a, const decimal& b, bool b_negative) {
    int exponent = std::min(a.exponent_, b.exponent_);
    count_steps(4 + (a.digits_.size() + b.digits_.size() +
                     static_cast<std::size_t>(a.exponent_ - exponent) +
                     static_cast<std::size_t>(b.exponent_ - exponent)) /
                        4);
    auto x = a.digits_ + std::string(static_cast<std::size_t>(a.exponent_ - exponent), '0');
    auto y = b.digits_ + std::string(static_cast<std::size_t>(b.exponent_ - exponent), '0');
    strip(x);
    strip(y);
    if (a.negative_ == b_negative) return decimal(a.negative_, add(x, y), exponent);
    if (compare(x, y) >= 0) return decimal(a.negative_, subtract(x, y), exponent);
    return decimal(b_negative, subtract(y, x), exponent);
  }
  bool negative_ = false;
  std::string digits_;
  int exponent_ = 0;
};

template <class Operation>
value folded(decimal start, args a, Operation operation) {
  for (const auto& v : a) start = operation(start, decimal(cast_float(v)));
  return start.real();
}
value f_addf(executor&, args a) {
  return folded(decimal(0), a, [](const decimal& x, const decimal& y) { return x + y; });
}
value f_add1f(executor&, args a) {
  return (decimal(cast_float(a[0])) + decimal(1)).real();
}
value f_subf(executor&, args a) {
  return folded(decimal(cast_float(a[0])), a.subspan(1),
                [](const decimal& x, const decimal& y) { return x - y; });
}
value f_mulf(executor&, args a) {
  return folded(decimal(cast_float(a[0])), a.subspan(1),
                [](const decimal& x, const decimal& y) { return x * y; });
}
value f_divf(executor&, args a) {
  return folded(decimal(cast_float(a[0])), a.subspan(1),
                [](const decimal& x, const decimal& y) { return x / y; });
}

// Defaults and types.

value f_default(executor&, args a) {
  return a.size() < 2 || a[1].empty() ? a[0] : a[1];
}
value f_empty(executor&, args a) {
  return a[0].empty();
}
value f_coalesce(executor&, args a) {
  for (const auto& v : a)
    if (!v.empty()) return v;
  return {};
}
value f_all(executor&, args a) {
  return std::none_of(a.begin(), a.end(), [](const value& v) { return v.empty(); });
}
value f_any(executor&, args a) {
  return std::any_of(a.begin(), a.end(), [](const value& v) { return !v.empty(); });
}
value f_ternary(executor&, args a) {
  return a[2].boolean() ? a[0] : a[1];
}
value f_type_of(executor&, args a) {
  return a[0].type_name();
}
value f_type_is(executor&, args a) {
  return a[0].text() == a[1].type_name();
}
value f_type_is_like(executor&, args a) {
  auto name = a[1].type_name();
  return a[0].text() == name || "*" + a[0].text() == name;
}
value f_kind_of(executor&, args a) {
  return a[0].kind_name();
}
value f_kind_is(executor&, args a) {
  return a[0].text() == a[1].kind_name();
}

constexpr auto any = param::any;
constexpr auto s = param::string;
constexpr function table[] = {
    make_function("int", {any}, f_int),
    make_function("int64", {any}, f_int64),
    make_function("float64", {any}, f_float64),
    make_function("toDecimal", {any}, f_to_decimal),
    make_function("add", {any}, f_add, true),
    make_function("add1", {any}, f_add1),
    make_function("sub", {any, any}, f_sub),
    make_function("mul", {any, any}, f_mul, true),
    make_function("div", {any, any}, f_div),
    make_function("mod", {any, any}, f_mod),
    make_function("max", {any, any}, f_max, true),
    make_function("biggest", {any, any}, f_max, true),
    make_function("min", {any, any}, f_min, true),
    make_function("maxf", {any, any}, f_maxf, true),
    make_function("minf", {any, any}, f_minf, true),
    make_function("floor", {any}, f_floor),
    make_function("ceil", {any}, f_ceil),
    make_function("round", {any, param::int_, param::float64}, f_round, true),
    make_function("addf", {any}, f_addf, true),
    make_function("add1f", {any}, f_add1f),
    make_function("subf", {any, any}, f_subf, true),
    make_function("mulf", {any, any}, f_mulf, true),
    make_function("divf", {any, any}, f_divf, true),
    make_function("default", {any, any}, f_default, true, true),
    make_function("empty", {any}, f_empty),
    make_function("coalesce", {any}, f_coalesce, true, true),
    make_function("all", {any}, f_all, true),
    make_function("any", {any}, f_any, true),
    make_function("ternary", {any, any, param::boolean}, f_ternary, false, true),
    make_function("typeOf", {any}, f_type_of),
    make_function("typeIs", {s, any}, f_type_is),
    make_function("typeIsLike", {s, any}, f_type_is_like),
    make_function("kindOf", {any}, f_kind_of),
    make_function("kindIs", {s, any}, f_kind_is),
};

}  // namespace

std::span<const function> number_functions() {
  return table;
}

}  // namespace helm
