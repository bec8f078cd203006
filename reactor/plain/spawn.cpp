#include "reactor/plain/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

namespace reactor {
namespace {

constexpr int program_descriptor = 3;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& t : texts) all.push_back(t.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

// posix_spawn does not copy this process's memory as fork would, and reports a failing exec.
result<pid_t> spawn(spawn_request r) {
  const auto failed = [&](int number) {
    return make_fault(error_code(number, boost::system::system_category()), "run " + r.argv[0]);
  };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int status = posix_spawn_file_actions_init(&files);
  if (status != 0) return failed(status);
  if ((status = posix_spawnattr_init(&attributes)) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return failed(status);
  }
  // Each of them allocates; without it the program would have our own input or output.
  status = r.in < 0
               ? posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
               : posix_spawn_file_actions_adddup2(&files, r.in, STDIN_FILENO);
  if (status == 0) status = posix_spawn_file_actions_adddup2(&files, r.out, STDOUT_FILENO);
  if (status == 0) status = posix_spawn_file_actions_adddup2(&files, r.err, STDERR_FILENO);
  if (status == 0 && r.program >= 0)
    status = posix_spawn_file_actions_adddup2(&files, r.program, program_descriptor);
  if (status == 0)
    status = posix_spawn_file_actions_addclosefrom_np(
        &files, r.program >= 0 ? program_descriptor + 1 : program_descriptor);
  if (status == 0 && r.terminal)
    status = posix_spawn_file_actions_addtcsetpgrp_np(&files, STDIN_FILENO);
  if (status == 0 && !r.folder.empty())
    status = posix_spawn_file_actions_addchdir_np(&files, r.folder.c_str());
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  if (status == 0) {
    std::vector<char*> theirs;
    if (r.environment) theirs = pointers(*r.environment);
    // The open file itself, whatever its path leads to by now; a script's interpreter reads it
    // there.
    const std::string path =
        r.program >= 0 ? "/proc/self/fd/" + std::to_string(program_descriptor) : r.argv[0];
    status = ::posix_spawnp(&pid, path.c_str(), &files, &attributes, pointers(r.argv).data(),
                            r.environment ? theirs.data() : environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (status != 0) return failed(status);
  return pid;
}

}  // namespace reactor
