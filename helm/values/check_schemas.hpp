#pragma once

#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

namespace helm {

/// Checks the coalesced values of a chart and of its subcharts against their schemas.
/// Errors   "values don't meet the specifications of the schema(s) in the following chart(s):\n…"
outcome<bool> check_schemas(const chart& c, const value& values);

}  // namespace helm
