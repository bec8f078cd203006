#include "reactor/timer_queue.hpp"

#include <algorithm>
#include <utility>

namespace reactor {
namespace {

/// Children of a place: four stand in two lines of cache, and the heap is half as high.
constexpr std::size_t arity = 4;

}  // namespace

timer_id timer_queue::arm(steady_time when, std::function<void()> fire) {
  if (when == never) return 0;
  if (free_ == none) {
    at_.resize(slots_.size() + 1, none);
    slots_.emplace_back();
    free_ = static_cast<std::uint32_t>(slots_.size() - 1);
  }
  heap_.emplace_back();  // the last that may throw
  const std::uint32_t mine = free_;
  slot& s = slots_[mine];
  free_ = at_[mine];
  s.fire = std::move(fire);
  const bool first = heap_.size() == 1 || when < heap_.front().when;
  rise(heap_.size() - 1, {when, ++turns_, mine});
  if (first && on_next_changed) on_next_changed();
  return timer_id(s.use) << 32 | (mine + 1);
}

void timer_queue::disarm(timer_id id) noexcept {
  const std::size_t named = id & 0xffff'ffff;
  if (named == 0 || named > slots_.size()) return;
  const slot& s = slots_[named - 1];
  if (s.use != id >> 32) return;
  // The loop's own timer may then fire for nothing, which costs less than re-arming it at each
  // disarm; only with nothing left is it told, so that an idle loop can end.
  const std::function<void()> forgotten = take(at_[named - 1]);
  if (heap_.empty() && on_next_changed) on_next_changed();
}

bool timer_queue::fire_one(steady_time now) {
  if (heap_.empty() || heap_.front().when > now) return false;
  take(0)();
  return true;
}

std::function<void()> timer_queue::take(std::size_t at) noexcept {
  const std::uint32_t freed = heap_[at].slot;
  const place last = heap_.back();
  heap_.pop_back();
  if (at < heap_.size()) {
    if (at > 0 && last.before(heap_[(at - 1) / arity]))
      rise(at, last);
    else
      sink(at, last);
  }
  slot& s = slots_[freed];
  ++s.use;
  at_[freed] = std::exchange(free_, freed);
  return std::exchange(s.fire, nullptr);
}

void timer_queue::put(std::size_t at, place p) noexcept {
  heap_[at] = p;
  at_[p.slot] = static_cast<std::uint32_t>(at);
}

void timer_queue::rise(std::size_t at, place p) noexcept {
  while (at > 0) {
    const std::size_t parent = (at - 1) / arity;
    if (!p.before(heap_[parent])) break;
    put(at, heap_[parent]);
    at = parent;
  }
  put(at, p);
}

void timer_queue::sink(std::size_t at, place p) noexcept {
  for (;;) {
    const std::size_t begin = at * arity + 1;
    const std::size_t end = std::min(begin + arity, heap_.size());
    std::size_t least = begin;
    for (std::size_t i = begin + 1; i < end; ++i)
      if (heap_[i].before(heap_[least])) least = i;
    if (begin >= end || !heap_[least].before(p)) break;
    put(at, heap_[least]);
    at = least;
  }
  put(at, p);
}

}  // namespace reactor
