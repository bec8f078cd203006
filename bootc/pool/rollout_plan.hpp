#pragma once

#include "app/api/brake.hpp"
#include "app/api/upgrade_gate.hpp"
#include "bootc/kinds/classification.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/drain_progress.hpp"
#include "bootc/pool/hold.hpp"
#include "bootc/pool/secrets/secret_state.hpp"
#include "bootc/tags/carried_version.hpp"
#include "bootc/tags/tag_resolution.hpp"
#include "k8s/views/node.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bootc {

/// Why the policy lets a unit wait. `code` is its own word for it, or empty.
struct policy_hold {
  std::string code, reason;
  bool is_fault = false;  // the policy failed on it, and `reason` is how
  std::string by = {};    // the pack and its version; empty: the one that answered for all
};

/// What the policy said about the units of a pool. The planner takes it as a request: it never
/// exceeds the free slots and never breaks a safety rule.
struct policy_answer {
  enum class kind { none, given, failed };
  kind is = kind::none;                                   // none: no policy asked, name order
  std::vector<std::string> start;                         // who may start, first first
  std::map<std::string, policy_hold, std::less<>> holds;  // by unit, for those not in `start`
  /// How long the drain of a unit in `start` may take; the pool's own limit stays where it is
  /// shorter.
  std::map<std::string, reactor::nanoseconds, std::less<>> drain_timeouts;
  std::optional<reactor::wall_time> look_again;
  std::string detail;  // failed: why
  /// Given, but one of those that are asked for each unit failed: the first, and why.
  std::string fault;
  std::optional<policy_hold> halt;  // given, and the rollout halts: why
  /// Every unit runs the image, and the rollout is not over yet: the unit that moved last, which
  /// `holds` says why of. Empty: it is over.
  std::string watched;
  std::string by;  // the pack that answered, and its version
};
/// How the sentence of a hold begins when a policy failed; the fault follows.
inline constexpr std::string_view policy_failed_text = "the policy failed: ";

/// A step of API servers from 1.`from` to 1.`to`; 0 and 0: none.
struct minor_step {
  unsigned from = 0, to = 0;
  friend bool operator==(const minor_step&, const minor_step&) = default;
};

/// What is known of Kubernetes' versions beside what Nodes say.
struct kubernetes_facts {
  std::vector<std::string> servers;  // what API servers of the cluster said lately, as written
  /// Of API servers that are static pods of kubeadm's, by their node: the version of such a server
  /// does not come with the node's image.
  std::map<std::string, std::string, std::less<>> static_servers;
  std::map<std::string, carried_version, std::less<>> images;  // by digest
  bool are_noted = false;  // no registry is asked here: what the service noted on BootcNodes counts
  bool are_gated = false;  // a step to a newer minor needs an answer that it breaks nothing
  minor_step asked;        // that `answer` is about
  units::upgrade_answer answer;
};

/// The same as people and policies are shown it; a text is empty where nothing is known.
struct kubernetes_versions {
  std::string image;           // what the target carries
  std::string booted_on;       // the node that says so, since it runs the target
  std::string oldest, newest;  // of the cluster's API servers
  std::string contradiction;   // a sentence: what was said of the image, and what a node runs
  minor_step asks;             // the gate has to answer for it
};

/// Everything one pass looks at: one consistent reading of the pool and its cluster. The pointers
/// are borrowed for the call of the planner; Nodes and BootcNodes are sorted by name.
struct pool_world {
  node_pool pool;
  // all Nodes of the cluster: quorum counts those outside the pool too
  std::vector<const k8s::node*> nodes;
  std::vector<const bootc_node*> bootc_nodes;  // all BootcNodes, of whatever pool
  drains_by_node drains;                       // of this process, by node
  policy_answer policy;
  std::optional<tag_resolution> tag;  // of the pool's tag; nothing when registries are not asked
  kubernetes_facts kubernetes;
  secret_state secret;      // of the pool's pull secret
  std::string operator_ns;  // the only one that pull secrets may be in; empty: not known
  reactor::wall_time now{};
  bool stale = false;          // the cluster's views are old: nothing is decided on them
  std::string other_operator;  // who else works on this cluster: nothing is done beside him
  // The brake or the speed limit: nothing begins; what is under way ends.
  std::optional<units::stop> braked;
  // A person's order for this pool (units::override_order): in force, as a sentence; or why it does
  // nothing. Both empty: there is none.
  std::string overrides, override_void;
  bool only_looks = false;     // another process drains: what that one has noted counts
  bool assume_staged = false;  // forecast: who would start if everybody had the image already?
};

enum class action_kind {
  add_finalizer,       // pool
  remove_finalizer,    // pool
  create_node,         // BootcNode, with `spec`
  sync_spec,           // BootcNode: spec becomes `spec`; withdraws an approval
  delete_node,         // BootcNode
  label,               // Node: bootc.dev/managed
  unlabel,             // Node
  uncordon,            // Node
  free_slot,           // BootcNode: annotations away and desiredImageState Staged, in one patch
  note_drain_timeout,  // the same, and the time before which it is not drained again
  take_slot,           // BootcNode: annotations
  cordon,              // Node
  shield,              // Node: Karpenter's annotations that are ours while it holds a slot
  unshield,            // Node: the same, away
  cancel_drain,
  start_drain,
  end_override,   // pool: its order to override the brake is done
  approve,        // BootcNode: desiredImageState Booted
  note_approval,  // BootcNode: when it was first seen to be told so by another writer
};
std::string_view text(action_kind k) noexcept;
/// Whether it writes the Node itself.
bool writes_node(action_kind k) noexcept;

/// Karpenter's annotations on a Node.
struct node_shield {
  bool do_not_repair = false, do_not_disrupt = false;
  bool any() const noexcept { return do_not_repair || do_not_disrupt; }
  friend bool operator==(const node_shield&, const node_shield&) = default;
};

/// One idempotent step. Those of the same node are carried out in their order and stop at the first
/// that fails.
struct action {
  action_kind kind{};
  std::string node;  // empty for the pool's own
  // Of the BootcNode or Node that it writes: decided on this version, refused on any other.
  std::string resource_version;
  std::string uid;         // BootcNode deletion: this one, not a successor of the same name
  bootc_node_spec spec;    // create_node, sync_spec; desired_image also for start_drain
  bool withdraws = false;  // sync_spec: an approval, since the slot is lost
  bool retarget = false;   // sync_spec: another image, so notes about drains and reboots are void
  bool slotted = false;    // BootcNode writes: it holds a slot
  bool was_cordoned = false;       // take_slot
  node_shield shield = {};         // take_slot: to own; shield, unshield: to write
  reactor::wall_time at{};         // note_drain_timeout: retry time; others: now
  unsigned timeouts = 0;           // note_drain_timeout: how many so far
  reactor::nanoseconds timeout{};  // start_drain, and take_slot for the policy's; 0 = no limit
  staging_mode staging{};          // create_node, sync_spec
  std::string boot_id;             // approve
  bool soft_reboot = false;        // approve
};

/// One member of the pool, as people and policies see it.
struct unit {
  std::string name;
  unit_state state{};
  bool slotted = false;
  bool may_take_slot = false;  // it waits for nothing but a slot: staged, or it stages in its slot
  bool approved = false;       // told to boot
  bool beyond_skew = false;    // its move would break the version skew
  bool starting = false;       // takes a slot in this pass
  bool control_plane = false;
  bool ready = false;
  // up to date, degraded: became so; else its update began
  std::optional<reactor::wall_time> since;
  // why the pool counts it degraded although its daemon does not: "drain timed out"
  std::string trouble;
  std::string booted_image, booted_digest, desired_image, message;
  k8s::string_map labels, annotations;          // of the Node
  k8s::shared_array<k8s::interned> conditions;  // of the Node, that are True, without Ready
};

/// Units that wait, by code.
using hold_counts = std::map<std::string, std::size_t>;

/// The one that comes first; nothing when there is neither.
inline std::optional<reactor::wall_time> earlier(std::optional<reactor::wall_time> a,
                                                 std::optional<reactor::wall_time> b) noexcept {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// Something that a person should know of; `node` empty = about the pool.
struct warning {
  std::string_view reason;
  std::string message;
  std::string node = {};
};

/// Whether it begins something, or is a step on the way to that: the brake stops it. The others end
/// what is under way.
bool begins(const action& a) noexcept;

/// What one pass decided. `status` is what the pool's status is to be; `status_changed` whether
/// that is a write.
struct rollout_plan {
  std::vector<action> actions;
  std::vector<unit> units;  // sorted by name
  std::vector<hold> holds;  // sorted by node
  std::vector<warning> warnings;
  census counts;       // of `units`, whatever the status says
  hold_counts held;    // `holds` by code
  bool moves = false;  // it is a rollout: the pool is valid and is not being deleted
  node_pool_status status;
  bool status_changed = false;
  bool halted = false;
  kubernetes_versions kubernetes;
  std::string overrides;  // a person's order that lets it go on, as a sentence
  std::size_t capacity = 0, occupied = 0;
  std::optional<reactor::wall_time> look_again;
};

}  // namespace bootc
