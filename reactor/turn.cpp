#include "reactor/turn.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace reactor {
namespace {

/// Of the thread, which is to say of its loop. Without a loop it never ends.
struct share {
  std::size_t bytes = 0, steps = 0;
  std::chrono::steady_clock::time_point began{};
  bool running =
      false;  // `began` is known: looked up with the first question, because a turn begins with a sleep
  bool by_machine = false;
  bool ending = false;  // some loop begins turns
};
thread_local constinit share now_;

}  // namespace

void turn::begin(clock by) noexcept {
  now_.bytes = now_.steps = 0;
  now_.running = false;
  now_.by_machine = by == clock::machine;
  now_.ending = true;
}

void turn::spend(std::size_t bytes) noexcept {
  now_.bytes += bytes;
  ++now_.steps;
}

awaitable<void> turn::give_way() {
  const executor ours = co_await asio::this_coro::executor;
  co_await asio::post(ours, asio::use_awaitable_t<executor>{});
}

bool turn::is_over() noexcept {
  if (!now_.ending) return false;
  if (now_.bytes >= most_bytes || now_.steps >= most_steps) return true;
  if (!now_.by_machine) return false;
  const auto at = std::chrono::steady_clock::now();
  if (now_.running) return at - now_.began >= longest;
  now_.began = at;
  now_.running = true;
  return false;
}

}  // namespace reactor
