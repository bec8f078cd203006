#pragma once

#include "fleetwide/charts/chart_content.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/task_group.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace fleetwide {

using reactor::awaitable;

/// A ConfigMap or Secret at home, with what it has.
struct values_object {
  /// Of the ConfigMaps that one FleetChart names, in all, and of its Secrets. Of a Secret that
  /// alone has more the texts are not kept.
  static constexpr std::size_t most_bytes = 256 * 1024;

  k8s::object_meta meta;
  std::size_t bytes = 0;                        // of the texts, kept or not
  std::map<std::string, std::string> texts;     // of a Secret decoded
  std::map<std::string, std::string> binaries;  // of a ConfigMap: its binaryData, decoded

  static values_object parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const values_object&, const values_object&) = default;
};

/// The ConfigMaps and Secrets that FleetCharts name, each watched by itself, so that no others are
/// read. What is no longer named is let go.
/// Lifetime: loop and client outlive it; co_await stop() before destruction.
class values_objects {
public:
  using key = std::pair<bool, k8s::object_key>;  // whether it is a Secret
  values_objects(reactor::loop& l, k8s::client& api, k8s::watch_limits limits, reactor::logger log,
                 std::function<void(const key&)> on_change);

  /// From now on these are watched for that object, and no others.
  void want(const k8s::object_key& object, std::set<key> what);
  /// Whether all that is wanted for it has been seen, or is known not to be there.
  bool knows(const k8s::object_key& object) const;
  /// How many are watched.
  std::size_t watched() const noexcept { return watched_.size(); }
  /// Null: it is not there, or not seen yet.
  const values_object* find(const key& k) const;
  awaitable<void> stop();

private:
  using informer = k8s::informer<values_object>;
  void let_go(const key& k);

  reactor::loop& loop_;
  k8s::client& api_;
  k8s::watch_limits limits_;
  reactor::logger log_;
  std::function<void(const key&)> on_change_;
  std::map<k8s::object_key, std::set<key>> wanted_;
  std::map<key, std::shared_ptr<informer>> watched_;
  reactor::task_group closing_;
};

}  // namespace fleetwide
