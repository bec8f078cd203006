#include "fleetwide/api.hpp"

#include "app/api/setup.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "fleetwide/events.hpp"
#include "fleetwide/fleet_members.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/holds.hpp"
#include "fleetwide/pool_home.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_revision.hpp"

#include <map>
#include <memory>
#include <utility>

namespace fleetwide {
namespace {

/// Home's objects and the clusters' parts, which hear of each other here.
class running final : public units::running_api {
public:
  running(const units::api_environment& h, settings s)
      : environment_(h), settings_(std::move(s)), rows_(h.metrics, std::string(pools_api)) {}

  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    fleet_home::options o;
    o.does = environment_.does;
    o.ns = settings_.ns;
    o.fleet = &environment_.fleet;
    o.packs = &environment_.packs;
    o.signals = environment_.signals;
    o.members = [this](const std::string& cluster) -> member_part* {
      const auto found = parts_.find(cluster);
      return found == parts_.end() ? nullptr : found->second;
    };
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.rows = &rows_;
    o.on_stop = [this] { home_ = nullptr; };
    auto made = std::make_unique<pool_home>(on, std::move(o));
    home_ = made.get();
    return made;
  }

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    fleet_members::options o;
    o.limits = environment_.limits;
    o.brake = units::brake_on(environment_, std::string(pools_api), on);
    o.on_change = [this](const std::string& pool) {
      if (home_) home_->claim_changed(pool);
    };
    o.on_recovered = [this] {
      if (home_) home_->reconsider();
    };
    o.on_stop = [this](fleet_members* p) {
      parts_.erase(p->on().on().name());
      if (home_) home_->reconsider();
    };
    auto made = std::make_unique<fleet_members>(on, std::move(o));
    parts_[on.on().name()] = made.get();
    return made;
  }

private:
  units::api_environment environment_;
  settings settings_;
  units::row_budget rows_;
  fleet_home* home_ = nullptr;
  std::map<std::string, fleet_members*> parts_;  // by cluster
};

auto making(settings s) {
  return
      [s = std::move(s)](const units::api_environment& h) -> std::unique_ptr<units::running_api> {
        return std::make_unique<running>(h, s);
      };
}

}  // namespace

units::api pools(settings s) {
  units::api a;
  a.name = pools_api;
  a.says = {"fleetpool", "fleetpools", "member", "members"};
  a.command = pools_command;
  a.kinds = {bootc::node_pools()};
  a.home_kinds = {fleet_pools(), fleet_grants()};
  a.remedy = "kubectl apply --server-side -f deploy/crds/fleet";
  a.watches = "FleetPools";
  a.loads = "FleetPools and pools";
  a.runs_on = units::api::place::both;
  a.where_served = true;
  a.lease = "windlass-fleetpools.windlass.dev";
  a.lease_ns = "bootc-operator";
  a.holds.assign(hold_code::of_members.begin(), hold_code::of_members.end());
  a.events.assign(fleet_event::table.begin(), fleet_event::table.end());
  a.conditions.assign(fleet_conditions.begin(), fleet_conditions.end());
  a.make = making(s);
  a.hooks = {policies::fleet_revision_hook()};
  a.settings = [s](app::flags&) {
    return [s](units::api& to, const units::process_facts& p) -> reactor::result<void> {
      settings now = s;
      now.ns = p.ns;
      set_up(to, std::move(now));
      return {};
    };
  };
  return a;
}

void set_up(units::api& to, settings s) {
  to.make = making(std::move(s));
}

fleet_home* at_home(k8s::cluster& home) noexcept {
  return dynamic_cast<fleet_home*>(home.part(pools_api));
}

}  // namespace fleetwide
