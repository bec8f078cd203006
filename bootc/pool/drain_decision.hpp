#pragma once

#include "bootc/pool/drain_progress.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/views/pod.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

/// What becomes of one pod of a node that is being drained, and what a person should know about it.
struct pod_verdict {
  bool evict = false;
  std::string_view warning;  // empty = nothing unusual
};

/// Whether the pod's fate depends on its DaemonSet still being there; then ask before deciding.
bool needs_daemon_set(const k8s::pod& p) noexcept;

/// Whether the DaemonSet that a pod belongs to is still there.
enum class daemon_set : std::uint8_t { exists, gone };

/// First match wins: the pod of this process stays (its UID, empty outside of a pod), a DaemonSet's
/// pod stays (unless it ended, or the DaemonSet is gone), a static pod's mirror stays, everything
/// else goes, completed pods too. A process that evicted itself would drain the node again when it
/// came back there, and where no other node takes its pod no process would uncordon this one: the
/// reboot ends it with the node, and it goes on afterwards.
pod_verdict judge_pod(const k8s::pod& p, daemon_set its, std::string_view own_pod_uid) noexcept;

/// How an eviction goes on after the server's answer.
enum class eviction_step {
  wait_gone,  // accepted: wait until the pod is gone
  gone,       // it is
  try_again,  // a budget refuses it, or the server is busy or away: the same again after a while
  give_up,    // this pod cannot be evicted: the drain fails, and is tried again later as a whole
};
/// `failure` null = accepted.
eviction_step after_eviction(const k8s::fault* failure) noexcept;

/// A budget refused it.
bool is_refused_by_budget(const k8s::fault& f) noexcept;

/// How a pod was seen whose eviction was refused; another one of its name proves that it is gone.
enum class pod_is : std::uint8_t { gone, well, unhealthy, unseen };

/// The eviction of one pod, until it was told to end, is gone, or cannot be evicted.
/// After a refusal it is looked at before it is evicted again: a budget refuses before the server
/// compares UIDs, so another pod of this name would keep the drain.
class pod_eviction {
public:
  explicit pod_eviction(bool is_unhealthy) : is_unhealthy_(is_unhealthy) {}

  /// `look`: after `pause`. `await_end`: until it is gone. Each is answered by evicted() or seen().
  struct request {
    enum class is : std::uint8_t { evict, look, await_end, end } what = is::evict;
    reactor::nanoseconds pause{};
  };
  const request& next() const noexcept { return next_; }
  void evicted(const k8s::fault* failure);  // null: accepted
  void seen(pod_is how) noexcept;

  /// What it waits for, without its name and since when; none before the first answer.
  const std::optional<pod_wait>& waits() const noexcept { return waits_; }
  /// Why it cannot be evicted; empty: it can.
  const std::string& error() const noexcept { return error_; }

  static constexpr reactor::nanoseconds retry = std::chrono::seconds(5);

private:
  request next_;
  bool is_unhealthy_;
  std::optional<pod_wait> waits_;
  std::string error_;
};

}  // namespace bootc
