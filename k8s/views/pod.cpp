#include "k8s/views/pod.hpp"

namespace k8s {

std::string_view name_of(pod_phase p) noexcept {
  switch (p) {
    case pod_phase::pending: return "Pending";
    case pod_phase::running: return "Running";
    case pod_phase::succeeded: return "Succeeded";
    case pod_phase::failed: return "Failed";
    case pod_phase::unknown: break;
  }
  return "Unknown";
}

static pod_phase parse_phase(std::string_view text) {
  for (const pod_phase p :
       {pod_phase::running, pod_phase::pending, pod_phase::succeeded, pod_phase::failed})
    if (text == name_of(p)) return p;
  return pod_phase::unknown;
}

pod pod::parse(wire_value object) {
  pod p;
  p.meta = parse_meta(object);
  p.mirror = object["metadata"]["annotations"]["kubernetes.io/config.mirror"].present();
  const wire_value spec = object["spec"];
  p.node = spec["nodeName"].text();
  spec["volumes"].elements([&](wire_value volume) {
    if (volume["emptyDir"].present()) p.empty_dir = true;
  });
  const wire_value status = object["status"];
  p.phase = parse_phase(status["phase"].text());
  status["conditions"].elements([&](wire_value condition) {
    if (condition["type"].text() == "Ready") p.ready = condition["status"].text() == "True";
  });
  return p;
}

}  // namespace k8s
