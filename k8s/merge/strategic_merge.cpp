#include "k8s/merge/strategic_merge.hpp"

#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_lists.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace k8s {

namespace json = boost::json;

void throw_exception_from_error(const merge_refusal& r, const boost::source_location&) {
  throw std::runtime_error(r.text);
}

namespace {

constexpr int bad_request = 400;

merge_refusal bad_order_list() {
  return {"invalid patch format of setElementOrder list", bad_request};
}
merge_refusal bad_retain_keys() {
  return {"invalid patch format of retainKeys", bad_request};
}

/// Applying resolves directives; joining keeps them for the caller that applies the joined patch.
enum class purpose { apply, join };

merge_result<json::object> merge_objects(json::object target, json::object patch,
                                         const merge_position& at, purpose why);

/// Takes out everything below that carries a $patch; false when that is the value itself.
bool remove_directives(json::value& v) {
  if (json::object* o = v.if_object()) {
    if (o->contains(directive::patch)) return false;
    std::vector<std::string> gone;
    for (auto& [name, member] : *o) {
      if (!remove_directives(member)) gone.emplace_back(name);
    }
    for (const std::string& name : gone) o->erase(name);
  } else if (json::array* a = v.if_array()) {
    a->erase(std::remove_if(a->begin(), a->end(),
                            [](json::value& element) { return !remove_directives(element); }),
             a->end());
  }
  return true;
}

void drop_nulls(json::value& v) {
  if (json::object* o = v.if_object()) {
    std::vector<std::string> gone;
    for (auto& [name, member] : *o) {
      if (member.is_null())
        gone.emplace_back(name);
      else
        drop_nulls(member);
    }
    for (const std::string& name : gone) o->erase(name);
  } else if (json::array* a = v.if_array()) {
    for (json::value& element : *a) drop_nulls(element);
  }
}

/// Sets a member to what a patch holds for it, without directives.
void put(json::object& target, std::string_view name, json::value from_patch, purpose why) {
  if (why == purpose::apply) drop_nulls(from_patch);
  if (remove_directives(from_patch))
    target[name] = std::move(from_patch);
  else
    target.stable_erase(name);
}

/// A patch's elements that only say what to do with the list are carried out on `target` and taken
/// out of `patch`.
merge_result<bool> obey_directives(json::array& target, json::array& patch,
                                   const std::string& key) {
  json::array plain;
  bool replace = false;
  for (json::value& element : patch) {
    const json::object& o = element.get_object();
    const json::value* said = o.if_contains(directive::patch);
    if (!said) {
      plain.push_back(std::move(element));
      continue;
    }
    if (*said == "delete") {
      auto gone = key_of_element(element, key);
      if (!gone) return gone.error();
      for (;;) {
        auto at = find_element(target, key, **gone);
        if (!at) return at.error();
        if (!*at) break;
        target.erase(target.begin() + static_cast<std::ptrdiff_t>(**at));
      }
    } else if (*said == "replace") {
      replace = true;
    } else if (*said == "merge") {
      return merge_refusal{"merging lists cannot yet be specified in the patch"};
    } else {
      return merge_refusal{"unknown patch type: " + printed(*said) +
                           " in map: " + printed(element)};
    }
  }
  patch = std::move(plain);
  if (replace) {
    target = std::move(patch);
    patch = json::array();
  }
  return replace;
}

/// `places`, when wanted, becomes the order in which a caller that sets an order finds the server's
/// elements: Go reuses the places of deleted elements for added ones, and looks there afterwards.
merge_result<json::array> merge_lists(json::array target, json::array patch, const merge_plan& plan,
                                      bool deletes, purpose why, json::array* places = nullptr) {
  if (target.empty() && patch.empty()) return target;
  auto what = elements_of(target, patch);
  if (!what) return what.error();
  json::array server_order = target;
  json::array merged;
  if (*what == list_of::scalars) {
    if (deletes && why == purpose::apply) {
      for (json::value& v : target) {
        if (!contains(patch, v)) merged.push_back(std::move(v));
      }
      return merged;
    }
    merged = std::move(target);
    merged.insert(merged.end(), patch.begin(), patch.end());
    remove_repetitions(merged);
    return arrange(std::move(merged), patch, server_order, plan.key, *what);
  }
  if (plan.key.empty()) {
    return merge_refusal{"cannot merge lists without merge key for " +
                         std::string(plan.inner.type ? "struct" : plan.inner.otherwise)};
  }
  const std::size_t before = target.size();
  auto obeyed = obey_directives(target, patch, plan.key);
  if (!obeyed) return obeyed.error();
  server_order = target;
  for (json::value& element : patch) {
    auto key = key_of_element(element, plan.key);
    if (!key) return key.error();
    auto at = find_element(target, plan.key, **key);
    if (!at) return at.error();
    if (!*at) {
      target.push_back(element);
      continue;
    }
    auto one =
        merge_objects(std::move(target[**at].get_object()), element.get_object(), plan.inner, why);
    if (!one) return one.error();
    target[**at] = std::move(*one);
  }
  if (places && !*obeyed)
    *places = json::array(target.data(), target.data() + std::min(before, target.size()));
  return arrange(std::move(target), patch, server_order, plan.key, *what);
}

/// Removes siblings of what the patch names as staying; joining only passes the directive on.
merge_result<bool> retain_keys(json::object& target, json::object& patch, purpose why) {
  const json::value* found = patch.if_contains(directive::retain_keys);
  if (!found) return false;
  const json::value named = *found;
  patch.erase(directive::retain_keys);
  if (why == purpose::join) {
    const json::value* earlier = target.if_contains(directive::retain_keys);
    if (earlier && *earlier != named) {
      return merge_refusal{printed(*earlier) + " and " + printed(named) +
                           " are not deep equal: this may happen when calculating the 3-way diff "
                           "patch"};
    }
    target[directive::retain_keys] = named;
    return true;
  }
  if (!named.is_array()) return bad_retain_keys();
  const json::array& stay = named.get_array();
  for (const auto& [name, v] : patch) {
    const std::string_view member = name;
    if (v.is_null() || member.starts_with("$deleteFromPrimitiveList") ||
        member.starts_with("$setElementOrder"))
      continue;
    if (!contains(stay, json::value(member))) return bad_retain_keys();
  }
  std::vector<std::string> gone;
  for (const auto& [name, v] : target) {
    if (!contains(stay, json::value(name))) gone.emplace_back(name);
  }
  for (const std::string& name : gone) target.stable_erase(name);
  return true;
}

/// Carries out one $setElementOrder of the patch, together with what it holds for that list.
merge_result<bool> set_order(json::object& target, json::object& patch, const std::string& name,
                             json::value said, const merge_position& at, purpose why) {
  if (why == purpose::join) {
    const json::value* earlier = target.if_contains(name);
    if (earlier && *earlier != said) return bad_order_list();
    target[name] = said;
  }
  if (!said.is_array()) return wrong_type(json::array(), said);
  const json::array& order = said.get_array();
  if (!name.starts_with(directive::element_order)) return bad_order_list();
  const std::string list = name.substr(directive::element_order.size());
  json::array before, wanted;
  const json::value* in_target = target.if_contains(list);
  const json::value* in_patch = patch.if_contains(list);
  const bool has_target = in_target, has_patch = in_patch;
  if (has_target) {
    if (!in_target->is_array()) return wrong_type(json::array(), *in_target);
    before = in_target->get_array();
  }
  if (has_patch) {
    if (!in_patch->is_array()) return wrong_type(json::array(), *in_patch);
    wanted = in_patch->get_array();
  }
  auto plan = plan_for_list(at, list);
  if (!plan) return plan.error();
  if (auto fits = check_order(wanted, order, plan->key); !fits) return fits.error();
  json::array merged;
  if (has_target && !has_patch) {
    merged = before;
  } else if (has_patch && !has_target) {
    json::value v = wanted;
    remove_directives(v);
    merged = std::move(v.get_array());
  } else if (has_patch) {
    if (plan->merge) {
      auto both = merge_lists(before, wanted, *plan, false, why, &before);
      if (!both) return both.error();
      merged = std::move(*both);
    } else {
      merged = wanted;
    }
  } else {
    return true;
  }
  auto what = elements_of(before, wanted);
  if (!what) return what.error();
  auto arranged = arrange(std::move(merged), order, before, plan->key, *what);
  if (!arranged) return arranged.error();
  target[list] = std::move(*arranged);
  patch.erase(list);
  return true;
}

merge_result<bool> merge_member(json::object& target, std::string name, json::value v,
                                const merge_position& at, purpose why) {
  bool deletes = false;
  if (name.starts_with("$deleteFromPrimitiveList")) {
    if (why == purpose::join) {
      target[name] = std::move(v);
      return true;
    }
    if (!name.starts_with(directive::delete_scalars))
      return merge_refusal{"invalid patch format of primitive list", bad_request};
    name.erase(0, directive::delete_scalars.size());
    deletes = true;
  }
  if (v.is_null()) {
    target.stable_erase(name);
    if (why == purpose::apply) return true;
  }
  json::value* have = target.if_contains(name);
  if (!have || !same_json_type(*have, v)) {
    if (!deletes) put(target, name, std::move(v), why);
    return true;
  }
  if (v.is_object()) {
    auto plan = plan_for_object(at, name);
    if (!plan) return plan.error();
    if (plan->replace) {
      *have = std::move(v);
      return true;
    }
    auto merged =
        merge_objects(std::move(have->get_object()), std::move(v.get_object()), plan->inner, why);
    if (!merged) return merged.error();
    *have = std::move(*merged);
  } else if (v.is_array()) {
    auto plan = plan_for_list(at, name);
    if (!plan) return plan.error();
    if (!plan->merge && !deletes) {
      *have = std::move(v);
      return true;
    }
    auto merged =
        merge_lists(std::move(have->get_array()), std::move(v.get_array()), *plan, deletes, why);
    if (!merged) return merged.error();
    *have = std::move(*merged);
  } else {
    *have = std::move(v);
  }
  return true;
}

merge_result<json::object> merge_objects(json::object target, json::object patch,
                                         const merge_position& at, purpose why) {
  if (const json::value* said = patch.if_contains(directive::patch)) {
    if (*said == "delete") return json::object();
    if (*said != "replace") {
      return merge_refusal{"unknown patch type: " + printed(*said) +
                           " in map: " + printed(json::value(patch))};
    }
    patch.stable_erase(directive::patch);
    return patch;
  }
  if (auto kept = retain_keys(target, patch, why); !kept) return kept.error();
  std::vector<std::string> names;
  for (const auto& [name, v] : patch) names.emplace_back(name);
  for (const std::string& name : names) {
    if (!name.starts_with("$setElementOrder")) continue;
    json::value said = std::move(patch[name]);
    patch.erase(name);
    if (auto done = set_order(target, patch, name, std::move(said), at, why); !done)
      return done.error();
  }
  for (const std::string& name : names) {
    json::value* v = patch.if_contains(name);
    if (!v) continue;
    if (auto done = merge_member(target, name, std::move(*v), at, why); !done) return done.error();
  }
  return target;
}

merge_result<const merge_field*> field_at(const merge_position& at, std::string_view field) {
  if (!at.type) {
    return merge_refusal{"merging an object in json but data type is not struct, instead is: " +
                         std::string(at.otherwise)};
  }
  if (const merge_field* f = at.type->field(field)) return f;
  return merge_refusal{"unable to find api field in struct " + at.type->name() +
                       " for the json field \"" + std::string(field) + "\""};
}

}  // namespace

merge_result<merge_plan> plan_for_object(const merge_position& at, std::string_view field) {
  auto found = field_at(at, field);
  if (!found) return found.error();
  const merge_field& f = **found;
  merge_plan plan;
  plan.replace = f.replace;
  plan.retain_keys = f.retain_keys;
  plan.inner.type = f.is == merge_field::form::object ? f.type : nullptr;
  plan.inner.otherwise = f.is == merge_field::form::list ? "slice" : "map";
  return plan;
}

merge_result<merge_plan> plan_for_list(const merge_position& at, std::string_view field) {
  auto found = field_at(at, field);
  if (!found) return found.error();
  const merge_field& f = **found;
  if (f.is != merge_field::form::list)
    return merge_refusal{"expected slice or array type, but got: struct"};
  merge_plan plan;
  plan.merge = f.merge;
  plan.retain_keys = f.retain_keys;
  plan.key = f.key;
  plan.inner.type = f.type;
  return plan;
}

merge_result<json::object> apply_strategic_patch(json::object target, json::object patch,
                                                 const merge_type& type) {
  return merge_objects(std::move(target), std::move(patch), {&type}, purpose::apply);
}

merge_result<json::object> join_strategic_patches(json::object first, json::object second,
                                                  const merge_type& type) {
  return merge_objects(std::move(first), std::move(second), {&type}, purpose::join);
}

}  // namespace k8s
