#pragma once

#include <cstdint>
#include <optional>

/// What holds whatever a policy answers and whatever goes wrong. The product has no switch for
/// these: mutants.cmake writes copies of its sources that ask keeps(), and only the programs of the
/// mutants' tests are built from the copies.
namespace mutants {

enum class rule : std::uint8_t {
  // of pools
  budget,          // pods are evicted, so that their budgets are asked
  slot,            // maxUnavailable
  cordon_restore,  // a node is as schedulable afterwards as it was before
  halt,            // two unhealthy nodes end it
  failed_reboot,   // a node that was told to boot and is Degraded is unhealthy
  lost_reboot,     // so is one that is not back from its reboot in time
  own_writes,      // no pass acts on views older than what this process wrote
  cordon,          // a node takes no new pods from before it is drained until it is back
  drain,           // it is told to boot once it is drained
  gone,            // drained is a node whose pods are gone, not one whose evictions were accepted
  skew_servers,    // no kubelet is newer than an API server, or too old for it
  skew_planes_first,  // control planes move before workers
  skew_step,          // a control plane moves one minor at a time
  skew_beside,        // and stays beside the other ones
  skew_workers,       // and leaves no worker behind
  skew_asking,        // no node goes while the registry is asked what the image carries
  skew_slot,          // a node that must not move gets no slot
  skew_way,           // what other nodes come back with counts
  skew_halt,          // known after the first node, the pool halts
  brake_pools,        // the brake is asked before a plan and before each step
  speed,              // so is the speed limit
  speed_cluster,      // that of the cluster beside that of the fleet
  speed_start,        // a process that starts has nothing left to begin with
  // of placed charts
  fingerprint_last,    // it is noted once the release is deployed
  recovery,            // a pending release that no process works on is ended, and goes on
  target_filter,       // an object that names another cluster is left alone
  new_fingerprint,     // a cluster that is Ready with an older fingerprint opens no wave
  brake_charts,        // the brake stops each step that begins something
  brake_compositions,  // and each write of a composition
  settle,              // an operation that is ended leaves no pending record
  // of what is said once at home
  fleet_wave,    // no cluster goes before those of earlier waves
  fleet_proof,   // a wave that nobody proved opens none
  fleet_soak,    // nor one that was not watched
  fleet_slot,    // so many clusters move, and no more
  fleet_halt,    // too many failed
  fleet_noted,   // a failure is noted before anybody goes back
  fleet_back,    // what failed is given to nobody
  fleet_pause,   // a pause holds everybody
  fleet_grant,   // no cluster without a grant
  fleet_owner,   // nothing that belongs to somebody else
  fleet_lost,    // one that was lost a moment ago closes the next wave
  fleet_leave,   // what is removed goes wave by wave
  fleet_unseen,  // nobody is written who cannot be seen
  fleet_retry,   // who failed is tried again once
  fleet_needs,   // what a chart needs is ready first
  fleet_stuck,   // where that cannot come by itself, nothing begins and no wave waits
  // of what a FleetChart needs
  needs_ready,   // what is on its way is not ready
  needs_person,  // what only a person can mend is told apart
  // of one release of a FleetChart
  chart_note,     // what it is to have is noted before anything is done
  chart_claim,    // a release that is noted for another object is left alone
  chart_person,   // so is one that no FleetChart made
  chart_drift,    // what another writer changed is mended only where that is asked for
  chart_repair,   // and there it is mended
  chart_tests,    // an upgrade is noted as done once its tests have run
  chart_since,    // and if it happened after it was begun
  chart_done,     // and if it is what was asked for
  chart_idle,     // one operation at a time
  chart_foreign,  // what another object has is not uninstalled
  chart_stop,     // an upgrade ends before the uninstall begins
  chart_forget,   // a note goes after its release
  chart_settle,   // a record that another writer made is noted first
  chart_space,    // a release has a namespace
  chart_timeout   // a pending release is not ended before its timeout is over
};

inline std::optional<rule> broken;  // by the test that runs

inline bool keeps(rule r) noexcept {
  return r != broken;
}

}  // namespace mutants
