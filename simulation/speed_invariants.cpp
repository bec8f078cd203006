#include "simulation/speed_invariants.hpp"

#include <algorithm>

namespace simulation {

void speed_invariants::began(const std::string& cluster, std::string what) {
  ++seen_;
  count(fleet_, limits_.fleet, "the fleet", what);
  count(clusters_[cluster], limits_.cluster, cluster, what);
  most_ = std::max(most_, fleet_.size());
}

void speed_invariants::count(times& all, std::size_t limit, const std::string& of,
                             const std::string& what) {
  const reactor::steady_time now = now_();
  while (!all.empty() && all.front() + (units::speed_limit::window - late) <= now) all.pop_front();
  all.push_back(now);
  if (limit > 0 && all.size() > limit)
    found(what + ": change " + std::to_string(all.size()) + " in a minute in " + of + ", where " +
          std::to_string(limit) + " may begin");
}

}  // namespace simulation
