#pragma once

#include "helm/charts/chart.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm {

inline constexpr std::uint64_t chart_bytes_limit = 100u << 20;  // a whole chart, unpacked
inline constexpr std::uint64_t chart_file_bytes_limit = 5u << 20;
inline constexpr std::size_t chart_files_limit = 10000;

/// Unpacks a gzipped tar into files named relative to the chart.
/// Errors   Helm's, for names that leave the chart, for files and charts that are too big; ours for
///          damaged archives.
outcome<std::vector<chart_file>> read_archive(std::string_view bytes);

/// Removes a UTF-8 byte order mark.
std::string without_bom(std::string data);

}  // namespace helm
