#include "helm/objects/three_way_merge.hpp"

#include "k8s/merge/strategic_lists.hpp"
#include "k8s/merge/strategic_merge.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace helm::objects {
namespace {

namespace json = boost::json;
namespace directive = k8s::directive;
using k8s::list_of;
using k8s::merge_plan;
using k8s::merge_position;
using k8s::merge_result;
using k8s::printed;

/// Which half of a three-way patch is being made.
enum class half { additions, deletions };

struct list_patch {
  json::array elements, deleted, order;
};

merge_result<json::object> diff_objects(const json::object& from, const json::object& to,
                                        const merge_position& at, half which, bool retain_keys);

/// Go's sort of a short list whose order counts equals as smaller: equal elements change places.
/// Lists may be as long as an object that a stranger wrote.
template <class Element>
void sort_as_go(std::vector<std::pair<std::string, Element>>& list) {
  std::ranges::reverse(list);
  std::ranges::stable_sort(list, {}, &std::pair<std::string, Element>::first);
}

std::vector<std::pair<std::string, json::value>> sorted_scalars(const json::array& list) {
  std::vector<std::pair<std::string, json::value>> out;
  for (const json::value& v : list) out.emplace_back(printed(v), v);
  sort_as_go(out);
  return out;
}

void diff_scalars(const json::array& from, const json::array& to, half which, list_patch& out) {
  const auto a = sorted_scalars(from), b = sorted_scalars(to);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool both = i < a.size() && j < b.size();
    if (both && a[i].first == b[j].first) {
      ++i, ++j;
    } else if (i >= a.size() || (both && a[i].first > b[j].first)) {
      if (which == half::additions) out.elements.push_back(b[j].second);
      ++j;
    } else {
      if (which == half::deletions) out.deleted.push_back(a[i].second);
      ++i;
    }
  }
  k8s::remove_repetitions(out.deleted);
}

using keyed = std::vector<std::pair<std::string, const json::value*>>;

/// Elements by their merge keys' text; one without a key stands as Go's nil until it is looked at.
keyed by_key(const json::array& list, const std::string& key) {
  keyed out;
  for (const json::value& v : list) {
    const json::value* k = v.is_object() ? v.get_object().if_contains(key) : nullptr;
    out.emplace_back(k ? printed(*k) : "<nil>", &v);
  }
  sort_as_go(out);
  return out;
}

merge_result<bool> diff_objects_of_list(const json::array& from, const json::array& to,
                                        const merge_plan& plan, half which, list_patch& out) {
  const keyed a = by_key(from, plan.key), b = by_key(to, plan.key);
  std::size_t i = 0, j = 0;
  json::array deletions;
  while (i < a.size() || j < b.size()) {
    const json::value *old_key = nullptr, *new_key = nullptr;
    if (i < a.size()) {
      auto k = k8s::key_of_element(*a[i].second, plan.key);
      if (!k) return k.error();
      old_key = *k;
    }
    if (j < b.size()) {
      auto k = k8s::key_of_element(*b[j].second, plan.key);
      if (!k) return k.error();
      new_key = *k;
    }
    const bool both = old_key && new_key;
    if (both && a[i].first == b[j].first) {
      auto changes = diff_objects(a[i].second->get_object(), b[j].second->get_object(), plan.inner,
                                  which, plan.retain_keys);
      if (!changes) return changes.error();
      if (!changes->empty()) {
        (*changes)[plan.key] = *new_key;
        out.elements.push_back(std::move(*changes));
      }
      ++i, ++j;
    } else if (!old_key || (both && a[i].first > b[j].first)) {
      if (which == half::additions) out.elements.push_back(*b[j].second);
      ++j;
    } else {
      if (which == half::deletions) {
        json::object gone;
        gone[plan.key] = *old_key;
        gone[directive::patch] = "delete";
        deletions.push_back(std::move(gone));
      }
      ++i;
    }
  }
  auto ordered = k8s::in_order(std::move(out.elements), to, plan.key, list_of::objects);
  if (!ordered) return ordered.error();
  out.elements = std::move(*ordered);
  for (json::value& v : deletions) out.elements.push_back(std::move(v));
  return true;
}

merge_result<bool> same_order(const json::array& a, const json::array& b, const std::string& key) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto left = k8s::key_of_element(a[i], key);
    if (!left) return left.error();
    auto right = k8s::key_of_element(b[i], key);
    if (!right) return right.error();
    if (**left != **right) return false;
  }
  return true;
}

merge_result<list_patch> diff_lists(const json::array& from, const json::array& to,
                                    const merge_plan& plan, half which) {
  list_patch out;
  if (from.empty()) {
    if (which == half::additions) out.elements = to;
    return out;
  }
  auto what = k8s::elements_of(from, to);
  if (!what) return what.error();
  if (*what == list_of::objects) {
    auto done = diff_objects_of_list(from, to, plan, which, out);
    if (!done) return done.error();
    auto same = same_order(from, to, plan.key);
    if (!same) return same.error();
    if (!out.elements.empty() || (which == half::additions && !*same)) {
      for (const json::value& v : to) {
        auto key = k8s::key_of_element(v, plan.key);
        if (!key) return key.error();
        out.order.push_back(json::object{{plan.key, **key}});
      }
    }
    return out;
  }
  diff_scalars(from, to, which, out);
  auto ordered = k8s::in_order(std::move(out.elements), to, plan.key, list_of::scalars);
  if (!ordered) return ordered.error();
  out.elements = std::move(*ordered);
  // The comparison that decides sees the old list sorted, whatever its order was.
  json::array sorted;
  for (auto& [text, v] : sorted_scalars(from)) sorted.push_back(v);
  const bool wanted = which == half::deletions ? !out.deleted.empty() : sorted != to;
  if (wanted) out.order = to;
  return out;
}

/// One member that both sides have as objects.
merge_result<bool> diff_member_objects(std::string_view name, const json::object& from,
                                       const json::object& to, const merge_position& at, half which,
                                       json::object& patch) {
  auto plan = k8s::plan_for_object(at, name);
  if (!plan) {
    if (from == to) return true;
    return plan.error();
  }
  if (plan->replace) {
    if (which == half::additions) patch[name] = to;
    return true;
  }
  auto changes = diff_objects(from, to, plan->inner, which, plan->retain_keys);
  if (!changes) return changes.error();
  if (!changes->empty()) patch[name] = std::move(*changes);
  return true;
}

merge_result<bool> diff_member_lists(std::string_view name, const json::array& from,
                                     const json::array& to, const merge_position& at, half which,
                                     json::object& patch) {
  auto plan = k8s::plan_for_list(at, name);
  if (!plan) {
    if (from == to) return true;
    return plan.error();
  }
  if (!plan->merge) {
    if (which == half::additions && from != to) patch[name] = to;
    return true;
  }
  auto changes = diff_lists(from, to, *plan, which);
  if (!changes) return changes.error();
  if (!changes->elements.empty()) patch[name] = std::move(changes->elements);
  if (!changes->deleted.empty())
    patch[std::string(directive::delete_scalars) + std::string(name)] = std::move(changes->deleted);
  if (!changes->order.empty())
    patch[std::string(directive::element_order) + std::string(name)] = std::move(changes->order);
  return true;
}

json::array names_that_stay(const json::object& to) {
  std::vector<std::string> names;
  for (const auto& [name, v] : to) {
    if (!v.is_null()) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return json::array(names.begin(), names.end());
}

merge_result<json::object> diff_objects(const json::object& from, const json::object& to,
                                        const merge_position& at, half which, bool retain_keys) {
  json::object patch;
  for (const auto& [key, value] : to) {
    const std::string_view name = key;
    const json::value* old = from.if_contains(name);
    if (!old) {
      if (which == half::additions) patch[name] = value;
      continue;
    }
    if (name == directive::patch) {
      if (!old->is_string() || !value.is_string())
        return k8s::merge_refusal{"invalid value for special key: $patch"};
      if (*old != value) patch[name] = value;
      continue;
    }
    merge_result<bool> done = true;
    if (!k8s::same_json_type(*old, value)) {
      if (which == half::additions) patch[name] = value;
    } else if (value.is_object()) {
      done = diff_member_objects(name, old->get_object(), value.get_object(), at, which, patch);
    } else if (value.is_array()) {
      done = diff_member_lists(name, old->get_array(), value.get_array(), at, which, patch);
    } else if (which == half::additions && *old != value) {
      patch[name] = value;
    }
    if (!done) return done.error();
  }
  bool loses_members = false;
  for (const auto& [name, value] : from) {
    if (to.contains(name)) continue;
    if (which == half::deletions) patch[name] = nullptr;
    if (!value.is_null()) loses_members = true;
  }
  if (retain_keys) {
    json::array stay = names_that_stay(to);
    if (!stay.empty() && (!patch.empty() || loses_members))
      patch[directive::retain_keys] = std::move(stay);
  }
  return patch;
}

/// As JSON merge patches compare: all numbers are doubles.
bool matches(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    const json::array &left = a.get_array(), &right = b.get_array();
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(), matches);
  }
  if (a.is_object()) {
    const json::object &left = a.get_object(), &right = b.get_object();
    return left.size() == right.size() &&
           std::all_of(left.begin(), left.end(), [&](const json::key_value_pair& member) {
             const json::value* other = right.if_contains(member.key());
             return other && matches(member.value(), *other);
           });
  }
  return a == b;
}

enum class keep { deletions, values };

/// A merge patch's nulls, or all but its nulls.
json::object filter(const json::object& patch, keep what) {
  json::object out;
  for (const auto& [name, v] : patch) {
    if (v.is_null()) {
      if (what == keep::deletions) out[name] = nullptr;
    } else if (const json::object* o = v.if_object(); o && !o->empty()) {
      json::object inner = filter(*o, what);
      if (!inner.empty()) out[name] = std::move(inner);
    } else if (what == keep::values) {
      out[name] = v;
    }
  }
  return out;
}

/// Takes members that are null out of objects at any depth.
json::value without_nulls(const json::value& v) {
  if (const json::object* o = v.if_object()) {
    json::object out;
    for (const auto& [name, member] : *o) {
      if (!member.is_null()) out[name] = without_nulls(member);
    }
    return out;
  }
  if (const json::array* a = v.if_array()) {
    json::array out;
    for (const json::value& element : *a) out.push_back(without_nulls(element));
    return out;
  }
  return v;
}

void join(json::object& into, const json::object& more) {
  for (const auto& [name, v] : more) {
    json::value* have = into.if_contains(name);
    if (have && have->is_object() && v.is_object())
      join(have->get_object(), v.get_object());
    else
      into[name] = without_nulls(v);
  }
}

}  // namespace

outcome<json::object> strategic_three_way_patch(const three_states& s,
                                                const k8s::merge_type& type) {
  const merge_position top{&type};
  auto additions = diff_objects(s.live, s.after, top, half::additions, false);
  if (!additions) return problem{additions.error().text};
  auto deletions = diff_objects(s.before, s.after, top, half::deletions, false);
  if (!deletions) return problem{deletions.error().text};
  auto patch = k8s::join_strategic_patches(std::move(*deletions), std::move(*additions), type);
  if (!patch) return problem{patch.error().text};
  return std::move(*patch);
}

json::object merge_patch(const json::object& from, const json::object& to) {
  json::object patch;
  for (const auto& [name, v] : to) {
    const json::value* old = from.if_contains(name);
    if (old && old->is_object() && v.is_object()) {
      json::object inner = merge_patch(old->get_object(), v.get_object());
      if (!inner.empty()) patch[name] = std::move(inner);
    } else if (!old || !matches(*old, v)) {
      patch[name] = v;
    }
  }
  for (const auto& [name, v] : from) {
    if (!to.contains(name)) patch[name] = nullptr;
  }
  return patch;
}

json::object json_three_way_patch(const three_states& s) {
  json::object patch = filter(merge_patch(s.before, s.after), keep::deletions);
  join(patch, filter(merge_patch(s.live, s.after), keep::values));
  return patch;
}

}  // namespace helm::objects
