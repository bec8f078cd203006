#pragma once

#include "reactor/plain/time.hpp"

#include <algorithm>

namespace k8s {

/// A server has shown that a view of it was current: by a complete list, or by naming a version in
/// a consistent read that the view's stream has come to. Bytes, events and bookmarks alone prove
/// nothing: they may come from a replica that lags. Only watch_state, which judges all of these,
/// makes one.
class current_proof {
  friend class watch_state;
  current_proof() = default;
};

/// How closely views are watched (docs/adr/0006). close: a caller is about to act on what is kept,
/// so that a view that is no longer current is noticed within 20 s. none: one that hears nothing
/// within 3 min, one that a replica which lags keeps up within 17.
enum class freshness { none, close };

/// When a view was last proved current; nothing else sets it.
class currency {
public:
  void record(const current_proof&, reactor::steady_time now) noexcept { at_ = std::max(at_, now); }
  reactor::steady_time at() const noexcept { return at_; }

private:
  reactor::steady_time at_{};
};

}  // namespace k8s
