#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
struct resource;
}

namespace bench {

/// The version that every object of a corpus is written with: 16 digits, so that a later one is
/// written in its place. A later one is this and the microseconds of the monotonic clock when it
/// was sent, which tells any reader how old it is.
inline constexpr std::uint64_t corpus_version = 1'000'000'000'000'000;
/// The value of the label "tier" of every object; its last letter changes with each event, so that
/// whatever a reader keeps of the object is another one each time.
inline constexpr std::string_view corpus_tier = "backend";

/// A collection that the benches serve: what services of ours watch, and pods.
struct collection {
  const char* name;  // as in its path: "pods"
  const k8s::resource& (*kind)();
  /// Object `index` as an API server would send it, at corpus_version.
  std::string (*object)(std::size_t index);
};

/// pods (8 KB), nodes with 50 images in their status, bootcnodes, secrets and tenants.
const std::vector<collection>& collections();
/// Throws std::runtime_error when there is none of that name.
const collection& collection_called(std::string_view name);

}  // namespace bench
