#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/waiters.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {

class loop;

/// Owns coroutines that run beside their owner. The only caller of co_spawn.
/// Failure:  an exception that is not cancellation reaches `on_failure`; without one it ends the
///           process loudly, since an exception is a bug (expected failures are results).
/// Lifetime: the owner's last member; cancel_and_join() before destruction. Where tasks still run
///           then, it names them on standard error and ends the process, as std::thread does, also
///           while an exception unwinds.
class task_group {
public:
  using failure_handler = std::function<void(std::string_view task, std::exception_ptr why)>;
  explicit task_group(loop& l, failure_handler on_failure = {});
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  using task_id = std::uint64_t;
  /// Starts `body`: within the loop at once, up to its first wait, else in the loop's next turn.
  /// `name` is for people: messages, the list of what still runs. After cancel() nothing starts any
  /// more and `body` is dropped.
  task_id start(std::string name, awaitable<void> body);
  /// The same for a callable that makes the coroutine; captures stay alive until it ends.
  task_id start(std::string name, std::function<awaitable<void>()> make);
  /// Cancels one child; no effect when it already ended.
  void cancel(task_id id);
  /// Asks every child to end, the calling one too: its next co_await throws. Idempotent.
  void cancel();
  /// Waits until no child is left. Call it from a coroutine that is not itself cancelled.
  awaitable<void> join();
  awaitable<void> cancel_and_join();

  bool empty() const noexcept { return children_.empty(); }
  std::size_t size() const noexcept { return children_.size(); }
  bool cancelled() const noexcept { return cancelled_; }
  std::vector<std::string> names() const;

private:
  struct child;
  void ended(task_id id, std::exception_ptr why);
  loop& loop_;
  failure_handler on_failure_;
  std::map<task_id, std::shared_ptr<child>> children_;
  task_id last_ = 0;
  bool cancelled_ = false;
  waiters empty_;
};

}  // namespace reactor
