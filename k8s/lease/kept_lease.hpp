#pragma once

#include "k8s/lease/lease.hpp"
#include "reactor/plain/time.hpp"

#include <string>

namespace k8s {

/// How long others take it for kept after its last change: as long as it says, a day at most.
reactor::nanoseconds kept_for(const lease_record& lease);

/// Who else keeps a Lease renewed. Pure.
/// Time   a Lease counts as kept for as long as it says since this process saw it change: clocks
///        need not agree.
class kept_lease {
public:
  /// What was just read. Returns the holder; empty if the Lease has none, or ran out.
  const std::string& note(const lease_record& lease, reactor::steady_time now);
  const std::string& holder() const noexcept { return holder_; }

private:
  std::string holder_, seen_;
  reactor::steady_time changed_at_{};
};

}  // namespace k8s
