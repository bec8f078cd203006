#include "app/api/speed_limit.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace units {
namespace {

using steady_time = reactor::steady_time;
using times = std::deque<steady_time>;

constexpr std::string_view every_minute = "/minute";
/// Queues are searched for units that did not come once in so long.
constexpr reactor::nanoseconds looks_every = std::chrono::seconds(1);

void drop_old(times& all, steady_time now) {
  while (!all.empty() && all.front() + speed_limit::window <= now) all.pop_front();
}

/// When the beginning after `before` others may be made at the earliest. No limit: now.
steady_time opens_at(const times& all, std::size_t limit, std::size_t before, steady_time now) {
  if (limit == 0) return now;
  // Each beginning that is allowed in a minute is a slot, free again a minute after it was used.
  const std::size_t free = limit - std::min(limit, all.size()), slot = before % limit;
  const steady_time first = slot < free ? now : all[slot - free] + speed_limit::window;
  return first + static_cast<std::int64_t>(before / limit) * speed_limit::window;
}

void add(times& all, std::size_t limit, steady_time now) {
  if (limit == 0) return;
  all.push_back(now);
  if (all.size() > limit) all.pop_front();
}

}  // namespace

reactor::result<std::size_t> read_changes_a_minute(std::string_view text) {
  const auto wrong = [&] {
    return reactor::make_fault(reactor::errc::malformed, "",
                               "expected a whole number from 1 to " +
                                   std::to_string(speed_limit::most) +
                                   " and /minute, such as 30/minute");
  };
  if (!text.ends_with(every_minute)) return wrong();
  text.remove_suffix(every_minute.size());
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return wrong();
  if (n == 0 || n > speed_limit::most) return wrong();
  return n;
}

/// What is older than a minute counts no more; who did not come has no place any more.
void speed_limit::forget_old(steady_time now) {
  drop_old(fleet_, now);
  if (now - looked_ < looks_every) return;
  looked_ = now;
  for (auto one = clusters_.begin(); one != clusters_.end();) {
    drop_old(one->second, now);
    one = one->second.empty() ? clusters_.erase(one) : std::next(one);
  }
  for (auto one = queues_.begin(); one != queues_.end();) {
    waiting_count_ -=
        std::erase_if(one->second.units, [&](const place& p) { return p.due + grace < now; });
    one = one->second.units.empty() ? queues_.erase(one) : std::next(one);
  }
}

/// Nothing can begin on the cluster, whatever the fleet allows.
bool speed_limit::is_full(const std::string& cluster) const {
  const auto found = limits_.cluster > 0 ? clusters_.find(cluster) : clusters_.end();
  return found != clusters_.end() && found->second.size() >= limits_.cluster;
}

/// When it may begin, as if all that wait before it came at their times.
steady_time speed_limit::due_of(const std::string& cluster, const std::string& unit,
                                steady_time now, wait::of& by) const {
  const auto own = queues_.find(cluster);
  std::size_t units_before = 0, clusters_before = 0, clusters_waiting = 1;
  if (own != queues_.end())
    units_before = static_cast<std::size_t>(
        std::ranges::find(own->second.units, unit, &place::unit) - own->second.units.begin());
  if (limits_.fleet > 0)
    for (const auto& [name, q] : queues_) {
      if (name == cluster || is_full(name)) continue;
      ++clusters_waiting;
      clusters_before += own == queues_.end() || q.order < own->second.order;
    }
  const std::size_t before = clusters_before + units_before * clusters_waiting;
  const steady_time of_fleet = opens_at(fleet_, limits_.fleet, before, now);
  const auto had = clusters_.find(cluster);
  const steady_time of_cluster =
      opens_at(had == clusters_.end() ? times() : had->second, limits_.cluster, units_before, now);
  by = of_cluster > of_fleet || limits_.fleet == 0 ? wait::of::cluster : wait::of::fleet;
  return std::max({of_fleet, of_cluster, closed_until_});
}

speed_limit::wait speed_limit::left_until(steady_time due, wait::of by, steady_time now) const {
  return {by, by == wait::of::fleet ? limits_.fleet : limits_.cluster, due - now};
}

std::optional<speed_limit::wait> speed_limit::waits(const std::string& cluster,
                                                    const std::string& unit, steady_time now) {
  if (!limits_.any()) return std::nullopt;
  forget_old(now);
  const auto own = queues_.find(cluster);
  place* mine = nullptr;
  if (own != queues_.end())
    if (const auto at = std::ranges::find(own->second.units, unit, &place::unit);
        at != own->second.units.end())
      mine = &*at;
  // One that was refused for want of a place waits as well.
  if (!mine && waiting_count_ < most_waiting) return std::nullopt;
  if (const auto had = clusters_.find(cluster); had != clusters_.end()) drop_old(had->second, now);
  wait::of by{};
  const steady_time due = due_of(cluster, unit, now, by);
  if (due <= now) return std::nullopt;
  if (mine) mine->due = due;
  return left_until(due, by, now);
}

std::optional<speed_limit::wait> speed_limit::begins(const std::string& cluster,
                                                     const std::string& unit, steady_time now) {
  if (!limits_.any()) return std::nullopt;
  forget_old(now);
  if (const auto had = clusters_.find(cluster); had != clusters_.end()) drop_old(had->second, now);
  wait::of by{};
  const steady_time due = due_of(cluster, unit, now, by);
  if (due <= now) {
    began(cluster, unit, now);
    return std::nullopt;
  }
  const auto known = queues_.find(cluster);
  const auto has_place = [&](queue& q) {
    const auto mine = std::ranges::find(q.units, unit, &place::unit);
    if (mine != q.units.end()) mine->due = due;
    return mine != q.units.end();
  };
  if ((known == queues_.end() || !has_place(known->second)) && waiting_count_ < most_waiting) {
    queue& own = queues_[cluster];
    if (own.units.empty()) own.order = ++orders_;
    own.units.push_back({unit, due});
    ++waiting_count_;
  }
  return left_until(due, by, now);
}

void speed_limit::began(const std::string& cluster, const std::string& unit, steady_time now) {
  if (!limits_.any()) return;
  add(fleet_, limits_.fleet, now);
  if (limits_.cluster > 0) add(clusters_[cluster], limits_.cluster, now);
  leave(cluster, unit);
}

/// It had its turn, and its cluster had one.
void speed_limit::leave(const std::string& cluster, const std::string& unit) {
  const auto own = queues_.find(cluster);
  if (own == queues_.end()) return;
  waiting_count_ -=
      std::erase_if(own->second.units, [&](const place& p) { return p.unit == unit; });
  own->second.order = ++orders_;
  if (own->second.units.empty()) queues_.erase(own);
}

}  // namespace units
