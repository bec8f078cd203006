#pragma once

#include "k8s/client/resource.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

/// The original bootc-operator on a cluster: what its kustomization `config/default` installs, and
/// what of it must go before Windlass does its work.
namespace cli {

struct predecessor_object {
  k8s::resource what;
  k8s::object_key key;
  /// The controller or the daemons: they act as long as they are there.
  bool acts = false;
};

/// In its own namespace and in `ns`, in the order in which they are taken away: the controller
/// first, so that nothing is decided while the rest goes. Not among them are the kinds, which hold
/// the pools, the namespace and the ServiceAccounts, which Windlass uses under the same names.
std::vector<predecessor_object> predecessor_objects(const std::string& ns);

/// Whether an object of such a name is the original's: the controller and the daemons of Windlass
/// have the same names.
bool is_predecessors(const k8s::resource& what, const boost::json::object& body);

}  // namespace cli
