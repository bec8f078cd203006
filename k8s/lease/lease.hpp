#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/timer_queue.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace k8s {

class client;
using namespace std::chrono_literals;

/// What a coordination.k8s.io/v1 Lease says.
struct lease_record {
  std::string holder;  // empty = released
  std::int64_t duration_seconds = 0;
  std::string acquired, renewed;  // MicroTime as written; compared as text only
  std::int64_t transitions = 0;
  std::string resource_version;
  friend bool operator==(const lease_record&, const lease_record&) = default;
};
/// What is missing or of another type is "" or 0.
lease_record lease_record_of(const boost::json::object& lease);

struct leader_settings {
  reactor::nanoseconds duration = 15s;  // how long others wait for a silent leader
  // A leader that could not renew for so long steps down.
  reactor::nanoseconds renew_deadline = 10s;
  reactor::nanoseconds retry = 2s;
};

/// Leader election as client-go does it, without clock and network. A record's age counts from when
/// this process saw it change, so the replicas' clocks need not agree.
class leader_state {
public:
  leader_state(std::string identity, leader_settings settings = {});

  enum class act { create, update, wait };
  struct decision {
    act what = act::wait;
    lease_record write;  // of create and update; update is conditional on its resource_version
  };
  /// `current`: what was just read; nothing = there is no Lease.
  decision decide(const std::optional<lease_record>& current, reactor::steady_time now,
                  reactor::wall_time wall);
  /// The decision's write was accepted; `started` is when the request was sent.
  void wrote(lease_record accepted, reactor::steady_time started);
  /// True until the deadline of the last renewal.
  bool leading(reactor::steady_time now) const noexcept;
  /// When leadership ends unless it is renewed.
  reactor::steady_time ends_at() const noexcept;
  void step_down() noexcept { leading_ = false; }
  /// What to write to let the next one in at once; nothing when we are not the holder.
  std::optional<lease_record> release(reactor::wall_time wall) const;
  const std::string& holder() const noexcept { return seen_.holder; }

private:
  std::string identity_;
  leader_settings settings_;
  lease_record seen_;
  reactor::steady_time seen_at_{};
  reactor::steady_time renewed_at_{};
  bool leading_ = false;
};

/// Keeps trying to hold one Lease.
/// Started  `on_started` is called when the Lease is ours, `on_lost` at the latest renew_deadline
///          after the last renewal, also while a request hangs. It may start again later.
/// Stop     releases the Lease if it is ours, within 2 s.
/// Lifetime loop and client outlive it; co_await stop() before destruction.
class leader_election {
public:
  struct options {
    object_key lease;
    std::string identity;
    leader_settings settings;
    std::function<void()> on_started, on_lost;
  };
  leader_election(reactor::loop& l, client& api, options o, reactor::logger log = {});
  leader_election(const leader_election&) = delete;
  leader_election& operator=(const leader_election&) = delete;

  void start();
  bool leading() const noexcept { return announced_; }
  /// Who holds it as far as we know; may be empty.
  const std::string& holder() const noexcept { return state_.holder(); }
  awaitable<void> stop();

private:
  awaitable<void> run();
  awaitable<result<void>> attempt();
  void announce();

  reactor::loop& loop_;
  client& api_;
  options options_;
  reactor::logger log_;
  leader_state state_;
  std::string waits_for_;  // who was named as the holder
  bool announced_ = false;
  reactor::timer_id watchdog_ = 0;
  reactor::task_group tasks_;
};

}  // namespace k8s
