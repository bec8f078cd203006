#pragma once

#include "policies/rollout.hpp"
#include "reactor/plain/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// How far the clusters are, those that cannot be reached for a moment among them: a stream that
/// breaks opens no wave, and a cluster that is down for longer holds up no other. Pure.
class fleet_progress {
public:
  /// So long one that was reached counts with what was last known of it.
  static constexpr reactor::nanoseconds patience = std::chrono::seconds(60);

  struct seen {
    std::string name;
    k8s::string_map labels;
    std::optional<policies::rollout_cluster> is;  // none: it cannot be reached now
    bool was_reached = false;                     // before, by this process
  };
  /// `wanted` is the fingerprint of what is wanted everywhere; those of another one have to begin
  /// again. Who is not in `all` is forgotten.
  std::vector<policies::rollout_cluster> take(std::vector<seen> all, std::string_view wanted,
                                              reactor::steady_time now);

private:
  struct known {
    policies::rollout_cluster is;
    std::string wanted;
    std::optional<reactor::steady_time> lost_at;
  };
  std::map<std::string, known> known_;
};

}  // namespace helm::tenants
