#include "reactor/system/process.hpp"

#include "reactor/expiry.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/spawn.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace reactor {
namespace {

using descriptor = asio::posix::basic_stream_descriptor<executor>;

/// How long output that others hold open is still read after the child's end.
constexpr nanoseconds drain_time = 500ms;

/// A pipe whose ends are closed unless they were handed on.
struct pipe_pair {
  int read = -1, write = -1;
  pipe_pair() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      read = ends[0];
      write = ends[1];
    }
  }
  ~pipe_pair() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
};

std::vector<std::string> environment_of(const command& c) {
  std::vector<std::string> all;
  char** entry = c.base == environment_base::ours ? environ : nullptr;
  for (; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (!c.environment.contains(std::string(variable.substr(0, variable.find('=')))))
      all.emplace_back(variable);
  }
  for (const auto& [name, value] : c.environment) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

/// One running child. Its pending operations keep it alive; timers only observe it.
class child : public std::enable_shared_from_this<child> {
public:
  child(loop& l, const command& c, pid_t pid)
      : changed(l),
        loop_(l),
        pid_(pid),
        out_limit_bytes_(c.out_limit_bytes),
        err_limit_bytes_(c.err_limit_bytes),
        grace_(c.grace),
        on_err_(c.on_err),
        terminal_(c.terminal),
        has_modes_(c.terminal && ::tcgetattr(STDIN_FILENO, &modes_) == 0),
        process_(l.get_executor()),
        out_{descriptor(l.get_executor())},
        err_{descriptor(l.get_executor())} {
    ++loop_.live().streams;
  }
  ~child() {
    loop_.timers().disarm(timer_);
    if (!exited_) {  // only when the loop ends before us
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, WNOHANG);
      take_terminal_back();
    }
    --loop_.live().streams;
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  /// Owns the descriptors from now on. Where the kernel cannot watch them the program ends at once.
  error_code take(int pidfd, int out, int err) {
    error_code failed;
    const std::initializer_list<std::pair<descriptor*, int>> all = {
        {&process_, pidfd}, {&out_.from, out}, {&err_.from, err}};
    for (const auto& [to, fd] : all) {
      if (!failed) to->assign(fd, failed);
      if (failed) ::close(fd);
    }
    if (failed) end_now();
    return failed;
  }

  void start() {
    read(out_);
    read(err_);
    await_end();
  }

  bool done() const { return exited_ && !out_.open && !err_.open; }
  bool overflowed() const { return overflowed_; }

  void terminate() {
    if (exited_ || std::exchange(terminating_, true)) return;
    ::kill(-pid_, SIGTERM);
    timer_ = loop_.timers().arm(loop_.now() + grace_, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && !self->exited_) ::kill(-self->pid_, SIGKILL);
    });
  }

  process_exit take_exit() {
    process_exit e;
    e.status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
    e.signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
    e.out = std::move(out_.bytes);
    if (err_.bytes.size() > err_limit_bytes_)
      err_.bytes.erase(0, err_.bytes.size() - err_limit_bytes_);
    e.err = std::move(err_.bytes);
    return e;
  }

  waiters changed;

private:
  struct output {
    descriptor from;
    std::string bytes = {};
    std::array<char, 4096> piece = {};
    bool open = true;
  };

  void read(output& o) {
    o.from.async_read_some(asio::buffer(o.piece),
                           [self = shared_from_this(), &o](const error_code& code, std::size_t n) {
                             if (code) {
                               o.open = false;
                               self->changed.wake_all();
                               return;
                             }
                             self->keep(o, {o.piece.data(), n});
                             self->read(o);
                           });
  }

  void keep(output& o, std::string_view piece) {
    if (&o == &out_) {
      if (!overflowed_) o.bytes += piece;
      if (o.bytes.size() <= out_limit_bytes_) return;
      overflowed_ = true;
      std::string().swap(o.bytes);
      terminate();
    } else {
      if (on_err_) on_err_(piece);
      o.bytes += piece;
      if (o.bytes.size() <= 2 * err_limit_bytes_ + piece.size()) return;
      // seldom, so that it costs little per byte
      o.bytes.erase(0, o.bytes.size() - err_limit_bytes_);
    }
  }

  void await_end() {
    process_.async_wait(descriptor::wait_read, [self = shared_from_this()](const error_code& code) {
      if (code == asio::error::operation_aborted) return;
      if (code) ::kill(-self->pid_, SIGKILL);  // or waiting for it would stop the loop
      // Readiness may be the echo of a descriptor that had this number before.
      if (!code && !self->has_ended()) return self->await_end();
      self->reap();
    });
  }

  bool has_ended() const {
    siginfo_t info{};
    const int asked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return asked != 0 || info.si_pid == pid_;
  }

  void end_now() {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    exited_ = true;
    take_terminal_back();
  }

  /// A process that is not in the foreground is stopped for doing so, unless it blocks the signal.
  void take_terminal_back() {
    if (!std::exchange(terminal_, false)) return;
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
    // One that was killed while it asked for a password leaves the terminal without echo.
    if (has_modes_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void reap() {
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    exited_ = true;
    const bool had_terminal = terminal_;
    take_terminal_back();
    // Ctrl-C reaches the group in the foreground alone, and the user means this process as well.
    if (had_terminal && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGINT) ::raise(SIGINT);
    loop_.timers().disarm(timer_);
    timer_ = loop_.timers().arm(loop_.now() + drain_time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        error_code ignored;
        self->out_.from.close(ignored);
        self->err_.from.close(ignored);
      }
    });
    changed.wake_all();
  }

  loop& loop_;
  const pid_t pid_;
  const std::size_t out_limit_bytes_, err_limit_bytes_;
  const nanoseconds grace_;
  const std::function<void(std::string_view)> on_err_;
  bool terminal_;    // the child's group has it
  termios modes_{};  // of the terminal before
  const bool has_modes_;
  descriptor process_;
  output out_, err_;
  timer_id timer_ = 0;
  int status_ = 0;
  bool exited_ = false, terminating_ = false, overflowed_ = false;
};

result<std::shared_ptr<child>> start_child(loop& l, command& c, const std::string& doing) {
  const auto failed = [&](const error_code& code) {
    if (code == boost::system::errc::no_such_file_or_directory)
      return make_fault(errc::not_found, doing,
                        "there is no program \"" + c.argv[0] + "\"" +
                            (c.folder.empty() ? "" : ", or no folder \"" + c.folder + "\""));
    return make_fault(code, doing);
  };
  const auto of_system = [](int number) {
    return error_code(number, boost::system::system_category());
  };
  pipe_pair out, err;
  if (out.read < 0 || err.read < 0) return failed(of_system(errno));
  std::optional<pipe_pair> in;
  if (!c.input.empty()) {
    in.emplace();
    // The pipe holds all of it, so this does not wait for the program.
    if (in->read < 0 ||
        ::write(in->write, c.input.data(), c.input.size()) != static_cast<ssize_t>(c.input.size()))
      return failed(of_system(errno));
  }
  spawn_request r;
  r.argv = c.argv;
  r.environment = environment_of(c);
  r.folder = c.folder;
  if (in) r.in = in->read;
  r.program = c.program;
  // A command in the background has no terminal to give.
  c.terminal = c.terminal && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  r.terminal = c.terminal;
  if (c.terminal) r.in = STDIN_FILENO;
  r.out = out.write;
  r.err = err.write;
  const auto spawned = spawn(std::move(r));
  if (!spawned) return failed(spawned.error().code);
  const pid_t pid = *spawned;
  // No other code waits for our children, so the number cannot have been given to another process
  // yet.
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const int number = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return failed(of_system(number));
  }
  ::fcntl(pidfd, F_SETFD, FD_CLOEXEC);
  auto started = std::make_shared<child>(l, c, pid);
  if (const error_code unusable =
          started->take(pidfd, std::exchange(out.read, -1), std::exchange(err.read, -1)))
    return make_fault(unusable, doing);
  started->start();
  return started;
}

}  // namespace

std::string process_exit::text() const {
  return signal != 0 ? "killed by signal " + std::to_string(signal)
                     : "exit status " + std::to_string(status);
}

std::string process_exit::last_words() const {
  const std::size_t last = err.find_last_not_of(" \r\n");
  if (last == std::string::npos) return {};
  const std::size_t line = err.rfind('\n', last);
  const std::size_t from = line == std::string::npos ? 0 : line + 1;
  return printable(redact(err.substr(from, std::min<std::size_t>(last - from + 1, 500))));
}

awaitable<result<process_exit>> run_process(loop& l, command c, steady_time deadline) {
  if (c.argv.empty())
    co_return make_fault(errc::malformed, "run a program", "no program was named");
  const std::string doing = "run " + c.argv[0];
  if (c.input.size() > input_limit_bytes)
    co_return make_fault(errc::limit, doing,
                         "its input has more than " + std::to_string(input_limit_bytes) + " bytes");
  if (l.simulated())
    co_return make_fault(errc::refused, doing, "no program can run in virtual time");
  const steady_time started_at = l.now();
  auto started = start_child(l, c, doing);
  if (!started) co_return started.error();
  const std::shared_ptr<child> running = *started;

  bool timed_out = false, cancelled = false;
  expiry limit(l, [&] {
    timed_out = true;
    running->terminate();
  });
  limit.set(deadline);
  // Cancellation ends the child, and we still wait for that.
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!running->done()) {
    try {
      co_await running->changed.wait();
    } catch (const boost::system::system_error&) {
      cancelled = true;
      running->terminate();
    }
  }
  co_await asio::this_coro::throw_if_cancelled(throwing);
  limit.clear();
  process_exit ended = running->take_exit();
  ended.took = l.now() - started_at;
  if (cancelled) co_return make_fault(asio::error::operation_aborted, doing);
  if (running->overflowed()) {
    co_return make_fault(errc::limit, doing,
                         "it wrote more than " + std::to_string(c.out_limit_bytes) + " bytes");
  }
  if (timed_out) {
    std::string detail = "it was stopped after " + format_duration(ended.took);
    if (const std::string said = ended.last_words(); !said.empty())
      detail += "; its last words: " + said;
    co_return make_fault(errc::timed_out, doing, detail);
  }
  co_return ended;
}

}  // namespace reactor
