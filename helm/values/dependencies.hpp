#pragma once

#include "helm/charts/chart.hpp"
#include "helm/values/values.hpp"

namespace helm {

/// Applies aliases, conditions, tags and import-values: the tree that is left is the one that is
/// rendered.
/// Shape    changes the chart; load it again for other values.
outcome<bool> process_dependencies(chart& c, const value& user, const warning_sink& warn);

/// "found in Chart.yaml, but missing in charts/ directory: a, b", or nothing to complain about.
outcome<bool> check_dependencies(const chart& c);

}  // namespace helm
