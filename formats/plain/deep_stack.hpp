#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace formats {

/// Go programs may recurse through a gigabyte of stack; ours starts with a few megabytes. Recursive
/// work that a text can make arbitrarily deep asks here before each level.
/// Shape    true while at least 256 kB of the current stack are left.
bool stack_is_roomy();

/// Runs `work` on a fresh stack and waits for it; what it throws is thrown here.
/// Errors   std::length_error when a render has used more than 1 GiB of stack in all.
void on_fresh_stack(const std::function<void()>& work);

inline constexpr std::uint64_t unbounded = ~std::uint64_t{0};

/// Bounds what this thread does with foreign texts while it lives: the steps that it takes, and the
/// memory that it holds at a time. A few nested maps that refer to one another twice stand for more
/// values than any machine can copy or print, and an archive holds more archives. Without one there
/// is no bound. One inside another has no more than is left of that, and what it uses both have
/// used.
/// Units    a step takes up to some ten nanoseconds. Bytes: as much as memory is asked for, give or
///          take a quarter.
/// Errors   std::length_error from the step, or the value, that goes over it.
class work_limit {
public:
  explicit work_limit(std::uint64_t steps, std::uint64_t bytes = unbounded);
  work_limit(const work_limit&) = delete;
  work_limit& operator=(const work_limit&) = delete;
  ~work_limit();

private:
  std::uint64_t steps_before_, steps_, bytes_before_;
};
/// For what is ours in the midst of it, and made once: no limit while it lives, and nothing of it
/// counts.
class unlimited_work {
public:
  unlimited_work() noexcept;
  unlimited_work(const unlimited_work&) = delete;
  unlimited_work& operator=(const unlimited_work&) = delete;
  ~unlimited_work();

private:
  std::uint64_t steps_before_, held_before_, bytes_before_;
};
/// Counts steps of this thread's work. Every loop whose length a foreign text decides does.
void count_steps(std::uint64_t n);
/// What is left of them; `unbounded` without a limit. For tests that count.
std::uint64_t steps_left() noexcept;

/// Memory that foreign content takes from now on, and that it gives back. Values, and the nodes of
/// documents that are being read, count themselves.
void hold_bytes(std::uint64_t n);
void let_go(std::uint64_t n) noexcept;
/// Bytes that are held while it lives.
class held_bytes {
public:
  held_bytes() = default;
  held_bytes(const held_bytes&) = delete;
  held_bytes& operator=(const held_bytes&) = delete;
  ~held_bytes() { let_go(total_); }
  void add(std::uint64_t n) {
    hold_bytes(n);
    total_ += n;
  }

private:
  std::uint64_t total_ = 0;
};

/// The most text that one value may become, where no limit says less. Errors   std::length_error
inline constexpr std::size_t text_bytes_limit = 256u << 20;
void check_text(std::size_t bytes);

template <class Work>
void with_room(Work&& work) {
  count_steps(1);
  if (stack_is_roomy())
    work();
  else
    on_fresh_stack(std::forward<Work>(work));
}

}  // namespace formats
