#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>

namespace reactor {

class loop;

enum class woken { by_call, by_deadline };

/// A place where coroutines wait until a plain function wakes them: the one suspension point on
/// which sleeping, events, queues and joins are built. First come, first woken. Woken coroutines
/// run in the loop's next turn.
/// Lifetime  destroying it wakes each that still waits as if cancelled.
class waiters {
public:
  explicit waiters(loop& l) noexcept : loop_(l) {}
  ~waiters();
  waiters(const waiters&) = delete;
  waiters& operator=(const waiters&) = delete;

  /// Cancellation unwinds: it throws operation_aborted, so that it is not taken for a wake-up.
  awaitable<woken> wait(steady_time deadline = never);
  void wake_one();
  void wake_all();
  std::size_t size() const noexcept { return size_; }

private:
  struct entry;
  enum class outcome;
  friend struct waiter_access;
  void append(entry& e) noexcept;
  void remove(entry& e) noexcept;

  loop& loop_;
  entry* first_ = nullptr;
  entry* last_ = nullptr;
  std::size_t size_ = 0;
};

/// A flag that coroutines can wait for. set() wakes all and stays until reset().
class event {
public:
  explicit event(loop& l) noexcept : waiters_(l) {}
  void set() {
    set_ = true;
    waiters_.wake_all();
  }
  void reset() noexcept { set_ = false; }
  bool is_set() const noexcept { return set_; }
  /// Returns at once when set. False when the deadline came first.
  awaitable<bool> wait(steady_time deadline = never);

private:
  bool set_ = false;
  waiters waiters_;
};

}  // namespace reactor
