// The pools of a cluster as every API shows what it moves.
#include "bootc/pool_rows.hpp"

#include "bootc/bootc_cluster.hpp"
#include "bootc/kinds/conditions.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/assumption.hpp"
#include "bootc/pool/events/image_history.hpp"
#include "reactor/loop.hpp"
#include "registry/image_ref.hpp"

#include <string>
#include <utility>

namespace bootc {
namespace {

/// A pool may have 10,000 nodes; so many are shown, or given back, without letting anybody else
/// run.
constexpr std::size_t units_a_turn = 128;

/// A registry that does not answer by then is told of as such.
constexpr reactor::nanoseconds longest_resolution = std::chrono::seconds(10);

/// Who goes next by this plan, in order: those that hold a slot, then those that take one.
std::vector<std::string> starters(const rollout_plan& plan) {
  std::vector<std::string> names;
  if (!plan.moves) return names;
  for (const unit& u : plan.units)
    if (u.slotted && !u.starting && u.state != unit_state::up_to_date) names.push_back(u.name);
  for (const action& a : plan.actions)
    if (a.kind == action_kind::take_slot) names.push_back(a.node);
  return names;
}

units::standing standing_of(unit_state s) noexcept {
  return s == unit_state::up_to_date ? units::standing::done
         : s == unit_state::degraded ? units::standing::trouble
                                     : units::standing::moving;
}

/// What a pool that is back on the image before has left; empty for any other.
std::string returned_from(const node_pool_status& status) {
  return status.return_ref.ends_with("@" + status.target_digest) ? status.failed_digest
                                                                 : std::string();
}

/// The tag that a pool follows, and when it is asked again; empty for one that names a digest.
std::string followed_by(const node_pool_status& status) {
  if (status.resolved_ref.empty()) return {};
  return status.resolved_ref + (status.next_tag_resolution_time.empty()
                                    ? ""
                                    : ", asked again at " + status.next_tag_resolution_time);
}

}  // namespace

units::unit shown(const unit& u) {
  units::unit out;
  out.name = u.name;
  out.state = text(u.state);
  out.is = standing_of(u.state);
  out.details = {
      {.key = "slotted",
       .value = u.slotted,
       .column = "SLOT",
       .text = u.slotted ? (u.approved ? "booting" : "draining") : "-"},
      {.key = "approved", .value = u.approved},
      {.key = "ready", .value = u.ready, .column = "READY", .text = u.ready ? "yes" : "no"},
      {.key = "bootedDigest", .value = u.booted_digest, .column = "BOOTED", .label = "booted"},
      {.key = "desiredImage", .value = u.desired_image, .label = "desired"},
  };
  out.message = u.message;
  out.trouble = u.trouble;
  return out;
}

units::plan_row shown(std::string pool, rollout_plan& now, rollout_plan& forecast) {
  units::plan_row row;
  row.name = std::move(pool);
  row.target = now.status.target_digest;
  row.offered = now.status.available_digest;
  // Of the units beside them, which a status from before may not fit.
  row.updated = now.counts.up_to_date;
  row.updating = now.counts.updating();
  row.degraded = now.counts.degraded;
  row.capacity = now.capacity;
  row.occupied = now.occupied;
  row.halted = now.halted;
  if (!now.kubernetes.contradiction.empty()) row.notes.push_back(now.kubernetes.contradiction);
  row.overrides = now.overrides;
  if (!now.overrides.empty()) row.notes.push_back(now.overrides);
  units::add_problems(row.problems, pool_conditions, now.status.conditions);
  row.holds = std::move(now.holds);
  for (const action& a : now.actions) row.actions.push_back({std::string(text(a.kind)), a.node});
  row.start = starters(forecast);
  row.forecast = std::move(forecast.holds);
  return row;
}

/// An image that is only assumed is asked for here: who only looks makes no passes.
awaitable<void> bootc_cluster::resolve_assumed(std::string pool) {
  const std::string* ref = options_.assumed ? options_.assumed->of(pool) : nullptr;
  const auto image = ref ? registry::parse_image_ref(*ref)
                         : reactor::result<registry::image_ref>(registry::image_ref());
  if (!ref || !image || !options_.tags) co_return;
  const reactor::steady_time until = loop_.now() + longest_resolution;
  while (!stopping_ && loop_.now() < until) {
    reconciler_.follow_tag(pool);
    const auto known = reconciler_.tag_of(pool);
    if (known && known->ref == *ref && !(known->digest.empty() && known->error.empty())) co_return;
    co_await loop_.sleep_for(std::chrono::milliseconds(50));
  }
}

awaitable<std::vector<units::plan_row>> bootc_cluster::overview() {
  const reactor::gate::visit here(overviews_);
  std::vector<units::plan_row> rows;
  const std::vector<std::string> names = pools();
  for (const std::string& name : names) {
    if (stopping_) break;
    co_await resolve_assumed(name);
    auto forecast = co_await preview(name, plan_view::all_staged);
    const std::string* assumed = options_.assumed ? options_.assumed->of(name) : nullptr;
    const reactor::steady_time until = loop_.now() + longest_resolution;
    while (assumed && forecast && !stopping_ && loop_.now() < until &&
           forecast->held.contains(std::string(hold_code::version_lookup.code))) {
      co_await loop_.sleep_for(std::chrono::milliseconds(50));
      forecast = co_await preview(name, plan_view::all_staged);
    }
    auto now = co_await preview(name);
    if (!now || !forecast) continue;
    const node_pool* asks = pool(name);
    assumption what_if;
    if (assumed && asks)
      what_if = assumption_of(*assumed, reconciler_.tag_of(name), *now, *forecast);
    units::plan_row row = shown(name, *now, *forecast);
    for (std::string& note : what_if.notes) row.notes.push_back(std::move(note));
    row.steps = what_if.steps;
    row.unresolved = std::move(what_if.unresolved);
    row.is_absent = what_if.is_absent;
    if (assumed && asks) row.past_steps = past_steps(*asks);
    row.units.reserve(now->units.size());
    const std::string followed = followed_by(now->status), offered = now->status.available_digest;
    const std::string left = returned_from(now->status);
    for (std::size_t i = 0; i < now->units.size(); ++i) {
      row.units.push_back(shown(now->units[i]));
      std::vector<units::detail>& details = row.units.back().details;
      if (!followed.empty())
        details.push_back({.key = "follows", .value = followed, .label = "follows"});
      if (!offered.empty())
        details.push_back({.key = "offeredDigest", .value = offered, .label = "offered"});
      if (!left.empty())
        details.push_back({.key = "failedDigest", .value = left, .label = "went back from"});
      now->units[i] = unit();
      if (i % units_a_turn == units_a_turn - 1) co_await loop_.yield();
    }
    while (forecast->units.size() > units_a_turn) {
      forecast->units.resize(forecast->units.size() - units_a_turn);
      co_await loop_.yield();
    }
    rows.push_back(std::move(row));
  }
  co_return rows;
}

}  // namespace bootc
