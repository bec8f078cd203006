#include "helm/commands/command_flags.hpp"

#include "formats/go/time.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <limits>

namespace helm {
namespace {

constexpr const char* unsupported_ending = " is not supported by windlass";

std::string parse_failure(const char* function, const std::string& v, const char* why) {
  return std::string("strconv.") + function + ": parsing " + quote(v) + ": " + why;
}

}  // namespace

void command_flags::text(std::string name, char brief, std::string& into) {
  add(std::move(name), brief, takes::value, [&into](const std::string& v) {
    into = v;
    return std::nullopt;
  });
}

void command_flags::list(std::string name, char brief, std::vector<std::string>& into) {
  add(std::move(name), brief, takes::value, [&into](const std::string& v) {
    into.push_back(v);
    return std::nullopt;
  });
}

void command_flags::split_list(std::string name, char brief, std::vector<std::string>& into) {
  add(std::move(name), brief, takes::value, [&into](const std::string& v) {
    for (auto& part : split(v, ",")) into.push_back(part);
    return std::nullopt;
  });
}

void command_flags::pairs(std::string name, char brief, std::map<std::string, std::string>& into) {
  add(std::move(name), brief, takes::value,
      [&into](const std::string& v) -> std::optional<std::string> {
        for (const auto& pair : split(v, ",")) {
          auto equals = pair.find('=');
          if (equals == pair.npos) return pair + " must be formatted as key=value";
          into[pair.substr(0, equals)] = pair.substr(equals + 1);
        }
        return std::nullopt;
      });
}

void command_flags::flag(std::string name, char brief, bool& into) {
  add(std::move(name), brief, takes::nothing,
      [&into](const std::string& v) -> std::optional<std::string> {
        if (v == "true" || v == "1" || v == "t" || v == "T" || v == "TRUE" || v == "True")
          into = true;
        else if (v == "false" || v == "0" || v == "f" || v == "F" || v == "FALSE" || v == "False")
          into = false;
        else
          return parse_failure("ParseBool", v, "invalid syntax");
        return std::nullopt;
      });
}

void command_flags::number(std::string name, char brief, int& into) {
  add(std::move(name), brief, takes::value,
      [&into](const std::string& v) -> std::optional<std::string> {
        auto n = parse_int(v, 0);
        if (n.error == int_error::syntax) return parse_failure("ParseInt", v, "invalid syntax");
        if (n.error == int_error::range || n.number > std::numeric_limits<int>::max() ||
            n.number < std::numeric_limits<int>::min())
          return parse_failure("ParseInt", v, "value out of range");
        into = static_cast<int>(n.number);
        return std::nullopt;
      });
}

void command_flags::duration(std::string name, char brief, std::chrono::nanoseconds& into) {
  add(std::move(name), brief, takes::value,
      [&into](const std::string& v) -> std::optional<std::string> {
        auto d = parse_duration(v);
        if (!d) return d.error().text;
        into = std::chrono::nanoseconds(*d);
        return std::nullopt;
      });
}

void command_flags::optional_text(std::string name, std::string implied, std::string& into) {
  add(
      std::move(name), 0, takes::nothing,
      [&into](const std::string& v) {
        into = v;
        return std::nullopt;
      },
      std::move(implied));
}

void command_flags::checked(std::string name, char brief, reader read) {
  add(std::move(name), brief, takes::value, std::move(read));
}

void command_flags::ignored(std::initializer_list<const char*> names) {
  for (const auto* n : names)
    add(n, 0, takes::nothing, [](const std::string&) { return std::nullopt; });
}

void command_flags::ignored_with_value(std::initializer_list<const char*> names) {
  for (const auto* n : names)
    add(n, 0, takes::value, [](const std::string&) { return std::nullopt; });
}

void command_flags::unsupported(std::initializer_list<const char*> names) {
  unsupported_.insert(unsupported_.end(), names.begin(), names.end());
}

outcome<std::vector<std::string>> command_flags::parse(
    std::span<const std::string> arguments) const {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    if (a == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  arguments.end());
      break;
    }
    if (a.size() < 2 || a[0] != '-') {
      rest.push_back(a);
      continue;
    }
    if (a.starts_with("--")) {
      auto equals = a.find('=');
      auto name = a.substr(2, equals == a.npos ? a.npos : equals - 2);
      if (std::find(unsupported_.begin(), unsupported_.end(), name) != unsupported_.end())
        return problem{"flag --" + name + unsupported_ending};
      const auto* f = find([&](const one& o) { return o.name == name; });
      if (!f) return problem{"unknown flag: --" + name};
      std::string v = f->implied.value_or("true");
      if (equals != a.npos)
        v = a.substr(equals + 1);
      else if (f->takes_value) {
        if (i + 1 >= arguments.size()) return problem{"flag needs an argument: --" + name};
        v = arguments[++i];
      }
      if (auto refused = give(*f, v)) return *refused;
      continue;
    }
    for (std::size_t at = 1; at < a.size(); ++at) {
      const auto* f = find([&](const one& o) { return o.brief == a[at]; });
      if (!f)
        return problem{"unknown shorthand flag: " + quote_rune(static_cast<unsigned char>(a[at])) +
                       " in " + a};
      if (!f->takes_value) {
        if (auto refused = give(*f, "true")) return *refused;
        continue;
      }
      auto v = a.substr(at + 1);
      if (v.starts_with('=')) v.erase(0, 1);
      if (at + 1 >= a.size()) {
        if (i + 1 >= arguments.size())
          return problem{"flag needs an argument: " +
                         quote_rune(static_cast<unsigned char>(a[at])) + " in " + a};
        v = arguments[++i];
      }
      if (auto refused = give(*f, v)) return *refused;
      break;
    }
  }
  return rest;
}

void command_flags::add(std::string name, char brief, takes what, reader read,
                        std::optional<std::string> implied) {
  all_.push_back(
      {std::move(name), brief, what == takes::value, std::move(implied), std::move(read)});
}

template <class Matches>
const command_flags::one* command_flags::find(Matches matches) const {
  auto found = std::find_if(all_.begin(), all_.end(), matches);
  return found == all_.end() ? nullptr : &*found;
}

std::optional<problem> command_flags::give(const one& f, const std::string& v) {
  auto refused = f.read(v);
  if (!refused) return std::nullopt;
  auto shown = (f.brief ? std::string("-") + f.brief + ", --" : std::string("--")) + f.name;
  return problem{"invalid argument " + quote(v) + " for " + quote(shown) + " flag: " + *refused};
}

bool is_unsupported(const problem& p) {
  return p.text.ends_with(unsupported_ending);
}

}  // namespace helm
