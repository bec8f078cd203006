#pragma once

#include "k8s/client/stream_delivery.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>

namespace k8s {

/// The newest version that an API server has named in answer to a consistent read of any
/// collection, kept once for all informers of a client (docs/adr/0006). Versions of one server
/// count the writes to its storage, so one answer tells all of them how far they should be.
struct newest_version {
  std::string version;           // metadata.resourceVersion of a list; empty = never asked
  const void* by = nullptr;      // the informer that asked for it
  reactor::steady_time asked{};  // when the request was sent: nothing later is proved by it
  /// An informer asks at this moment, since then; the others wait for its answer.
  bool asking = false;
  reactor::steady_time asking_since{};
  /// When it may be asked for a caller that attends; none: no place was taken (proof_pace).
  std::optional<reactor::steady_time> place;
  stream_delivery delivery;  // how watches of this server arrive
};

}  // namespace k8s
