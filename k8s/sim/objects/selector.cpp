#include "k8s/sim/objects/selector.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace k8s::sim {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

bool valid_label_key(std::string_view s) {
  if (s.empty() || s.size() > 317) return false;
  return std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

failure unparsable(std::string_view text, std::string_view why) {
  return bad_request("unable to parse requirement: " + std::string(why) + " (" + std::string(text) +
                     ")");
}

/// Splits at commas that are not inside parentheses.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(trim(text.substr(from, i - from)));
      from = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return out;
}

bool as_integer(std::string_view s, std::int64_t& n) {
  auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), n);
  return code == std::errc() && end == s.data() + s.size();
}

}  // namespace

outcome<label_selector> label_selector::parse(std::string_view text) {
  label_selector s;
  text = trim(text);
  if (text.empty()) return s;
  for (std::string_view t : split_terms(text)) {
    if (t.empty()) return unparsable(text, "found ',', expected: identifier");
    term made;
    auto finish = [&](std::string_view key) -> bool {
      key = trim(key);
      made.key = std::string(key);
      return valid_label_key(key);
    };
    bool ok = true;
    if (t[0] == '!') {
      made.how = op::missing;
      ok = finish(t.substr(1));
    } else if (auto paren = t.find('('); paren != std::string_view::npos) {
      std::string_view head = trim(t.substr(0, paren));
      auto space = head.find_last_of(" \t");
      if (t.back() != ')' || space == std::string_view::npos)
        return unparsable(text, "expected a set");
      std::string_view word = head.substr(space + 1);
      if (word != "in" && word != "notin")
        return unparsable(text, "expected: in, notin, =, ==, !=, gt, lt");
      made.how = word == "in" ? op::in : op::not_in;
      ok = finish(head.substr(0, space));
      std::string_view set = t.substr(paren + 1, t.size() - paren - 2);
      for (std::string_view v : split_terms(set)) made.values.emplace_back(v);
    } else if (auto at = t.find("!="); at != std::string_view::npos) {
      made.how = op::not_in;
      ok = finish(t.substr(0, at));
      made.values.emplace_back(trim(t.substr(at + 2)));
    } else if (at = t.find('='); at != std::string_view::npos) {
      std::size_t skip = at + 1 < t.size() && t[at + 1] == '=' ? 2 : 1;
      ok = finish(t.substr(0, at));
      made.values.emplace_back(trim(t.substr(at + skip)));
    } else if (at = t.find_first_of("<>"); at != std::string_view::npos) {
      made.how = t[at] == '>' ? op::greater : op::less;
      ok = finish(t.substr(0, at));
      made.values.emplace_back(trim(t.substr(at + 1)));
      std::int64_t n = 0;
      if (!as_integer(made.values[0], n))
        return unparsable(text, "for 'Gt', 'Lt' operators, the value must be an integer");
    } else {
      made.how = op::exists;
      ok = finish(t);
    }
    if (!ok) return unparsable(text, "invalid label key");
    s.terms_.push_back(std::move(made));
  }
  return s;
}

outcome<label_selector> label_selector::from_object(const json::object& selector) {
  label_selector s;
  if (const json::object* labels = find_object(selector, {"matchLabels"})) {
    for (const auto& [key, value] : *labels) {
      if (!value.is_string()) return bad_request("matchLabels: values must be strings");
      s.terms_.push_back({std::string(key), op::in, {std::string(value.get_string())}});
    }
  }
  if (const json::array* expressions = find_array(selector, {"matchExpressions"})) {
    for (const json::value& e : *expressions) {
      if (!e.is_object()) return bad_request("matchExpressions: must be objects");
      term t;
      t.key = std::string(text(e.get_object(), {"key"}));
      std::string_view how = text(e.get_object(), {"operator"});
      if (how == "In")
        t.how = op::in;
      else if (how == "NotIn")
        t.how = op::not_in;
      else if (how == "Exists")
        t.how = op::exists;
      else if (how == "DoesNotExist")
        t.how = op::missing;
      else
        return bad_request("\"" + std::string(how) + "\" is not a valid label selector operator");
      if (const json::array* values = find_array(e.get_object(), {"values"})) {
        for (const json::value& v : *values) {
          if (v.is_string()) t.values.emplace_back(v.get_string());
        }
      }
      s.terms_.push_back(std::move(t));
    }
  }
  return s;
}

bool label_selector::matches(const json::object* labels) const {
  for (const term& t : terms_) {
    const json::value* v = labels ? labels->if_contains(t.key) : nullptr;
    const bool has = v && v->is_string();
    const std::string_view value = has ? std::string_view(v->get_string()) : std::string_view();
    const bool listed = has && std::find(t.values.begin(), t.values.end(), value) != t.values.end();
    std::int64_t left = 0, right = 0;
    switch (t.how) {
      case op::in:
        if (!listed) return false;
        break;
      case op::not_in:
        if (listed) return false;
        break;
      case op::exists:
        if (!has) return false;
        break;
      case op::missing:
        if (has) return false;
        break;
      case op::greater:
      case op::less:
        if (!has || !as_integer(value, left) || !as_integer(t.values[0], right)) return false;
        if (t.how == op::greater ? left <= right : left >= right) return false;
        break;
    }
  }
  return true;
}

outcome<field_selector> field_selector::parse(std::string_view text, const kind_info& kind) {
  field_selector s;
  for (std::string_view t : split_terms(text)) {
    if (t.empty()) continue;
    term made;
    std::size_t at = t.find("!="), skip = 2;
    if (at != std::string_view::npos) {
      made.equal = false;
    } else {
      at = t.find('=');
      if (at == std::string_view::npos) {
        return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                           std::string(t) + "'");
      }
      skip = at + 1 < t.size() && t[at + 1] == '=' ? 2 : 1;
    }
    made.field = std::string(t.substr(0, at));
    made.value = std::string(t.substr(at + skip));
    const bool known = made.field == "metadata.name" || made.field == "metadata.namespace" ||
                       std::find(kind.field_labels.begin(), kind.field_labels.end(), made.field) !=
                           kind.field_labels.end();
    if (!known) {
      return bad_request(kind.custom || kind.group.empty()
                             ? "field label not supported: " + made.field
                             : "\"" + made.field +
                                   "\" is not a known field selector: only \"metadata.name\", "
                                   "\"metadata.namespace\"");
    }
    s.terms_.push_back(std::move(made));
  }
  return s;
}

std::string selectable_field(const json::object& o, std::string_view field) {
  if (field == "source") {
    std::string_view component = text(o, {"source", "component"});
    return std::string(component.empty() ? text(o, {"reportingComponent"}) : component);
  }
  if (field == "name") field = "metadata.name";
  const json::object* at = &o;
  for (;;) {
    std::size_t dot = field.find('.');
    const json::value* v = at->if_contains(field.substr(0, dot));
    if (!v) return field == "unschedulable" || field == "hostNetwork" ? "false" : "";
    if (dot == std::string_view::npos) {
      if (v->is_string()) return std::string(v->get_string());
      if (v->is_bool()) return v->get_bool() ? "true" : "false";
      if (v->is_int64()) return std::to_string(v->get_int64());
      if (v->is_uint64()) return std::to_string(v->get_uint64());
      return "";
    }
    if (!v->is_object()) return "";
    at = &v->get_object();
    field.remove_prefix(dot + 1);
  }
}

bool field_selector::matches(const json::object& o) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const term& t) {
    return (selectable_field(o, t.field) == t.value) == t.equal;
  });
}

const std::string* field_selector::required(std::string_view field) const noexcept {
  for (const term& t : terms_) {
    if (t.equal && t.field == field) return &t.value;
  }
  return nullptr;
}

}  // namespace k8s::sim
