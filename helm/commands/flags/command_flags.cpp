#include "helm/commands/flags/command_flags.hpp"

#include "formats/go/time.hpp"
#include "helm/commands/flags/flag_words.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <limits>

namespace helm {
namespace {

std::string parse_failure(const char* function, const std::string& v, const char* why) {
  return std::string("strconv.") + function + ": parsing " + quote(v) + ": " + why;
}

bool name_of_secret(std::string_view flag) {
  return flag.ends_with("token") || flag.ends_with("password");
}

/// The fields of the first line of a text, as Go's encoding/csv reads them: so pflag splits lists.
/// An empty text has none.
outcome<std::vector<std::string>> comma_separated(const std::string& text) {
  const auto wrong = [](std::size_t column, const char* why) {
    return problem{"parse error on line 1, column " + std::to_string(column) + ": " + why};
  };
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (std::size_t at = 0;;) {
    std::string field;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) return wrong(at + 1, "extraneous or missing \" in quoted-field");
        if (text[at] != '"') {
          field += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field += text[at++];
        } else {
          break;
        }
      }
      ++at;  // behind the closing quote
      if (at < text.size() && text[at] != ',' && text[at] != '\n')
        return wrong(at, "extraneous or missing \" in quoted-field");
    } else {
      for (; at < text.size() && text[at] != ',' && text[at] != '\n'; ++at) {
        if (text[at] == '"') return wrong(at + 1, "bare \" in non-quoted-field");
        field += text[at];
      }
    }
    out.push_back(std::move(field));
    if (at >= text.size() || text[at] == '\n') return out;
    ++at;
  }
}

/// A line for each flag, its parts between tabs.
problem described(const std::vector<flag_info>& flags) {
  std::string text;
  for (const flag_info& f : flags) {
    text += f.name + "\t" + (f.brief ? std::string(1, f.brief) : std::string()) + "\t" + f.type +
            "\t" + f.fallback + "\t" + f.about + "\t" + std::to_string(static_cast<int>(f.is)) +
            "\t" + (f.general ? "1" : "0") + "\n";
  }
  return {std::move(text), problem_code::described};
}

}  // namespace

void command_flags::text(std::string name, char brief, std::string& into) {
  add(std::move(name), brief, takes::value, "string", into, [&into](const std::string& v) {
    into = v;
    return std::nullopt;
  });
}

void command_flags::list(std::string name, char brief, std::vector<std::string>& into) {
  add(std::move(name), brief, takes::value, "stringArray", std::string(),
      [&into](const std::string& v) {
        into.push_back(v);
        return std::nullopt;
      });
}

void command_flags::split_list(std::string name, char brief, std::vector<std::string>& into) {
  add(std::move(name), brief, takes::value, "strings", std::string(),
      [&into](const std::string& v) -> std::optional<std::string> {
        auto parts = comma_separated(v);
        if (!parts) return parts.error().text;
        into.insert(into.end(), parts->begin(), parts->end());
        return std::nullopt;
      });
}

void command_flags::pairs(std::string name, char brief, std::map<std::string, std::string>& into) {
  add(std::move(name), brief, takes::value, "stringToString", std::string(),
      [&into](const std::string& v) -> std::optional<std::string> {
        // With one = the rest is the value, commas included.
        outcome<std::vector<std::string>> pairs = std::vector{std::string(trim_set(v, "\""))};
        const auto count = std::count(v.begin(), v.end(), '=');
        if (count == 0) return v + " must be formatted as key=value";
        if (count > 1) pairs = comma_separated(v);
        if (!pairs) return pairs.error().text;
        for (const auto& pair : *pairs) {
          auto equals = pair.find('=');
          if (equals == pair.npos) return pair + " must be formatted as key=value";
          into[pair.substr(0, equals)] = pair.substr(equals + 1);
        }
        return std::nullopt;
      });
}

void command_flags::flag(std::string name, char brief, bool& into) {
  add(std::move(name), brief, takes::nothing, "", std::string(),
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
  add(std::move(name), brief, takes::value, "int", into == 0 ? std::string() : std::to_string(into),
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
  add(std::move(name), brief, takes::value, "duration",
      into.count() == 0 ? std::string() : duration_text(into.count()),
      [&into](const std::string& v) -> std::optional<std::string> {
        auto d = parse_duration(v);
        if (!d) return d.error().text;
        into = std::chrono::nanoseconds(*d);
        return std::nullopt;
      });
}

void command_flags::optional_text(std::string name, std::string implied, std::string& into) {
  std::string type = "string[=" + quote(implied) + "]";
  add(std::move(name), 0, takes::nothing, std::move(type), into, [&into](const std::string& v) {
    into = v;
    return std::nullopt;
  }).implied = std::move(implied);
}

void command_flags::checked(std::string name, char brief, std::string type, std::string fallback,
                            reader read) {
  add(std::move(name), brief, takes::value, std::move(type), std::move(fallback), std::move(read));
}

void command_flags::ignored(std::initializer_list<const char*> names) {
  for (const auto* n : names) {
    auto unread = std::make_shared<bool>(false);
    flag(n, 0, *unread);
    changes_nothing();
    hold(std::move(unread));
  }
}

void command_flags::ignored_with_value(std::initializer_list<const char*> names) {
  for (const auto* n : names)
    add(n, 0, takes::value, "string", "", [](const std::string&) { return std::nullopt; }).info.is =
        flag_info::use::ignored;
}

void command_flags::changes_nothing() {
  all_.back().info.is = flag_info::use::ignored;
}

void command_flags::unsupported(std::string name, std::string why) {
  auto wanted = std::make_shared<bool>(true);
  flag(std::move(name), 0, *wanted);
  one& f = all_.back();
  f.info.fallback.clear();
  f.info.is = flag_info::use::refused;
  f.info.about = std::move(why);
  f.wanted = std::move(wanted);
}

void command_flags::unsupported_with_value(std::string name, std::string why) {
  one& f = add(std::move(name), 0, takes::nothing, "", "", {});
  f.info.is = flag_info::use::refused;
  f.info.about = std::move(why);
}

void command_flags::about(std::string words) {
  all_.back().info.about = std::move(words);
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
    if (a == "--help" || a == "-h") return described(all());
    if (a.size() < 2 || a[0] != '-') {
      rest.push_back(a);
      continue;
    }
    if (a.starts_with("--")) {
      auto equals = a.find('=');
      auto name = a.substr(2, equals == a.npos ? a.npos : equals - 2);
      const auto* f = find([&](const one& o) { return o.info.name == name; });
      if (!f) return problem{"unknown flag: --" + name};
      if (f->info.is == flag_info::use::refused) {
        if (f->wanted && equals != a.npos) {
          if (auto wrong = give(*f, a.substr(equals + 1))) return *wrong;
          if (!*f->wanted) continue;
        }
        return problem{"flag --" + name + " is not supported by windlass: " + f->info.about,
                       problem_code::unsupported};
      }
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
      const auto* f = find([&](const one& o) { return o.info.brief == a[at]; });
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

bool command_flags::wants_another(const std::string& argument) const {
  const one* f = nullptr;
  if (argument.starts_with("--"))
    f = find([&](const one& o) { return "--" + o.info.name == argument; });
  else if (argument.size() == 2)
    f = find([&](const one& o) { return o.info.brief == argument[1]; });
  return f && f->takes_value;
}

std::vector<flag_info> command_flags::all() const {
  std::vector<flag_info> out;
  for (const one& f : all_) out.push_back(f.info);
  std::ranges::sort(out, {}, &flag_info::name);
  return out;
}

std::vector<flag_info> read_flags(std::string_view described) {
  std::vector<flag_info> out;
  for (const auto& line : split(described, "\n")) {
    const auto parts = split(line, "\t");
    if (parts.size() != 7) continue;
    out.push_back({parts[0], parts[1].empty() ? '\0' : parts[1][0], parts[2], parts[3], parts[4],
                   static_cast<flag_info::use>(parts[5][0] - '0'), parts[6] == "1"});
  }
  return out;
}

command_flags::one& command_flags::add(std::string name, char brief, takes what, std::string type,
                                       std::string fallback, reader read) {
  flag_info info;
  info.about = flag_words(name);
  info.name = std::move(name);
  info.brief = brief;
  info.type = std::move(type);
  // What the environment says is shown, but no credential, and nothing that would break a line.
  const bool hidden =
      name_of_secret(info.name) || fallback.find_first_of("\t\r\n") != fallback.npos;
  if (!hidden) info.fallback = std::move(fallback);
  info.general = general_;
  return all_.emplace_back(
      one{std::move(info), what == takes::value, std::nullopt, std::move(read)});
}

template <class Matches>
const command_flags::one* command_flags::find(Matches matches) const {
  auto found = std::find_if(all_.begin(), all_.end(), matches);
  return found == all_.end() ? nullptr : &*found;
}

std::optional<problem> command_flags::give(const one& f, const std::string& v) {
  auto refused = f.read(v);
  if (!refused) return std::nullopt;
  auto shown =
      (f.info.brief ? std::string("-") + f.info.brief + ", --" : std::string("--")) + f.info.name;
  return problem{"invalid argument " + quote(v) + " for " + quote(shown) + " flag: " + *refused};
}

bool is_unsupported(const problem& p) {
  return p.code == problem_code::unsupported;
}

}  // namespace helm
