// Operations of Helm's for KryptonDeployments, and what they led to.
#include "helm/placed/workspace_writes.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using reactor::log_level;

}  // namespace

void deployments_at_home::before_deciding(const key_type& key, const under_way& me, gathered& g) {
  if (me.at != step::leave_former_region) return;
  const memory* m = find(key);
  g.is.workloads = m && m->workloads ? m->workloads : availability{};
}

operation_facts deployments_at_home::facts_of(const under_way& me, const deployment_plan& p) const {
  return {.what = me.what,
          .is_reachable = me.to.at != nullptr,
          .asks_owner = true,
          .leaves = me.at == step::leave_former_region,
          .release = p.release};
}

bool deployments_at_home::complete(operation_order& order, const gathered& g,
                                   const deployment_plan& p, const under_way& me) {
  const auto wanted = options_.wanted();
  order.values = detached_copy(wanted->in_regions.values);
  order.timeout = order.uninstalls_in = deployment_timeout;
  order.ready = operation_order::workloads::left;
  return (p.leaving ? *p.leaving : g.to.secret) == me.to.secret &&
         g.is.wanted == wanted->in_regions.release;
}

awaitable<void> deployments_at_home::announce(key_type, gathered& g, deployment_plan p) {
  tell_all(*g.is.object, p.events);
  if (p.is && !g.is.object->meta.deleting()) (void)co_await say(*g.is.object, *p.is, std::string());
}

/// Whose the release on that region is: as it was noted there, else as its namespace says.
awaitable<operation_answer> deployments_at_home::owner_of(key_type key, under_way& me,  // borrowed
                                                          std::string workspace) {
  operation_answer out;
  out.owner = co_await me.release->noted_owner();
  if (out.owner.empty()) {
    cluster_reads reads(on_.loop(), me.to.at->api(), records_of(options_.wanted()->all));
    auto is = co_await reads.workspace(std::move(workspace));
    if (is) out.owner = is->owner;
  }
  out.is_mine = out.owner == owner(key).text();
  const auto named = names::read_owner(out.owner);
  out.is_taken = named && named->kind == names::deployment_kind && named->key != key &&
                 objects_.find(named->key);
  co_return out;
}

void deployments_at_home::say_left(const krypton_deployment& about, const visit& at,
                                   const std::string& owner) {
  log(log_level::warning, "the release in a former region is left", about,
      at.secret.text() + ": it is not noted as this object's, but as " +
          (owner.empty() ? "none" : owner));
}

deployments_at_home::outcome_words deployments_at_home::words_of(operation what, operation_end how,
                                                                 const gathered& g,
                                                                 const deployment_plan& p) const {
  const bool failed = how == operation_end::failed;
  switch (what) {
    case operation::uninstall:
      if (failed) return {log_line::uninstall_failed, deployment_event::uninstall_failed, {}};
      return {log_line::uninstalled, deployment_event::uninstalled, p.release};
    case operation::install:
      if (failed) return {log_line::install_failed, deployment_event::deploy_failed, {}};
      return {log_line::installed, deployment_event::deployed, g.is.wanted.chart.text()};
    default:
      if (failed) return {log_line::upgrade_failed, deployment_event::deploy_failed, {}};
      return {log_line::upgraded, deployment_event::deployed, g.is.wanted.chart.text()};
  }
}

awaitable<void> deployments_at_home::say_failure(key_type, krypton_deployment about, step at,
                                                 operation, std::string text) {
  if (at != step::leave_former_region)
    (void)co_await say(std::move(about), failed_deployment(text), std::string());
}

/// The rest of leaving a former region: our namespace there, and what the object notes of it.
awaitable<std::string> deployments_at_home::forget_place(krypton_deployment about, visit there,
                                                         std::string workspace) {
  const key_type key = about.meta.key();
  if (there.at) {
    cluster_reads reads(on_.loop(), there.at->api(), records_of(options_.wanted()->all));
    auto is = co_await reads.workspace(workspace);
    if (!is) co_return is.error().message();
    const names::owner_reference me = owner(key);
    if (may_delete(*is, workspace, me, options_.wanted()->all.ns)) {
      auto gone = co_await delete_workspace(there.at->api(), workspace, me);
      if (!gone) co_return gone.error().message();
    }
  }
  auto forgotten = co_await places_.remove(key, there.secret);
  if (!forgotten) co_return forgotten.error().message();
  auto end = co_await writes_.annotate(std::move(about), fingerprint_name(there), std::nullopt);
  co_return end.is == write_end::failed ? end.why : std::string();
}

awaitable<void> deployments_at_home::end_operations_on(const k8s::cluster& leaving) {  // borrowed
  std::vector<key_type> keys;
  for (const auto& [key, m] : known_)
    if (m.running && m.running->to.at.get() == &leaving) keys.push_back(key);
  co_await end_operations(std::move(keys));
}

}  // namespace helm::tenants
