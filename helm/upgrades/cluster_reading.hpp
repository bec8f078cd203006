#pragma once

#include "helm/removals/findings.hpp"
#include "reactor/awaitable.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
class discovery;
}  // namespace k8s

/// What a newer Kubernetes would stop serving on the clusters of a fleet.
namespace helm::upgrades {

/// Something that was not looked at, or not to its end.
struct unseen {
  std::string what;  // "ingresses", "metrics"
  std::string why;
  /// needed: the answer is partial without it. extra: it would only have said more.
  enum class weight : std::uint8_t { needed, extra } is = weight::needed;
};

/// What was looked at on one cluster.
struct cluster_reading {
  std::string cluster, version;  // "v1.36.0"; empty: it could not be asked
  std::size_t objects = 0;       // live ones
  std::size_t releases = 0;
  std::vector<unseen> not_seen;
};

struct reading_options {
  std::string notes_ns = "bootc-operator";  // where the service notes which Tenant has a release
  /// Told of a long list under way: "prod: 20,000 poddisruptionbudgets". May be empty.
  std::function<void(const std::string&)> tell = {};
};

/// Reads one cluster; what it says goes to `into`.
/// Shape    release records, live objects as their metadata, definitions, webhooks, and what the
///          API server counts. Lists come in pages, one at a time, and a page is forgotten before
///          the next: memory does not grow with the cluster.
/// Errors   none: what cannot be read is in the reading, the rest goes on.
/// Lifetime all outlive it. Records are read in the children of the loop where it has some.
reactor::awaitable<cluster_reading> read_cluster(reactor::loop& l, k8s::client& api,
                                                 k8s::discovery& served, std::string cluster,
                                                 removals::findings& into,  // borrowed
                                                 reading_options options);

}  // namespace helm::upgrades
