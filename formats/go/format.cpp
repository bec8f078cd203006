// One idea, fmt: flags, verbs and the walk over a value refer to one another at every step.
#include "formats/go/format.hpp"

#include "formats/go/complex.hpp"
#include "formats/go/literal.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

namespace formats {
namespace {

constexpr int depth_limit = 10000;
constexpr int width_limit = 1000000;  // fmt's own bound on width and precision

/// The state of one verb: its flags, and where its text goes.
class printer {
public:
  explicit printer(std::string& out) : out_(out) {}

  void argument(const value& v, char32_t verb, int depth = 0);
  void clear() {
    plus = minus = sharp = space = zero = plus_v = sharp_v = false;
    width = precision = -1;
  }

  bool plus = false, minus = false, sharp = false, space = false, zero = false;
  bool plus_v = false, sharp_v = false;
  int width = -1, precision = -1;

private:
  void padding(std::size_t n) { out_.append(n, zero && !minus ? '0' : ' '); }
  void pad(std::string_view s);
  void integer(std::uint64_t u, int base, bool is_signed, char32_t verb, bool capitals);
  void integer_verb(std::uint64_t u, bool is_signed, const value& v, char32_t verb);
  void real(double d, char32_t verb, const value& v);
  void real_text(double d, char verb, int default_precision);
  void text(std::string_view s, char32_t verb, const value& v, bool is_bytes);
  void hex(std::string_view s, bool capitals);
  void bad_verb(char32_t verb, const value& v);
  void list(const value& v, char32_t verb, int depth);
  void map(const value& v, char32_t verb, int depth);
  void structure(const value& v, char32_t verb, int depth);

  std::string& out_;
};

void printer::pad(std::string_view s) {
  if (width <= 0) {
    out_ += s;
    return;
  }
  auto have = rune_count(s);
  auto missing =
      static_cast<std::size_t>(width) > have ? static_cast<std::size_t>(width) - have : 0;
  if (!minus) padding(missing);
  out_ += s;
  if (minus) padding(missing);
}

void printer::bad_verb(char32_t verb, const value& v) {
  out_ += "%!";
  append_rune(out_, verb);
  out_ += '(';
  if (v.is_nil()) {
    out_ += "<nil>";
  } else {
    out_ += v.type_name();
    out_ += '=';
    auto keep = *this;
    argument(v, 'v');
    static_cast<void>(keep);
  }
  out_ += ')';
}

void printer::integer(std::uint64_t u, int base, bool is_signed, char32_t verb, bool capitals) {
  bool negative = is_signed && static_cast<std::int64_t>(u) < 0;
  if (negative) u = 0 - u;
  int digits_wanted = 0;
  if (precision >= 0) {
    digits_wanted = precision;
    if (precision == 0 && u == 0) {
      bool old = zero;
      zero = false;
      if (width > 0) padding(static_cast<std::size_t>(width));
      zero = old;
      return;
    }
  } else if (zero && !minus && width >= 0) {
    digits_wanted = width - (negative || plus || space ? 1 : 0);
  }
  std::string digits;
  const char* alphabet = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
  do {
    digits.insert(digits.begin(), alphabet[u % static_cast<unsigned>(base)]);
    u /= static_cast<unsigned>(base);
  } while (u != 0);
  if (digits_wanted > static_cast<int>(digits.size()))
    digits.insert(0, static_cast<std::size_t>(digits_wanted) - digits.size(), '0');
  if (sharp) {
    if (base == 2) digits.insert(0, "0b");
    if (base == 8 && digits[0] != '0') digits.insert(0, "0");
    if (base == 16) digits.insert(0, capitals ? "0X" : "0x");
  }
  if (verb == 'O') digits.insert(0, "0o");
  if (negative)
    digits.insert(0, "-");
  else if (plus)
    digits.insert(0, "+");
  else if (space)
    digits.insert(0, " ");
  bool old = zero;
  zero = false;
  pad(digits);
  zero = old;
}

void printer::integer_verb(std::uint64_t u, bool is_signed, const value& v, char32_t verb) {
  switch (verb) {
    case 'v':
      if (sharp_v && !is_signed) {
        bool old = sharp;
        sharp = true;
        integer(u, 16, false, verb, false);
        sharp = old;
        return;
      }
      integer(u, 10, is_signed, verb, false);
      return;
    case 'd': integer(u, 10, is_signed, verb, false); return;
    case 'b': integer(u, 2, is_signed, verb, false); return;
    case 'o':
    case 'O': integer(u, 8, is_signed, verb, false); return;
    case 'x': integer(u, 16, is_signed, verb, false); return;
    case 'X': integer(u, 16, is_signed, verb, true); return;
    case 'c': {
      std::string s;
      append_rune(s, u > 0x10ffff ? rune_error : static_cast<char32_t>(u));
      pad(s);
      return;
    }
    case 'q':
      pad(quote_rune(u > 0x10ffff ? rune_error : static_cast<char32_t>(u),
                     plus ? quoting::ascii : quoting::printable));
      return;
    case 'U': {
      char buffer[32];
      int wanted = precision > 4 ? precision : 4;
      std::snprintf(buffer, sizeof buffer, "%llX", static_cast<unsigned long long>(u));
      std::string s = buffer;
      if (static_cast<int>(s.size()) < wanted)
        s.insert(0, static_cast<std::size_t>(wanted) - s.size(), '0');
      s.insert(0, "U+");
      if (sharp && u <= 0x10ffff && is_print(static_cast<char32_t>(u))) {
        s += " '";
        append_rune(s, static_cast<char32_t>(u));
        s += '\'';
      }
      bool old = zero;
      zero = false;
      pad(s);
      zero = old;
      return;
    }
    default: bad_verb(verb, v);
  }
}

/// "-0x1.8p+02": the first digit is 1, or 0 of nothing; `digits` behind the point, rounded half to
/// even, or as many as it takes.
std::string hex_float(double d, int digits, bool capitals) {
  int exponent = 0;
  auto bits = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(d), &exponent), 61));
  exponent = d == 0 ? 0 : exponent - 1;
  constexpr int fraction_digits = 15;
  constexpr std::uint64_t one = std::uint64_t{1} << (4 * fraction_digits);
  if (digits >= 0 && digits < fraction_digits) {
    const std::uint64_t unit = one >> (4 * digits), rest = bits % unit;
    bits -= rest;
    if (rest > unit / 2 || (rest == unit / 2 && bits / unit % 2 != 0)) bits += unit;
    if (bits == 2 * one) {
      bits = one;
      ++exponent;
    }
  }
  const char* alphabet = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string fraction;
  for (std::uint64_t rest = bits % one;
       digits < 0 ? rest != 0 : std::cmp_less(fraction.size(), digits); rest = rest * 16 % one)
    fraction += alphabet[rest * 16 / one];
  std::string out = std::signbit(d) ? "-" : "";
  out += capitals ? "0X" : "0x";
  out += bits >= one ? '1' : '0';
  if (!fraction.empty()) out += "." + fraction;
  out += capitals ? 'P' : 'p';
  out += exponent < 0 ? '-' : '+';
  const auto shown = std::to_string(std::abs(exponent));
  return out + (shown.size() < 2 ? "0" : "") + shown;
}

void printer::real_text(double d, char verb, int default_precision) {
  int digits = precision >= 0 ? precision : default_precision;
  std::string s;
  char shown = verb == 'F' ? 'f' : verb == 'v' ? 'g' : verb;
  if (std::isnan(d) || std::isinf(d)) {
    s = std::isnan(d) ? "+NaN" : d > 0 ? "+Inf" : "-Inf";
    if (space && s[0] == '+' && !plus) s[0] = ' ';
    bool old = zero;
    zero = false;
    if (std::isnan(d) && !space && !plus)
      s.erase(0, 1);
    else if (s[0] == '+' && !plus)
      s.erase(0, 1), s.insert(0, "+");
    pad(s);
    zero = old;
    return;
  }
  if (shown == 'b') {
    int exponent = 0;
    double mantissa = std::frexp(std::fabs(d), &exponent);
    auto whole = static_cast<unsigned long long>(std::ldexp(mantissa, 53));
    exponent = d == 0 ? -1074 : exponent - 53;
    s = (std::signbit(d) ? "-" : "") + std::to_string(whole) + (exponent < 0 ? "p-" : "p+") +
        std::to_string(std::abs(exponent));
  } else if (digits < 0 &&
             (shown == 'g' || shown == 'G' || shown == 'e' || shown == 'E' || shown == 'f')) {
    s = format_float(d, shown == 'G' ? 'g' : shown == 'E' ? 'e' : shown);
    if (shown == 'G' || shown == 'E')
      for (auto& c : s)
        if (c == 'e') c = 'E';
  } else if (shown == 'x' || shown == 'X') {
    s = hex_float(d, digits, shown == 'X');
  } else {
    char format[] = "%.*e";
    // Go's %.0g counts as one digit, as C's does.
    format[3] = shown;
    int n = std::snprintf(nullptr, 0, format, digits, d);
    s.resize(static_cast<std::size_t>(n) + 1);
    std::snprintf(s.data(), s.size(), format, digits, d);
    s.pop_back();
  }
  if (s[0] != '-') s.insert(0, "+");
  if (space && s[0] == '+' && !plus) s[0] = ' ';
  if (sharp && verb != 'b') {
    int wanted = 0;
    if (verb == 'v' || verb == 'g' || verb == 'G' || verb == 'x')
      wanted = digits == -1 ? 6 : digits;
    std::string tail;
    bool point = false, nonzero = false;
    for (std::size_t i = 1; i < s.size(); ++i) {
      if (s[i] == '.') {
        point = true;
        continue;
      }
      if (s[i] == 'p' || s[i] == 'P' ||
          ((s[i] == 'e' || s[i] == 'E') && verb != 'x' && verb != 'X')) {
        tail = s.substr(i);
        s.resize(i);
        break;
      }
      if (s[i] != '0') nonzero = true;
      if (nonzero) --wanted;
    }
    if (!point) {
      if (s.size() == 2 && s[1] == '0') --wanted;
      s += '.';
    }
    if (wanted > 0) s.append(static_cast<std::size_t>(wanted), '0');
    s += tail;
  }
  if (plus || s[0] != '+') {
    if (zero && !minus && width > static_cast<int>(s.size())) {
      out_ += s[0];
      padding(static_cast<std::size_t>(width) - s.size());
      out_.append(s, 1);
      return;
    }
    pad(s);
    return;
  }
  pad(std::string_view(s).substr(1));
}

void printer::real(double d, char32_t verb, const value& v) {
  switch (verb) {
    case 'v':
    case 'g':
    case 'G':
    case 'b':
    case 'x':
    case 'X': real_text(d, static_cast<char>(verb), -1); return;
    case 'f':
    case 'F':
    case 'e':
    case 'E': real_text(d, static_cast<char>(verb), 6); return;
    default: bad_verb(verb, v);
  }
}

void printer::hex(std::string_view s, bool capitals) {
  const char* alphabet = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
  auto count = s.size();
  if (precision >= 0 && static_cast<std::size_t>(precision) < count)
    count = static_cast<std::size_t>(precision);
  std::string body;
  for (std::size_t i = 0; i < count; ++i) {
    if (space && i > 0) body += ' ';
    if (sharp && (space || i == 0)) body += capitals ? "0X" : "0x";
    body += alphabet[static_cast<unsigned char>(s[i]) >> 4];
    body += alphabet[static_cast<unsigned char>(s[i]) & 15];
  }
  if (count == 0) {
    if (width > 0) padding(static_cast<std::size_t>(width));
    return;
  }
  auto missing =
      width > static_cast<int>(body.size()) ? static_cast<std::size_t>(width) - body.size() : 0;
  if (!minus) padding(missing);
  out_ += body;
  if (minus) padding(missing);
}

void printer::text(std::string_view s, char32_t verb, const value& v, bool is_bytes) {
  auto cut = [&](std::string_view whole) {
    if (precision < 0) return whole;
    std::size_t at = 0;
    for (int n = 0; n < precision && at < whole.size(); ++n)
      at += static_cast<std::size_t>(decode_rune(whole.substr(at)).size);
    return whole.substr(0, at);
  };
  switch (verb) {
    case 'v':
      if (sharp_v) {
        pad(quote(s));
        return;
      }
      pad(cut(s));
      return;
    case 's': pad(cut(s)); return;
    case 'x': hex(s, false); return;
    case 'X': hex(s, true); return;
    case 'q':
      s = cut(s);
      if (sharp && can_backquote(s))
        pad("`" + std::string(s) + "`");
      else
        pad(quote(s, '"', plus ? quoting::ascii : quoting::printable));
      return;
    default: break;
  }
  static_cast<void>(is_bytes);
  bad_verb(verb, v);
}

void printer::list(const value& v, char32_t verb, int depth) {
  check_text(out_.size());
  if (v.kind() == type::bytes) {
    if (verb == 's' || verb == 'q' || verb == 'x' || verb == 'X') {
      text(v.text(), verb, v, true);
      return;
    }
    if (verb == 'v' || verb == 'd') {
      if (sharp_v) {
        if (v.is_nil_reference()) {
          out_ += depth > 0 ? "[]uint8(nil)" : "[]byte(nil)";
          return;
        }
        out_ += depth > 0 ? "[]uint8{" : "[]byte{";
        for (std::size_t i = 0; i < v.size(); ++i) {
          if (i > 0) out_ += ", ";
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "0x%x", static_cast<unsigned char>(v.text()[i]));
          out_ += buffer;
        }
        out_ += '}';
        return;
      }
      out_ += '[';
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (i > 0) out_ += ' ';
        integer(static_cast<unsigned char>(v.text()[i]), 10, false, verb, false);
      }
      out_ += ']';
      return;
    }
    // Each byte reports the wrong verb for itself.
  }
  if (sharp_v) {
    out_ += v.type_name();
    if (v.is_nil_reference()) {
      out_ += "(nil)";
      return;
    }
    out_ += '{';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out_ += ", ";
      argument(v.at(i), verb, depth + 1);
    }
    out_ += '}';
    return;
  }
  out_ += '[';
  for (std::size_t i = 0; i < v.size(); ++i) {
    check_text(out_.size());
    if (i > 0) out_ += ' ';
    argument(v.at(i), verb, depth + 1);
  }
  out_ += ']';
}

void printer::map(const value& v, char32_t verb, int depth) {
  check_text(out_.size());
  if (sharp_v) {
    out_ += v.type_name();
    if (v.is_nil_reference()) {
      out_ += "(nil)";
      return;
    }
    out_ += '{';
  } else {
    out_ += "map[";
  }
  bool first = true;
  for (const auto& [key, item] : v.entries()) {
    check_text(out_.size());
    if (!first) out_ += sharp_v ? ", " : " ";
    first = false;
    argument(value(key), verb, depth + 1);
    out_ += ':';
    argument(v.is_any_map() ? item.box() : item, verb, depth + 1);
  }
  out_ += sharp_v ? '}' : ']';
}

void printer::structure(const value& v, char32_t verb, int depth) {
  auto* o = v.object();
  if (const auto* c = dynamic_cast<const complex_number*>(o)) {
    if (std::u32string_view(U"vbgGxXfFeE").find(verb) == std::u32string_view::npos)
      return bad_verb(verb, v);
    out_ += '(';
    real(c->real, verb, v);
    bool old = plus;
    plus = true;
    real(c->imaginary, verb, v);
    plus = old;
    out_ += "i)";
    return;
  }
  bool as_text = verb == 'v' || verb == 's' || verb == 'x' || verb == 'X' || verb == 'q';
  if (as_text && !sharp_v) {
    if (auto s = o->text()) {
      text(*s, verb, v, false);
      return;
    }
  }
  if (o->kind_name() == "ptr") {
    if (depth > 0) {
      // Below the top a pointer is an address, which only some verbs can show.
      auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(o));
      if (verb == 'v' || verb == 'p') {
        bool old = sharp;
        sharp = true;
        integer(address, 16, false, 'v', false);
        sharp = old;
      } else if (verb == 'b' || verb == 'o' || verb == 'd' || verb == 'x' || verb == 'X') {
        integer_verb(address, false, v, verb);
      } else {
        bad_verb(verb, v);
      }
      return;
    }
    out_ += '&';
  }
  if (sharp_v) {
    auto name = o->type_name();
    if (name.starts_with('*')) name.erase(0, 1);
    out_ += name;
  }
  out_ += '{';
  bool first = true;
  for (const auto& [name, item] : o->fields()) {
    if (!first) out_ += sharp_v ? ", " : " ";
    first = false;
    if (plus_v || sharp_v) {
      out_ += name;
      out_ += ':';
    }
    argument(item, verb, depth + 1);
  }
  out_ += '}';
}

void printer::argument(const value& v, char32_t verb, int depth) {
  if (depth > depth_limit) {
    out_ += "...";
    return;
  }
  if (depth == 0 && verb == 'T') {
    if (v.is_nil())
      pad("<nil>");
    else
      text(v.type_name(), 's', v, false);
    return;
  }
  if (verb == 'w' && depth == 0 && !v.is_nil()) return bad_verb(verb, v);  // for errors alone
  switch (v.kind()) {
    case type::nil:
      if (depth > 0) {
        out_ += sharp_v ? "interface {}(nil)" : "<nil>";
      } else if (verb == 'v') {
        pad("<nil>");
      } else {
        bad_verb(verb, v);
      }
      return;
    case type::boolean:
      if (verb == 't' || verb == 'v')
        pad(v.boolean() ? "true" : "false");
      else
        bad_verb(verb, v);
      return;
    case type::float64: real(v.real(), verb, v); return;
    case type::string: text(v.text(), verb, v, false); return;
    case type::object: with_room([&] { structure(v, verb, depth); }); return;
    default: break;
  }
  if (v.is_integer()) {
    integer_verb(static_cast<std::uint64_t>(v.integer()), v.is_signed(), v, verb);
  } else if (verb == 'p' && depth == 0) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(v.identity())));
    pad(buffer);
  } else if (v.is_list()) {
    with_room([&] { list(v, verb, depth); });
  } else {
    with_room([&] { map(v, verb, depth); });
  }
}

struct number_at {
  int number = 0;
  bool present = false;
};

number_at parse_number(std::string_view s, std::size_t& i) {
  number_at n;
  for (; i < s.size() && s[i] >= '0' && s[i] <= '9'; ++i) {
    if (n.number > width_limit) {
      i = s.size();  // the rest of the format is no longer read
      return {0, false};
    }
    n.number = n.number * 10 + (s[i] - '0');
    n.present = true;
  }
  return n;
}

/// "[n]" at position i: which operand comes next.
struct index_state {
  std::size_t next = 0;
  bool good = true;
  bool reordered = false;
  bool after_index = false;
};

void argument_index(std::string_view format, std::size_t& i, std::size_t count,
                    index_state& state) {
  if (i >= format.size() || format[i] != '[') {
    state.after_index = false;
    return;
  }
  state.reordered = true;
  auto close = format.find(']', i);
  if (close == format.npos || format.size() - i < 3) {
    state.good = false;
    i += 1;
    state.after_index = false;
    return;
  }
  std::size_t at = i + 1;
  auto n = parse_number(format.substr(0, close), at);
  bool ok =
      n.present && at == close && n.number >= 1 && static_cast<std::size_t>(n.number) <= count;
  i = close + 1;
  if (ok) {
    state.next = static_cast<std::size_t>(n.number - 1);
    state.after_index = true;
    return;
  }
  state.good = false;
  state.after_index = n.present && at == close;
}

/// A width or precision taken from an operand.
std::optional<int> star(std::span<const value> operands, std::size_t& next) {
  if (next >= operands.size()) return std::nullopt;
  const auto& v = operands[next++];
  if (!v.is_integer()) return std::nullopt;
  auto n = v.integer();
  if (n > width_limit || n < -width_limit) return std::nullopt;
  return static_cast<int>(n);
}

}  // namespace

void append_value(std::string& out, const value& v) {
  if (v.is_string()) {
    out += v.text();
    return;
  }
  printer p(out);
  p.argument(v, 'v');
}

std::string format_value(const value& v) {
  std::string out;
  append_value(out, v);
  return out;
}

std::string sprint(std::span<const value> operands) {
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_text(out.size());
    if (i > 0 && !operands[i].is_string() && !operands[i - 1].is_string()) out += ' ';
    append_value(out, operands[i]);
  }
  return out;
}

std::string sprintln(std::span<const value> operands) {
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_text(out.size());
    if (i > 0) out += ' ';
    append_value(out, operands[i]);
  }
  out += '\n';
  return out;
}

std::string sprintf(std::string_view format, std::span<const value> operands) {
  std::string out;
  printer p(out);
  index_state index;
  std::size_t i = 0;
  while (i < format.size()) {
    check_text(out.size());
    index.good = true;
    auto percent = format.find('%', i);
    if (percent == format.npos) percent = format.size();
    out += format.substr(i, percent - i);
    i = percent;
    if (i >= format.size()) break;
    ++i;
    p.clear();
    bool done = false;
    for (; i < format.size(); ++i) {
      char c = format[i];
      if (c == '#')
        p.sharp = true;
      else if (c == '0')
        p.zero = true;
      else if (c == '+')
        p.plus = true;
      else if (c == '-')
        p.minus = true;
      else if (c == ' ')
        p.space = true;
      else
        break;
    }
    static_cast<void>(done);
    argument_index(format, i, operands.size(), index);
    if (i < format.size() && format[i] == '*') {
      ++i;
      if (auto w = star(operands, index.next)) {
        p.width = *w;
        if (p.width < 0) {
          p.width = -p.width;
          p.minus = true;
          p.zero = false;
        }
      } else {
        out += "%!(BADWIDTH)";
      }
      index.after_index = false;
    } else {
      auto n = parse_number(format, i);
      if (n.present) p.width = n.number;
      if (index.after_index && n.present) index.good = false;
    }
    if (i + 1 < format.size() && format[i] == '.') {
      ++i;
      if (index.after_index) index.good = false;
      argument_index(format, i, operands.size(), index);
      if (i < format.size() && format[i] == '*') {
        ++i;
        auto digits = star(operands, index.next);
        if (digits && *digits >= 0)
          p.precision = *digits;
        else
          out += "%!(BADPREC)";
        index.after_index = false;
      } else {
        auto n = parse_number(format, i);
        p.precision = n.present ? n.number : 0;
      }
    }
    if (!index.after_index) argument_index(format, i, operands.size(), index);
    if (i >= format.size()) {
      out += "%!(NOVERB)";
      break;
    }
    auto verb = decode_rune(format.substr(i));
    i += static_cast<std::size_t>(verb.size);
    if (verb.rune == '%') {
      out += '%';
    } else if (!index.good) {
      out += "%!";
      append_rune(out, verb.rune);
      out += "(BADINDEX)";
    } else if (index.next >= operands.size()) {
      out += "%!";
      append_rune(out, verb.rune);
      out += "(MISSING)";
    } else {
      if (verb.rune == 'v' || verb.rune == 'w') {
        p.sharp_v = p.sharp;
        p.sharp = false;
        p.plus_v = p.plus;
        p.plus = false;
      }
      p.argument(operands[index.next++], verb.rune);
    }
  }
  if (!index.reordered && index.next < operands.size()) {
    p.clear();
    out += "%!(EXTRA ";
    for (std::size_t n = index.next; n < operands.size(); ++n) {
      if (n > index.next) out += ", ";
      if (operands[n].is_nil()) {
        out += "<nil>";
      } else {
        out += operands[n].type_name();
        out += '=';
        p.argument(operands[n], 'v');
      }
    }
    out += ')';
  }
  return out;
}

std::string text_form(const value& v) {
  if (v.is_string() || v.kind() == type::bytes) return v.text();
  if (auto* o = v.object())
    if (auto s = o->text()) return *s;
  return format_value(v);
}

}  // namespace formats
