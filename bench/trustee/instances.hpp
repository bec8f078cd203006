#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}

namespace bench {

/// The side of the clusters: what a controller manager would do, what is counted, and who disturbs.
/// What GET of these paths answers counts all clusters:
///   /counts     "writes" other than Events, Leases and our own, "events", "ready" instances, and those of
///               them that run images of the `other` registry (simulation::mounted_catalogue)
///   /disturb    Secrets that nobody names change from now on; /calm: no longer. "changed": how
///               often.
class instances {
public:
  /// An API server with the kinds, and `each` instances of it: one in three is Restricted.
  void furnish(reactor::loop& l, k8s::sim::api_server& api, std::size_t each);

private:
  struct state {
    bool ready = false, other = false;
  };
  k8s::sim::answer answer(reactor::loop& l, const std::string& path);
  void saw(reactor::loop& l, std::size_t at, const k8s::sim::written& w);
  void disturb(reactor::loop& l);

  std::vector<k8s::sim::api_server*> clusters_;
  std::map<std::pair<std::size_t, std::string>, state> states_;  // by cluster and name
  std::size_t writes_ = 0, events_ = 0, changed_ = 0;
  bool ours_ = false, disturbing_ = false;
};

}  // namespace bench
