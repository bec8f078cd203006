#pragma once

#include "helm/tenants/cluster/operation_slots.hpp"
#include "helm/tenants/cluster/release_operation.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

namespace helm::tenants {

/// An operation of this process on the release of one KryptonDeployment, with its task.
struct deployments_at_home::under_way {
  under_way(reactor::loop& l, operation o, deployment_step s, visit region,
            reactor::task_group::failure_handler broken)
      : what(o), step(s), to(std::move(region)), ended(l), task(l, std::move(broken)) {}
  operation what;
  deployment_step step;
  visit to;
  bool telling = false;  // Helm's part is over: what it led to is being written
  operation_slots::slot slot;
  std::unique_ptr<release_operation> release;
  reactor::event ended;
  reactor::task_group task;
};

}  // namespace helm::tenants
