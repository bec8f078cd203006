#pragma once

#include "helm/placed/plan/availability.hpp"
#include "helm/placed/plan/drift.hpp"
#include "helm/placed/plan/release_facts.hpp"
#include "helm/placed/plan/workspace.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::placed {

/// Where Helm keeps its records: Secrets or ConfigMaps, in a namespace of ours or with the release.
enum class record_driver : std::uint8_t { secrets, config_maps };
struct record_place {
  record_driver driver = record_driver::secrets;
  std::string ns;  // empty: the release's
};

/// A release as it was read: of the newest revision, which one that was, and what must exist for
/// it.
struct known_release {
  std::string record, version;  // name and resourceVersion of the record
  release_facts facts;
  std::vector<checked_object> objects;  // of its manifest
  friend bool operator==(const known_release&, const known_release&) = default;
};

const k8s::resource& collection_of(record_driver driver) noexcept;
k8s::resource collection_of(const checked_object& o);

/// What is asked of the API server about releases: its own answers, never a view that may be
/// behind.
/// Errors   the request's.
/// Lifetime loop and client outlive it.
class cluster_reads {
public:
  cluster_reads(reactor::loop& l, k8s::client& api, record_place records)
      : loop_(l), api_(api), records_(std::move(records)) {}

  reactor::awaitable<k8s::result<workspace_facts>> workspace(std::string name);
  /// The newest record; of those that are there only the names and versions are read, and one
  /// record when it is not `known`.
  reactor::awaitable<k8s::result<std::optional<known_release>>> release(
      std::string ns, std::string name, std::optional<known_release> known);
  /// Those that are not there; kinds that cannot be listed count as there.
  reactor::awaitable<std::vector<std::string>> missing(std::vector<checked_object> objects);

  /// All Deployments of the namespace, and the StatefulSets, DaemonSets and Jobs that Helm notes as
  /// this release's, as far as they may be listed.
  reactor::awaitable<k8s::result<std::vector<workload_facts>>> workloads(std::string ns,
                                                                         std::string release);
  /// The objects of a kind with that name, in any namespace, which claim the namespace of the same
  /// name; none where the kind is not served.
  reactor::awaitable<k8s::result<std::vector<claimant>>> objects_called(k8s::resource kind,
                                                                        std::string name);

private:
  reactor::loop& loop_;
  k8s::client& api_;
  record_place records_;
};

}  // namespace helm::placed
