#pragma once

#include "formats/plain/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace registry {

using formats::outcome;

namespace media_type {
inline constexpr const char* image_manifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr const char* image_index = "application/vnd.oci.image.index.v1+json";
/// An index, in either of the two words for it.
inline bool is_index(std::string_view type) {
  return type == image_index || type == "application/vnd.docker.distribution.manifest.list.v2+json";
}
}  // namespace media_type

inline constexpr std::size_t manifest_bytes_limit = 4u << 20;
/// Of a manifest that is asked for its digest alone: some are there at a time.
inline constexpr std::size_t named_manifest_bytes_limit = 1u << 20;
/// One of as many blobs as it may name has half as many.
inline constexpr std::size_t manifest_values_limit = 50'000;

/// What a manifest says of one blob.
struct descriptor {
  std::string media_type, digest;
  std::uint64_t size_bytes = 0;
  std::string architecture = {};  // of an index's entry, where it says: "amd64"
  bool attests = false;  // an index's entry that no machine runs: what was noted about another one
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

/// Reads the JSON. `content_type` stands in for a manifest that does not name its own type. Where
/// that is no type of manifests either, the content tells an OCI index from an OCI manifest.
/// Errors   ours: what is no manifest, a digest that is none, a size that cannot be.
outcome<oci_manifest> read_manifest(std::string_view text, std::string_view content_type);

/// One image of an index, and the architecture that it is for ("amd64").
struct indexed_image {
  descriptor itself;
  std::string architecture;
};
/// An index's text: images of Linux, in their order.
std::string write_index(const std::vector<indexed_image>& images);

}  // namespace registry
