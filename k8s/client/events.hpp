#pragma once

#include "k8s/client/event_kind.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/limiter.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace k8s {

class client;
using namespace std::chrono_literals;

/// What an event is about.
struct object_reference {
  std::string api_version, kind, ns, name, uid;
  friend auto operator<=>(const object_reference&, const object_reference&) = default;
};

/// Which of the two APIs that serve events an event is written to; their objects are the same,
/// their fields are not.
enum class event_form { events_v1, core_v1 };

struct event_note {
  object_reference regarding;
  object_reference related;  // kind empty = none
  event_severity type = event_severity::normal;
  std::string reason;  // "ClusterEngaged"
  std::string action;  // "Engage"; the reason when empty
  std::string note;    // for people; cut to 1024 bytes
  event_form form = event_form::events_v1;
  std::string reporter;   // the controller; the recorder's own when empty
  std::string component;  // source.component of core/v1; the reporter when empty
};

/// The note of a row of a table. Made nowhere else: a reason that no table has is in no
/// reference.
event_note tell_of(const event_kind& what, object_reference regarding, std::string note);

struct event_options {
  std::string reporting_controller = "windlass";
  std::string reporting_instance;  // POD_NAME, the host's name; never empty on the wire
  double per_second = 5;
  double burst = 50;
  std::size_t queue_limit = 1'000;  // beyond: the oldest normal event goes, then the oldest
  // After this much silence a repetition is a new event.
  reactor::nanoseconds series_window = 10min;
  std::function<void(const event_note&)> on_record = {};  // each of them, as it is recorded
};

/// Writes the events of one cluster, in either form, never in its caller's way: record() only
/// queues.
/// Repeats  an equal note about an equal object raises the count of the first event's series.
/// Limits   rate, queue and remembered series are bounded; warnings are the last to go.
/// Errors   are logged, an unreachable server is tried three times per event. Nothing reaches the
///          caller.
/// Lifetime loop, client and logger's sink outlive it; co_await stop() before destruction.
class event_recorder {
public:
  event_recorder(reactor::loop& l, client& api, event_options options, reactor::logger log = {});
  event_recorder(const event_recorder&) = delete;
  event_recorder& operator=(const event_recorder&) = delete;

  void record(event_note note);
  std::size_t queued() const noexcept { return queue_.size(); }
  std::uint64_t dropped() const noexcept { return dropped_; }
  /// Series that a repetition could still raise, and some that are too old for it.
  std::size_t remembered() const noexcept { return series_.size(); }
  /// Waits until the queue is empty. False when `deadline` came first.
  awaitable<bool> flush(reactor::steady_time deadline);
  /// Drops what is queued.
  awaitable<void> stop();

private:
  struct key {
    object_reference regarding, related;
    event_severity type;
    std::string reason, action, note;
    event_form form;
    std::string reporter, component;
    friend auto operator<=>(const key&, const key&) = default;
  };
  struct series {
    std::string name;  // of the event on the server; empty = not yet written
    std::uint64_t count = 0, written = 0;
    reactor::wall_time first{}, last{};
    reactor::steady_time seen{};
    bool queued = false;
  };
  awaitable<void> run();
  awaitable<void> deliver(key k);
  void complain(const key& k, const fault& why);
  boost::json::object body_of(const key& k, const series& s, const std::string& name) const;
  awaitable<result<void>> write(key k);
  void make_room();
  void forget_old();

  reactor::loop& loop_;
  client& api_;
  event_options options_;
  reactor::logger log_;
  reactor::repeats complaints_;
  reactor::limiter limiter_;
  std::map<key, series> series_;
  std::deque<key> queue_;
  reactor::steady_time swept_{};
  std::uint64_t dropped_ = 0;
  bool writing_ = false;
  reactor::waiters changed_;
  reactor::task_group tasks_;
};

/// At most `limit` bytes of UTF-8, ending in "..." where something was cut.
std::string cut_utf8(std::string_view text, std::size_t limit);

}  // namespace k8s
