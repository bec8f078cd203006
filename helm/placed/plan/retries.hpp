#pragma once

#include "reactor/plain/time.hpp"

#include <cstdint>
#include <string>

namespace helm::placed {

using reactor::nanoseconds;
using namespace std::chrono_literals;

/// What a Tenant or KryptonDeployment waits to try again.
enum class retry_cause : std::uint8_t {
  crd,             // its kind cannot be made sure of
  namespace_,      // its workload namespace cannot be made
  terminating,     // that namespace is going
  helm_setup,      // what the cluster serves cannot be found out
  status_write,    // all attempts at status, or at the fingerprint, failed
  finalizer,       // the finalizer cannot be written
  chart_skipped,   // only the chart is missing, and that is allowed
  chart,           // the chart was not loaded
  operation,       // install, upgrade or uninstall failed
  version,         // no version: nothing changes by waiting
  edge,            // a region's Secret or cluster is not there
  edge_operation,  // the same of a KryptonDeployment: 60 s, then as an operation
};

/// How long until the next attempt, after so many failures in a row; nothing by itself when it is
/// `nanoseconds::max()`.
nanoseconds pause_after(retry_cause what, std::uint32_t failures) noexcept;

inline constexpr nanoseconds operation_timeout = 180s, uninstall_timeout = 120s;
/// No operation begins sooner than this after the newest record of a release that failed, whatever
/// was asked for since, so that no mistake of ours or of a script fills a release's history.
inline constexpr nanoseconds operation_floor = 5s;
/// A process that left a release pending this much longer than an operation may take is gone.
inline constexpr nanoseconds abandoned_grace = 30s;
/// A namespace that is going is looked at every 2 s for 90 s, then every 5 s.
inline constexpr nanoseconds namespace_poll = 2s, namespace_patience = 90s;

/// What an attempt was made for. A failure counts only against the same: a change of the object, of
/// its cluster's Secret or of the settings begins again, as do a cluster that answers again and a
/// person who asks for it.
struct attempt_key {
  std::int64_t generation = 0;
  std::string fingerprint;       // what was to be installed
  std::string credentials;       // hash of the Secret
  std::uint64_t connection = 0;  // counts how often the cluster came back
  std::string asked;             // who asked: the annotation names::retry
  friend bool operator==(const attempt_key&, const attempt_key&) = default;
};

/// Remembers failures in a row of one object on one cluster.
class attempts {
public:
  /// One more failure, at `now`. `at` is the key that the plan was made with (`attempt` of its
  /// world), not one that is computed after the attempt.
  void failed(retry_cause what, const attempt_key& at, reactor::steady_time now);
  void succeeded() noexcept { failures_ = 0; }
  /// How long it still has to wait; zero when it may be tried.
  nanoseconds left(const attempt_key& at, reactor::steady_time now) const;
  std::uint32_t failures(const attempt_key& at) const noexcept { return at == at_ ? failures_ : 0; }

private:
  attempt_key at_;
  retry_cause what_ = retry_cause::operation;
  std::uint32_t failures_ = 0;
  reactor::steady_time again_ = reactor::never;
};

}  // namespace helm::placed
