#pragma once

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>

namespace bench {

/// What it costs to ask a registry, on another core and over TLS, every five minutes what each of
/// `tags` tags names, none of which moves: requests and bytes of bodies a question, processor time,
/// memory.
/// Shape: {environment…, tags, interval_s, seconds, questions, requests_per_tag,
/// body_bytes_per_tag, cpu_percent, rss_mb, longest_stall_ms}. Throws std::runtime_error when a
/// question fails.
boost::json::object measure_registry(std::size_t tags, std::chrono::seconds window);

/// The registry's side.
int run_registry_sender();

}  // namespace bench
