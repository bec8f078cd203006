#include "helm/placed/plan/retries.hpp"

namespace helm::placed {
namespace {

nanoseconds doubled(nanoseconds first, nanoseconds cap, std::uint32_t failures) noexcept {
  nanoseconds out = first;
  for (std::uint32_t i = 1; i < failures && out < cap; ++i) out *= 2;
  return out < cap ? out : cap;
}

}  // namespace

nanoseconds pause_after(setback what, std::uint32_t failures) noexcept {
  switch (what) {
    case setback::crd: return 60s;
    case setback::namespace_: return 30s;
    case setback::terminating: return 5s;
    case setback::helm_setup: return 60s;
    case setback::status_write: return 45s;
    case setback::finalizer: return 5s;
    case setback::chart_skipped: return 120s;
    case setback::chart: return doubled(30s, 5min, failures);
    case setback::operation: return doubled(30s, 15min, failures);
    case setback::version: return nanoseconds::max();
    case setback::edge: return 30s;
    case setback::edge_operation: return doubled(60s, 15min, failures);
  }
  return 30s;
}

void attempts::failed(setback what, const attempt_key& at, reactor::steady_time now) {
  if (!(at == at_) || what != what_) failures_ = 0;
  at_ = at;
  what_ = what;
  ++failures_;
  const nanoseconds pause = pause_after(what, failures_);
  again_ = pause == nanoseconds::max() ? reactor::never : now + pause;
}

nanoseconds attempts::left(const attempt_key& at, reactor::steady_time now) const {
  if (failures_ == 0 || !(at == at_)) return nanoseconds(0);
  if (again_ == reactor::never) return nanoseconds::max();
  return again_ > now ? again_ - now : nanoseconds(0);
}

}  // namespace helm::placed
