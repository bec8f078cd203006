#include "helm/tenants/waves/turn.hpp"

#include "helm/tenants/kinds/names.hpp"
#include "policies/disruption.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/plain/reason.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace helm::tenants {
namespace {

units::hold held_by_word(const std::string& unit, const policies::rollout_hold& h) {
  if (h.code == "PolicyFault")
    return units::held(units::hold_code::policy_fault, unit, "the policy failed: " + h.reason);
  return units::held_by_policy(h.code, unit, h.reason);
}

}  // namespace

std::shared_ptr<policies::rollout_input> input_of(turn_question q) {
  auto input = std::make_shared<policies::rollout_input>();
  policies::rollout_fleet& fleet = input->fleet;
  fleet.api = "tenants";
  fleet.pool = std::move(q.chart);
  fleet.cluster = std::move(q.cluster);
  fleet.cluster_labels = std::move(q.cluster_labels);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(q.soak).count();
  fleet.parameters = {{k8s::interned("max_failures"), k8s::interned(q.max_failures)},
                      {k8s::interned("soak_seconds"), k8s::interned(std::to_string(seconds))},
                      {k8s::interned("wave_label"), k8s::interned(names::wave)}};
  fleet.startable = turn_state::staged;
  fleet.clusters = std::move(q.clusters);
  input->units = std::move(q.units);
  fleet.capacity = fleet.unit_count = input->units.size();
  for (const policies::rollout_unit& u : input->units) {
    if (u.state == turn_state::settled) ++fleet.updated;
    if (!u.slotted) continue;
    ++fleet.occupied;
    fleet.in_slots.push_back(u.name);
  }
  fleet.free = fleet.capacity - fleet.occupied;
  return input;
}

turn_answer answer_of(const policies::rollout_input& input,
                      const reactor::result<policies::rollout_answer>& said,
                      reactor::wall_time now) {
  turn_answer out;
  if (said) {
    out.look_again = said->look_again;
    out.may.insert(said->start.begin(), said->start.end());
  }
  for (const policies::rollout_unit& u : input.units) {
    if (u.state != turn_state::staged || out.may.contains(u.name)) continue;
    if (!said) {
      out.holds.emplace(u.name,
                        units::held(units::hold_code::policy_fault, u.name,
                                    "the policy failed: " + reactor::reason_of(said.error())));
      continue;
    }
    const auto given = said->holds.find(u.name);
    out.holds.emplace(
        u.name, given == said->holds.end()
                    ? units::held(units::hold_code::policy, u.name, "the policy has not chosen it")
                    : held_by_word(u.name, given->second));
  }
  if (out.look_again.count() > 0)
    for (auto& [unit, h] : out.holds) h.asked_again = reactor::format_rfc3339(now + out.look_again);
  return out;
}

turn_answer all_wait(const turn_question& q, const units::hold_kind& why, std::string sentence) {
  turn_answer out;
  for (const policies::rollout_unit& u : q.units)
    if (u.state == turn_state::staged)
      out.holds.emplace(u.name, units::held(why, u.name, sentence));
  return out;
}

reactor::awaitable<turn_answer> ask_turn(policies::host& packs, turn_question q,
                                         known_signals signals) {
  policies::subject about;
  about.api = "tenants";
  about.pack = waves_pack;
  about.cluster_labels = policies::as_labels(q.cluster_labels);
  const reactor::wall_time now = q.now;
  const auto input = input_of(std::move(q));
  policies::subject of_waves = about;
  auto said = co_await policies::plan_rollout(packs, std::move(of_waves), input, now);
  if (said) {
    std::vector<std::string> named = std::exchange(said->start, {});
    for (std::string& name : named) {
      const auto at = static_cast<std::size_t>(
          std::ranges::lower_bound(input->units, name, {}, &policies::rollout_unit::name) -
          input->units.begin());
      about.object_labels = policies::as_labels(input->units[at].labels);
      if (policies::disruption_chain(packs, about, false).empty()) {
        said->start.push_back(std::move(name));
        continue;
      }
      // The input is read at questions alone.
      if (signals) input->fleet.signals = signals(about, input->fleet.cluster);
      policies::subject of_signals = about;
      auto may = co_await policies::admit_disruption(packs, std::move(of_signals), input, at, now);
      if (may.look_again.count() > 0 &&
          (said->look_again.count() == 0 || may.look_again < said->look_again))
        said->look_again = may.look_again;
      if (may.admit)
        said->start.push_back(std::move(name));
      else
        said->holds[name] = {std::move(may.code), std::move(may.reason)};
    }
  }
  co_return answer_of(*input, said, now);
}

}  // namespace helm::tenants
