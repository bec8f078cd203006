#include "bootc/pool/pack_rollout_policy.hpp"

#include "bootc/kinds/names.hpp"
#include "policies/disruption.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/reason.hpp"

#include <algorithm>
#include <memory>

namespace bootc {
namespace {

constexpr std::string_view zone_label = "topology.kubernetes.io/zone";

/// Below a millisecond a turn.
constexpr std::size_t units_a_turn = 500;

policies::rollout_unit as_unit(unit&& u, const policy_question& q) {
  policies::rollout_unit out;
  out.name = std::move(u.name);
  out.cluster = q.cluster;
  out.pool = q.pool;
  out.zone = std::string(u.labels.get(zone_label));
  out.labels = std::move(u.labels);
  out.annotations = std::move(u.annotations);
  out.state = text(u.state);
  out.slotted = u.slotted;
  out.degraded = u.state == unit_state::degraded || !u.trouble.empty();
  out.ready = u.ready;
  out.control_plane = u.control_plane;
  if (u.since) out.since = policies::unix_seconds(*u.since);
  out.image = std::move(u.booted_image);
  out.target = std::move(u.desired_image);
  for (const k8s::interned& one : u.conditions) out.conditions.push_back(one.str());
  return out;
}

policies::rollout_fleet as_fleet(const policy_question& q) {
  policies::rollout_fleet fleet;
  fleet.api = "bootc";
  fleet.pool = q.pool;
  fleet.cluster = q.cluster;
  fleet.capacity = q.capacity;
  fleet.occupied = q.occupied;
  fleet.free = q.capacity > q.occupied && !q.halted && !q.paused ? q.capacity - q.occupied : 0;
  fleet.unit_count = q.units.size();
  fleet.startable = text(unit_state::staged);
  fleet.halted = q.halted;
  fleet.paused = q.paused;
  fleet.returning = q.returning;
  fleet.watched = q.watched;
  fleet.image.kubernetes = q.kubernetes.image;
  fleet.kubernetes = {q.kubernetes.oldest, q.kubernetes.newest};
  return fleet;
}

}  // namespace

const unit& last_moved(const std::vector<unit>& all) {
  return *std::ranges::max_element(
      all, {}, [](const unit& u) { return u.since.value_or(reactor::wall_time()); });
}

/// Asks for each who may start whether its workload may be disturbed; who may not is held. `said`
/// is borrowed.
reactor::awaitable<pack_rollout_policy::admitted> pack_rollout_policy::admit(
    policies::rollout_answer& said, policies::subject about,
    std::shared_ptr<policies::rollout_input> input, reactor::wall_time now) {
  admitted out;
  std::vector<std::string> start;
  for (const std::string& name : said.start) {
    const auto found = std::lower_bound(
        input->units.begin(), input->units.end(), name,
        [](const policies::rollout_unit& u, const std::string& n) { return u.name < n; });
    const auto at = static_cast<std::size_t>(found - input->units.begin());
    auto may = co_await policies::admit_disruption(packs_, about, input, at, now);
    const auto waits = may.look_again;
    if (waits.count() > 0 && (said.look_again.count() == 0 || waits < said.look_again))
      said.look_again = waits;
    if (!may.admit) {
      if (may.is_fault && out.fault.empty()) out.fault = may.reason;
      policy_hold& why = out.holds[name];
      why = {std::move(may.code), std::move(may.reason), may.is_fault,
             may.pack + " " + may.version};
      if (may.halt && !out.halt) out.halt = why;
      continue;
    }
    if (may.drain.timeout.count() > 0) out.drain_timeouts[name] = may.drain.timeout;
    // The input is read at questions alone: the next one sees which units were let through before
    // it.
    input->units[at].slotted = true;
    start.push_back(name);
  }
  said.start = std::move(start);
  co_return out;
}

/// Whether the rollout is over, since every unit has moved.
reactor::awaitable<policy_answer> pack_rollout_policy::watch(
    std::string last, policies::subject about, std::shared_ptr<policies::rollout_input> input,
    reactor::wall_time now) {
  policies::rollout_answer said;
  said.start = {last};
  admitted let = co_await admit(said, std::move(about), std::move(input), now);
  policy_answer out;
  out.is = policy_answer::kind::given;
  if (said.look_again > reactor::nanoseconds(0)) out.look_again = now + said.look_again;
  const auto why = let.holds.find(last);
  if (why == let.holds.end()) co_return out;
  out.by = why->second.by;
  out.watched = std::move(last);
  out.fault = std::move(let.fault);
  out.halt = std::move(let.halt);
  out.holds = std::move(let.holds);
  co_return out;
}

reactor::awaitable<policy_answer> pack_rollout_policy::ask(policy_question question) {
  const std::string last = question.watched ? last_moved(question.units).name : std::string();
  auto input = std::make_shared<policies::rollout_input>();
  input->fleet = as_fleet(question);
  input->units.reserve(question.units.size());
  for (unit& u : question.units) {
    policies::rollout_unit one = as_unit(std::move(u), question);
    if (u.state == unit_state::up_to_date) ++input->fleet.updated;
    if (one.degraded) ++input->fleet.degraded;
    if (one.slotted) input->fleet.in_slots.push_back(one.name);
    input->units.push_back(std::move(one));
    u = unit();
    if (input->units.size() % units_a_turn == 0 || reactor::loop_slice::is_over())
      co_await loop_.yield();
  }
  policies::subject about;
  about.api = "bootc";
  about.pack = question.pack;
  policies::rollout_fleet& fleet = input->fleet;
  if (known_.labels_of) fleet.cluster_labels = known_.labels_of(question.cluster);
  fleet.pool_labels = question.pool_labels;
  about.cluster_labels = policies::as_labels(fleet.cluster_labels);
  about.object_labels = policies::as_labels(fleet.pool_labels);
  if (known_.clusters) fleet.clusters = known_.clusters(question.pool);
  if (question.watched && policies::disruption_chain(packs_, about, true).empty())
    co_return policy_answer();
  fleet.pool_annotations = question.pool_annotations;
  std::string named_objects(question.pool_annotations.get(names::guard_objects));
  if (known_.guards && !named_objects.empty()) {
    std::string cluster = question.cluster;
    fleet.guards = co_await known_.guards(std::move(cluster), std::move(named_objects));
  }
  if (known_.signals) fleet.signals = known_.signals(about, question.cluster);
  const reactor::wall_time now = question.now;
  if (question.watched) {
    policy_answer over = co_await watch(last, std::move(about), std::move(input), now);
    co_return over;
  }
  const bool named = !about.pack.empty();
  policies::subject for_disruption = about;
  auto said = co_await policies::plan_rollout(packs_, std::move(about), input, now);
  admitted let;
  if (said) let = co_await admit(*said, std::move(for_disruption), input, now);
  // It is given back in pieces as well, unless a reader still has it.
  while (input.use_count() == 1 && input->units.size() > units_a_turn) {
    input->units.resize(input->units.size() - units_a_turn);
    co_await loop_.yield();
  }
  policy_answer out;
  if (!said) {
    if (said.error().code == make_error_code(reactor::errc::not_found) && !named) co_return out;
    out.is = policy_answer::kind::failed;
    out.detail = reactor::reason_of(said.error());
    co_return out;
  }
  out.is = policy_answer::kind::given;
  out.by = said->pack + " " + said->version;
  out.start = std::move(said->start);
  out.fault = std::move(let.fault);
  out.halt = std::move(let.halt);
  out.drain_timeouts = std::move(let.drain_timeouts);
  out.holds = std::move(let.holds);
  for (auto& [unit, hold] : said->holds)
    out.holds.emplace(unit, policy_hold{std::move(hold.code), std::move(hold.reason)});
  if (said->look_again > reactor::nanoseconds(0)) out.look_again = now + said->look_again;
  co_return out;
}

}  // namespace bootc
