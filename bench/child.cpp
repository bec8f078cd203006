#include "bench/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

extern char** environ;

namespace bench {

reactor::result<child> child::start(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"windlass-bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return start("/proc/self/exe", words);
}

reactor::result<child> child::start_program(const std::vector<std::string>& command) {
  return start(command.front().c_str(), command);
}

reactor::result<child> child::start(const char* program, const std::vector<std::string>& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return reactor::make_fault(reactor::error_code(errno, boost::system::system_category()),
                               "start " + words.front());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& a : words) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return reactor::make_fault(reactor::error_code(error, boost::system::system_category()),
                               "start " + words.front());
  }
  return child(pid, ends[0]);
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::exchange(other.output_, -1)) {}

child& child::operator=(child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  return *this;
}

child::~child() {
  if (output_ >= 0) close(output_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

int child::wait() {
  int status = 0;
  if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string child::read_some(std::size_t most, std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd ready{output_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
  std::string bytes(most, '\0');
  const ssize_t n = ::read(output_, bytes.data(), bytes.size());
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

std::string child::read_line(std::chrono::seconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  std::string line;
  for (std::string c; !(c = read_some(1, until)).empty() && c != "\n";) line += c;
  return line;
}

std::string child::read_all(std::chrono::seconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  std::string all;
  for (std::string more; !(more = read_some(64 * 1024, until)).empty();) all += more;
  return all;
}

}  // namespace bench
