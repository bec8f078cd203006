#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/rollout_pass.hpp"

#include <algorithm>

namespace bootc::planning {

void pass::find_member(std::size_t i) {
  const k8s::node& node = *world_.nodes[i];
  if (!pool_.spec.node_selector.matches(node.meta.labels)) return;
  const bootc_node* object = objects_by_name_.find(node.meta.name);
  if (!object) {
    if (!node.meta.deleting()) join(node);
  } else if (owned(*object)) {
    member m;
    m.name = node.meta.name.str();
    m.node = &node;
    m.object = object;
    m.spec = object->spec;
    m.slotted = object->in_slot();
    if (stages_at_once_ > 0 && is_fetching(*object, node)) ++fetching_;
    members_.push_back(std::move(m));
  } else if (object->meta.owner && object->meta.owner.kind == "BootcNodePool") {
    conflicting_pools_.push_back(object->meta.owner.name.str());
    hold_back(object->meta.name.str(), hold_code::conflict,
              "it belongs to pool " + object->meta.owner.name.str(),
              "the node stops matching one of the two pools");
  } else {
    unowned_.push_back(object->meta.name.str());
    hold_back(object->meta.name.str(), hold_code::conflict,
              "a BootcNode of this name exists that no pool owns",
              "kubectl delete bootcnode " + object->meta.name.str());
  }
}

void pass::join(const k8s::node& node) {
  member m;
  m.name = node.meta.name.str();
  m.node = &node;
  m.spec.desired_image = pinned_;
  m.spec.desired_state = image_state::staged;
  m.spec.pull_secret = pool_.spec.pull_secret;
  m.spec.pull_secret_hash = hash_for({});
  action& a = act(action_kind::create_node, m);
  a.staging = staging_;
  a.retarget = true;
  a.at = world_.now;
  ++fetching_;
  if (!is_managed(node)) act(action_kind::label, m.name);
  members_.push_back(std::move(m));
}

/// What a node is told of the pull secret's content. Of one that cannot be read now the last known
/// hash stays.
std::string pass::hash_for(const std::string& before) const {
  if (!pool_.spec.pull_secret) return {};
  return world_.secret.is == secret_state::kind::usable ? world_.secret.hash : before;
}

/// It was told of the pool's image and fetches it, or is about to. Whoever cannot does not keep the
/// others from it: a node that is not Ready, whose daemon reports an error, does nothing or has
/// never been there, or waits for a slot with it.
bool pass::is_fetching(const bootc_node& b, const k8s::node& node) {
  if (b.spec.desired_image != pinned_ || !is_ready(node)) return false;
  const unit_state state = classify(b.status, target_.digest);
  if (state == unit_state::staging) return true;
  if (state != unit_state::pending) return false;
  const condition* idle = find_condition(b.status.conditions, node_condition::idle);
  if (idle && idle->message.find(stages_in_slot_text) != std::string::npos) return false;
  const auto since = time_of(b.annotation(names::desired_since));
  if (!since) return idle != nullptr;
  if (world_.now >= *since + stuck_after_) return false;
  look_again(*since + stuck_after_);
  return true;
}

/// Whether a node that shall run another image may be told of it now. What it has already is not
/// fetched, and whoever holds a slot is disturbed as it is.
bool pass::may_fetch(const member& m) {
  if (stages_at_once_ == 0 || m.slotted || m.approved()) return true;
  const bootc_node_status& has = m.object->status;
  for (const auto* entry : {&has.booted, &has.staged})
    if (*entry && is_image(**entry, target_.digest)) return true;
  if (fetching_ >= stages_at_once_) return false;
  ++fetching_;
  return true;
}

/// A new image withdraws an approval. So does a lost slot: without one nobody may reboot.
void pass::sync(std::size_t i) {
  member& m = members_[i];
  if (!m.object) return;
  // After the spec, so that a daemon that comes with the label finds what to do.
  const bool differs = m.spec.desired_image != pinned_;
  m.waits_to_stage = differs && !m.object->meta.deleting() && !may_fetch(m);
  const bool retarget = differs && !m.waits_to_stage;
  const bool withdraws =
      retarget || m.spec.desired_state == image_state::unset || (m.approved() && !m.slotted);
  const bool same_ref = m.spec.pull_secret == pool_.spec.pull_secret;
  const std::string hash = hash_for(same_ref ? m.spec.pull_secret_hash : std::string());
  const bool other_secret = !same_ref || hash != m.spec.pull_secret_hash;
  const auto staging = parse_staging_mode(m.annotation(names::stage).value_or("locked"));
  const bool other_staging = staging != staging_;
  if (!m.object->meta.deleting() && (other_secret || withdraws || other_staging)) {
    if (retarget) m.spec.desired_image = pinned_;
    m.spec.pull_secret = pool_.spec.pull_secret;
    m.spec.pull_secret_hash = hash;
    if (withdraws) m.spec.desired_state = image_state::staged;
    action& a = act(action_kind::sync_spec, m);
    a.retarget = retarget;
    a.staging = staging_;
    a.at = world_.now;
  }
  if (!is_managed(*m.node) && !m.node->meta.deleting()) act(action_kind::label, m.name);
}

void pass::release_if_leaving(std::size_t i) {
  const bootc_node& b = *world_.bootc_nodes[i];
  if (!owned(b)) return;
  const k8s::node* node = nodes_by_name_.find(b.meta.name);
  if (node && pool_.spec.node_selector.matches(node->meta.labels)) return;
  release_node(b, node);
}

void pass::release_node(const bootc_node& object, const k8s::node* node) {
  const std::string name = object.meta.name.str();
  if (world_.drains.contains(name)) act(action_kind::cancel_drain, name);
  if (node && !node->meta.deleting()) {
    if (object.annotation(names::was_cordoned) == "false" && node->unschedulable)
      act(action_kind::uncordon, name);
    unshield(name, *node,
             {object.annotation(names::owns_do_not_repair) == "true",
              object.annotation(names::owns_do_not_disrupt) == "true"});
    if (node->meta.labels.has(names::managed)) act(action_kind::unlabel, name);
  }
  if (!object.meta.deleting()) act(action_kind::delete_node, name).uid = object.meta.uid.text();
  hold_back(name, hold_code::leaving, "it no longer belongs to the pool",
            "its BootcNode is deleted");
}

/// A deleted pool lets its nodes go: at once those that were not told to boot, the others when they
/// are back.
void pass::release_with_pool(std::size_t i) {
  const bootc_node& b = *world_.bootc_nodes[i];
  if (!owned(b)) return;
  pool_has_members_ = true;
  const k8s::node* node = nodes_by_name_.find(b.meta.name);
  const bool told = b.in_slot() && b.spec.desired_state == image_state::booted;
  if (told && node && !is_back(b, *node)) {
    const auto since =
        time_of(b.annotation(names::approved_at)).value_or(pool_.meta.deletion_timestamp);
    // Without a limit too: a machine that is gone for good must not keep its pool from going.
    const auto patience = reboot_limit(pool_.spec).value_or(default_reboot_limit);
    if (world_.now < since + patience) {
      look_again(since + patience);
      hold_back(
          b.meta.name.str(), hold_code::rebooting,
          "the pool is being deleted, but this node was told to reboot and is not back",
          "the node is Ready after its reboot, or " + reactor::format_rfc3339(since + patience));
      return show_waiting(b, node);
    }
  }
  release_node(b, node);
  show_waiting(b, node);
}

void pass::finish_release() {
  count_holds();
  if (!pool_has_members_ && pool_.meta.has_finalizer(names::pool_cleanup))
    act(action_kind::remove_finalizer, std::string());
}

bool pass::is_back(const bootc_node& object, const k8s::node& node) const {
  if (!is_ready(node)) return false;
  const auto before = object.annotation(names::approved_boot_id);
  if (before && !before->empty() && !node.boot_id.empty() && node.boot_id != *before) return true;
  // A soft reboot keeps the boot id; then what the daemon says after it counts.
  if (classify(object) == unit_state::up_to_date) return true;
  const condition* degraded = find_condition(object.status.conditions, node_condition::degraded);
  return degraded && degraded->status == "True" &&
         degraded->message.find(not_on_target_text) != std::string::npos;
}

}  // namespace bootc::planning
