#include "bootc/pool/planning/member_steps.hpp"

#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/rollout_planner.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bootc::planning {
namespace {

using phase = drain_progress::phase;

constexpr const char* drain_failed_text = "drain failed";
constexpr unsigned most_timeouts = 1'000, seconds_of_a_day = 86'400;

unsigned number_of(std::optional<std::string_view> annotation, unsigned most) {
  unsigned out = 0;
  if (annotation) std::from_chars(annotation->data(), annotation->data() + annotation->size(), out);
  return std::min(out, most);
}

reactor::nanoseconds retry_delay(unsigned timeouts) {
  auto delay = drain_retry_first;
  for (unsigned i = 1; i < timeouts && delay < drain_retry_last; ++i) delay *= 2;
  return std::min(delay, drain_retry_last);
}

/// Its daemon has seen what is asked for now, and fetches nothing before it is told to boot.
bool says_it_stages_in_slot(const draft& d, const member& m) {
  if (d.goal.staging != staging_mode::in_slot || !m.object || m.state != unit_state::pending ||
      m.waits_to_stage)
    return false;
  const bootc_node_status& status = m.object->status;
  const condition* idle = find_condition(status.conditions, node_condition::idle);
  return m.object->spec.desired_image == m.spec.desired_image &&
         status.observed_generation == m.object->meta.generation && idle &&
         idle->message.find(stages_in_slot_text) != std::string::npos;
}

void stop_after_timeout(draft& d, member& m) {
  const unsigned timeouts = number_of(m.annotation(names::drain_timeouts), most_timeouts) + 1;
  const wall_time retry_at = d.world.now + retry_delay(timeouts);
  if (m.was_schedulable() && m.node->unschedulable) d.act(action_kind::uncordon, m.name);
  d.unshield(m.name, *m.node, m.shield());
  action& a = d.act(action_kind::note_drain_timeout, m);
  a.timeouts = timeouts;
  a.at = retry_at;
  d.act(action_kind::cancel_drain, m.name);
  m.slotted = false;
  m.freed = true;
  m.left_by_drain = m.drain->detail;
  m.drain = nullptr;
  m.trouble = "drain timed out";
  d.look_again(retry_at);
}

/// A drain counts for the image it was started for and for a node that still waits for it; any
/// other is stopped.
void settle_drain(draft& d, member& m) {
  const bool wanted = m.slotted && !m.approved() && m.state != unit_state::up_to_date &&
                      m.drain->image == m.spec.desired_image;
  if (!wanted) {
    d.act(action_kind::cancel_drain, m.name);
    m.drain = nullptr;
    return;
  }
  if (m.drain->state == phase::timed_out) return stop_after_timeout(d, m);
  // Until one works, also while it is tried again: a condition that comes and goes with each
  // attempt says nothing.
  const bool failed_before = m.drain->failures > 0 && m.drain->state != phase::succeeded;
  if (failed_before || m.drain->state == phase::failed) m.trouble = drain_failed_text;
  const bool drained = m.drain->state == phase::succeeded;
  if (!drained || !m.startable() || m.skew || d.is_braked()) return;
  if (!m.node->unschedulable) {  // another one uncordoned it meanwhile: new pods may have come
    d.act(action_kind::cancel_drain, m.name);
    m.drain = nullptr;
    return;
  }
  m.spec.desired_state = image_state::booted;
  action& a = d.act(action_kind::approve, m);
  a.at = d.world.now;
  a.boot_id = m.node->boot_id.str();
  a.soft_reboot = d.pool.spec.reboots == reboot_policy::allow_soft_reboot;
}

}  // namespace

void classify_member(draft& d, member& m) {
  if (m.object)
    m.state = m.spec.desired_image == d.goal.pinned || m.waits_to_stage
                  ? classify(m.object->status, d.goal.target.digest)
                  : classify(m.object->status, m.spec);
  // What it does is about the image before.
  if (m.waits_to_stage && m.state != unit_state::degraded) m.state = unit_state::pending;
  m.stages_in_slot = says_it_stages_in_slot(d, m);
  const auto drain = d.world.drains.find(m.name);
  if (drain != d.world.drains.end()) {
    m.drain = &drain->second;
    return settle_drain(d, m);
  }
  // Of a drain of another process counts what that one has noted, so that who only looks counts as
  // the pool does.
  const auto noted = m.slotted && !m.approved() && m.object ? note_of(*m.object) : std::nullopt;
  if (noted && noted->code == hold_code::drain_failed && m.state != unit_state::up_to_date)
    m.trouble = drain_failed_text;
}

void note_reboot_timeout(draft& d, member& m) {
  if (const auto retry = time_of(m.annotation(names::drain_retry_at));
      retry && !m.slotted && *retry > d.world.now) {
    // A new image is a new attempt.
    if (m.object && m.object->spec.desired_image != m.spec.desired_image) return;
    if (m.startable()) m.trouble = "drain timed out";
    d.look_again(*retry);
  }
  if (!m.slotted || !m.is_told_to_boot() || m.state == unit_state::up_to_date) return;
  auto approved = time_of(m.annotation(names::approved_at));
  if (!approved) {
    // Told by others, such as another operator of this API. What is not known to have begun never
    // ends.
    approved = d.world.now;
    d.act(action_kind::note_approval, m).at = d.world.now;
  }
  const auto patience = reboot_limit(d.pool.spec);
  if (!patience) return;
  const auto due = *approved + *patience;
  if (due <= d.world.now)
    m.trouble = not_back_text;
  else
    d.look_again(due);
}

void note_stuck(draft& d, member& m) {
  if (!m.object || m.object->meta.deleting() || !(m.object->spec == m.spec) || m.waits_to_stage)
    return;
  const condition* idle = find_condition(m.object->status.conditions, node_condition::idle);
  if (!idle) return;  // no daemon has reported at all, which has a hold of its own
  std::optional<wall_time> since;
  std::string what;
  if (m.state == unit_state::up_to_date && idle->status == "False") {
    since = time_of(idle->last_transition_time);
    what = "it runs the image, but its daemon still says " + idle->reason;
  } else if (m.state == unit_state::pending && idle->is_true() && !m.stages_in_slot) {
    since = time_of(m.annotation(names::desired_since));
    const auto idle_since = since ? time_of(idle->last_transition_time) : std::nullopt;
    if (idle_since) since = std::max(*since, *idle_since);
    what = "it was asked to run another image, but its daemon stays idle";
  } else if (m.state == unit_state::staged && m.approved()) {
    since = time_of(m.annotation(names::approved_at));
    what = "it was told to boot, but its daemon still says Staged";
  }
  if (!since) return;
  if (d.world.now < *since + d.goal.stuck_after) return d.look_again(*since + d.goal.stuck_after);
  m.stuck = std::move(what);
  d.plan.warnings.push_back(
      {"NodeStuck",
       m.name + ": " + m.stuck + ", for more than " + reactor::format_duration(d.goal.stuck_after),
       m.name});
}

void free_if_finished(draft& d, member& m) {
  // A node that lost its slot on the way, since the annotation was removed by others, still has our
  // cordon.
  const bool ours = m.slotted || m.annotation(names::was_cordoned) || m.shield().any();
  if (!ours || m.state != unit_state::up_to_date || !is_ready(*m.node)) return;
  if (m.was_schedulable() && m.node->unschedulable) d.act(action_kind::uncordon, m.name);
  d.unshield(m.name, *m.node, m.shield());
  m.spec.desired_state = image_state::staged;
  d.act(action_kind::free_slot, m);
  m.slotted = false;
  m.freed = true;
}

void keep_cordoned(draft& d, const member& m) {
  if (!m.slotted || m.node->meta.deleting()) return;
  if (d.is_braked() && !m.drain && !m.is_told_to_boot()) return;  // nothing is under way there
  if (m.state != unit_state::up_to_date && !m.node->unschedulable)
    d.act(action_kind::cordon, m.name);
  node_shield lacks = m.shield();
  lacks.do_not_repair &= !m.node->meta.annotations.has(names::do_not_repair);
  lacks.do_not_disrupt &= !m.node->meta.annotations.has(names::do_not_disrupt);
  if (lacks.any()) d.act(action_kind::shield, m.name).shield = lacks;
}

void start_drain(draft& d, const member& m) {
  if (!m.slotted || m.approved() || !m.startable() || d.plan.halted || m.skew || d.is_braked())
    return;
  if (m.drain && m.drain->state == phase::failed && m.drain->retry_at > d.world.now)
    d.look_again(m.drain->retry_at);
  const bool needed =
      !m.drain || (m.drain->state == phase::failed && m.drain->retry_at <= d.world.now);
  if (!needed) return;
  action& a = d.act(action_kind::start_drain, m);
  a.timeout = std::chrono::seconds(d.pool.spec.drain_timeout_seconds.value_or(0));
  const reactor::nanoseconds wish =
      std::chrono::seconds(number_of(m.annotation(names::drain_within), seconds_of_a_day));
  if (wish.count() > 0 && (a.timeout.count() == 0 || wish < a.timeout)) a.timeout = wish;
}

}  // namespace bootc::planning
