#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"
#include "policies/rollout.hpp"
#include "policies/signals.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace policies {

/// One cluster that an object which is said once at home is for.
struct fleet_cluster {
  std::string name;
  k8s::string_map cluster_labels;  // of its Secret at home
  std::string wave;                // by the object's own waves
  std::string state;  // Ready, Moving, Failed, Waiting, Away, Foreign, Refused, NotGranted, Leaving
  std::string has;    // the digest of the revision that it has; empty: none
  double since = 0;   // unix seconds; since when it is ready or failed; 0: it is neither
  signal_facts signals = {};  // of this cluster: those that the pack declares
};

/// The object, and the revision that is asked for.
struct fleet_revision {
  std::string kind, ns, name;           // "FleetPool"
  k8s::string_map labels, annotations;  // of the object; annotations of fleet.windlass.dev
  std::int64_t revision = 0;
  std::string digest;     // of its content
  std::string reference;  // of its image
  std::string proven;     // digest of the newest revision that finished its waves; empty: none did
};

struct fleet_question {
  fleet_revision object;
  std::vector<fleet_cluster> clusters;  // by name ascending
};

/// Who may not begin the revision now. No cluster begins because of an answer: waves, slots and
/// failures count besides.
struct fleet_answer {
  std::string pack, version;
  std::map<std::string, rollout_hold> holds;  // of known clusters
  reactor::nanoseconds look_again{0};         // 0: when something changes
};

/// Asks the pack that applies. A fault means: no cluster begins; its message is the hold's reason.
/// Errors   as host::call; errc::malformed names the place in the answer; a cluster that is not
///          there is one.
reactor::awaitable<reactor::result<fleet_answer>> ask_revision(
    host& packs, subject s, std::shared_ptr<const fleet_question> question, reactor::wall_time now);

/// The part of it that looks at the answer.
reactor::result<fleet_answer> read_fleet_answer(const value& answer,
                                                const fleet_question& question);

hook fleet_revision_hook();

}  // namespace policies
