#pragma once

#include "app/exit_code.hpp"
#include "reactor/loop.hpp"

#include <unistd.h>

namespace app {

/// Held while a command stops: what has not ended after four seconds is ended with the process,
/// which says so; exit code 1.
class stop_guard {
public:
  static constexpr std::chrono::seconds longest{4};
  explicit stop_guard(reactor::loop& l, std::string_view program = "windlass")
      : loop_(l), timer_(l.timers().arm(l.now() + longest, [program] {
          _exit(complain_as(program, "what was under way did not end within 4 s of stopping"));
        })) {}
  ~stop_guard() { loop_.timers().disarm(timer_); }
  stop_guard(const stop_guard&) = delete;
  stop_guard& operator=(const stop_guard&) = delete;

private:
  reactor::loop& loop_;
  reactor::timer_id timer_;
};

}  // namespace app
