#pragma once

#include "helm/charts/chart.hpp"
#include "helm/lint/lint.hpp"
#include "helm/render/render.hpp"

#include <functional>
#include <string>

namespace helm {

/// Told of each finding: severity, where, what.
using lint_sink = std::function<void(severity, const std::string&, const std::string&)>;

/// The rules for the templates of a chart and for what they rendered. `minor_version` is that of
/// the Kubernetes 1.x whose deprecations count.
void lint_templates(const chart& c, const rendered_files& files, int minor_version,
                    const lint_sink& found);

/// What makes the chart give another result from run to run or from cluster to cluster, in its
/// templates and those of its dependencies, and floats that were printed with an exponent.
void lint_for_fleets(const chart& c, const rendered_files& files, const lint_sink& found);

/// Why a kind's name is not one Kubernetes takes, in its words; empty when it is.
std::string name_problem(const std::string& kind, const std::string& name);

/// "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, …", or nothing to say in Kubernetes
/// 1.`minor_version`.
std::string deprecation_warning(const std::string& api_version, const std::string& kind,
                                int minor_version);

}  // namespace helm
