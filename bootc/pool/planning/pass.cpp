#include "bootc/pool/planning/pass.hpp"

#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/planning/member_steps.hpp"
#include "bootc/pool/pool_status.hpp"
#include "bootc/pool/rollout_planner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace bootc::planning {

namespace {

constexpr reactor::pausable::step next{};
constexpr void (*before_slots[])(draft&, member&) = {classify_member, note_reboot_timeout,
                                                     note_stuck, free_if_finished};
constexpr void (*after_slots[])(draft&, const member&) = {keep_cordoned, start_drain};

std::ptrdiff_t offset(std::size_t i) {
  return static_cast<std::ptrdiff_t>(i);
}

/// Whether the node holds a slot, as far as this pass has come, whatever pool it is in.
bool holds_slot(const pool_world& world, std::vector<member>& members, const k8s::node& n) {
  const auto& name = n.meta.name;
  if (const member* ours = member_named(members, name.view())) return ours->slotted;
  const auto object =
      std::lower_bound(world.bootc_nodes.begin(), world.bootc_nodes.end(), name,
                       [](const bootc_node* b, const auto& of) { return b->meta.name < of; });
  return object != world.bootc_nodes.end() && (*object)->meta.name == name && (*object)->in_slot();
}

}  // namespace

/// The loops that the pool needs.
reactor::pausable pass::begin() {
  if (draft_.pool.meta.deleting()) return release();
  if (auto why = read_goal(draft_.world, draft_.goal, draft_.plan.warnings))
    return refuse(*std::move(why));
  draft_.plan.moves = true;
  if (!draft_.pool.meta.has_finalizer(names::pool_cleanup) && !draft_.is_braked())
    draft_.act(action_kind::add_finalizer, std::string());
  return rollout();
}

reactor::pausable pass::rollout() {
  const pool_world& world = draft_.world;
  std::vector<member>& members = members_.members();
  members.reserve(world.nodes.size());
  // To move tens of thousands would take as long as a whole turn may; what is never used costs
  // nothing.
  const std::size_t all = world.nodes.size() + world.bootc_nodes.size();
  if (all > 1'000) draft_.plan.actions.reserve(3 * all);

  for (const k8s::node* node : world.nodes) {
    co_await next;
    members_.find(*node);
  }
  told_.end_of_holds();
  for (member& m : members) {
    co_await next;
    members_.sync(m);
  }
  for (const bootc_node* object : world.bootc_nodes) {
    co_await next;
    members_.release_if_leaving(*object);
  }
  told_.end_of_holds();
  in_order<bootc_node> objects(world.bootc_nodes);
  for (const k8s::node* node : world.nodes) {
    co_await next;
    skew_.look_at(draft_, *node, objects.find(node->meta.name));
  }
  skew_.judge(draft_);
  for (member& m : members) {
    co_await next;
    skew_.judge(draft_, m);
  }
  for (const auto step : before_slots)
    for (member& m : members) {
      co_await next;
      step(draft_, m);
    }
  for (const member& m : members) {
    co_await next;
    halt_.look_at(draft_, m);
  }
  halt_.judge(draft_, members);
  for (const member& m : members) {
    co_await next;
    slots_.count(draft_, m);
  }
  slots_.judge(draft_, members.size());
  for (member& m : members) {
    co_await next;
    slots_.note_waiting(draft_, m);
  }
  if (world.policy.is == policy_answer::kind::given)
    for (const std::string& name : world.policy.start) {
      co_await next;
      if (member* m = member_named(members, name)) slots_.name(*m);
    }
  for (const k8s::node* node : world.nodes) {
    co_await next;
    if (slots_.waiting().empty() || !is_control_plane(*node)) continue;
    if (holds_slot(world, members, *node))
      quorum_.note_slotted(*node);
    else
      quorum_.note(*node);
  }
  for (member* m : slots_.waiting()) {
    co_await next;
    slots_.give(draft_, quorum_, *m);
  }
  for (const auto step : after_slots)
    for (const member& m : members) {
      co_await next;
      step(draft_, m);
    }
  draft_.plan.units.reserve(members.size());
  draft_.plan.holds.reserve(draft_.plan.holds.size() + members.size());
  for (const member& m : members) {
    co_await next;
    told_.add(m, {members_, halt_, quorum_, skew_});
  }
  for (const member& m : members) {
    co_await next;
    told_.count(m);
  }
  told_.finish_status(members_, halt_);
  tell_override();
  if (world.policy.look_again) draft_.look_again(*world.policy.look_again);
  draft_.plan.status_changed = !draft_.only_looks() && draft_.plan.status != draft_.pool.status;
  if (draft_.only_looks()) draft_.plan.actions.clear();
}

/// Says that an order overrides what holds the pool, or why it does not; one that is done goes.
void pass::tell_override() {
  const pool_world& world = draft_.world;
  rollout_plan& plan = draft_.plan;
  if (draft_.is_braked() && !world.override_void.empty())
    plan.warnings.push_back(
        {"OverrideVoid", "the order to override the brake does nothing: " + world.override_void});
  if (world.overrides.empty()) return;
  plan.warnings.push_back({"BrakeOverridden", world.overrides});
  const bool is_done =
      plan.counts.up_to_date == plan.units.size() &&
      std::ranges::none_of(plan.actions, [](const action& a) { return begins(a); });
  if (is_done && !plan.units.empty()) draft_.act(action_kind::end_override, std::string());
}

reactor::pausable pass::release() {
  if (draft_.only_looks()) co_return;
  in_order<k8s::node> nodes(draft_.world.nodes);
  bool has_members = false;
  for (const bootc_node* object : draft_.world.bootc_nodes) {
    co_await next;
    if (!draft_.owns(*object)) continue;
    has_members = true;
    const k8s::node* node = nodes.find(object->meta.name);
    release_with_pool(draft_, *object, node);
    told_.add_waiting(*object, node);
  }
  told_.count_holds();
  if (!has_members && !draft_.is_braked() && draft_.pool.meta.has_finalizer(names::pool_cleanup))
    draft_.act(action_kind::remove_finalizer, std::string());
}

reactor::pausable pass::refuse(refusal why) {
  const pool_world& world = draft_.world;
  rollout_plan& plan = draft_.plan;
  const auto hold_back = [&plan, &why](std::string node) {
    plan.holds.push_back(
        {std::move(node), std::string(why.kind.code), why.sentence, why.released_by});
  };
  in_order<k8s::node> nodes(world.nodes);
  for (const bootc_node* object : world.bootc_nodes) {
    co_await next;
    if (!draft_.owns(*object)) continue;
    hold_back(object->meta.name.str());
    told_.add_waiting(*object, nodes.find(object->meta.name));
  }
  const std::size_t units = plan.units.size(), holds = plan.holds.size();
  in_order<bootc_node> objects(world.bootc_nodes);
  for (const k8s::node* node : world.nodes) {
    co_await next;
    if (!draft_.pool.spec.selector_problem.empty() || node->meta.deleting() ||
        !draft_.pool.spec.node_selector.matches(node->meta.labels) || objects.find(node->meta.name))
      continue;
    hold_back(node->meta.name.str());
    told_.add_newcomer(*node);
  }
  std::ranges::inplace_merge(plan.units, plan.units.begin() + offset(units), {}, &unit::name);
  std::ranges::inplace_merge(plan.holds, plan.holds.begin() + offset(holds), {}, &hold::unit);
  told_.count_holds();
  plan.status = why.kind.code == hold_code::tag_unresolved.code
                    ? status_of_unresolved(draft_.pool, draft_.goal.tag, plan.held, world.now)
                    : status_with_invalid_spec(draft_.pool, why.sentence, plan.held, world.now);
  plan.status_changed = !draft_.only_looks() && plan.status != draft_.pool.status;
}

bool pass::give_back(std::size_t nodes) {
  std::vector<member>& all = members_.members();
  all.erase(all.end() - offset(std::min(nodes, all.size())), all.end());
  return all.empty();
}

}  // namespace bootc::planning

namespace bootc {

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
    case action_kind::shield: return "keep Karpenter off Node";
    case action_kind::unshield: return "give Node back to Karpenter";
    case action_kind::cancel_drain: return "cancel drain";
    case action_kind::start_drain: return "drain Node";
    case action_kind::end_override: return "end the override of the brake";
    case action_kind::approve: return "approve reboot";
    case action_kind::note_approval: return "note approval";
  }
  return "";
}

rollout_planning::rollout_planning(const pool_world& world)
    : pass_(std::make_unique<planning::pass>(world)) {}
rollout_planning::~rollout_planning() = default;

bool rollout_planning::advance(std::size_t steps) {
  return pass_->advance(steps);
}

rollout_plan rollout_planning::take() {
  return pass_->take();
}

bool rollout_planning::give_back(std::size_t nodes) {
  return pass_->give_back(nodes);
}

bool writes_node(action_kind k) noexcept {
  switch (k) {
    case action_kind::label:
    case action_kind::unlabel:
    case action_kind::uncordon:
    case action_kind::cordon:
    case action_kind::shield:
    case action_kind::unshield: return true;
    default: return false;
  }
}

bool begins(const action& a) noexcept {
  switch (a.kind) {
    case action_kind::add_finalizer:
    case action_kind::remove_finalizer:
    case action_kind::create_node:
    case action_kind::delete_node:
    case action_kind::label:
    case action_kind::unlabel:
    case action_kind::take_slot:
    case action_kind::start_drain:
    case action_kind::approve: return true;
    case action_kind::sync_spec: return a.retarget || !a.withdraws;
    case action_kind::uncordon:
    case action_kind::free_slot:
    case action_kind::note_drain_timeout:
    case action_kind::cordon:
    case action_kind::shield:
    case action_kind::unshield:
    case action_kind::cancel_drain:
    case action_kind::end_override:
    case action_kind::note_approval: return false;
  }
  return true;
}

rollout_plan plan_rollout(const pool_world& world) {
  rollout_planning planning(world);
  while (!planning.advance(std::numeric_limits<std::size_t>::max())) continue;
  return planning.take();
}

}  // namespace bootc
