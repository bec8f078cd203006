// Longer than most files: the steps of one pass share its state, and reading them in their order is the point.
#include "bootc/rollout_planner.hpp"

#include "bootc/cluster_node.hpp"
#include "bootc/image_ref.hpp"
#include "bootc/names.hpp"
#include "bootc/pool_status.hpp"
#include "bootc/slots.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

namespace bootc {
namespace {

using reactor::wall_time;
using phase = drain_progress::phase;

std::optional<wall_time> time_of(std::optional<std::string_view> annotation) {
  if (!annotation) return std::nullopt;
  auto parsed = reactor::parse_rfc3339(*annotation);
  if (!parsed) return std::nullopt;
  return *parsed;
}

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

std::string in_words(wall_time t) {
  return reactor::format_rfc3339(t);
}

/// One owned BootcNode together with its Node, as it will be once the actions so far are carried out.
struct member {
  std::string name;
  const k8s::node* node = nullptr;
  const bootc_node* object = nullptr;  // null: created in this pass
  bootc_node_spec spec;
  unit_state state = unit_state::pending;
  bool slotted = false, fresh_slot = false, freed = false;
  std::string trouble;
  const drain_progress* drain = nullptr;

  bool approved() const { return spec.desired_state == image_state::booted; }
  std::string version() const {
    return object ? object->meta.resource_version.text() : std::string();
  }
  std::optional<std::string_view> annotation(std::string_view key) const {
    return object ? object->annotation(key) : std::nullopt;
  }
  bool was_schedulable() const { return annotation(names::was_cordoned) == "false"; }
};

class pass {
public:
  explicit pass(const pool_world& world) : world_(world), pool_(world.pool) {}
  rollout_plan run();

private:
  bool validate();
  void find_members();
  void release_leaving();
  void release(const bootc_node& object, const k8s::node* node);
  void join(const k8s::node& node);
  void sync(member& m);
  void release_pool();
  bool is_back(const bootc_node& object, const k8s::node& node) const;
  void classify_members();
  void settle_drain(member& m);
  void stop_after_timeout(member& m);
  void note_reboot_timeouts();
  void free_finished();
  void check_halt();
  void assign_slots();
  std::optional<hold> refuse_control_plane(const member& m);
  void keep_cordoned();
  void start_drains();
  void explain();
  void explain(const member& m);
  void explain_staged(const member& m);
  void finish_status();

  action& act(action_kind kind, std::string node);
  action& act(action_kind kind, const member& m);
  void hold_back(std::string node, std::string_view code, std::string sentence,
                 std::string released_by);
  void look_again(wall_time when) {
    if (when > world_.now && (!plan_.look_again || when < *plan_.look_again))
      plan_.look_again = when;
  }
  const k8s::node* node_named(std::string_view name) const;
  bool owned(const bootc_node& b) const {
    return b.meta.owner && b.meta.owner.uid == pool_.meta.uid;
  }

  const pool_world& world_;
  const node_pool& pool_;
  rollout_plan plan_;
  image_ref target_;
  std::vector<member> members_;
  std::vector<std::string> conflicting_pools_, unowned_;
  std::map<std::string, hold, std::less<>> refused_;  // staged, but not this time: why
  std::vector<std::string> unhealthy_;
  std::string invalid_;
};

action& pass::act(action_kind kind, std::string node) {
  action& a = plan_.actions.emplace_back();
  a.kind = kind;
  a.node = std::move(node);
  return a;
}

action& pass::act(action_kind kind, const member& m) {
  action& a = act(kind, m.name);
  a.resource_version = m.version();
  a.spec = m.spec;
  return a;
}

void pass::hold_back(std::string node, std::string_view code, std::string sentence,
                     std::string released_by) {
  plan_.holds.push_back(hold{std::move(node), code, std::move(sentence), std::move(released_by)});
}

const k8s::node* pass::node_named(std::string_view name) const {
  const auto at = std::find_if(world_.nodes.begin(), world_.nodes.end(),
                               [&](const auto* n) { return n->meta.name == name; });
  return at == world_.nodes.end() ? nullptr : *at;
}

// ---- the pool itself -------------------------------------------------------------------------------------------------

/// What a user may have got wrong. Checked as a whole before anything is touched.
bool pass::validate() {
  auto ref = parse_image_ref(pool_.spec.image_ref);
  if (!ref) {
    invalid_ = "invalid image ref \"" + pool_.spec.image_ref + "\": " + ref.error().detail;
    return false;
  }
  // Tags are resolved here, once registries are asked: an empty digest is then a question, not an error.
  if (ref->digest.empty()) {
    invalid_ = "image ref \"" + pool_.spec.image_ref +
               "\" has no digest (tag resolution not yet supported)";
    return false;
  }
  if (!pool_.spec.selector_problem.empty()) {
    invalid_ = "invalid nodeSelector: " + pool_.spec.selector_problem;
    return false;
  }
  if (auto capacity = slot_capacity(pool_.spec, 0); !capacity) {
    invalid_ = capacity.error().detail;
    return false;
  }
  target_ = *ref;
  return true;
}

/// A deleted pool lets its nodes go: at once those that were not told to boot, the others when they are back.
void pass::release_pool() {
  bool waiting = false;
  for (const bootc_node* b : world_.bootc_nodes) {
    if (!owned(*b)) continue;
    waiting = true;
    const k8s::node* node = node_named(b->meta.name);
    const bool told = b->in_slot() && b->spec.desired_state == image_state::booted;
    if (told && node && !is_back(*b, *node)) {
      const auto since =
          time_of(b->annotation(names::approved_at)).value_or(pool_.meta.deletion_timestamp);
      const auto patience =
          pool_.spec.reboot_timeout_seconds
              ? reactor::nanoseconds(std::chrono::seconds(*pool_.spec.reboot_timeout_seconds))
              : default_reboot_wait;
      if (world_.now < since + patience) {
        look_again(since + patience);
        hold_back(b->meta.name.str(), hold_code::rebooting,
                  "the pool is being deleted, but this node was told to reboot and is not back",
                  "the node is Ready after its reboot, or " + in_words(since + patience));
        continue;
      }
    }
    release(*b, node);
  }
  if (!waiting && pool_.meta.has_finalizer(names::pool_cleanup))
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

// ---- membership ------------------------------------------------------------------------------------------------------

void pass::find_members() {
  std::map<std::string_view, const bootc_node*> by_name;
  for (const bootc_node* b : world_.bootc_nodes) by_name.emplace(b->meta.name.view(), b);
  for (const k8s::node* node : world_.nodes) {
    if (!pool_.spec.node_selector.matches(node->meta.labels)) continue;
    const auto found = by_name.find(node->meta.name.view());
    if (found == by_name.end()) {
      if (!node->meta.deleting()) join(*node);
      continue;
    }
    const bootc_node& object = *found->second;
    if (owned(object)) {
      member m;
      m.name = node->meta.name.str();
      m.node = node;
      m.object = &object;
      m.spec = object.spec;
      m.slotted = object.in_slot();
      members_.push_back(std::move(m));
    } else if (object.meta.owner && object.meta.owner.kind == "BootcNodePool") {
      conflicting_pools_.push_back(object.meta.owner.name.str());
      hold_back(object.meta.name.str(), hold_code::conflict,
                "it belongs to pool " + object.meta.owner.name.str(),
                "the node stops matching one of the two pools");
    } else {
      unowned_.push_back(object.meta.name.str());
      hold_back(object.meta.name.str(), hold_code::conflict,
                "a BootcNode of this name exists that no pool owns",
                "kubectl delete bootcnode " + object.meta.name.str());
    }
  }
  std::sort(members_.begin(), members_.end(),
            [](const member& a, const member& b) { return a.name < b.name; });
  for (member& m : members_) sync(m);
}

void pass::join(const k8s::node& node) {
  member m;
  m.name = node.meta.name.str();
  m.node = &node;
  m.spec.desired_image = target_.pinned(target_.digest);
  m.spec.desired_state = image_state::staged;
  m.spec.pull_secret = pool_.spec.pull_secret;
  act(action_kind::create_node, m);
  if (!is_managed(node)) act(action_kind::label, m.name);
  members_.push_back(std::move(m));
}

/// A new image withdraws an approval. So does a lost slot: without one nobody may reboot.
void pass::sync(member& m) {
  if (!m.object) return;
  // After the spec, so that a daemon that comes with the label finds what to do.
  bootc_node_spec wanted = m.spec;
  wanted.desired_image = target_.pinned(target_.digest);
  wanted.pull_secret = pool_.spec.pull_secret;
  if (!wanted.pull_secret) wanted.pull_secret_hash.clear();
  const bool retarget = wanted.desired_image != m.spec.desired_image;
  if (retarget || wanted.desired_state == image_state::unset || (m.approved() && !m.slotted))
    wanted.desired_state = image_state::staged;
  if (!m.object->meta.deleting() && wanted != m.spec) {
    m.spec = wanted;
    act(action_kind::sync_spec, m).retarget = retarget;
  }
  if (!is_managed(*m.node) && !m.node->meta.deleting()) act(action_kind::label, m.name);
}

void pass::release_leaving() {
  for (const bootc_node* b : world_.bootc_nodes) {
    if (!owned(*b)) continue;
    const k8s::node* node = node_named(b->meta.name);
    if (node && pool_.spec.node_selector.matches(node->meta.labels)) continue;
    release(*b, node);
  }
}

void pass::release(const bootc_node& object, const k8s::node* node) {
  const std::string name = object.meta.name.str();
  if (world_.drains.contains(name)) act(action_kind::cancel_drain, name);
  if (node && !node->meta.deleting()) {
    if (object.annotation(names::was_cordoned) == "false" && node->unschedulable)
      act(action_kind::uncordon, name);
    if (node->meta.labels.has(names::managed)) act(action_kind::unlabel, name);
  }
  if (!object.meta.deleting()) act(action_kind::delete_node, name).uid = object.meta.uid.text();
  hold_back(name, hold_code::leaving, "it no longer belongs to the pool",
            "its BootcNode is deleted");
}

// ---- where everybody is ----------------------------------------------------------------------------------------------

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

// ---- slots -----------------------------------------------------------------------------------------------------------

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
      return hold{m.name, hold_code::control_plane,
                  "control-plane node " + name + " holds a reboot slot",
                  name + " is back and Ready"};
    if (!is_ready(*n))
      return hold{m.name, hold_code::control_plane, "control-plane node " + name + " is not Ready",
                  name + " is Ready"};
  }
  if (others == 0)
    plan_.warnings.push_back(
        {"SingleControlPlane",
         m.name + " is the only control-plane node: the API is away while it reboots"});
  return std::nullopt;
}

void pass::assign_slots() {
  const std::size_t count = members_.size();
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

// ---- what people read ------------------------------------------------------------------------------------------------

void pass::explain_staged(const member& m) {
  if (m.slotted && !m.approved()) {
    if (plan_.halted && (!m.drain || m.drain->state != phase::running))
      return hold_back(m.name, hold_code::halted,
                       "it holds a slot, but the rollout is halted: " + joined(unhealthy_),
                       "fewer than 2 unhealthy nodes hold slots");
    if (m.drain && m.drain->state == phase::failed)
      return hold_back(m.name, hold_code::drain_failed, "its drain failed: " + m.drain->detail,
                       "the next attempt at " + in_words(m.drain->retry_at));
    if (m.drain && !m.drain->blocked.empty())
      return hold_back(m.name, hold_code::pdb,
                       "a disruption budget refuses to evict " + joined(m.drain->blocked),
                       "the budget allows one more disruption");
    const std::string left =
        m.drain ? std::to_string(m.drain->pods_left) + " pods are left" : "it begins now";
    return hold_back(m.name, hold_code::draining, "it is being drained, " + left,
                     "its pods are gone");
  }
  if (m.approved())
    return hold_back(m.name, hold_code::rebooting, "told to boot " + m.spec.desired_image,
                     "it reports the new image and is Ready");
  if (const auto refused = refused_.find(m.name); refused != refused_.end()) {
    plan_.holds.push_back(refused->second);
    return;
  }
  if (m.trouble == "drain timed out") {
    const auto retry = time_of(m.annotation(names::drain_retry_at));
    return hold_back(
        m.name, hold_code::drain_timeout, "its drain took longer than drainTimeoutSeconds",
        retry && !m.freed ? "the next attempt at " + in_words(*retry) : "the next attempt");
  }
  if (pool_.spec.paused)
    return hold_back(m.name, hold_code::paused, "the pool is paused",
                     "spec.rollout.paused is false");
  if (plan_.halted)
    return hold_back(m.name, hold_code::halted, "the rollout is halted: " + joined(unhealthy_),
                     "fewer than 2 unhealthy nodes hold slots");
  if (world_.policy.is == policy_answer::kind::failed)
    return hold_back(m.name, hold_code::policy_fault, "the policy failed: " + world_.policy.detail,
                     "the policy is corrected");
  if (world_.policy.is == policy_answer::kind::given &&
      std::find(world_.policy.start.begin(), world_.policy.start.end(), m.name) ==
          world_.policy.start.end()) {
    const auto reason = world_.policy.holds.find(m.name);
    return hold_back(
        m.name, hold_code::policy,
        reason != world_.policy.holds.end() ? reason->second : "the policy has not chosen it",
        world_.policy.look_again
            ? "the policy is asked again at " + in_words(*world_.policy.look_again)
            : "the policy chooses it");
  }
  if (plan_.capacity == 0)
    return hold_back(m.name, hold_code::slot_full, "maxUnavailable allows no node",
                     "spec.rollout.maxUnavailable is raised");
  hold_back(m.name, hold_code::slot_full,
            std::to_string(plan_.occupied) + " of " + std::to_string(plan_.capacity) +
                " reboot slots are taken",
            "a node in a slot is updated and Ready");
}

void pass::explain(const member& m) {
  if (m.fresh_slot && m.state == unit_state::staged) return;  // it goes now
  if (m.fresh_slot && world_.assume_staged) return;
  switch (m.state) {
    case unit_state::up_to_date:
      if (m.slotted)
        hold_back(m.name, hold_code::not_ready, "it runs the image, but the Node is not Ready",
                  "the Node is Ready");
      return;
    case unit_state::degraded: {
      const condition* why =
          m.object ? find_condition(m.object->status.conditions, node_condition::degraded)
                   : nullptr;
      return hold_back(m.name, hold_code::degraded,
                       why && !why->message.empty() ? why->message : "its daemon reports an error",
                       "its daemon reports Degraded=False");
    }
    case unit_state::rebooting:
      if (!m.trouble.empty())
        return hold_back(m.name, hold_code::reboot_timeout,
                         "it is not back after rebootTimeoutSeconds",
                         "it reports the new image and is Ready");
      return hold_back(m.name, hold_code::rebooting, "it reboots into " + m.spec.desired_image,
                       "it reports the new image and is Ready");
    case unit_state::staged: return explain_staged(m);
    case unit_state::pending:
    case unit_state::staging:
      if (world_.assume_staged) return explain_staged(m);
      if (!m.object || (m.object->status.conditions.empty() && !m.object->status.booted))
        return hold_back(m.name, hold_code::no_daemon, "no daemon has reported for it yet",
                         "its daemon publishes a status");
      return hold_back(m.name, hold_code::staging, "its daemon fetches " + m.spec.desired_image,
                       "it reports the image as staged");
    case unit_state::unclassified:
      return hold_back(m.name, hold_code::invalid_spec, "its desired image cannot be read",
                       "the BootcNode is corrected");
  }
}

void pass::explain() {
  for (const member& m : members_) {
    unit u;
    u.name = m.name;
    u.state = m.state;
    u.slotted = m.slotted;
    u.approved = m.approved();
    u.starting = m.fresh_slot;
    u.control_plane = is_control_plane(*m.node);
    u.ready = is_ready(*m.node);
    u.trouble = m.trouble;
    u.desired_image = m.spec.desired_image;
    u.labels = m.node->meta.labels;
    if (m.object && m.object->status.booted) {
      u.booted_image = m.object->status.booted->image;
      u.booted_digest = m.object->status.booted->digest;
    }
    if (m.object)
      if (const condition* why =
              find_condition(m.object->status.conditions, node_condition::degraded))
        u.message = why->message;
    plan_.units.push_back(std::move(u));
    explain(m);
  }
  std::sort(plan_.holds.begin(), plan_.holds.end(), [](const hold& a, const hold& b) {
    return std::tie(a.node, a.code) < std::tie(b.node, b.code);
  });
}

void pass::finish_status() {
  pool_findings found;
  found.target_digest = target_.digest;
  std::vector<std::string> degraded;
  for (const member& m : members_) {
    found.counts.add(m.trouble.empty() ? m.state : unit_state::degraded);
    if (m.state == unit_state::degraded)
      degraded.push_back(m.name);
    else if (!m.trouble.empty())
      degraded.push_back(m.name + " (" + m.trouble + ")");
  }
  found.counts.occupied = plan_.occupied;
  if (!degraded.empty())
    found.degradations.push_back(
        {pool_reason::node_degraded, "Degraded nodes: " + joined(degraded)});
  if (!conflicting_pools_.empty() || !unowned_.empty()) {
    std::set<std::string> pools(conflicting_pools_.begin(), conflicting_pools_.end());
    std::string message;
    if (!pools.empty())
      message = "Node selector overlaps with pool(s): " + joined({pools.begin(), pools.end()});
    if (!unowned_.empty())
      message +=
          (message.empty() ? "" : "; ") + ("BootcNode(s) that no pool owns: " + joined(unowned_));
    found.degradations.push_back({pool_reason::node_conflict, std::move(message)});
  }
  if (plan_.halted)
    found.degradations.push_back(
        {pool_reason::rollout_halted,
         "Rollout halted: 2+ unhealthy nodes in reboot slots (" + joined(unhealthy_) + ")"});
  plan_.status = status_after(pool_, found, world_.now);
}

rollout_plan pass::run() {
  plan_.status = pool_.status;
  if (pool_.meta.deleting()) {
    if (!world_.stale) release_pool();
    return std::move(plan_);
  }
  if (!validate()) {
    plan_.status = status_with_invalid_spec(pool_, invalid_, world_.now);
    plan_.status_changed = !world_.stale && plan_.status != pool_.status;
    for (const bootc_node* b : world_.bootc_nodes)
      if (owned(*b))
        hold_back(b->meta.name.str(), hold_code::invalid_spec, invalid_, "the pool is corrected");
    return std::move(plan_);
  }
  if (!pool_.meta.has_finalizer(names::pool_cleanup))
    act(action_kind::add_finalizer, std::string());
  find_members();
  release_leaving();
  classify_members();
  for (member& m : members_) settle_drain(m);
  note_reboot_timeouts();
  free_finished();
  check_halt();
  assign_slots();
  keep_cordoned();
  start_drains();
  explain();
  finish_status();
  if (world_.policy.look_again) look_again(*world_.policy.look_again);
  plan_.status_changed = plan_.status != pool_.status;
  if (world_.stale) {
    plan_.actions.clear();
    plan_.status_changed = false;
    for (hold& h : plan_.holds)
      h = {h.node, hold_code::stale_cluster, "the view of its cluster is old",
           "the cluster answers again"};
  }
  return std::move(plan_);
}

}  // namespace

std::string_view text(action_kind k) noexcept {
  switch (k) {
    case action_kind::add_finalizer: return "add finalizer";
    case action_kind::remove_finalizer: return "remove finalizer";
    case action_kind::create_node: return "create BootcNode";
    case action_kind::sync_spec: return "set desired image";
    case action_kind::delete_node: return "delete BootcNode";
    case action_kind::label: return "label Node";
    case action_kind::unlabel: return "unlabel Node";
    case action_kind::uncordon: return "uncordon Node";
    case action_kind::free_slot: return "free slot";
    case action_kind::note_drain_timeout: return "free slot after a drain timed out";
    case action_kind::take_slot: return "take slot";
    case action_kind::cordon: return "cordon Node";
    case action_kind::cancel_drain: return "cancel drain";
    case action_kind::start_drain: return "drain Node";
    case action_kind::approve: return "approve reboot";
  }
  return "";
}

rollout_plan plan_rollout(const pool_world& world) {
  return pass(world).run();
}

}  // namespace bootc
