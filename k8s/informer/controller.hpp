#pragma once

#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/backoff.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "reactor/work_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s {

/// How a reconcile ends when nothing failed.
struct next {
  // none: a change of something it watches brings it back
  std::optional<reactor::nanoseconds> after;
};
inline next await_change() {
  return {};
}
inline next requeue_after(reactor::nanoseconds d) {
  return {d};
}

/// Brings one object closer to what it should be.
/// Input   a key and nothing else: what happened does not matter, only what is. An absent object is
///         normal.
/// Repeats running it again on an unchanged world writes nothing. Cancelled at any await, or after
///         a crash, it leaves a world that the next run repairs.
/// Errors  a fault is retried with the key's own growing delay, or when the server said so.
template <class Key>
class reconciler {
public:
  virtual ~reconciler() = default;
  virtual awaitable<result<next>> reconcile(Key key) = 0;
};

struct controller_options {
  std::string name;             // "bootc_node_pool": in metrics and logs
  std::size_t concurrency = 8;  // keys at once
  reactor::backoff_settings retry{std::chrono::milliseconds(500), std::chrono::minutes(5), 2, 0.2};
  reactor::metrics* metrics = nullptr;  // outlives the controller
  reactor::logger log;
};

/// How one run of a reconcile ended.
enum class reconcile_outcome { done, requeued, failed, broken, cancelled };
std::string_view name_of(reconcile_outcome o) noexcept;

/// The figures of a controller, also as windlass_reconcile_*{controller}.
class reconcile_figures {
public:
  reconcile_figures(reactor::metrics* metrics, const std::string& controller);
  void ended(reconcile_outcome o, reactor::nanoseconds took);
  void depth(std::size_t ready, std::size_t running);

  std::uint64_t runs() const noexcept { return runs_; }
  std::uint64_t failures() const noexcept { return failures_; }
  reactor::nanoseconds longest() const noexcept { return longest_; }

private:
  std::uint64_t runs_ = 0, failures_ = 0;
  reactor::nanoseconds longest_{};
  reactor::counter by_outcome_[5];
  reactor::histogram seconds_;
  reactor::gauge longest_seconds_, ready_, running_;
};

/// Says in a log that a run failed; the exception is one that reconcile() threw.
void log_failure(const reactor::logger& log, const std::string& key, const fault& why,
                 reactor::nanoseconds retry_in);
void log_broken(const reactor::logger& log, const std::string& key, std::exception_ptr thrown,
                reactor::nanoseconds retry_in);
/// True for the exception that cancellation unwinds a coroutine with.
bool is_cancellation(std::exception_ptr thrown) noexcept;

/// Runs a reconciler: a key added while it runs is run once more, never twice at once.
/// Failure:  an exception of a reconcile is a bug of that reconcile; it is logged and that key
///           retried, others go on.
/// Lifetime: the reconciler outlives it; co_await stop() before destruction. stop() ends what runs
///           by cancellation, within one second.
template <class Key>
class controller {
public:
  using group_function = typename reactor::work_queue<Key>::group_function;
  using text_function = std::function<std::string(const Key&)>;

  /// Keys of one group (a cluster) keep their order, groups take turns. `text_of` names keys in
  /// logs.
  controller(reactor::loop& l, reconciler<Key>& of, controller_options options,
             text_function text_of, group_function group_of = {})
      : loop_(l),
        reconciler_(of),
        options_(std::move(options)),
        text_of_(std::move(text_of)),
        queue_(l, std::move(group_of), options_.retry),
        figures_(options_.metrics, options_.name),
        room_(l),
        tasks_(l) {}

  void start() {
    if (std::exchange(started_, true)) return;
    tasks_.start("controller " + options_.name, dispatch());
  }
  awaitable<void> stop() {
    queue_.close();
    co_await tasks_.cancel_and_join();
  }

  /// From informer handlers: costs a map look-up, also for a key that waits already.
  void add(const Key& key) { queue_.add(key); }
  void add_after(const Key& key, reactor::nanoseconds delay) { queue_.add_after(key, delay); }
  /// Ends the run of a key whose object or cluster is gone for good.
  void cancel(const Key& key) {
    if (const auto run = running_.find(key); run != running_.end()) tasks_.cancel(run->second.task);
  }

  bool idle() const noexcept { return queue_.depth() == 0 && running_.empty(); }
  std::size_t depth() const noexcept { return queue_.depth(); }
  std::size_t running() const noexcept { return running_.size(); }
  /// Failures in a row of this key.
  std::uint32_t failures(const Key& key) const { return queue_.failures(key); }
  const reconcile_figures& figures() const noexcept { return figures_; }

private:
  struct run_state {
    reactor::task_group::task_id task = 0;
  };

  awaitable<void> dispatch() {
    for (;;) {
      while (running_.size() >= options_.concurrency) co_await room_.wait();
      std::optional<Key> key = co_await queue_.get();
      if (!key) co_return;
      running_.try_emplace(*key);
      const auto task = tasks_.start(options_.name + " " + text_of_(*key), run(*key));
      // A run that never waits has ended by now.
      if (const auto started = running_.find(*key); started != running_.end())
        started->second.task = task;
      figures_.depth(queue_.depth(), running_.size());
    }
  }

  /// Settles a key's run however it ends, by a throw through its coroutine as well.
  class settled {
  public:
    settled(controller& c, const Key& key) : controller_(c), key_(key), since_(c.loop_.now()) {}
    ~settled() {
      controller_.queue_.done(key_);
      controller_.running_.erase(key_);
      controller_.room_.wake_one();
      controller_.figures_.ended(outcome, controller_.loop_.now() - since_);
      controller_.figures_.depth(controller_.queue_.depth(), controller_.running_.size());
    }
    settled(const settled&) = delete;
    settled& operator=(const settled&) = delete;
    reconcile_outcome outcome = reconcile_outcome::cancelled;

  private:
    controller& controller_;
    const Key& key_;
    reactor::steady_time since_;
  };

  awaitable<void> run(Key key) {
    settled end(*this, key);
    std::exception_ptr thrown;
    std::optional<result<next>> got;
    try {
      got = co_await reconciler_.reconcile(key);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) {
      if (is_cancellation(thrown)) std::rethrow_exception(thrown);
      end.outcome = reconcile_outcome::broken;
      log_broken(options_.log, text_of_(key), thrown, queue_.retry(key));
      co_return;
    }
    if (got->has_value()) {
      const next then = **got;
      queue_.forget(key);
      end.outcome = then.after ? reconcile_outcome::requeued : reconcile_outcome::done;
      if (then.after) queue_.add_after(key, *then.after);
      co_return;
    }
    const fault& why = got->error();
    if (why.cancelled) co_return;
    end.outcome = reconcile_outcome::failed;
    reactor::nanoseconds retry_in = queue_.retry(key);
    if (why.retry_after && *why.retry_after < retry_in) {
      // The server knows better than our guess when it will have room again.
      retry_in = *why.retry_after;
      queue_.add_after(key, retry_in);
    }
    log_failure(options_.log, text_of_(key), why, retry_in);
  }

  reactor::loop& loop_;
  reconciler<Key>& reconciler_;
  controller_options options_;
  text_function text_of_;
  bool started_ = false;
  reactor::work_queue<Key> queue_;
  reconcile_figures figures_;
  std::map<Key, run_state> running_;
  reactor::waiters room_;
  reactor::task_group tasks_;
};

}  // namespace k8s
