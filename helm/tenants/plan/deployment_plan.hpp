#pragma once

#include "helm/placed/plan/availability.hpp"
#include "helm/tenants/kinds/krypton_deployment.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// The way to a region, as far as it is known.
struct edge_facts {
  enum class state : std::uint8_t {
    ready,
    secret_missing,  // there is no such Secret: what was there cannot be reached again
    invalid,         // its kubeconfig cannot be used
    not_granted,     // the object may not use it
    down,            // the cluster does not answer
  };
  state is = state::ready;
  std::string problem;
  friend bool operator==(const edge_facts&, const edge_facts&) = default;
};

/// A region that we put the release into before.
struct former_region {
  k8s::object_key target;
  edge_facts edge;
  friend bool operator==(const former_region&, const former_region&) = default;
};

/// Copies of everything that decides about one KryptonDeployment, as it was when its turn came.
struct deployment_world
    : placement_facts {  // wanted.values: {replicaCount: 1} and the central ones over it
  std::optional<krypton_deployment> object;
  edge_facts edge;                        // of the target
  bool was_there = false;                 // we put the release there
  std::vector<std::string> missing;       // objects of the release that are gone
  std::string check_problem;              // why that is not known
  std::optional<availability> workloads;  // none: not looked at yet
  std::vector<former_region> former;
  nanoseconds check_interval = std::chrono::seconds(60);
  // Of this process:
  std::string account_told;             // for which AccountValidated was told
  k8s::object_key routing_told;         // for which Routing was told
  reactor::wall_time cleaning_since{};  // when cleaning up began to fail
};

/// What the condition Ready and the phase say next; nothing of them changes without it.
struct deployment_verdict {
  std::string_view phase;   // "Ready", "Pending", "Error"
  std::string_view reason;  // a row of deployment_conditions
  std::string message;
  friend bool operator==(const deployment_verdict&, const deployment_verdict&) = default;
};

struct deployment_plan : placement_plan {
  k8s::object_key target;  // the Secret that leads to the region
  std::optional<deployment_verdict> is;
  std::optional<k8s::object_key> leaving;  // of leave_former_region
  std::optional<units::hold> braked;       // why nothing begins
  friend bool operator==(const deployment_plan&, const deployment_plan&) = default;
};

/// Pure: the same world gives the same plan.
/// Source  the contract on tenants, section 15.
deployment_plan plan_deployment(const deployment_world& w);

/// The status to write after a pass; equal to the present one when nothing changed.
tenant_status status_after(const krypton_deployment& now_is, const deployment_verdict& is,
                           const std::string& applied_chart, reactor::wall_time now);

/// What came out of an operation, of making the namespace, or of looking at the region.
deployment_verdict failed_deployment(std::string_view why);
deployment_verdict failed_namespace(std::string_view why);
deployment_verdict unreadable_region(std::string_view why);

/// What the service at work says of it by its status, as a plan to show; none where it has said
/// nothing yet.
std::optional<deployment_plan> plan_said_by(const krypton_deployment& d);

/// Why it waits; none while it is as wanted. The unit is filled in by the caller.
std::optional<units::hold> hold_of(const krypton_deployment& d, const deployment_plan& p);

inline constexpr nanoseconds deployment_timeout = 300s, abandon_after = 600s;

}  // namespace helm::tenants
