#pragma once

#include "formats/go/problem.hpp"
#include "formats/go/value.hpp"
#include "helm/charts/chart.hpp"

namespace helm {

/// Checks the coalesced values of a chart and of its subcharts against their schemas.
/// Errors   "values don't meet the specifications of the schema(s) in the following chart(s):\n…"
outcome<bool> check_schemas(const chart& c, const value& values);

}  // namespace helm
