#include "reactor/task_group.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace reactor {

struct task_group::child {
  std::string name;
  asio::cancellation_signal stop;
  std::exception_ptr why;  // it failed; null where it was cancelled
};

namespace {

/// Keeps the callable, and so its captures, alive for as long as the coroutine it made.
awaitable<void> run_made(std::function<awaitable<void>()> make) {
  co_await make();
}

/// Leaves in `why` what `body` failed with, if it was not cancelled. Not thrown, since each rethrow
/// costs as much as ten waits, and not returned, which every task that rests would pay for with 64
/// bytes. Asio's own last step, for a body that never waited, is a co_await; it would throw out of
/// the loop after a body that cancelled its own group.
awaitable<void> run_to_the_end(awaitable<void> body, std::exception_ptr& why) {  // borrowed
  try {
    co_await std::move(body);
  } catch (const boost::system::system_error& e) {
    if (!is_cancelled(e.code())) why = std::current_exception();
  } catch (...) {
    why = std::current_exception();
  }
  co_await asio::this_coro::throw_if_cancelled(false);
}

/// An exception may unwind through groups with live tasks, which end the process before anybody can
/// report it.
void say_what_failed(const std::string& task, const std::exception_ptr& why) {
  std::string text = "an unknown exception";
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {
  }
  std::fprintf(stderr, "task \"%s\" failed: %s\n", printable(task).c_str(),
               printable(redact(text)).c_str());
}

}  // namespace

task_group::task_group(loop& l, failure_handler on_failure)
    : loop_(l), on_failure_(std::move(on_failure)), empty_(l) {}

task_group::~task_group() {
  if (children_.empty()) return;
  // Also while an exception unwinds: what still runs would use its owner after that is gone.
  std::fputs("task_group destroyed while tasks run:", stderr);
  for (const auto& [id, c] : children_) std::fprintf(stderr, " %s", c->name.c_str());
  std::fputs("\n", stderr);
  // What unwinds was told by its task; without one it is a bug here, for which a core dump is worth
  // more.
  if (std::uncaught_exceptions() > 0) ::_exit(1);
  std::abort();
}

task_group::task_id task_group::start(std::string name, awaitable<void> body) {
  if (cancelled_) return 0;
  const task_id id = ++last_;
  auto c = std::make_shared<child>();
  c->name = std::move(name);
  children_.emplace(id, c);
  ++loop_.live().tasks;
  asio::co_spawn(
      loop_.get_executor(), run_to_the_end(std::move(body), c->why),
      asio::bind_cancellation_slot(c->stop.slot(), [this, id, c](std::exception_ptr outside) {
        ended(id, outside ? outside : c->why);
      }));
  return id;
}

task_group::task_id task_group::start(std::string name, std::function<awaitable<void>()> make) {
  return start(std::move(name), run_made(std::move(make)));
}

void task_group::ended(task_id id, std::exception_ptr why) {
  --loop_.live().tasks;
  const auto found = children_.find(id);
  const std::string name = found->second->name;
  children_.erase(found);
  if (children_.empty()) empty_.wake_all();
  if (!why) return;
  if (on_failure_) return on_failure_(name, why);
  say_what_failed(name, why);
  std::rethrow_exception(why);  // out of loop::run(): a bug without a handler
}

void task_group::cancel(task_id id) {
  if (const auto found = children_.find(id); found != children_.end()) {
    const auto c = found->second;
    c->stop.emit(asio::cancellation_type::terminal);
    loop_.post([c] {});  // as below
  }
}

void task_group::cancel() {
  cancelled_ = true;
  std::vector<std::shared_ptr<child>> all;
  all.reserve(children_.size());
  for (const auto& [id, c] : children_) all.push_back(c);
  for (const auto& c : all) c->stop.emit(asio::cancellation_type::terminal);
  // Outside the loop's turns Asio only queues what emit() asks for, and it needs the signal then.
  if (!all.empty()) loop_.post([all = std::move(all)] {});
}

awaitable<void> task_group::join() {
  while (!children_.empty()) co_await empty_.wait();
}

awaitable<void> task_group::cancel_and_join() {
  cancel();
  co_await join();
}

std::vector<std::string> task_group::names() const {
  std::vector<std::string> all;
  for (const auto& [id, c] : children_) all.push_back(c->name);
  return all;
}

}  // namespace reactor
