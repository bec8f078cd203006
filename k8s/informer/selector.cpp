#include "k8s/informer/selector.hpp"

#include "k8s/client/wire.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace k8s {

namespace {

using problem = reactor::result<label_selector, std::string>;

constexpr std::size_t name_limit = 63, prefix_limit = 253;  // apimachinery validation

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// "[A-Za-z0-9]" at both ends, those and "-_." between.
bool is_qualified(std::string_view text) {
  if (!is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    for (const char c : label)
      if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

/// Reads the string form from left to right.
class scanner {
public:
  explicit scanner(std::string_view text) : rest_(text) {}
  bool done() {
    skip();
    return rest_.empty();
  }
  bool take(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string_view word() {
    skip();
    const std::size_t end = std::min(rest_.find_first_of(" \t,()=!<>"), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  std::string_view rest() const { return rest_; }

private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

}  // namespace

std::string label_key_problem(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::string_view prefix =
      slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (slash != std::string_view::npos &&
      (prefix.size() > prefix_limit || !is_dns_subdomain(prefix)))
    return "label key " + quoted(key) + ": the part before the slash is not a DNS name";
  if (name.empty()) return "label key " + quoted(key) + ": the name is empty";
  if (name.size() > name_limit)
    return "label key " + quoted(key) + ": the name is longer than 63 characters";
  if (!is_qualified(name))
    return "label key " + quoted(key) +
           ": a name is letters, digits, '-', '_' and '.', and begins and ends with a letter or "
           "digit";
  return {};
}

std::string label_value_problem(std::string_view value) {
  if (value.empty()) return {};
  if (value.size() > name_limit)
    return "label value " + quoted(value) + " is longer than 63 characters";
  if (!is_qualified(value))
    return "label value " + quoted(value) +
           ": a value is letters, digits, '-', '_' and '.', and begins and ends with a letter or "
           "digit";
  return {};
}

label_selector label_selector::nothing() {
  label_selector s;
  s.nothing_ = true;
  return s;
}

bool label_selector::matches(const string_map& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const requirement& r) {
    const interned* value = labels.find(r.key);
    switch (r.op) {
      case operation::exists: return value != nullptr;
      case operation::not_exists: return value == nullptr;
      case operation::in:
        return value && std::find(r.values.begin(), r.values.end(), *value) != r.values.end();
      case operation::not_in:
        return !value || std::find(r.values.begin(), r.values.end(), *value) == r.values.end();
    }
    return false;
  });
}

std::string label_selector::text() const {
  std::string out;
  for (const requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    if (r.op == operation::not_exists) out += '!';
    out += r.key.view();
    if (r.op == operation::exists || r.op == operation::not_exists) continue;
    if (r.values.size() == 1) {
      out += r.op == operation::in ? "=" : "!=";
      out += r.values.front().view();
      continue;
    }
    out += r.op == operation::in ? " in (" : " notin (";
    for (const interned& value : r.values) {
      if (&value != &r.values.front()) out += ',';
      out += value.view();
    }
    out += ')';
  }
  return out;
}

reactor::result<void, std::string> label_selector::add(std::string_view key, operation op,
                                                       std::vector<interned> values) {
  if (std::string why = label_key_problem(key); !why.empty()) return why;
  for (const interned& value : values)
    if (std::string why = label_value_problem(value); !why.empty()) return why;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  requirements_.push_back({interned(key), op, std::move(values)});
  return boost::system::in_place_value;
}

void label_selector::sort() {
  std::sort(requirements_.begin(), requirements_.end(),
            [](const requirement& a, const requirement& b) {
              return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
            });
}

problem label_selector::parse(wire_value selector) {
  if (!selector.present()) return nothing();
  label_selector s;
  std::string why;
  const auto note = [&](const reactor::result<void, std::string>& added) {
    if (!added && why.empty()) why = added.error();
  };
  for (const auto& [key, value] : parse_string_map(selector["matchLabels"]))
    note(s.add(key, operation::in, {value}));
  selector["matchExpressions"].elements([&](wire_value e) {
    const std::string_view key = e["key"].text(), op = e["operator"].text();
    std::vector<interned> values;
    e["values"].elements([&](wire_value v) { values.emplace_back(v.text()); });
    const bool has_values = !values.empty();
    const auto complain = [&](std::string_view what) {
      if (why.empty()) why = "matchExpressions for " + quoted(key) + ": " + std::string(what);
    };
    if (op == "In" || op == "NotIn") {
      if (!has_values) return complain("operator " + std::string(op) + " needs values");
      note(s.add(key, op == "In" ? operation::in : operation::not_in, std::move(values)));
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) return complain("operator " + std::string(op) + " takes no values");
      note(s.add(key, op == "Exists" ? operation::exists : operation::not_exists, {}));
    } else {
      complain("operator " + quoted(op) + " is not In, NotIn, Exists or DoesNotExist");
    }
  });
  if (!why.empty()) return why;
  s.sort();
  return s;
}

problem label_selector::parse(std::string_view text) {
  label_selector s;
  scanner in(text);
  if (in.done()) return s;
  do {
    const bool negated = in.take("!");
    const std::string_view key = in.word();
    operation op = negated ? operation::not_exists : operation::exists;
    std::vector<interned> values;
    if (!negated && (in.take("==") || in.take("="))) {
      op = operation::in;
      values.emplace_back(in.word());
    } else if (!negated && in.take("!=")) {
      op = operation::not_in;
      values.emplace_back(in.word());
    } else if (scanner ahead = in; !negated && !ahead.done()) {
      const std::string_view word = ahead.word();
      if (word == "in" || word == "notin") {
        op = word == "in" ? operation::in : operation::not_in;
        if (!ahead.take("("))
          return "selector " + quoted(text) + ": expected '(' after \"" + std::string(word) + "\"";
        do values.emplace_back(ahead.word());
        while (ahead.take(","));
        if (!ahead.take(")"))
          return "selector " + quoted(text) + ": a list of values is not closed";
        in = ahead;
      }
    }
    if (auto added = s.add(key, op, std::move(values)); !added)
      return "selector " + quoted(text) + ": " + added.error();
  } while (in.take(","));
  if (!in.done())
    return "selector " + quoted(text) + ": cannot read \"" + std::string(in.rest()) + "\"";
  s.sort();
  return s;
}

}  // namespace k8s
