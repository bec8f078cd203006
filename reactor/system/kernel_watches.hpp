#pragma once

#include <cstddef>
#include <set>

namespace reactor {

/// The epoll descriptors of this process, and how many descriptors those but `except` watch. Asio
/// does not say when the kernel refuses to watch its own wake-ups, timers and signals; a process
/// without them waits for ever. Empty and 0 where /proc cannot be read.
struct kernel_watches {
  std::set<int> pollers;
  std::size_t watched = 0;
};
kernel_watches look_at_kernel_watches(const std::set<int>& except = {});

}  // namespace reactor
