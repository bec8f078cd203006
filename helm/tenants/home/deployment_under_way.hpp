#pragma once

#include "helm/tenants/cluster/operation_task.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"

namespace helm::tenants {

/// An operation for one KryptonDeployment: for which step, and on which region.
struct deployments_at_home::under_way : operation_task {
  under_way(reactor::loop& l, operation o, deployment_step s, visit region,
            reactor::task_group::failure_handler broken)
      : operation_task(l, o, std::move(broken)), step(s), to(std::move(region)) {}
  deployment_step step;
  visit to;
};

}  // namespace helm::tenants
