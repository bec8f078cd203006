#include "bench/tenants/keeper.hpp"

#include "bench/tenants/offer.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <stdexcept>

namespace bench {
namespace {

units::api api_for(const std::string& repository, const std::string& chart, pace p) {
  helm::tenants::settings s = helm::tenants::default_settings();
  s.chart = {repository, chart, chart_offer::version};
  s.ns = "default";
  s.per_cluster = p.per_cluster;
  s.in_all = p.in_all;
  auto wanted = helm::tenants::load_wanted(std::move(s));
  if (!wanted) throw std::runtime_error(wanted.error().text);
  helm::tenants::api_settings a;
  a.wanted = *wanted;
  return helm::tenants::api(std::move(a));
}

}  // namespace

keeper::keeper(reactor::loop& l, const std::string& repository, const std::string& chart, pace p)
    : api_keeper(l, api_for(repository, chart, p)) {}

std::size_t keeper::ready(std::string_view name) const {
  const k8s::cluster* c = fleet().find(name);
  const auto* part = c ? helm::tenants::tenants_part(*c) : nullptr;
  if (!part) return 0;
  boost::json::object entry;
  part->describe(entry);
  return entry["tenants"].at("Ready").to_number<std::size_t>();
}

double keeper::operations(const std::string& cluster, const std::string& operation) {
  reactor::metric_labels labels;
  labels["cluster"] = cluster;
  labels["operation"] = operation;
  labels["result"] = "success";
  return metrics()
      .get_counter(helm::tenants::tenant_metrics::operations, std::move(labels))
      .value();
}

}  // namespace bench
