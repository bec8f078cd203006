#include "bootc/pool/planning/membership.hpp"

#include "bootc/kinds/classification.hpp"
#include "bootc/kinds/cluster_node.hpp"
#include "bootc/kinds/daemon_texts.hpp"

#include <utility>

namespace bootc::planning {
namespace {

/// What a node is told of the pull secret's content. Of one that cannot be read now the last known
/// hash stays.
std::string hash_for(const pool_world& world, const std::string& before) {
  if (!world.pool.spec.pull_secret) return {};
  return world.secret.is == secret_state::kind::usable ? world.secret.hash : before;
}

bool is_back(const bootc_node& object, const k8s::node& node) {
  if (!is_ready(node)) return false;
  const auto before = object.annotation(names::approved_boot_id);
  if (before && !before->empty() && !node.boot_id.empty() && node.boot_id != *before) return true;
  // A soft reboot keeps the boot id; then what the daemon says after it counts.
  if (classify(object) == unit_state::up_to_date) return true;
  const condition* degraded = find_condition(object.status.conditions, node_condition::degraded);
  return degraded && degraded->status == "True" &&
         degraded->message.find(not_on_target_text) != std::string::npos;
}

}  // namespace

void membership::find(const k8s::node& node) {
  if (!draft_.pool.spec.node_selector.matches(node.meta.labels)) return;
  const bootc_node* object = objects_by_name_.find(node.meta.name);
  if (!object) {
    if (!node.meta.deleting()) join(node);
  } else if (draft_.owns(*object)) {
    member m;
    m.name = node.meta.name.str();
    m.node = &node;
    m.object = object;
    m.spec = object->spec;
    m.slotted = object->in_slot();
    if (draft_.goal.stages_at_once > 0 && is_fetching(*object, node)) ++fetching_;
    members_.push_back(std::move(m));
  } else if (object->meta.owner && object->meta.owner.kind == "BootcNodePool") {
    conflicting_pools_.push_back(object->meta.owner.name.str());
    draft_.hold_back(object->meta.name.str(), hold_code::conflict,
                     "it belongs to pool " + object->meta.owner.name.str(),
                     "the node stops matching one of the two pools");
  } else {
    unowned_.push_back(object->meta.name.str());
    draft_.hold_back(object->meta.name.str(), hold_code::conflict,
                     "a BootcNode of this name exists that no pool owns",
                     "kubectl delete bootcnode " + object->meta.name.str());
  }
}

void membership::join(const k8s::node& node) {
  member m;
  m.name = node.meta.name.str();
  m.node = &node;
  m.spec.desired_image = draft_.goal.pinned;
  m.spec.desired_state = image_state::staged;
  m.spec.pull_secret = draft_.pool.spec.pull_secret;
  m.spec.pull_secret_hash = hash_for(draft_.world, {});
  if (!draft_.is_braked()) {
    action& a = draft_.act(action_kind::create_node, m);
    a.staging = draft_.goal.staging;
    a.retarget = true;
    a.at = draft_.world.now;
    ++fetching_;
    if (!is_managed(node)) draft_.act(action_kind::label, m.name);
  }
  members_.push_back(std::move(m));
}

/// It was told of the pool's image and fetches it, or is about to. A node that cannot does not keep
/// the others from it: one that is not Ready, whose daemon reports an error, does nothing or has
/// never been there, or waits for a slot with it.
bool membership::is_fetching(const bootc_node& b, const k8s::node& node) {
  if (b.spec.desired_image != draft_.goal.pinned || !is_ready(node)) return false;
  const unit_state state = classify(b.status, draft_.goal.target.digest);
  if (state == unit_state::staging) return true;
  if (state != unit_state::pending) return false;
  const condition* idle = find_condition(b.status.conditions, node_condition::idle);
  if (idle && idle->message.find(stages_in_slot_text) != std::string::npos) return false;
  const auto since = time_of(b.annotation(names::desired_since));
  if (!since) return idle != nullptr;
  if (draft_.world.now >= *since + draft_.goal.stuck_after) return false;
  draft_.look_again(*since + draft_.goal.stuck_after);
  return true;
}

/// Whether a node that is to run another image may be told of it now. What it has already is not
/// fetched, and a node that holds a slot is disturbed anyway.
bool membership::may_fetch(const member& m) {
  if (draft_.goal.stages_at_once == 0 || m.slotted || m.approved()) return true;
  const bootc_node_status& has = m.object->status;
  for (const auto* entry : {&has.booted, &has.staged})
    if (*entry && is_image(**entry, draft_.goal.target.digest)) return true;
  if (fetching_ >= draft_.goal.stages_at_once) return false;
  ++fetching_;
  return true;
}

/// A new image withdraws an approval. So does a lost slot: without one no node may reboot, which is
/// all that is written while the brake is on.
void membership::sync(member& m) {
  if (!m.object) return;
  // After the spec, so that a daemon that comes with the label finds what to do.
  const bool differs = m.spec.desired_image != draft_.goal.pinned;
  const bool braked = draft_.is_braked();
  m.waits_to_stage = differs && !m.object->meta.deleting() && (braked || !may_fetch(m));
  const bool retarget = differs && !m.waits_to_stage;
  const bool lost_its_slot = m.approved() && !m.slotted;
  if (braked && (!lost_its_slot || m.object->meta.deleting())) return;
  const bool withdraws = retarget || m.spec.desired_state == image_state::unset || lost_its_slot;
  const bool same_ref = m.spec.pull_secret == draft_.pool.spec.pull_secret;
  const std::string hash =
      hash_for(draft_.world, same_ref ? m.spec.pull_secret_hash : std::string());
  const bool other_secret = !same_ref || hash != m.spec.pull_secret_hash;
  const auto staging = parse_staging_mode(m.annotation(names::stage).value_or("locked"));
  const bool other_staging = staging != draft_.goal.staging;
  if (!m.object->meta.deleting() && (other_secret || withdraws || other_staging)) {
    if (retarget) m.spec.desired_image = draft_.goal.pinned;
    m.spec.pull_secret = draft_.pool.spec.pull_secret;
    m.spec.pull_secret_hash = hash;
    if (withdraws) m.spec.desired_state = image_state::staged;
    action& a = draft_.act(action_kind::sync_spec, m);
    a.retarget = retarget;
    a.withdraws = lost_its_slot;
    a.staging = draft_.goal.staging;
    a.at = draft_.world.now;
  }
  if (!is_managed(*m.node) && !m.node->meta.deleting()) draft_.act(action_kind::label, m.name);
}

void membership::release_if_leaving(const bootc_node& b) {
  if (!draft_.owns(b)) return;
  const k8s::node* node = nodes_by_name_.find(b.meta.name);
  if (node && draft_.pool.spec.node_selector.matches(node->meta.labels)) return;
  if (draft_.is_braked()) return draft_.hold_for_brake(b.meta.name.str());
  release_node(draft_, b, node);
}

void release_node(draft& d, const bootc_node& object, const k8s::node* node) {
  const std::string name = object.meta.name.str();
  if (d.world.drains.contains(name)) d.act(action_kind::cancel_drain, name);
  if (node && !node->meta.deleting()) {
    if (object.annotation(names::was_cordoned) == "false" && node->unschedulable)
      d.act(action_kind::uncordon, name);
    d.unshield(name, *node,
               {object.annotation(names::owns_do_not_repair) == "true",
                object.annotation(names::owns_do_not_disrupt) == "true"});
    if (node->meta.labels.has(names::managed)) d.act(action_kind::unlabel, name);
  }
  if (!object.meta.deleting()) d.act(action_kind::delete_node, name).uid = object.meta.uid.text();
  d.hold_back(name, hold_code::leaving, "it no longer belongs to the pool",
              "its BootcNode is deleted");
}

void release_with_pool(draft& d, const bootc_node& b, const k8s::node* node) {
  if (d.is_braked()) return d.hold_for_brake(b.meta.name.str());
  const bool told = b.in_slot() && b.spec.desired_state == image_state::booted;
  if (told && node && !is_back(b, *node)) {
    const auto since =
        time_of(b.annotation(names::approved_at)).value_or(d.pool.meta.deletion_timestamp);
    // Without a limit too: a machine that is gone for good must not keep its pool from going.
    const auto patience = reboot_limit(d.pool.spec).value_or(default_reboot_limit);
    if (d.world.now < since + patience) {
      d.look_again(since + patience);
      d.hold_back(
          b.meta.name.str(), hold_code::rebooting,
          "the pool is being deleted, but this node was told to reboot and is not back",
          "the node is Ready after its reboot, or " + reactor::format_rfc3339(since + patience));
      return;
    }
  }
  release_node(d, b, node);
}

}  // namespace bootc::planning
