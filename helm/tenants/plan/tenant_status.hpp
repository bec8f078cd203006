#pragma once

#include "helm/placed/plan/message.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "k8s/client/event_kind.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace helm::tenants {

/// What came to pass with a Tenant on one cluster. Each has its conditions, its Event and its line
/// of the log, in one table.
enum class transition : std::uint8_t {
  installing,
  upgrading,
  installed,
  upgraded,
  no_change,
  drifted,
  install_failed,
  upgrade_failed,
  uninstall_failed,
  namespace_failed,
  namespace_conflict,
  namespace_reserved,
  namespace_terminating,
  deleting,
  chart_not_loaded,
  version_not_found,
  version_invalid,
  held,
  waiting,  // nothing new but what is planned
};
inline constexpr auto every_transition = std::to_array<transition>({
    transition::installing,
    transition::upgrading,
    transition::installed,
    transition::upgraded,
    transition::no_change,
    transition::drifted,
    transition::install_failed,
    transition::upgrade_failed,
    transition::uninstall_failed,
    transition::namespace_failed,
    transition::namespace_conflict,
    transition::namespace_reserved,
    transition::namespace_terminating,
    transition::deleting,
    transition::chart_not_loaded,
    transition::version_not_found,
    transition::version_invalid,
    transition::held,
    transition::waiting,
});

/// What it does to one of the three conditions: nothing, or a status with a reason. `mend` turns
/// one that is True to False and makes none.
struct condition_turn {
  enum class to : std::uint8_t { leave, true_, false_, mend };
  to status = to::leave;
  std::string_view reason = {};
};
struct transition_kind {
  transition what;
  condition_turn ready, error, progress;
  const k8s::event_kind* event = nullptr;  // null: none
  std::string_view log_line = {};          // empty: none
};
const transition_kind& kind_of(transition what) noexcept;

/// "Error" if an error is True (where a missing chart is allowed, one that is fatal), else "Ready"
/// if a cluster is, else "Pending": over all conditions, of other clusters too.
std::string_view phase_of(const std::vector<k8s::condition>& all, chart_skip skip) noexcept;
/// The message of the condition that the phase comes from.
std::string message_of(const std::vector<k8s::condition>& all, chart_skip skip);

/// What one pass has to tell of a Tenant on `cluster`.
struct status_change {
  std::string_view cluster;
  transition what;
  std::string message;        // of the conditions that change; made safe here
  std::string applied_chart;  // "<repo>/<name>:<version>" where it is installed, else empty
  chart_skip skip = chart_skip::forbidden;
  std::optional<k8s::condition> plan = {};  // of published(); none: what was said before stays
  /// Whether a Secret of that name is still there: conditions of others are dropped. Empty: all
  /// are.
  std::function<bool(std::string_view cluster)> known = {};
};
/// The status to write; equal to the present one when nothing changed. Setting the same again
/// yields the same.
tenant_status status_after(const tenant& now_is, const status_change& turn, reactor::wall_time now);

/// After a conflict: the status that is there now, with this cluster's three conditions of ours in
/// it.
tenant_status remerged(const tenant_status& theirs, const tenant_status& ours,
                       std::string_view cluster, chart_skip skip);

/// Whether PhaseSet is to be told.
inline bool phase_changed(const tenant_status& before, const tenant_status& after) {
  return before.phase != after.phase;
}

}  // namespace helm::tenants
