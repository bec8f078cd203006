#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace bench {

/// What one render of a chart costs, and what the reference engine needs for the same work: Helm's
/// own packages in a Go program (helm_peer/) that is built and run here when Go is installed, else
/// the go_ figures are null.
/// Shape    {environment…, go, helm, charts: [{chart, objects, bytes, warm_ms, cold_ms, sort_ms,
///          peak_mb, go_warm_ms, go_cold_ms, go_sort_ms, ratio, cold_ratio}], many: {chart,
///          renders, seconds, resident_mb_before, resident_mb_after}}
/// Units    processor time; warm: values, schema and templates of a chart in memory; cold: loading
///          too; sort: from rendered files to ordered objects.
/// Errors   std::runtime_error when a chart does not load or render, or none is there.
boost::json::object measure_helm(const std::vector<std::string>& charts);
/// Why it cannot run without being told charts: a sentence, or empty.
std::string missing_for_helm();

}  // namespace bench
