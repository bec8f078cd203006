#include "helm/commands/post_renderer.hpp"

#include "formats/go/files.hpp"
#include "helm/go.hpp"
#include "reactor/plain/spawn.hpp"
#include "reactor/plain/write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace helm {
namespace {

constexpr std::size_t error_bytes_limit = 64u << 10;
constexpr auto between_looks = std::chrono::milliseconds(20);

class descriptor {
public:
  explicit descriptor(int fd = -1) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

private:
  int fd_;
};

/// A file in memory that holds `text`, to be read from its beginning.
descriptor in_memory(const std::string& text) {
  descriptor out(::memfd_create("manifests", MFD_CLOEXEC));
  if (out.get() < 0 || !reactor::write_all(out.get(), text)) return descriptor();
  ::lseek(out.get(), 0, SEEK_SET);
  return out;
}

/// Reads what is there. False when the writer is gone.
bool take(descriptor& from, std::string& into, std::size_t limit) {
  char buffer[1 << 16];
  const auto n = ::read(from.get(), buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) {
    from.close();
    return false;
  }
  into.append(buffer, std::min(static_cast<std::size_t>(n), limit - std::min(limit, into.size())));
  return true;
}

std::string ending(int status) {
  if (WIFSIGNALED(status)) return "signal: " + lower(::strsignal(WTERMSIG(status)));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

outcome<std::string> find_program(const std::string& name, const std::string& search_path) {
  const auto runs = [](const std::string& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const auto prefix = "unable to find binary at " + name + ": exec: " + quote(name) + ": ";
  if (name.find('/') != name.npos) {
    if (runs(name)) return absolute(name);
    struct stat about{};
    if (::stat(name.c_str(), &about) != 0)
      return problem{prefix + "stat " + name + ": no such file or directory"};
    return problem{prefix + (S_ISDIR(about.st_mode) ? "is a directory" : "permission denied")};
  }
  for (const auto& folder : split(search_path, ":"))
    if (const auto path = (folder.empty() ? "." : folder) + "/" + name; !name.empty() && runs(path))
      return absolute(path);
  return problem{prefix + "executable file not found in $PATH"};
}

outcome<std::string> post_render(const post_renderer& how, const std::string& manifests,
                                 const std::function<std::chrono::nanoseconds()>& steady,
                                 const std::atomic<bool>* cancelled) {
  const std::string prefix = "error while running post render on files: ";
  const auto in = in_memory(manifests);
  int out_pipe[2], err_pipe[2];
  if (in.get() < 0 || ::pipe2(out_pipe, O_CLOEXEC) != 0)
    return problem{prefix + std::strerror(errno)};
  descriptor out(out_pipe[0]), out_end(out_pipe[1]);
  if (::pipe2(err_pipe, O_CLOEXEC) != 0) return problem{prefix + std::strerror(errno)};
  descriptor err(err_pipe[0]), err_end(err_pipe[1]);
  reactor::spawn_request r;
  r.argv = how.arguments;
  r.argv.insert(r.argv.begin(), how.program);
  r.in = in.get();
  r.out = out_end.get();
  r.err = err_end.get();
  const auto spawned = reactor::spawn(std::move(r));
  if (!spawned)
    return problem{prefix + "error while running command " + how.program +
                   ". error output:\n: fork/exec " + how.program + ": " +
                   lower(std::strerror(spawned.error().code.value()))};
  const pid_t pid = *spawned;
  out_end.close();
  err_end.close();

  std::string text, errors, stopped;
  const auto begin = steady ? steady() : std::chrono::nanoseconds(0);
  int status = 0;
  // It may close its output and go on, so its end is asked for as well.
  while (out.get() >= 0 || err.get() >= 0 || ::waitpid(pid, &status, WNOHANG) == 0) {
    pollfd waiting[] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    ::poll(waiting, 2, static_cast<int>(between_looks.count()));
    if (waiting[0].revents && out.get() >= 0) take(out, text, file_bytes_limit + 1);
    if (waiting[1].revents && err.get() >= 0) take(err, errors, error_bytes_limit);
    if (cancelled && cancelled->load(std::memory_order_relaxed))
      stopped = "cancelled";
    else if (steady && steady() - begin > how.limit)
      stopped = "it ran longer than " + std::to_string(how.limit.count()) + " s";
    else if (text.size() > file_bytes_limit)
      stopped = "it printed more than " + std::to_string(file_bytes_limit) + " bytes";
    if (stopped.empty()) continue;
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    break;
  }
  if (stopped.empty() && status == 0) return text;
  return problem{prefix + "error while running command " + how.program + ". error output:\n" +
                 errors + ": " + (stopped.empty() ? ending(status) : stopped)};
}

manifest_step step_of(post_renderer how) {
  if (!how) return {};
  return manifest_step(&post_render, std::move(how));
}

}  // namespace helm
