#include "helm/tenants/home/deployments_api.hpp"

#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "reactor/loop.hpp"

#include <utility>

namespace helm::tenants {
namespace {

chart_supply::options supply_of_regions(const units::api_environment& h, const api_settings& s) {
  chart_supply::options o = supply_options(h, s);
  o.without_index = true;
  return o;
}

class deployments_running final : public units::running_api {
public:
  deployments_running(const units::api_environment& h, const api_settings& s)
      : environment_(h),
        wanted_(s.wanted ? s.wanted : wanted_by_default()),
        kind_(s.on_clusters),
        charts_(h.loop, supply_of_regions(h, s)),
        slots_(h.loop, wanted_->all.per_cluster, wanted_->all.in_all) {}

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement&) override {
    return nullptr;
  }

  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    show_build(environment_.metrics);
    deployments_at_home::options o;
    o.does = environment_.does;
    o.kind = kind_;
    o.wanted = [this] { return wanted_; };
    o.charts = &charts_;
    o.slots = &slots_;
    o.brake = units::brake_on(environment_, std::string(deployments_api), on);
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.on_stop = [this] { home_ = nullptr; };
    if (wanted_->all.ensure_home_crds && environment_.give_up)
      o.give_up = [this](std::string why) { environment_.give_up("--ensure-watch-crds: " + why); };
    auto made = std::make_unique<deployments_at_home>(on, std::move(o));
    home_ = made.get();
    return made;
  }

  units::awaitable<void> reload() override {
    auto now = co_await read_again(environment_, wanted_, "KryptonDeployments");
    if (!now) co_return;
    wanted_ = std::move(now);
    if (home_) home_->reconsider();
  }

private:
  units::api_environment environment_;
  std::shared_ptr<const wanted_everywhere> wanted_;
  kind_on_cluster kind_;
  chart_supply charts_;
  operation_slots slots_;
  deployments_at_home* home_ = nullptr;
};

}  // namespace

units::api deployments(api_settings s) {
  units::api a;
  a.name = deployments_api;
  a.says = {"region", "regions", "deployment", "deployments"};
  a.unit_kind = krypton_deployment_resource();
  a.remedy =
      "kubectl apply --server-side -f deploy/crds/tenants, or name kryptondeployments in --apis";
  a.watches = "KryptonDeployments";
  a.loads = "KryptonDeployments";
  a.runs_on = units::api::place::home;
  a.where_served = true;
  a.lease = names::deployments_lease;
  a.workers = start_chart_children;
  a.holds.assign(hold_code::of_deployments.begin(), hold_code::of_deployments.end());
  a.events.assign(deployment_event::table.begin(), deployment_event::table.end());
  a.conditions.assign(deployment_conditions.begin(), deployment_conditions.end());
  a.settings = [](app::flags& f) -> units::api_setup {
    const auto told = declare_settings(f);
    declare_settings_of_regions(f, *told);
    return [told](units::api& to, const units::process_facts& p) -> reactor::result<void> {
      if (!p.is_named) return {};
      auto s = read_settings(*told, p);
      if (!s) return s.error();
      s->on_clusters = s->wanted->all.ensure_home_crds ? api_settings::kinds::ensured
                                                       : api_settings::kinds::as_served;
      set_up_deployments(to, *std::move(s));
      return {};
    };
  };
  set_up_deployments(a, std::move(s));
  return a;
}

void set_up_deployments(units::api& to, api_settings s) {
  // Without settings there is no chart to install, and no kind at home to look for.
  to.home_kinds.clear();
  if (s.wanted && s.on_clusters == api_settings::kinds::as_served)
    to.home_kinds = {krypton_deployment_resource()};
  to.lease_ns = s.wanted ? s.wanted->all.ns : "default";
  to.make = [s = std::move(s)](const units::api_environment& h) {
    return std::make_unique<deployments_running>(h, s);
  };
}

}  // namespace helm::tenants
