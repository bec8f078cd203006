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
enum class happening : std::uint8_t {
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
inline constexpr auto every_happening = std::to_array<happening>({
    happening::installing,
    happening::upgrading,
    happening::installed,
    happening::upgraded,
    happening::no_change,
    happening::drifted,
    happening::install_failed,
    happening::upgrade_failed,
    happening::uninstall_failed,
    happening::namespace_failed,
    happening::namespace_conflict,
    happening::namespace_reserved,
    happening::namespace_terminating,
    happening::deleting,
    happening::chart_not_loaded,
    happening::version_not_found,
    happening::version_invalid,
    happening::held,
    happening::waiting,
});

/// What it does to one of the three conditions: nothing, or a status with a reason. `mend` turns
/// one that is True to False and makes none.
struct condition_turn {
  enum class to : std::uint8_t { leave, true_, false_, mend };
  to status = to::leave;
  std::string_view reason = {};
};
struct happening_kind {
  happening what;
  condition_turn ready, error, progress;
  const k8s::event_kind* event = nullptr;  // null: none
  std::string_view log_line = {};          // empty: none
};
const happening_kind& kind_of(happening what) noexcept;

/// "Error" if an error is True (where a missing chart is allowed, one that is fatal), else "Ready"
/// if a cluster is, else "Pending": over all conditions, of other clusters too.
std::string_view phase_of(const std::vector<k8s::condition>& all, chart_skip skip) noexcept;
/// The message of the condition that the phase comes from.
std::string message_of(const std::vector<k8s::condition>& all, chart_skip skip);

/// What one pass has to tell of a Tenant on `cluster`.
struct turn_of_events {
  std::string_view cluster;
  happening what;
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
tenant_status status_after(const tenant& now_is, const turn_of_events& turn,
                           reactor::wall_time now);

/// After a conflict: the status that is there now, with this cluster's three conditions of ours in
/// it.
tenant_status remerged(const tenant_status& theirs, const tenant_status& ours,
                       std::string_view cluster, chart_skip skip);

/// Whether PhaseSet is to be told.
inline bool phase_changed(const tenant_status& before, const tenant_status& after) {
  return before.phase != after.phase;
}

}  // namespace helm::tenants
