// Operations of Helm's on the releases of one cluster: beside the passes, one for a Tenant at a
// time, ended in good order.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/published.hpp"
#include "helm/tenants/plan/safety.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using reactor::log_level;

/// Of a fingerprint, in an Event.
constexpr std::size_t shown_digits = 12;

/// The step for which the operation was started.
bool still_wanted(operation what, step next) noexcept {
  switch (what) {
    case operation::install: return next == step::install;
    case operation::upgrade: return next == step::upgrade;
    case operation::uninstall: return next == step::uninstall || next == step::finish_uninstall;
    case operation::none: return false;
  }
  return false;
}

happening success_of(operation what) noexcept {
  return what == operation::install ? happening::installed : happening::upgraded;
}

happening failure_of(operation what) noexcept {
  if (what == operation::install) return happening::install_failed;
  return what == operation::upgrade ? happening::upgrade_failed : happening::uninstall_failed;
}

}  // namespace

void tenant_cluster::start_operation(const key_type& key, operation what) {
  memory* m = find(key);
  if (!m || m->running) return;
  auto broken = [this, key](std::string_view, std::exception_ptr thrown) {
    k8s::log_broken(on_.log(), key.text(), thrown, pause_after(setback::operation, 1));
    if (memory* of = find(key); of && of->running) of->running->ended.set();
    controller_.add_after(key, pause_after(setback::operation, 1));
  };
  m->running = std::make_unique<operation_task>(on_.loop(), what, std::move(broken));
  ++operations_;
  operation_task* const me = m->running.get();
  me->task.start(std::string(word_for(what)) + " " + key.text(), operate(key, me));
}

awaitable<void> tenant_cluster::operate(key_type key, operation_task* me) {
  me->slot = co_await options_.slots->take(on_.on().name());
  co_await perform(key, me);
  me->slot.give_back();
  me->ended.set();
  controller_.add(key);
}

/// Decides once more, with the object as the server has it now: since it was planned there was a
/// queue.
awaitable<void> tenant_cluster::perform(key_type key, operation_task* me) {
  if (!on_.is_live()) co_return;
  auto now = co_await writes_.current(key);
  if (!now || !*now) co_return;
  auto gathered = co_await gather(key, std::move(**now));
  if (!gathered || !gathered->object) co_return;
  tenant_world w = std::move(*gathered);
  w.running = operation::none;
  tenant_plan p = plan_tenant(w);
  memory* m = find(key);
  if (!m || !still_wanted(me->what, p.next)) co_return;

  const auto wanted = options_.wanted();
  if (!(w.wanted == wanted->release)) co_return;  // read again meanwhile: it is planned anew
  operation_order order = order_of(wanted->all);
  order.what = me->what;
  order.release = p.release;
  order.ns = p.workspace;
  order.owner = names::owner_reference{std::string(names::tenant_kind), key}.text();
  order.values = wanted->values;
  if (me->what != operation::uninstall) {
    order.chart = m->chart.hand_over();
    if (!order.chart) co_return;
  }
  m->skip_told.reset();
  m->drift = {};
  m->drift_told.clear();
  m->drift_looked = on_.loop().now();
  if (p.is) {
    std::optional<k8s::condition> plan = published(p, w.wanted, w.cluster);
    said told = co_await say(key, *w.object, *p.is, p.message, {}, std::move(plan));
    if (told.now) w.object = std::move(told.now);
  }
  tell_all(*w.object, p.events);
  me->release = std::make_unique<release_operation>(on_.loop(), on_.api(), on_.discovery(),
                                                    std::move(order), on_.log());
  const reactor::steady_time began = on_.loop().now();
  if (!keeps(safety_rule::fingerprint_last) && me->what != operation::uninstall)
    (void)co_await note_fingerprint(key, *w.object, w.wanted.fingerprint);
  auto ended = co_await me->release->run();
  me->telling = true;
  me->slot.give_back();
  if (const std::string& doubted = me->release->doubted(); !doubted.empty()) {
    log(log_level::warning, "a record of the release was not believed", *w.object, doubted);
    tell(*w.object, tenant_event::not_noted, doubted);
  }
  operation_seconds_.observe(std::chrono::duration<double>(on_.loop().now() - began).count());
  const std::string failure = ended ? std::string() : ended.error().text;
  co_await conclude(key, me->what, std::move(w), std::move(p), failure);
}

awaitable<void> tenant_cluster::conclude(key_type key, operation what, tenant_world w,
                                         tenant_plan p, std::string failure) {
  const std::string text = safe_message(failure);
  count_operation(word_for(what), failure.empty() ? "success" : "failure");
  tenant about = std::move(*w.object);
  memory* m = find(key);
  if (!failure.empty()) {
    const happening_kind& kind = kind_of(failure_of(what));
    if (m) m->tries.failed(setback::operation, w.attempt, on_.loop().now());
    log(log_level::error, kind.log_line, about, text);
    tell(about, *kind.event, text);
    (void)co_await say(key, std::move(about), kind.what, text);
    co_return;
  }
  if (m) m->tries.succeeded();
  if (what == operation::uninstall) {
    log(log_level::info, log_line::uninstalled, about);
    tell(about, tenant_event::uninstalled, p.release);
    co_return;
  }
  const happening_kind& kind = kind_of(success_of(what));
  if (m) m->applied = w.wanted.fingerprint;
  log(log_level::info, kind.log_line, about);
  tell(about, *kind.event, p.release);
  const bool repaired = std::ranges::any_of(p.events, [](const told& e) {
    return e.what.reason == tenant_event::repair_triggered.reason;
  });
  if (repaired) count(tenant_metrics::drift_repairs, reactor::metric_labels());
  tenant before = about;
  const bool noted = co_await note_fingerprint(key, before, w.wanted.fingerprint);
  if (!noted && (m = find(key)))
    m->tries.failed(setback::status_write, w.attempt, on_.loop().now());
  const std::string done = what == operation::install ? " is installed" : " is upgraded";
  tenant_plan settled;
  settled.action = "skip";
  std::optional<k8s::condition> plan = published(settled, w.wanted, w.cluster);
  (void)co_await say(key, std::move(about), kind.what, p.release + done, w.wanted.chart.text(),
                     std::move(plan));
}

awaitable<bool> tenant_cluster::note_fingerprint(key_type key, tenant about,
                                                 std::string fingerprint) {
  const std::string cluster = on_.on().name();
  if (about.fingerprint(cluster) == fingerprint) co_return true;
  written_tenant end =
      co_await writes_.annotate(key, names::fingerprint_annotation(cluster), fingerprint);
  const bool failed = end.is == written_tenant::end::failed;
  reactor::metric_labels labels;
  labels["result"] = failed ? "failure" : "success";
  count(tenant_metrics::fingerprint_updates, std::move(labels));
  if (failed) {
    tell(about, tenant_event::fingerprint_update_failed, end.why);
    log(log_level::warning, "the fingerprint cannot be noted", about, end.why);
    co_return false;
  }
  if (memory* m = find(key)) m->applied.clear();
  if (end.is == written_tenant::end::written)
    tell(about, tenant_event::fingerprint_updated,
         cluster + " " + fingerprint.substr(0, shown_digits));
  co_return true;
}

awaitable<void> tenant_cluster::end_operation(key_type key, reactor::nanoseconds within) {
  memory* m = find(key);
  if (!m || !m->running) co_return;
  auto over = [this, key](const reactor::result<void>& ended) {
    if (!ended)
      on_.log().warning("an operation was left as it was; it is recovered later",
                        {{"tenant", key.text()}, {"why", ended.error()}});
    find(key)->running.reset();
    --operations_;
  };
  const auto gone = m->running->end(on_.loop(), ending_, within, std::move(over));
  (void)co_await gone->wait();
}

}  // namespace helm::tenants
