#pragma once

#include "policies/releases/finding.hpp"
#include "policies/releases/repository.hpp"
#include "reactor/plain/time.hpp"

#include <string>
#include <vector>

namespace policies::releases {

/// What waivers may excuse: a Release or a train, as it is.
struct consented {
  std::string name, hash;
};

/// What waivers make of the findings on it: an error they name becomes a warning that does
/// not block, a warning an info, and says who agreed and why. One that has no reason, is past its
/// `until` or quotes another content does nothing and is said to (`waiver.void`). Whose consent
/// counts is not for a policy to say, so this is the core's.
std::vector<finding> with_consent(std::vector<finding> findings, const std::vector<waiver>& waivers,
                                  const consented& about, reactor::wall_time now);
std::vector<finding> with_consent(std::vector<finding> findings, const std::vector<waiver>& waivers,
                                  const document& release, reactor::wall_time now);

}  // namespace policies::releases
