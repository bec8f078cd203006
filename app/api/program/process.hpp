#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace program {

inline constexpr int success = 0, failure = 1, wrong_usage = 2;

/// What main() does: `body` gets the words behind the name of the program and returns the exit
/// code. Lost memory ends the process with one sentence; any other exception is told as a bug.
int run(std::string_view name, int argc, char** argv,
        const std::function<int(const std::vector<std::string>& command_line)>& body);

/// One line on standard error: "<name>: <sentence>". Returns `code`.
int complain(std::string_view name, std::string_view sentence, int code = failure);

/// Runs `body` as the one task of the loop, which it stops when it is done. A body that never had
/// to wait stops the loop before its own end was noted; that is waited for, so every command may be
/// refused at its first step.
void run_to_end(reactor::loop& l, std::string name, reactor::awaitable<void> body);

/// Held while a program stops: what has not ended after four seconds is ended with the process,
/// which says so; exit code 1.
class stop_guard {
public:
  static constexpr std::chrono::seconds longest{4};
  explicit stop_guard(reactor::loop& l, std::string_view name = "windlass");
  ~stop_guard() { loop_.timers().disarm(timer_); }
  stop_guard(const stop_guard&) = delete;
  stop_guard& operator=(const stop_guard&) = delete;

private:
  reactor::loop& loop_;
  reactor::timer_id timer_;
};

/// ":8080", "127.0.0.1:8080", "[::1]:8080"; "0" = none. Errors: errc::malformed, naming `flag`.
reactor::result<std::optional<reactor::endpoint>> parse_bind_address(const std::string& text,
                                                                     const std::string& flag);

/// Level and format from the flags. Errors: errc::malformed.
reactor::result<reactor::logger> logger_from(reactor::loop& l, const std::string& level,
                                             const std::string& format);

/// Where the program `name` of the same build is, as seen from the program at `self`: beside it, or
/// in ../libexec/windlass. Errors: errc::not_found, naming both places.
reactor::result<std::string> find_sibling(const std::string& self, const std::string& name);

/// Replaces this process by the program `name` that find_sibling() finds, with `arguments`. Returns
/// only where that fails: an exit code, and why is said on standard error.
int execute_sibling(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace program
