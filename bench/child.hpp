#pragma once

#include "reactor/plain/result.hpp"

#include <sys/types.h>

#include <chrono>
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

  /// One line of its standard output, without the end; what there is when it ended, or when the
  /// rest takes longer. Blocks: for the time before measuring.
  std::string read_line(std::chrono::seconds most = std::chrono::hours(1));
  /// All that it prints until its end, or for so long.
  std::string read_all(std::chrono::seconds most);
  pid_t pid() const noexcept { return pid_; }
  /// Waits until it ends. Shape: its exit code, or -1 when it did not end by itself.
  int wait();

private:
  static reactor::result<child> start(const char* program, const std::vector<std::string>& words);
  child(pid_t pid, int output) : pid_(pid), output_(output) {}
  /// More of its output, or nothing at its end and after `until`.
  std::string read_some(std::size_t most, std::chrono::steady_clock::time_point until);
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace bench
