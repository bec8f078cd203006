#include "helm/tenants/cluster/wanted.hpp"

#include "helm/tenants/desired/chart_version.hpp"

namespace helm::tenants {

outcome<std::shared_ptr<const wanted_everywhere>> wanted_from(settings s,
                                                              std::vector<values_file> files) {
  values_layers layers;
  layers.install_crds = s.install_crds;
  layers.files = std::move(files);
  auto values = desired_values(layers);
  if (!values) return values.error();
  auto out = std::make_shared<wanted_everywhere>();
  out->release.chart = s.chart;
  out->release.fingerprint = fingerprint(s.chart, *values);
  out->release.values = values_digest(*values);
  out->release.version_problem = version_problem(s.chart.version);
  out->values = std::move(*values);
  out->all = std::move(s);
  return std::shared_ptr<const wanted_everywhere>(std::move(out));
}

}  // namespace helm::tenants
