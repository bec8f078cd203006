#include "bootc/cluster_node.hpp"
#include "bootc/rollout_pass.hpp"
#include "bootc/slots.hpp"

#include <algorithm>
#include <charconv>

namespace bootc::planning {
namespace {

using phase = drain_progress::phase;

unsigned number_of(std::optional<std::string_view> annotation) {
  unsigned out = 0;
  if (annotation) std::from_chars(annotation->data(), annotation->data() + annotation->size(), out);
  return std::min(out, 1000u);
}

reactor::nanoseconds retry_delay(unsigned timeouts) {
  auto delay = drain_retry_first;
  for (unsigned i = 1; i < timeouts && delay < drain_retry_last; ++i) delay *= 2;
  return std::min(delay, drain_retry_last);
}

}  // namespace

void pass::classify_members() {
  for (member& m : members_) {
    if (m.object) {
      bootc_node now = *m.object;
      now.spec = m.spec;
      m.state = classify(now);
    }
    const auto drain = world_.drains.find(m.name);
    m.drain = drain == world_.drains.end() ? nullptr : &drain->second;
  }
}

/// A drain counts for the image it was started for and for a node that still waits for it; any other is stopped.
void pass::settle_drain(member& m) {
  if (!m.drain) return;
  const bool wanted = m.slotted && !m.approved() && m.state != unit_state::up_to_date &&
                      m.drain->image == m.spec.desired_image;
  if (!wanted) {
    act(action_kind::cancel_drain, m.name);
    m.drain = nullptr;
    return;
  }
  if (m.drain->state == phase::timed_out) return stop_after_timeout(m);
  if (m.drain->state != phase::succeeded || m.state != unit_state::staged) return;
  if (!m.node->unschedulable) {  // somebody uncordoned it meanwhile: new pods may have come
    act(action_kind::cancel_drain, m.name);
    m.drain = nullptr;
    return;
  }
  m.spec.desired_state = image_state::booted;
  action& a = act(action_kind::approve, m);
  a.at = world_.now;
  a.boot_id = m.node->boot_id.str();
  a.soft_reboot = pool_.spec.reboots == reboot_policy::allow_soft_reboot;
}

void pass::stop_after_timeout(member& m) {
  const unsigned timeouts = number_of(m.annotation(names::drain_timeouts)) + 1;
  const wall_time retry_at = world_.now + retry_delay(timeouts);
  if (m.was_schedulable() && m.node->unschedulable) act(action_kind::uncordon, m.name);
  action& a = act(action_kind::note_drain_timeout, m);
  a.timeouts = timeouts;
  a.at = retry_at;
  act(action_kind::cancel_drain, m.name);
  m.slotted = false;
  m.freed = true;
  m.drain = nullptr;
  m.trouble = "drain timed out";
  look_again(retry_at);
}

void pass::note_reboot_timeouts() {
  for (member& m : members_) {
    if (const auto retry = time_of(m.annotation(names::drain_retry_at));
        retry && !m.slotted && *retry > world_.now) {
      // A new image is a new attempt.
      if (m.object && m.object->spec.desired_image != m.spec.desired_image) continue;
      if (m.state == unit_state::staged) m.trouble = "drain timed out";
      look_again(*retry);
    }
    if (!m.slotted || !m.approved() || !pool_.spec.reboot_timeout_seconds ||
        m.state == unit_state::up_to_date)
      continue;
    const auto approved = time_of(m.annotation(names::approved_at));
    if (!approved) continue;
    const auto due = *approved + std::chrono::seconds(*pool_.spec.reboot_timeout_seconds);
    if (due <= world_.now)
      m.trouble = "not back from its reboot";
    else
      look_again(due);
  }
}

void pass::free_finished() {
  for (member& m : members_) {
    if (!m.slotted || m.state != unit_state::up_to_date || !is_ready(*m.node)) continue;
    if (m.was_schedulable() && m.node->unschedulable) act(action_kind::uncordon, m.name);
    m.spec.desired_state = image_state::staged;
    act(action_kind::free_slot, m);
    m.slotted = false;
    m.freed = true;
  }
}

void pass::check_halt() {
  for (const member& m : members_) {
    if (!m.slotted) continue;
    const auto* booted = m.object && m.object->status.booted ? &*m.object->status.booted : nullptr;
    if (m.state == unit_state::degraded && (!booted || is_image(*booted, target_.digest)))
      unhealthy_.push_back(m.name + ": Degraded");
    else if (m.state == unit_state::up_to_date && !is_ready(*m.node))
      unhealthy_.push_back(m.name + ": NotReady");
    else if (m.approved() && !m.trouble.empty())
      unhealthy_.push_back(m.name + ": RebootTimeout");
  }
  plan_.halted = unhealthy_.size() >= halt_threshold;
}

/// At most one control-plane node of the cluster at a time, and none while another one is not Ready, whatever the
/// slots allow: a quorum does not know of pools. A cluster with one control-plane node has nothing to lose by waiting.
std::optional<hold> pass::refuse_control_plane(const member& m) {
  if (!is_control_plane(*m.node)) return std::nullopt;
  std::size_t others = 0;
  for (const k8s::node* n : world_.nodes) {
    if (!is_control_plane(*n) || n->meta.name == m.name) continue;
    ++others;
    const std::string name = n->meta.name.str();
    const auto ours = std::find_if(members_.begin(), members_.end(),
                                   [&](const member& o) { return o.name == name; });
    const bool slotted = ours != members_.end()
                             ? ours->slotted
                             : std::any_of(world_.bootc_nodes.begin(), world_.bootc_nodes.end(),
                                           [&](const bootc_node* b) {
                                             return b->meta.name == name && b->in_slot();
                                           });
    if (slotted)
      return hold{m.name, std::string(hold_code::control_plane),
                  "control-plane node " + name + " holds a reboot slot",
                  name + " is back and Ready"};
    if (!is_ready(*n))
      return hold{m.name, std::string(hold_code::control_plane),
                  "control-plane node " + name + " is not Ready", name + " is Ready"};
  }
  if (others == 0)
    plan_.warnings.push_back(
        {"SingleControlPlane",
         m.name + " is the only control-plane node: the API is away while it reboots"});
  return std::nullopt;
}

void pass::assign_slots() {
  // A share is of the nodes that we have: one whose object could not be written yet may not make room for another.
  const std::size_t count = world_.assume_staged
                                ? members_.size()
                                : static_cast<std::size_t>(std::count_if(
                                      members_.begin(), members_.end(),
                                      [](const member& m) { return m.object != nullptr; }));
  auto capacity = slot_capacity(pool_.spec, count);
  plan_.capacity = capacity ? *capacity : 0;
  for (const member& m : members_) {
    // A reboot outside of a slot is a disturbance all the same.
    if (m.slotted || m.state == unit_state::rebooting) ++plan_.occupied;
  }
  std::size_t free = plan_.capacity > plan_.occupied ? plan_.capacity - plan_.occupied : 0;
  if (plan_.halted || world_.policy.is == policy_answer::kind::failed) free = 0;

  std::vector<member*> waiting;
  for (member& m : members_) {
    const bool ready_to_go = m.state == unit_state::staged ||
                             (world_.assume_staged &&
                              (m.state == unit_state::pending || m.state == unit_state::staging));
    if (ready_to_go && !m.slotted && !m.freed && m.trouble.empty() && !m.node->meta.deleting() &&
        !(m.object && m.object->meta.deleting()))
      waiting.push_back(&m);
  }
  if (world_.policy.is == policy_answer::kind::given) {
    std::vector<member*> chosen;
    for (const std::string& name : world_.policy.start) {
      const auto at = std::find_if(waiting.begin(), waiting.end(),
                                   [&](const member* m) { return m->name == name; });
      if (at != waiting.end() && std::find(chosen.begin(), chosen.end(), *at) == chosen.end())
        chosen.push_back(*at);
    }
    waiting = std::move(chosen);
  }
  for (member* m : waiting) {
    if (free == 0) break;
    if (auto refusal = refuse_control_plane(*m)) {
      refused_.emplace(m->name, *refusal);
      continue;
    }
    --free;
    ++plan_.occupied;
    m->slotted = m->fresh_slot = true;
    action& a = act(action_kind::take_slot, *m);
    a.was_cordoned = m->node->unschedulable;
  }
}

/// After taking slots and not with it: a crash in between, or an administrator, may have left the Node schedulable.
void pass::keep_cordoned() {
  for (const member& m : members_)
    if (m.slotted && m.state != unit_state::up_to_date && !m.node->unschedulable &&
        !m.node->meta.deleting())
      act(action_kind::cordon, m.name);
}

void pass::start_drains() {
  for (const member& m : members_) {
    if (!m.slotted || m.approved() || m.state != unit_state::staged || plan_.halted) continue;
    if (m.drain && m.drain->state == phase::failed && m.drain->retry_at > world_.now)
      look_again(m.drain->retry_at);
    const bool needed =
        !m.drain || (m.drain->state == phase::failed && m.drain->retry_at <= world_.now);
    if (!needed) continue;
    action& a = act(action_kind::start_drain, m);
    a.timeout = std::chrono::seconds(pool_.spec.drain_timeout_seconds.value_or(0));
  }
}

}  // namespace bootc::planning
