// A template of kubectl: its parser, and the walk that must answer as that parser reads. They share
// the nodes, which nothing else sees, so they stay in one file.
#include "formats/json/path.hpp"

#include "formats/go/literal.hpp"
#include "formats/json/json.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace formats {

namespace json = boost::json;

using path_nodes = std::vector<std::shared_ptr<const json_path::node>>;
using found_values = std::vector<const json::value*>;

/// One step of a path, or a whole action.
struct json_path::node {
  enum class step { text, field, wildcard, recursive, slice, filter, several, word, action } is;
  std::string name = {};     // of a field or a word; the operator of a filter
  json::value literal = {};  // of a text
  std::array<std::optional<std::int64_t>, 3> at = {};  // of a slice: from, to, step
  bool one_element = false;                            // of a slice: [3]
  path_nodes left = {}, right = {};                    // of a filter; left also of an action
  std::vector<path_nodes> all = {};                    // of a union
};

namespace {

using node = json_path::node;

constexpr std::size_t longest_template = 64 * 1024, longest_text = 64 * 1024 * 1024,
                      most_found = 1'000'000;
constexpr int deepest = 100;

/// Ends a parse or a walk; its text is the sentence for the user.
struct path_problem {
  std::string text;
};

bool ends_a_name(char c) {
  return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos;
}
bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::shared_ptr<const node> made(node n) {
  return std::make_shared<const node>(std::move(n));
}

class path_parser {
public:
  path_parser(std::string_view text, int depth) : rest_(text), depth_(depth) {
    if (depth > deepest) throw path_problem{"filters are nested too deeply"};
  }

  path_nodes whole() {
    path_nodes out;
    while (!rest_.empty()) {
      const std::size_t brace = std::min(rest_.find('{'), rest_.size());
      if (brace > 0)
        out.push_back(
            made({.is = node::step::text, .literal = json::value(rest_.substr(0, brace))}));
      rest_.remove_prefix(brace);
      if (rest_.empty()) break;
      rest_.remove_prefix(1);
      node action{.is = node::step::action};
      action.left = inside();
      out.push_back(made(std::move(action)));
    }
    return out;
  }

  /// Up to the closing brace.
  path_nodes inside() {
    path_nodes out;
    for (;;) {
      if (rest_.empty() || rest_.front() == '\n') throw path_problem{"unclosed action"};
      const char c = rest_.front();
      if (c == '}') {
        rest_.remove_prefix(1);
        return out;
      }
      if (rest_.starts_with("[?(")) {
        out.push_back(filter());
      } else if (rest_.starts_with("..")) {
        if (!out.empty() && out.back()->is == node::step::recursive)
          throw path_problem{"invalid multiple recursive descent"};
        rest_.remove_prefix(2);
        out.push_back(made({.is = node::step::recursive}));
        if (!rest_.empty() && is_word(rest_.front())) out.push_back(field());
      } else if (c == ' ' || c == '@' || c == '$') {
        rest_.remove_prefix(1);
      } else if (c == '[') {
        index(out);
      } else if (c == '"' || c == '\'') {
        out.push_back(quoted(c));
      } else if (c == '.') {
        rest_.remove_prefix(1);
        out.push_back(field());
      } else if (c == '+' || c == '-' || (c >= '0' && c <= '9')) {
        out.push_back(number());
      } else if (is_word(c)) {
        out.push_back(word());
      } else {
        throw path_problem{std::string("unrecognized character in action: '") + c + "'"};
      }
    }
  }

private:
  std::string name() {
    std::string out;
    while (!rest_.empty() && !ends_a_name(rest_.front())) {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      out += rest_.front();
      rest_.remove_prefix(1);
    }
    return out;
  }
  std::shared_ptr<const node> field() {
    if (rest_.starts_with('*')) {
      rest_.remove_prefix(1);
      return made({.is = node::step::wildcard});
    }
    return made({.is = node::step::field, .name = name()});
  }
  std::shared_ptr<const node> word() {
    std::string text = name();
    if (text == "true" || text == "false")
      return made({.is = node::step::text, .literal = json::value(text == "true")});
    return made({.is = node::step::word, .name = std::move(text)});
  }
  std::shared_ptr<const node> number() {
    std::size_t end = 1;
    while (end < rest_.size() && std::string_view("0123456789.").find(rest_[end]) != rest_.npos)
      ++end;
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    std::int64_t whole = 0;
    const char* last = digits.data() + digits.size();
    if (auto [at, ec] = std::from_chars(digits.data(), last, whole);
        ec == std::errc() && at == last)
      return made({.is = node::step::text, .literal = json::value(whole)});
    double real = 0;
    if (auto [at, ec] = std::from_chars(digits.data(), last, real); ec == std::errc() && at == last)
      return made({.is = node::step::text, .literal = json::value(real)});
    throw path_problem{"cannot parse number " + std::string(text)};
  }
  std::shared_ptr<const node> quoted(char quote) {
    std::string out;
    for (std::size_t i = 1; i < rest_.size() && rest_[i] != '\n'; ++i) {
      char c = rest_[i];
      if (c == quote) {
        rest_.remove_prefix(i + 1);
        return made({.is = node::step::text, .literal = json::value(out)});
      }
      if (c == '\\' && i + 1 < rest_.size()) {
        c = rest_[++i];
        constexpr std::string_view known = "abfnrtv", meant = "\a\b\f\n\r\t\v";
        if (const auto at = known.find(c); at != known.npos)
          c = meant[at];
        else if (c != '\\' && c != '"' && c != '\'')
          throw path_problem{"invalid syntax"};
      }
      out += c;
    }
    throw path_problem{"unterminated quoted string"};
  }

  /// What stands in a filter is a path of its own.
  path_nodes nested(std::string_view text) const {
    const std::string closed = std::string(text) + "}";
    return path_parser(closed, depth_ + 1).inside();
  }

  std::shared_ptr<const node> filter() {
    std::size_t at = 3;
    char quote = 0;
    for (;; ++at) {
      if (at >= rest_.size() || rest_[at] == '\n') throw path_problem{"unterminated filter"};
      const char c = rest_[at];
      if (quote == 0 && (c == '"' || c == '\''))
        quote = c;
      else if (c == quote && rest_[at - 1] != '\\')
        quote = 0;
      else if (c == ')' && quote == 0)
        break;
    }
    const std::string_view text = rest_.substr(3, at - 3);
    if (at + 1 >= rest_.size() || rest_[at + 1] != ']')
      throw path_problem{"unclosed array expect ]"};
    node out{.is = node::step::filter, .name = "exists"};
    constexpr std::string_view operators = "!<>=";
    const std::size_t begin = text.find_first_of(operators);
    const std::size_t end = begin == text.npos ? begin : text.find_first_not_of(operators, begin);
    if (begin == text.npos || begin == 0 || end == text.npos) {
      out.left = nested(text);
    } else {
      out.name = text.substr(begin, end - begin);
      out.left = nested(text.substr(0, begin));
      out.right = nested(text.substr(end));
      constexpr std::array<std::string_view, 6> known = {"<", ">", "==", "!=", "<=", ">="};
      if (std::ranges::find(known, out.name) == known.end())
        throw path_problem{"unrecognized filter operator " + out.name};
    }
    rest_.remove_prefix(at + 2);
    return made(std::move(out));
  }

  /// "[0]", "[*]", "[1:3]", "['name']", "[0,2]"
  void index(path_nodes& out) {
    const std::size_t end = rest_.find_first_of("]\n");
    if (end == rest_.npos || rest_[end] == '\n') throw path_problem{"unterminated array"};
    std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (text.find(',') == text.npos) {
      one_index(text, out);
      return;
    }
    node all{.is = node::step::several};
    for (;;) {
      const std::size_t comma = std::min(text.find(','), text.size());
      std::string_view one = text.substr(0, comma);
      while (one.starts_with(' ')) one.remove_prefix(1);
      while (one.ends_with(' ')) one.remove_suffix(1);
      one_index(one, all.all.emplace_back());
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
    }
    out.push_back(made(std::move(all)));
  }
  void one_index(std::string_view text, path_nodes& out) const {
    if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
      const path_nodes key = nested("." + std::string(text.substr(1, text.size() - 2)));
      out.insert(out.end(), key.begin(), key.end());
      return;
    }
    node slice{.is = node::step::slice};
    const std::string_view all = text == "*" ? ":" : text;
    std::string_view rest = all;
    std::size_t parts = 0;
    for (bool more = true; more; ++parts) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      const std::string_view number = rest.substr(0, colon);
      std::int64_t value = 0;
      const char* last = number.data() + number.size();
      const auto [at, ec] = std::from_chars(number.data(), last, value);
      if (parts > 2 || (!number.empty() && (ec != std::errc() || at != last)))
        throw path_problem{"invalid array index " + std::string(text)};
      if (!number.empty()) slice.at[parts] = value;
      more = colon < rest.size();
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    slice.one_element = parts == 1;
    out.push_back(made(std::move(slice)));
  }

  std::string_view rest_;
  int depth_;
};

std::string kind_of(const json::value& v) {
  if (v.is_object()) return "map";
  if (v.is_array()) return "slice";
  if (v.is_string()) return "string";
  if (v.is_bool()) return "bool";
  if (v.is_null()) return "null";
  return v.is_double() ? "float64" : "int64";
}

std::map<std::string_view, const json::value*> sorted_members(const json::object& o) {
  std::map<std::string_view, const json::value*> out;
  for (const auto& [key, member] : o) out.emplace(key, &member);
  return out;
}

/// As encoding/json writes it: keys sorted, whole numbers with all their digits.
void append_json(std::string& out, const json::value& v) {
  if (const auto* o = v.if_object()) {
    out += '{';
    for (bool first = true; const auto& [key, member] : sorted_members(*o)) {
      if (!std::exchange(first, false)) out += ',';
      out += *write_json(value(key));
      out += ':';
      append_json(out, *member);
    }
    out += '}';
  } else if (const auto* a = v.if_array()) {
    out += '[';
    for (bool first = true; const json::value& element : *a) {
      if (!std::exchange(first, false)) out += ',';
      append_json(out, element);
    }
    out += ']';
  } else if (const auto* s = v.if_string()) {
    out += *write_json(value(std::string_view(*s)));
  } else if (const auto* d = v.if_double()) {
    out += json_number(*d);
  } else {
    out += json::serialize(v);
  }
  if (out.size() > longest_text) throw path_problem{"the result is longer than 64 MiB"};
}

/// As kubectl prints it beside text.
void append_plain(std::string& out, const json::value& v, json_path::numbers are) {
  if (const auto* s = v.if_string())
    out += std::string_view(*s);
  else if (v.is_double() || (v.is_number() && are == json_path::numbers::all_float))
    out += format_float(v.to_number<double>());
  else
    append_json(out, v);
  if (out.size() > longest_text) throw path_problem{"the result is longer than 64 MiB"};
}

/// As Go prints it with %v.
void append_bare(std::string& out, const json::value& v) {
  const auto joined = [&out](const auto& members, const auto& append) {
    for (bool first = true; const auto& member : members) {
      if (!std::exchange(first, false)) out += ' ';
      append(member);
    }
    out += ']';
  };
  if (const auto* o = v.if_object()) {
    out += "map[";
    joined(sorted_members(*o), [&out](const auto& member) {
      out += member.first;
      out += ':';
      append_bare(out, *member.second);
    });
  } else if (const auto* a = v.if_array()) {
    out += '[';
    joined(*a, [&out](const json::value& element) { append_bare(out, element); });
  } else if (v.is_null()) {
    out += "<nil>";
  } else {
    append_plain(out, v, json_path::numbers::typed);
  }
}

/// Less than, equal, greater: -1, 0, 1.
int compared(const json::value& a, const json::value& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is_number() && b.is_number()) {
    if (a.is_int64() && b.is_int64()) return order(a.get_int64(), b.get_int64());
    return order(a.to_number<double>(), b.to_number<double>());
  }
  if (a.is_string() && b.is_string())
    return order(std::string_view(a.get_string()), std::string_view(b.get_string()));
  if (a.is_bool() && b.is_bool()) return order(a.get_bool(), b.get_bool());
  throw path_problem{"incompatible types for comparison"};
}

void descend(const json::value& v, found_values& out, int depth) {
  if (depth > 1000 || out.size() > most_found)
    throw path_problem{"the object is nested too deeply"};
  const auto into = [&](const json::value& below) {
    if (!below.is_object() && !below.is_array()) return;
    out.push_back(&below);
    descend(below, out, depth + 1);
  };
  if (const auto* o = v.if_object())
    for (const auto& member : *o) into(member.value());
  if (const auto* a = v.if_array())
    for (const json::value& one : *a) into(one);
}

class path_walk {
public:
  /// Several steps, each on what the one before it found.
  found_values along(found_values from, const path_nodes& steps) const {
    for (const auto& step : steps) from = one(from, *step);
    return from;
  }

private:
  found_values one(const found_values& from, const node& n) const {
    found_values out;
    switch (n.is) {
      case node::step::text: return {&n.literal};
      case node::step::action: return along(from, n.left);
      case node::step::word: throw path_problem{"unrecognized identifier " + n.name};
      case node::step::several:
        for (const path_nodes& steps : n.all) {
          const found_values more = along(from, steps);
          out.insert(out.end(), more.begin(), more.end());
        }
        break;
      default:
        for (const json::value* v : from) look(*v, n, out);
    }
    if (out.size() > most_found) throw path_problem{"more than a million values are found"};
    return out;
  }

  void look(const json::value& v, const node& n, found_values& out) const {
    switch (n.is) {
      case node::step::field:
        if (n.name.empty())
          out.push_back(&v);
        else if (const auto* o = v.if_object())
          if (const json::value* member = o->if_contains(n.name)) out.push_back(member);
        break;
      case node::step::wildcard:
        if (const auto* o = v.if_object())
          for (const auto& member : *o) out.push_back(&member.value());
        if (const auto* a = v.if_array())
          for (const json::value& each : *a) out.push_back(&each);
        break;
      case node::step::recursive:
        out.push_back(&v);
        descend(v, out, 0);
        break;
      case node::step::slice: slice(v, n, out); break;
      default: filtered(v, n, out);
    }
  }

  static void slice(const json::value& v, const node& n, found_values& out) {
    if (v.is_null()) return;
    if (!v.is_array()) throw path_problem{kind_of(v) + " is not array or slice"};
    const auto& all = v.get_array();
    const auto length = static_cast<std::int64_t>(all.size());
    std::int64_t from = n.at[0].value_or(0);
    std::int64_t to = n.one_element ? from + 1 : n.at[1].value_or(length);
    if (from < 0) from += length;
    if (to < 0 || (to == 0 && n.one_element)) to += length;
    if (from == to) return;
    const auto outside = [&](std::int64_t at) {
      throw path_problem{"array index out of bounds: index " + std::to_string(at) + ", length " +
                         std::to_string(length)};
    };
    if (from < 0 || from >= length) outside(from);
    if (to < 0 || to > length) outside(to - 1);
    if (from > to)
      throw path_problem{"starting index " + std::to_string(from) +
                         " is greater than ending index " + std::to_string(to)};
    const std::int64_t step = n.at[2].value_or(1);
    if (step <= 0) throw path_problem{"step must be > 0"};
    for (std::int64_t i = from; i < to; i += step) out.push_back(&all[static_cast<std::size_t>(i)]);
  }

  void filtered(const json::value& v, const node& n, found_values& out) const {
    if (!v.is_array())
      throw path_problem{kind_of(v) + " is not array or slice and cannot be filtered"};
    for (const json::value& each : v.get_array()) {
      const found_values left = along({&each}, n.left);
      if (n.name == "exists") {
        if (!left.empty()) out.push_back(&each);
        continue;
      }
      if (left.empty()) continue;
      const found_values right = along({&each}, n.right);
      if (right.empty()) continue;
      if (left.size() > 1 || right.size() > 1)
        throw path_problem{"can only compare one element at a time"};
      const int order = compared(*left.front(), *right.front());
      const bool holds = n.name == "=="   ? order == 0
                         : n.name == "!=" ? order != 0
                         : n.name == "<"  ? order < 0
                         : n.name == ">"  ? order > 0
                         : n.name == "<=" ? order <= 0
                                          : order >= 0;
      if (holds) out.push_back(&each);
    }
  }
};

const std::string* word_of(const node& n) {
  return n.is == node::step::action && !n.left.empty() && n.left.front()->is == node::step::word
             ? &n.left.front()->name
             : nullptr;
}

/// The {end} that belongs to the {range} at `begin`.
std::size_t end_of_range(const path_nodes& all, std::size_t begin, std::size_t end) {
  int open = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string* word = word_of(*all[i]);
    if (word && *word == "range") ++open;
    if (word && *word == "end" && --open == 0) return i;
  }
  return end;
}

/// Calls `each` with what every action between the two finds, in the order of the text.
template <class Each>
void run_actions(const path_nodes& all, std::size_t begin, std::size_t end, const json::value& root,
                 Each& each) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::string* word = word_of(*all[i]);
    if (word && *word == "end") {
      throw path_problem{"not in range, nothing to end"};
    } else if (word && *word == "range") {
      const std::size_t closing = end_of_range(all, i, end);
      const path_nodes over(all[i]->left.begin() + 1, all[i]->left.end());
      for (const json::value* one : path_walk().along({&root}, over))
        run_actions(all, i + 1, closing, *one, each);
      i = closing;
    } else {
      each(path_walk().along({&root}, {all[i]}));
    }
  }
}

}  // namespace

reactor::result<json_path, std::string> json_path::parse(std::string_view text) {
  if (text.size() > longest_template) return "the template is longer than 64 KiB";
  try {
    json_path out;
    out.nodes_ = path_parser(text, 0).whole();
    return out;
  } catch (path_problem& p) {
    return std::move(p.text);
  }
}

reactor::result<json_path, std::string> json_path::parse_relaxed(std::string_view text) {
  std::string_view inner = text;
  const bool braces = inner.starts_with('{') && inner.ends_with('}');
  if (braces) inner = inner.substr(1, inner.size() - 2);
  if (inner.starts_with('.')) inner.remove_prefix(1);
  if (inner.empty() || inner.find_first_of("{}") != inner.npos)
    return "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' "
           "or '{.name1.name2}'";
  return parse("{." + std::string(inner) + "}");
}

reactor::result<std::string, std::string> json_path::text(const json::value& root,
                                                          numbers are) const {
  std::string out;
  const auto print = [&out, are](const found_values& found) {
    bool first = true;
    for (const json::value* v : found) {
      if (!std::exchange(first, false)) out += ' ';
      append_plain(out, *v, are);
    }
  };
  try {
    run_actions(nodes_, 0, nodes_.size(), root, print);
    return reactor::result<std::string, std::string>(boost::system::in_place_value, std::move(out));
  } catch (path_problem& p) {
    return reactor::result<std::string, std::string>(boost::system::in_place_error,
                                                     std::move(p.text));
  }
}

std::string cell_text(const json::value& v) {
  std::string out;
  if (v.is_null())
    out = "<none>";
  else
    append_bare(out, v);
  return out;
}

reactor::result<std::vector<const json::value*>, std::string> json_path::find(
    const json::value& root) const {
  found_values out;
  const auto collect = [&out](const found_values& found) {
    out.insert(out.end(), found.begin(), found.end());
  };
  try {
    run_actions(nodes_, 0, nodes_.size(), root, collect);
    return out;
  } catch (path_problem& p) {
    return std::move(p.text);
  }
}

}  // namespace formats
