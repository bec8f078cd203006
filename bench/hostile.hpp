#pragma once

#include <boost/json/fwd.hpp>

#include <string>

namespace bench {

/// What one of 500 clusters, a caller, a policy pack or a kubeconfig can do to the others at its
/// worst. A process plays all of them; others, which may crash and are counted then, undergo one
/// attack after the other with 499 good neighbours beside. What looks worst is measured again,
/// alternating with quiet. At last the service itself, the program `windlass` beside this one,
/// meets users of a namespace, members and repositories, and is ended while each is at work.
/// Shape  {environment…, attacks, charts, tenants, members, registries, worst_stall_ms,
///        worst_stall_attack, worst_rss_mb, rss_mb, stop_s, neighbour_p99_ratio,
///        policy_worst_stall_ms, crashes, children_ended: {reason: count}, escapes, canary_hits,
///        points: [{attack, stall_ms, …}]}, the worst points first, and those of the service.
/// Units  stall: processor time of one turn of the loop. p99: of the neighbours' watch events, in
///        processor time of the loop's thread between the write and the handler, so that the
///        machine's other work does not count. rss_mb: the service and its children together.
///        stop_s: from SIGTERM to its end.
/// Throws std::runtime_error when a process does not come up.
boost::json::object measure_hostile();

/// The other processes' side.
int run_hostile_side(const std::string& specification);

}  // namespace bench
