#include "k8s/fleet/cluster_health.hpp"

namespace k8s {
namespace {

/// No answer at all, or one that did not come from an API server.
bool is_transport_failure(const fault& f) noexcept {
  return f.http_status == 0 && (f.code == errc::unavailable || f.code == errc::malformed);
}

}  // namespace

std::string_view name_of(cluster_state s) noexcept {
  switch (s) {
    case cluster_state::connecting: return "Connecting";
    case cluster_state::syncing: return "Syncing";
    case cluster_state::live: return "Live";
    case cluster_state::stale: return "Stale";
    case cluster_state::twin: return "Twin";
    case cluster_state::unreachable: return "Unreachable";
    case cluster_state::unauthorized: return "Unauthorized";
    case cluster_state::forbidden: return "Forbidden";
    case cluster_state::crd_missing: return "CRDMissing";
    case cluster_state::invalid: return "Invalid";
  }
  return "Unknown";
}

cluster_state state_after(const fault& why) noexcept {
  switch (why.code) {
    case errc::unauthorized: return cluster_state::unauthorized;
    case errc::forbidden: return cluster_state::forbidden;
    case errc::not_found: return cluster_state::crd_missing;
    case errc::over_budget: return cluster_state::stale;
    default: return cluster_state::unreachable;
  }
}

void cluster_health::set(cluster_state s, reactor::steady_time now, reactor::wall_time wall) {
  if (s == state_) return;
  state_ = s;
  since_ = now;
  since_wall_ = wall;
}

void cluster_health::dialling(reactor::steady_time now, reactor::wall_time wall) {
  // A cluster that has been down for an hour should not be shown as "connecting".
  if (last_error_.empty()) set(cluster_state::connecting, now, wall);
}

void cluster_health::answered(reactor::steady_time now, reactor::wall_time wall) {
  transport_failures_ = 0;
  // What it was refused for stays to be seen while it is tried again.
  const bool was_answered = !last_error_.empty() && state_ != cluster_state::unreachable;
  if (!engaged_ && !was_answered) set(cluster_state::syncing, now, wall);
}

cluster_health::verdict cluster_health::failed(const fault& why, reactor::steady_time now,
                                               reactor::wall_time wall) {
  last_error_ = why.message();
  set(state_after(why), now, wall);
  return verdict::probe;
}

void cluster_health::engaged(reactor::steady_time now, reactor::wall_time wall) {
  engaged_ = true;
  transport_failures_ = 0;
  last_error_.clear();
  set(cluster_state::live, now, wall);
}

void cluster_health::invalid(std::string why, reactor::steady_time now, reactor::wall_time wall) {
  last_error_ = std::move(why);
  engaged_ = false;
  set(cluster_state::invalid, now, wall);
}

cluster_health::verdict cluster_health::outcome(const fault* why, reactor::steady_time now,
                                                reactor::wall_time wall) {
  if (!why || !is_transport_failure(*why)) transport_failures_ = 0;
  if (!engaged_ || !is_up() || !why) return verdict::carry_on;
  if (why->code == errc::unauthorized) {
    last_error_ = why->message();
    set(cluster_state::unauthorized, now, wall);
    return verdict::probe;
  }
  if (!is_transport_failure(*why) || ++transport_failures_ < breaker_threshold) {
    return verdict::carry_on;
  }
  last_error_ = why->message();
  set(cluster_state::unreachable, now, wall);
  return verdict::probe;
}

cluster_health::verdict cluster_health::probed(reactor::steady_time now, reactor::wall_time wall) {
  transport_failures_ = 0;
  if (!engaged_ || is_up()) return verdict::carry_on;
  last_error_.clear();
  // Stale until what is kept has caught up; current() says when.
  set(cluster_state::stale, now, wall);
  return verdict::recovered;
}

void cluster_health::current(reactor::steady_time now, reactor::wall_time wall) {
  if (!is_judged_by_views()) return;
  last_error_.clear();
  set(cluster_state::live, now, wall);
}

void cluster_health::doubted(reactor::steady_time now, reactor::wall_time wall,
                             std::string_view doubt) {
  if (!is_judged_by_views()) return;
  last_error_ = doubt;
  set(cluster_state::stale, now, wall);
}

void cluster_health::refused(reactor::steady_time now, reactor::wall_time wall,
                             std::string_view why) {
  if (!is_judged_by_views()) return;
  last_error_ = why;
  set(cluster_state::forbidden, now, wall);
}

void cluster_health::stands_by(reactor::steady_time now, reactor::wall_time wall,
                               std::string_view why) {
  last_error_ = why;
  set(cluster_state::twin, now, wall);
}

}  // namespace k8s
