#pragma once

#include "helm/tenants/desired/settings.hpp"
#include "helm/tenants/plan/availability.hpp"
#include "helm/tenants/plan/drift.hpp"
#include "helm/tenants/plan/release_facts.hpp"
#include "helm/tenants/plan/workspace.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"

#include <optional>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::tenants {

/// A release as it was read: of the newest revision, which one that was, and what must exist for
/// it.
struct known_release {
  std::string record, version;  // name and resourceVersion of the record
  release_facts facts;
  std::vector<checked_object> objects;  // of its manifest
  friend bool operator==(const known_release&, const known_release&) = default;
};

/// What a pass asks the API server: always the server's own answer, never a view that may be
/// behind.
/// Errors   the request's.
/// Lifetime loop and client outlive it.
class cluster_reads {
public:
  cluster_reads(reactor::loop& l, k8s::client& api, const settings& s)
      : loop_(l), api_(api), kind_(s.driver), records_ns_(s.records_ns) {}

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
  /// The Tenants of that name, in any namespace, who would have the namespace called like them;
  /// none where the kind is not served.
  reactor::awaitable<k8s::result<std::vector<claimant>>> tenants_called(std::string name);

  const k8s::resource& records() const noexcept;

private:
  reactor::loop& loop_;
  k8s::client& api_;
  record_driver kind_;
  std::string records_ns_;  // empty: with their release
};

}  // namespace helm::tenants
