#pragma once

#include "helm/chart.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

namespace media_type {
inline constexpr const char* config = "application/vnd.cncf.helm.config.v1+json";
inline constexpr const char* chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
inline constexpr const char* legacy_chart = "application/tar+gzip";
inline constexpr const char* provenance = "application/vnd.cncf.helm.chart.provenance.v1.prov";
inline constexpr const char* image_manifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr const char* image_index = "application/vnd.oci.image.index.v1+json";
}  // namespace media_type

inline constexpr std::size_t manifest_bytes_limit = 4u << 20;

/// What a manifest says of one blob.
struct descriptor {
  std::string media_type, digest;
  std::uint64_t size_bytes = 0;
  friend bool operator==(const descriptor&, const descriptor&) = default;
};

/// An image manifest, or an index of several of them.
struct oci_manifest {
  std::string media_type;
  std::optional<descriptor> config;
  std::vector<descriptor> layers;     // of a manifest
  std::vector<descriptor> manifests;  // of an index
  std::map<std::string, std::string> annotations;
};

/// Reads the JSON. `content_type` stands in for a manifest that does not name its own type.
/// Errors   ours: what is no manifest, a digest that is none, a size that cannot be.
outcome<oci_manifest> read_manifest(std::string_view text, std::string_view content_type);

/// What is wanted of a chart's manifest.
struct wanted_parts {
  bool chart = true;
  bool provenance = false;
};
struct chart_parts {
  descriptor config;
  std::optional<descriptor> chart, provenance;
  std::vector<std::string> warnings;
};
/// Finds the parts among everything that was reachable, the manifest itself included.
/// Errors   "manifest does not contain minimum number of descriptors (%d), descriptors found: %d" and its relatives.
outcome<chart_parts> find_parts(const std::vector<descriptor>& reachable, wanted_parts wanted);

/// What a pushed chart's manifest says of it. `created` is RFC 3339.
std::map<std::string, std::string> annotations_of(const metadata& m, const std::string& created);
/// The manifest of a chart: layers are sorted by digest, so that the same chart has the same digest.
std::string write_manifest(const descriptor& config, std::vector<descriptor> layers,
                           const std::map<std::string, std::string>& annotations);
/// Chart.yaml as the config blob holds it.
std::string write_config(const metadata& m);

}  // namespace helm::sources
