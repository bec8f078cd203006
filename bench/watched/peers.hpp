#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// How much is done; the quick form does less of everything.
struct peers_effort {
  unsigned runs = 3;
  std::size_t events = 20'000;   // of a point
  std::size_t objects = 10'000;  // of one collection in memory
  std::size_t clusters = 200;    // of a fleet
  std::size_t streams = 2'000;   // of which each has few events
  unsigned seconds = 10;         // at rest, and of each latency
};

/// This program beside client-go, controller-runtime and kube-rs: the same server process, corpus
/// and cores, one after the other in each run. A client that cannot be built is left out with the
/// reason under "skipped".
/// Shape   "ratios": of each figure the best peer's median ÷ ours, by what that peer is sent:
///         "json" and "protobuf" whole, or "metadata" alone; "floor_ratio": ours ÷ decrypting and
///         parsing alone; "points": one of each figure and client, with version, runs, min, median
///         and max.
/// Errors  throws std::runtime_error when this program itself cannot be measured.
boost::json::object measure_peers(const peers_effort& how_much);

/// Events of one collection read by this program, as fast as they come: a point of `watch`. Twice,
/// from a server that sends managedFields and from one that leaves them out when it is asked to.
/// Shape   {"event_bytes", "cpu_us_per_event", …, the same with "_without_managers",
///         "bytes_ratio", "cpu_ratio": with ÷ without}
boost::json::object measure_collection(std::string_view collection, std::size_t events);

/// The other processes: "serve CORPUS" and "read WORDS".
int run_peers_side(const std::string& text);

}  // namespace bench
