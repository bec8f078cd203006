#pragma once

#include "helm/tenants/kinds/tenant.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/client/wire.hpp"
#include "k8s/informer/meta.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

const k8s::resource& krypton_deployment_resource();

/// KryptonDeployment: at home; one chart on the region cluster that it names.
struct krypton_deployment {
  k8s::object_meta meta;  // with the annotations below mesh.openkcm.io and windlass.dev
  reactor::wall_time created{};
  std::string account;                 // spec.account.name
  std::string region;                  // spec.region.name
  std::string secret_name, secret_ns;  // spec.region.kubeconfig.secret
  std::string deprecated_secret;       // spec.region.kubeconfigSecretName
  std::string problem;                 // as of a tenant
  tenant_status status;

  static krypton_deployment parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const krypton_deployment&, const krypton_deployment&) = default;
};

/// "Pending" where no status was written yet.
std::string phase_in(const krypton_deployment& d);

/// Whether a change is one to act upon: a change of status alone never is.
bool wakes(const krypton_deployment& before, const krypton_deployment& after);

/// The Secret that leads to the region: the one that is named, else the deprecated field's, else
/// "<region>-kubeconfig", the latter two where discovery looks. Empty when nothing names one.
k8s::object_key target_of(const krypton_deployment& d, std::string_view discovery_ns);

/// Which Secrets may lead a KryptonDeployment to its region. Chart and values are the operator's,
/// so they go nowhere but where he leads: by Secrets of the fleet's namespace, and of those that
/// --region-secret-namespaces names. There a Secret is for objects of its own namespace, and for
/// others as its annotation names::region_for says; a Secret of the fleet's namespace without that
/// annotation is for all.
struct region_rules {
  std::string discovery_ns;
  std::vector<std::string> secret_namespaces;  // "*" among them: all
  /// Why no object may use a Secret there; empty: some may.
  std::string problem_with(const k8s::object_key& secret) const;
  /// Why an object of that namespace may not use the Secret; empty: it may. `granted` is its
  /// annotation, or empty.
  std::string problem_with(const k8s::object_key& secret, std::string_view granted,
                           std::string_view object_ns) const;
};

/// "default.eu-kubeconfig" of each fingerprint that the object carries, in order.
std::vector<std::string> noted_targets(const krypton_deployment& d);
/// The part of the annotation's key that a target has there, cut as long names are.
std::string noted_name(const k8s::object_key& target);

}  // namespace helm::tenants
