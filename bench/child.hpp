#pragma once

#include "reactor/plain/result.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

/// Another process, on another core: this program again as the sender of a benchmark, or a peer.
/// Killed on destruction.
class child {
public:
  /// Errors: what the system says.
  static reactor::result<child> start(const std::vector<std::string>& arguments);
  /// Another program, looked for on PATH. Shape: command[0] is its name. Errors: what the system
  /// says.
  static reactor::result<child> start_program(const std::vector<std::string>& command);
  child(child&& other) noexcept;
  child& operator=(child&& other) noexcept;
  ~child();

  /// One line of its standard output, without the end; empty when it ended. Blocks: for the time
  /// before measuring.
  std::string read_line();
  /// Waits until it ends. Shape: its exit code, or -1 when it did not end by itself.
  int wait();

private:
  static reactor::result<child> start(const char* program, const std::vector<std::string>& words);
  child(pid_t pid, int output) : pid_(pid), output_(output) {}
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace bench
