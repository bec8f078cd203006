#pragma once

#include "k8s/client/condition.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/client/wire.hpp"
#include "k8s/informer/meta.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

const k8s::resource& tenant_resource();

/// Which cluster, and which namespace of discovery Secrets, an object is meant for; empty = any.
struct cluster_ref {
  std::string secret_name, secret_ns;
  friend bool operator==(const cluster_ref&, const cluster_ref&) = default;
};

/// status of a Tenant, and of a KryptonDeployment.
struct tenant_status {
  std::string phase;  // "Ready", "Pending", "Error", empty before the first
  std::string last_message, last_applied_chart;
  std::int64_t observed_generation = 0;
  std::vector<k8s::condition> conditions;
  friend bool operator==(const tenant_status&, const tenant_status&) = default;
};
tenant_status parse_tenant_status(k8s::wire_value status);

/// The merge patch {"metadata": {"resourceVersion"}, "status": …} that turns `from` into `to`,
/// which the server refuses where another client wrote meanwhile; empty when they are equal.
boost::json::object status_patch(const tenant_status& from, const tenant_status& to,
                                 std::string_view resource_version);

/// Tenant: one chart, on the cluster where the object is.
struct tenant {
  k8s::object_meta meta;  // with the annotations below mesh.openkcm.io and windlass.dev
  reactor::wall_time created{};
  cluster_ref target;
  std::string workspace;  // spec.workspace, which only the original operator's kind has; or empty
  /// What of the spec cannot be read, by path; it acts nowhere then. A foreign CRD may let
  /// such objects in, and one of them must not blind us to all others of its cluster.
  std::string problem;
  tenant_status status;

  static tenant parse(k8s::wire_value object);
  std::string_view fingerprint(std::string_view cluster) const;
  bool wants_no_uninstall() const;
  /// The namespace of its release: its name, or spec.workspace where the annotation
  /// names::workspace says so, and where it goes without having said anything.
  std::string workload_namespace() const;
  /// spec.workspace is another namespace, and nothing says yet which of the two counts.
  bool is_workspace_open() const;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const tenant&, const tenant&) = default;
};

/// Whether a change is one to act upon: a change of status alone never is.
bool wakes(const tenant& before, const tenant& after);

/// The text at `path`, the member `key` of `of`; what is no text is put into `problem` when it is
/// the first.
std::string text_at(k8s::wire_value of, std::string_view key, std::string_view path,
                    std::string& problem);
/// The object at `path`; none for what is absent or, with a problem, for what is something else.
k8s::wire_value object_at(k8s::wire_value of, std::string_view key, std::string_view path,
                          std::string& problem);

}  // namespace helm::tenants
