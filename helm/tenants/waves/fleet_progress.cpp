#include "helm/tenants/waves/fleet_progress.hpp"

#include <algorithm>
#include <utility>

namespace helm::tenants {
namespace {

/// Nothing of it is settled.
policies::rollout_cluster unsettled(policies::rollout_cluster c) {
  c.units = std::max<std::uint64_t>(c.units, 1);
  c.updated = c.degraded = 0;
  c.updated_at = 0;
  return c;
}

}  // namespace

std::vector<policies::rollout_cluster> fleet_progress::take(std::vector<seen> all,
                                                            std::string_view wanted,
                                                            reactor::steady_time now) {
  std::vector<policies::rollout_cluster> out;
  std::map<std::string, known> next;
  for (seen& c : all) {
    if (c.is) {
      out.push_back(*c.is);
      next[c.name] = {std::move(*c.is), std::string(wanted), std::nullopt};
      continue;
    }
    const auto before = known_.find(c.name);
    if (before == known_.end() && !c.was_reached) continue;
    known is;
    if (before != known_.end()) is = std::move(before->second);
    is.is.name = c.name;
    is.is.cluster_labels = std::move(c.labels);
    if (!is.lost_at) is.lost_at = now;
    if (now - *is.lost_at < patience) out.push_back(is.wanted == wanted ? is.is : unsettled(is.is));
    next[c.name] = std::move(is);
  }
  known_ = std::move(next);
  std::ranges::sort(out, {}, &policies::rollout_cluster::name);
  return out;
}

}  // namespace helm::tenants
