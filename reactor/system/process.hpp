#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {

class loop;

/// What a program's environment starts from.
enum class environment_base { ours, empty };

/// What a pipe takes without a reader (POSIX, PIPE_BUF on Linux).
inline constexpr std::size_t input_limit_bytes = 4096;

/// A program to run, without a shell.
struct command {
  std::vector<std::string> argv;  // argv[0] is looked up in our PATH unless it has a slash
  environment_base base = environment_base::ours;
  std::map<std::string, std::optional<std::string>>
      environment;     // added or, without value, removed
  std::string folder;  // where it runs; empty = here
  int program = -1;    // an open file to execute instead of what argv[0] names; the caller keeps it
  /// It has our terminal, our standard input, until it ends. The terminal gets its modes back then,
  /// and where Ctrl-C ended the program this process gets a SIGINT as well.
  bool terminal = false;
  std::string input;  // what it reads, input_limit_bytes at most; empty = nothing
  std::size_t out_limit_bytes = 1024 * 1024;
  std::size_t err_limit_bytes = 64 * 1024;  // the last bytes are kept: they say why it failed
  /// Gets its standard error as it is written; `err` is kept all the same.
  std::function<void(std::string_view piece)> on_err = {};
  nanoseconds grace = 2s;  // between SIGTERM and SIGKILL
};

struct process_exit {
  int status = 0;  // exit status; meaningless when a signal ended it
  int signal = 0;  // 0 = it ended by itself
  std::string out, err;
  nanoseconds took{0};
  bool succeeded() const noexcept { return status == 0 && signal == 0; }
  /// "exit status 1", "killed by signal 9"
  std::string text() const;
  /// The last line of `err` that says something, without what looks like a credential; 500 bytes.
  std::string last_words() const;
};

/// Runs `c` in a process group of its own, with its input and none of our descriptors, until it has
/// ended.
/// Ends     at `deadline` or cancellation the group gets SIGTERM and after the grace SIGKILL; this
///          returns when the child is gone, so a cancelled caller waits that long too.
/// Output   what a grandchild holds open does not keep us: pipes are closed half a second after the
///          child's end.
/// Errors   errc::not_found: no such program, which `detail` names. errc::timed_out: the deadline.
///          errc::limit: too much input or output. A status other than 0 is not an error.
awaitable<result<process_exit>> run_process(loop& l, command c, steady_time deadline);

}  // namespace reactor
