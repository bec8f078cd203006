#include "k8s/sim/objects/allocation.hpp"

#include "reactor/plain/entropy.hpp"

namespace k8s::sim {

namespace {

const json::value* port_before(const json::object* before, const json::object& port) {
  const json::array* ports = before ? find_array(*before, {"spec", "ports"}) : nullptr;
  const json::value* wanted = port.if_contains("port");
  for (std::size_t i = 0; ports && wanted && i < ports->size(); ++i) {
    const json::object* old = (*ports)[i].if_object();
    const json::value* number = old ? old->if_contains("port") : nullptr;
    if (number && *number == *wanted) return old->if_contains("nodePort");
  }
  return nullptr;
}

void allocate_node_ports(const json::object* before, json::object& spec, reactor::entropy& rng) {
  json::value* ports = spec.if_contains("ports");
  if (!ports || !ports->is_array()) return;
  for (json::value& each : ports->get_array()) {
    if (!each.is_object() || each.get_object().contains("nodePort")) continue;
    const json::value* had = port_before(before, each.get_object());
    each.get_object()["nodePort"] =
        had ? *had : json::value(static_cast<std::int64_t>(rng.between(30'000, 32'767)));
  }
}

void allocate_service(const json::object* before, json::object& o, reactor::entropy& rng) {
  json::object& spec = ensure_object(o, "spec");
  const std::string type(text(spec, {"type"}));
  if (type == "ExternalName") return;
  if (text(spec, {"clusterIP"}).empty()) {
    const std::string_view had = before ? text(*before, {"spec", "clusterIP"}) : "";
    spec["clusterIP"] = had.empty() ? "10.0." + std::to_string(rng.between(0, 255)) + "." +
                                          std::to_string(rng.between(2, 254))
                                    : std::string(had);
  }
  const json::value address = spec["clusterIP"];
  set_default(spec, "clusterIPs", json::array{address});
  set_default(spec, "ipFamilies", json::array{"IPv4"});
  set_default(spec, "ipFamilyPolicy", "SingleStack");
  if (type == "NodePort" || type == "LoadBalancer") allocate_node_ports(before, spec, rng);
}

void allocate_job(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  if (flag(spec, {"manualSelector"})) return;
  const std::string uid(text(o, {"metadata", "uid"})), name(text(o, {"metadata", "name"}));
  json::object& pod = ensure_object(ensure_object(spec, "template"), "metadata");
  const json::object marks{{"batch.kubernetes.io/controller-uid", uid},
                           {"batch.kubernetes.io/job-name", name},
                           {"controller-uid", uid},
                           {"job-name", name}};
  json::object& labels = ensure_object(pod, "labels");
  for (const auto& [key, v] : marks) labels[key] = v;
  json::object match{{"batch.kubernetes.io/controller-uid", uid}};
  ensure_object(spec, "selector")["matchLabels"] = std::move(match);
  set_default(ensure_object(o, "metadata"), "labels", labels);
}

}  // namespace

void allocate(const kind_info& kind, const json::object* before, json::object& o,
              reactor::entropy& rng) {
  if (kind.custom) return;
  if (kind.kind == "Service") allocate_service(before, o, rng);
  if (kind.kind == "Job" && !before) allocate_job(o);
}

}  // namespace k8s::sim
