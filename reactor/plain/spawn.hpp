#pragma once

#include "reactor/plain/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace reactor {

/// How a program is started: as the leader of a process group of its own, with all signals as they
/// are by default and no descriptor of ours but these.
struct spawn_request {
  std::vector<std::string> argv;                        // at least the program; looked up in PATH
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; none = ours
  std::string folder;                                   // empty = ours
  int program = -1;       // an open file to execute instead of argv[0]; the child has it as 3
  bool terminal = false;  // standard input is a terminal, and the child's group gets it
  int in = -1;            // -1 = /dev/null
  int out = -1, err = -1;
};

/// Returns the child's id; the caller waits for it. Does not wait for anything itself, and
/// knows no loop.
/// Errors   the system's, also for a program that is not there or cannot be run.
result<pid_t> spawn(spawn_request r);

}  // namespace reactor
