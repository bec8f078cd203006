#pragma once

#include "helm/placed/plan/drift.hpp"
#include "helm/placed/plan/plan.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/tenant_status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// Copies of everything that decides about one Tenant on one cluster, as it was when its turn came.
struct tenant_world : placement_facts {
  std::optional<tenant> object;  // none: it is gone
  std::string cluster;           // the name of this connection
  /// Of several names for this API server (same kube-system UID), this one among them, and which of
  /// them is the primary.
  std::vector<std::string> names_here;
  std::string primary;
  drift_findings drift;  // of the last check of a release that is as wanted
  drift_mode on_drift = drift_mode::report;
  chart_skip skip = chart_skip::forbidden;
  std::optional<units::hold> held;  // why a changed state is not let in yet
  // Of this process:
  std::optional<std::int64_t> skip_told;  // the generation for which HelmSkip was told last
  std::string drift_told;                 // what DriftDetected was told of last
  bool mismatch_told = false;
};

struct tenant_plan : placement_plan {
  std::optional<transition> is;     // for the conditions, where it says something already
  std::string message;              // of these
  std::string applied_chart;        // of the status: what is installed, where that is certain
  std::optional<units::hold> hold;  // why it waits; none = it does not
  /// For `windlass plan`: "install", "upgrade", "uninstall", "skip", "held" or "none" as table 7.7
  /// has them, and from what. Of a step on the way there (finalizer, namespace) what comes behind
  /// it, and what it will wait for then.
  std::string_view action = "none";
  std::string from;
  std::optional<units::hold> then_held;
  /// Why it waits, or will; null: it does not.
  const units::hold* waits() const noexcept {
    return hold ? &*hold : then_held ? &*then_held : nullptr;
  }
  friend bool operator==(const tenant_plan&, const tenant_plan&) = default;
};

/// Pure: the same world gives the same plan.
/// Source  the contract on tenants, section 7, in its order.
tenant_plan plan_tenant(const tenant_world& w);

/// Whether the original operator installed what the object has on the cluster and no process of
/// ours has looked at it since: it notes a fingerprint and never says status.lastAppliedChart.
bool is_of_the_original(const tenant& t, std::string_view cluster);

/// Whether this connection is the one that takes care of the object (7.1 and 3.7).
enum class concern : std::uint8_t { ours, of_another_cluster, of_another_name };
concern concern_of(const tenant& t, const tenant_world& w);

}  // namespace helm::tenants
