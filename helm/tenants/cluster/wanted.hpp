#pragma once

#include "helm/placed/release_operation.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/desired/values.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "reactor/log.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace helm::tenants {

/// What KryptonDeployments get: {replicaCount: 1}, and the central values over it (15.3).
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

/// Passes only ask and write; operations have a limit of their own.
inline constexpr std::size_t passes_at_once = 8;

/// Sets what the keepers of Tenants and KryptonDeployments have alike; `out.words` are set before.
template <class KeeperOptions, class Given>
void set_common_options(KeeperOptions& out, const Given& o, const reactor::logger& log) {
  out.controller.name = out.words.field;
  out.controller.concurrency = passes_at_once;
  out.controller.metrics = o.metrics;
  out.controller.log = log;
  out.slots = o.slots;
  out.brake = o.brake;
  out.order = [wanted = o.wanted] { return order_of(wanted()->all); };
  out.chart = [from = o.charts](chart_coordinates c) { return from->get(std::move(c)); };
}

/// Errors   of desired_values().
outcome<std::shared_ptr<const wanted_everywhere>> wanted_from(settings s,
                                                              std::vector<values_file> files);

}  // namespace helm::tenants
