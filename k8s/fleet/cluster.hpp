#pragma once

#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/events.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/client/tokens.hpp"
#include "k8s/fleet/cluster_health.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/meta.hpp"
#include "k8s/informer/watch_state.hpp"
#include "reactor/backoff.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

using namespace std::chrono_literals;

struct cluster_options {
  std::string name;
  std::string field_manager = "windlass";
  std::string hash;   // of the kubeconfig's bytes, hexadecimal
  string_map labels;  // of whatever named it: its kubeconfig Secret
  std::vector<cluster_api> apis;
  std::string identity = "windlass";  // who reports in its events
  /// Whether the cluster's account may not read the UID of kube-system. Home alone needs
  /// none: nothing is told apart by it there (tenants.md §13 grants it on clusters only).
  enum class uid { required, where_allowed } needs_uid = uid::required;
  /// The server answered and one of the APIs is complete there: the cluster is Live. Once per
  /// engagement.
  std::function<void(cluster& c)> on_engaged;
  /// Each change of state, `before` being the old one.
  std::function<void(cluster& c, cluster_state before)> on_state;
  /// It answers again after it was Unreachable or Unauthorized. A caller that queues work for it
  /// spreads that over recovery_spread.
  std::function<void(cluster& c)> on_recovered;
  /// The UID of its kube-system was read, and is another than before.
  std::function<void(const std::string& before)> on_uid;
  /// Its server began or ceased to refuse what one of its APIs does.
  std::function<void(cluster& c)> on_refused;
  /// Why that API does not act under this name; empty: it does. Asked before the API starts, and
  /// again after each wake(). May be empty.
  std::function<std::string(const engagement& api)> acts_elsewhere;
  /// Each Event about an object of it, as it is recorded.
  std::function<void(const std::string& cluster, const event_note& e)> on_event = {};
  reactor::metrics* metrics = nullptr;
  view_budget views;  // what is kept of it, all collections together
};

/// One API server: client, discovery, events, the APIs that run on it, and its health.
/// Members   more than twenty: the parts of a connection, and what is shown of it at the moment.
/// Engaging  GET /version (5 s) → UID of kube-system → what it serves → each API for itself → Live;
///           any failure waits 1 s doubling to 60 s, ±20 %, and begins again, for ever (tenants.md
///           §3.4).
/// Health    the connection's while that is down, else the best of its APIs': what one of them
///           misses, the others have.
/// Breaker   three transport failures in a row, of anybody's requests, make it Unreachable; then
///           only probes go there until one is answered.
/// Lifetime  loop and metrics outlive it; co_await stop() before destruction.
class cluster {
public:
  cluster(reactor::loop& l, connection to, cluster_options options, reactor::logger log = {});
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  void start();
  /// From now on no listener hears of it and it has no metrics: it is being replaced or taken out.
  void forget_observers();
  /// Stops the APIs, newest first, then the connections.
  awaitable<void> stop();

  const std::string& name() const noexcept { return options_.name; }
  client& api() noexcept { return api_; }
  const client& api() const noexcept { return api_; }
  k8s::discovery& discovery() noexcept { return discovery_; }
  /// Made when it is first asked for: most clusters are told nothing.
  event_recorder& events();
  cluster_state state() const noexcept;
  /// Of the API that `state` is about; empty when nothing is wrong.
  const std::string& last_error() const noexcept;
  /// last_error(), or while it is Syncing what it waits for. Never empty then.
  std::string says() const;
  reactor::wall_time since_wall() const noexcept;
  /// Something can be done there. Who decides asks its own engagement.
  bool is_live() const noexcept { return state() == cluster_state::live; }
  bool was_engaged() const noexcept { return engaged_.is_set(); }
  /// The server answers, whatever becomes of the APIs.
  bool is_connected() const noexcept { return health_.was_engaged() && health_.is_up(); }
  /// Of kube-system, which names the cluster behind any address; empty before it was read.
  const std::string& uid() const noexcept { return uid_; }
  const std::string& hash() const noexcept { return options_.hash; }
  /// What its owner says about it ("env: prod"): policies choose by them.
  const string_map& labels() const noexcept { return options_.labels; }
  void set_labels(string_map labels) { options_.labels = std::move(labels); }
  reactor::loop& loop() noexcept { return loop_; }
  const reactor::logger& log() const noexcept { return log_; }

  /// One more API, now or as soon as the server answers. Its name is not taken.
  void engage(cluster_api api);
  /// Stops one API and forgets it; `done` is called when nothing of it runs any more, also when it
  /// never did.
  void withdraw(std::string_view api, std::function<void()> done = {});
  /// Stops what runs of that API; it starts again when it may act under this name. `done` as for
  /// withdraw().
  void start_again(std::string_view api, std::function<void()> done);
  /// When its server last refused to let that API start, or began to refuse what the API watches;
  /// none before and once the API is Live. It is kept while another name acts.
  std::optional<reactor::steady_time> refused_at(std::string_view api) const noexcept;
  /// What its APIs wait for may have changed.
  void wake() { changed_.wake_all(); }
  /// Null when there is no API of that name on it.
  engagement* find(std::string_view api) const noexcept;
  const std::vector<std::unique_ptr<engagement>>& engagements() const noexcept {
    return engagements_;
  }
  /// What the API of that name attached; null when there is none.
  cluster_controller* part(std::string_view api) const noexcept;
  /// All its APIs are about to act; see engagement::attend.
  void set_freshness(freshness how);
  /// Asks for a new token of its own account there; `done` is not called when it leaves meanwhile.
  void renew_token(object_key account, std::chrono::seconds life,
                   std::function<void(result<issued_token>)> done);
  /// Reads an object there; `done` is not called when it leaves meanwhile.
  void read_object(resource kind, object_key key,
                   std::function<void(result<boost::json::object>)> done);
  /// Writes the text into a new Event of that name in kube-system, or, without one, reads what such
  /// an Event says; empty when there is none. `done` is not called when it leaves meanwhile.
  void exchange_proof(std::string event, std::optional<std::string> text,
                      std::function<void(result<std::string>)> done);
  /// When its token ends, where that is known, and what is wrong about that: a sentence, or empty.
  void note_token(std::optional<reactor::wall_time> expires, std::string problem);
  std::optional<reactor::wall_time> token_expires() const noexcept { return token_expires_; }
  const std::string& token_problem() const noexcept { return token_problem_; }
  /// False when `deadline` came first.
  awaitable<bool> engaged(reactor::steady_time deadline = reactor::never);

  /// {name,state,server,uid,hash,since,lastError}: tenants.md §3.8 without the tenants; apis:
  /// {name: {state, …}}; and pausedUntil while the server wants to be left alone; tokenExpires and
  /// tokenProblem where they are known.
  boost::json::object to_json() const;

  static constexpr reactor::nanoseconds recovery_spread = 10s;
  static constexpr reactor::backoff_settings retry{1s, 60s, 2, 0.2};

private:
  friend class engagement;
  awaitable<void> run();
  awaitable<result<void>> connect();
  awaitable<void> probe_until_answered();
  awaitable<void> close(std::unique_ptr<engagement> leaving, std::function<void()> done);
  awaitable<void> wait_before_retry();
  cluster_state connection_state() const noexcept { return health_.state(); }
  /// Waits until the server answers.
  awaitable<void> connected();
  void look();
  awaitable<void> exchange(std::string event, std::optional<std::string> text,
                           std::function<void(result<std::string>)> done);
  awaitable<void> get_object(resource kind, object_key key,
                             std::function<void(result<boost::json::object>)> done);
  awaitable<void> ask_for_token(object_key account, std::chrono::seconds life,
                                std::function<void(result<issued_token>)> done);
  reactor::steady_time next_look() const noexcept;
  void requested(const fault* why);
  /// Tells everybody who wants to know when a state is no longer what it was.
  void note();
  std::string acts_elsewhere(const engagement& api) const {
    return options_.acts_elsewhere ? options_.acts_elsewhere(api) : std::string();
  }
  const engagement* best() const noexcept;
  void note_refused(const std::string& api, std::optional<reactor::steady_time> at);

  reactor::loop& loop_;
  cluster_options options_;
  reactor::logger log_;
  client api_;
  k8s::discovery discovery_;
  cluster_health health_;  // of the connection
  std::string uid_;
  std::optional<reactor::wall_time> token_expires_;
  std::string token_problem_;
  std::unique_ptr<event_recorder> events_;
  std::shared_ptr<view_budget> views_;  // what the stores of all APIs take together
  std::vector<std::unique_ptr<engagement>> engagements_;
  std::map<std::string, reactor::steady_time, std::less<>> refused_;  // by API
  reactor::backoff backoff_;
  bool probe_wanted_ = false, is_started_ = false;
  cluster_state shown_ = cluster_state::connecting;
  bool has_series_ = false;
  reactor::event engaged_;
  reactor::waiters changed_;
  reactor::counter requests_, failures_;
  reactor::task_group leaving_;  // joined, never cancelled: what is withdrawn stops in order
  reactor::task_group tasks_;
};

}  // namespace k8s
