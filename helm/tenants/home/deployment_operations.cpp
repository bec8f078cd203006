// Operations of Helm's for KryptonDeployments: beside the passes, one for an object at a time,
// ended in good order.
#include "helm/tenants/cluster/workspace_writes.hpp"
#include "helm/tenants/home/deployment_under_way.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using reactor::log_level;

/// The step for which the operation was started, or another that it does as well.
bool is_still(deployment_step was, deployment_step now) noexcept {
  const auto uninstalls = [](deployment_step s) {
    return s == deployment_step::uninstall || s == deployment_step::finish_uninstall;
  };
  return was == now || (uninstalls(was) && uninstalls(now));
}

}  // namespace

void deployments_at_home::start_operation(const key_type& key, operation what, deployment_step step,
                                          visit to) {
  memory* m = find(key);
  if (!m || m->running) return;
  auto broken = [this, key](std::string_view, std::exception_ptr thrown) {
    k8s::log_broken(on_.log(), key.text(), thrown, pause_after(setback::operation, 1));
    if (memory* of = find(key); of && of->running) of->running->ended.set();
    controller_.add_after(key, pause_after(setback::operation, 1));
  };
  m->running =
      std::make_unique<under_way>(on_.loop(), what, step, std::move(to), std::move(broken));
  ++operations_;
  under_way* const me = m->running.get();
  me->task.start(std::string(name_of(step)) + " " + key.text(), operate(key, me));
}

awaitable<void> deployments_at_home::operate(key_type key, under_way* me) {
  me->slot = co_await options_.slots->take(me->to.secret.text());
  co_await perform(key, me);
  me->slot.give_back();
  me->ended.set();
  controller_.add(key);
}

/// Decides once more, with the object as the server has it now: since it was planned there was a
/// queue.
awaitable<void> deployments_at_home::perform(key_type key, under_way* me) {
  if (!on_.is_live()) co_return;
  auto now = co_await writes_.current(key);
  if (!now || !*now) co_return;
  gathered g = co_await gather(key, std::move(**now));
  if (g.again_soon || !g.unreadable.empty()) co_return;
  g.world.running = operation::none;
  if (memory* m = find(key); m && me->step == deployment_step::leave_former_region)
    g.world.workloads = m->workloads ? m->workloads : availability{};
  deployment_plan p = plan_deployment(g.world);
  memory* m = find(key);
  if (!m || !is_still(me->step, p.next)) co_return;
  if (p.leaving && !(*p.leaving == me->to.secret)) co_return;

  const auto wanted = options_.wanted();
  if (!(g.world.wanted == wanted->in_regions.release))
    co_return;  // read again meanwhile: it is planned anew
  operation_order order = order_of(wanted->all);
  order.what = me->what;
  order.release = p.release;
  order.ns = p.workspace;
  order.owner = names::owner_reference{std::string(names::deployment_kind), key}.text();
  order.values = detached_copy(wanted->in_regions.values);
  order.timeout = order.uninstalls_in = deployment_timeout;
  order.ready = operation_order::workloads::left;
  if (me->what != operation::uninstall) {
    order.chart = m->chart.hand_over();
    if (!order.chart) co_return;
  }
  tell_all(*g.world.object, p.events);
  if (p.is && !g.world.object->meta.deleting())
    (void)co_await say(*g.world.object, *p.is, std::string());
  if (me->what != operation::uninstall) co_await note_place(*g.world.object, me->to.secret);
  std::string failure;
  if (me->to.at) {
    me->release = std::make_unique<release_operation>(
        on_.loop(), me->to.at->api(), me->to.at->discovery(), std::move(order), on_.log());
    const std::string owner = co_await owner_on(*me, p.workspace);
    const bool leaves = me->step == deployment_step::leave_former_region;
    const std::string other = taken_by(owner, key);
    const names::owner_reference mine{std::string(names::deployment_kind), key};
    const bool is_mine = owner == mine.text();
    if (leaves && !is_mine) {
      log(log_level::warning, "the release in a former region is left", *g.world.object,
          me->to.secret.text() + ": it is not noted as this object's, but as " +
              (owner.empty() ? "none" : owner));
    } else if (!leaves && !other.empty()) {
      failure = "release " + p.release + " is " + other + "'s";
    } else {
      auto ended = co_await me->release->run();
      if (!ended) failure = ended.error().text;
      count_operation(me->what, me->to.secret.text(), failure);
    }
    if (const std::string& doubted = me->release->doubted(); !doubted.empty()) {
      log(log_level::warning, "a record of the release was not believed", *g.world.object, doubted);
      tell(*g.world.object, deployment_event::not_noted, doubted);
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
  cluster_reads reads(on_.loop(), me.to.at->api(), options_.wanted()->all);
  auto is = co_await reads.workspace(std::move(workspace));
  co_return is ? is->owner : std::string();
}

awaitable<void> deployments_at_home::conclude(key_type key, under_way* me, gathered g,
                                              deployment_plan p, std::string failure) {
  const krypton_deployment about = std::move(*g.world.object);
  const bool uninstalls = me->what == operation::uninstall;
  if (failure.empty() && me->step == deployment_step::leave_former_region)
    failure = co_await forget_region(key, me->to, p.workspace);
  const std::string text = safe_message(failure);
  memory* m = find(key);
  if (!failure.empty()) {
    if (m) m->tries.failed(setback::edge_operation, g.world.attempt, on_.loop().now());
    note_failed_cleaning(about);
    const std::string_view line = me->what == operation::install   ? log_line::install_failed
                                  : me->what == operation::upgrade ? log_line::upgrade_failed
                                                                   : log_line::uninstall_failed;
    log(log_level::error, line, about, text);
    tell(about, uninstalls ? deployment_event::uninstall_failed : deployment_event::deploy_failed,
         text);
    if (me->step != deployment_step::leave_former_region)
      (void)co_await say(about, failed_deployment(text), std::string());
    co_return;
  }
  if (m) m->tries.succeeded();
  if (uninstalls) {
    log(log_level::info, log_line::uninstalled, about);
    tell(about, deployment_event::uninstalled, p.release);
    co_return;
  }
  if (m) m->applied = g.world.wanted.fingerprint;
  log(log_level::info, me->what == operation::install ? log_line::installed : log_line::upgraded,
      about);
  tell(about, deployment_event::deployed, g.world.wanted.chart.text());
  const bool noted = co_await note_fingerprint(key, about, g.to.secret, g.world.wanted.fingerprint);
  if (!noted && (m = find(key)))
    m->tries.failed(setback::status_write, g.world.attempt, on_.loop().now());
}

awaitable<std::string> deployments_at_home::forget_region(key_type key, visit there,
                                                          std::string workspace) {
  if (there.at) {
    cluster_reads reads(on_.loop(), there.at->api(), options_.wanted()->all);
    auto is = co_await reads.workspace(workspace);
    if (!is) co_return is.error().message();
    const names::owner_reference me{std::string(names::deployment_kind), key};
    if (may_delete(*is, workspace, me, options_.wanted()->all.ns)) {
      auto gone = co_await delete_workspace(there.at->api(), workspace, me);
      if (!gone) co_return gone.error().message();
    }
  }
  auto forgotten = co_await places_.remove(key, there.secret);
  if (!forgotten) co_return forgotten.error().message();
  auto end = co_await writes_.annotate(
      key, names::deployment_fingerprint_annotation(there.secret.ns, there.secret.name),
      std::nullopt);
  co_return end.is == write_end::failed ? end.why : std::string();
}

awaitable<bool> deployments_at_home::note_fingerprint(key_type key,
                                                      const krypton_deployment& about,  // borrowed
                                                      k8s::object_key target,
                                                      std::string fingerprint) {
  const std::string name = names::deployment_fingerprint_annotation(target.ns, target.name);
  if (about.meta.annotations.get(name) == fingerprint) co_return true;
  auto end = co_await writes_.annotate(key, name, fingerprint);
  if (end.is == write_end::failed) {
    log(log_level::warning, "the fingerprint cannot be noted", about, end.why);
    co_return false;
  }
  if (memory* m = find(key)) m->applied.clear();
  co_return true;
}

awaitable<void> deployments_at_home::end_operation(key_type key, reactor::nanoseconds within) {
  memory* m = find(key);
  if (!m || !m->running) co_return;
  auto over = [this, key](const reactor::result<void>& ended) {
    if (!ended)
      on_.log().warning("an operation was left as it was; it is recovered later",
                        {{"kryptondeployment", key.text()}, {"why", ended.error()}});
    find(key)->running.reset();
    --operations_;
  };
  const auto gone = m->running->end(on_.loop(), ending_, within, std::move(over));
  (void)co_await gone->wait();
}

awaitable<void> deployments_at_home::end_operations_on(const k8s::cluster& leaving) {  // borrowed
  std::vector<key_type> keys;
  for (const auto& [key, m] : known_)
    if (m.running && m.running->to.at.get() == &leaving) keys.push_back(key);
  if (keys.empty()) co_return;
  co_await reactor::side_by_side(
      keys.size(), [&](std::size_t i) { return end_operation(keys[i], stop_limit); }, keys.size());
}

}  // namespace helm::tenants
