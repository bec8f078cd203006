#pragma once

#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

#include <vector>

namespace helm::sources {

/// Chart.yaml as a value that is written as Helm writes it.
value metadata_value(const metadata& m);
/// The list of its dependencies alone.
value dependencies_value(std::vector<std::shared_ptr<dependency>> dependencies);

}  // namespace helm::sources
