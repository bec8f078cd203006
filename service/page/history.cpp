#include "service/page/history.hpp"

#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <utility>

namespace web {
namespace {

std::string second_of(reactor::wall_time t) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count());
}

}  // namespace

/// Leaves `most` of the points in [from, to), the first and the last among them.
void progress_history::thin_out(std::size_t from, std::size_t to, std::size_t most) {
  const std::size_t n = to - from;
  if (n <= most) return;
  std::vector<progress_point> kept(points_.begin(),
                                   points_.begin() + static_cast<std::ptrdiff_t>(from));
  for (std::size_t i = 0; i < most; ++i) kept.push_back(points_[from + i * (n - 1) / (most - 1)]);
  kept.insert(kept.end(), points_.begin() + static_cast<std::ptrdiff_t>(to), points_.end());
  points_ = std::move(kept);
}

void progress_history::add(progress_point p, const std::string& target) {
  if (!points_.empty()) p.at = std::max(p.at, points_.back().at);
  const bool retargeted = targets_.empty() || targets_.back().to != target;
  if (retargeted) {
    targets_.push_back({p.at, target});
    if (targets_.size() > most_targets) targets_.erase(targets_.begin());
    thin_out(0, points_.size(), kept_of_before);
    begun_at_ = points_.size();
    step_ = std::chrono::seconds(1);
  } else if (points_.back().says_as(p)) {
    return;
  }
  // Within one step the newest counts; the one that begins a target stays.
  const std::size_t n = points_.size();
  if (n > begun_at_ + 1 && p.at - points_[n - 2].at < step_) {
    points_.back() = p;
    return;
  }
  points_.push_back(p);
  if (points_.size() <= most_points) return;
  step_ *= 2;
  thin_out(begun_at_, points_.size(), (most_points - begun_at_) / 2);
}

std::string progress_history::json() const {
  std::string out = "{\"points\":[";
  for (const progress_point& p : points_) {
    if (&p != &points_.front()) out += ',';
    out += "[" + second_of(p.at);
    for (const std::uint32_t n : {p.total, p.updated, p.updating, p.degraded, p.held})
      out += "," + std::to_string(n);
    out += ']';
  }
  out += "],\"targets\":[";
  for (const retarget& t : targets_) {
    if (&t != &targets_.front()) out += ',';
    out += "[" + second_of(t.at) + ",\"";
    reactor::append_json_escaped(out, t.to);
    out += "\"]";
  }
  out += "]}";
  return out;
}

}  // namespace web
