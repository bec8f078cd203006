// What would be done, for people who ask before it is.
#include "helm/placed/release_operation.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

namespace helm::tenants {
namespace {

operation operation_for(std::string_view action) noexcept {
  if (action == "install") return operation::install;
  if (action == "upgrade") return operation::upgrade;
  return action == "uninstall" ? operation::uninstall : operation::none;
}

/// What a Tenant that waits would come to: as if nothing held it back and no attempt had failed.
tenant_plan behind_the_hold(tenant_world w) {
  w.held.reset();
  w.braked.reset();
  w.retry_in = {};
  w.running = operation::none;
  w.chart.is = chart_facts::state::loaded;
  return plan_tenant(w);
}

}  // namespace

awaitable<outcome<tenant_preview>> tenant_cluster::preview(k8s::object_key key) {
  auto now = co_await writes_.current(key);
  if (!now) co_return problem{now.error().message()};
  if (!*now) co_return problem{"Tenant " + key.text() + " is not there"};
  auto got = co_await gather(key, std::move(**now), ask::server);
  if (!got) co_return problem{got.error().message()};
  const tenant_world& world = got->is;
  tenant_preview out;
  out.about = *world.object;
  out.plan = plan_tenant(world);
  out.to = world.wanted.chart.text();
  const tenant_plan free = behind_the_hold(world);
  operation_order order = order_of(options_.wanted()->all);
  order.what = operation_for(free.action);
  if (order.what == operation::none) co_return out;
  const auto wanted = options_.wanted();
  order.release = free.release;
  order.ns = free.workspace;
  order.values = wanted->values;
  if (order.what != operation::uninstall) {
    if (!wanted->all.chart_is_said)
      co_return problem{
          "which chart it gets is not known here: give the chart flags of the service, "
          "--chart-name "
          "and those beside it"};
    chart_coordinates of = world.wanted.chart;
    supplied_chart got = co_await options_.charts->get(std::move(of));
    if (!got.chart) co_return problem{got.why.text};
    order.chart = std::move(got.chart);
  }
  release_operation would(on_.loop(), on_.api(), on_.discovery(), std::move(order), on_.log());
  auto changes = co_await would.preview();
  if (!changes) co_return changes.error();
  out.changes = std::move(*changes);
  co_return out;
}

}  // namespace helm::tenants
