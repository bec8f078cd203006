#pragma once

#include "k8s/fault.hpp"
#include "k8s/meta.hpp"
#include "k8s/store.hpp"
#include "reactor/time.hpp"

#include <cstdint>
#include <string>

namespace reactor {
class entropy;
}

namespace k8s {

using namespace std::chrono_literals;

/// The client's side of "Efficient detection of changes" (Kubernetes API concepts), with the
/// figures of client-go where there are any.
struct watch_limits {
  std::uint32_t page_limit = 500;              // client-go's pager
  reactor::nanoseconds backoff_first = 800ms;  // reflector: 0.8 s doubling to 30 s
  reactor::nanoseconds backoff_most = 30s;
  reactor::nanoseconds stable_after =
      30s;  // a stream that lived this long makes the next failure the first
  reactor::nanoseconds watch_shortest =
      5min;  // asked of the server, random in between, so that not all
  reactor::nanoseconds watch_longest = 10min;  // streams of a fleet end together
  reactor::nanoseconds relist_jitter = 2s;     // a restarted server forgets every stream at once
  reactor::nanoseconds too_short = 1s;  // a stream that ends sooner without a word is a failure
  reactor::nanoseconds silence = 10s;   // without a byte: ask whether the server is there
  reactor::nanoseconds probe_patience = 8s;         // and believe that it is not after this
  reactor::nanoseconds list_idle = 15s;             // without a byte in a list
  reactor::nanoseconds longest_retry_after = 5min;  // a server may not silence us longer
  reactor::nanoseconds older_patience =
      15min;  // a server that insists on a past was restored from a backup
  std::uint32_t too_large_patience = 3;  // answers "too large resource version" before a list
  std::size_t line_limit_bytes = 4 * 1024 * 1024;  // etcd refuses objects above 1.5 MB
};

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
const char* name_of(oddity o) noexcept;

enum class event_type { added, modified, deleted };

struct watch_counters {
  std::uint64_t lists = 0, pages = 0, streams = 0, watches = 0;  // requests, by kind
  std::uint64_t events = 0, unchanged = 0, bookmarks = 0, bytes = 0;
  std::uint64_t gone = 0;       // 410 in any form
  std::uint64_t failures = 0;   // requests and streams that ended badly
  std::uint64_t throttled = 0;  // 429
  std::uint64_t repeated = 0, regressed = 0, unknown = 0, replaced = 0;  // oddities
  std::uint64_t older_refused = 0;  // whole answers from the past
  std::uint64_t malformed = 0;      // texts that are not what a server sends
  std::uint64_t probes = 0,
                silent = 0;  // questions to a silent server, streams given up for silence
};

/// Decides what a list-and-watch does next; never waits, reads no clock, sends nothing. The
/// informer carries it out.
class watch_state {
public:
  watch_state(watch_limits limits, bool may_stream) : limits_(limits), may_stream_(may_stream) {}

  step first();

  /// A page of a list ended in order. Errors: errc::gone when the whole list is older than what was
  /// seen already; what was put of it must not be swept then. (Call list_version_refused() before
  /// taking objects.)
  step page_ended(const resource_version& list_version, std::string continue_token,
                  reactor::steady_time now);
  /// True when an answer of that version is from the past and none of it may be taken.
  bool is_past(const resource_version& list_version) const;
  /// The list was from the past.
  step past_refused(const resource_version& list_version, reactor::steady_time now,
                    reactor::entropy& chance);

  /// An event of a watch, after its object was put into (or removed from) the store with that
  /// outcome.
  oddity event(event_type type, const resource_version& version, put_outcome outcome,
               bool was_known);
  /// An event of the initial part of a stream: sorted by name, so versions tell nothing yet.
  void initial_event() { ++counters_.events; }
  /// False when the bookmark goes back.
  bool bookmark(const resource_version& version);
  /// The initial events of a stream are complete. False when all of it is from the past.
  bool initial_ended(const resource_version& version, reactor::steady_time now);

  /// The server ended the stream in order.
  step stream_ended(reactor::steady_time now, reactor::entropy& chance);
  /// A request failed, a stream broke, or the server said so in the stream.
  step failed(const fault& why, reactor::steady_time now, reactor::entropy& chance);
  /// An oddity or a refused object: start over.
  step repair(reactor::steady_time now, reactor::entropy& chance);

  void stream_opened(reactor::steady_time now);
  /// How long a watch is asked to last.
  reactor::nanoseconds watch_timeout(reactor::entropy& chance) const;

  bool synced() const noexcept { return synced_; }
  /// True from a list's end until the next list begins: what the store shows is one moment of the
  /// server.
  const resource_version& version() const noexcept { return version_; }
  const watch_limits& limits() const noexcept { return limits_; }
  watch_counters& counters() noexcept { return counters_; }
  const watch_counters& counters() const noexcept { return counters_; }
  std::uint32_t failures_in_a_row() const noexcept { return attempt_; }

private:
  enum class stage { listing, streaming, watching };
  step list_again(reactor::nanoseconds delay);
  step watch_again(reactor::nanoseconds delay);
  reactor::nanoseconds backoff(reactor::steady_time now, reactor::entropy& chance);
  void advance(const resource_version& version);

  watch_limits limits_;
  bool may_stream_;
  bool synced_ = false;
  stage stage_ = stage::listing;
  resource_version version_;   // where the next watch starts
  resource_version highest_;   // nothing older is taken
  std::uint32_t attempt_ = 0;  // failures in a row
  std::uint32_t too_large_ = 0;
  reactor::steady_time opened_{};  // the current stream
  bool delivered_ = false;         // it said something
  reactor::steady_time past_since_{};
  watch_counters counters_;
};

}  // namespace k8s
