#include "bootc/rollout_planner.hpp"

#include "bootc/pool_status.hpp"
#include "bootc/rollout_pass.hpp"
#include "bootc/slots.hpp"

#include <algorithm>

namespace bootc::planning {

std::optional<wall_time> time_of(std::optional<std::string_view> annotation) {
  if (!annotation) return std::nullopt;
  auto parsed = reactor::parse_rfc3339(*annotation);
  if (!parsed) return std::nullopt;
  return *parsed;
}

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
  plan_.holds.push_back(
      hold{std::move(node), std::string(code), std::move(sentence), std::move(released_by)});
}

const k8s::node* pass::node_named(std::string_view name) const {
  const auto at = std::find_if(world_.nodes.begin(), world_.nodes.end(),
                               [&](const auto* n) { return n->meta.name == name; });
  return at == world_.nodes.end() ? nullptr : *at;
}

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
      h = {h.unit, std::string(hold_code::stale_cluster), "the view of its cluster is old",
           "the cluster answers again"};
  }
  return std::move(plan_);
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
    case action_kind::cancel_drain: return "cancel drain";
    case action_kind::start_drain: return "drain Node";
    case action_kind::approve: return "approve reboot";
  }
  return "";
}

rollout_plan plan_rollout(const pool_world& world) {
  return planning::pass(world).run();
}

}  // namespace bootc
