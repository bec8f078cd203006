#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/fleet/cluster_health.hpp"
#include "k8s/informer/currency.hpp"
#include "k8s/informer/watch_state.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/backoff.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reactor {
class loop;
class metrics;
struct metric_kind;
}  // namespace reactor

namespace k8s {

class client;
class cluster;
class discovery;
class engagement;
class informer_base;

/// What runs on a cluster (informers, a controller). Stopped before the client is.
class cluster_controller {
public:
  virtual ~cluster_controller() = default;
  virtual awaitable<void> stop() = 0;
};

/// What an API does to be on a cluster: it looks for its kinds, attaches its part and comes back
/// when that is complete. Must be repeatable: a fault decides the state of this API there (not
/// found = CRDMissing, forbidden, unauthorized, else Unreachable), and it is asked again with
/// backoff. The other APIs of the cluster do not notice.
struct cluster_api {
  std::string name;  // "bootc"
  std::function<awaitable<result<void>>(engagement& on)> start;
  /// A gauge of `cluster` and `state` that shows its state, too: dashboards of its users have that
  /// name. May be null.
  const reactor::metric_kind* state_metric = nullptr;
  /// one: where the fleet has a cluster under several names, only the primary one has this API.
  /// each: the API itself decides for each of its objects which name acts (fleet::names_of).
  enum class names { one, each } acts_under = names::one;
};

/// One API on one cluster: its part, the informers that it follows, and its health.
/// Health    the connection's while that is down; else its own: Syncing until `start` is through,
///           then Live or Stale by the age and doubts of its informers.
/// Lifetime  the cluster owns it and outlives its part.
class engagement {
public:
  engagement(cluster& on, cluster_api api);
  engagement(const engagement&) = delete;
  engagement& operator=(const engagement&) = delete;

  const std::string& name() const noexcept { return api_.name; }
  k8s::cluster& on() noexcept { return cluster_; }
  const k8s::cluster& on() const noexcept { return cluster_; }
  cluster_state state() const noexcept;
  /// Decisions of this API may be acted upon: nothing that it keeps of this cluster is old.
  bool is_live() const noexcept { return state() == cluster_state::live; }
  const std::string& last_error() const noexcept;
  /// last_error(), or while it is Syncing what it waits for. Never empty then.
  std::string says() const;
  reactor::wall_time since_wall() const noexcept;
  /// It was Live once, or its kinds or rights are missing: a command that only looks need not wait
  /// for it.
  bool is_settled() const noexcept { return is_settled_; }

  // What runs on a cluster needs these.
  reactor::loop& loop() noexcept;
  client& api() noexcept;
  k8s::discovery& discovery() noexcept;
  const reactor::logger& log() const noexcept;

  bool acts_under_one_name() const noexcept { return api_.acts_under == cluster_api::names::one; }

  /// Owned from now on. A second attempt of `start` finds it and goes on.
  void attach(std::unique_ptr<cluster_controller> part) { part_ = std::move(part); }
  /// Null before it was attached.
  cluster_controller* part() const noexcept { return part_.get(); }
  /// Its age and its doubts decide between Live and Stale, what it stores counts against the
  /// cluster's budget, and its counters become metrics. The informer outlives the part's stop().
  void follow(informer_base& i);
  /// It is about to be destroyed.
  void unfollow(const informer_base& i) noexcept;
  /// What the server said where it forbids to list or watch what is followed.
  std::optional<fault> refusal() const;
  /// Whether this API is about to act on what it keeps (docs/adr/0006): then it is known within 20
  /// s when a stream no longer tells the truth, else within 17 min and at no cost.
  void set_freshness(freshness how);

  /// {state,since,lastError}
  boost::json::object to_json() const;

private:
  friend class cluster;
  void start();
  awaitable<void> stop();
  awaitable<void> run();
  /// Live or Stale?
  void look();
  /// When to look again; never while there is nothing to look at.
  reactor::steady_time next_look() const noexcept;
  std::string sync_problem() const;
  void count(reactor::metrics& into);
  /// Tells of a change: a metric, and a line of log unless the cluster's own says the same.
  void note(reactor::metrics* metrics, bool alone);
  /// It is leaving: its state is none any more.
  void hide(reactor::metrics* metrics);
  void show(reactor::metrics& in, cluster_state s, double value) const;

  k8s::cluster& cluster_;
  cluster_api api_;
  cluster_health health_;
  std::unique_ptr<cluster_controller> part_;
  struct followed_informer {
    informer_base* informer;
    watch_counters counted;  // what the metrics have of it
  };
  std::vector<followed_informer> followed_;
  freshness freshness_ = freshness::none;
  bool is_settled_ = false;
  cluster_state shown_ = cluster_state::connecting;
  bool has_series_ = false;
  reactor::backoff backoff_;
  reactor::task_group tasks_;
};

}  // namespace k8s
