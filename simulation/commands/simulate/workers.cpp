#include "simulation/commands/simulate/workers.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cli::simulate {
namespace {

constexpr std::size_t number_bytes = sizeof(std::uint64_t);

std::string number_text(std::uint64_t n) {
  std::string out(number_bytes, '\0');
  std::memcpy(out.data(), &n, number_bytes);
  return out;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t n = 0;
  std::memcpy(&n, text.data(), number_bytes);
  return n;
}

/// Errors: false when the other end is gone.
bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Appends what is there; false at the end.
bool receive(int from, std::string& into) {
  std::array<char, 64 * 1024> piece;
  for (;;) {
    const ssize_t n = ::recv(from, piece.data(), piece.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into.append(piece.data(), static_cast<std::size_t>(n));
    return true;
  }
}

/// What a worker does until there are no more jobs.
[[noreturn]] void serve(int socket, const std::function<std::string(std::size_t)>& work) {
  std::string asked;
  while (receive(socket, asked)) {
    if (asked.size() < number_bytes) continue;
    const std::string text = work(static_cast<std::size_t>(number_in(asked)));
    asked.clear();
    if (!send_all(socket, number_text(text.size()) + text)) break;
  }
  // Nothing of the one that forked us is ours to flush or to take away.
  ::_exit(0);
}

/// A process and the call it is busy with.
class worker {
public:
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    end();
  }

  void start(std::size_t number, const workers& of,
             const std::vector<std::unique_ptr<worker>>& others) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "make a socket for a simulation");
    const pid_t pid = ::fork();
    if (pid < 0) {
      const int error = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      throw std::system_error(error, std::generic_category(), "start a process for a simulation");
    }
    if (pid == 0) {
      // One that holds another's socket would keep it from seeing the end.
      for (const auto& other : others)
        if (other->socket_ >= 0) ::close(other->socket_);
      ::close(ends[0]);
      serve(ends[1], [&](std::size_t i) { return of.work(number, i); });
    }
    ::close(ends[1]);
    pid_ = pid;
    socket_ = ends[0];
  }

  bool runs() const noexcept { return pid_ > 0; }
  int socket() const noexcept { return socket_; }
  const std::optional<std::size_t>& at() const noexcept { return at_; }
  void ask(std::size_t i) {
    at_ = i;
    got_.clear();
    (void)send_all(socket_, number_text(i));  // one that is gone is seen when its answer is read
  }
  enum class heard { part, answer, end };
  heard listen() {
    if (!receive(socket_, got_)) return heard::end;
    if (got_.size() < number_bytes || got_.size() < number_bytes + number_in(got_))
      return heard::part;
    return heard::answer;
  }
  std::string take() {
    at_.reset();
    return std::exchange(got_, {}).substr(number_bytes);
  }
  /// Shape: how it ended, for a sentence: "was ended by signal 11 (Segmentation fault)".
  std::string end() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    at_.reset();
    if (pid_ <= 0) return {};
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status))
      return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
             ::strsignal(WTERMSIG(status)) + ")";
    return "ended with code " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }

private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::optional<std::size_t> at_;
  std::string got_;
};

}  // namespace

void workers::run() {
  struct outcome {
    std::optional<std::string> text;
    std::string why;
  };
  std::map<std::size_t, outcome> early;  // done, but not yet their turn
  std::size_t next = 0, told = 0;
  const auto tell = [&](std::size_t i, outcome o) {
    early.emplace(i, std::move(o));
    while (!early.empty() && early.begin()->first == told) {
      outcome is = std::move(early.extract(early.begin()).mapped());
      done(told++, std::move(is.text), is.why);
    }
  };
  std::vector<std::unique_ptr<worker>> all;
  for (std::size_t i = 0; i < std::min(jobs, count); ++i) all.push_back(std::make_unique<worker>());
  while (told < count) {
    for (std::size_t i = 0; i < all.size() && next < count; ++i) {
      if (all[i]->at()) continue;
      if (!all[i]->runs()) all[i]->start(i, *this, all);
      all[i]->ask(next++);
    }
    std::vector<pollfd> waits;
    std::vector<worker*> whose;
    for (const auto& w : all) {
      if (!w->at()) continue;
      waits.push_back({w->socket(), POLLIN, 0});
      whose.push_back(w.get());
    }
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "wait for simulations");
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const std::size_t at = *whose[i]->at();
      switch (whose[i]->listen()) {
        case worker::heard::part: break;
        case worker::heard::answer: tell(at, {whose[i]->take(), {}}); break;
        case worker::heard::end: tell(at, {std::nullopt, whose[i]->end()}); break;
      }
    }
  }
}

std::size_t processors() noexcept {
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace cli::simulate
