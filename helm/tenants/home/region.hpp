#pragma once

#include "helm/placed/cluster_view.hpp"
#include "helm/tenants/plan/deployment_plan.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::tenants {

using reactor::awaitable;

/// The cluster behind a Secret that a KryptonDeployment names, in any namespace and whatever its
/// labels: the Secret is watched at home, and other bytes under the key reconnect. Where there are
/// many regions, a Secret that is not there is asked for now and then instead: any author may name
/// some, and each watch is a connection.
/// Sharing   who works on it holds the connection; one that was replaced answers everything with a
///           fault and ends with its last user.
/// Lifetime  loop and home client outlive it; co_await stop() before destruction.
class region {
public:
  struct options {
    std::string key;  // of the kubeconfig in the Secret
    std::string field_manager;
    k8s::watch_limits limits;
    reactor::logger log;
    /// For the watches there; without limits and log. None: nothing is watched.
    std::optional<cluster_view::options> watched;
    /// What the way there is changed.
    std::function<void()> on_change;
    /// How long a Secret that is not there is left alone before it is asked for again; zero: it is
    /// watched.
    std::function<reactor::nanoseconds()> absence_pause;
    /// The connection is about to end: what works on it is ended in order.
    std::function<awaitable<void>(const k8s::cluster& leaving)> before_end;
  };
  region(reactor::loop& l, k8s::client& home, k8s::object_key secret, options o);
  ~region();

  /// The way there; none while it is not known yet: a moment at the start and after each change.
  std::optional<edge_facts> way() const;
  /// Null without one that can be used.
  const std::shared_ptr<k8s::cluster>& connected() const noexcept { return connection_; }
  /// What is watched there; null: nothing, the server is asked.
  const std::shared_ptr<cluster_view>& view() const noexcept { return view_; }
  /// Who may use it, as the Secret's annotation says; empty where it has none.
  const std::string& grant() const noexcept { return grant_; }
  /// Of the kubeconfig's bytes.
  const std::string& hash() const noexcept { return hash_; }
  /// How often the cluster came back: what failed is tried again.
  std::uint64_t returns() const noexcept { return returns_; }
  awaitable<void> stop();

  /// How long a connection may be tried before it counts as down.
  static constexpr reactor::nanoseconds patience = std::chrono::seconds(10);

private:
  awaitable<void> follow();
  /// Until the Secret is there, or may be watched all the same.
  awaitable<void> until_there();
  awaitable<void> reconnect(reactor::secret raw, std::string hash);
  void leave();
  awaitable<void> close(std::shared_ptr<k8s::cluster> leaving, std::shared_ptr<cluster_view> view);

  reactor::loop& loop_;
  k8s::client& home_;
  k8s::object_key secret_key_;
  options options_;
  k8s::informer<k8s::secret> secret_;
  std::string hash_, invalid_, grant_;
  bool known_ = false;  // what the Secret says was looked at
  reactor::steady_time tried_since_{};
  std::uint64_t returns_ = 0;
  std::shared_ptr<k8s::cluster> connection_;
  std::shared_ptr<cluster_view> view_;  // of the connection
  reactor::waiters changed_;
  reactor::task_group closing_;  // joined, never cancelled: what leaves must leave in order
  reactor::task_group tasks_;
};

}  // namespace helm::tenants
