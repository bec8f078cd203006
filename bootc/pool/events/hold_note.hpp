#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "bootc/pool/hold.hpp"
#include "k8s/client/events.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace bootc {

/// Annotations on the BootcNode: why its node waits, for everybody who has no planner
/// (`kubectl get bn -o wide`) or not the drains of the one that acts (`windlass explain`). Others
/// may ignore them.
namespace names {
inline constexpr std::string_view hold = "windlass.dev/hold",  // its code
    hold_reason = "windlass.dev/hold-reason", hold_since = "windlass.dev/hold-since",
                                  hold_released_by = "windlass.dev/hold-released-by";
}  // namespace names

struct hold_note {
  std::string code, sentence, since, released_by;
  friend bool operator==(const hold_note&, const hold_note&) = default;
};

/// Nothing when none is noted.
std::optional<hold_note> note_of(const bootc_node& b);

/// Whether what is noted is what `now` says (null = it does not wait). Of a drain and of what is
/// trouble every word counts: a person acts on the pod, the budget or the hour that is named. Of
/// the others the code does: how much of an image is fetched stands in its daemon's condition.
bool is_noted(const bootc_node& b, const hold* now);

/// How long a note of the same code stays before other words replace it. Of another code nothing is
/// waited for.
reactor::nanoseconds shortest_life_of_note(std::string_view code) noexcept;

/// It begins, ends, or another code holds it: what an Event is written of, once.
bool is_new(const bootc_node& b, const hold* now);
k8s::event_note event_of(const bootc_node& b, const hold* now);

/// The annotations that note it, for a merge patch. `since` goes on as long as the code stays.
boost::json::object note_annotations(const bootc_node& b, const hold* now, reactor::wall_time at);

}  // namespace bootc
