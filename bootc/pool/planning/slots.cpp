#include "bootc/pool/planning/slots.hpp"

#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "bootc/pool/slot_capacity.hpp"

#include <algorithm>
#include <utility>

namespace bootc::planning {

namespace {

/// Of a Degraded node in a slot. One that was told to boot has failed to, whatever it runs now:
/// most images that do not boot leave their host on the one before. One that was not told yet and
/// runs another image only fails to stage, which disturbs no workload.
bool has_failed_its_reboot(const draft& d, const member& m) {
  if (m.approved()) return true;
  const auto* booted = m.object && m.object->status.booted ? &*m.object->status.booted : nullptr;
  return !booted || is_image(*booted, d.goal.target.digest);
}

/// What every node ran before this target, where some host still has it; pinned, or empty.
std::string image_before(const draft& d, const std::vector<member>& members) {
  const std::string& digest = d.pool.status.deployed_digest;
  if (digest.empty() || digest == d.goal.target.digest) return {};
  for (const member& m : members) {
    if (!m.object) continue;
    const bootc_node_status& has = m.object->status;
    for (const auto* entry : {&has.booted, &has.rollback})
      if (*entry && is_image(**entry, digest))
        if (const auto ref = registry::parse_image_ref((*entry)->image)) return ref->pinned(digest);
  }
  return {};
}

}  // namespace

void halt_rule::look_at(const draft& d, const member& m) {
  if (m.moved_beyond) beyond_.push_back(m.name + ": " + m.node->kubelet_version.str());
  if (!m.slotted) return;
  if (m.state == unit_state::degraded && has_failed_its_reboot(d, m))
    found_.push_back(m.name + ": Degraded");
  else if (m.state == unit_state::up_to_date && !is_ready(*m.node))
    found_.push_back(m.name + ": NotReady");
  else if (m.trouble == not_back_text)
    found_.push_back(m.name + ": RebootTimeout");
}

void halt_rule::judge(draft& d, const std::vector<member>& members) {
  d.plan.halted = found_.size() >= halt_threshold;
  if (!beyond_.empty()) d.plan.halted = true;
  // A policy has no word about the way back.
  is_policys_ = !d.plan.halted && d.world.policy.halt && !d.goal.returning;
  if (is_policys_) d.plan.halted = true;
  if (!d.plan.halted) return;
  if (is_policys_) {
    text_ = message_ = d.world.policy.halt->reason;
    released_by_ = "the policy no longer halts it";
  } else if (beyond_.empty()) {
    text_ = joined(std::move(found_));
    message_ = "2+ unhealthy nodes in reboot slots (" + text_ + ")";
    released_by_ = "fewer than 2 unhealthy nodes hold slots";
  } else {
    text_ = message_ = "the image is beyond the version skew: " + joined(std::move(beyond_));
    released_by_ = "the cluster's versions allow it, or spec.image.ref names another image";
  }
  // Noted first, acted upon by the passes after this one: a way back that only this process knows
  // would end with it. The image before may halt as well; then no node moves.
  if (d.goal.on_failure != failure_answer::go_back || d.goal.returning) return;
  d.goal.back.ref = image_before(d, members);
  if (!d.goal.back.ref.empty()) d.goal.back.failed = d.goal.target.digest;
}

void control_planes::note_slotted(const k8s::node& node) {
  ++count_;
  disturbed_.push_back({node.meta.name.str(), true});
}

void control_planes::note(const k8s::node& node) {
  ++count_;
  if (!is_ready(node)) disturbed_.push_back({node.meta.name.str(), false});
}

bool control_planes::refuses(draft& d, member& m) {
  if (!is_control_plane(*m.node)) return false;
  const auto other = std::find_if(disturbed_.begin(), disturbed_.end(),
                                  [&](const disturbed_node& n) { return n.name != m.name; });
  if (other != disturbed_.end()) {
    if (refusers_.empty() || refusers_.back() != *other) refusers_.push_back(*other);
    m.refused_by = refusers_.size() - 1;
    return true;
  }
  if (count_ == 1)
    d.plan.warnings.push_back(
        {"SingleControlPlane",
         m.name + " is the only control-plane node: the API is away while it reboots", m.name});
  return false;
}

void control_planes::took_slot(const member& m) {
  const auto at = std::lower_bound(
      disturbed_.begin(), disturbed_.end(), m.name,
      [](const disturbed_node& n, const std::string& name) { return n.name < name; });
  if (at != disturbed_.end() && at->name == m.name)
    at->slotted = true;
  else
    disturbed_.insert(at, {m.name, true});
}

void slots::count(draft& d, const member& m) {
  // A share is of the nodes that we have: one whose object could not be written yet may not make
  // room for another.
  if (m.object) ++with_object_;
  // A reboot outside of a slot is a disturbance all the same.
  if (m.slotted || m.state == unit_state::rebooting) ++d.plan.occupied;
}

void slots::judge(draft& d, std::size_t members) {
  const auto capacity = slot_capacity(d.pool.spec, d.world.assume_staged ? members : with_object_);
  d.plan.capacity = capacity ? *capacity : 0;
  free_ = d.plan.capacity > d.plan.occupied ? d.plan.capacity - d.plan.occupied : 0;
  if (d.plan.halted || d.is_braked() || d.world.policy.is == policy_answer::kind::failed) free_ = 0;
}

void slots::note_waiting(const draft& d, member& m) {
  if (m.skew) return;
  const bool ready_to_go =
      m.startable() ||
      (d.world.assume_staged && (m.state == unit_state::pending || m.state == unit_state::staging));
  m.may_start = ready_to_go && !m.slotted && !m.freed && m.trouble.empty() &&
                !m.node->meta.deleting() && !(m.object && m.object->meta.deleting());
  if (m.may_start && d.world.policy.is != policy_answer::kind::given) waiting_.push_back(&m);
}

void slots::name(member& m) {
  if (!std::exchange(m.named, true) && m.may_start) waiting_.push_back(&m);
}

void slots::give(draft& d, control_planes& rule, member& m) {
  if (free_ == 0 || rule.refuses(d, m)) return;
  --free_;
  ++d.plan.occupied;
  m.taken = m.shield();
  if (m.node->of_node_claim) {
    // What is there already belongs to others, unless it was noted as ours.
    m.taken.do_not_repair |= !m.node->meta.annotations.has(names::do_not_repair);
    m.taken.do_not_disrupt |= !m.node->meta.annotations.has(names::do_not_disrupt);
  }
  m.slotted = m.fresh_slot = true;
  if (is_control_plane(*m.node)) rule.took_slot(m);
  action& a = d.act(action_kind::take_slot, m);
  // A slot that was lost left word of how the Node was before us; the cordon on it now is ours.
  const auto before = m.annotation(names::was_cordoned);
  a.was_cordoned = before ? *before == "true" : m.node->unschedulable;
  a.shield = m.taken;
  if (const auto wish = d.world.policy.drain_timeouts.find(m.name);
      wish != d.world.policy.drain_timeouts.end())
    a.timeout = wish->second;
}

}  // namespace bootc::planning
