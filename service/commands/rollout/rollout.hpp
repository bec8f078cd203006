#pragma once

#include "k8s/informer/selector.hpp"
#include "reactor/waiters.hpp"
#include "service/commands/rollout/rollout_arguments.hpp"
#include "service/service.hpp"

#include <functional>
#include <string>

namespace cli {

/// Where a rollout's words go: a terminal, a pipe, a test.
struct rollout_output {
  std::function<void(const page&)> text;
  std::function<void(std::string)> bytes;
  std::function<void(std::string)> complaint;
  std::size_t columns = 80;
  colours tint = colours::none;
};

/// `windlass rollout …` on a service that was started in look mode, until it is done or `stop` is
/// set. Returns the exit code. A cluster that is away keeps nobody else from being written; it is
/// named, and the code is 1.
reactor::awaitable<int> roll(reactor::loop& l, service& s, rollout_arguments a,  // borrowed
                             k8s::label_selector selector, reactor::event& stop,
                             rollout_output& out);

}  // namespace cli
