#pragma once

#include "reactor/backoff.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace reactor {

/// Keys that wait for work, each at most once.
/// Runs     never the same key twice at once; a key added while it runs is run again afterwards.
/// Requests a run answers every request made before it began, so it also drops a delay that was
///          still pending: a caller that wants a later look asks again during the run
///          (requeue_after).
/// Fairness groups take turns, keys of one group keep their order: one noisy cluster cannot starve
/// the others.
/// Limits   holds each key once; what bounds the number of keys bounds the queue. A key that was
///          retried is remembered until forget().
/// Lifetime close() and let the getters end before destruction.
template <class Key>
class work_queue {
public:
  using group_function = std::function<std::string(const Key&)>;
  explicit work_queue(loop& l, group_function group_of = {}, backoff_settings retry = {})
      : loop_(l), group_of_(std::move(group_of)), retry_settings_(retry), ready_(l) {}
  ~work_queue() { close(); }
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  void add(const Key& key) {
    if (closed_) return;
    state& s = states_[key];
    if (s.running) {
      s.again = true;
    } else if (!s.queued) {
      drop_delay(s);
      enqueue(key, s);
    }
  }

  /// Adds it when `delay` has passed; of several delays the earliest counts.
  void add_after(const Key& key, nanoseconds delay) {
    if (closed_) return;
    if (delay <= nanoseconds(0)) return add(key);
    state& s = states_[key];
    const steady_time when = loop_.now() + delay;
    if (s.queued || (s.timer != 0 && s.when <= when)) return;
    if (s.timer == 0) ++delayed_;
    loop_.timers().disarm(s.timer);
    s.when = when;
    s.timer = loop_.timers().arm(when, [this, key] {
      state& due = states_[key];
      due.timer = 0;
      --delayed_;
      add(key);
    });
  }

  /// Adds it after the key's own growing delay, which is returned.
  nanoseconds retry(const Key& key) {
    if (closed_) return nanoseconds(0);
    state& s = states_[key];
    if (!s.failures) s.failures.emplace(retry_settings_);
    const nanoseconds delay = s.failures->next(loop_.random());
    add_after(key, delay);
    return delay;
  }

  /// After a success: the next failure starts with the shortest delay again.
  void forget(const Key& key) {
    if (const auto found = states_.find(key); found != states_.end()) {
      found->second.failures.reset();
      drop_if_idle(found);
    }
  }
  std::uint32_t failures(const Key& key) const {
    const auto found = states_.find(key);
    return found == states_.end() || !found->second.failures ? 0
                                                             : found->second.failures->attempts();
  }

  /// The next key, which is running until done(). None once the queue is closed.
  awaitable<std::optional<Key>> get() {
    // Keys that are ready come without waiting, and their runs need not wait either.
    if (loop_slice::is_over()) co_await loop_.yield();
    loop_slice::spend();
    for (;;) {
      const auto cancellation = co_await asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != asio::cancellation_type::none) {
        // It was woken for a key and cancelled before it could take it.
        if (!turns_.empty()) ready_.wake_one();
        co_return std::nullopt;
      }
      if (closed_) co_return std::nullopt;
      if (!turns_.empty()) co_return take();
      co_await ready_.wait();
    }
  }

  /// Ends the run of a key that get() returned.
  void done(const Key& key) {
    const auto found = states_.find(key);
    if (found == states_.end() || !found->second.running) return;
    found->second.running = false;
    --running_;
    if (std::exchange(found->second.again, false) && !closed_) {
      drop_delay(found->second);
      enqueue(key, found->second);
    } else {
      drop_if_idle(found);
    }
  }

  /// Forgets what waits; running keys end as usual. Idempotent.
  void close() {
    if (std::exchange(closed_, true)) return;
    for (auto& [key, s] : states_) drop_delay(s);
    groups_.clear();
    turns_.clear();
    depth_ = 0;
    ready_.wake_all();
  }
  bool closed() const noexcept { return closed_; }

  std::size_t depth() const noexcept { return depth_; }      // ready and waiting for a worker
  std::size_t delayed() const noexcept { return delayed_; }  // waiting for their time
  std::size_t running() const noexcept { return running_; }
  std::size_t known() const noexcept { return states_.size(); }

private:
  struct state {
    bool queued = false, running = false, again = false;
    timer_id timer = 0;
    steady_time when{};
    std::optional<backoff> failures;
  };
  using states = std::map<Key, state>;

  void enqueue(const Key& key, state& s) {
    s.queued = true;
    ++depth_;
    const std::string name = group_of_ ? group_of_(key) : std::string();
    auto& group = groups_[name];
    if (group.empty()) turns_.push_back(name);
    group.push_back(key);
    ready_.wake_one();
  }

  Key take() {
    const std::string name = std::move(turns_.front());
    turns_.pop_front();
    const auto group = groups_.find(name);
    Key key = std::move(group->second.front());
    group->second.pop_front();
    if (group->second.empty())
      groups_.erase(group);
    else
      turns_.push_back(name);
    --depth_;
    state& s = states_[key];
    s.queued = false;
    s.running = true;
    ++running_;
    return key;
  }

  void drop_delay(state& s) {
    if (s.timer == 0) return;
    loop_.timers().disarm(std::exchange(s.timer, 0));
    --delayed_;
  }
  void drop_if_idle(typename states::iterator at) {
    const state& s = at->second;
    if (!s.queued && !s.running && s.timer == 0 && !s.failures) states_.erase(at);
  }

  loop& loop_;
  group_function group_of_;
  backoff_settings retry_settings_;
  states states_;
  std::map<std::string, std::deque<Key>> groups_;
  std::deque<std::string> turns_;  // groups that have a ready key, in order of their turn
  std::size_t depth_ = 0, delayed_ = 0, running_ = 0;
  bool closed_ = false;
  waiters ready_;
};

}  // namespace reactor
