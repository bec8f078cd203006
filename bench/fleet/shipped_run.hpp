#pragma once

#include "bench/fleet/kept_port.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/http/client.hpp"
#include "reactor/plain/time.hpp"

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace bench {

/// The program `windlass` that stands beside this one, started as it is shipped: `windlass run` on
/// a home, with the soft limit of open files that it is given.
/// Lifetime  killed on destruction.
class shipped_run {
public:
  struct options {
    std::string kubeconfig, log;
    std::size_t soft_limit = 0;  // 0: that of this process
    std::string apis = "bootc";
  };
  shipped_run(reactor::loop& l, options o) : loop_(l), options_(std::move(o)) {}
  ~shipped_run();
  shipped_run(const shipped_run&) = delete;
  shipped_run& operator=(const shipped_run&) = delete;

  /// Throws std::runtime_error where it cannot be started.
  void start();
  bool lives();
  /// SIGTERM, and until it has ended. Returns its exit code; -1 where it was killed after a minute.
  reactor::awaitable<int> stop();

  enum class listener { health, metrics, page };
  /// The answer's body; none without an answer of status 200 by then.
  reactor::awaitable<std::optional<std::string>> ask(listener who, std::string path,
                                                     reactor::nanoseconds within);
  /// Processor time of the process so far.
  reactor::nanoseconds cpu() const;
  /// VmRSS and VmHWM of /proc/PID/status.
  std::size_t resident_bytes(const char* which = "VmRSS:") const;
  /// Another command of the program on the same home, which writes to that file; its exit code.
  reactor::awaitable<int> run_command(std::vector<std::string> words, std::string to = "/dev/null");
  std::uint16_t port(listener who) const noexcept;
  /// The last lines of its log, for a person who looks why it did not stand.
  std::string last_lines() const;

private:
  reactor::awaitable<int> ended(pid_t pid, reactor::nanoseconds within);
  std::vector<std::string> on_home(std::vector<std::string> words) const;
  pid_t spawn(std::vector<std::string> command, const std::string& out);

  reactor::loop& loop_;
  options options_;
  kept_port health_, metrics_, page_;
  pid_t pid_ = -1;
};

}  // namespace bench
