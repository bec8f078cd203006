#pragma once

#include "helm/tenants/cluster/operation_slots.hpp"
#include "helm/tenants/cluster/release_operation.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

namespace helm::tenants {

/// An operation of this process on one release, with the task that carries it out.
struct tenant_cluster::under_way {
  under_way(reactor::loop& l, operation o, reactor::task_group::failure_handler broken)
      : what(o), ended(l), task(l, std::move(broken)) {}
  operation what;
  bool telling = false;  // Helm's part is over: what it led to is being written
  operation_slots::slot slot;
  std::unique_ptr<release_operation> release;
  reactor::event ended;
  reactor::task_group task;
};

}  // namespace helm::tenants
