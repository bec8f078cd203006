#pragma once

#include "bootc/bootc_cluster.hpp"
#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/classification.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/views/node.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s::sim {
class server;
}

namespace bootc::behaviour {

using reactor::awaitable;
using namespace std::chrono_literals;
namespace json = boost::json;

/// One API server with our CRDs, and a controller that can be started, stopped and started again.
/// The same scenario runs on the embedded server in virtual time and, with
/// WINDLASS_LIVE_KUBECONFIG, on a real one; there names are prefixed and everything is taken away
/// at the end.
class stage {
public:
  stage(reactor::loop& l, std::string prefix);
  ~stage();

  awaitable<void> set_up();
  awaitable<void> tear_down();
  static bool live();

  reactor::loop& loop() noexcept { return loop_; }
  k8s::client& api() noexcept { return *api_; }
  /// Null on a real server.
  k8s::sim::api_server* embedded() noexcept { return embedded_.get(); }
  k8s::connection to() const { return to_; }
  std::string named(const std::string& name) const { return prefix_ + name; }

  /// The controllers that start from now on run in that pod.
  awaitable<void> live_in(std::string pod);
  void start_controller(rollout_policy* policy = nullptr, tag_watcher* tags = nullptr);
  awaitable<void> stop_controller();
  bootc_cluster* controller() noexcept { return controller_.get(); }

  // The world. Names are given without the prefix.
  awaitable<void> node(std::string name, std::string pool_label,
                       std::string more_labels_json = "{}");
  awaitable<void> label(std::string node, std::string key, std::optional<std::string> value);
  awaitable<void> set_ready(std::string node, bool ready);
  awaitable<void> pool(std::string name, char image, std::string rollout_json = "{}",
                       std::string pool_label = {});
  awaitable<void> patch_pool(std::string name, std::string patch_json);
  /// As it may have been stored before the kind had rules of its own.
  awaitable<void> patch_pool_without_rules(std::string name, std::string patch_json);
  awaitable<void> patch_node(std::string name, std::string patch_json);
  awaitable<void> remove_pool(std::string name);
  awaitable<void> remove_node(std::string name);
  awaitable<void> erase(k8s::resource r, k8s::object_key key);
  /// Writes a BootcNode's status as its daemon would: `booted` and, from staged on, the desired
  /// image as staged.
  awaitable<void> report(std::string node, unit_state state, char booted, char staged = 0);
  awaitable<void> pod(std::string name, std::string node, std::string app);
  /// A pull secret in "default", the operator's namespace here; made anew when it is there.
  awaitable<void> pull_secret(std::string name, std::string docker_config);
  awaitable<void> budget(std::string name, std::string app, std::string min_available);

  // What is there. Nothing when absent.
  awaitable<std::optional<node_pool>> see_pool(std::string name);
  awaitable<std::optional<bootc_node>> see(std::string node);
  awaitable<std::optional<k8s::node>> see_node(std::string name);

  /// What was told about this object, in order: "Staging", or with a count "Staging x2".
  awaitable<std::vector<std::string>> told_of(std::string name, std::string ns = "default");

  // Waits; a test fails with `what` when it does not come true in time.
  awaitable<void> until_pool(std::string what, std::string name,
                             std::function<bool(const node_pool&)> holds);
  awaitable<void> until(std::string what, std::string node,
                        std::function<bool(const bootc_node&)> holds);
  awaitable<void> until_node(std::string what, std::string name,
                             std::function<bool(const k8s::node&)> holds);
  awaitable<void> until_gone(std::string node);
  reactor::nanoseconds patience() const { return live() ? 30s : 120s; }

private:
  awaitable<void> install_crds();
  enum class rules { as_shipped, none };
  awaitable<void> install_crd(std::string name, rules which);
  awaitable<void> create(k8s::resource r, std::string ns, json::object body);

  reactor::loop& loop_;
  std::string prefix_, own_pod_uid_;
  k8s::connection to_;
  std::unique_ptr<k8s::sim::api_server> embedded_;
  std::unique_ptr<k8s::sim::server> front_;
  std::unique_ptr<k8s::client> api_;
  std::unique_ptr<k8s::event_recorder> events_;
  std::unique_ptr<bootc_cluster> controller_;
  std::vector<std::pair<k8s::resource, k8s::object_key>> made_;
};

/// Runs one scenario to its end.
void play(std::function<awaitable<void>(stage&)> scenario);

/// "True/NodeDegraded/Degraded nodes: w1"
std::string degraded(const node_pool& p);
bool holds_slot(const bootc_node& b);

}  // namespace bootc::behaviour
