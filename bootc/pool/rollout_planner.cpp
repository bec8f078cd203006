#include "bootc/pool/rollout_planner.hpp"

#include "bootc/pool/pool_status.hpp"
#include "bootc/pool/rollout_pass.hpp"
#include "bootc/pool/slot_capacity.hpp"
#include "formats/digest.hpp"

#include <algorithm>
#include <limits>

namespace bootc::planning {

using registry::parse_image_ref;

std::optional<wall_time> time_of(std::optional<std::string_view> annotation) {
  if (!annotation) return std::nullopt;
  auto parsed = reactor::parse_rfc3339(*annotation);
  if (!parsed) return std::nullopt;
  return *parsed;
}

action& pass::act(action_kind kind, std::string node) {
  action& a = plan_.actions.emplace_back();
  a.kind = kind;
  if (writes_node(kind)) {
    const auto at = std::lower_bound(
        world_.nodes.begin(), world_.nodes.end(), node,
        [](const k8s::node* n, const std::string& name) { return n->meta.name < name; });
    if (at != world_.nodes.end() && (*at)->meta.name == node)
      a.resource_version = (*at)->meta.resource_version.text();
  }
  a.node = std::move(node);
  return a;
}

action& pass::act(action_kind kind, const member& m) {
  action& a = act(kind, m.name);
  a.slotted = m.slotted;
  a.resource_version = m.version();
  a.spec = m.spec;
  return a;
}

void pass::hold_back(std::string node, const hold_kind& kind, std::string sentence,
                     std::string released_by, std::string_view word) {
  if (!world_.other_operator.empty() && !world_.stale) {
    plan_.holds.push_back({std::move(node), std::string(hold_code::other_operator),
                           world_.other_operator + " works on this cluster: it keeps the Lease " +
                               std::string(names::lease),
                           "that operator ends, or its Lease does"});
    return;
  }
  // Nothing is decided on an old view, so nothing else holds anybody.
  plan_.holds.push_back(
      world_.stale
          ? hold{std::move(node), std::string(hold_code::stale_cluster),
                 "the view of its cluster is old", "the cluster answers again"}
          : hold{std::move(node),
                 std::string(kind.code) + (word.empty() ? std::string() : ":" + std::string(word)),
                 std::move(sentence), std::move(released_by)});
}

member* pass::member_named(std::string_view name) {
  const auto at = std::lower_bound(members_.begin(), members_.end(), name,
                                   [](const member& m, std::string_view n) { return m.name < n; });
  return at != members_.end() && at->name == name ? &*at : nullptr;
}

/// What a user may have got wrong. Checked as a whole before anything is touched.
bool pass::validate() {
  auto ref = parse_image_ref(pool_.spec.image_ref);
  if (!ref) {
    invalid_ = "invalid image ref \"" + pool_.spec.image_ref + "\": " + ref.error().detail;
    return false;
  }
  if (!pool_.spec.selector_problem.empty()) {
    invalid_ = "invalid nodeSelector: " + pool_.spec.selector_problem;
    return false;
  }
  if (const auto& secret = pool_.spec.pull_secret;
      secret && !world_.operator_ns.empty() && secret->ns != world_.operator_ns) {
    invalid_ = "invalid pullSecretRef: Secrets are read in namespace \"" + world_.operator_ns +
               "\" only, not in \"" + secret->ns + "\"";
    return false;
  }
  if (auto capacity = slot_capacity(pool_.spec, 0); !capacity) {
    invalid_ = capacity.error().detail;
    return false;
  }
  const auto on_failure = parse_failure_answer(pool_.spec.on_failure);
  if (!on_failure) {
    invalid_ = "invalid onFailure \"" + pool_.spec.on_failure + "\": it is Halt or Return";
    return false;
  }
  on_failure_ = *on_failure;
  read_annotations();
  target_ = *ref;
  if (target_.digest.empty() && !resolve()) return false;
  turn_back();
  pinned_ = target_.pinned(target_.digest);
  return true;
}

/// A target that halted its pool is left for the image before, for as long as the pool names it.
void pass::turn_back() {
  const node_pool_status& before = pool_.status;
  if (on_failure_ != failure_answer::go_back || before.failed_digest != target_.digest) return;
  const auto former = parse_image_ref(before.return_ref);
  if (!former || former->digest.empty() || former->digest == target_.digest) return;
  back_ = {before.failed_digest, before.return_ref};
  returning_ = true;
  target_ = *former;
}

/// One that is written wrongly counts as none, and is told of.
void pass::read_annotations() {
  const auto wrong = [&](std::string_view key, const char* wanted) {
    plan_.warnings.push_back(
        {"InvalidAnnotation", std::string(key) + " \"" +
                                  std::string(pool_.meta.annotations.get(key)) + "\" is not " +
                                  wanted});
  };
  const auto staging = pool_.staging();
  if (!staging) wrong(names::stage, "one of locked, unlocked, in-slot");
  staging_ = staging.value_or(staging_mode::locked);
  const auto at_once = pool_.stages_at_once();
  if (!at_once) wrong(names::stages_at_once, "a number above zero");
  stages_at_once_ = world_.assume_staged ? 0 : at_once.value_or(0);
  const auto stuck_after = pool_.stuck_after();
  if (!stuck_after) wrong(names::stuck_after, "a duration above zero, such as 10m");
  stuck_after_ = stuck_after.value_or(default_stuck_after);
}

/// By an operator of this API that resolves no tags. Its nodes run something else, so following the
/// tag would begin a rollout that no person has seen coming; the condition stays, and with it the
/// memory of that, until one agrees.
bool pass::was_refused_elsewhere() const {
  const condition* was = find_condition(pool_.status.conditions, pool_condition::degraded);
  return was && was->is_true() && was->reason == pool_reason::invalid_spec &&
         was->message.find(tags_not_supported_text) != std::string::npos &&
         was->message.find("\"" + pool_.spec.image_ref + "\"") != std::string::npos;
}

/// What a tag stands for. The answer for another reference never counts: a new repository with the
/// old digest would be an image that nobody asked for.
bool pass::resolve() {
  const node_pool_status& before = pool_.status;
  const std::string& ref = pool_.spec.image_ref;
  const bool manual = pool_.updates() == tag_updates::manual;
  // Other operators of this API do not write the reference down.
  const bool same = before.resolved_ref == ref ||
                    (before.resolved_ref.empty() && !before.next_tag_resolution_time.empty());
  // The target of a pool that is back on the image before is not what the tag names.
  const std::string& target =
      before.failed_digest.empty() ? before.target_digest : before.failed_digest;
  const std::string last = same ? target : std::string();
  const tag_resolution* tag = world_.tag && world_.tag->ref == ref ? &*world_.tag : nullptr;
  const std::string newest = tag ? tag->digest : std::string();
  tag_.ref = ref;
  tag_.approved = before.approved_digest;
  tag_.next = tag && tag->next ? reactor::format_rfc3339(*tag->next)
              : same           ? before.next_tag_resolution_time
                               : std::string();
  if (tag && !tag->error.empty()) {
    tag_.error = "cannot resolve \"" + ref + "\": " + tag->error;
  } else if (const condition* was = find_condition(before.conditions, pool_condition::degraded);
             newest.empty() && was && was->reason == pool_reason::tag_resolution_error &&
             (was->observed_generation == 0 || was->observed_generation == pool_.meta.generation)) {
    // This process has asked no registry yet, or only looks and asks none: what was published about
    // this reference counts.
    tag_.error = was->message;
  }
  std::string digest = manual && !last.empty() ? last : newest.empty() ? last : newest;
  if (const std::string approval(pool_.approval()); manual && !approval.empty()) {
    if (!formats::is_digest(approval))
      plan_.warnings.push_back(
          {"InvalidApproval", "bootc.dev/approve-digest \"" + approval + "\" is no sha256 digest"});
    else if (approval != before.approved_digest)
      digest = tag_.approved = approval;
  }
  if (manual && !digest.empty()) {
    const std::string& known = newest.empty() && same ? before.available_digest : newest;
    if (known != digest) tag_.available = known;
  }
  if (was_refused_elsewhere()) {
    if (digest.empty() || pool_.approval() != digest) {
      to_agree_ = "the annotation " + std::string(names::approve_digest) + " of the pool is " +
                  (digest.empty() ? "the digest that the tag names" : digest) +
                  ", or its image is edited";
      invalid_ = "image ref \"" + ref +
                 "\" has no digest, and the operator before Windlass refused " + "it (" +
                 std::string(tags_not_supported_text) + "); it is followed when " + to_agree_ +
                 (tag_.error.empty() ? "" : "; " + tag_.error);
      return false;
    }
    tag_.approved = digest;
  }
  target_.digest = digest;
  if (digest.empty())
    unresolved_ =
        tag_.error.empty() ? "the registry is asked what \"" + ref + "\" names" : tag_.error;
  return !digest.empty();
}

const std::vector<pass::walk> pass::rollout = {
    {&pass::nodes, &pass::find_member, &pass::end_of_holds},
    {&pass::members, &pass::sync},
    {&pass::objects, &pass::release_if_leaving, &pass::end_of_holds},
    {&pass::members, &pass::classify_member},
    {&pass::members, &pass::note_reboot_timeout},
    {&pass::members, &pass::note_stuck},
    {&pass::members, &pass::free_if_finished},
    {&pass::members, &pass::look_for_trouble, &pass::judge_halt},
    {&pass::members, &pass::count_slots, &pass::judge_slots},
    {&pass::members, &pass::note_waiting},
    {&pass::named, &pass::take_wish},
    {&pass::nodes, &pass::note_control_plane},
    {&pass::waiting, &pass::give_slot},
    {&pass::members, &pass::keep_cordoned},
    {&pass::members, &pass::start_drain},
    {&pass::members, &pass::explain},
    {&pass::members, &pass::count, &pass::finish},
};
const std::vector<pass::walk> pass::release = {
    {&pass::objects, &pass::release_with_pool, &pass::finish_release}};
const std::vector<pass::walk> pass::refusal = {
    {&pass::objects, &pass::refuse}, {&pass::nodes, &pass::refuse_newcomer, &pass::finish_refusal}};

/// Which walks the pool needs.
const std::vector<pass::walk>& pass::begin() {
  static const std::vector<walk> nothing;
  plan_.status = pool_.status;
  if (pool_.meta.deleting()) return only_looks() ? nothing : release;
  if (!validate()) return refusal;
  plan_.moves = true;
  if (!pool_.meta.has_finalizer(names::pool_cleanup))
    act(action_kind::add_finalizer, std::string());
  members_.reserve(world_.nodes.size());
  // To move tens of thousands would take as long as a whole turn may; what is never used costs
  // nothing.
  const std::size_t all = world_.nodes.size() + world_.bootc_nodes.size();
  if (all > 1'000) plan_.actions.reserve(3 * all);
  return rollout;
}

bool pass::advance(std::size_t steps) {
  if (!walks_) walks_ = &begin();
  for (; walk_ < walks_->size(); ++walk_, step_ = 0) {
    const walk& w = (*walks_)[walk_];
    for (const std::size_t last = (this->*w.count)(); step_ < last; ++step_) {
      if (steps-- == 0) return false;
      (this->*w.step)(step_);
    }
    if (w.end) (this->*w.end)();
  }
  return true;
}

void pass::refuse(std::size_t i) {
  const bootc_node& b = *world_.bootc_nodes[i];
  if (!owned(b)) return;
  hold_for_refusal(b.meta.name.str());
  show_waiting(b, nodes_by_name_.find(b.meta.name));
}

/// A node that the pool selects and that has no BootcNode yet: it waits for the same.
void pass::refuse_newcomer(std::size_t i) {
  const k8s::node& node = *world_.nodes[i];
  if (i == 0) {
    refused_units_ = plan_.units.size();
    refused_holds_ = plan_.holds.size();
  }
  if (!pool_.spec.selector_problem.empty() || node.meta.deleting() ||
      !pool_.spec.node_selector.matches(node.meta.labels) || objects_by_name_.find(node.meta.name))
    return;
  hold_for_refusal(node.meta.name.str());
  member m;
  m.name = node.meta.name.str();
  m.node = &node;
  counts_.add(m.state);
  show(m);
}

void pass::hold_for_refusal(std::string node) {
  if (unresolved_.empty())
    plan_.holds.push_back({std::move(node), std::string(hold_code::invalid_spec), invalid_,
                           to_agree_.empty() ? "the pool is corrected" : to_agree_});
  else
    plan_.holds.push_back({std::move(node), std::string(hold_code::tag_unresolved), unresolved_,
                           "the registry answers"});
}

void pass::finish_refusal() {
  const auto at = [](auto& all, std::size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
  };
  std::ranges::inplace_merge(plan_.units, at(plan_.units, refused_units_), {}, &unit::name);
  std::ranges::inplace_merge(plan_.holds, at(plan_.holds, refused_holds_), {}, &hold::unit);
  count_holds();
  plan_.status = unresolved_.empty()
                     ? status_with_invalid_spec(pool_, invalid_, plan_.held, world_.now)
                     : status_of_unresolved(pool_, tag_, plan_.held, world_.now);
  plan_.status_changed = !only_looks() && plan_.status != pool_.status;
}

void pass::finish() {
  finish_status();
  if (world_.policy.look_again) look_again(*world_.policy.look_again);
  plan_.status_changed = !only_looks() && plan_.status != pool_.status;
  if (only_looks()) plan_.actions.clear();
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

rollout_plan plan_rollout(const pool_world& world) {
  rollout_planning planning(world);
  while (!planning.advance(std::numeric_limits<std::size_t>::max())) continue;
  return planning.take();
}

}  // namespace bootc
