#pragma once

#include "formats/json/record.hpp"
#include "reactor/plain/time.hpp"

#include <algorithm>

namespace k8s {

/// That a server has just shown that a view of it is current: a list that is complete, an event or
/// a bookmark that fits, a question about newer events that was answered with none. Bytes alone
/// prove nothing. Only watch_state, which judges all of these, makes one.
class current_proof {
  friend class watch_state;
  current_proof() = default;
};

/// How closely views are watched (docs/adr/0006). close: somebody is about to act on what is kept,
/// so silence is asked about after ten seconds. none: nobody is, and only a bookmark that is
/// overdue is asked about.
enum class attention { none, close };

/// When a view was last proved current; nothing else sets it.
class currency {
public:
  void record(const current_proof&, reactor::steady_time now) noexcept { at_ = std::max(at_, now); }
  reactor::steady_time at() const noexcept { return at_; }

private:
  reactor::steady_time at_{};
};

}  // namespace k8s
