#pragma once

#include "helm/placed/release_operation.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/desired/values.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace helm::tenants {

/// What KryptonDeployments shall have: {replicaCount: 1}, and the central values over it (15.3).
struct wanted_in_regions {
  value values;
  desired_release release;
};

/// What this process is told to have everywhere: its settings, and the values of its files as they
/// were read last.
struct wanted_everywhere {
  settings all;
  value values;
  desired_release release;
  wanted_in_regions in_regions;
};

/// Where Helm's records are by these settings.
record_place records_of(const settings& s);
/// What the settings say of every operation.
operation_order order_of(const settings& s);
/// Which namespaces these settings reserve.
reserved_namespaces reserved_by(const settings& s);

/// Errors   of desired_values().
outcome<std::shared_ptr<const wanted_everywhere>> wanted_from(settings s,
                                                              std::vector<values_file> files);

}  // namespace helm::tenants
