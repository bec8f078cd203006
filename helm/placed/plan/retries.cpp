#include "helm/placed/plan/retries.hpp"

namespace helm::placed {
namespace {

nanoseconds doubled(nanoseconds first, nanoseconds cap, std::uint32_t failures) noexcept {
  nanoseconds out = first;
  for (std::uint32_t i = 1; i < failures && out < cap; ++i) out *= 2;
  return out < cap ? out : cap;
}

}  // namespace

nanoseconds pause_after(retry_cause what, std::uint32_t failures) noexcept {
  switch (what) {
    case retry_cause::crd: return 60s;
    case retry_cause::namespace_: return 30s;
    case retry_cause::terminating: return 5s;
    case retry_cause::helm_setup: return 60s;
    case retry_cause::status_write: return 45s;
    case retry_cause::finalizer: return 5s;
    case retry_cause::chart_skipped: return 120s;
    case retry_cause::chart: return doubled(30s, 5min, failures);
    case retry_cause::operation: return doubled(30s, 15min, failures);
    case retry_cause::version: return nanoseconds::max();
    case retry_cause::edge: return 30s;
    case retry_cause::edge_operation: return doubled(60s, 15min, failures);
  }
  return 30s;
}

void attempts::failed(retry_cause what, const attempt_key& at, reactor::steady_time now) {
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
