#include "formats/yaml/yaml.hpp"
#include "k8s/merge/merge_patch.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "k8s/sim/core.hpp"
#include "k8s/sim/objects/managed_fields.hpp"
#include "k8s/sim/objects/patch.hpp"
#include "k8s/sim/objects/schema.hpp"

namespace k8s::sim {

namespace {

constexpr std::string_view kMerge = "application/merge-patch+json",
                           kJson = "application/json-patch+json",
                           kStrategic = "application/strategic-merge-patch+json",
                           kApplyYaml = "application/apply-patch+yaml",
                           kApplyCbor = "application/apply-patch+cbor";

}  // namespace

outcome<answer> core::patch(call& c) {
  std::string_view type = c.in->fields.get("content-type");
  type = type.substr(0, type.find(';'));
  const kind_info& kind = *c.kind;
  version_ptr old = find(kind, c.key());

  if (type == kApplyYaml) {
    if (!c.has_query("fieldManager") || c.query("fieldManager").empty()) {
      return invalid("meta.k8s.io", "PatchOptions", "",
                     {field_error::required("fieldManager", "is required for apply patch")});
    }
    auto body = body_object(c);
    if (!body) return body.error();
    if (text(*body, {"apiVersion"}).empty() || text(*body, {"kind"}).empty()) {
      return bad_request("error decoding YAML: Object 'Kind' is missing");
    }
    const std::string_view name = text(*body, {"metadata", "name"});
    if (!name.empty() && name != c.name) {
      return bad_request("the name of the object (" + std::string(name) +
                         ") does not match the name on the URL (" + c.name + ")");
    }
    if (const json::value* m = k8s::sim::find(*body, {"metadata", "managedFields"});
        m && !m->is_null()) {
      return bad_request("metadata.managedFields must be nil");
    }
    if (auto fine = check_body(c, *body, arrival::applied); !fine) return fine.error();
    (*body)["metadata"].as_object()["name"] = c.name;
    json::object applied = to_storage(kind, std::move(*body));
    const bool force = c.query_flag("force");
    const field_writer who{c.query("fieldManager"), c.subresource, timestamp()};
    if (!old) {
      if (!c.subresource.empty()) return not_found(kind, c.name);
      if (!text(applied, {"metadata", "uid"}).empty()) {
        return conflict(kind, c.name,
                        "uid mismatch: the provided object specified uid " +
                            std::string(text(applied, {"metadata", "uid"})) +
                            ", and no existing object was found");
      }
      auto made = apply_fields(kind, nullptr, applied, who, force);
      if (!made) return made.error();
      auto created = create_object(c, std::move(*made));
      if (!created) return created.error();
      return object_answer(c, 201, **created);
    }
    const std::string rv(text(applied, {"metadata", "resourceVersion"}));
    if (!rv.empty() && rv != std::to_string(old->revision)) return modified_meanwhile(kind, c.name);
    const json::object live = old->parsed();
    auto merged = apply_fields(kind, &live, applied, who, force);
    if (!merged) return merged.error();
    update_plan plan;
    plan.managed.emplace();
    if (const json::array* m = find_array(*merged, {"metadata", "managedFields"}))
      plan.managed = *m;
    auto updated = update_object(c, *old, std::move(*merged), std::move(plan));
    if (!updated) return updated.error();
    return object_answer(c, 200, **updated);
  }

  const merge_type* merges = kind.custom ? nullptr : merge_type_of(kind.api_version(), kind.kind);
  if (type != kMerge && type != kJson && (type != kStrategic || !merges)) {
    std::string accepted = "application/json-patch+json, application/merge-patch+json";
    if (merges) accepted += ", application/strategic-merge-patch+json";
    return failure{
        415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: " +
            accepted + ", " + std::string(kApplyYaml) + ", " + std::string(kApplyCbor)};
  }
  std::string why;
  auto patch = parse(c.in->body, &why);
  if (!patch) return bad_request("error decoding patch: " + why);
  if (!old) return not_found(kind, c.name);
  // Patches see the object in the version they are sent to.
  json::value target(from_storage(kind, old->parsed()));
  outcome<json::value> patched = bad_request("");
  if (type == kMerge) {
    if (!patch->is_object())
      return bad_request(
          "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface "
          "{}");
    patched = apply_merge_patch(std::move(target), *patch);
  } else if (type == kJson) {
    if (!patch->is_array())
      return bad_request(
          "error decoding patch: json: cannot unmarshal object into Go value of type "
          "jsonpatch.Patch");
    patched = json_patch(std::move(target), patch->get_array());
  } else {
    patched = strategic_patch(std::move(target), *patch, *merges);
  }
  if (!patched) return patched.error();
  if (too_deep(*patched)) return bad_request("the patched object is nested too deep");
  if (!patched->is_object()) return bad_request("the patched object is not an object");
  json::object o = std::move(patched->get_object());
  if (auto fine = check_body(c, o, arrival::patched); !fine) return fine.error();
  const std::string_view name = text(o, {"metadata", "name"});
  if (name != c.name) {
    return bad_request("the name of the object (" + std::string(name) +
                       ") does not match the name on the URL (" + c.name + ")");
  }
  auto updated = update_object(c, *old, to_storage(kind, std::move(o)));
  if (!updated) return updated.error();
  return object_answer(c, 200, **updated);
}

}  // namespace k8s::sim
