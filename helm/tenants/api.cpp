#include "helm/tenants/api.hpp"

#include "helm/placed/operation_slots.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "helm/tenants/waves/fleet_progress.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/disruption.hpp"
#include "policies/rollout.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace helm::tenants {
namespace {

constexpr std::size_t values_bytes_limit = 4u << 20;
/// Connecting to a cluster, and reading what is there, is over or has failed by then; a person who
/// looks has less patience.
constexpr reactor::nanoseconds longest_unheard = std::chrono::seconds(60),
                               longest_unseen = std::chrono::seconds(10);
/// Every cluster asks, and a fleet is large: a summary serves for so long.
constexpr reactor::nanoseconds summary_serves = std::chrono::seconds(1);

outcome<std::vector<values_file>> read_files(const std::vector<std::string>& paths) {
  std::vector<values_file> out;
  for (const std::string& path : paths) {
    auto text = reactor::load_file(path, values_bytes_limit);
    if (!text) return problem{"chart values: " + path + ": " + text.error().message()};
    out.push_back({path, std::move(*text)});
  }
  return out;
}

class running final : public units::running_api {
public:
  running(const units::api_environment& h, const api_settings& s)
      : environment_(h),
        wanted_(s.wanted ? s.wanted : wanted_by_default()),
        kind_(s.on_clusters),
        charts_(h.loop, supply_options(h, s)),
        slots_(h.loop, wanted_->all.per_cluster, wanted_->all.in_all),
        rows_(h.metrics, std::string(api_name)) {}

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    show_build(environment_.metrics);
    tenant_cluster::options o;
    o.does = environment_.does;
    o.kind = kind_;
    o.wanted = [this] { return wanted_; };
    o.server = [this, &on] {
      return environment_.fleet.names_of(on.on(), k8s::sameness::asked, on.name());
    };
    o.known = [this](std::string_view name) { return is_known(name); };
    o.charts = &charts_;
    o.slots = &slots_;
    o.brake = units::brake_on(environment_, std::string(api_name), on);
    o.ask_turn = [this](turn_question q) { return ask(std::move(q)); };
    o.tell_at_home = [this, &on](const k8s::event_kind& what, std::string note) {
      environment_.fleet.tell(on.on().name(), what, std::move(note));
    };
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.rows = &rows_;
    o.on_stop = [this](tenant_cluster* c) { parts_.erase(c); };
    auto made = std::make_unique<tenant_cluster>(on, std::move(o));
    parts_.insert(made.get());
    return made;
  }

  /// Values files; a changed state is an upgrade, and what waits after a failure is tried again.
  units::awaitable<void> reload() override {
    auto now = co_await read_again(environment_, wanted_, "Tenants");
    if (!now) co_return;
    wanted_ = std::move(now);
    for (tenant_cluster* c : parts_) c->recover();
  }

private:
  /// Clusters that have neither answered nor failed: how far they are is not known.
  std::vector<std::string> unheard() const {
    std::vector<std::string> out;
    for (const k8s::cluster* c : environment_.fleet.clusters()) {
      const k8s::engagement* e = c->find(api_name);
      const bool is_known = c->is_connected() ? !e || e->is_settled() : k8s::is_failure(c->state());
      if (!is_known) out.push_back(c->name());
    }
    return out;
  }

  /// Why it is not known how far the fleet is; empty when it is known, or was not for too long.
  std::string not_known() {
    const std::vector<std::string> missing = unheard();
    if (environment_.fleet.is_discovered() && missing.empty()) {
      unknown_since_.reset();
      return {};
    }
    if (!unknown_since_) unknown_since_ = environment_.loop.now();
    const bool looks = environment_.does == units::mode::look;
    if (environment_.loop.now() - *unknown_since_ >= (looks ? longest_unseen : longest_unheard))
      return {};
    return missing.empty() ? std::string("the fleet's clusters are being looked for")
                           : std::to_string(missing.size()) + " clusters have not answered yet, " +
                                 missing.front() + " among them";
  }

  const std::vector<policies::rollout_cluster>& progress_of_all() {
    const reactor::steady_time now = environment_.loop.now();
    const std::string& wanted_now = wanted_->release.fingerprint;
    if (summary_.fingerprint == wanted_now && now - summary_.at < summary_serves)
      return summary_.clusters;
    summary_ = {wanted_now, now, {}};
    std::vector<fleet_progress::seen> all;
    for (const k8s::cluster* c : environment_.fleet.clusters()) {
      fleet_progress::seen& one = all.emplace_back();
      one.name = c->name();
      one.labels = c->labels();
      one.was_reached = c->was_engaged();
      if (tenant_cluster* part = tenants_part(*c)) one.is = part->progress();
    }
    summary_.clusters = last_known_.take(std::move(all), wanted_now, now);
    return summary_.clusters;
  }

  units::awaitable<turn_answer> ask(turn_question q) {
    if (const k8s::cluster* c = environment_.fleet.find(q.cluster)) q.cluster_labels = c->labels();
    const std::string_view wave = q.cluster_labels.get(names::wave);
    const bool is_first = wave.empty() || wave == "0";  // which waits for no other cluster
    std::string why = is_first ? std::string() : not_known();
    while (!why.empty() && environment_.does == units::mode::look) {
      co_await environment_.loop.sleep_for(std::chrono::milliseconds(50));
      why = not_known();
    }
    if (!why.empty()) co_return all_wait(q, hold_code::fleet_loading, std::move(why));
    q.clusters = progress_of_all();
    q.max_failures = wanted_->all.max_failures;
    q.soak = wanted_->all.wave_soak;
    co_return co_await ask_turn(environment_.packs, std::move(q), environment_.signals);
  }

  bool is_known(std::string_view name) const {
    if (!environment_.fleet.is_discovered() || environment_.fleet.find(name)) return true;
    for (const k8s::fleet::unusable& u : environment_.fleet.without_connection())
      if (u.name == name) return true;
    return false;
  }

  units::api_environment environment_;
  std::shared_ptr<const wanted_everywhere> wanted_;
  kind_on_cluster kind_;
  chart_supply charts_;
  operation_slots slots_;
  units::row_budget rows_;
  std::set<tenant_cluster*> parts_;
  std::optional<reactor::steady_time> unknown_since_;
  fleet_progress last_known_;
  struct {
    std::string fingerprint;  // of what is wanted
    reactor::steady_time at{};
    std::vector<policies::rollout_cluster> clusters;
  } summary_;
};

}  // namespace

std::shared_ptr<const wanted_everywhere> wanted_by_default() {
  auto wanted = wanted_from(default_settings(), {});
  return wanted ? *wanted : std::make_shared<const wanted_everywhere>();
}

void show_build(reactor::metrics& in) {
  in.get_gauge(tenant_metrics::build_info, {{"version", WINDLASS_VERSION}}).set(1);
}

chart_supply::options supply_options(const units::api_environment& h, const api_settings& s) {
  chart_supply::options o;
  o.where = s.where;
  o.environment = s.environment;
  if (!o.environment) o.environment = [](std::string_view) { return std::string(); };
  o.metrics = &h.metrics;
  o.log = h.log;
  return o;
}

reactor::awaitable<std::shared_ptr<const wanted_everywhere>> read_again(
    units::api_environment h, std::shared_ptr<const wanted_everywhere> was, std::string whose) {
  const auto read = [](const settings& s) { return load_wanted(s); };
  auto now = co_await h.loop.offload(read, was->all);
  if (!now) {
    h.log.error("the values of " + whose + " cannot be read; the old ones stay",
                {{"why", now.error().text}});
    co_return nullptr;
  }
  const bool same = (*now)->release.fingerprint == was->release.fingerprint;
  h.log.info("the values of " + whose + (same ? " are what they were" : " were read again"),
             {{"fingerprint", (*now)->release.fingerprint}});
  co_return std::move(*now);
}

outcome<std::shared_ptr<const wanted_everywhere>> load_wanted(settings s) {
  auto files = read_files(s.values_files);
  if (!files) return files.error();
  return wanted_from(std::move(s), std::move(*files));
}

units::api api(api_settings s) {
  units::api a;
  a.name = api_name;
  a.says = {"chart", "charts", "tenant", "tenants"};
  a.unit_kind = tenant_resource();
  a.remedy = "kubectl apply --server-side -f deploy/crds/tenants, or name tenants in --apis";
  a.watches = "Tenants";
  a.loads = "Tenants";
  a.acts_under = k8s::cluster_api::names::each;  // clusterRef may name any of them (tenants.md)
  a.where_served = true;                         // it has nothing at home, so --apis has to name it
  a.lease = names::lease;
  a.holds.assign(hold_code::of_tenants.begin(), hold_code::of_tenants.end());
  a.events.assign(tenant_event::table.begin(), tenant_event::table.end());
  a.conditions.assign(tenant_conditions.begin(), tenant_conditions.end());
  a.metrics.assign(tenant_metrics::all.begin(), tenant_metrics::all.end());
  a.state_metric = &tenant_metrics::cluster_state;
  a.hooks = {policies::rollout_hook(), policies::disruption_hook()};
  a.workers = start_chart_children;
  a.settings = [](app::flags& f) -> units::api_setup {
    const auto told = declare_settings(f);
    return [told](units::api& to, const units::process_facts& p) -> reactor::result<void> {
      if (!p.is_named) return {};
      auto s = read_settings(*told, p);
      if (!s) return s.error();
      s->on_clusters = api_settings::kinds::ensured;
      set_up(to, *std::move(s));
      to.wants_home_in_fleet = told->self_cluster.value_or(p.finds_fleet);
      return {};
    };
  };
  set_up(a, std::move(s));
  return a;
}

void set_up(units::api& to, api_settings s) {
  to.kinds.clear();
  if (s.on_clusters == api_settings::kinds::as_served) to.kinds = {tenant_resource()};
  to.lease_ns = s.wanted ? s.wanted->all.ns : "default";
  to.make = [s = std::move(s)](const units::api_environment& h) {
    return std::make_unique<running>(h, s);
  };
}

namespace {

/// Helm's files, where nothing says where they are, as in the original's image.
registry::environment as_in_original_image(const registry::environment& environment) {
  return [environment](std::string_view name) {
    std::string said = environment(name);
    if (!said.empty()) return said;
    if (name == "HELM_REPOSITORY_CONFIG") return std::string("/.config/helm/repositories.yaml");
    if (name == "HELM_REPOSITORY_CACHE") return std::string("/.cache/helm/repository");
    if (name == "HELM_REGISTRY_CONFIG") return std::string("/.config/helm/registry.json");
    return said;
  };
}

}  // namespace

reactor::result<api_settings> read_settings(told_settings& told, const units::process_facts& p) {
  const auto wrong = [](const problem& why) {
    return reactor::make_fault(reactor::errc::malformed, "read the settings of Tenants", why.text);
  };
  auto all = settings_from(told);
  if (!all) return wrong(all.error());
  all->ns = p.ns;
  all->kubeconfig_key = p.kubeconfig_key;
  all->chart_is_said = all->chart_is_said || p.is_service;
  auto wanted = load_wanted(std::move(*all));
  if (!wanted) return wrong(wanted.error());
  api_settings s;
  s.wanted = *wanted;
  s.environment = p.environment;
  s.where = sources::settings_from(
      told.compat.value == "krypton" ? as_in_original_image(p.environment) : p.environment);
  told.repository_config.value = s.where.repository_config;
  told.repository_cache.value = s.where.repository_cache;
  told.registry_config.value = s.where.registry_config;
  return s;
}

tenant_cluster* tenants_part(const k8s::cluster& c) noexcept {
  return dynamic_cast<tenant_cluster*>(c.part(api_name));
}

}  // namespace helm::tenants
