#pragma once

#include "helm/charts/chart.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// A file's place in the lists of its chart.
inline constexpr std::uint64_t bytes_per_file = 256;

/// Unpacks a gzipped tar into files named relative to the chart.
/// Errors   Helm's, for names that leave the chart, for files and charts that are too big; ours for
///          damaged archives and for those nested too deep.
outcome<std::vector<chart_file>> read_archive(std::string_view bytes, chart_budget& left);
outcome<std::vector<chart_file>> read_archive(std::string_view bytes);

/// Removes a UTF-8 byte order mark.
std::string without_bom(std::string data);

}  // namespace helm
