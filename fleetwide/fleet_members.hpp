#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "fleetwide/fleet_home.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/informer.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <string>

namespace fleetwide {

/// What one cluster has of the objects that are said once at home: its pools as they are, and the
/// writes of them. It decides nothing.
/// Lifetime: the engagement outlives it; co_await stop() before destruction.
class fleet_members final : public member_part {
public:
  struct options {
    k8s::watch_limits limits;
    units::brake_question brake;  // asked before a pool is written
    /// A pool changed that is, or was, ours, or may become so.
    std::function<void(const std::string& pool)> on_change;
    std::function<void()> on_recovered;
    std::function<void(fleet_members*)> on_stop;
  };
  fleet_members(k8s::engagement& on, options o);

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string sync_problem() const override { return pools_.sync_problem(); }
  void reconsider() override;

  const k8s::engagement& on() const noexcept override { return on_; }
  const units::brake_question& brake() const noexcept override { return options_.brake; }
  /// Null where there is none of that name.
  const bootc::node_pool* pool(const std::string& name) const { return pools_.find({"", name}); }

  /// Server-side apply. Errors: errc::conflict where another manager has one of the fields.
  awaitable<k8s::result<void>> apply(std::string pool, boost::json::object body,
                                     k8s::apply_conflicts conflicts);
  /// Deletes the pool if it is still the one of that UID.
  awaitable<k8s::result<void>> remove(std::string pool, std::string uid);
  /// Takes our marks off it; the pool stays as it is.
  awaitable<k8s::result<void>> let_go(std::string pool, std::string version);

private:
  k8s::engagement& on_;
  options options_;
  k8s::informer<bootc::node_pool> pools_;
};

}  // namespace fleetwide
