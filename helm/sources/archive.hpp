#pragma once

#include "helm/charts/chart.hpp"

#include <cstdint>
#include <string>

namespace helm::sources {

/// The bytes of <name>-<version>.tgz for a loaded chart and its dependencies: gzipped tar, regular
/// files only.
/// Shape    `modified` is the time of every entry, in seconds since 1970.
/// Errors   "chart validation: …", "Invalid JSON in values.schema.json".
outcome<std::string> pack_chart(const chart& c, std::int64_t modified);

/// "<name>-<version>.tgz"
std::string archive_name(const metadata& m);

/// Chart.yaml's text as Helm writes it.
outcome<std::string> metadata_text(const metadata& m);

}  // namespace helm::sources
