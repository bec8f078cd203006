#include "bootc/pool/planning/goal.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "bootc/pool/slot_capacity.hpp"
#include "formats/digest.hpp"
#include "reactor/plain/printable.hpp"

#include <utility>

namespace bootc::planning {
namespace {

using registry::parse_image_ref;

/// A message of a status has 32 KiB, and an address that a registry redirects to may have more.
constexpr std::size_t most_error_bytes = 2'048;

refusal invalid(std::string why) {
  return {hold_code::invalid_spec, std::move(why), "the pool is corrected"};
}

/// A target that halted its pool is left for the image before, for as long as the pool names it.
void turn_back(const node_pool_status& before, goal& out) {
  if (out.on_failure != failure_answer::go_back || before.failed_digest != out.target.digest)
    return;
  const auto former = parse_image_ref(before.return_ref);
  if (!former || former->digest.empty() || former->digest == out.target.digest) return;
  out.back = {before.failed_digest, before.return_ref};
  out.returning = true;
  out.target = *former;
}

/// One that is written wrongly counts as none, and is told of.
void read_annotations(const pool_world& world, goal& out, std::vector<warning>& warnings) {
  const node_pool& pool = world.pool;
  const auto wrong = [&](std::string_view key, const char* wanted) {
    warnings.push_back({"InvalidAnnotation", std::string(key) + " \"" +
                                                 std::string(pool.meta.annotations.get(key)) +
                                                 "\" is not " + wanted});
  };
  const auto staging = pool.staging();
  if (!staging) wrong(names::stage, "one of locked, unlocked, in-slot");
  out.staging = staging.value_or(staging_mode::locked);
  const auto at_once = pool.stages_at_once();
  if (!at_once) wrong(names::stages_at_once, "a number above zero");
  out.stages_at_once = world.assume_staged ? 0 : at_once.value_or(0);
  const auto stuck_after = pool.stuck_after();
  if (!stuck_after) wrong(names::stuck_after, "a duration above zero, such as 10m");
  out.stuck_after = stuck_after.value_or(default_stuck_after);
}

/// By an operator of this API that resolves no tags. Its nodes run something else, so following the
/// tag would begin a rollout that no person has seen coming; the condition stays, and with it the
/// memory of that, until one agrees.
bool was_refused_elsewhere(const node_pool& pool) {
  const condition* was = find_condition(pool.status.conditions, pool_condition::degraded);
  return was && was->is_true() && was->reason == pool_reason::invalid_spec &&
         was->message.find(tags_not_supported_text) != std::string::npos &&
         was->message.find("\"" + pool.spec.image_ref + "\"") != std::string::npos;
}

/// What a tag stands for. The answer for another reference never counts: a new repository with the
/// old digest would be an image that was not asked for.
std::optional<refusal> resolve(const pool_world& world, goal& out, std::vector<warning>& warnings) {
  const node_pool& pool = world.pool;
  tag_findings& found = out.tag;
  const node_pool_status& before = pool.status;
  const std::string& ref = pool.spec.image_ref;
  const bool manual = pool.updates() == tag_updates::manual;
  // Other operators of this API do not write the reference down.
  const bool same = before.resolved_ref == ref ||
                    (before.resolved_ref.empty() && !before.next_tag_resolution_time.empty());
  // The target of a pool that is back on the image before is not what the tag names.
  const std::string& target =
      before.failed_digest.empty() ? before.target_digest : before.failed_digest;
  const std::string last = same ? target : std::string();
  const tag_resolution* tag = world.tag && world.tag->ref == ref ? &*world.tag : nullptr;
  const std::string newest = tag ? tag->digest : std::string();
  found.ref = ref;
  found.approved = before.approved_digest;
  found.next = tag && tag->next ? reactor::format_rfc3339(*tag->next)
               : same           ? before.next_tag_resolution_time
                                : std::string();
  if (tag && !tag->error.empty()) {
    found.error =
        "cannot resolve \"" + ref + "\": " + reactor::printable(tag->error, most_error_bytes);
  } else if (const condition* was = find_condition(before.conditions, pool_condition::degraded);
             newest.empty() && was && was->reason == pool_reason::tag_resolution_error &&
             (was->observed_generation == 0 || was->observed_generation == pool.meta.generation)) {
    // This process has asked no registry yet, or only looks and asks none: what was published about
    // this reference counts.
    found.error = was->message;
  }
  std::string digest = manual && !last.empty() ? last : newest.empty() ? last : newest;
  if (const std::string approval(pool.approval()); manual && !approval.empty()) {
    if (!formats::is_digest(approval))
      warnings.push_back(
          {"InvalidApproval", "bootc.dev/approve-digest \"" + approval + "\" is no sha256 digest"});
    else if (approval != before.approved_digest)
      digest = found.approved = approval;
  }
  if (manual && !digest.empty()) {
    const std::string& known = newest.empty() && same ? before.available_digest : newest;
    if (known != digest) found.available = known;
  }
  if (was_refused_elsewhere(pool)) {
    if (digest.empty() || pool.approval() != digest) {
      const std::string to_agree =
          "the annotation " + std::string(names::approve_digest) + " of the pool is " +
          (digest.empty() ? "the digest that the tag names" : digest) + ", or its image is edited";
      return refusal{hold_code::invalid_spec,
                     "image ref \"" + ref +
                         "\" has no digest, and the operator before Windlass refused it (" +
                         std::string(tags_not_supported_text) + "); it is followed when " +
                         to_agree + (found.error.empty() ? "" : "; " + found.error),
                     to_agree};
    }
    found.approved = digest;
  }
  out.target.digest = digest;
  if (!digest.empty()) return std::nullopt;
  return refusal{
      hold_code::tag_unresolved,
      found.error.empty() ? "the registry is asked what \"" + ref + "\" names" : found.error,
      "the registry answers"};
}

}  // namespace

std::optional<refusal> read_goal(const pool_world& world, goal& out,
                                 std::vector<warning>& warnings) {
  const node_pool_spec& spec = world.pool.spec;
  auto ref = parse_image_ref(spec.image_ref);
  if (!ref) return invalid("invalid image ref \"" + spec.image_ref + "\": " + ref.error().detail);
  if (!spec.selector_problem.empty())
    return invalid("invalid nodeSelector: " + spec.selector_problem);
  if (const auto& secret = spec.pull_secret;
      secret && !world.operator_ns.empty() && secret->ns != world.operator_ns)
    return invalid("invalid pullSecretRef: Secrets are read in namespace \"" + world.operator_ns +
                   "\" only, not in \"" + secret->ns + "\"");
  if (auto capacity = slot_capacity(spec, 0); !capacity) return invalid(capacity.error().detail);
  const auto on_failure = parse_failure_answer(spec.on_failure);
  if (!on_failure)
    return invalid("invalid onFailure \"" + spec.on_failure + "\": it is Halt or Return");
  out.on_failure = *on_failure;
  read_annotations(world, out, warnings);
  out.target = *ref;
  if (out.target.digest.empty())
    if (auto why = resolve(world, out, warnings)) return why;
  turn_back(world.pool.status, out);
  out.pinned = out.target.pinned(out.target.digest);
  return std::nullopt;
}

}  // namespace bootc::planning
