#pragma once

#include "bootc/kinds/classification.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/hold.hpp"
#include "bootc/pool/rollout_plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace bootc {

/// One reason why the pool is degraded. Weaker ones lose against stronger ones of the same pass.
struct degradation {
  std::string_view reason;  // one of pool_reason
  std::string message;
  bool is_policys = false;  // a policy's words: that their numbers move is no news
};

/// What a pass found out about the pool's tag; without one `ref` is empty.
struct tag_findings {
  std::string ref;
  std::string next;       // when it is asked again (RFC 3339)
  std::string available;  // a newer digest that waits for approval
  std::string approved;   // the last approval that was acted upon
  std::string error;      // why it cannot be resolved now; the last good target is kept
};

/// A target that halted its pool, and the image before it, pinned, that the nodes go back to; both
/// empty where none did.
struct way_back {
  std::string failed, ref;
};

/// What one pass found out about a pool.
struct pool_findings {
  census counts;
  std::string target_digest;
  std::vector<degradation> degradations;
  hold_counts held;
  std::vector<policy_wait> policy_waits;  // since when is found out by status_after()
  tag_findings tag;
  way_back back;
  bool is_watched = false;  // every node runs the target, and a policy has yet to agree
};

/// How strong a Degraded reason is; an equal or weaker one never replaces what is there.
int precedence(std::string_view degraded_reason) noexcept;

/// The status to store after a complete pass. Setting the same findings again yields the same
/// status.
node_pool_status status_after(const node_pool& pool, const pool_findings& found,
                              reactor::wall_time now);

/// The status when a user's value cannot be processed: only who waits and the conditions Degraded
/// and Ready change.
node_pool_status status_with_invalid_spec(const node_pool& pool, std::string message,
                                          const hold_counts& held, reactor::wall_time now);

/// How many wait, by code. The words of a policy are its author's: where there are more than
/// `most_policy_words` of them, all count as "policy".
hold_counts counted(const std::vector<hold>& holds);
inline constexpr std::size_t most_policy_words = 16;

/// A policy, or its fault, holds the unit.
bool is_of_policy(std::string_view code) noexcept;
/// The holds (sorted by unit) that are a policy's, those of one reason together, most units first
/// and without names. Where there are more reasons than a pool may say, those of one code stand
/// together, and in the end all of them.
std::vector<policy_wait> policy_waits_in(const std::vector<hold>& holds,
                                         std::optional<reactor::wall_time> asked_again);

/// The status while it is not known what the tag names: members, counts and the former target stay.
node_pool_status status_of_unresolved(const node_pool& pool, const tag_findings& tag,
                                      const hold_counts& held, reactor::wall_time now);

/// "1/5 updated; 1 pending, 1 staging, 1 staged, 1 rebooting, 0 degraded"
std::string progress_text(const census& counts);

/// "2 slot-full, 1 pdb", most first; empty when no node waits.
std::string held_text(const hold_counts& held);

/// "a, b, c", sorted; of many the first ones: "a, b, c and 4997 more", so that a condition or a
/// sentence about a cluster of thousands stays one.
inline constexpr std::size_t most_named = 20;
std::string joined(std::vector<std::string> names);

}  // namespace bootc
