#include "fleetwide/kinds/fleet_pool.hpp"

#include "fleetwide/kinds/names.hpp"

namespace fleetwide {
namespace {

/// Of a template, what is written to members; without a name, which is the object's own.
std::string template_of(k8s::wire_value labels, k8s::wire_value annotations, k8s::wire_value spec) {
  std::string out = "{\"metadata\":{";
  if (labels.present()) out += "\"labels\":" + labels.json();
  if (annotations.present())
    out += std::string(labels.present() ? "," : "") + "\"annotations\":" + annotations.json();
  return out + "},\"spec\":" + (spec.present() ? spec.json() : std::string("{}")) + "}";
}

}  // namespace

const k8s::resource& fleet_pools() {
  static const k8s::resource r{std::string(names::group), std::string(names::version), "fleetpools",
                               "FleetPool", true};
  return r;
}

fleet_pool fleet_pool::parse(k8s::wire_value object) {
  fleet_pool out;
  out.kind = names::fleet_pool;
  const auto [made, image, removal] = object["spec"].fields("template", "image", "removal");
  const auto [metadata, spec] = made.fields("metadata", "spec");
  const auto [name, labels, annotations] = metadata.fields("name", "labels", "annotations");
  made.refuse_duplicates();
  out.template_json = template_of(labels, annotations, spec);
  const auto [ref, updates] = image.fields("ref", "updates");
  out.ref = ref.text();
  out.follows_tag = updates.text() != "Manual";
  out.removes = removal.text() == "Delete";
  if (out.ref.empty()) note_problem(out, "spec.image.ref is empty");
  if (spec["image"].present())
    note_problem(
        out, "spec.template.spec.image stands in image.ref of the FleetPool, not in its template");
  if (!spec["nodeSelector"].present())
    note_problem(out, "spec.template.spec.nodeSelector is missing");
  if (out.template_json.size() > most_template_bytes)
    note_problem(out, "spec.template has " + std::to_string(out.template_json.size()) + " bytes, " +
                          std::to_string(most_template_bytes) + " are allowed");
  read_common(out, object);
  out.claim = name.present() ? std::string(name.text()) : out.meta.name.str();
  annotations.members([&](std::string_view key, k8s::wire_value) {
    if (key.starts_with("windlass.dev/fleet-"))
      note_problem(
          out, "spec.template.metadata.annotations has " + std::string(key) + ", which is ours");
  });
  return out;
}

}  // namespace fleetwide
