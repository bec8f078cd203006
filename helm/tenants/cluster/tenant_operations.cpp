// Operations of Helm's on the releases of one cluster, and what they led to.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/published.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using reactor::log_level;

/// Of a fingerprint, in an Event.
constexpr std::size_t shown_digits = 12;

happening success_of(operation what) noexcept {
  return what == operation::install ? happening::installed : happening::upgraded;
}

happening failure_of(operation what) noexcept {
  if (what == operation::install) return happening::install_failed;
  return what == operation::upgrade ? happening::upgrade_failed : happening::uninstall_failed;
}

}  // namespace

awaitable<void> tenant_cluster::perform(key_type key, under_way* me) {
  auto decision = co_await decide_again(key, me);
  if (!decision) co_return;
  tenant_world w = std::move(decision->g.is);
  tenant_plan p = std::move(decision->p);
  memory* m = find(key);
  const auto wanted = options_.wanted();
  if (!m || !(w.wanted == wanted->release)) co_return;  // read again meanwhile: it is planned again
  auto order = order_for(key, *me, p);
  if (!order) co_return;
  order->values = wanted->values;
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
                                                    *std::move(order), on_.log());
  const reactor::steady_time began = on_.loop().now();
  auto ended = co_await me->release->run();
  me->telling = true;
  me->slot.give_back();
  if (const std::string& doubted = me->release->doubted(); !doubted.empty()) {
    log(log_level::warning, "a record of the release was not believed", *w.object, doubted);
    tell(*w.object, tenant_event::not_noted, doubted);
  }
  series_.operation_seconds.observe(std::chrono::duration<double>(on_.loop().now() - began).count());
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
  const kept_tenants::place here;
  const bool noted = co_await note_fingerprint(key, about, here, w.wanted.fingerprint);
  if (!noted && (m = find(key)))
    m->tries.failed(setback::status_write, w.attempt, on_.loop().now());
  const std::string done = what == operation::install ? " is installed" : " is upgraded";
  tenant_plan settled;
  settled.action = "skip";
  std::optional<k8s::condition> plan = published(settled, w.wanted, w.cluster);
  (void)co_await say(key, std::move(about), kind.what, p.release + done, w.wanted.chart.text(),
                     std::move(plan));
}

void tenant_cluster::fingerprint_noted(const tenant& about, const std::string& fingerprint,
                                       const written<tenant>& end) {
  const bool failed = end.is == write_end::failed;
  reactor::metric_labels labels;
  labels["result"] = failed ? "failure" : "success";
  count(tenant_metrics::fingerprint_updates, std::move(labels));
  if (failed)
    tell(about, tenant_event::fingerprint_update_failed, end.why);
  else if (end.is == write_end::written)
    tell(about, tenant_event::fingerprint_updated,
         on_.on().name() + " " + fingerprint.substr(0, shown_digits));
}

}  // namespace helm::tenants
