#pragma once

#include "app/api/api.hpp"

namespace helm::upgrades {

/// The API with the flags --gate-removed-apis and --removed-api-waivers: with the first, what it
/// moves to a newer minor of Kubernetes is held while a cluster still uses what that removes.
units::api gated(units::api a);

}  // namespace helm::upgrades
