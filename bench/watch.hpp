#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// Processor time per watch event through everything a real stream passes: socket, TLS, HTTP, line,
/// JSON, view, store. The sender is a process of its own, pinned to the other core, with its events
/// made beforehand.
/// Shape: {environment…, cpu_us_per_event, mb_per_s, points: [{tls, event_bytes, …}], watched:
/// [{collection, …}]}; the head figures are TLS at 8 KB, for comparison with other clients.
/// `watched`: pods and what services of ours watch, each event changing what is kept: Nodes with 50
/// images in their status, BootcNodes, Secrets, Tenants; with managedFields and without. `events` a
/// point; 0 = about 400 MB. Throws std::runtime_error when the sender does not come up.
boost::json::object measure_watch(std::size_t events);

/// The sender's side: "<tls|plain>:<bytes>:<events>". Prints its URL and the file of its CA, serves
/// until killed.
int run_watch_sender(const std::string& specification);

}  // namespace bench
