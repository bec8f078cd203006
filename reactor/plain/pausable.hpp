#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

namespace reactor {

/// A plain function that pauses in its loops: it waits for nothing and knows no executor. Its body
/// says `co_await pausable::step{}` where a step begins, and stops there once its share is used up.
/// Lifetime: what the body refers to outlives it.
class [[nodiscard]] pausable {
public:
  struct step {};
  struct promise_type {
    struct next_step {
      promise_type& of;
      bool await_ready() const noexcept { return of.left > 0; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      void await_resume() const noexcept { --of.left; }
    };
    pausable get_return_object() noexcept {
      return pausable(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
    next_step await_transform(step) noexcept { return {*this}; }

    std::size_t left = 0;
  };

  pausable(pausable&& other) noexcept : at_(std::exchange(other.at_, {})) {}
  pausable& operator=(pausable&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~pausable() {
    if (at_) at_.destroy();
  }

  /// So many steps more; true once the body has ended. An exception of the body comes out here and
  /// ends it.
  bool advance(std::size_t steps) {
    at_.promise().left = steps;
    if (steps > 0 && !at_.done()) at_.resume();
    return at_.done();
  }

private:
  explicit pausable(std::coroutine_handle<promise_type> at) noexcept : at_(at) {}
  std::coroutine_handle<promise_type> at_;
};

}  // namespace reactor
