#include "k8s/sim/patch.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

constexpr std::size_t kNodeLimit = 200'000;      // values that copies may add up to
constexpr std::size_t kDepthLimit = 128;         // as deep as a body may be
constexpr std::size_t kOperationLimit = 10'000;  // the real server's limit for JSON patches

failure unprocessable(std::string message) {
  return {422, "Invalid",
          "the server rejected our request due to an error in our request: " + message};
}

/// Counts the values in `v`; `depth` becomes how deep it is.
std::size_t measure(const json::value& v, std::size_t at, std::size_t& depth) {
  depth = std::max(depth, at);
  std::size_t n = 1;
  if (v.is_object()) {
    for (const auto& m : v.get_object()) n += measure(m.value(), at + 1, depth);
  } else if (v.is_array()) {
    for (const json::value& e : v.get_array()) n += measure(e, at + 1, depth);
  }
  return n;
}

std::vector<std::string> split_pointer(std::string_view p) {
  std::vector<std::string> steps;
  while (!p.empty()) {
    p.remove_prefix(1);
    std::size_t slash = p.find('/');
    std::string step;
    for (std::size_t i = 0; i < std::min(slash, p.size()); ++i) {
      if (p[i] == '~' && i + 1 < p.size() && (p[i + 1] == '0' || p[i + 1] == '1')) {
        step += p[++i] == '0' ? '~' : '/';
      } else {
        step += p[i];
      }
    }
    steps.push_back(std::move(step));
    if (slash == std::string_view::npos) break;
    p.remove_prefix(slash);
  }
  return steps;
}

/// The index a step names in an array of `size`; `append` says that "-" and `size` are fine too.
std::optional<std::size_t> index_of(const std::string& step, std::size_t size, bool append) {
  if (append && step == "-") return size;
  std::size_t n = 0;
  auto [end, code] = std::from_chars(step.data(), step.data() + step.size(), n);
  if (step.empty() || code != std::errc() || end != step.data() + step.size()) return std::nullopt;
  if (n > size || (n == size && !append)) return std::nullopt;
  return n;
}

json::value* step_into(json::value& v, const std::string& step) {
  if (v.is_object()) return v.get_object().if_contains(step);
  if (v.is_array()) {
    auto i = index_of(step, v.get_array().size(), false);
    return i ? &v.get_array()[*i] : nullptr;
  }
  return nullptr;
}

json::value* walk(json::value& root, const std::vector<std::string>& steps, std::size_t count) {
  json::value* at = &root;
  for (std::size_t i = 0; at && i < count; ++i) at = step_into(*at, steps[i]);
  return at;
}

failure missing(std::string_view what, std::string_view path) {
  return unprocessable(std::string(what) + " operation does not apply: doc is missing path: " +
                       quoted(path) + ": missing value");
}

outcome<void> add_at(json::value& root, std::string_view path, json::value v) {
  const auto steps = split_pointer(path);
  if (steps.empty()) {
    root = std::move(v);
    return {};
  }
  json::value* parent = walk(root, steps, steps.size() - 1);
  if (!parent) return missing("add", path);
  if (parent->is_object()) {
    parent->get_object()[steps.back()] = std::move(v);
    return {};
  }
  if (parent->is_array()) {
    json::array& a = parent->get_array();
    auto i = index_of(steps.back(), a.size(), true);
    if (!i)
      return unprocessable("add operation does not apply: doc is missing path: " + quoted(path) +
                           ": invalid index referenced");
    a.insert(a.begin() + static_cast<std::ptrdiff_t>(*i), std::move(v));
    return {};
  }
  return missing("add", path);
}

outcome<json::value> take_at(json::value& root, std::string_view path, std::string_view what) {
  const auto steps = split_pointer(path);
  if (steps.empty()) return std::exchange(root, nullptr);
  json::value* parent = walk(root, steps, steps.size() - 1);
  json::value* found = parent ? step_into(*parent, steps.back()) : nullptr;
  if (!found) {
    if (!parent) return missing(what, path);
    return unprocessable(std::string(what) +
                         " operation does not apply: unable to remove nonexistent key: " +
                         steps.back() + ": missing value");
  }
  json::value taken = std::move(*found);
  if (parent->is_object()) {
    erase(parent->get_object(), steps.back());
  } else {
    json::array& a = parent->get_array();
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(*index_of(steps.back(), a.size(), false)));
  }
  return taken;
}

}  // namespace

json::value merge_patch(json::value target, const json::value& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = json::object();
  json::object& o = target.get_object();
  for (const auto& [name, v] : patch.get_object()) {
    if (v.is_null()) {
      erase(o, name);
    } else if (v.is_object()) {
      json::value& slot = o[name];
      slot = merge_patch(std::move(slot), v);
    } else {
      o[name] = v;
    }
  }
  return target;
}

outcome<json::value> json_patch(json::value target, const json::array& operations) {
  if (operations.size() > kOperationLimit) {
    return failure{413, "RequestEntityTooLarge",
                   "The allowed maximum operations in a JSON patch is " +
                       std::to_string(kOperationLimit) + ", got " +
                       std::to_string(operations.size())};
  }
  std::size_t copied_nodes = 0;
  for (const json::value& each : operations) {
    if (!each.is_object())
      return bad_request(
          "error decoding patch: json: cannot unmarshal into Go value of type jsonpatch.Patch");
    const json::object& op = each.get_object();
    const std::string_view what = text(op, {"op"}), path = text(op, {"path"}),
                           from = text(op, {"from"});
    const json::value* v = op.if_contains("value");
    if (!path.empty() && path.front() != '/') return missing(what, path);
    if (!from.empty() && from.front() != '/') return missing(what, from);
    if (what == "add") {
      if (!v) return unprocessable("add operation value: missing value");
      if (auto done = add_at(target, path, *v); !done) return done.error();
    } else if (what == "remove") {
      if (auto done = take_at(target, path, "remove"); !done) return done.error();
    } else if (what == "replace") {
      const auto steps = split_pointer(path);
      json::value* at = walk(target, steps, steps.size());
      if (!at) {
        return unprocessable("replace operation does not apply: doc is missing key: " +
                             std::string(path) + ": missing value");
      }
      *at = v ? *v : json::value(nullptr);
    } else if (what == "move") {
      auto taken = take_at(target, from, "move");
      if (!taken) return taken.error();
      if (auto done = add_at(target, path, std::move(*taken)); !done) return done.error();
    } else if (what == "copy") {
      const auto steps = split_pointer(from);
      json::value* at = walk(target, steps, steps.size());
      if (!at) return missing("copy", from);
      std::size_t depth = steps.size();
      copied_nodes += measure(*at, split_pointer(path).size(), depth);
      if (copied_nodes > kNodeLimit || depth > kDepthLimit) {
        return unprocessable(
            "Unable to complete the copy, the accumulated size increase of copy is too large");
      }
      json::value copied = *at;
      if (auto done = add_at(target, path, std::move(copied)); !done) return done.error();
    } else if (what == "test") {
      const auto steps = split_pointer(path);
      json::value* at = walk(target, steps, steps.size());
      const json::value wanted = v ? *v : json::value(nullptr);
      if (at ? *at != wanted : !wanted.is_null()) {
        return unprocessable("testing value " + std::string(path) + " failed: test failed");
      }
    } else {
      return unprocessable("Unexpected kind: " + std::string(what));
    }
  }
  return target;
}

namespace {

constexpr std::string_view kPatch = "$patch", kRetain = "$retainKeys", kOrder = "$setElementOrder/",
                           kDelete = "$deleteFromPrimitiveList/";

outcome<json::value> strategic_object(json::value target, const json::object& patch,
                                      const shape* of);

const json::value* key_value(const json::value& element, std::string_view key) {
  return element.is_object() ? element.get_object().if_contains(key) : nullptr;
}

outcome<json::array> strategic_list(json::array target, const json::array& patch, const shape& of) {
  const std::string& key = of.merge_key;
  for (const json::value& p : patch) {
    if (p.is_object() && text(p.get_object(), {kPatch}) == "replace") {
      json::array replaced;
      for (const json::value& v : patch) {
        if (!(v.is_object() && text(v.get_object(), {kPatch}) == "replace" &&
              v.get_object().size() == 1)) {
          json::value copy = v;
          if (copy.is_object()) erase(copy.get_object(), kPatch);
          replaced.push_back(std::move(copy));
        }
      }
      return replaced;
    }
  }
  for (const json::value& p : patch) {
    const json::value* wanted = key_value(p, key);
    if (!p.is_object() || !wanted) {
      return failure{400, "BadRequest",
                     "map: " + json::serialize(p) + " does not contain declared merge key: " + key};
    }
    auto at = std::find_if(target.begin(), target.end(), [&](const json::value& v) {
      const json::value* have = key_value(v, key);
      return have && *have == *wanted;
    });
    const std::string_view directive = text(p.get_object(), {kPatch});
    if (directive == "delete") {
      while (at != target.end()) {
        target.erase(at);
        at = std::find_if(target.begin(), target.end(), [&](const json::value& v) {
          const json::value* have = key_value(v, key);
          return have && *have == *wanted;
        });
      }
    } else if (at == target.end()) {
      auto made = strategic_object(json::object(), p.get_object(), of.each());
      if (!made) return made.error();
      target.push_back(std::move(*made));
    } else {
      auto merged = strategic_object(std::move(*at), p.get_object(), of.each());
      if (!merged) return merged.error();
      *at = std::move(*merged);
    }
  }
  return target;
}

/// Puts the elements of `list` in the order the patch asks for; the others keep theirs and stay where they are relative to it.
void reorder(json::array& list, const json::array& order, const std::string& key) {
  auto rank = [&](const json::value& v) -> std::optional<std::size_t> {
    const json::value* mine = key.empty() ? &v : key_value(v, key);
    for (std::size_t i = 0; mine && i < order.size(); ++i) {
      const json::value* wanted = key.empty() ? &order[i] : key_value(order[i], key);
      if (wanted && *wanted == *mine) return i;
    }
    return std::nullopt;
  };
  std::vector<std::size_t> slots;
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // rank, where it stood
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (auto r = rank(list[i])) {
      slots.push_back(i);
      ranked.emplace_back(*r, i);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  const json::array before = list;
  for (std::size_t i = 0; i < slots.size(); ++i) list[slots[i]] = before[ranked[i].second];
}

outcome<json::value> strategic_object(json::value target, const json::object& patch,
                                      const shape* of) {
  const std::string_view directive = text(patch, {kPatch});
  if (directive == "delete") return json::value(json::object());
  if (directive == "replace") {
    json::object replaced = patch;
    erase(replaced, kPatch);
    return json::value(std::move(replaced));
  }
  if (!directive.empty() && directive != "merge") {
    return bad_request("Unknown patch type found in patch: " + std::string(directive));
  }
  if (!target.is_object()) target = json::object();
  json::object& o = target.get_object();
  if (const json::array* retain = find_array(patch, {kRetain})) {
    std::vector<std::string> drop;
    for (const auto& [name, v] : o) {
      if (std::find(retain->begin(), retain->end(), json::value(name)) == retain->end())
        drop.emplace_back(name);
    }
    for (const std::string& name : drop) erase(o, name);
  }
  for (const auto& [name, v] : patch) {
    const std::string_view member = name;
    if (member.starts_with(kDelete)) {
      json::value* list = o.if_contains(member.substr(kDelete.size()));
      if (!list || !list->is_array() || !v.is_array()) continue;
      json::array& a = list->get_array();
      for (const json::value& gone : v.get_array())
        a.erase(std::remove(a.begin(), a.end(), gone), a.end());
    }
  }
  for (const auto& [name, v] : patch) {
    const std::string_view member = name;
    if (member.starts_with("$")) continue;
    const shape* inner = of ? of->field(member) : nullptr;
    if (v.is_null()) {
      erase(o, member);
    } else if (v.is_object()) {
      json::value* have = o.if_contains(member);
      auto merged =
          strategic_object(have ? std::move(*have) : json::value(), v.get_object(), inner);
      if (!merged) return merged.error();
      o[member] = std::move(*merged);
    } else if (v.is_array() && inner && !inner->merge_key.empty()) {
      json::value& slot = o[member];
      if (!slot.is_array()) slot = json::array();
      auto merged = strategic_list(std::move(slot.get_array()), v.get_array(), *inner);
      if (!merged) return merged.error();
      slot = std::move(*merged);
    } else if (v.is_array() && inner && inner->merge_primitives) {
      json::value& slot = o[member];
      if (!slot.is_array()) slot = json::array();
      json::array& a = slot.get_array();
      for (const json::value& e : v.get_array()) {
        if (std::find(a.begin(), a.end(), e) == a.end()) a.push_back(e);
      }
    } else {
      o[member] = v;
    }
  }
  for (const auto& [name, v] : patch) {
    const std::string_view member = name;
    if (!member.starts_with(kOrder) || !v.is_array()) continue;
    const std::string_view list_name = member.substr(kOrder.size());
    json::value* list = o.if_contains(list_name);
    const shape* inner = of ? of->field(list_name) : nullptr;
    if (list && list->is_array())
      reorder(list->get_array(), v.get_array(), inner ? inner->merge_key : std::string());
  }
  return target;
}

}  // namespace

outcome<json::value> strategic_patch(json::value target, const json::value& patch,
                                     const shape* of) {
  if (!patch.is_object())
    return bad_request("json: cannot unmarshal into Go value of type map[string]interface {}");
  return strategic_object(std::move(target), patch.get_object(), of);
}

bool too_deep(const json::value& v) {
  std::size_t depth = 0;
  measure(v, 0, depth);
  return depth > kDepthLimit;
}

}  // namespace k8s::sim
