#pragma once

#include "helm/objects/cluster_objects.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/api_server.hpp"
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

namespace helm::objects::testing {

using reactor::awaitable;
using namespace std::chrono_literals;

inline const k8s::resource deployments{"apps", "v1", "deployments", "Deployment", true};

/// Why it did not work; empty when it did.
template <class T>
std::string problem_of(const outcome<T>& r) {
  return r ? std::string() : r.error().text;
}

/// One API server and a namespace of its own on it: the embedded server in virtual time, or the one
/// that WINDLASS_LIVE_KUBECONFIG names.
class stage {
public:
  explicit stage(reactor::loop& l);
  ~stage();
  static bool live();

  awaitable<void> set_up();
  awaitable<void> tear_down();

  reactor::loop& loop() noexcept { return loop_; }
  k8s::client& api() noexcept { return *api_; }
  cluster_objects& objects() noexcept { return *objects_; }
  /// Null on a real server.
  k8s::sim::api_server* embedded() noexcept { return embedded_.get(); }
  const std::string& ns() const noexcept { return ns_; }
  /// What Helm would have said with --debug.
  const std::vector<std::string>& lines() const noexcept { return lines_; }
  reactor::steady_time soon() const { return loop_.now() + (live() ? 20s : 60s); }

  /// The manifest's objects in this namespace; a problem fails the test.
  awaitable<object_list> built(std::string manifest);
  /// Null when it is not there.
  awaitable<std::optional<boost::json::object>> see(k8s::resource r, std::string name);
  awaitable<void> merge(k8s::resource r, std::string name, std::string patch,
                        std::string subresource = {});

private:
  reactor::loop& loop_;
  k8s::connection to_;
  std::unique_ptr<k8s::sim::api_server> embedded_;
  std::unique_ptr<k8s::sim::server> front_;
  std::unique_ptr<k8s::client> api_;
  std::unique_ptr<cluster_objects> objects_;
  std::string ns_;
  std::vector<std::string> lines_;
};

void play(std::function<awaitable<void>(stage&)> scenario);

k8s::resource resource_of(std::string group, std::string plural, std::string kind);
/// The definition of a kind Widget, v1, of that group.
std::string definition(const std::string& group);
std::string config_map(std::string name, std::string data, std::string annotations = "");
/// The string at a JSON pointer, or empty.
std::string at(const boost::json::object& o, std::string_view pointer);

}  // namespace helm::objects::testing
