#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/informer/currency.hpp"
#include "k8s/informer/meta.hpp"
#include "k8s/informer/store.hpp"
#include "k8s/informer/view_budget.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reactor {
class entropy;
}

namespace k8s {

using namespace std::chrono_literals;

/// The client's side of "Efficient detection of changes" (Kubernetes API concepts), with the
/// figures of client-go where there are any.
struct freshness_limits {
  reactor::nanoseconds named_every;  // the server is asked for its version this often
  reactor::nanoseconds reached_in;   // a stream may take this long to come to a version it named
  friend bool operator==(const freshness_limits&, const freshness_limits&) = default;
};
struct watch_limits {
  std::uint32_t page_limit = 500;              // client-go's pager
  reactor::nanoseconds backoff_first = 800ms;  // reflector: 0.8 s doubling to 30 s
  reactor::nanoseconds backoff_most = 30s;
  reactor::nanoseconds stable_after = 30s;  // what lived this long makes the next failure the first
  // Asked of the server, random in between, so that not all streams of a fleet end together.
  // kube-apiserver's default for clients that name no timeout (--min-request-timeout).
  reactor::nanoseconds watch_shortest = 30min;
  reactor::nanoseconds watch_longest = 60min;
  reactor::nanoseconds relist_jitter = 2s;  // a restarted server forgets every stream at once
  reactor::nanoseconds too_short = 1s;      // a stream that ends sooner without a word is a failure
  reactor::nanoseconds silence = 10s;       // without a byte of a stream's initial events
  // How a view is proved current while a caller is about to act on it, and at rest. With
  // probe_patience they add up to the 20 s and 17 min after which a stream is noticed that lags
  // behind its server. At rest a stream reaches a version by its next bookmark, due every minute.
  freshness_limits attended{8s, 1s}, unattended{15min, 75s};
  reactor::nanoseconds rest_silence = 90s;  // at rest the server is asked: bookmarks are overdue
  // A question for a caller that attends waits for those of others no longer than that, nor does
  // one at rest after an answer that was an error.
  reactor::nanoseconds longest_place = 30s;
  reactor::nanoseconds probe_patience = 8s;         // a question is answered by then, or never
  reactor::nanoseconds list_idle = 15s;             // without a byte in a list
  reactor::nanoseconds longest_retry_after = 5min;  // a server may not silence us longer
  // A server that names older versions this often, for this long, was restored from a backup or
  // built again: its history is believed. One answer in between that fits starts the count again.
  std::uint32_t older_answers = 3;
  reactor::nanoseconds older_patience = 5s;
  std::uint32_t too_large_patience = 3;  // answers "too large resource version" before a list
  std::size_t line_limit_bytes = 4 * 1024 * 1024;  // etcd refuses objects above 1.5 MB
  // A page of a list, or the initial events of a stream, has this long and then a second for so
  // many bytes: a slow line is waited for, one that drips is given up.
  reactor::nanoseconds list_patience = 60s;
  std::size_t list_slowest_bytes = 4 * 1024;
  std::uint32_t most_pages = 2'000;  // five times what the budget's objects need
  store_budget budget;
  reactor::nanoseconds over_budget_retry = 60s;  // ±20 %; a list of that size is work for both

  const freshness_limits& of(freshness how) const noexcept {
    return how == freshness::close ? attended : unattended;
  }
  /// A view that nothing has proved current for so long is old.
  reactor::nanoseconds stale_after(freshness how) const {
    return of(how).named_every + of(how).reached_in + probe_patience + 1s;
  }
  /// At rest, one of which nothing came for so long: its bookmarks are overdue, and it did not come
  /// to what the server was asked for then. Of a stream that has none a question is answered by a
  /// second watch; the next question follows that, and so does its answer.
  reactor::nanoseconds silent_after() const {
    return rest_silence + 2 * (unattended.reached_in + probe_patience) + 1s;
  }
  /// How long a page may have taken when it has come to `bytes`.
  reactor::nanoseconds list_allowance(std::uint64_t bytes) const {
    return list_patience + std::chrono::seconds(bytes / list_slowest_bytes);
  }
  friend bool operator==(const watch_limits&, const watch_limits&) = default;
};
/// One copy for all who have the defaults, which thousands of streams do.
std::shared_ptr<const watch_limits> shared_limits(const watch_limits& limits);

/// What to do next. `delay` comes first.
struct step {
  enum class action { list, stream, watch };
  action what = action::list;
  reactor::nanoseconds delay{};
  std::string resource_version;  // watch: from here; stream: not older than this
  std::string continue_token;    // list: the next page
};

/// How one event fits to what was seen before. Everything but `fits` is reported and repaired by a
/// relist.
enum class oddity { fits, repeated, regressed, unknown_modified, unknown_deleted, replaced };
std::string_view name_of(oddity o) noexcept;

enum class event_type { added, modified, deleted };

/// What a version that the server named in a consistent read says about what was followed.
enum class version_check { reached, behind, went_back };

/// What a second watch from the version that was followed brought, over another connection.
struct probe_findings {
  bool probed = false;        // false: only the server's version was asked for
  resource_version event;     // of its first event; empty = none came
  resource_version bookmark;  // of its last bookmark; empty = none came
};
/// current: nothing was missed up to the version the server named. missed: the server has an event
/// that the stream did not deliver. moving: the stream has delivered that event meanwhile.
/// unproven: the server did not show that its watches have come as far as the version it named.
enum class probe_verdict { current, missed, moving, unproven };

struct watch_counters {
  std::uint64_t lists = 0, pages = 0, streams = 0, watches = 0;  // requests, by kind
  std::uint64_t events = 0, unchanged = 0, bookmarks = 0, bytes = 0;
  std::uint64_t gone = 0;       // 410 in any form
  std::uint64_t failures = 0;   // requests and streams that ended badly
  std::uint64_t throttled = 0;  // 429
  std::uint64_t repeated = 0, regressed = 0, unknown = 0, replaced = 0;  // oddities
  std::uint64_t older_refused = 0;                                       // answers from the past
  std::uint64_t malformed = 0;    // texts that are not what a server sends
  std::uint64_t over_budget = 0;  // lists and events that the store had no room for
  // questions to a silent server, streams given up for silence
  std::uint64_t probes = 0, silent = 0;
};

/// Decides what a list-and-watch does next; never waits, reads no clock, sends nothing. The
/// informer carries it out.
class watch_state {
public:
  watch_state(const watch_limits& limits, bool may_stream, bool lists_after_end = false)
      : limits_(shared_limits(limits)),
        may_stream_(may_stream),
        lists_after_end_(lists_after_end) {}

  step first();
  /// Watches do not arrive as they are sent, so the beginning is listed and never streamed.
  void list_plainly() noexcept { may_stream_ = false; }

  /// True when an answer of that version is from the past: none of it may be taken.
  bool is_past(const resource_version& version) const { return version < highest_; }
  /// Pages of the list under way that were taken.
  std::uint32_t pages_under_way() const noexcept { return pages_; }
  /// A whole answer was from the past.
  step past_refused(reactor::steady_time now, reactor::entropy& rng);
  /// A page of a list was taken; after the last one (no token) the store was swept.
  step page_ended(const resource_version& list_version, std::string continue_token);

  /// An event of a watch, after its object was put into the store with that outcome, or removed
  /// from it if `was_known`.
  oddity event(event_type type, const resource_version& version, put_outcome outcome,
               bool was_known);
  /// An event of the initial part of a stream: sorted by name, so its version tells nothing yet.
  void initial_event() { ++counters_.events; }
  oddity bookmark(const resource_version& version);
  /// The initial events of a stream are complete and none of it is_past().
  void initial_ended(const resource_version& version);

  /// The server named `version` when it was asked; `moved_since`: events or bookmarks came after
  /// the question was sent. reached proves that the view was current when it was asked.
  version_check named(const resource_version& version, bool moved_since);
  /// Judges what a second watch found about the way to `named`. current proves as named() does.
  probe_verdict probed(const probe_findings& found, const resource_version& named);
  /// No watch of this server shows that the view is current, so a list has to.
  step unproven();
  /// What was judged since the last call proved that the view is current: a complete list, or a
  /// version that the server named and that was reached.
  std::optional<current_proof> take_proof() {
    if (!std::exchange(proven_, false)) return std::nullopt;
    return current_proof();
  }

  /// Whether version() became newer since the last call.
  bool take_moved() { return std::exchange(moved_, false); }

  void stream_opened(reactor::steady_time now) { opened_ = now; }
  /// The server ended the stream in order.
  step stream_ended(reactor::steady_time now, reactor::entropy& rng);
  /// A request failed, a stream broke, or the server said so in the stream.
  step failed(const fault& why, reactor::steady_time now, reactor::entropy& rng);
  /// After an oddity: start over.
  step repair(reactor::steady_time now, reactor::entropy& rng);

  /// How long a watch is asked to last.
  reactor::nanoseconds watch_timeout(reactor::entropy& rng) const;

  /// What the server last said that we followed; where the next watch starts.
  const resource_version& version() const noexcept { return version_; }
  /// Nothing older is taken; empty after the server's history went back.
  const resource_version& highest() const noexcept { return highest_; }
  const watch_limits& limits() const noexcept { return *limits_; }
  watch_counters& counters() noexcept { return counters_; }
  const watch_counters& counters() const noexcept { return counters_; }

private:
  step list_again(reactor::nanoseconds delay);
  step watch_again(reactor::nanoseconds delay);
  step same_again(reactor::nanoseconds delay);
  step go_on(reactor::nanoseconds delay);
  reactor::nanoseconds backoff(reactor::steady_time now, reactor::entropy& rng);
  void advance(const resource_version& version);
  void fits();

  std::shared_ptr<const watch_limits> limits_;
  bool may_stream_, lists_after_end_;
  step current_;
  bool proven_ = false, moved_ = false;
  std::uint32_t pages_ = 0;  // of the list under way
  resource_version version_, highest_;
  std::uint32_t attempt_ = 0;    // failures in a row
  std::uint32_t too_large_ = 0;  // answers "too large resource version" in a row
  std::uint32_t malformed_ = 0;  // broken texts since the last event that fitted
  reactor::steady_time opened_{};
  std::optional<reactor::steady_time> past_since_;
  std::uint32_t past_answers_ = 0;  // from the past, in a row
  watch_counters counters_;
};

}  // namespace k8s
