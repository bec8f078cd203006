#pragma once

#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <string>
#include <utility>

namespace app {

/// Runs `body` as the one task of the loop, which it stops when it is done. A body that never had
/// to wait stops the loop before its own end was noted; that is waited for, so every command may be
/// refused at its first step.
inline void run_to_end(reactor::loop& l, std::string name, reactor::awaitable<void> body) {
  reactor::task_group tasks(l);
  tasks.start(std::move(name), std::move(body));
  l.run();
  constexpr int most_turns = 3;
  for (int i = 0; i < most_turns && !tasks.empty(); ++i) {
    l.post([&l] { l.stop(); });
    l.run();
  }
}

}  // namespace app
