#pragma once

#include "reactor/result.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

/// This program again as another process, on another core: the sender of a benchmark. Killed on destruction.
class child {
public:
  /// Errors: what the system says.
  static reactor::result<child> start(const std::vector<std::string>& arguments);
  child(child&& other) noexcept;
  child& operator=(child&& other) noexcept;
  ~child();

  /// One line of its standard output, without the end; empty when it ended. Blocks: for the time before measuring.
  std::string read_line();

private:
  child(pid_t pid, int output) : pid_(pid), output_(output) {}
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace bench
