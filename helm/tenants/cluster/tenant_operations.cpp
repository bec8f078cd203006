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

transition success_of(operation what) noexcept {
  return what == operation::install ? transition::installed : transition::upgraded;
}

transition failure_of(operation what) noexcept {
  if (what == operation::install) return transition::install_failed;
  return what == operation::upgrade ? transition::upgrade_failed : transition::uninstall_failed;
}

}  // namespace

bool tenant_cluster::complete(operation_order& order, const gathered& g, const tenant_plan&,
                              const under_way&) {
  const auto wanted = options_.wanted();
  order.values = wanted->values;
  return g.is.wanted == wanted->release;
}

awaitable<void> tenant_cluster::announce(key_type key, gathered& g, tenant_plan p) {  // borrowed
  memory& m = *find(key);
  m.skip_told.reset();
  m.drift = {};
  m.drift_told.clear();
  m.drift_looked = on_.loop().now();
  if (p.is) {
    std::optional<k8s::condition> plan = published(p, g.is.wanted, g.is.cluster);
    said told = co_await say(key, *g.is.object, *p.is, p.message, {}, std::move(plan));
    if (told.now) g.is.object = std::move(told.now);
  }
  tell_all(*g.is.object, p.events);
}

tenant_cluster::outcome_words tenant_cluster::words_of(operation what, operation_end how,
                                                       const gathered&,
                                                       const tenant_plan& p) const {
  const bool failed = how == operation_end::failed;
  if (what == operation::uninstall && !failed)
    return {log_line::uninstalled, tenant_event::uninstalled, p.release};
  const transition_kind& kind = kind_of(failed ? failure_of(what) : success_of(what));
  return {kind.log_line, *kind.event, p.release};
}

void tenant_cluster::count(const under_way& me, const tenant_plan& p, const std::string& failure,
                           reactor::nanoseconds took) {
  series_.operation_seconds.observe(std::chrono::duration<double>(took).count());
  count_operation(word_for(me.what), failure.empty() ? "success" : "failure");
  const bool repairs = std::ranges::any_of(p.events, [](const told& e) {
    return e.what.reason == tenant_event::repair_triggered.reason;
  });
  if (failure.empty() && repairs) count(tenant_metrics::drift_repairs, reactor::metric_labels());
}

awaitable<void> tenant_cluster::say_failure(key_type key, tenant about, step, operation what,
                                            std::string text) {
  (void)co_await say(std::move(key), std::move(about), failure_of(what), std::move(text));
}

awaitable<void> tenant_cluster::say_done(key_type key, operation what, const gathered& g,
                                         tenant_plan p) {  // borrowed
  const std::string done = what == operation::install ? " is installed" : " is upgraded";
  tenant_plan settled;
  settled.action = "skip";
  std::optional<k8s::condition> plan = published(settled, g.is.wanted, g.is.cluster);
  (void)co_await say(std::move(key), *g.is.object, success_of(what), p.release + done,
                     g.is.wanted.chart.text(), std::move(plan));
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
