#include "bootc/pool/events/image_history.hpp"

#include "app/api/target_history.hpp"
#include "bootc/kinds/conditions.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bootc {
namespace {

namespace json = boost::json;

std::vector<units::target_record> records_of(const node_pool& pool) {
  return units::records_in(pool.meta.annotations.get(units::history_annotation));
}

/// The condition that says since when every node has the image; null before.
const condition* done_by(const node_pool_status& now) {
  const condition* done = find_condition(now.conditions, pool_condition::up_to_date);
  return now.node_count > 0 && done && done->is_true() ? done : nullptr;
}

std::string outcome_of(const node_pool_status& now) {
  const auto count = [](std::int64_t n) { return n > 0 ? static_cast<std::size_t>(n) : 0; };
  return units::outcome_text(count(now.updated_count), count(now.node_count),
                             count(now.degraded_count));
}

}  // namespace

bool image_histories::is_behind(const node_pool& pool, const node_pool_status& now) {
  if (pool.meta.deleting() || pool.spec.image_ref.empty()) return false;
  const std::string_view text = pool.meta.annotations.get(units::history_annotation);
  newest& known = newest_[pool.meta.name.str()];
  if (known.text != text) {
    ++parsed_;
    const auto all = records_of(pool);
    known = {std::string(text), {}, false};
    if (!all.empty()) {
      known.target = all.back().target;
      known.is_done = !all.back().done.empty();
    }
  }
  if (known.target != pool.spec.image_ref) return true;
  return done_by(now) && !known.is_done;
}

json::object history_patch(const json::object& object, const node_pool_status& now,
                           std::size_t at_once) {
  auto all = units::history_of(object, {"spec", "image", "ref"}, outcome_of(now));
  if (const condition* done = done_by(now); done && !all.empty() && all.back().done.empty()) {
    units::target_record& last = all.back();
    // Nodes that had the image before it was asked for have it since it was.
    last.done = std::max(last.at, done->last_transition_time);
    last.units = static_cast<std::size_t>(now.node_count);
    last.at_once = at_once;
  }
  json::object annotations;
  annotations[units::history_annotation] = units::annotation_of(all);
  json::object metadata;
  metadata["annotations"] = std::move(annotations);
  metadata["resourceVersion"] = units::text_at(object, {"metadata", "resourceVersion"});
  json::object patch;
  patch["metadata"] = std::move(metadata);
  return patch;
}

std::vector<reactor::nanoseconds> past_steps(const node_pool& pool) {
  std::vector<reactor::nanoseconds> out;
  for (const units::target_record& r : records_of(pool)) {
    const bool is_first = r.revision == 1;  // which nodes may have run before the pool was made
    if (const auto step = is_first ? std::nullopt : units::step_time(r)) out.push_back(*step);
  }
  return out;
}

}  // namespace bootc
