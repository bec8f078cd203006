#pragma once

#include "k8s/client.hpp"
#include "k8s/cluster_health.hpp"
#include "k8s/discovery.hpp"
#include "k8s/kubeconfig.hpp"
#include "k8s/meta.hpp"
#include "k8s/watch_state.hpp"
#include "reactor/backoff.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

class informer_base;
class cluster;
using namespace std::chrono_literals;

/// What somebody runs on a cluster (informers, a controller). Stopped before the client is.
class cluster_part {
public:
  virtual ~cluster_part() = default;
  virtual awaitable<void> stop() = 0;
};

/// One more step of engaging: "ensure the CRD", "start to watch tenants". Must be repeatable; its
/// fault decides the state (not found = CRDMissing, forbidden, unauthorized, else Unreachable).
struct engage_step {
  std::string name;
  std::function<awaitable<result<void>>(cluster& c)> run;
};

struct cluster_options {
  std::string name;
  std::string field_manager = "windlass";
  std::string hash;   // of the kubeconfig's bytes, hexadecimal
  string_map labels;  // of whatever named it: its kubeconfig Secret
  std::vector<engage_step> steps;
  /// The server answered, every step is done: the cluster is Live. Once per engagement.
  std::function<void(cluster& c)> on_engaged;
  /// Each change of state, `before` being the old one.
  std::function<void(cluster& c, cluster_state before)> on_state;
  /// It answers again after it was Unreachable or Unauthorized. Whoever queues work for it spreads
  /// that over recovery_spread.
  std::function<void(cluster& c)> on_recovered;
  reactor::metrics* metrics = nullptr;
  view_budget views;  // what is kept of it, all collections together
};

/// One API server of the fleet: client, discovery, what runs on it, and its health.
/// Engaging  GET /version (5 s) → UID of kube-system → steps → Live; any failure waits 1 s doubling to 60 s, ±20 %,
///           and begins again, for ever (tenants.md §3.4).
/// Breaker   three transport failures in a row, of anybody's requests, make it Unreachable; then only probes go there
///           until one is answered.
/// Lifetime  loop and metrics outlive it; co_await stop() before destruction.
class cluster {
public:
  cluster(reactor::loop& l, connection to, cluster_options options, reactor::logger log = {});
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  void start();
  /// From now on nobody hears of it and it has no metrics: it is being replaced or taken out.
  void forget_observers();
  /// Stops the parts, newest first, then the connections.
  awaitable<void> stop();

  const std::string& name() const noexcept { return options_.name; }
  client& api() noexcept { return api_; }
  k8s::discovery& discovery() noexcept { return discovery_; }
  const cluster_health& health() const noexcept { return health_; }
  cluster_state state() const noexcept { return health_.state(); }
  /// Decisions may be acted upon: nothing kept of this cluster is old.
  bool is_live() const noexcept { return state() == cluster_state::live; }
  /// Of kube-system, which names the cluster behind any address; empty before it was read.
  const std::string& uid() const noexcept { return uid_; }
  const std::string& hash() const noexcept { return options_.hash; }
  /// What its owner says about it ("env: prod"): policies choose by them.
  const string_map& labels() const noexcept { return options_.labels; }
  void set_labels(string_map labels) { options_.labels = std::move(labels); }
  reactor::loop& loop() noexcept { return loop_; }
  const reactor::logger& log() const noexcept { return log_; }

  /// Owned from now on. Parts are attached by steps; a second attempt finds them by name and goes on.
  void attach(std::string part_name, std::unique_ptr<cluster_part> part);
  /// Null when there is none of that name.
  cluster_part* part(std::string_view part_name) const noexcept;
  /// Its age and its doubts decide between Live and Stale, what it stores counts against the cluster's budget, and its
  /// counters become metrics. The informer outlives the cluster's stop().
  void follow(informer_base& i);
  /// Whether somebody is about to act on what is kept of it (docs/adr/0006): then it is known within 20 s when a stream no
  /// longer tells the truth, else within two minutes and at no cost.
  void attend(attention how);
  /// It is about to be destroyed.
  void unfollow(const informer_base& i) noexcept;
  /// False when `deadline` came first.
  awaitable<bool> engaged(reactor::steady_time deadline = reactor::never);

  /// {name,state,server,uid,hash,since,lastError}: tenants.md §3.8 without the tenants; and pausedUntil while the server
  /// wants to be left alone.
  boost::json::object to_json() const;

  static constexpr reactor::nanoseconds recovery_spread = 10s;

private:
  awaitable<void> run();
  awaitable<result<void>> engage();
  awaitable<void> probe_until_answered();
  awaitable<void> wait_before_retry();
  void watch_freshness();
  reactor::steady_time next_look() const;
  std::string doubt() const;
  void count_informers();
  void requested(const fault* why);
  template <class F>
  void change(F f);

  reactor::loop& loop_;
  cluster_options options_;
  reactor::logger log_;
  client api_;
  k8s::discovery discovery_;
  cluster_health health_;
  std::string uid_;
  struct named_part {
    std::string name;
    std::unique_ptr<cluster_part> part;
  };
  std::vector<named_part> parts_;
  struct followed_informer {
    informer_base* informer;
    watch_counters counted;  // what the metrics have of it
  };
  std::vector<followed_informer> followed_;
  std::shared_ptr<view_budget> views_;  // what their stores take together
  reactor::backoff backoff_;
  bool probe_wanted_ = false;
  attention attention_ = attention::none;
  bool state_shown_ = false;  // as a metric
  reactor::event engaged_;
  reactor::waiters changed_;
  reactor::counter requests_, failures_;
  reactor::task_group tasks_;
};

}  // namespace k8s
