#pragma once

#include <string>
#include <vector>

namespace bench {

/// This program as a peer of others: follows a collection and prints what that took as one JSON
/// object, by the same arguments and with the same members as bench/peers/watch_go.
/// Shape  "events" or "fleet", "typed-json", the collection, clusters, events, URL, CA file.
///        "floor-json": each event is decrypted and parsed, and nothing is kept; "events" alone.
/// Prints {"error"} and returns 1 where it cannot.
int run_corpus_reader(const std::vector<std::string>& words);

}  // namespace bench
