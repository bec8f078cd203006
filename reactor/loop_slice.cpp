#include "reactor/loop_slice.hpp"

#include "reactor/allowance.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace reactor {
namespace {

/// Of the thread, which is to say of its loop.
struct share {
  std::size_t bytes = 0, steps = 0;
  std::uint64_t number = 0;
  std::chrono::steady_clock::time_point began{};
  // `began` is known: looked up with the first question, because a turn begins with a sleep
  bool running = false;
  loop* of = nullptr;
};
thread_local constinit share now_;

}  // namespace

void loop_slice::begin(loop* of) noexcept {
  now_.bytes = now_.steps = 0;
  ++now_.number;
  now_.running = false;
  now_.of = of;
}

std::optional<std::uint64_t> loop_slice::number() noexcept {
  if (!now_.of) return std::nullopt;
  return now_.number;
}

void loop_slice::spend(std::size_t bytes) noexcept {
  now_.bytes += bytes;
  ++now_.steps;
}

awaitable<void> loop_slice::yield() {
  if (now_.of) {
    (void)co_await now_.of->later_->wait();
  } else {
    const executor ours = co_await asio::this_coro::executor;
    co_await asio::post(ours, asio::use_awaitable_t<executor>{});
  }
}

bool loop_slice::is_over() noexcept {
  if (!now_.of) return false;
  if (now_.bytes >= most_bytes || now_.steps >= most_steps) return true;
  if (now_.of->simulated()) return false;
  const auto at = std::chrono::steady_clock::now();
  if (now_.running) return at - now_.began >= longest;
  now_.began = at;
  now_.running = true;
  return false;
}

void loop_slice::leave(std::function<void()> job) noexcept {
  if (!now_.of || !memory_allows([&] { now_.of->run_aside(job); })) job();
}

bool loop_slice::charge(const std::shared_ptr<allowance>& peer) noexcept {
  if (!peer || !now_.of || now_.of->simulated()) return true;
  if (!peer->is_left(now_.of->spent_)) return false;
  now_.of->charged_ = peer;
  return true;
}

}  // namespace reactor
