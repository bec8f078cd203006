#pragma once

#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

#include <functional>
#include <string>
#include <vector>

namespace helm {

using warning_sink = std::function<void(const std::string&)>;

/// What null means while tables are put together: coalescing lets it delete defaults, merging keeps
/// it.
enum class nulls : bool { remove, keep };

/// The user's values over the chart's, with globals and the sections of subcharts.
/// Errors   "type mismatch on sub: %!t(string=x)"
outcome<value> coalesce_values(const chart& c, const value& user, nulls mode,
                               const warning_sink& warn);
/// `into` wins over `from`; both are maps and `into` is changed.
void coalesce_tables(value& into, const value& from, nulls mode, const std::string& prefix,
                     const warning_sink& warn);
/// Values files from left to right: maps deep, everything else replaced.
void merge_maps(value& into, const value& from);

/// `path` split at dots; nothing when a step is missing or not a table.
const value* find_table(const value& v, const std::vector<std::string>& path);

}  // namespace helm
