#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/conditions.hpp"
#include "k8s/client/condition.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/selector.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bootc {

using k8s::condition;

const k8s::resource& node_pools();

enum class reboot_policy { reboot_only, allow_soft_reboot };
std::optional<reboot_policy> parse_reboot_policy(std::string_view word) noexcept;

/// What a tag that names another image does: the nodes follow, or a person has to approve it.
enum class tag_updates { automatic, manual };

/// What a rollout that is halted does with the nodes that moved already: they stay, or all go back
/// to the image that every node ran before.
enum class failure_answer { halt, go_back };
/// Nothing for a word that is neither; halt where there is none.
std::optional<failure_answer> parse_failure_answer(std::string_view word) noexcept;

/// How hosts fetch an image that others than us may boot, where they cannot keep it from that:
/// ahead, locked where they can; ahead and never locked, for hosts that another party reboots; or
/// only once they are drained.
enum class staging_mode { locked, unlocked, in_slot };
std::string_view text(staging_mode m) noexcept;
/// Nothing for a word that is none of them.
std::optional<staging_mode> parse_staging_mode(std::string_view word) noexcept;

/// int-or-string, as written by the user.
using int_or_string = std::variant<std::int64_t, std::string>;

struct node_pool_spec {
  k8s::label_selector node_selector;
  std::string selector_problem;  // why it cannot be read, or empty
  std::string image_ref;
  tag_updates updates = tag_updates::automatic;
  std::optional<int_or_string> max_unavailable;
  bool paused = false;
  std::string on_failure;                              // as written by the user; empty = unset
  std::optional<std::int64_t> drain_timeout_seconds;   // unset and 0: no limit
  std::optional<std::int64_t> reboot_timeout_seconds;  // unset: 30 minutes; 0: no limit
  reboot_policy reboots = reboot_policy::reboot_only;
  std::optional<secret_ref> pull_secret;
  friend bool operator==(const node_pool_spec&, const node_pool_spec&) = default;
};

/// A daemon that has done nothing for so long is stuck, unless its pool says otherwise.
inline constexpr reactor::nanoseconds default_stuck_after = std::chrono::minutes(10);

/// How long a node may be away for its reboot, unless its pool says otherwise.
inline constexpr reactor::nanoseconds default_reboot_limit = std::chrono::minutes(30);

/// How long a node may be away for its reboot; nothing = as long as it takes.
std::optional<reactor::nanoseconds> reboot_limit(const node_pool_spec& spec) noexcept;

/// Why nodes of a pool wait for a policy, published by the service that acts on the pool for
/// readers that only look and may have other packs; ours alone.
struct policy_wait {
  std::string code, reason;  // "policy:OutsideWindow" and a sentence
  std::string by;            // the pack and its version
  std::string since;         // RFC 3339
  std::string asked_again;   // RFC 3339; empty: soon, or when something changes
  std::int64_t nodes = 0;
  /// Sorted, the first ones of very many; empty: each that waits for the policy and is named by no
  /// other entry.
  std::vector<std::string> names;
  friend bool operator==(const policy_wait&, const policy_wait&) = default;
};
/// What a pool may say of it: the entries, and the names in one.
inline constexpr std::size_t most_policy_waits = 16, most_waiting_names = 50;

struct node_pool_status {
  std::int64_t observed_generation = 0;
  std::string target_digest, deployed_digest;
  bool update_available = false;
  std::int64_t node_count = 0, updated_count = 0, updating_count = 0, degraded_count = 0;
  bool counts_shown = false;                 // zeros too, for kubectl get; others leave them off
  std::map<std::string, std::int64_t> held;  // nodes that wait, by code; ours alone
  std::vector<policy_wait> policy_waits;     // the one without names first
  std::string next_tag_resolution_time;      // only for tags
  std::string resolved_ref;      // the tag that target_digest was resolved from; only for tags
  std::string available_digest;  // what the tag names by now and is not approved yet
  std::string approved_digest;   // the last approval that was acted upon
  // While a pool is back on the image before: what failed, and what its nodes run in its place.
  std::string failed_digest, return_ref;
  std::vector<condition> conditions;
  friend bool operator==(const node_pool_status&, const node_pool_status&) = default;
};

/// BootcNodePool: which nodes should run which image, and how they may be disturbed on the way.
struct node_pool {
  k8s::object_meta meta;
  node_pool_spec spec;
  node_pool_status status;

  /// What a user may get wrong (selector, reference, maxUnavailable) is kept as written and judged
  /// later, so that it can be reported.
  static node_pool parse(k8s::wire_value object);
  /// The pack that is to answer for it, or empty.
  std::string_view policy() const;
  /// How its hosts stage; nothing when it is written wrongly.
  std::optional<staging_mode> staging() const;
  /// How many of its nodes may fetch an image at once, 0 = all; nothing when it is written wrongly.
  std::optional<std::size_t> stages_at_once() const;
  /// After how long without progress a node counts as stuck; nothing when it is written wrongly.
  std::optional<reactor::nanoseconds> stuck_after() const;
  /// Its image is the one of the Release of its cluster.
  bool follows_release() const noexcept;
  /// What a tag that names another image does. A pool that follows a Release runs the image that
  /// was resolved when the Release was allowed, whatever spec.image.updates says: an image that is
  /// pushed again under its name moves nothing without consent.
  tag_updates updates() const noexcept;
  /// The digest that was approved, as written, or empty.
  std::string_view approval() const;
  friend bool operator==(const node_pool&, const node_pool&) = default;
};

/// The merge patch {"status": …} that turns `from` into `to`; empty texts are left off the wire.
boost::json::object status_patch(const node_pool_status& from, const node_pool_status& to);

}  // namespace bootc
