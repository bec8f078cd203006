#pragma once

#include "helm/chart.hpp"
#include "helm/value.hpp"

#include <string>
#include <utility>
#include <vector>

namespace helm::sources {

/// A value whose members are written to JSON in the order given, as encoding/json writes a struct.
value record(std::vector<std::pair<std::string, value>> members);

/// Chart.yaml as a value that is written as Helm writes it.
value metadata_value(const metadata& m);
/// The list of its dependencies alone.
value dependencies_value(std::vector<std::shared_ptr<dependency>> dependencies);

}  // namespace helm::sources
