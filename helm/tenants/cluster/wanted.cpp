#include "helm/tenants/cluster/wanted.hpp"

#include "helm/placed/plan/chart_version.hpp"
#include "helm/values/values.hpp"

namespace helm::tenants {
namespace {

desired_release release_of(const chart_coordinates& chart, const value& values) {
  desired_release out;
  out.chart = chart;
  out.fingerprint = fingerprint(chart, values);
  out.values = values_digest(values);
  out.version_problem = version_problem(chart.version);
  return out;
}

wanted_in_regions in_regions(const chart_coordinates& chart, const value& central) {
  wanted_in_regions out;
  out.values = value{value::map_type{}};
  out.values.entries()["replicaCount"] = value(1).box();
  merge_maps(out.values, detached_copy(central));
  out.release = release_of(chart, out.values);
  return out;
}

}  // namespace

record_place records_of(const settings& s) {
  return {s.driver, s.records_ns};
}

operation_order order_of(const settings& s) {
  operation_order out;
  out.driver = s.driver;
  out.max_history = s.max_history;
  out.notes_ns = s.notes_ns;
  out.store_ns = s.records_ns;
  out.secrets_of_all = s.secret_lookup;
  return out;
}

reserved_namespaces reserved_by(const settings& s) {
  reserved_namespaces out;
  out.fleet = s.region_secrets_in;
  out.fleet.push_back(s.ns);
  out.own = {s.notes_ns, daemon_namespace(s.notes_ns)};
  if (!s.records_ns.empty()) out.own.push_back(s.records_ns);
  out.named = s.reserved_ns;
  out.system_allowed = s.system_namespaces;
  return out;
}

outcome<std::shared_ptr<const wanted_everywhere>> wanted_from(settings s,
                                                              std::vector<values_file> files) {
  values_layers layers;
  layers.install_crds = s.install_crds;
  layers.files = std::move(files);
  auto values = desired_values(layers);
  if (!values) return values.error();
  layers.install_crds = s.install_crds_in_regions;
  auto central = desired_values(layers);
  if (!central) return central.error();
  auto out = std::make_shared<wanted_everywhere>();
  out->release = release_of(s.chart, *values);
  out->in_regions = in_regions(s.chart, *central);
  out->values = std::move(*values);
  out->all = std::move(s);
  return std::shared_ptr<const wanted_everywhere>(std::move(out));
}

}  // namespace helm::tenants
