#pragma once

#include "app/api/brake.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/fleet/engagement.hpp"

#include <functional>
#include <string>
#include <vector>

namespace helm::tenants {

/// ensured: a cluster that does not serve the kind is given it; as_served: the caller that engages
/// it has looked.
enum class kind_on_cluster { as_served, ensured };

/// The manifests of deploy/crds/tenants, by name of the file.
const std::vector<std::string>& crd_manifests();

/// Why a kind is not there.
struct kind_absence {
  std::string problem;                // empty: it is there, as far as is known
  std::optional<k8s::fault> refused;  // where the server said that we may not make it
};

/// Whether it is there, for who only looks and makes nothing.
reactor::awaitable<kind_absence> look_for_kind(k8s::engagement& on,  // borrowed
                                               k8s::resource kind);

/// Makes sure that a cluster has a kind of ours, Tenant or KryptonDeployment: one that is there
/// stays as it is unless it is an older one of ours. Tried again every minute, and where the brake
/// or the limit keeps the kind from being written, when that may have ended. `failed`, unless it is
/// empty, is told each time why the kind is not there, but of the brake.
reactor::awaitable<void> until_kind_is_there(k8s::engagement& on, k8s::resource kind,  // borrowed
                                             kind_absence& why, units::brake_question brake,
                                             std::function<void(std::string)> failed = {});

}  // namespace helm::tenants
