#pragma once

#include "helm/charts/chart.hpp"
#include "helm/values/values.hpp"

#include <cstdint>

namespace helm {

enum class schema_check : std::uint8_t { done, skipped };

/// What templates see of the user's values: dependencies processed (which changes the tree),
/// defaults put below, and all of it held against the schemas.
/// Errors   those of process_dependencies, coalesce_values and check_schemas.
outcome<value> values_to_render(chart& tree, const value& user, schema_check check,
                                const warning_sink& warn);

}  // namespace helm
