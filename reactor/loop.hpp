#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/owned.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/plain/worker_clock.hpp"
#include "reactor/timer_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace reactor {

class allowance;
class waiters;

/// What is alive right now; tests expect zeros once everything stopped.
struct live_counts {
  std::size_t tasks = 0, streams = 0, waits = 0;
  friend bool operator==(const live_counts&, const live_counts&) = default;
};

/// How the loop is doing since the last take_health().
struct loop_health {
  /// A callback that takes longer holds everybody else up.
  static constexpr nanoseconds a_stall = std::chrono::milliseconds(2);
  std::uint64_t callbacks = 0, stalls = 0;
  nanoseconds longest_stall{0};  // processor time of one callback
  nanoseconds busy{0};
  steady_time since{};
};

/// The one thread and its seams: time, randomness, streams. Everything above takes them from here.
/// Real       the machine's clocks, the kernel's entropy, TCP.
/// Simulated  virtual time that jumps to the next timer when nothing is left to do, seeded entropy,
///            in-memory pipes.
/// Members    more than twenty: the seams, and what the one thread is at the moment.
/// Lifetime   outlives everything that was given a reference to it.
class loop {
public:
  enum class mode { real, simulated };
  explicit loop(mode m = mode::real, std::uint64_t seed = 0);
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  bool simulated() const noexcept { return mode_ == mode::simulated; }
  executor get_executor() noexcept { return context_->get_executor(); }
  asio::io_context& context() noexcept { return *context_; }

  steady_time now() const noexcept;
  wall_time wall() const noexcept;
  entropy& random() noexcept { return *entropy_; }
  network& net() noexcept { return *network_; }
  timer_queue& timers() noexcept { return timers_; }
  live_counts& live() noexcept { return live_; }

  /// Simulated only: moves the wall clock, as an administrator or NTP would.
  void shift_wall(nanoseconds by) { wall_shift_ += by; }

  /// Runs until stop(), or until nothing is left that could ever run.
  void run();
  /// Simulated only: runs until virtual time reaches `until` or stop() is called.
  void run_until(steady_time until);
  /// Simulated only: runs one callback or, when none is ready, fires one timer. False when nothing
  /// is left. For tests that stop at each step.
  bool run_one();
  /// Ends the run that is under way, or else the next one before it does anything.
  void stop() noexcept;
  /// Calls `f` from the loop's next turn. From any thread.
  void post(std::function<void()> f);

  /// Waits for `d` (a negative one only yields).
  awaitable<void> sleep_for(nanoseconds d);
  awaitable<void> sleep_until(steady_time t);
  /// Lets everything else that is ready run first.
  awaitable<void> yield();

  /// Calls `f` with the values on a worker thread and resumes the caller with what it returns.
  /// Several jobs run at once, so `f` locks what it shares with others. For names, files and
  /// computations over 2 ms. An exception of `f` is thrown to the caller. Cancelling the caller
  /// does not stop `f`, which then runs later than whatever the caller was part of: hence it holds
  /// nothing, and has values that own what they consist of. Simulated, it runs on the loop, at a
  /// seeded later moment where jobs take time.
  template <class F, class... A, class T = std::invoke_result_t<F&, std::decay_t<A>&...>>
    requires detached_job<F, std::decay_t<A>...>
  awaitable<T> offload(F f, A&&... values);
  /// The same for work on what strangers wrote: charts, archives, indexes, schemas and values.
  /// One such job runs at a time, on a worker of its own: ours never wait for it, and the memory
  /// that one may take is what the process needs for all.
  template <class F, class... A, class T = std::invoke_result_t<F&, std::decay_t<A>&...>>
    requires detached_job<F, std::decay_t<A>...>
  awaitable<T> offload_foreign(F f, A&&... values);
  /// The same for a job whose outcome several callers wait for, so that none of them owns it: it
  /// comes back by post().
  template <class F, class... V>
    requires detached_job<F, V...>
  void start_on_worker(F f, V... values) {
    auto held = std::make_shared<std::tuple<V...>>(std::move(values)...);
    run_aside([f, held] { std::apply(f, *held); });
  }
  /// After run(): waits for what workers still do. False when some of it does: then a destructor of
  /// this loop would wait for it, too.
  [[nodiscard]] bool finish_jobs(nanoseconds within);
  /// Simulated only: how much virtual time a job on a worker takes at most. Zero: it is done at
  /// once.
  void set_longest_job(nanoseconds d) noexcept { longest_job_ = d; }
  /// Simulated, and told how long jobs take.
  bool jobs_take_time() const noexcept { return simulated() && longest_job_ > nanoseconds(0); }
  /// For a job on a worker: a generator of its own, which repeats itself when simulated.
  std::shared_ptr<entropy> entropy_for_worker();
  /// For a job on a worker: a clock that only goes forward. It stands still when simulated.
  worker_clock clock_for_worker() const noexcept;

  loop_health health() const noexcept { return health_; }
  /// Returns the figures and starts the next interval.
  loop_health take_health() noexcept;

private:
  friend class loop_slice;
  struct real_parts;
  struct served_stop;
  enum class of { ours, strangers };
  template <class F, class T, class... V>
  struct held_job {
    held_job(F g, std::tuple<V...> v) : f(g), values(std::move(v)) {}
    F f;
    std::tuple<V...> values;
    std::conditional_t<std::is_void_v<T>, std::monostate, std::optional<T>> value;
    std::exception_ptr error;
  };
  template <class T, class Job>
  awaitable<T> run_job(of whose, std::shared_ptr<Job> shared);
  awaitable<void> run_on_worker(of whose, std::function<void()> job);
  void run_aside(std::function<void()> job, of whose = of::ours);
  void finish(std::uint64_t job);
  void arm_real_timer();
  bool run_a_later_one();
  bool poll_simulated();

  mode mode_;
  std::unique_ptr<asio::io_context> context_;
  live_counts live_;
  timer_queue timers_;
  std::unique_ptr<entropy> entropy_;
  steady_time virtual_now_{};
  nanoseconds wall_shift_{0};
  loop_health health_;
  nanoseconds spent_{0};                // processor time of all callbacks
  std::shared_ptr<allowance> charged_;  // with what the present callback takes
  std::unique_ptr<waiters> later_;      // those that gave way (loop_slice::yield)
  nanoseconds ahead_{0};                // what the others took since one of them ran
  std::size_t callbacks_ahead_ = 0;
  bool stopped_ = false, ending_ = false;
  // Simulated: jobs that were handed to the workers and have not run, by their number.
  std::map<std::uint64_t, std::function<void()>> aside_;
  std::uint64_t jobs_ = 0;
  seeded_entropy moments_;
  nanoseconds longest_job_{0};
  std::unique_ptr<real_parts> real_;
  std::unique_ptr<network> network_;
};

// The values are copied here and not in the caller's co_await expression: what is copied for a
// parameter there, GCC 12 destroys twice.
template <class F, class... A, class T>
  requires detached_job<F, std::decay_t<A>...>
awaitable<T> loop::offload(F f, A&&... values) {
  auto held = std::make_shared<held_job<F, T, std::decay_t<A>...>>(
      f, std::tuple<std::decay_t<A>...>(std::forward<A>(values)...));
  return run_job<T>(of::ours, std::move(held));
}

template <class F, class... A, class T>
  requires detached_job<F, std::decay_t<A>...>
awaitable<T> loop::offload_foreign(F f, A&&... values) {
  auto held = std::make_shared<held_job<F, T, std::decay_t<A>...>>(
      f, std::tuple<std::decay_t<A>...>(std::forward<A>(values)...));
  return run_job<T>(of::strangers, std::move(held));
}

template <class T, class Job>
awaitable<T> loop::run_job(of whose, std::shared_ptr<Job> shared) {
  // Named before awaiting: GCC 12 destroys a closure that is a temporary of a co_await expression
  // twice.
  std::function<void()> job = [shared] {
    try {
      if constexpr (std::is_void_v<T>) {
        std::apply(shared->f, shared->values);
      } else {
        shared->value.emplace(std::apply(shared->f, shared->values));
      }
    } catch (...) {
      shared->error = std::current_exception();
    }
  };
  co_await run_on_worker(whose, std::move(job));
  if (shared->error) std::rethrow_exception(shared->error);
  if constexpr (!std::is_void_v<T>) co_return std::move(*shared->value);
}

}  // namespace reactor
