#pragma once

#include <atomic>
#include <thread>

namespace bench::hostile {

/// Keeps another core busy, copying through the kernel, at the lowest priority, while it lives. Two
/// threads of one core, and cores that share a cache or a clock, slow each other by a third: who
/// sends the attack would do so beside some looks and not beside the quiet ones, and the machine's
/// other work beside either.
class other_core {
public:
  /// Throws std::runtime_error, std::system_error.
  other_core();
  ~other_core();
  other_core(const other_core&) = delete;
  other_core& operator=(const other_core&) = delete;

private:
  int ends_[2] = {-1, -1};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace bench::hostile
