#pragma once

#include "reactor/metrics.hpp"

/// What is counted of compositions, beside what is counted of the units of every API.
namespace compose::metric_table {

using enum reactor::metric_type;

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_compose_parents",
     gauge,
     "",
     {"cluster"},
     "Custom resources that packs compose objects for."},
    {"windlass_compose_writes_total",
     counter,
     "",
     {"cluster", "outcome", "verb"},
     "Writes of objects that packs compose, by what they do and how they ended: done, raced, "
     "failed."},
});
inline constexpr reactor::metric_kind parents = reactor::metric_in(all, "windlass_compose_parents"),
                                      writes =
                                          reactor::metric_in(all, "windlass_compose_writes_total");

}  // namespace compose::metric_table
