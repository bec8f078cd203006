#pragma once

#include "app/api/hold.hpp"

namespace releases {

/// Why a pool waits for its Release, beside the reasons that every API has.
namespace hold_code {
using units::hold_in;
using units::hold_kind;
using units::hold_nature;
inline constexpr auto of_pools = std::to_array<hold_kind>({
    {"release-denied", hold_nature::trouble,
     "the Release that its cluster has is denied, or is no step from the one it runs",
     "the findings are mended or waived, or the cluster is given another Release", "the policies"},
    {"release-approval", hold_nature::trouble, "a finding about the Release waits for consent",
     "a person consents to the finding (waivers.yaml)", "the policies"},
    {"release-image-moved", hold_nature::trouble,
     "the image was pushed again under its name: another digest than the one that was resolved "
     "when "
     "the Release was allowed. The pool stays at that one",
     "a person consents to the digest (`windlass rollout approve POOL`), or the name is the former "
     "image again",
     "the planner"},
    {"release-unknown", hold_nature::trouble,
     "which Release its cluster has, or where an image of that is fetched, is not known",
     "the cluster's label names a Release that is at home and can be read", "the planner"},
});
inline constexpr hold_kind denied = hold_in(of_pools, "release-denied"),
                           approval = hold_in(of_pools, "release-approval"),
                           image_moved = hold_in(of_pools, "release-image-moved"),
                           unknown = hold_in(of_pools, "release-unknown");
}  // namespace hold_code

}  // namespace releases
