#pragma once

#include <cstddef>
#include <functional>

namespace helm {

/// Go programs may recurse through a gigabyte of stack; ours starts with a few megabytes. Recursive work that a chart can
/// make arbitrarily deep asks here before each level.
/// Shape    true while at least 256 kB of the current stack are left.
bool stack_is_roomy();

/// Runs `work` on a fresh stack and waits for it; what it throws is thrown here.
/// Errors   std::length_error when a render has used more than 1 GiB of stack in all.
void on_fresh_stack(const std::function<void()>& work);

template <class Work>
void with_room(Work&& work) {
  if (stack_is_roomy())
    work();
  else
    on_fresh_stack(std::forward<Work>(work));
}

}  // namespace helm
