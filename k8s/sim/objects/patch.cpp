#include "k8s/sim/objects/patch.hpp"

#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_merge.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

constexpr std::size_t kNodeLimit = 200'000;      // values that copies may add up to
constexpr std::size_t patch_depth_limit = 128;   // as deep as a body may be
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
      if (copied_nodes > kNodeLimit || depth > patch_depth_limit) {
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

outcome<json::value> strategic_patch(json::value target, const json::value& patch,
                                     const merge_type& of) {
  if (!patch.is_object())
    return bad_request("json: cannot unmarshal into Go value of type map[string]interface {}");
  if (!target.is_object()) target = json::object();
  auto patched = apply_strategic_patch(std::move(target.get_object()), patch.get_object(), of);
  if (patched) return json::value(std::move(*patched));
  const merge_refusal& why = patched.error();
  switch (why.status) {
    case 400: return bad_request(why.text);
    case 422: return unprocessable(why.text);
    default: return failure{500, "", why.text};
  }
}

bool too_deep(const json::value& v) {
  std::size_t depth = 0;
  measure(v, 0, depth);
  return depth > patch_depth_limit;
}

}  // namespace k8s::sim
