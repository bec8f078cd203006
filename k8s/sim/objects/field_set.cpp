#include "k8s/sim/objects/field_set.hpp"

#include <algorithm>

namespace k8s::sim {

namespace {

using list_kind = shape::list_kind;

bool is_leaf(const json::value& v, const shape* of) {
  if (v.is_object()) return v.get_object().empty() || (of && of->atomic);
  if (v.is_array()) return v.get_array().empty() || !of || of->list == list_kind::atomic;
  return true;
}

void collect(const json::value& v, const shape* of, field_set& into) {
  if (is_leaf(v, of)) {
    into.member = true;
    return;
  }
  if (v.is_object()) {
    for (const auto& [name, member] : v.get_object()) {
      collect(member, of ? of->field(name) : nullptr, into.children["f:" + std::string(name)]);
    }
    return;
  }
  for (const json::value& e : v.get_array()) {
    if (of->list == list_kind::set) {
      into.children["v:" + json::serialize(e)].member = true;
      continue;
    }
    const std::string key = element_key(e, *of);
    if (key.empty()) continue;
    field_set& element = into.children[key];
    element.member = true;
    if (!is_leaf(e, of->each())) collect(e, of->each(), element);
  }
}

/// Marks `v`, which is new, and everything in it: its maps and lists are owned as such too.
void mark(const json::value& v, const shape* of, field_set& into) {
  into.member = true;
  if (is_leaf(v, of)) return;
  if (v.is_object()) {
    for (const auto& [name, member] : v.get_object()) {
      mark(member, of ? of->field(name) : nullptr, into.children["f:" + std::string(name)]);
    }
    return;
  }
  for (const json::value& e : v.get_array()) {
    if (of->list == list_kind::set) {
      into.children["v:" + json::serialize(e)].member = true;
    } else if (const std::string key = element_key(e, *of); !key.empty()) {
      mark(e, of->each(), into.children[key]);
    }
  }
}

void compare_into(const json::value& a, const json::value& b, const shape* of, field_changes& at);

field_set& child(field_set& of, const std::string& name) {
  return of.children[name];
}

void prune_empty(field_set& s) {
  for (auto at = s.children.begin(); at != s.children.end();) {
    prune_empty(at->second);
    at = at->second.empty() ? s.children.erase(at) : std::next(at);
  }
}

void compare_child(const std::string& name, const json::value* a, const json::value* b,
                   const shape* of, field_changes& at) {
  if (a && b) {
    if (same(*a, *b)) return;
    field_changes inner;
    compare_into(*a, *b, of, inner);
    auto take = [&](field_set& to, field_set& from) {
      if (!from.empty()) child(to, name).unite(from);
    };
    take(at.added, inner.added);
    take(at.modified, inner.modified);
    take(at.removed, inner.removed);
  } else if (b) {
    mark(*b, of, child(at.added, name));
  } else if (a) {
    mark(*a, of, child(at.removed, name));
  }
}

void compare_into(const json::value& a, const json::value& b, const shape* of, field_changes& at) {
  if (a.is_object() && b.is_object() && !(of && of->atomic)) {
    for (const auto& [name, v] : a.get_object()) {
      compare_child("f:" + std::string(name), &v, b.get_object().if_contains(name),
                    of ? of->field(name) : nullptr, at);
    }
    for (const auto& [name, v] : b.get_object()) {
      if (!a.get_object().contains(name)) {
        compare_child("f:" + std::string(name), nullptr, &v, of ? of->field(name) : nullptr, at);
      }
    }
    return;
  }
  if (a.is_array() && b.is_array() && of && of->list != list_kind::atomic) {
    std::map<std::string, std::pair<const json::value*, const json::value*>> both;
    auto key = [&](const json::value& e) {
      return of->list == list_kind::set ? "v:" + json::serialize(e) : element_key(e, *of);
    };
    for (const json::value& e : a.get_array()) both[key(e)].first = &e;
    for (const json::value& e : b.get_array()) both[key(e)].second = &e;
    for (const auto& [name, pair] : both) {
      if (!name.empty()) compare_child(name, pair.first, pair.second, of->each(), at);
    }
    return;
  }
  if (a != b) at.modified.member = true;
}

std::string printed_step(const std::string& step) {
  if (step.starts_with("f:")) return "." + step.substr(2);
  if (step.starts_with("v:")) return "[=" + step.substr(2) + "]";
  if (step.starts_with("k:")) {
    auto v = parse(std::string_view(step).substr(2));
    std::string inner;
    if (v && v->is_object()) {
      for (const auto& [k, each] : v->get_object()) {
        inner += (inner.empty() ? "" : ",") + std::string(k) + "=" + json::serialize(each);
      }
    }
    return "[" + inner + "]";
  }
  return "[" + step.substr(std::min<std::size_t>(2, step.size())) + "]";
}

void list_paths(const field_set& s, const std::string& at, std::vector<std::string>& out) {
  if (s.member && !at.empty()) out.push_back(at);
  for (const auto& [step, inner] : s.children) list_paths(inner, at + printed_step(step), out);
}

}  // namespace

std::string element_key(const json::value& element, const shape& list) {
  if (!element.is_object()) return {};
  json::object key;
  std::vector<std::string> sorted = list.keys;
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& k : sorted) {
    if (const json::value* v = element.get_object().if_contains(k)) {
      key[k] = *v;
    } else if (auto d = list.key_defaults.find(k); d != list.key_defaults.end()) {
      key[k] = d->second;
    }
  }
  if (key.empty()) return {};
  return "k:" + json::serialize(key);
}

json::object field_set::to_json() const {
  json::object o;
  if (member && !children.empty()) o["."] = json::object();
  for (const auto& [name, inner] : children) o[name] = inner.to_json();
  return o;
}

field_set field_set::from_json(const json::object& fields) {
  field_set s;
  if (fields.empty()) s.member = true;
  for (const auto& [name, inner] : fields) {
    if (std::string_view(name) == ".") {
      s.member = true;
    } else if (inner.is_object()) {
      s.children[std::string(name)] = from_json(inner.get_object());
    }
  }
  return s;
}

void field_set::unite(const field_set& other) {
  member = member || other.member;
  for (const auto& [name, inner] : other.children) children[name].unite(inner);
}

void field_set::subtract(const field_set& other) {
  if (other.member) member = false;
  for (const auto& [name, inner] : other.children) {
    auto at = children.find(name);
    if (at == children.end()) continue;
    at->second.subtract(inner);
    if (at->second.empty()) children.erase(at);
  }
}

field_set field_set::intersection(const field_set& other) const {
  field_set s;
  s.member = member && other.member;
  for (const auto& [name, inner] : children) {
    auto at = other.children.find(name);
    if (at == other.children.end()) continue;
    field_set both = inner.intersection(at->second);
    if (!both.empty()) s.children[name] = std::move(both);
  }
  return s;
}

std::vector<std::string> field_set::paths() const {
  std::vector<std::string> out;
  list_paths(*this, "", out);
  return out;
}

field_set fields_of(const json::value& v, const shape* of) {
  field_set s;
  collect(v, of, s);
  s.member = false;
  return s;
}

field_changes compare(const json::value& before, const json::value& after, const shape* of) {
  field_changes c;
  compare_into(before, after, of, c);
  prune_empty(c.added);
  prune_empty(c.modified);
  prune_empty(c.removed);
  c.added.member = c.modified.member = c.removed.member = false;
  return c;
}

}  // namespace k8s::sim
