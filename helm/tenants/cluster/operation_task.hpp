#pragma once

#include "helm/tenants/cluster/operation_slots.hpp"
#include "helm/tenants/cluster/release_operation.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <memory>

namespace helm::tenants {

/// An operation of this process on one release, with the task that carries it out.
struct operation_task {
  operation_task(reactor::loop& l, operation o, reactor::task_group::failure_handler broken)
      : what(o), ended(l), task(l, std::move(broken)) {}

  /// Cancels, joins and settles what runs; `within` is for all of it. What Helm has done already is
  /// written down first.
  /// Errors   the record could not be ended in time: somebody recovers it later.
  reactor::awaitable<reactor::result<void>> end(reactor::loop& l, reactor::nanoseconds within);

  operation what;
  bool telling = false;  // Helm's part is over: what it led to is being written
  operation_slots::slot slot;
  std::unique_ptr<release_operation> release;
  reactor::event ended;
  /// Set once it is over and forgotten; none: nobody ends it.
  std::shared_ptr<reactor::event> ending;
  reactor::task_group task;
};

std::string_view word_for(operation what) noexcept;

}  // namespace helm::tenants
