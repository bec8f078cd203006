#pragma once

#include "bootc/pool/drain_decision.hpp"
#include "bootc/pool/drain_progress.hpp"
#include "bootc/pool/node_figures.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/views/pod.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace bootc {

using reactor::awaitable;

/// The drains under way on one cluster, at most one per node. A drain evicts every pod of the node
/// through the Eviction API, so that budgets are respected, and waits until they are gone. The Node
/// is already cordoned.
/// Pace     a pod that a budget refuses is tried every 5 s; those that end are looked at together,
///          every second. A DaemonSet that is there is asked about once a minute for all drains. At
///          most 50 requests of all drains are under way at once.
/// Errors   end the drain as failed, to be tried again after 5 s doubling to 320 s; other pods go
///          on meanwhile.
/// Memory   nothing is stored: after a restart the annotations say which drains to begin again.
/// Lifetime loop and client outlive it; co_await stop() before destruction.
class drains {
public:
  /// `on_change` hears the node whose drain ended, whichever way but by cancel(), and the node
  /// whose drain waits for something else than it did: that at most every 5 s, and every 10 s where
  /// only other pods end. `own_pod_uid`: of this process's pod, which is not evicted; empty outside
  /// of a pod.
  drains(reactor::loop& l, k8s::client& api, std::function<void(const std::string& node)> on_change,
         reactor::logger log = {}, node_figures figures = {}, std::string own_pod_uid = {});
  ~drains();
  drains(const drains&) = delete;
  drains& operator=(const drains&) = delete;

  /// No effect while one runs for this node and image. `timeout` 0 = no limit.
  void start(const std::string& node, const std::string& image, reactor::nanoseconds timeout);
  /// Ends it and forgets what was known of it. Pods already evicted stay so.
  void cancel(const std::string& node);
  /// Of the nodes that are asked for. Of thousands some have their turn.
  awaitable<drains_by_node> progress(std::function<bool(const std::string& node)> wanted) const;
  /// The nodes that it knows a drain of, under way or ended.
  std::vector<std::string> nodes() const;
  std::size_t running() const noexcept { return tasks_.size(); }
  awaitable<void> stop();

private:
  struct drain;
  struct pod_end;
  struct look_end;
  struct question;
  struct question_end;
  class place;
  struct failed_before {
    unsigned count = 0;
    std::string last;
  };
  void leave(const std::string& node);
  awaitable<void> run(std::shared_ptr<drain> d);
  awaitable<bool> round(std::shared_ptr<drain> d);
  // borrowed
  awaitable<k8s::result<std::vector<k8s::pod>>> pods_of(std::string node, std::string& version);
  struct seen_pod;
  using pods_by_uid = std::map<std::string, seen_pod, std::less<>>;
  awaitable<k8s::result<pods_by_uid>> pods_on(std::string node, std::string version);
  awaitable<k8s::result<bool>> daemon_set_exists(k8s::object_key key);
  awaitable<void> take_place();
  awaitable<k8s::result<void>> end_pod(k8s::object_key key, std::string uid);
  awaitable<void> evict(std::shared_ptr<drain> d, k8s::object_key key, std::string uid,
                        bool is_unhealthy);
  awaitable<void> look(std::shared_ptr<drain> d);
  void not_seen(drain& d, const k8s::fault& why);
  void note_wait(drain& d, pod_wait now);
  awaitable<pod_is> state_of(k8s::object_key key, std::string uid);
  void tell_change(drain& d);
  static std::vector<pod_wait> waits_of(const drain& d);
  void stop_pods(const drain& d);
  void finish(const std::shared_ptr<drain>& d, drain_progress::phase how, std::string detail);

  reactor::loop& loop_;
  k8s::client& api_;
  std::function<void(const std::string&)> on_change_;
  reactor::logger log_;
  node_figures figures_;
  std::string own_pod_uid_;
  std::map<std::string, std::shared_ptr<drain>> drains_;
  std::map<std::string, failed_before> failures_;                   // in a row, by node
  std::map<k8s::object_key, std::shared_ptr<question>> questions_;  // about DaemonSets
  std::size_t places_ = 50;                                         // that are free
  reactor::waiters turn_;
  reactor::task_group tasks_;
};

}  // namespace bootc
