#include "reactor/signals.hpp"

#include "reactor/kernel_watches.hpp"
#include "reactor/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace reactor {

struct signals::impl : std::enable_shared_from_this<signals::impl> {
  impl(loop& l, signal_actions a)
      : actions(std::move(a)), set(l.get_executor(), SIGTERM, SIGINT, SIGHUP) {}

  void wait() {
    set.async_wait([self = shared_from_this()](const error_code& code, int number) {
      if (code || self->closed) return;
      self->wait();
      self->arrived(number);
    });
  }

  void arrived(int number) {
    if (number == SIGHUP) {
      if (actions.reload) actions.reload();
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

  signal_actions actions;
  asio::basic_signal_set<executor> set;
  int stopped_by = 0;
  bool closed = false;
};

signals::signals(loop& l, signal_actions actions) {
  const bool first = !asio::has_service<asio::detail::signal_set_service>(l.context());
  const kernel_watches before = look_at_kernel_watches();
  impl_ = std::make_shared<impl>(l, std::move(actions));
  std::signal(SIGPIPE, SIG_IGN);
  const kernel_watches with = look_at_kernel_watches();
  if (first && !with.pollers.empty() && with.watched <= before.watched)
    throw std::system_error(ENOMEM, std::system_category(), "the kernel refused to watch signals");
  impl_->wait();
}

signals::~signals() {
  close();
}

void signals::close() {
  impl_->closed = true;
  error_code ignored;
  impl_->set.clear(ignored);
  impl_->set.cancel(ignored);
}

int signals::stopped_by() const noexcept {
  return impl_->stopped_by;
}

}  // namespace reactor
