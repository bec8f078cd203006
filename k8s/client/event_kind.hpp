#pragma once

#include <array>
#include <span>
#include <string_view>

namespace k8s {

enum class event_severity { normal, warning };

/// One reason under which Events are written, as the reference (docs/reference/events.md) tells of
/// it. Who writes an Event names a row of a table: see tell_of().
struct event_kind {
  std::string_view reason;  // "ClusterEngaged"
  event_severity type = event_severity::normal;
  std::string_view about;  // the kind of the object: "Secret"
  std::string_view meaning;
};

/// The row of that reason. One that the table does not have does not compile.
consteval event_kind event_in(std::span<const event_kind> table, std::string_view reason) {
  for (const event_kind& e : table)
    if (e.reason == reason) return e;
  throw "no such event";
}

/// Of the fleet, at home, on the Secret that a cluster's kubeconfig is in.
namespace fleet_event {
inline constexpr auto table = std::to_array<event_kind>({
    {"ClusterEngaged", event_severity::normal, "Secret",
     "the cluster answered and its views are complete"},
    {"ClusterReconnected", event_severity::normal, "Secret", "the kubeconfig changed"},
    {"ClusterRecovered", event_severity::normal, "Secret", "the server answers again"},
    {"ClusterUnreachable", event_severity::warning, "Secret",
     "the server does not answer, or refuses; the note says which and why"},
    {"ClusterDisengaged", event_severity::normal, "Secret",
     "the Secret is gone or lost its label"},
    {"KubeconfigInvalid", event_severity::warning, "Secret",
     "the kubeconfig cannot be used; the note names the field and its line"},
    {"TokenNotRenewed", event_severity::warning, "Secret",
     "the token of a member that `cluster add` made could not be renewed; the note says why"},
    {"ClusterUIDClaimed", event_severity::warning, "Secret",
     "another cluster says that it has this one's UID and has not proven it: each is acted upon "
     "for itself. The note names the other"},
});
inline constexpr event_kind engaged = event_in(table, "ClusterEngaged"),
                            reconnected = event_in(table, "ClusterReconnected"),
                            recovered = event_in(table, "ClusterRecovered"),
                            unreachable = event_in(table, "ClusterUnreachable"),
                            disengaged = event_in(table, "ClusterDisengaged"),
                            kubeconfig_invalid = event_in(table, "KubeconfigInvalid"),
                            token_not_renewed = event_in(table, "TokenNotRenewed"),
                            uid_claimed = event_in(table, "ClusterUIDClaimed");
}  // namespace fleet_event

}  // namespace k8s
