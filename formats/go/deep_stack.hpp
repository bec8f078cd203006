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

/// Bounds how many maps and lists may be walked while it lives: a few nested maps that refer to one
/// another twice stand for more values than any machine can copy or print. Without one there is no
/// bound.
/// Errors   std::length_error from the walk that goes over it.
class walk_limit {
public:
  explicit walk_limit(std::uint64_t steps);
  walk_limit(const walk_limit&) = delete;
  walk_limit& operator=(const walk_limit&) = delete;
  ~walk_limit();

private:
  std::uint64_t before_;
};
/// Counts steps of this thread's walk.
void count_steps(std::uint64_t n);

/// The most text that one value may become. Errors   std::length_error
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
