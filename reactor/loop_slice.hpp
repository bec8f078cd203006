#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/owned.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace reactor {

class allowance;
class loop;

/// What the present turn of the thread's loop may still do. What awaits something that may be there
/// already goes on without letting anybody else run, timers included, so a peer whose bytes never
/// end would have the thread for itself. Hence a rule for everything that hands on without waiting
/// what came from outside: it spends its turn's share, and once that is used up it gives way first.
/// The streams do so for bytes, http::exchange for pieces of a body, the informers for objects.
class loop_slice {
public:
  /// Of the machine's clock; where time stands still, the others count. Hundreds of clusters may
  /// stand behind one that always has bytes, and wait for each of its streams so long.
  static constexpr nanoseconds longest = 500us;
  static constexpr std::size_t most_bytes = 128 * 1024;
  static constexpr std::size_t most_steps = 500;
  /// A task that gave way runs when no other is ready, but never waits for more than so much work
  /// of the others.
  static constexpr nanoseconds most_ahead = 20ms;
  static constexpr std::size_t most_ahead_callbacks = 200;  // where time stands still

  /// One step was taken, with so many bytes.
  static void spend(std::size_t bytes = 0) noexcept;
  /// The share is used up: the task that would go on now gives way or says "would block".
  static bool is_over() noexcept;
  /// Which one of its thread it is; nothing outside a loop.
  static std::optional<std::uint64_t> number() noexcept;
  /// Lets everything else that is ready, or becomes ready meanwhile, run first.
  static awaitable<void> yield();
  /// What the present callback does is done for that peer. False when its allowance is used up:
  /// then it gives way first.
  static bool charge(const std::shared_ptr<allowance>& peer) noexcept;

  /// Work that no caller waits for and that touches nothing that others have, such as giving much
  /// memory back, is done beside the loop; at once where there is none, or no memory to ask.
  template <class F, class... V>
    requires detached_job<F, V...>
  static void leave_to_a_worker(F f, V... values) noexcept {
    leave([f, held = std::make_shared<std::tuple<V...>>(std::move(values)...)] {
      std::apply(f, *held);
    });
  }

private:
  friend class loop;
  static void leave(std::function<void()> job) noexcept;
  /// Of that loop; without one it never ends.
  static void begin(loop* of) noexcept;
};

}  // namespace reactor
