#pragma once

#include "helm/placed/operation_slots.hpp"
#include "helm/placed/release_operation.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <memory>

namespace helm::placed {

/// An operation of this process on one release, with the task that carries it out.
struct operation_task {
  operation_task(reactor::loop& l, operation o, reactor::task_group::failure_handler broken)
      : what(o), ended(l), task(l, std::move(broken)) {}

  /// Cancels, joins and settles what runs, then calls `over`, which destroys it; `within` is for
  /// all but that. What Helm has done already is written down first. In a task of `in`, which
  /// no caller cancels: a caller that waits for the event, set at the end, may be told to stop, and
  /// an operation stays the one of its key until it has ended. Asked again it is the same end.
  /// Errors   told to `over`: the record could not be ended in time, another process recovers it
  ///          later.
  std::shared_ptr<reactor::event> end(reactor::loop& l, reactor::task_group& in,
                                      reactor::nanoseconds within,
                                      std::function<void(const reactor::result<void>&)> over);

  operation what;
  bool telling = false;  // Helm's part is over: what it led to is being written
  operation_slots::slot slot;
  std::unique_ptr<release_operation> release;
  reactor::event ended;
  reactor::task_group task;

private:
  reactor::awaitable<reactor::result<void>> settle(reactor::loop& l, reactor::nanoseconds within);
  reactor::awaitable<void> run_end(reactor::loop& l, reactor::nanoseconds within,
                                   std::function<void(const reactor::result<void>&)> over);
  std::shared_ptr<reactor::event> ending_;  // none: it is not being ended
};

std::string_view word_for(operation what) noexcept;

}  // namespace helm::placed
