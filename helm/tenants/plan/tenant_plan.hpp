#pragma once

#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/drift.hpp"
#include "helm/tenants/plan/release_facts.hpp"
#include "helm/tenants/plan/retries.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "helm/tenants/plan/workspace.hpp"
#include "k8s/client/event_kind.hpp"
#include "app/api/hold.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// What shall be on every cluster, or, where versions.resolve answers, what this Tenant shall have
/// on this one.
struct desired_release {
  chart_coordinates chart;
  std::string fingerprint;
  std::string values;           // values_digest()
  std::string version_problem;  // of chart_version; empty = none
  friend bool operator==(const desired_release&, const desired_release&) = default;
};

/// What is known of the chart by now. It is asked for only by a plan that needs it, and a failure
/// counts while it is waited after it (`retry_in`).
struct chart_facts {
  enum class state : std::uint8_t { unasked, loading, loaded, not_loaded, version_not_found };
  state is = state::unasked;
  std::string problem;
  friend bool operator==(const chart_facts&, const chart_facts&) = default;
};

/// What is being done to the release by this process.
enum class operation : std::uint8_t { none, install, upgrade, uninstall };

/// Copies of everything that decides about one Tenant on one cluster, as it was when its turn came.
struct tenant_world {
  std::optional<tenant> object;  // none: it is gone
  std::string cluster;           // the name of this connection
  /// Of several names for this API server (same kube-system UID), this one among them, and which of
  /// them is the primary.
  std::vector<std::string> names_here;
  std::string primary;
  std::string discovery_ns;
  reserved_namespaces reserved;
  desired_release wanted;
  workspace_facts workspace;
  std::vector<claimant> others;  // further claimants of the namespace, this object not among them
  std::optional<release_facts> release;
  std::optional<reactor::wall_time> pending_seen;  // when it was first seen pending by this process
  chart_facts chart;
  drift_findings drift;  // of the last check of a release that is as it shall be
  drift_mode on_drift = drift_mode::report;
  chart_skip skip = chart_skip::forbidden;
  std::optional<units::hold> held;  // why a changed state is not let in yet
  attempt_key attempt;     // what a step of the plan is an attempt at; a failure counts for it
  nanoseconds retry_in{};  // how long `attempt` still has to wait after a failure
  operation running = operation::none;
  // Of this process:
  std::string applied;  // the fingerprint that was installed and could not be noted on the object
  std::optional<std::int64_t> skip_told;  // the generation for which HelmSkip was told last
  std::string drift_told;                 // what DriftDetected was told of last
  bool mismatch_told = false;
  reactor::wall_time deleting_namespace_since{};  // when its deletion was asked for
  reactor::wall_time now{};
};

/// The next step; one for each pass, so that a process that dies between two has lost nothing.
enum class step : std::uint8_t {
  none,  // nothing to do, or nothing that may be done now
  add_finalizer,
  create_namespace,
  load_chart,
  install,
  upgrade,
  recover,           // mark the pending release as failed
  finish_uninstall,  // what somebody else began
  note_fingerprint,  // only the annotation is missing
  // cleaning up
  mark_deleting,
  stop_operation,
  uninstall,
  delete_namespace,
  remove_finalizer,
};
std::string_view name_of(step s) noexcept;

/// An Event to tell.
struct told {
  k8s::event_kind what;
  std::string note;
  friend bool operator==(const told& a, const told& b) {
    return a.what.reason == b.what.reason && a.note == b.note;
  }
};

struct tenant_plan {
  step next = step::none;
  std::string release, workspace;
  std::string reason;               // one sentence for people
  std::optional<happening> is;      // for the conditions, where it says something already
  std::string message;              // of these
  std::string applied_chart;        // of the status: what is installed, where that is certain
  std::optional<units::hold> hold;  // why it waits; none = it does not
  std::vector<told> events;
  std::optional<nanoseconds> again_in;  // look again even if nothing changes
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

/// Whether the original operator installed what the object has on the cluster and nobody of ours
/// has looked at it since: it notes a fingerprint and never says status.lastAppliedChart.
bool is_of_the_original(const tenant& t, std::string_view cluster);

/// Whether this connection is the one that takes care of the object (7.1 and 3.7).
enum class concern : std::uint8_t { ours, of_another_cluster, of_another_name };
concern concern_of(const tenant& t, const tenant_world& w);

}  // namespace helm::tenants
