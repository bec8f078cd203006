#include "simulation/beginnings.hpp"

#include "k8s/sim/objects/json.hpp"

#include <boost/json.hpp>

namespace simulation {
namespace {

namespace json = boost::json;
using k8s::sim::write_type;

constexpr std::string_view eviction = "/eviction", fleet_notes = "windlass-fleet";

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
  if (w.plural == "bootcnodepools") return saw_pool(cluster, w);
  // That of the pull secrets is made by the trial.
  if (w.plural == "namespaces" && w.type == write_type::added && w.name != "bootc-operator")
    return acted(cluster, w, "is made");
  if (w.plural == "secrets" && is_release_record(w.after)) return saw_record(cluster, w);
  if (w.plural == "configmaps" && w.name == fleet_notes) return saw_fleet_notes(cluster, w);
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

void beginnings::saw_pool(const std::string& cluster, const k8s::sim::written& w) {
  const auto from_home = [](const json::object* o) {
    return text_at(o, {"metadata", "annotations", "windlass.dev/fleet-object"});
  };
  const auto image = [](const json::object* o) { return text_at(o, {"spec", "image", "ref"}); };
  const bool was = !from_home(w.before).empty(), is = !from_home(w.after).empty();
  if (w.type == write_type::deleted) {
    if (was) acted(cluster, w, "is deleted");
    return;
  }
  if (!w.before) {
    if (is) acted(cluster, w, "is made as a FleetPool says");
    return;
  }
  if (was && !is) return acted(cluster, w, "is let go by its FleetPool");
  if (is && (!was || asked(*w.before) != asked(*w.after)))
    return acted(cluster, w, "is changed as its FleetPool says");
  if (!text_at(w.after, {"metadata", "annotations", "windlass.dev/release"}).empty() &&
      image(w.after) != image(w.before))
    acted(cluster, w, "gets the image of its Release");
}

void beginnings::saw_record(const std::string& cluster, const k8s::sim::written& w) {
  const auto leaves = [](const json::object* o) {
    return text_at(o, {"metadata", "labels", "status"}) == "uninstalling";
  };
  if (w.type == write_type::added) return acted(cluster, w, "is recorded");
  if (leaves(w.after) && !leaves(w.before)) acted(cluster, w, "is uninstalled");
}

/// A key of the ConfigMap is a release, its text a JSON object that says what became of it.
void beginnings::saw_fleet_notes(const std::string& cluster, const k8s::sim::written& w) {
  const auto noted = [](const json::object* o, std::string_view key) {
    const json::object* data = o ? k8s::sim::find_object(*o, {"data"}) : nullptr;
    const json::value* text = data ? data->if_contains(key) : nullptr;
    boost::system::error_code wrong;
    json::value note;
    if (text && text->is_string()) note = json::parse(text->get_string(), wrong);
    return note.is_object() ? std::move(note.get_object()) : json::object();
  };
  const json::object* now = w.after ? k8s::sim::find_object(*w.after, {"data"}) : nullptr;
  if (!now) return;
  for (const auto& entry : *now) {
    const json::object before = noted(w.before, entry.key()), after = noted(w.after, entry.key());
    const auto same = [&](std::string_view field) {
      return text_at(&before, {field}) == text_at(&after, {field});
    };
    if (text_at(&after, {"state"}) != "begun" ||
        (same("state") && same("object") && same("content")))
      continue;
    acted(cluster, w, std::string(entry.key()) + " is begun");
  }
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
