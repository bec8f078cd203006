#pragma once

#include "k8s/client/event_kind.hpp"
#include "k8s/client/events.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/memory_limit.hpp"

#include <string>
#include <vector>

namespace k8s {
class client;
}

namespace cli {

/// The Events of a process about its memory, at home, on its pod or, where it runs in none, on the
/// Lease of its first API; docs/reference/events.md is made from the table.
namespace memory_event {
inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"MemoryNearLimit", k8s::event_severity::warning, "Pod",
     "the service holds 85 % of its memory limit or more; the note has both numbers. Written again "
     "each ten minutes while it is so. A service that runs in no pod writes it on the Lease of its "
     "first API"},
    {"MemoryRecovered", k8s::event_severity::normal, "Pod",
     "after MemoryNearLimit: the service holds less than 80 % of its memory limit again"},
});
inline constexpr k8s::event_kind near_limit = k8s::event_in(table, "MemoryNearLimit"),
                                 recovered = k8s::event_in(table, "MemoryRecovered");
}  // namespace memory_event

inline constexpr reactor::nanoseconds memory_told_again = std::chrono::minutes(10);

/// Decides what a process does about its memory.
class memory_judge {
public:
  /// end: the limit is reached but for the reserve that an orderly stop needs. The kernel's kill
  /// would come in the middle of something.
  enum class step { nothing, tell_near, tell_recovered, end };
  step on(const reactor::memory_use& use, reactor::steady_time now);
  /// From 85 % of the limit until less than 80 %.
  bool is_near() const noexcept { return is_near_; }

private:
  bool is_near_ = false;
  reactor::steady_time told_{};
};

/// When to look again: two seconds, and sooner the less is left.
reactor::nanoseconds next_memory_look(const reactor::memory_use& use);
/// "holds 112 of the 128 MiB that its memory limit allows (87 %)"
std::string memory_words(const reactor::memory_use& use);

/// A service at work whose memory is near its limit, for those who only look.
struct service_near_limit {
  std::string kind, ns, name;  // of the object that its Event is about
  std::string note;
  std::string seen;  // RFC 3339
  friend auto operator<=>(const service_near_limit&, const service_near_limit&) = default;
};
/// Reads them from the Events at home; those that were not written again in time, or were recovered
/// from, are left out. Where the caller may not list Events of all namespaces: of `ns` alone, or
/// none.
/// Lifetime: `home` outlives it.
reactor::awaitable<std::vector<service_near_limit>> services_near_limit(k8s::client& home,
                                                                        std::string ns,
                                                                        reactor::wall_time now);

}  // namespace cli
