#pragma once

#include "policies/host/value.hpp"
#include "policies/host/view.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/result.hpp"
#include "reactor/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace reactor {
class loop;
}

namespace policies {

/// The files of a pack by their path inside it ("policy.lua", "lib/zones.lua").
using pack_files = std::map<std::string, std::string, std::less<>>;

struct sandbox_limits {
  std::size_t heap_bytes = 64 * 1024 * 1024;
  reactor::nanoseconds wall_time = std::chrono::seconds(5);  // per call, on the loop's clock
  value_limits answer;
};

/// What one call may take and took. An instruction is one of LuaJIT's interpreter, about 8 ns.
struct call_cost {
  std::int64_t instructions = 0;
  std::size_t turns = 1;  // pieces it ran in; between two the loop did other things
  std::size_t heap_bytes = 0;
};

struct call_answer {
  value answer;
  call_cost cost;
  std::vector<std::string> log;
};

using argument = std::variant<value, view>;

struct sandbox_state;

/// One Lua state in which untrusted source runs within bounds of time, memory and reach.
/// Shape    open() with the pack's files, then run() one entry of the prelude after the other; calls may
///          overlap, each has its own Lua thread.
/// Units    instructions: the budget of the call; calls pause every 10,000 of them to let the loop turn.
/// Errors   errc::limit: budget, memory or time used up. errc::malformed: an answer that is no plain data.
///          errc::refused: the policy raised an error; the detail begins with file:line.
/// Lifetime run() keeps the sandbox and the snapshots of its arguments alive. Cancelling a run drops it.
class sandbox {
public:
  static reactor::result<std::shared_ptr<sandbox>> open(reactor::loop& l, std::string label,
                                                        pack_files files,
                                                        sandbox_limits limits = {});
  ~sandbox();
  sandbox(const sandbox&) = delete;
  sandbox& operator=(const sandbox&) = delete;

  const pack_files& files() const;
  std::size_t heap_bytes() const;

  static reactor::awaitable<reactor::result<call_answer>> run(std::shared_ptr<sandbox> in,
                                                              std::string entry,
                                                              std::vector<argument> arguments,
                                                              std::int64_t instructions);

private:
  struct running;
  explicit sandbox(std::unique_ptr<sandbox_state> state);
  std::unique_ptr<sandbox_state> state_;
};

}  // namespace policies
