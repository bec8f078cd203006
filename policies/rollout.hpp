#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"
#include "policies/moment.hpp"
#include "policies/signals.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace policies {

/// One unit of what is planned, as `rollout.plan` sees it: a node of a pool.
struct rollout_unit {
  std::string name, cluster, pool, zone;
  // the API's word; bootc's: Pending, Staging, Staged, Rebooting, UpToDate, Degraded
  std::string state;
  k8s::string_map labels, annotations;
  bool slotted = false;   // may be disturbed: it is going or about to
  bool degraded = false;  // reported by itself
  bool ready = true;      // whatever runs on it can
  bool control_plane = false;
  /// Unix seconds; of what is up to date or degraded: when it became so; else when this update
  /// began; 0: unknown.
  double since = 0;
  std::string image;                    // what it runs
  std::string target;                   // what it should run
  std::vector<std::string> conditions;  // of its Node: those that are True, without Ready
};

/// What the pool of that name is doing on one of the clusters that have it, for policies that let
/// clusters go in waves.
struct rollout_cluster {
  std::string name;
  k8s::string_map cluster_labels;
  std::string target;  // what all of them are to run: a digest; empty: unknown
  std::uint64_t units = 0, updated = 0, degraded = 0, slotted = 0;
  double updated_at = 0;  // unix seconds since when all of them are; 0: not all are, or unknown
};

/// An object that the pool names, and how it is.
struct guarded_object {
  std::string path;     // as it was written
  std::string problem;  // why it could not be read; empty: it could, or it is not there
  bool exists = false;
  bool counts = false;  // it has replicas
  std::uint64_t wanted = 0, available = 0;
};

/// What is known of Kubernetes' versions, as they were written: "v1.33.1+k3s1". Empty: unknown.
struct image_facts {
  std::string kubernetes;  // what the target's image carries
};
struct server_range {
  std::string oldest, newest;  // of the cluster's API servers
};

/// The pool that is planned, and its surroundings.
struct rollout_fleet {
  std::string api;  // whose units these are
  std::string pool, cluster;
  k8s::string_map cluster_labels, pool_labels;
  k8s::string_map pool_annotations;  // those of bootc.dev and windlass.dev
  k8s::string_map parameters;        // what flags of `run` say, by name; texts
  /// The state in which a unit may start, and in no other; the API's word, "Staged".
  std::string startable;
  std::uint64_t capacity = 0;  // maxUnavailable as a number
  std::uint64_t free = 0;      // slots that may be given now
  std::uint64_t occupied = 0, unit_count = 0, updated = 0, degraded = 0;
  bool halted = false, paused = false;
  std::vector<std::string> in_slots;  // names, sorted
  std::vector<rollout_cluster> clusters;
  std::vector<guarded_object> guards;
  image_facts image;
  server_range kubernetes;
  /// Its nodes go back to the image before, since the one that it names halted it.
  bool returning = false;
  /// Every unit runs the target, and the rollout is over once the signals say so.
  bool watched = false;
  signal_facts signals;  // those that the packs which are asked declare
};

struct rollout_input {
  std::vector<rollout_unit> units;
  rollout_fleet fleet;
};

/// Why a unit waits. `code` is one stable word, empty unless the policy gives one; `reason` a
/// sentence.
struct rollout_hold {
  std::string code, reason;
  friend bool operator==(const rollout_hold&, const rollout_hold&) = default;
};

/// What the policy proposes, already clamped: the planner still applies its safety rules.
struct rollout_answer {
  std::string pack, version;
  // unslotted units that may start, each once, `free` at most, in the policy's order
  std::vector<std::string> start;
  std::map<std::string, rollout_hold> holds;  // known units that are not in `start`
  reactor::nanoseconds look_again{0};         // 0: when something changes
  std::vector<std::string> clamped;           // what was proposed and not taken, a sentence each
  call_cost cost;
};

/// The budget of one call: 200,000 instructions and as many as a policy may spend on each unit, and
/// on each cluster that it is told of.
std::int64_t rollout_instructions(std::size_t units, std::size_t clusters = 0);

/// Asks the pack that applies who may start now. A fault means: no other unit starts; its message
/// is the hold's reason.
/// Errors   as host::call; errc::malformed names the place in the answer: "start[3]: expected a
///          unit name, got a number".
reactor::awaitable<reactor::result<rollout_answer>> plan_rollout(
    host& packs, subject s, std::shared_ptr<const rollout_input> input, reactor::wall_time now);

/// The part of it that looks at the answer; for tests and replays.
reactor::result<rollout_answer> read_rollout_answer(const value& answer,
                                                    const rollout_input& input);

/// The hook's description.
hook rollout_hook();

}  // namespace policies
