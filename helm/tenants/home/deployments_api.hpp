#pragma once

#include "helm/tenants/api.hpp"

namespace helm::tenants {

/// One chart on the region cluster of each KryptonDeployment at home.
units::api deployments(api_settings s = {});

}  // namespace helm::tenants
