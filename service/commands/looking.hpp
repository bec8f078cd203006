#pragma once

#include "app/output.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/waiters.hpp"
#include "service/service.hpp"

#include <functional>
#include <optional>
#include <string>

namespace cli {

/// Where the words of a command about the fleet go: a terminal, a pipe, a test.
struct command_output {
  std::function<void(const app::page&)> text;
  std::function<void(std::string)> bytes;
  std::function<void(std::string)> complaint;
  std::size_t columns = 80;
  app::colours tint = app::colours::none;
};
/// The process's own.
command_output standard_output();

/// The user that the server takes this command for; empty where it does not say.
reactor::awaitable<std::string> user_of(k8s::client& api);  // borrowed

/// Starts the service, awaits what `body` returns, which is the exit code, and stops the service;
/// runs the loop until then. A service that cannot start is told of, with exit code 1.
int run_started(reactor::loop& l, service& s, std::string name,
                std::function<reactor::awaitable<int>()> body);

/// An event that is set at the first SIGTERM or SIGINT after listen(); before it the signals end
/// the process, as they do by default.
class stop_signal {
public:
  explicit stop_signal(reactor::loop& l) : loop_(l), event_(l) {}
  void listen() {
    signals_.emplace(loop_,
                     reactor::signal_actions{.stop = [this] { event_.set(); }, .reload = {}});
  }
  reactor::event& event() noexcept { return event_; }

private:
  reactor::loop& loop_;
  reactor::event event_;
  std::optional<reactor::signals> signals_;
};

}  // namespace cli
