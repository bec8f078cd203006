#include "compose/same_cluster.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace compose {

same_cluster::seat::seat(same_cluster& in, who w) : in_(in), who_(std::move(w)) {
  tell_others();
  in_.seats_.push_back(&who_);
}

same_cluster::seat::~seat() {
  std::erase(in_.seats_, &who_);
  tell_others();
}

void same_cluster::seat::tell_others() const {
  for (const who* other : in_.seats_)
    if (other != &who_ && in_.are_one_(*other->on, *who_.on)) other->reconsider();
}

bool same_cluster::seat::works() const {
  const auto rank = [&](const who& w) {
    return std::tuple(!in_.can_act_(*w.on), w.at, std::string_view(w.name));
  };
  return std::ranges::none_of(in_.seats_, [&](const who* other) {
    return other != &who_ && rank(*other) < rank(who_) && in_.are_one_(*other->on, *who_.on);
  });
}

}  // namespace compose
