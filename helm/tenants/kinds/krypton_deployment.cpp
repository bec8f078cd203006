#include "helm/tenants/kinds/krypton_deployment.hpp"

#include "helm/tenants/kinds/names.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

const k8s::annotation_filter annotations_of_a_deployment{false,
                                                         {"mesh.openkcm.io/", "windlass.dev/"}};

/// Whether a text such as "a, b" or "*" names it.
bool is_among(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == "*" || one == name) return true;
  }
  return false;
}

}  // namespace

const k8s::resource& krypton_deployment_resource() {
  static const k8s::resource r{std::string(names::group), std::string(names::version),
                               "kryptondeployments", std::string(names::deployment_kind), true};
  return r;
}

krypton_deployment krypton_deployment::parse(k8s::wire_value object) {
  krypton_deployment out;
  out.meta = k8s::parse_meta(object, annotations_of_a_deployment);
  std::string ignored;
  const std::string created =
      text_at(object["metadata"], "creationTimestamp", "metadata.creationTimestamp", ignored);
  if (auto at = reactor::parse_rfc3339(created)) out.created = *at;
  const auto spec = object_at(object, "spec", "spec", out.problem);
  const auto account = object_at(spec, "account", "spec.account", out.problem);
  out.account = text_at(account, "name", "spec.account.name", out.problem);
  const auto region = object_at(spec, "region", "spec.region", out.problem);
  out.region = text_at(region, "name", "spec.region.name", out.problem);
  const auto kubeconfig = object_at(region, "kubeconfig", "spec.region.kubeconfig", out.problem);
  const auto secret = object_at(kubeconfig, "secret", "spec.region.kubeconfig.secret", out.problem);
  out.secret_name = text_at(secret, "name", "spec.region.kubeconfig.secret.name", out.problem);
  out.secret_ns =
      text_at(secret, "namespace", "spec.region.kubeconfig.secret.namespace", out.problem);
  out.deprecated_secret =
      text_at(region, "kubeconfigSecretName", "spec.region.kubeconfigSecretName", out.problem);
  out.status = parse_tenant_status(object["status"]);
  return out;
}

std::size_t krypton_deployment::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + account.capacity() + region.capacity() +
                      secret_name.capacity() + secret_ns.capacity() + deprecated_secret.capacity() +
                      problem.capacity() + status.last_message.capacity() +
                      status.last_applied_chart.capacity() +
                      status.conditions.capacity() * sizeof(k8s::condition);
  for (const k8s::condition& c : status.conditions)
    total += c.type.capacity() + c.reason.capacity() + c.message.capacity() +
             c.last_transition_time.capacity();
  return total;
}

std::string phase_in(const krypton_deployment& d) {
  return d.status.phase.empty() ? "Pending" : d.status.phase;
}

bool wakes(const krypton_deployment& before, const krypton_deployment& after) {
  return before.meta.uid != after.meta.uid || before.meta.generation != after.meta.generation ||
         before.meta.deletion_timestamp != after.meta.deletion_timestamp ||
         before.meta.annotations != after.meta.annotations ||
         before.meta.finalizers != after.meta.finalizers || before.problem != after.problem;
}

k8s::object_key target_of(const krypton_deployment& d, std::string_view discovery_ns) {
  const std::string where(discovery_ns);
  if (!d.secret_name.empty()) return {d.secret_ns.empty() ? where : d.secret_ns, d.secret_name};
  if (!d.deprecated_secret.empty()) return {where, d.deprecated_secret};
  if (!d.region.empty()) return {where, d.region + "-kubeconfig"};
  return {};
}

std::string region_rules::problem_with(const k8s::object_key& secret) const {
  if (secret.ns == discovery_ns) return {};
  for (const std::string& ns : secret_namespaces)
    if (ns == "*" || ns == secret.ns) return {};
  return "Secrets of namespace " + secret.ns +
         " lead to no region, for the chart's values would go there: the operator allows it with "
         "--region-secret-namespaces";
}

std::string region_rules::problem_with(const k8s::object_key& secret, std::string_view granted,
                                       std::string_view object_ns) const {
  if (std::string why = problem_with(secret); !why.empty()) return why;
  if (secret.ns == object_ns || is_among(granted, object_ns)) return {};
  if (secret.ns == discovery_ns && granted.empty()) return {};
  return "it is not for objects of namespace " + std::string(object_ns) + ": its annotation " +
         std::string(names::region_for) + " does not name it";
}

std::string noted_name(const k8s::object_key& target) {
  return names::deployment_fingerprint_annotation(target.ns, target.name)
      .substr(names::fingerprint_prefix.size());
}

std::vector<std::string> noted_targets(const krypton_deployment& d) {
  std::vector<std::string> out;
  for (const auto& [key, value] : d.meta.annotations)
    if (key.view().starts_with(names::fingerprint_prefix))
      out.emplace_back(key.view().substr(names::fingerprint_prefix.size()));
  return out;
}

}  // namespace helm::tenants
