// What people see of KryptonDeployments: a row for each region, a unit for each object.
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <span>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;

/// What a reader wants to know is what comes behind finalizer, chart and namespace.
deployment_plan behind_preparations(deployment_world w) {
  w.chart.is = chart_facts::state::loaded;
  deployment_plan p = plan_deployment(w);
  if (p.next == step::add_finalizer) {
    std::vector<k8s::interned> all(w.object->meta.finalizers.begin(),
                                   w.object->meta.finalizers.end());
    all.emplace_back(names::deployment_cleanup);
    w.object->meta.finalizers = k8s::shared_array<k8s::interned>(std::span(all));
    p = plan_deployment(w);
  }
  if (p.next == step::create_namespace) {
    const names::owner_reference me{std::string(names::deployment_kind), w.object->meta.key()};
    w.workspace = {workspace_facts::state::present, me.text()};
    p = plan_deployment(w);
  }
  return p;
}

units::hold chart_unknown_of(const std::string& unit) {
  units::hold h;
  h.unit = unit;
  h.code = hold_code::chart_unknown.code;
  h.sentence = hold_code::chart_unknown.meaning;
  h.released_by = hold_code::chart_unknown.released;
  return h;
}

}  // namespace

units::unit deployments_at_home::shown(const krypton_deployment& d,
                                       const deployment_plan* p) const {
  units::unit u;
  u.name = d.meta.name.str();  // as its namespace there: of several with one name one has that
  const k8s::condition* ready = k8s::find_condition(d.status.conditions, "Ready");
  if (ready && ready->reason == "NamespaceConflict") u.name += "." + d.meta.ns.str();
  u.state = phase_in(d);
  const bool rests = !p || p->next == step::none;
  u.is = u.state == "Error"            ? units::standing::trouble
         : u.state == "Ready" && rests ? units::standing::done
                                       : units::standing::moving;
  u.message = d.status.last_message;
  const std::string step =
      p && p->next != step::none ? std::string(name_of(p->next)) : std::string();
  u.details = {
      {.key = "step", .value = step},
      {.key = "release",
       .value = names::deployment_release_name(d.meta.name.str()),
       .column = "RELEASE",
       .label = "release"},
      {.key = "deployment", .value = d.meta.key().text(), .label = "deployment"},
      {.key = "account", .value = d.account, .label = "account"},
      {.key = "region", .value = d.region, .label = "region"},
  };
  return u;
}

awaitable<std::vector<units::plan_row>> deployments_at_home::overview() {
  const reactor::gate::visit here(overviews_);
  co_return co_await look_at_all();
}

awaitable<std::vector<units::plan_row>> deployments_at_home::look_at_all() {
  const auto wanted = options_.wanted();
  std::map<k8s::object_key, std::vector<krypton_deployment>> by_region;
  objects_.each(
      [&](const krypton_deployment& d) { by_region[target_of(d, wanted->all.ns)].push_back(d); });
  std::vector<units::plan_row> rows;
  for (auto& [secret, all] : by_region) {
    std::ranges::sort(all, {}, [](const krypton_deployment& d) { return d.meta.key(); });
    units::plan_row row;
    row.name = secret.name.empty() ? "no region" : secret.text();
    // Without a word about the chart the service at work knows it.
    const bool asks = options_.does == units::mode::look && !wanted->all.chart_is_said;
    if (!asks) row.target = reactor::redact(wanted->all.chart.text());
    row.capacity = wanted->all.per_cluster;
    for (const krypton_deployment& d : all) {
      std::optional<deployment_plan> p;
      if (options_.does == units::mode::act) {
        if (const memory* m = find(d.meta.key())) p = m->last;
      } else {
        if (asks) p = plan_said_by(d);
        if (p && !d.status.last_applied_chart.empty()) row.target = d.status.last_applied_chart;
        if (!asks) p = co_await look(d);
      }
      if (const memory* m = find(d.meta.key()); m && m->running) ++row.occupied;
      units::unit u = shown(d, p ? &*p : nullptr);
      units::add_problems(row.problems, deployment_conditions, d.status.conditions, u.name);
      row.updated += u.is == units::standing::done;
      row.updating += u.is == units::standing::moving;
      row.degraded += u.is == units::standing::trouble;
      if (asks && !p) {
        row.holds.push_back(chart_unknown_of(u.name));
        row.forecast.push_back(row.holds.back());
      } else if (p && p->next != step::none) {
        row.start.push_back(u.name);
        row.actions.push_back({std::string(name_of(p->next)), u.name});
      } else if (p) {
        if (auto h = hold_of(d, *p)) {
          h->unit = u.name;
          row.holds.push_back(*h);
          row.forecast.push_back(std::move(*h));
        }
      }
      row.units.push_back(std::move(u));
    }
    rows.push_back(std::move(row));
  }
  co_return rows;
}

awaitable<std::optional<deployment_plan>> deployments_at_home::look(krypton_deployment d) {
  const reactor::steady_time until = on_.loop().now() + region::patience + 1s;
  for (;;) {
    auto g = co_await gather(d.meta.key(), d, ask::server);
    if (g && !g->again_soon) {
      if (g->unreadable.empty()) co_return behind_preparations(std::move(g->is));
      deployment_plan p = plan_for(*g);
      p.reason = g->unreadable;
      co_return p;
    }
    if (on_.loop().now() >= until) co_return std::nullopt;
    co_await on_.loop().sleep_for(100ms);
  }
}

}  // namespace helm::tenants
