#pragma once

#include "helm/tenants/api.hpp"

namespace helm::tenants {

/// One chart on the region cluster of each KryptonDeployment at home.
units::api deployments(api_settings s = {});
/// Gives the API other settings, before it starts.
void set_up_deployments(units::api& to, api_settings s);

}  // namespace helm::tenants
