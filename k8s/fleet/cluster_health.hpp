#pragma once

#include "k8s/client/fault.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s {

enum class cluster_state {
  connecting,    // dialling, or not tried yet
  syncing,       // the server answers; what we keep of it is being loaded
  live,          // what we keep is current: decisions may be acted upon
  stale,         // the server was there, but what we keep may be old
  twin,          // the fleet has this cluster under another name, which acts
  unreachable,   // no answer, or an answer no API server gives
  unauthorized,  // 401: the credentials
  forbidden,     // 403: the rights
  crd_missing,   // a kind that we need is not served
  invalid,       // the kubeconfig cannot be used; nothing is tried until it changes
};
/// "Connecting", "CRDMissing": as people and metrics see it.
std::string_view name_of(cluster_state s) noexcept;

/// Nothing can be done there until a person mends something.
constexpr bool is_failure(cluster_state s) noexcept {
  return s == cluster_state::unreachable || s == cluster_state::unauthorized ||
         s == cluster_state::forbidden || s == cluster_state::crd_missing ||
         s == cluster_state::invalid;
}

/// The state that a failed step of engaging leads to.
cluster_state state_after(const fault& why) noexcept;

/// What is known about the health of a connection, or of an API on it, and what follows from it. No
/// clock, no network.
class cluster_health {
public:
  explicit cluster_health(reactor::steady_time now, reactor::wall_time wall)
      : since_(now), since_wall_(wall) {}

  /// What the caller has to do after it reported something.
  enum class verdict {
    carry_on,
    probe,      // stop acting; ask for /version with backoff until it answers
    recovered,  // it answers again: go on where it stopped
  };

  // Engaging: each attempt begins with dialling() and ends in failed() or engaged().
  void dialling(reactor::steady_time now, reactor::wall_time wall);
  void answered(reactor::steady_time now, reactor::wall_time wall);  // /version did
  verdict failed(const fault& why, reactor::steady_time now, reactor::wall_time wall);
  void engaged(reactor::steady_time now, reactor::wall_time wall);
  void invalid(std::string why, reactor::steady_time now, reactor::wall_time wall);

  // Afterwards.
  /// The outcome of any request; null = the server answered with success.
  verdict outcome(const fault* why, reactor::steady_time now, reactor::wall_time wall);
  /// A probe succeeded.
  verdict probed(reactor::steady_time now, reactor::wall_time wall);
  /// Everything kept of the cluster is current.
  void current(reactor::steady_time now, reactor::wall_time wall);
  /// It is not, and why.
  void doubted(reactor::steady_time now, reactor::wall_time wall, std::string_view doubt);
  /// The server forbids to read what is kept, and says what.
  void refused(reactor::steady_time now, reactor::wall_time wall, std::string_view why);
  /// Another name of the same cluster acts.
  void stands_by(reactor::steady_time now, reactor::wall_time wall, std::string_view why);

  cluster_state state() const noexcept { return state_; }
  reactor::steady_time since() const noexcept { return since_; }
  reactor::wall_time since_wall() const noexcept { return since_wall_; }
  /// The last failure in one sentence; empty after it was overcome.
  const std::string& last_error() const noexcept { return last_error_; }
  bool was_engaged() const noexcept { return engaged_; }
  bool is_up() const noexcept {
    return state_ == cluster_state::live || state_ == cluster_state::stale;
  }

  // tenants.md §3.5
  static constexpr int breaker_threshold = 3;

private:
  void set(cluster_state s, reactor::steady_time now, reactor::wall_time wall);
  bool is_judged_by_views() const noexcept {
    return engaged_ && (is_up() || state_ == cluster_state::forbidden);
  }

  cluster_state state_ = cluster_state::connecting;
  reactor::steady_time since_;
  reactor::wall_time since_wall_;
  std::string last_error_;
  int transport_failures_ = 0;  // in a row
  bool engaged_ = false;        // since the last change of the connection
};

}  // namespace k8s
