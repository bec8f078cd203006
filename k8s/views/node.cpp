#include "k8s/views/node.hpp"

#include <vector>

namespace k8s {
namespace {
constexpr std::size_t most_troubles = 16;
}

std::string_view name_of(condition_status s) noexcept {
  switch (s) {
    case condition_status::yes: return "True";
    case condition_status::no: return "False";
    case condition_status::unknown: break;
  }
  return "Unknown";
}

condition_status parse_condition_status(std::string_view text) noexcept {
  if (text == "True") return condition_status::yes;
  if (text == "False") return condition_status::no;
  return condition_status::unknown;
}

node node::parse(wire_value object) {
  node n;
  n.meta = parse_meta(object, all_annotations);
  object["metadata"]["ownerReferences"].elements([&](wire_value owner) {
    if (owner["apiVersion"].text() == "karpenter.sh/v1" && owner["kind"].text() == "NodeClaim")
      n.of_node_claim = true;
  });
  const wire_value spec = object["spec"];
  n.unschedulable = spec["unschedulable"].boolean();
  std::vector<taint> taints;
  spec["taints"].elements([&](wire_value t) {
    taints.push_back({t["key"].text(), t["value"].text(), t["effect"].text()});
  });
  n.taints = shared_array<taint>(taints);
  const wire_value status = object["status"];
  std::vector<interned> troubles;
  status["conditions"].elements([&](wire_value condition) {
    const auto [type, value] = condition.fields("type", "status");
    const auto is = type.text();
    if (is != "Ready") {
      if (value.text() == "True" && troubles.size() < most_troubles) troubles.emplace_back(is);
      return;
    }
    n.ready = parse_condition_status(value.text());
  });
  n.troubles = shared_array<interned>(troubles);
  const wire_value info = status["nodeInfo"];
  const auto [boot_id, os_image, kubelet, kube_proxy] =
      info.fields("bootID", "osImage", "kubeletVersion", "kubeProxyVersion");
  n.boot_id = boot_id.text();
  n.os_image = os_image.text();
  n.kubelet_version = kubelet.text();
  n.kube_proxy_version = kube_proxy.text();
  return n;
}

}  // namespace k8s
