#include "fleetwide/charts/api.hpp"

#include "app/api/setup.hpp"
#include "fleetwide/charts/chart_home.hpp"
#include "fleetwide/charts/chart_members.hpp"
#include "fleetwide/charts/chart_words.hpp"
#include "fleetwide/kinds/fleet_grant.hpp"
#include "fleetwide/plan/holds.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/fleet_values.hpp"

#include <map>
#include <memory>
#include <utility>

namespace fleetwide {
namespace {

/// Home's objects and the clusters' parts, which hear of each other here.
class running final : public units::running_api {
public:
  running(const units::api_environment& h, chart_settings s)
      : environment_(h),
        settings_(std::move(s)),
        wanted_(settings_.helm.wanted ? settings_.helm.wanted : helm::tenants::wanted_by_default()),
        supply_(h.loop, helm::tenants::supply_options(h, settings_.helm)),
        slots_(h.loop, wanted_->all.per_cluster, wanted_->all.in_all),
        rows_(h.metrics, std::string(charts_api)) {}

  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    chart_home::chart_options o;
    o.common.does = environment_.does;
    o.common.ns = settings_.ns;
    o.common.fleet = &environment_.fleet;
    o.common.packs = &environment_.packs;
    o.common.signals = environment_.signals;
    o.common.members = [this](const std::string& cluster) -> member_part* {
      const auto found = parts_.find(cluster);
      return found == parts_.end() ? nullptr : found->second;
    };
    o.common.limits = environment_.limits;
    o.common.metrics = &environment_.metrics;
    o.common.rows = &rows_;
    o.common.on_stop = [this] { home_ = nullptr; };
    o.charts = &supply_;
    o.operations = wanted_->all.in_all;
    auto made = std::make_unique<chart_home>(on, std::move(o));
    home_ = made.get();
    return made;
  }

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    chart_members::options o;
    o.does = environment_.does;
    o.wanted = [this] { return wanted_; };
    o.charts = &supply_;
    o.slots = &slots_;
    o.brake = units::brake_on(environment_, std::string(charts_api), on);
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.on_change = [this](const std::string& claim) {
      if (home_) home_->claim_changed(claim);
    };
    o.is_asked = [this, &on](const chart_order& order) {
      return home_ && home_->asks_for(order, on.on().name());
    };
    o.on_doubt = [this](chart_members* p, const std::string& claim) {
      if (home_) home_->doubt(*p, claim);
    };
    o.on_recovered = [this] {
      if (home_) home_->reconsider();
    };
    o.on_stop = [this](chart_members* p) {
      parts_.erase(p->on().on().name());
      if (home_) home_->reconsider();
    };
    auto made = std::make_unique<chart_members>(on, std::move(o));
    parts_[on.on().name()] = made.get();
    return made;
  }

private:
  units::api_environment environment_;
  chart_settings settings_;
  std::shared_ptr<const helm::tenants::wanted_everywhere> wanted_;
  helm::tenants::chart_supply supply_;
  helm::placed::operation_slots slots_;
  units::row_budget rows_;
  chart_home* home_ = nullptr;
  std::map<std::string, chart_members*> parts_;  // by cluster
};

}  // namespace

units::api charts(chart_settings s) {
  units::api a;
  a.name = charts_api;
  a.says = {"fleetchart", "fleetcharts", "member", "members"};
  a.command = charts_command;
  a.home_kinds = {fleet_charts(), fleet_grants()};
  a.remedy = "kubectl apply --server-side -f deploy/crds/fleet";
  a.watches = "FleetCharts";
  a.loads = "FleetCharts and releases";
  a.runs_on = units::api::place::both;
  a.where_served = true;
  a.lease = "windlass-fleetcharts.windlass.dev";
  a.lease_ns = "bootc-operator";
  a.holds.assign(hold_code::of_members.begin(), hold_code::of_members.end());
  a.holds.insert(a.holds.end(), hold_code::of_charts.begin(), hold_code::of_charts.end());
  for (k8s::event_kind e : fleet_event::table) {
    if (e.about != names::fleet_pool) continue;
    e.about = names::fleet_chart;
    a.events.push_back(e);
  }
  a.events.insert(a.events.end(), chart_event::table.begin(), chart_event::table.end());
  a.conditions.assign(chart_conditions.begin(), chart_conditions.end());
  a.metrics.assign(chart_metrics::all.begin(), chart_metrics::all.end());
  a.hooks = {policies::fleet_revision_hook(), policies::fleet_values_hook()};
  a.workers = helm::tenants::start_chart_children;
  a.settings = [](app::flags& f) -> units::api_setup {
    const auto told = helm::tenants::declare_settings(f);
    return [told](units::api& to, const units::process_facts& p) -> reactor::result<void> {
      chart_settings now;
      now.ns = p.ns;
      if (p.is_named) {
        auto read = helm::tenants::read_settings(*told, p);
        if (!read) return read.error();
        now.helm = *std::move(read);
      }
      set_up(to, std::move(now));
      return {};
    };
  };
  set_up(a, std::move(s));
  return a;
}

void set_up(units::api& to, chart_settings s) {
  to.make =
      [s = std::move(s)](const units::api_environment& h) -> std::unique_ptr<units::running_api> {
    return std::make_unique<running>(h, s);
  };
}

chart_home* charts_at_home(k8s::cluster& home) noexcept {
  return dynamic_cast<chart_home*>(home.part(charts_api));
}

}  // namespace fleetwide
