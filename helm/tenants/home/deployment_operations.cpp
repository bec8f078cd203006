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

awaitable<void> deployments_at_home::perform(key_type key, under_way* me) {
  auto decision = co_await decide_again(key, me);
  if (!decision) co_return;
  gathered g = std::move(decision->g);
  deployment_plan p = std::move(decision->p);
  if (p.leaving && !(*p.leaving == me->to.secret)) co_return;
  const auto wanted = options_.wanted();
  if (!(g.is.wanted == wanted->in_regions.release))
    co_return;  // read again meanwhile: it is planned again
  auto order = order_for(key, *me, p);
  if (!order) co_return;
  order->values = detached_copy(wanted->in_regions.values);
  order->timeout = order->uninstalls_in = deployment_timeout;
  order->ready = operation_order::workloads::left;
  tell_all(*g.is.object, p.events);
  if (p.is && !g.is.object->meta.deleting()) (void)co_await say(*g.is.object, *p.is, std::string());
  if (me->what != operation::uninstall) co_await note_place(*g.is.object, me->to.secret);
  std::string failure;
  if (me->to.at) {
    me->release = std::make_unique<release_operation>(
        on_.loop(), me->to.at->api(), me->to.at->discovery(), *std::move(order), on_.log());
    const std::string noted = co_await owner_on(*me, p.workspace);
    const bool leaves = me->at == step::leave_former_region;
    const std::string other = taken_by(noted, key);
    const bool is_mine = noted == owner(key).text();
    if (leaves && !is_mine) {
      log(log_level::warning, "the release in a former region is left", *g.is.object,
          me->to.secret.text() + ": it is not noted as this object's, but as " +
              (noted.empty() ? "none" : noted));
    } else if (!leaves && !other.empty()) {
      failure = "release " + p.release + " is " + other + "'s";
    } else {
      auto ended = co_await me->release->run();
      if (!ended) failure = ended.error().text;
      count_operation(me->what, me->to.secret.text(), failure);
    }
    if (const std::string& doubted = me->release->doubted(); !doubted.empty()) {
      log(log_level::warning, "a record of the release was not believed", *g.is.object, doubted);
      tell(*g.is.object, deployment_event::not_noted, doubted);
    }
  }
  me->telling = true;
  me->slot.give_back();
  co_await conclude(key, me, std::move(g), std::move(p), std::move(failure));
}

/// Whose the release on that region is: as it was noted there, else as its namespace says.
awaitable<std::string> deployments_at_home::owner_on(under_way& me,  // borrowed
                                                     std::string workspace) {
  std::string noted = co_await me.release->noted_owner();
  if (!noted.empty()) co_return noted;
  cluster_reads reads(on_.loop(), me.to.at->api(), records_of(options_.wanted()->all));
  auto is = co_await reads.workspace(std::move(workspace));
  co_return is ? is->owner : std::string();
}

awaitable<void> deployments_at_home::conclude(key_type key, under_way* me, gathered g,
                                              deployment_plan p, std::string failure) {
  krypton_deployment about = std::move(*g.is.object);
  const bool uninstalls = me->what == operation::uninstall;
  if (failure.empty() && me->at == step::leave_former_region)
    failure = co_await forget_region(about, me->to, p.workspace);
  const std::string text = safe_message(failure);
  memory* m = find(key);
  if (!failure.empty()) {
    if (m) m->tries.failed(setback::edge_operation, g.is.attempt, on_.loop().now());
    cleaning_failed(about);
    const std::string_view line = me->what == operation::install   ? log_line::install_failed
                                  : me->what == operation::upgrade ? log_line::upgrade_failed
                                                                   : log_line::uninstall_failed;
    log(log_level::error, line, about, text);
    tell(about, uninstalls ? deployment_event::uninstall_failed : deployment_event::deploy_failed,
         text);
    if (me->at != step::leave_former_region)
      (void)co_await say(about, failed_deployment(text), std::string());
    co_return;
  }
  if (m) m->tries.succeeded();
  if (uninstalls) {
    log(log_level::info, log_line::uninstalled, about);
    tell(about, deployment_event::uninstalled, p.release);
    co_return;
  }
  if (m) m->applied = g.is.wanted.fingerprint;
  log(log_level::info, me->what == operation::install ? log_line::installed : log_line::upgraded,
      about);
  tell(about, deployment_event::deployed, g.is.wanted.chart.text());
  const bool noted = co_await note_fingerprint(key, about, g.to, g.is.wanted.fingerprint);
  if (!noted && (m = find(key)))
    m->tries.failed(setback::status_write, g.is.attempt, on_.loop().now());
}

awaitable<std::string> deployments_at_home::forget_region(krypton_deployment about, visit there,
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
