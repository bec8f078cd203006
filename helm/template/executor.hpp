#pragma once

#include "helm/template/function.hpp"
#include "helm/template/node.hpp"
#include "helm/template/parsed_texts.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// Chance and time for templates, given so that a render can be repeated.
/// Shape    `random` may be missing: then the kernel is asked. Without `now` a template that needs
///          the time fails.
struct render_runtime {
  std::function<void(std::span<unsigned char>)> random;
  std::function<std::chrono::system_clock::time_point()> now;
  /// A clock that only goes forward, for render_limits::time.
  std::function<std::chrono::nanoseconds()> steady;
  /// `lookup`: the object or list, or nothing when there is no cluster (the answer is then an empty
  /// map).
  std::function<value(const std::string& api_version, const std::string& kind,
                      const std::string& name_space, const std::string& name)>
      lookup;
  /// Becomes true when a function had chance, the time or the cluster. What a render made without
  /// is the same for every render of the same input.
  bool* impure = nullptr;
  /// Lines for a person: warnings, and in lint mode what `required` and `fail` would have said.
  std::function<void(const std::string&)> log;
};

/// What one render may use. Zero means no bound.
/// Units    output_bytes: everything that templates print or functions make on the way.
///          memory_bytes: what values and texts take at a time. include_depth: of one template
///          inside itself, and of texts in tpl; template_depth: of templates inside one another;
///          Helm's own limits. walk_steps: those of work_limit, for what functions look at, copy,
///          print and compare.
struct render_limits {
  std::uint64_t output_bytes = 256u << 20;
  std::uint64_t memory_bytes = 1u << 30;
  std::uint64_t actions = 50'000'000;
  int include_depth = 1000;
  int template_depth = 100'000;
  std::uint64_t walk_steps = 64'000'000;
  std::chrono::nanoseconds time = std::chrono::minutes(5);  // needs render_runtime::steady
  const std::atomic<bool>* cancelled = nullptr;
};

/// Thrown to end a render that was cancelled or went over a limit; not a template error.
struct render_stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class missing_keys : std::uint8_t { zero, error };

/// Runs templates of one set against data.
/// Lifetime the set, the runtime and `texts` outlive it. `texts` is what `tpl` keeps for the next
///          run; without it, what it keeps for this one.
class executor {
public:
  executor(const template_set& templates, const render_runtime& runtime, render_limits limits,
           missing_keys missing, bool lint, parsed_texts* texts = nullptr);

  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  ~executor();

  /// Runs the template `name` with `data` as dot, appending to `out`.
  /// Errors   template_error, render_stopped.
  void run(std::string& out, std::string_view name, const value& data);

  // For functions.
  std::string include(const std::string& name, const value& data);
  std::string tpl(const std::string& text, const value& data);
  const render_runtime& runtime() const { return runtime_; }
  bool lint() const { return lint_; }
  /// Called by every function whose result is not decided by its arguments alone; random() and
  /// now() do it themselves.
  void note_impure() const {
    if (runtime_.impure) *runtime_.impure = true;
  }
  void random(std::span<unsigned char> bytes) const;
  std::chrono::system_clock::time_point now() const;
  /// Counts bytes a function is about to make, so that `repeat` cannot outgrow the limit before it
  /// is printed.
  void reserve(std::uint64_t bytes);
  /// Counts an action. Errors   render_stopped over the limits or when cancelled.
  void tick();
  /// Before work that takes milliseconds (keys, password hashes): looks at the clock and at
  /// cancellation now.
  void about_to_work();
  /// Something that a table of functions keeps for the calls of one run.
  struct kept {
    virtual ~kept() = default;
  };
  template <class T>
  T& keep() {
    if (!kept_) kept_ = std::make_unique<T>();
    return static_cast<T&>(*kept_);
  }
  /// Notes a map that a template changed. Only such maps can come to hold themselves; they are
  /// emptied when the run is over, so that a knot does not outlive it.
  void changed(const value& map);

private:
  friend class frame;
  void check_bounds();
  const template_set* templates_;
  const render_runtime& runtime_;
  render_limits limits_;
  missing_keys missing_;
  bool lint_;
  std::uint64_t actions_ = 0;
  std::uint64_t bytes_ = 0;
  int tpl_depth_ = 0;
  parsed_texts own_texts_;
  parsed_texts* texts_;
  std::chrono::nanoseconds start_{0};
  reactor::keyed_map<std::string, int> includes_;
  std::map<const void*, value> changed_;
  std::unique_ptr<kept> kept_;  // of the regular expressions, the only ones to have any
};

/// The text without what Go prints for a missing key, as Helm leaves it.
std::string without_missing(std::string text);

/// What a `fail` or `required` message is wrapped in until the error is worded.
inline constexpr std::string_view warning_start = "HELM_ERR_START";
inline constexpr std::string_view warning_end = "HELM_ERR_END";

}  // namespace helm
