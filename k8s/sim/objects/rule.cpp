// A language in one file: tokens, a tree, and what the tree comes to. The parts are small and know
// each other.
#include "k8s/sim/objects/rule.hpp"

#include "formats/go/regex.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace k8s::sim {

struct rule::node {
  enum class kind {
    literal,
    list,
    name,
    field,
    index,
    choice,
    either,
    both,
    negation,
    minus,
    binary,
    call,
    has,
    all,
    exists
  };
  kind is = kind::literal;
  std::string text;  // a name, a field, an operator, a function
  json::value literal;
  std::vector<std::shared_ptr<const node>> parts;  // of a method the object comes first
  bool method = false;
  std::shared_ptr<const formats::regex> pattern;  // of matches() with a literal
};

namespace {

using node = rule::node;
using tree = std::shared_ptr<const node>;
using kind = node::kind;

constexpr std::size_t most_levels = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct token {
  enum class kind { end, name, number, text, sign } is = kind::end;
  std::string text;
};

/// Errors are kept: the first one counts, and what follows it is nothing.
class parser {
public:
  explicit parser(std::string_view text) : rest_(text) { next(); }

  tree whole() {
    tree t = choice();
    if (now_.is != token::kind::end) fail("unexpected '" + now_.text + "'");
    return t;
  }
  const std::string& why() const noexcept { return why_; }
  bool transition() const noexcept { return transition_; }

private:
  void fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    now_ = {};
    rest_ = {};
  }

  void next() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' ||
                              rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
    if (rest_.empty()) return void(now_ = {});
    const char c = rest_.front();
    if (c == '\'' || c == '"') return text(c);
    if (is_word(c)) {
      std::size_t n = 0;
      while (n < rest_.size() && is_word(rest_[n])) ++n;
      now_ = {c >= '0' && c <= '9' ? token::kind::number : token::kind::name,
              std::string(rest_.substr(0, n))};
      return rest_.remove_prefix(n);
    }
    static constexpr std::array<std::string_view, 6> two{"||", "&&", "==", "!=", "<=", ">="};
    for (const std::string_view s : two)
      if (rest_.starts_with(s)) {
        now_ = {token::kind::sign, std::string(s)};
        return rest_.remove_prefix(2);
      }
    now_ = {token::kind::sign, std::string(1, c)};
    rest_.remove_prefix(1);
  }

  void text(char quote) {
    std::string out;
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != quote; ++i) {
      if (rest_[i] != '\\') {
        out += rest_[i];
        continue;
      }
      const char escaped = ++i < rest_.size() ? rest_[i] : '\0';
      if (escaped == 'n' || escaped == 't')
        out += escaped == 'n' ? '\n' : '\t';
      else if (escaped == '\\' || escaped == '\'' || escaped == '"')
        out += escaped;
      else
        return fail("an escape that is not known");
    }
    if (i >= rest_.size()) return fail("a text that is not closed");
    now_ = {token::kind::text, std::move(out)};
    rest_.remove_prefix(i + 1);
  }

  bool take(std::string_view sign) {
    const bool here = now_.is == token::kind::sign && now_.text == sign;
    if (here) next();
    return here;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) fail("expected '" + std::string(sign) + "' before '" + now_.text + "'");
  }

  static tree made(kind is, std::string text, std::vector<tree> parts) {
    auto n = std::make_shared<node>();
    n->is = is;
    n->text = std::move(text);
    n->parts = std::move(parts);
    return n;
  }

  tree choice() {
    if (++level_ > most_levels) fail("too many levels");
    tree t = either();
    if (take("?")) {
      tree yes = choice();
      expect(":");
      tree no = choice();
      t = made(kind::choice, {}, {t, yes, no});
    }
    --level_;
    return t;
  }
  tree either() {
    tree t = both();
    while (take("||")) t = made(kind::either, {}, {t, both()});
    return t;
  }
  tree both() {
    tree t = compared();
    while (take("&&")) t = made(kind::both, {}, {t, compared()});
    return t;
  }
  tree compared() {
    tree t = sum();
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"})
      if (take(sign)) return made(kind::binary, std::string(sign), {t, sum()});
    if (now_.is == token::kind::name && now_.text == "in") {
      next();
      return made(kind::binary, "in", {t, sum()});
    }
    return t;
  }
  tree sum() {
    tree t = product();
    for (;;) {
      if (take("+"))
        t = made(kind::binary, "+", {t, product()});
      else if (take("-"))
        t = made(kind::binary, "-", {t, product()});
      else
        return t;
    }
  }
  tree product() {
    tree t = unary();
    for (;;) {
      if (take("*"))
        t = made(kind::binary, "*", {t, unary()});
      else if (take("/"))
        t = made(kind::binary, "/", {t, unary()});
      else if (take("%"))
        t = made(kind::binary, "%", {t, unary()});
      else
        return t;
    }
  }
  tree unary() {
    if (++level_ > most_levels) fail("too many levels");
    tree t;
    if (take("!"))
      t = made(kind::negation, {}, {unary()});
    else if (take("-"))
      t = made(kind::minus, {}, {unary()});
    else
      t = member();
    --level_;
    return t;
  }
  tree member() {
    tree t = primary();
    for (;;) {
      if (take(".")) {
        std::string name = std::move(now_.text);
        if (now_.is != token::kind::name) fail("expected a field behind '.'");
        next();
        t = take("(") ? call(std::move(name), t) : made(kind::field, std::move(name), {t});
      } else if (take("[")) {
        t = made(kind::index, {}, {t, choice()});
        expect("]");
      } else {
        return t;
      }
    }
  }
  tree primary() {
    if (take("(")) {
      tree t = choice();
      expect(")");
      return t;
    }
    if (take("[")) {
      auto list = made(kind::list, {}, arguments("]"));
      return list;
    }
    auto n = std::make_shared<node>();
    const token t = now_;
    if (t.is == token::kind::text) {
      n->literal = json::string(t.text);
      next();
      return n;
    }
    if (t.is == token::kind::number) {
      std::int64_t value = 0;
      const auto read = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
      if (read.ec != std::errc() || read.ptr != t.text.data() + t.text.size())
        fail("a number that is no integer");
      n->literal = value;
      next();
      return n;
    }
    if (t.is != token::kind::name) {
      fail("unexpected '" + t.text + "'");
      return n;
    }
    next();
    if (t.text == "true" || t.text == "false") {
      n->literal = t.text == "true";
      return n;
    }
    if (t.text == "null") return n;
    if (take("(")) return call(t.text, nullptr);
    transition_ = transition_ || t.text == "oldSelf";
    static constexpr std::array<std::string_view, 7> types{"int",  "string", "bool",     "double",
                                                           "list", "map",    "null_type"};
    if (std::ranges::find(types, t.text) != types.end()) {
      n->literal = json::string("type " + t.text);  // what type() gives
      return n;
    }
    if (t.text != "self" && t.text != "oldSelf" &&
        std::ranges::find(bound_, t.text) == bound_.end())
      fail("'" + t.text + "' is not known");
    return made(kind::name, t.text, {});
  }
  std::vector<tree> arguments(std::string_view close) {
    std::vector<tree> all;
    if (take(close)) return all;
    do all.push_back(choice());
    while (take(","));
    expect(close);
    return all;
  }
  tree call(const std::string& name, const tree& of) {
    if (of && (name == "all" || name == "exists")) {
      std::string variable = std::move(now_.text);
      if (now_.is != token::kind::name) fail("expected the name of a variable");
      next();
      expect(",");
      bound_.push_back(variable);
      tree body = choice();
      bound_.pop_back();
      expect(")");
      return made(name == "all" ? kind::all : kind::exists, std::move(variable), {of, body});
    }
    std::vector<tree> parts = arguments(")");
    if (!of && name == "has") {
      if (parts.size() != 1 || !parts[0] || parts[0]->is != kind::field)
        fail("has() takes one field");
      return made(kind::has, {}, std::move(parts));
    }
    static const std::map<std::string, std::size_t, std::less<>> functions{
        {"size", 1}, {"type", 1}, {"int", 1}, {"string", 1}};
    static const std::map<std::string, std::size_t, std::less<>> methods{
        {"size", 1}, {"matches", 2}, {"startsWith", 2}, {"endsWith", 2}, {"contains", 2}};
    if (of) parts.insert(parts.begin(), of);
    const auto& known = of ? methods : functions;
    const auto found = known.find(name);
    if (found == known.end() || found->second != parts.size())
      fail(name + "() with " + std::to_string(parts.size() - (of ? 1 : 0)) +
           " arguments is not known");
    auto n = std::make_shared<node>();
    n->is = kind::call;
    n->text = name;
    n->method = of != nullptr;
    n->parts = std::move(parts);
    if (name == "matches" && why_.empty() && n->parts[1]->is == kind::literal &&
        n->parts[1]->literal.is_string()) {
      std::string wrong;
      n->pattern = formats::regex::compile(n->parts[1]->literal.get_string(), &wrong);
      if (!n->pattern) fail(wrong);
    }
    return n;
  }

  std::string_view rest_;
  token now_;
  std::string why_;
  std::vector<std::string> bound_;
  std::size_t level_ = 0;
  bool transition_ = false;
};

/// Why an expression has no value. A type of its own: a text is a value.
struct wrong {
  std::string why;
};
using found = reactor::result<json::value, wrong>;

std::string type_of(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return "null_type";
    case json::kind::bool_: return "bool";
    case json::kind::int64:
    case json::kind::uint64: return "int";
    case json::kind::double_: return "double";
    case json::kind::string: return "string";
    case json::kind::array: return "list";
    case json::kind::object: return "map";
  }
  return {};
}

std::optional<std::int64_t> integer(const json::value& v) {
  if (v.is_int64()) return v.get_int64();
  if (v.is_uint64()) return static_cast<std::int64_t>(v.get_uint64());
  return std::nullopt;
}

wrong no_overload(std::string_view what) {
  return {"no such overload: " + std::string(what)};
}

class evaluation {
public:
  evaluation(const json::value& self, const json::value* before) {
    names_.emplace_back("self", self);
    if (before) names_.emplace_back("oldSelf", *before);
  }

  found of(const node& n) {
    switch (n.is) {
      case kind::literal: return n.literal;
      case kind::list: {
        json::array all;
        for (const tree& part : n.parts) {
          found one = of(*part);
          if (!one) return one;
          all.push_back(std::move(*one));
        }
        return json::value(std::move(all));
      }
      case kind::name:
        for (auto i = names_.rbegin(); i != names_.rend(); ++i)
          if (i->first == n.text) return i->second;
        return wrong{"no such variable: " + n.text};
      case kind::field: return member(n);
      case kind::index: return index(n);
      case kind::choice: {
        const auto is = truth(*n.parts[0]);
        if (!is) return is.error();
        return of(*n.parts[*is ? 1 : 2]);
      }
      case kind::either:
      case kind::both: return connected(n);
      case kind::negation: {
        const auto is = truth(*n.parts[0]);
        if (!is) return is.error();
        return json::value(!*is);
      }
      case kind::minus: {
        found v = of(*n.parts[0]);
        if (!v) return v;
        const auto i = integer(*v);
        if (!i) return no_overload("-");
        return json::value(-*i);
      }
      case kind::binary: return binary(n);
      case kind::call: return call(n);
      case kind::has: {
        found object = of(*n.parts[0]->parts[0]);
        if (!object) return object;
        if (!object->is_object()) return no_overload("has");
        return json::value(object->get_object().contains(n.parts[0]->text));
      }
      case kind::all:
      case kind::exists: return each(n);
    }
    return no_overload("");
  }

  reactor::result<bool, wrong> truth(const node& n) {
    found v = of(n);
    if (!v) return v.error();
    if (!v->is_bool()) return no_overload("a condition that is no boolean");
    return v->get_bool();
  }

private:
  found member(const node& n) {
    found object = of(*n.parts[0]);
    if (!object) return object;
    const json::value* v = object->is_object() ? object->get_object().if_contains(n.text) : nullptr;
    if (!v) return wrong{"no such key: " + n.text};
    return *v;
  }
  found index(const node& n) {
    found all = of(*n.parts[0]), at = of(*n.parts[1]);
    if (!all) return all;
    if (!at) return at;
    if (all->is_object() && at->is_string()) {
      const json::value* v = all->get_object().if_contains(at->get_string());
      if (!v) return wrong{"no such key: " + std::string(at->get_string())};
      return *v;
    }
    const auto i = integer(*at);
    if (!all->is_array() || !i) return no_overload("[]");
    if (*i < 0 || static_cast<std::size_t>(*i) >= all->get_array().size())
      return wrong{"index out of bounds"};
    return all->get_array()[static_cast<std::size_t>(*i)];
  }
  /// One side that decides is enough, whatever the other comes to.
  found connected(const node& n) {
    const bool decides = n.is == kind::either;
    const auto one = truth(*n.parts[0]);
    if (one && *one == decides) return json::value(decides);
    const auto other = truth(*n.parts[1]);
    if (other && *other == decides) return json::value(decides);
    if (!one) return one.error();
    if (!other) return other.error();
    return json::value(!decides);
  }
  found binary(const node& n) {
    found a = of(*n.parts[0]), b = of(*n.parts[1]);
    if (!a) return a;
    if (!b) return b;
    if (n.text == "==") return json::value(same(*a, *b));
    if (n.text == "!=") return json::value(!same(*a, *b));
    if (n.text == "in") {
      if (b->is_object() && a->is_string())
        return json::value(b->get_object().contains(a->get_string()));
      if (!b->is_array()) return no_overload("in");
      return json::value(std::ranges::any_of(
          b->get_array(), [&](const json::value& one) { return same(*a, one); }));
    }
    const auto i = integer(*a), j = integer(*b);
    if (i && j) {
      if (n.text == "<") return json::value(*i < *j);
      if (n.text == "<=") return json::value(*i <= *j);
      if (n.text == ">") return json::value(*i > *j);
      if (n.text == ">=") return json::value(*i >= *j);
      std::int64_t out = 0;
      if (n.text == "+" && !__builtin_add_overflow(*i, *j, &out)) return json::value(out);
      if (n.text == "-" && !__builtin_sub_overflow(*i, *j, &out)) return json::value(out);
      if (n.text == "*" && !__builtin_mul_overflow(*i, *j, &out)) return json::value(out);
      const bool divides = *j != 0 && *j != -1;
      if (n.text == "/" && divides) return json::value(*i / *j);
      if (n.text == "%" && divides) return json::value(*i % *j);
      return wrong{"integer overflow or division by zero"};
    }
    if (a->is_string() && b->is_string()) {
      const std::string_view x = a->get_string(), y = b->get_string();
      if (n.text == "<") return json::value(x < y);
      if (n.text == "<=") return json::value(x <= y);
      if (n.text == ">") return json::value(x > y);
      if (n.text == ">=") return json::value(x >= y);
      if (n.text == "+") return json::value(json::string(std::string(x) + std::string(y)));
    }
    return no_overload(n.text);
  }
  found call(const node& n) {
    std::vector<json::value> given;
    for (const tree& part : n.parts) {
      found v = of(*part);
      if (!v) return v;
      given.push_back(std::move(*v));
    }
    const json::value& first = given[0];
    if (n.text == "size") return size(first);
    if (n.text == "type") return json::value(json::string("type " + type_of(first)));
    if (n.text == "string") {
      if (first.is_string()) return first;
      if (const auto i = integer(first)) return json::value(json::string(std::to_string(*i)));
      return no_overload("string");
    }
    if (n.text == "int") {
      if (const auto i = integer(first)) return json::value(*i);
      std::int64_t out = 0;
      const std::string_view s = first.is_string() ? std::string_view(first.get_string()) : "";
      const auto read = std::from_chars(s.data(), s.data() + s.size(), out);
      if (s.empty() || read.ec != std::errc() || read.ptr != s.data() + s.size())
        return wrong{"int: it is none"};
      return json::value(out);
    }
    if (!first.is_string() || !given[1].is_string()) return no_overload(n.text);
    const std::string_view s = first.get_string(), part = given[1].get_string();
    if (n.text == "startsWith") return json::value(s.starts_with(part));
    if (n.text == "endsWith") return json::value(s.ends_with(part));
    if (n.text == "contains") return json::value(s.find(part) != s.npos);
    auto pattern = n.pattern ? n.pattern : formats::regex::compile(part);
    if (!pattern) return wrong{"matches: the expression is none"};
    return json::value(pattern->found_in(s));
  }
  static found size(const json::value& v) {
    if (v.is_array()) return json::value(std::int64_t(v.get_array().size()));
    if (v.is_object()) return json::value(std::int64_t(v.get_object().size()));
    if (!v.is_string()) return no_overload("size");
    const json::string& s = v.get_string();
    return json::value(std::int64_t(std::count_if(s.begin(), s.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    })));
  }
  found each(const node& n) {
    found all = of(*n.parts[0]);
    if (!all) return all;
    const bool decides = n.is == kind::exists;
    std::optional<wrong> failed;
    const auto one = [&](json::value v) {
      names_.emplace_back(n.text, std::move(v));
      const auto is = truth(*n.parts[1]);
      names_.pop_back();
      if (!is && !failed) failed = is.error();
      return is && *is == decides;
    };
    if (all->is_array()) {
      for (const json::value& v : all->get_array())
        if (one(v)) return json::value(decides);
    } else if (all->is_object()) {
      for (const auto& member : all->get_object())
        if (one(json::string(member.key()))) return json::value(decides);
    } else {
      return no_overload(n.is == kind::all ? "all" : "exists");
    }
    if (failed) return *failed;
    return json::value(!decides);
  }

  std::vector<std::pair<std::string, json::value>> names_;
};

}  // namespace

reactor::result<rule, std::string> rule::compile(std::string_view text) {
  parser p(text);
  rule out;
  out.top_ = p.whole();
  out.transition_ = p.transition();
  if (!p.why().empty()) return p.why();
  return out;
}

reactor::result<bool, std::string> rule::holds(const json::value& self,
                                               const json::value* before) const {
  const auto is = evaluation(self, before).truth(*top_);
  if (!is) return is.error().why;
  return *is;
}

}  // namespace k8s::sim
