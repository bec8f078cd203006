#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/notes/hold_note.hpp"
#include "bootc/pool/pool_status.hpp"
#include "bootc/pool/rollout_pass.hpp"
#include "bootc/pool/slot_capacity.hpp"

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

}  // namespace

void pass::classify_member(std::size_t i) {
  member& m = members_[i];
  if (m.object)
    m.state = m.spec.desired_image == pinned_ || m.waits_to_stage
                  ? classify(m.object->status, target_.digest)
                  : classify(m.object->status, m.spec);
  // What it does is about the image before.
  if (m.waits_to_stage && m.state != unit_state::degraded) m.state = unit_state::pending;
  m.stages_in_slot = says_it_stages_in_slot(m);
  const auto drain = world_.drains.find(m.name);
  if (drain != world_.drains.end()) {
    m.drain = &drain->second;
    return settle_drain(m);
  }
  // Of a drain of another process counts what that one has noted, so that who only looks counts as
  // the pool does.
  const auto noted = m.slotted && !m.approved() && m.object ? note_of(*m.object) : std::nullopt;
  if (noted && noted->code == hold_code::drain_failed && m.state != unit_state::up_to_date)
    m.trouble = drain_failed_text;
}

/// Its daemon has seen what is asked for now, and fetches nothing before it is told to boot.
bool pass::says_it_stages_in_slot(const member& m) const {
  if (staging_ != staging_mode::in_slot || !m.object || m.state != unit_state::pending ||
      m.waits_to_stage)
    return false;
  const bootc_node_status& status = m.object->status;
  const condition* idle = find_condition(status.conditions, node_condition::idle);
  return m.object->spec.desired_image == m.spec.desired_image &&
         status.observed_generation == m.object->meta.generation && idle &&
         idle->message.find(stages_in_slot_text) != std::string::npos;
}

/// A drain counts for the image it was started for and for a node that still waits for it; any
/// other is stopped.
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
  // Until one works, also while it is tried again: a condition that comes and goes with each
  // attempt tells nobody anything.
  const bool failed_before = m.drain->failures > 0 && m.drain->state != phase::succeeded;
  if (failed_before || m.drain->state == phase::failed) m.trouble = drain_failed_text;
  const bool drained = m.drain->state == phase::succeeded;
  if (!drained || !m.startable()) return;
  if (!m.node->unschedulable) {  // another one uncordoned it meanwhile: new pods may have come
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
  const unsigned timeouts = number_of(m.annotation(names::drain_timeouts), most_timeouts) + 1;
  const wall_time retry_at = world_.now + retry_delay(timeouts);
  if (m.was_schedulable() && m.node->unschedulable) act(action_kind::uncordon, m.name);
  unshield(m.name, *m.node, m.shield());
  action& a = act(action_kind::note_drain_timeout, m);
  a.timeouts = timeouts;
  a.at = retry_at;
  act(action_kind::cancel_drain, m.name);
  m.slotted = false;
  m.freed = true;
  m.left_by_drain = m.drain->detail;
  m.drain = nullptr;
  m.trouble = "drain timed out";
  look_again(retry_at);
}

void pass::note_reboot_timeout(std::size_t i) {
  member& m = members_[i];
  if (const auto retry = time_of(m.annotation(names::drain_retry_at));
      retry && !m.slotted && *retry > world_.now) {
    // A new image is a new attempt.
    if (m.object && m.object->spec.desired_image != m.spec.desired_image) return;
    if (m.startable()) m.trouble = "drain timed out";
    look_again(*retry);
  }
  if (!m.slotted || !m.is_told_to_boot() || m.state == unit_state::up_to_date) return;
  auto approved = time_of(m.annotation(names::approved_at));
  if (!approved) {
    // Somebody else told it, another operator of this API say. What is not known to have begun
    // never ends.
    approved = world_.now;
    act(action_kind::note_approval, m).at = world_.now;
  }
  const auto patience = reboot_limit(pool_.spec);
  if (!patience) return;
  const auto due = *approved + *patience;
  if (due <= world_.now)
    m.trouble = not_back_text;
  else
    look_again(due);
}

/// A daemon that neither acts nor reports an error. Nothing is done about it but to say so.
void pass::note_stuck(std::size_t i) {
  member& m = members_[i];
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
  if (world_.now < *since + stuck_after_) return look_again(*since + stuck_after_);
  m.stuck = std::move(what);
  plan_.warnings.push_back(
      {"NodeStuck",
       m.name + ": " + m.stuck + ", for more than " + reactor::format_duration(stuck_after_),
       m.name});
}

void pass::free_if_finished(std::size_t i) {
  member& m = members_[i];
  // One that lost its slot on the way, because somebody took the annotation away, still has our
  // cordon.
  const bool ours = m.slotted || m.annotation(names::was_cordoned) || m.shield().any();
  if (!ours || m.state != unit_state::up_to_date || !is_ready(*m.node)) return;
  if (m.was_schedulable() && m.node->unschedulable) act(action_kind::uncordon, m.name);
  unshield(m.name, *m.node, m.shield());
  m.spec.desired_state = image_state::staged;
  act(action_kind::free_slot, m);
  m.slotted = false;
  m.freed = true;
}

/// Of a Degraded node in a slot. One that was told to boot has failed to, whatever it runs now:
/// most images that do not boot leave their host on the one before. One that was not told yet and
/// runs another image only fails to stage, which disturbs no workload.
bool pass::has_failed_its_reboot(const member& m) const {
  if (m.approved()) return true;
  const auto* booted = m.object && m.object->status.booted ? &*m.object->status.booted : nullptr;
  return !booted || is_image(*booted, target_.digest);
}

void pass::look_for_trouble(std::size_t i) {
  const member& m = members_[i];
  if (!m.slotted) return;
  if (m.state == unit_state::degraded && has_failed_its_reboot(m))
    unhealthy_.push_back(m.name + ": Degraded");
  else if (m.state == unit_state::up_to_date && !is_ready(*m.node))
    unhealthy_.push_back(m.name + ": NotReady");
  else if (m.trouble == not_back_text)
    unhealthy_.push_back(m.name + ": RebootTimeout");
}

void pass::judge_halt() {
  plan_.halted = unhealthy_.size() >= halt_threshold;
  if (!plan_.halted) return;
  unhealthy_text_ = joined(std::move(unhealthy_));
  // Noted first, acted upon by the passes after this one: a way back that is known to nobody but
  // this process would end with it. The image before may halt as well; then nobody moves.
  if (on_failure_ != failure_answer::go_back || returning_) return;
  back_.ref = image_before();
  if (!back_.ref.empty()) back_.failed = target_.digest;
}

/// What every node ran before this target, where some host still has it; pinned, or empty.
std::string pass::image_before() const {
  const std::string& digest = pool_.status.deployed_digest;
  if (digest.empty() || digest == target_.digest) return {};
  for (const member& m : members_) {
    if (!m.object) continue;
    const bootc_node_status& has = m.object->status;
    for (const auto* entry : {&has.booted, &has.rollback})
      if (*entry && is_image(**entry, digest))
        if (const auto ref = registry::parse_image_ref((*entry)->image)) return ref->pinned(digest);
  }
  return {};
}

/// Whether the node holds a slot, as far as this pass has come, whatever pool it is in.
bool pass::holds_slot(const k8s::node& n) const {
  const auto& name = n.meta.name;
  const auto ours =
      std::lower_bound(members_.begin(), members_.end(), name.view(),
                       [](const member& m, std::string_view of) { return m.name < of; });
  if (ours != members_.end() && ours->name == name.view()) return ours->slotted;
  const auto object =
      std::lower_bound(world_.bootc_nodes.begin(), world_.bootc_nodes.end(), name,
                       [](const bootc_node* b, const auto& of) { return b->meta.name < of; });
  return object != world_.bootc_nodes.end() && (*object)->meta.name == name && (*object)->in_slot();
}

void pass::note_control_plane(std::size_t i) {
  const k8s::node& n = *world_.nodes[i];
  if (waiting_.empty() || !is_control_plane(n)) return;
  ++control_planes_;
  const bool slotted = holds_slot(n);
  if (slotted || !is_ready(n)) disturbed_.push_back({n.meta.name.str(), slotted});
}

/// At most one control-plane node of the cluster at a time, and none while another one is not
/// Ready, whatever the slots allow: a quorum does not know of pools. A cluster with one
/// control-plane node has nothing to lose by waiting.
bool pass::refuse_control_plane(member& m) {
  if (!is_control_plane(*m.node)) return false;
  const auto other = std::find_if(disturbed_.begin(), disturbed_.end(),
                                  [&](const disturbed& d) { return d.name != m.name; });
  if (other != disturbed_.end()) {
    if (refusers_.empty() || refusers_.back() != *other) refusers_.push_back(*other);
    m.refused_by = refusers_.size() - 1;
    return true;
  }
  if (control_planes_ == 1)
    plan_.warnings.push_back(
        {"SingleControlPlane",
         m.name + " is the only control-plane node: the API is away while it reboots", m.name});
  return false;
}

void pass::count_slots(std::size_t i) {
  const member& m = members_[i];
  // A share is of the nodes that we have: one whose object could not be written yet may not make
  // room for another.
  if (m.object) ++with_object_;
  // A reboot outside of a slot is a disturbance all the same.
  if (m.slotted || m.state == unit_state::rebooting) ++plan_.occupied;
}

void pass::judge_slots() {
  const auto capacity =
      slot_capacity(pool_.spec, world_.assume_staged ? members_.size() : with_object_);
  plan_.capacity = capacity ? *capacity : 0;
  free_ = plan_.capacity > plan_.occupied ? plan_.capacity - plan_.occupied : 0;
  if (plan_.halted || world_.policy.is == policy_answer::kind::failed) free_ = 0;
}

void pass::note_waiting(std::size_t i) {
  member& m = members_[i];
  const bool ready_to_go =
      m.startable() ||
      (world_.assume_staged && (m.state == unit_state::pending || m.state == unit_state::staging));
  m.may_start = ready_to_go && !m.slotted && !m.freed && m.trouble.empty() &&
                !m.node->meta.deleting() && !(m.object && m.object->meta.deleting());
  if (m.may_start && world_.policy.is != policy_answer::kind::given) waiting_.push_back(&m);
}

std::size_t pass::named() const {
  return world_.policy.is == policy_answer::kind::given ? world_.policy.start.size() : 0;
}

void pass::take_wish(std::size_t i) {
  member* m = member_named(world_.policy.start[i]);
  if (m && !std::exchange(m->named, true) && m->may_start) waiting_.push_back(m);
}

void pass::give_slot(std::size_t i) {
  member& m = *waiting_[i];
  if (free_ == 0) return;
  if (refuse_control_plane(m)) return;
  --free_;
  ++plan_.occupied;
  m.taken = m.shield();
  if (m.node->of_node_claim) {
    // What is there already is somebody else's, unless it was noted as ours.
    m.taken.do_not_repair |= !m.node->meta.annotations.has(names::do_not_repair);
    m.taken.do_not_disrupt |= !m.node->meta.annotations.has(names::do_not_disrupt);
  }
  m.slotted = m.fresh_slot = true;
  if (is_control_plane(*m.node)) {
    // From now on it is the one that the others wait for.
    const auto at =
        std::lower_bound(disturbed_.begin(), disturbed_.end(), m.name,
                         [](const disturbed& d, const std::string& name) { return d.name < name; });
    if (at != disturbed_.end() && at->name == m.name)
      at->slotted = true;
    else
      disturbed_.insert(at, {m.name, true});
  }
  action& a = act(action_kind::take_slot, m);
  // A slot that was lost left word of how the Node was before us; the cordon on it now is ours.
  const auto before = m.annotation(names::was_cordoned);
  a.was_cordoned = before ? *before == "true" : m.node->unschedulable;
  a.shield = m.taken;
  if (const auto wish = world_.policy.drain_timeouts.find(m.name);
      wish != world_.policy.drain_timeouts.end())
    a.timeout = wish->second;
}

void pass::unshield(const std::string& name, const k8s::node& node, node_shield ours) {
  ours.do_not_repair &= node.meta.annotations.get(names::do_not_repair) == "true";
  ours.do_not_disrupt &= node.meta.annotations.get(names::do_not_disrupt) == "true";
  if (ours.any()) act(action_kind::unshield, name).shield = ours;
}

/// After taking slots and not with it: a crash in between, or an administrator, may have left the
/// Node schedulable.
void pass::keep_cordoned(std::size_t i) {
  const member& m = members_[i];
  if (!m.slotted || m.node->meta.deleting()) return;
  if (m.state != unit_state::up_to_date && !m.node->unschedulable) act(action_kind::cordon, m.name);
  node_shield lacks = m.shield();
  lacks.do_not_repair &= !m.node->meta.annotations.has(names::do_not_repair);
  lacks.do_not_disrupt &= !m.node->meta.annotations.has(names::do_not_disrupt);
  if (lacks.any()) act(action_kind::shield, m.name).shield = lacks;
}

void pass::start_drain(std::size_t i) {
  const member& m = members_[i];
  if (!m.slotted || m.approved() || !m.startable() || plan_.halted) return;
  if (m.drain && m.drain->state == phase::failed && m.drain->retry_at > world_.now)
    look_again(m.drain->retry_at);
  const bool needed =
      !m.drain || (m.drain->state == phase::failed && m.drain->retry_at <= world_.now);
  if (!needed) return;
  action& a = act(action_kind::start_drain, m);
  a.timeout = std::chrono::seconds(pool_.spec.drain_timeout_seconds.value_or(0));
  const reactor::nanoseconds wish =
      std::chrono::seconds(number_of(m.annotation(names::drain_within), seconds_of_a_day));
  if (wish.count() > 0 && (a.timeout.count() == 0 || wish < a.timeout)) a.timeout = wish;
}

}  // namespace bootc::planning
