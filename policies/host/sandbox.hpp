#pragma once

#include "policies/host/value.hpp"
#include "policies/host/view.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace reactor {
class loop;
}

namespace policies {

/// The files of a pack by their path inside it ("policy.lua", "lib/zones.lua").
using pack_files = std::map<std::string, std::string, std::less<>>;

/// For tests: the allocation `fail_from`, counted from 0, and the ones behind it fail, `fail_count`
/// in all.
struct memory_trial {
  std::uint64_t fail_from = 0, fail_count = 0;
  std::uint64_t asked = 0, failed = 0;
};

struct hook;
struct line_coverage;

/// Within what a pack lives, and what is known of its questions.
struct sandbox_limits {
  std::size_t heap_bytes = 64 * 1024 * 1024;
  /// Per call: what it takes of a processor, so that a busy machine makes no policy fail; and
  /// further out what passes on the loop's clock, so that it ends where it gets none.
  reactor::nanoseconds processor_time = std::chrono::seconds(5);
  reactor::nanoseconds wall_time = std::chrono::seconds(60);
  value_limits answer;
  memory_trial* trial = nullptr;
  /// Null: hooks of any name, and answers that only their callers check.
  std::shared_ptr<const std::vector<hook>> hooks = {};
  /// For tests of packs: the lines that ran are noted there. Null: no count.
  std::shared_ptr<line_coverage> coverage = {};
};

/// Who wrote a pack: a stranger, or we. A stranger's Lua never runs on the loop.
enum class author { stranger, ourselves };

/// What one call may take and took. An instruction is one of LuaJIT's interpreter, about 8 ns.
struct call_cost {
  std::int64_t instructions = 0;
  std::size_t turns = 1;  // pieces it ran in; between two the loop did other things
  std::size_t heap_bytes = 0;
  reactor::nanoseconds processor_time{};
};

/// An answer frees itself on the worker when it is large: the loop would stand still for
/// milliseconds.
using answer_value = std::shared_ptr<const value>;

/// Reads an answer where it was copied, which for a large one is the worker, also when the call was
/// cancelled meanwhile: it owns what it uses.
using judge = std::function<reactor::result<void>(const value&)>;

struct call_answer {
  answer_value answer;             // null when there was a judge
  reactor::result<void> accepted;  // what the judge said
  call_cost cost;
  std::vector<std::string> log;
};

/// The answer of a call or why there is none, and what it took in either case.
struct call_outcome : reactor::result<call_answer> {
  using result::result;
  call_cost cost;
};

using argument = std::variant<value, view>;

struct sandbox_state;

/// One Lua state in which untrusted source runs within bounds of time, memory and reach.
/// Shape    open() with the pack's files, then run() one entry of the prelude after the other;
///          calls may overlap, each has its own Lua thread, and they take turns.
/// Where    on the worker: single instructions of a language (a rehash, a step of the collector,
///          the parser) take as long as its author wants. Only the hooks of our own packs run on
///          the loop, while their heap is small.
/// Units    instructions: the budget of the call; calls pause every 10,000 of them (on the worker
///          100,000).
///          Processor time is the machine's also where time is virtual; there only instructions
///          end a call, so that a run repeats itself.
/// Errors   open(): errc::refused: a .lua file that is not for us, the detail begins with
///          file:line. errc::limit: budget, memory or time used up. errc::malformed: an answer that
///          is no plain data. errc::refused: the policy raised an error; the detail begins with
///          file:line.
/// Lifetime run() keeps the sandbox and the snapshots of its arguments alive. Cancelling a run
///          drops it; what it has on the worker ends with its slice. Views are read there: a
///          snapshot never changes.
class sandbox {
public:
  static reactor::result<std::shared_ptr<sandbox>> open(reactor::loop& l, std::string label,
                                                        pack_files files,
                                                        sandbox_limits limits = {},
                                                        author by = author::stranger);
  /// The same on the worker.
  static reactor::awaitable<reactor::result<std::shared_ptr<sandbox>>> open_aside(
      reactor::loop& l, std::string label, pack_files files, sandbox_limits limits, author by);
  ~sandbox();
  sandbox(const sandbox&) = delete;
  sandbox& operator=(const sandbox&) = delete;

  const pack_files& files() const;

  /// `limits` bounds the answer, instead of the sandbox's own limits.
  static reactor::awaitable<call_outcome> run(std::shared_ptr<sandbox> in, std::string entry,
                                              std::vector<argument> arguments,
                                              std::int64_t instructions, judge accept = {},
                                              std::optional<value_limits> limits = {});

private:
  struct running;
  class turn;
  explicit sandbox(std::unique_ptr<sandbox_state> state);
  std::unique_ptr<sandbox_state> state_;
};

}  // namespace policies
