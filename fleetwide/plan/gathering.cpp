#include "fleetwide/plan/gathering.hpp"

#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/holds.hpp"
#include "formats/plain/listed.hpp"

#include <algorithm>

namespace fleetwide {
namespace {

constexpr std::size_t clusters_in_a_message = 20;

std::int64_t as_count(const fleet_plan& plan, member_state s) {
  const auto found = plan.counts.find(s);
  return found == plan.counts.end() ? 0 : static_cast<std::int64_t>(found->second);
}

/// "cluster-failed: eu-1, eu-2 and 3 more; cluster-away: eu-9" of what lasts until a person acts.
std::string troubles_of(const fleet_plan& plan, std::span<const units::hold_kind> holds) {
  std::map<std::string, std::vector<std::string>> by_code;
  for (const member_plan& m : plan.members) {
    if (!m.hold) continue;
    const auto kind =
        std::ranges::find(holds, std::string_view(m.hold->code), &units::hold_kind::code);
    if (kind != holds.end() && kind->nature == units::hold_nature::trouble &&
        kind->code != hold_code::rollout_halted.code)
      by_code[m.hold->code].push_back(m.cluster);
  }
  std::string out;
  for (const auto& [code, clusters] : by_code)
    out +=
        (out.empty() ? "" : "; ") + code + ": " + formats::listed(clusters, clusters_in_a_message);
  return out;
}

void say(fleet_status& s, std::int64_t generation, reactor::wall_time now, std::string_view type,
         bool is, std::string_view reason, std::string message) {
  k8s::condition c;
  c.type = type;
  c.status = is ? "True" : "False";
  c.reason = reason;
  c.message = std::move(message);
  c.observed_generation = generation;
  k8s::set_condition(s.conditions, std::move(c), now);
}

}  // namespace

fleet_status status_after(const fleet_object& p, const rollout_world& w, const fleet_plan& plan,
                          std::span<const units::hold_kind> holds) {
  const reactor::wall_time now = w.now;
  fleet_status s = p.status;
  const std::int64_t generation = p.meta.generation;
  s.observed_generation = generation;
  s.clusters = static_cast<std::int64_t>(
      std::ranges::count_if(w.members, [](const member& m) { return m.is_selected; }));
  s.ready = as_count(plan, member_state::ready);
  s.moving = as_count(plan, member_state::moving);
  s.failed = as_count(plan, member_state::failed);
  s.waiting = s.clusters - s.ready - s.moving - s.failed;
  s.held.clear();
  for (const member_plan& m : plan.members)
    if (m.hold) ++s.held[std::string(units::kind_in(m.hold->code))];
  s.wave = plan.wave ? w.settings.wave_name(*plan.wave) : std::string();
  if (plan.notes_failure) s.failed_digest = w.wanted;
  const bool is_back = plan.notes_failure || w.has_failed;
  for (revision_record& r : s.history) {
    if (r.digest != w.wanted || r.revision != s.revision) continue;
    if (is_back)
      r.outcome = outcome::returned;
    else if (!plan.halt.empty())
      r.outcome = outcome::halted;
    else if (plan.is_complete)
      r.outcome = outcome::complete;
    else if (r.outcome == outcome::halted)
      r.outcome = outcome::rolling;
  }
  if (plan.is_complete && !is_back) s.proven_digest = w.wanted;

  const std::string counted = std::to_string(s.ready) + " of " + std::to_string(s.clusters) +
                              " clusters have revision " + std::to_string(s.revision);
  if (s.clusters == 0)
    say(s, generation, now, fleet_condition::ready, false, fleet_reason::no_clusters,
        "neither selector nor names choose a cluster of the fleet");
  else if (s.ready == s.clusters && !is_back)
    say(s, generation, now, fleet_condition::ready, true, fleet_reason::all_ready, counted);
  else
    say(s, generation, now, fleet_condition::ready, false, fleet_reason::not_all_ready, counted);
  const bool moves = s.moving > 0 || std::ranges::any_of(plan.members, [](const member_plan& m) {
                       return m.does != deed::nothing;
                     });
  if (moves || (plan.wave && plan.halt.empty() && !p.paused))
    say(s, generation, now, fleet_condition::progressing, true, fleet_reason::rolling_out,
        s.wave.empty() ? counted : "wave " + s.wave + "; " + counted);
  else
    say(s, generation, now, fleet_condition::progressing, false,
        p.paused ? fleet_reason::paused : fleet_reason::complete, "");
  if (is_back)
    say(s, generation, now, fleet_condition::halted, true, fleet_reason::returned, plan.halt);
  else if (!plan.halt.empty())
    say(s, generation, now, fleet_condition::halted, true, fleet_reason::too_many_failed,
        plan.halt);
  else
    say_not_halted(s, p, now);
  const std::string trouble = troubles_of(plan, holds);
  say(s, generation, now, fleet_condition::degraded, !trouble.empty(),
      trouble.empty() ? fleet_reason::healthy : fleet_reason::clusters_held, trouble);
  return s;
}

void say_not_halted(fleet_status& s, const fleet_object& p, reactor::wall_time now) {
  say(s, p.meta.generation, now, fleet_condition::halted, false, fleet_reason::healthy, "");
}

fleet_status status_without_plan(const fleet_object& p, std::string_view reason, std::string why,
                                 reactor::wall_time now) {
  fleet_status s = p.status;
  s.observed_generation = p.meta.generation;
  say(s, p.meta.generation, now, fleet_condition::ready, false, reason, std::move(why));
  return s;
}

}  // namespace fleetwide
