#pragma once

#include "k8s/client/event_kind.hpp"
#include "k8s/client/events.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
}
namespace reactor {
class loop;
}

namespace cli {

struct config_map_view;

/// The Events about policies, at home, on the ConfigMap that they come from;
/// docs/reference/events.md is made from the table.
namespace policy_event {
inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"PolicyRefused", k8s::event_severity::warning, "ConfigMap",
     "its newest content is not taken, and the policies before it stay in force; the note says "
     "why. "
     "Written again each half hour while it is so"},
    {"PolicyAccepted", k8s::event_severity::normal, "ConfigMap",
     "after a refusal: its content is in force"},
});
inline constexpr k8s::event_kind refused = k8s::event_in(table, "PolicyRefused"),
                                 accepted = k8s::event_in(table, "PolicyAccepted");
}  // namespace policy_event

/// The digest of what a ConfigMap holds, shortened, whatever else of the object changes; "none"
/// where there is no such ConfigMap.
std::string content_of(const config_map_view* m);

/// The note of PolicyRefused: `why` the content of that digest is not taken.
std::string refusal_note(std::string_view content, std::string_view why);
struct noted_refusal {
  std::string content, why;
  friend bool operator==(const noted_refusal&, const noted_refusal&) = default;
};
/// The same read back; nothing for other notes.
std::optional<noted_refusal> read_refusal_note(std::string_view note);

/// Writes Events about refusals: each reason once for a content, and again each half hour, since a
/// server keeps Events for an hour; and one Event once nothing is refused any more.
class refusal_teller {
public:
  struct state {
    k8s::object_reference about;
    std::string content;        // content_of()
    std::set<std::string> why;  // empty: nothing is refused
  };
  /// What is to be recorded about the packs of `from` ("configmap:rules"), as they are at `now`.
  std::vector<k8s::event_note> on(const std::string& from, state is, reactor::steady_time now);

private:
  struct told {
    std::string content;
    std::set<std::string> why;
    reactor::steady_time at{};
  };
  std::map<std::string, told> told_;
};
inline constexpr reactor::nanoseconds refusals_told_again = std::chrono::minutes(30);

/// What the service at work does not take of a ConfigMap, for those who only look.
struct refused_policy {
  std::string ns, config_map, why;
  std::string since;  // RFC 3339
  friend auto operator<=>(const refused_policy&, const refused_policy&) = default;
};
/// Reads them from the Events at home and leaves out those about a content that is no longer there.
/// Where the caller may not list Events of all namespaces: of `ns` alone, or none.
/// Lifetime: `home` outlives it.
reactor::awaitable<std::vector<refused_policy>> refused_policies(k8s::client& home, std::string ns);

}  // namespace cli
