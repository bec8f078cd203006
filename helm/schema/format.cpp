#include "helm/schema/format.hpp"

#include "formats/go/address.hpp"
#include "formats/go/function_error.hpp"
#include "formats/go/regex.hpp"
#include "formats/go/time.hpp"
#include "formats/go/url.hpp"
#include "helm/go.hpp"

#include <array>
#include <cstdlib>
#include <vector>

namespace helm {
namespace {

using verdict = std::optional<std::string>;

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
std::string shown(std::string_view s) {
  std::string out = "'";
  auto q = quote(s);
  out += q.substr(1, q.size() - 2);
  return out + "'";
}
/// The first character of `s` that `fits` does not take, as messages show it.
template <class F>
verdict unfit(std::string_view s, F fits) {
  for (std::size_t i = 0; i < s.size();) {
    const auto d = decode_rune(s.substr(i));
    const auto size = static_cast<std::size_t>(d.size);
    if (size != 1 || !fits(s[i])) return shown(s.substr(i, size));
    i += size;
  }
  return std::nullopt;
}

/// Leading digits.
std::size_t count_digits(std::string_view s) {
  std::size_t n = 0;
  while (n < s.size() && digit(s[n])) ++n;
  return n;
}

verdict json_pointer(std::string_view s) {
  if (s.empty()) return std::nullopt;
  if (s[0] != '/') return "not starting with /";
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s[i] == '~' && (i + 1 >= s.size() || (s[i + 1] != '0' && s[i + 1] != '1')))
      return "~ must be followed by 0 or 1";
  return std::nullopt;
}

verdict relative_json_pointer(std::string_view s) {
  const auto n = count_digits(s);
  if (n == 0) return "must start with non-negative integer";
  if (n > 1 && s[0] == '0') return "starts with zero";
  s.remove_prefix(n);
  return s == "#" ? std::nullopt : json_pointer(s);
}

verdict uuid(std::string_view s) {
  static constexpr std::array<std::size_t, 5> lengths{8, 4, 4, 4, 12};
  const auto groups = split(s, "-");
  if (groups.size() != lengths.size()) return "must have 5 elements";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].size() != lengths[i])
      return "element " + std::to_string(i + 1) + " must be " + std::to_string(lengths[i]) +
             " characters long";
    if (auto c = unfit(groups[i], [](char ch) {
          return digit(ch) || (ch >= 'a' && ch <= 'f') || (ch >= 'A' && ch <= 'F');
        }))
      return "non-hex character " + *c;
  }
  return std::nullopt;
}

verdict duration(std::string_view s) {
  if (!s.starts_with('P')) return "must start with P";
  s.remove_prefix(1);
  if (s.empty()) return "nothing after P";
  if (s.ends_with('W')) {
    s.remove_suffix(1);
    if (s.empty()) return "no number in week";
    if (count_digits(s) != s.size()) return "invalid week";
    return std::nullopt;
  }
  static constexpr std::array<std::string_view, 2> all_units{"YMD", "HMS"};
  const auto parts = split(s, "T");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i != 0 && part.empty()) return "no time elements";
    if (i >= all_units.size()) return "more than one T";
    auto units = all_units[i];
    while (!part.empty()) {
      const auto n = count_digits(part);
      if (n == 0) return "missing number";
      part.remove_prefix(n);
      if (part.empty()) return "missing unit";
      const auto at = units.find(part[0]);
      if (at == units.npos)
        return all_units[i].find(part[0]) != part.npos
                   ? "unit " + shown(part.substr(0, 1)) + " out of order"
                   : "invalid unit " + shown(part.substr(0, 1));
      units.remove_prefix(at + 1);
      part.remove_prefix(1);
    }
  }
  return std::nullopt;
}

verdict ipv4(const std::string& s) {
  const auto groups = split(s, ".");
  if (groups.size() != 4) return "expected four decimals";
  for (const auto& g : groups) {
    if (g.size() > 1 && g[0] == '0') return "leading zeros";
    const auto n = parse_int(g, 10);
    if (n.error == int_error::syntax)
      return "strconv.Atoi: parsing " + quote(g) + ": invalid syntax";
    if (n.error == int_error::range)
      return "strconv.Atoi: parsing " + quote(g) + ": value out of range";
    if (n.number < 0 || n.number > 255) return "decimal must be between 0 and 255";
  }
  return std::nullopt;
}

verdict ipv6(const std::string& s) {
  if (s.find(':') == s.npos) return "missing colon";
  const ip_address address = parse_address(s);
  if (!address.problem.empty()) return address.problem;
  if (!address.zone.empty()) return "zone id is not a part of ipv6 address";
  return std::nullopt;
}

verdict hostname(std::string_view s) {
  if (s.ends_with('.')) s.remove_suffix(1);
  if (s.size() > 253) return "more than 253 characters long";
  for (const auto& label : split(s, ".")) {
    if (label.empty() || label.size() > 63) return "label must be 1 to 63 characters long";
    if (label.front() == '-') return "label starts with hyphen";
    if (label.back() == '-') return "label ends with hyphen";
    if (auto c = unfit(label, [](char ch) { return letter(ch) || digit(ch) || ch == '-'; }))
      return "invalid character " + *c;
  }
  return std::nullopt;
}

verdict email(const std::string& s) {
  if (s.size() > 254) return "more than 255 characters long";
  const auto at = s.rfind('@');
  if (at == s.npos) return "missing @";
  const auto local = s.substr(0, at);
  auto domain = s.substr(at + 1);
  if (local.size() > 64) return "local part more than 64 characters long";
  if (local.size() > 1 && local[0] == '"') {
    if (local.substr(1, local.size() - 2).find_first_of("\\\"") != local.npos)
      return "backslash and quote are not allowed within quoted local part";
  } else {
    if (local.starts_with('.')) return "starts with dot";
    if (local.ends_with('.')) return "ends with dot";
    if (local.find("..") != local.npos) return "consecutive dots";
    if (auto c = unfit(local, [](char ch) {
          return letter(ch) || digit(ch) ||
                 std::string_view(".!#$%&'*+-/=?^_`{|}~").find(ch) != std::string_view::npos;
        }))
      return "invalid character " + *c;
  }
  auto wrapped = [](const char* what, const verdict& v) {
    return v ? verdict(std::string(what) + *v) : std::nullopt;
  };
  if (domain.starts_with('[') && domain.ends_with(']')) {
    domain = domain.substr(1, domain.size() - 2);
    if (domain.starts_with("IPv6:"))
      return wrapped("invalid ipv6 address: ", ipv6(domain.substr(5)));
    return wrapped("invalid ipv4 address: ", ipv4(domain));
  }
  return wrapped("invalid domain: ", hostname(domain));
}

verdict date(const std::string& s) {
  auto t = parse_time("2006-01-02", s);
  return t ? std::nullopt : verdict(t.error().text);
}

/// Two numbers, or three, between colons; nothing when one is no number.
std::optional<std::vector<std::int64_t>> clock_numbers(std::string_view s) {
  std::vector<std::int64_t> out;
  for (const auto& part : split(s, ":")) {
    const auto n = parse_int(part, 10);
    if (n.error != int_error::none) return std::nullopt;
    out.push_back(n.number);
  }
  return out;
}

verdict clock_time(std::string_view s) {
  if (s.size() < 9) return "less than 9 characters long";
  if (s[2] != ':' || s[5] != ':') return "missing colon in correct place";
  const auto parts = clock_numbers(s.substr(0, 8));
  if (!parts || parts->size() != 3) return "invalid hour/min/sec";
  for (auto n : *parts)
    if (n < 0) return "non-positive hour/min/sec";
  auto hour = (*parts)[0], minute = (*parts)[1];
  const auto second = (*parts)[2];
  if (hour > 23 || minute > 59 || second > 60) return "hour/min/sec out of range";
  s.remove_prefix(8);
  if (s.starts_with('.')) {
    const auto n = count_digits(s.substr(1));
    if (n == 0) return "no digits in second fraction";
    s.remove_prefix(1 + n);
  }
  if (s != "z" && s != "Z") {
    if (s.size() != 6) return "offset must be 6 characters long";
    if (s[0] != '+' && s[0] != '-') return "offset must begin with plus/minus";
    if (s[3] != ':') return "missing colon in offset in correct place";
    const auto offset = clock_numbers(s.substr(1));
    if (!offset || offset->size() != 2) return "invalid hour/min in offset";
    for (auto n : *offset)
      if (n < 0) return "non-positive hour/min in offset";
    if ((*offset)[0] > 23 || (*offset)[1] > 59) return "hour/min in offset out of range";
    auto total = hour * 60 + minute + (s[0] == '+' ? -1 : 1) * ((*offset)[0] * 60 + (*offset)[1]);
    if (total < 0) total += 24 * 60;
    hour = total / 60;
    minute = total % 60;
  }
  // A leap second ends a day.
  if (second >= 60 && (hour != 23 || minute != 59)) return "invalid leap second";
  return std::nullopt;
}

verdict date_time(const std::string& s) {
  if (s.size() < 20) return "less than 20 characters long";
  if (s[10] != 't' && s[10] != 'T') return "11th character must be t or T";
  if (auto bad = date(s.substr(0, 10))) return "invalid date element: " + *bad;
  if (auto bad = clock_time(std::string_view(s).substr(11))) return "invalid time element: " + *bad;
  return std::nullopt;
}

verdict period(const std::string& s) {
  const auto slash = s.find('/');
  if (slash == s.npos) return "missing slash";
  const auto start = s.substr(0, slash), end = s.substr(slash + 1);
  if (start.starts_with('P')) {
    if (auto bad = duration(start)) return "invalid start duration: " + *bad;
    if (auto bad = date_time(end)) return "invalid end date-time: " + *bad;
    return std::nullopt;
  }
  if (auto bad = date_time(start)) return "invalid start date-time: " + *bad;
  if (end.starts_with('P')) {
    if (auto bad = duration(end)) return "invalid end duration: " + *bad;
  } else if (auto bad = date_time(end)) {
    return "invalid end date-time: " + *bad;
  }
  return std::nullopt;
}

verdict semantic_version(std::string_view s) {
  auto plain = [](char c) { return digit(c) || letter(c) || c == '-'; };
  if (auto plus = s.find('+'); plus != s.npos) {
    const auto build = s.substr(plus + 1);
    if (build.empty()) return "build is empty";
    for (const auto& part : split(build, ".")) {
      if (part.empty()) return "build identifier is empty";
      if (auto c = unfit(part, plain)) return "invalid character " + *c + " in build identifier";
    }
    s = s.substr(0, plus);
  }
  if (auto dash = s.find('-'); dash != s.npos) {
    for (const auto& part : split(s.substr(dash + 1), ".")) {
      if (part.empty()) return "pre-release identifier is empty";
      if (auto c = unfit(part, plain))
        return "invalid character " + *c + " in pre-release identifier";
      if (count_digits(part) == part.size() && part.size() > 1 && part[0] == '0')
        return "pre-release numeric identifier starts with zero";
    }
    s = s.substr(0, dash);
  }
  const auto numbers = split(s, ".");
  if (numbers.size() != 3) return "versionCore must have 3 numbers separated by dot";
  static constexpr std::array<const char*, 3> names{"major", "minor", "patch"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& n = numbers[i];
    if (n.empty()) return std::string(names[i]) + " is empty";
    if (n.size() > 1 && n[0] == '0') return std::string(names[i]) + " starts with zero";
    if (count_digits(n) != n.size()) return std::string(names[i]) + " contains non-digit";
  }
  return std::nullopt;
}

/// Shared by the formats that are URLs; `parsed` gets the parts.
verdict url_problem(const std::string& s, url& parsed) {
  try {
    parsed = parse_url(s);
  } catch (const function_error& e) {
    return e.what();
  }
  const auto host = host_name(parsed.host);
  if (host.find(':') == host.npos) return std::nullopt;
  if (parsed.host.find('[') == std::string::npos || parsed.host.find(']') == std::string::npos)
    return "ipv6 address not enclosed in brackets";
  if (auto bad = ipv6(host)) return "invalid ipv6 address: " + *bad;
  return std::nullopt;
}

verdict uri(const std::string& s) {
  url parts;
  if (auto bad = url_problem(s, parts)) return bad;
  return parts.scheme.empty() ? verdict("relative url") : std::nullopt;
}

verdict uri_reference(const std::string& s) {
  url parts;
  if (s.find('\\') != s.npos) return "contains \\";
  return url_problem(s, parts);
}

verdict uri_template(const std::string& s) {
  url parts;
  if (auto bad = url_problem(s, parts)) return bad;
  for (const auto& segment : split(parts.raw_path, "/")) {
    bool open = false;
    for (char c : segment) {
      if (c != '{' && c != '}') continue;
      if ((c == '{') == open) return "nested curly braces";
      open = !open;
    }
    if (open) return "no matching closing brace";
  }
  return std::nullopt;
}

verdict regex(const std::string& s) {
  std::string why;
  if (formats::regex::compile(s, &why)) return std::nullopt;
  return why;
}

struct format {
  std::string_view name;
  verdict (*check)(const std::string&);
};
template <verdict (*Check)(std::string_view)>
verdict viewed(const std::string& s) {
  return Check(s);
}
constexpr format formats[] = {
    {"json-pointer", viewed<json_pointer>},
    {"relative-json-pointer", viewed<relative_json_pointer>},
    {"uuid", viewed<uuid>},
    {"duration", viewed<duration>},
    {"period", period},
    {"ipv4", ipv4},
    {"ipv6", ipv6},
    {"hostname", viewed<hostname>},
    {"email", email},
    {"date", date},
    {"time", viewed<clock_time>},
    {"date-time", date_time},
    {"uri", uri},
    {"iri", uri},
    {"uri-reference", uri_reference},
    {"iri-reference", uri_reference},
    {"uri-template", uri_template},
    {"semver", viewed<semantic_version>},
    {"regex", regex},
};

}  // namespace

std::optional<std::string> format_problem(std::string_view name, const std::string& text) {
  for (const auto& f : formats)
    if (f.name == name) return f.check(text);
  return std::nullopt;
}

}  // namespace helm
