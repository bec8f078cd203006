#pragma once

#include "reactor/metrics.hpp"

/// What the registry tells of itself.
namespace reactor::metric_table {

inline constexpr auto all = std::to_array<metric_kind>({
    {"windlass_metric_series_refused_total",
     metric_type::counter,
     "",
     {},
     "Series that were not made because their family has 100,000."},
});
inline constexpr metric_kind series_refused =
    metric_in(all, "windlass_metric_series_refused_total");

}  // namespace reactor::metric_table
