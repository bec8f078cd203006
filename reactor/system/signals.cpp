#include "reactor/system/signals.hpp"

#include "reactor/loop.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace reactor {
namespace {

constexpr std::array handled{SIGTERM, SIGINT, SIGHUP, SIGWINCH};

/// What a handler may touch. The signals stand here until the loop has taken them, so none is lost
/// though ringing the bell or reading it fails; asio::signal_set keeps them in a pipe and takes a
/// read that fails for "none".
struct noted {
  std::array<std::atomic<unsigned>, handled.size()> times{};
  std::atomic<int> bell{-1};
};
noted all;
static_assert(std::atomic<unsigned>::is_always_lock_free);

extern "C" void note_signal(int number) {
  const int kept = errno;
  for (std::size_t i = 0; i < handled.size(); ++i)
    if (handled[i] == number) ++all.times[i];
  const std::uint64_t once = 1;
  if (const int bell = all.bell; bell >= 0) (void)!::write(bell, &once, sizeof once);
  errno = kept;
}

}  // namespace

struct signals::impl : std::enable_shared_from_this<signals::impl> {
  impl(loop& on, signal_actions a) : l(on), actions(std::move(a)), bell(l.get_executor()) {
    const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
      throw std::system_error(errno, std::system_category(),
                              "the kernel gave no way to hear signals");
    error_code refused;
    bell.assign(made, refused);
    if (refused) {
      ::close(made);
      throw std::system_error(refused.value(), std::system_category(),
                              "the kernel refused to watch signals");
    }
    former_bell = all.bell.exchange(made);
    struct sigaction note{};
    note.sa_handler = &note_signal;
    note.sa_flags = SA_RESTART;
    sigfillset(&note.sa_mask);
    for (std::size_t i = 0; i < handled.size(); ++i) {
      all.times[i] = 0;
      ::sigaction(handled[i], &note, &former[i]);
      if (handled[i] == SIGHUP && !actions.reload && former[i].sa_handler == SIG_IGN)
        ::sigaction(SIGHUP, &former[i], nullptr);
    }
  }
  ~impl() { close(); }

  void wait() {
    bell.async_wait(decltype(bell)::wait_read, [self = shared_from_this()](const error_code& code) {
      if (self->closed) return;
      // Whatever keeps it from listening: what arrives meanwhile is noted.
      if (code) {
        self->look_again = self->l.timers().arm(self->l.now() + 100ms, [self] { self->wait(); });
        return self->take();
      }
      std::uint64_t rung = 0;
      (void)!::read(self->bell.native_handle(), &rung, sizeof rung);
      self->wait();
      self->take();
    });
  }

  void take() {
    for (std::size_t i = 0; i < handled.size(); ++i)
      for (unsigned n = all.times[i].exchange(0); n > 0 && !closed; --n) arrived(handled[i]);
  }

  void arrived(int number) {
    if (number == SIGHUP && actions.reload) return actions.reload();
    if (number == SIGWINCH) {
      if (actions.resized) actions.resized();
      return;
    }
    if (std::exchange(stopped_by, number) == 0) {
      if (actions.stop) actions.stop();
    } else if (actions.exit_now) {
      actions.exit_now(128 + number);
    } else {
      std::_Exit(128 + number);
    }
  }

  void close() {
    if (std::exchange(closed, true)) return;
    for (std::size_t i = 0; i < handled.size(); ++i) ::sigaction(handled[i], &former[i], nullptr);
    all.bell = former_bell;
    l.timers().disarm(look_again);
    error_code ignored;
    bell.close(ignored);
  }

  loop& l;
  signal_actions actions;
  timer_id look_again = 0;
  asio::posix::basic_stream_descriptor<executor> bell;
  int former_bell = -1;
  std::array<struct sigaction, handled.size()> former{};
  int stopped_by = 0;
  bool closed = false;
};

signals::signals(loop& l, signal_actions actions)
    : impl_(std::make_shared<impl>(l, std::move(actions))) {
  std::signal(SIGPIPE, SIG_IGN);
  impl_->wait();
}

signals::~signals() {
  close();
}

void signals::close() {
  impl_->close();
}

int signals::stopped_by() const noexcept {
  return impl_->stopped_by;
}

}  // namespace reactor
