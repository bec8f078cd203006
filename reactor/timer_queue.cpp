#include "reactor/timer_queue.hpp"

namespace reactor {

timer_id timer_queue::arm(steady_time when, std::function<void()> fire) {
  if (when == never) return 0;
  const timer_id id = ++last_;
  const bool first = when < next();
  by_time_.emplace(key{when, id}, std::move(fire));
  when_.emplace_hint(when_.end(), id, when);  // ids only grow
  if (first && on_next_changed) on_next_changed();
  return id;
}

void timer_queue::disarm(timer_id id) noexcept {
  const auto found = when_.find(id);
  if (found == when_.end()) return;
  // The loop's own timer may then fire for nothing, which costs less than re-arming it at each
  // disarm; only with nothing left is it told, so that an idle loop can end.
  by_time_.erase(key{found->second, id});
  when_.erase(found);
  if (by_time_.empty() && on_next_changed) on_next_changed();
}

steady_time timer_queue::next() const noexcept {
  return by_time_.empty() ? never : by_time_.begin()->first.first;
}

bool timer_queue::fire_one(steady_time now) {
  if (by_time_.empty() || by_time_.begin()->first.first > now) return false;
  auto node = by_time_.extract(by_time_.begin());
  when_.erase(node.key().second);
  node.mapped()();
  return true;
}

}  // namespace reactor
