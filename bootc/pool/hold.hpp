#pragma once

#include "units/hold.hpp"

#include <string_view>

namespace bootc {

using units::hold;

/// Why a node waits, beside the reasons that every API has.
namespace hold_code {
using namespace units::hold_code;
inline constexpr std::string_view slot_full =
                                      "slot-full",  // every reboot slot of the pool is taken
    draining = "draining",                          // its pods are being evicted
    pdb = "pdb",                                    // a disruption budget refuses an eviction
    drain_timeout = "drain-timeout",                // a drain took too long; tried again later
    drain_failed = "drain-failed",                  // a drain met an error; tried again soon
    staging = "staging",                            // its daemon is fetching the image
    rebooting = "rebooting",                        // told to boot the image, not back yet
    reboot_timeout = "reboot-timeout",              // the same for longer than rebootTimeoutSeconds
    not_ready = "not-ready",                        // runs the image, but the Node is not Ready
    no_daemon = "no-daemon",                        // no daemon has reported for it yet
    tag_unresolved = "tag-unresolved",              // no registry has said yet what the tag names
    control_plane = "control-plane",  // another control-plane node is disturbed or not Ready
    leaving = "leaving";              // it no longer belongs to the pool and is being released
// Pull secrets and maintenance windows add theirs here.
}  // namespace hold_code

}  // namespace bootc
