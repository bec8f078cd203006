#pragma once

#include "helm/placed/cluster_reads.hpp"
#include "helm/placed/cluster_view.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace helm::placed {

/// What the API server itself said last about a release's namespace and newest record. Our own
/// writes are in it, since the server is asked after them: what watches show counts only from
/// there on.
struct release_sight {
  std::optional<workspace_facts> workspace;
  std::optional<known_release> release;
};

/// watches: what is seen by watches, and the server's own answer where that is not known or is
/// older than the sight; enough to find that nothing is to be done. server: the server's own
/// answer, for a caller that is about to act.
enum class ask : std::uint8_t { watches, server };

/// What is there of one release.
struct found_release {
  workspace_facts workspace;
  std::optional<known_release> release;
  release_sight sight;   // for the next look
  bool watched = false;  // a change of it is told by a watch
};

/// Looks at a release.
/// Errors   the requests'.
reactor::awaitable<k8s::result<found_release>> look_at_release(cluster_reads& reads,  // borrowed
                                                               cluster_view* view,    // borrowed
                                                               std::string ns, std::string release,
                                                               release_sight sight, ask how);

/// Which objects of a release are gone. `watched` is false where a later loss would go without an
/// event; without any names then, the caller asks the server about all of them.
struct missing_objects {
  std::vector<std::string> names;
  bool watched = false;
};
/// By watches; what these do not show the server is asked about before it counts as gone.
reactor::awaitable<missing_objects> look_for_missing(cluster_reads& reads,  // borrowed
                                                     cluster_view* view,    // borrowed
                                                     std::vector<checked_object> objects);

}  // namespace helm::placed
