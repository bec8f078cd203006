#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// Pod `index` of a made-up cluster as an API server would send it, padded by environment
/// variables, volumes, conditions and managedFields to about `bytes`. Names, namespaces, labels,
/// nodes and uids vary as they do in clusters.
std::string pod_json(std::size_t index, std::uint64_t resource_version, std::size_t bytes);

/// A watch event around it: {"type":"MODIFIED","object":…} and the end of the line.
std::string pod_event(std::size_t index, std::uint64_t resource_version, std::size_t bytes);

}  // namespace bench
