#pragma once

#include "helm/placed/plan/names.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"

#include <string>

namespace k8s {
class client;
}

namespace helm::placed {

/// The workload namespace with its marks. True when it was made now.
reactor::awaitable<k8s::result<bool>> create_workspace(k8s::client& api,  // borrowed
                                                       std::string name,
                                                       names::owner_reference owner);
/// Deletes it as long as it says that it was made for `owner`. A success when it is gone already or
/// is another's.
reactor::awaitable<k8s::result<void>> delete_workspace(k8s::client& api,  // borrowed
                                                       std::string name,
                                                       names::owner_reference owner);

}  // namespace helm::placed
