#include "simulation/beginnings.hpp"

#include "k8s/sim/objects/json.hpp"

#include <boost/json.hpp>

namespace simulation {
namespace {

namespace json = boost::json;
using k8s::sim::write_type;

constexpr std::string_view eviction = "/eviction";

std::string_view text_at(const json::object* o, std::initializer_list<std::string_view> path) {
  return o ? k8s::sim::text(*o, path) : std::string_view();
}

bool has_slot(const json::object* o) {
  const json::object* all = o ? k8s::sim::find_object(*o, {"metadata", "annotations"}) : nullptr;
  return all && all->contains("bootc.dev/in-reboot-slot");
}

bool is_told_to_boot(const json::object* o) {
  return text_at(o, {"spec", "desiredImageState"}) == "Booted";
}

/// What the object asks for, without what is reported of it.
json::object asked(const json::object& o) {
  json::object out;
  for (const std::string_view part : {"spec", "data"})
    if (const json::value* v = o.if_contains(part)) out[part] = *v;
  return out;
}

bool is_release_record(const json::object* o) {
  return text_at(o, {"type"}) == "helm.sh/release.v1" ||
         text_at(o, {"metadata", "labels", "owner"}) == "helm";
}

bool is_composed(std::string_view plural) {
  static const std::set<std::string_view> all = {"deployments", "services", "configmaps",
                                                 "persistentvolumeclaims", "secrets"};
  return all.contains(plural);
}

/// A pack's objects, by the owner that all of them have.
bool is_of_a_pack(const json::object* o) {
  return o && k8s::sim::find_array(*o, {"metadata", "ownerReferences"});
}

}  // namespace

void beginnings::acted(const std::string& cluster, const k8s::sim::written& w,
                       std::string_view what) {
  began(cluster, cluster + "/" + std::string(w.plural) + "/" + std::string(w.name) + " " +
                     std::string(what));
}

void beginnings::saw(const std::string& cluster, const k8s::sim::written& w) {
  if (w.plural == "bootcnodes" && !has_slot(w.after)) drains_.erase({cluster, std::string(w.name)});
  if (w.plural == "bootcnodes") return saw_bootc_node(cluster, w);
  if (w.plural == "bootcnodepools" && w.before && w.after &&
      !text_at(w.after, {"metadata", "annotations", "windlass.dev/release"}).empty() &&
      text_at(w.after, {"spec", "image", "ref"}) != text_at(w.before, {"spec", "image", "ref"}))
    return acted(cluster, w, "gets the image of its Release");
  // That of the pull secrets is made by the trial.
  if (w.plural == "namespaces" && w.type == write_type::added && w.name != "bootc-operator")
    return acted(cluster, w, "is made");
  if (w.plural == "secrets" && is_release_record(w.after)) {
    if (w.type == write_type::added) acted(cluster, w, "is recorded");
    return;
  }
  if (w.plural == "tenants" && w.before && w.after) {
    const auto finalizers = [](const json::object& o) {
      const json::array* all = k8s::sim::find_array(o, {"metadata", "finalizers"});
      return all ? *all : json::array();
    };
    if (finalizers(*w.before) != finalizers(*w.after)) acted(cluster, w, "has other finalizers");
    return;
  }
  if (!is_composed(w.plural) || !is_of_a_pack(w.after)) return;
  if (w.type == write_type::added) return acted(cluster, w, "is made");
  if (w.type == write_type::deleted) return acted(cluster, w, "is deleted");
  if (asked(*w.before) != asked(*w.after)) acted(cluster, w, "is changed");
}

void beginnings::saw_bootc_node(const std::string& cluster, const k8s::sim::written& w) {
  if (w.type == write_type::added) return acted(cluster, w, "is made");
  if (w.type == write_type::deleted) return acted(cluster, w, "is deleted");
  if (has_slot(w.after) && !has_slot(w.before)) acted(cluster, w, "takes a slot");
  if (is_told_to_boot(w.after) && !is_told_to_boot(w.before)) acted(cluster, w, "is told to boot");
  if (text_at(w.after, {"spec", "desiredImage"}) != text_at(w.before, {"spec", "desiredImage"}))
    acted(cluster, w, "gets another image");
}

void beginnings::saw_request(const std::string& cluster, const k8s::sim::request& r,
                             const k8s::sim::api_server& server) {
  if (r.method != "POST" || !r.path.ends_with(eviction)) return;
  const std::string pod = r.path.substr(0, r.path.size() - eviction.size());
  const std::string name = pod.substr(pod.rfind('/') + 1);
  for (const json::object& one : server.list("", "pods")) {
    if (k8s::sim::text(one, {"metadata", "name"}) != name) continue;
    const std::string node(k8s::sim::text(one, {"spec", "nodeName"}));
    if (drains_.emplace(cluster, node).second)
      began(cluster, cluster + "/nodes/" + node + " is drained");
    return;
  }
}

}  // namespace simulation
