#pragma once

#include "helm/release/actions.hpp"
#include "k8s/client/client.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace helm::release::testing {

/// A chart from texts by file name; Chart.yaml is added when there is none.
std::shared_ptr<prepared_chart> load(std::vector<chart_file> files);
/// The same without a list: GCC 12 refuses those inside a co_await expression.
template <class... Files>
std::shared_ptr<prepared_chart> chart_of(Files... files) {
  std::vector<chart_file> all;
  (all.push_back(std::move(files)), ...);
  return load(std::move(all));
}
inline chart_file file(std::string name, std::string text) {
  return {std::move(name), std::move(text)};
}
/// A ConfigMap template: data.v is `text`.
chart_file config_map(const std::string& name, const std::string& text);
/// A hook of some kind. `more` is one more annotation.
chart_file hook_file(const std::string& name, const std::string& kind, const std::string& events,
                     std::string more = {});
value values_of(const std::string& json);

/// One embedded API server in simulated time, and the actions of a namespace on it.
class stage {
public:
  explicit stage(reactor::loop& l);
  ~stage();

  reactor::loop& loop() { return loop_; }
  k8s::sim::api_server& api() { return *api_; }
  release_actions& actions() { return *actions_; }
  cluster_records& records() { return *records_; }
  k8s::client& client() { return *client_; }
  /// A second process of the same instance: nothing is remembered.
  void restart_actions();
  awaitable<void> stop();

  /// Pods end at once, well or badly. They never do otherwise.
  enum class ending { well, badly };
  void let_pods_end(ending how);
  /// data.v of a ConfigMap, or "-" when it is not there.
  std::string seen(const std::string& name) const;
  /// "1:superseded 2:deployed", and what each says of itself with `descriptions`.
  awaitable<std::string> told(std::string name, bool descriptions = false);

  std::vector<std::string> warnings;
  std::string logs;  // what hooks printed
  bool logs_forbidden = false;
  int discoveries = 0;               // how often somebody asked which groups there are
  std::vector<std::string> created;  // "configmaps/a", in order, without records
  std::vector<std::string> deleted;

private:
  reactor::loop& loop_;
  std::unique_ptr<k8s::sim::api_server> api_;
  std::unique_ptr<k8s::sim::server> front_;
  std::unique_ptr<k8s::client> client_;
  std::unique_ptr<objects::cluster_objects> objects_;
  std::unique_ptr<cluster_records> records_;
  std::unique_ptr<release_actions> actions_;
  std::function<void(const k8s::sim::written&)> pods_;
};

/// Plays a scenario on a fresh stage to its end.
void play(std::function<awaitable<void>(stage&)> scenario);

}  // namespace helm::release::testing
