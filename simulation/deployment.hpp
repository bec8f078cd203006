#pragma once

#include <boost/json/fwd.hpp>

namespace simulation {

/// What a controller manager and kubelets make of a Deployment: all its pods are there, of the
/// newest template.
void bring_up(boost::json::object& deployment);

}  // namespace simulation
