#include "helm/objects/object.hpp"

#include "helm/go.hpp"

#include <boost/json/value.hpp>

#include <algorithm>

namespace helm::objects {
namespace {

namespace json = boost::json;

constexpr std::string_view managed_by = "app.kubernetes.io/managed-by",
                           name_mark = "meta.helm.sh/release-name",
                           namespace_mark = "meta.helm.sh/release-namespace",
                           keep_policy = "helm.sh/resource-policy";

json::object& make_object(json::object& in, std::string_view name) {
  json::value& v = in[name];
  if (!v.is_object()) v.emplace_object();
  return v.get_object();
}

/// metadata.<map>.<key>, when it is text.
const json::string* marking(const json::object& o, std::string_view map, std::string_view key) {
  const json::value* metadata = o.if_contains("metadata");
  if (!metadata || !metadata->is_object()) return nullptr;
  const json::value* marks = metadata->get_object().if_contains(map);
  if (!marks || !marks->is_object()) return nullptr;
  const json::value* v = marks->get_object().if_contains(key);
  return v ? v->if_string() : nullptr;
}

std::string require(const json::object& live, std::string_view map, std::string_view key,
                    std::string_view wanted) {
  const json::string* is = marking(live, map, key);
  if (!is) return "missing key " + quote(key) + ": must be set to " + quote(wanted);
  if (*is == wanted) return {};
  return "key " + quote(key) + " must equal " + quote(wanted) + ": current value is " + quote(*is);
}

}  // namespace

std::string key_of(const object& o) {
  return o.resource.group + "/" + o.kind + "/" + o.ns + "/" + o.name;
}

std::string describe(const object& o) {
  return o.kind + " " + quote(o.name) + " in namespace " + quote(o.ns);
}

const object* find_same(const object_list& list, const object& wanted) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const object& o) {
    return o.name == wanted.name && o.ns == wanted.ns && o.kind == wanted.kind &&
           o.resource.group == wanted.resource.group;
  });
  return at == list.end() ? nullptr : &*at;
}

object_index::object_index(const object_list& list) {
  for (const object& o : list) by_key_.try_emplace(key_of(o), &o);
}

const object* object_index::find(const object& wanted) const {
  const auto at = by_key_.find(key_of(wanted));
  return at == by_key_.end() ? nullptr : at->second;
}

object_list difference(const object_list& from, const object_list& others) {
  const object_index known(others);
  object_list out;
  for (const object& o : from) {
    if (!known.find(o)) out.push_back(o);
  }
  return out;
}

json::object stamp(json::object body, std::string_view release, std::string_view ns) {
  json::object& metadata = make_object(body, "metadata");
  make_object(metadata, "labels")[managed_by] = "Helm";
  json::object& annotations = make_object(metadata, "annotations");
  annotations[name_mark] = release;
  annotations[namespace_mark] = ns;
  return body;
}

std::optional<std::string> ownership_problem(const json::object& live, std::string_view release,
                                             std::string_view ns) {
  std::string all;
  const auto note = [&all](std::string_view what, const std::string& problem) {
    if (!problem.empty())
      all.append("; ").append(what).append(" validation error: ").append(problem);
  };
  note("label", require(live, "labels", managed_by, "Helm"));
  note("annotation", require(live, "annotations", name_mark, release));
  note("annotation", require(live, "annotations", namespace_mark, ns));
  if (all.empty()) return std::nullopt;
  return "invalid ownership metadata" + all;
}

bool belongs_to(const json::object& live, const release_name& of) {
  return require(live, "annotations", name_mark, of.name).empty() &&
         require(live, "annotations", namespace_mark, of.ns).empty();
}

bool kept_by_policy(const json::object& live) {
  const json::string* policy = marking(live, "annotations", keep_policy);
  return policy && *policy == "keep";
}

}  // namespace helm::objects
