#include "helm/placed/operation_task.hpp"

#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"

namespace helm::placed {
namespace {

reactor::awaitable<reactor::result<void>> settled(release_operation& o) {  // borrowed
  (void)co_await o.settle();
  co_return reactor::result<void>();
}

}  // namespace

std::string_view word_for(operation what) noexcept {
  switch (what) {
    case operation::install: return "install";
    case operation::upgrade: return "upgrade";
    case operation::uninstall: return "uninstall";
    case operation::none: return "none";
  }
  return "";
}

std::shared_ptr<reactor::event> operation_task::end(
    reactor::loop& l, reactor::task_group& in, reactor::nanoseconds within,
    std::function<void(const reactor::result<void>&)> over) {
  if (ending_) return ending_;
  const auto ended_and_gone = ending_ = std::make_shared<reactor::event>(l);
  in.start("end an operation", run_end(l, within, std::move(over)));  // may be over with that
  return ended_and_gone;
}

reactor::awaitable<void> operation_task::run_end(
    reactor::loop& l, reactor::nanoseconds within,
    std::function<void(const reactor::result<void>&)> over) {
  const auto gone = ending_;
  auto done = co_await settle(l, within);
  over(done);
  gone->set();
}

reactor::awaitable<reactor::result<void>> operation_task::settle(reactor::loop& l,
                                                                 reactor::nanoseconds within) {
  const reactor::steady_time until = l.now() + within;
  if (telling && !ended.is_set()) (void)co_await ended.wait(until);
  co_await task.cancel_and_join();
  if (!release || telling) co_return reactor::result<void>();
  co_return co_await reactor::with_deadline(l, settled(*release), until, "end an operation");
}

}  // namespace helm::placed
