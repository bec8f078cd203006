#pragma once

#include "helm/charts/chart.hpp"
#include "registry/manifest.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace helm::sources {

using ::registry::descriptor;

namespace media_type {
using namespace ::registry::media_type;
inline constexpr const char* config = "application/vnd.cncf.helm.config.v1+json";
inline constexpr const char* chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
inline constexpr const char* legacy_chart = "application/tar+gzip";
inline constexpr const char* provenance = "application/vnd.cncf.helm.chart.provenance.v1.prov";
}  // namespace media_type

/// What is wanted of a chart's manifest.
struct wanted_parts {
  bool chart = true;
  bool provenance = false;
  std::size_t archive_bytes = 100u << 20;
};
struct chart_parts {
  descriptor config;
  std::optional<descriptor> chart, provenance;
  std::vector<std::string> warnings;
};
/// Finds the parts among everything that was reachable, the manifest itself included.
/// Errors   "manifest does not contain minimum number of descriptors (%d), descriptors found: %d"
///          and its relatives.
outcome<chart_parts> find_parts(const std::vector<descriptor>& reachable, wanted_parts wanted);

/// What a pushed chart's manifest says of it. `created` is RFC 3339.
std::map<std::string, std::string> annotations_of(const metadata& m, const std::string& created);
/// A manifest's text, as Helm writes it: layers are sorted by digest, so that the same layers have
/// the same digest.
std::string write_manifest(const descriptor& config, std::vector<descriptor> layers,
                           const std::map<std::string, std::string>& annotations);
/// Chart.yaml as the config blob holds it.
std::string write_config(const metadata& m);

}  // namespace helm::sources
