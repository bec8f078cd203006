#include "compose/same_cluster.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace compose {

same_cluster::seat::seat(same_cluster& in, who w) : in_(in), who_(std::move(w)) {
  if (who_.uid.empty()) return;
  auto& all = in_.by_uid_[who_.uid];
  for (const who* other : all) other->reconsider();
  all.push_back(&who_);
}

same_cluster::seat::~seat() {
  const auto found = in_.by_uid_.find(who_.uid);
  if (found == in_.by_uid_.end()) return;
  std::erase(found->second, &who_);
  for (const who* other : found->second) other->reconsider();
  if (found->second.empty()) in_.by_uid_.erase(found);
}

bool same_cluster::seat::works() const {
  const auto found = in_.by_uid_.find(who_.uid);
  if (found == in_.by_uid_.end()) return true;
  return std::ranges::none_of(found->second, [&](const who* other) {
    return other != &who_ && std::tie(other->at, other->name) < std::tie(who_.at, who_.name);
  });
}

}  // namespace compose
