#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace helm::testing {

/// The memory that deploy/chart gives the service, less what that takes by itself.
inline constexpr std::size_t spare_bytes = 96u << 20;

/// Runs `work`, which gives a text, in a process of its own that may map so much more memory than
/// this one and use so much processor time.
/// Shape    what it gave, or how the process ended: "killed by signal 24".
template <class Work>
std::string in_child(Work work, std::size_t bytes = spare_bytes, int seconds = 60) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0;
    statm >> pages;
    const auto most = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::getpagesize()) + bytes;
    const rlimit memory{most, most};
    const rlimit time{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds)};
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CPU, &time);
    const std::string out = work();
    (void)!::write(ends[1], out.data(), std::min<std::size_t>(out.size(), 60'000));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  char piece[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;)
    out.append(piece, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit code " + std::to_string(WEXITSTATUS(status));
  return out;
}

}  // namespace helm::testing
