#include "compose/same_cluster.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace compose {

same_cluster::seat::seat(same_cluster& in, who w) : in_(in), who_(std::move(w)) {
  for (const who* other : in_.seats_)
    if (in_.are_one_(*other->on, *who_.on)) other->reconsider();
  in_.seats_.push_back(&who_);
}

same_cluster::seat::~seat() {
  std::erase(in_.seats_, &who_);
  for (const who* other : in_.seats_)
    if (in_.are_one_(*other->on, *who_.on)) other->reconsider();
}

bool same_cluster::seat::works() const {
  return std::ranges::none_of(in_.seats_, [&](const who* other) {
    return other != &who_ && std::tie(other->at, other->name) < std::tie(who_.at, who_.name) &&
           in_.are_one_(*other->on, *who_.on);
  });
}

}  // namespace compose
