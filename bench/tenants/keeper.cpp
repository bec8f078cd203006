#include "bench/tenants/keeper.hpp"

#include "bench/tenants/offer.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <stdexcept>

namespace bench {
namespace {

units::api api_for(const std::string& repository, const std::string& chart, pace p) {
  auto read = helm::tenants::read_settings({});
  if (!read) throw std::runtime_error(read.error().text);
  helm::tenants::settings s = read->all;
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
    : packs_(l, {}), api_(api_for(repository, chart, p)) {
  k8s::fleet_options f;
  f.metrics = &metrics_;
  f.on_recovered = [](k8s::cluster& c) {
    for (const auto& e : c.engagements())
      if (units::part* part = units::part_of(*e)) part->recover();
  };
  fleet_ = std::make_unique<k8s::fleet>(l, std::move(f));
  works_ = api_.make(units::house{l, {}, metrics_, packs_, *fleet_, units::mode::act, {}});
  fleet_->engage(units::engaging(api_, api_.kinds,
                                 [this](k8s::engagement& on) { return works_->on_cluster(on); }));
}

bool keeper::is_live(std::string_view name) const {
  const k8s::cluster* c = fleet_->find(name);
  return c && c->is_live();
}

std::size_t keeper::ready(std::string_view name) const {
  const k8s::cluster* c = fleet_->find(name);
  const auto* part = c ? dynamic_cast<helm::tenants::tenant_cluster*>(c->part("tenants")) : nullptr;
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
  return metrics_.get_counter(helm::tenants::tenant_metrics::operations, std::move(labels)).value();
}

}  // namespace bench
