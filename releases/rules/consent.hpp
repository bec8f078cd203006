#pragma once

#include "reactor/plain/time.hpp"
#include "releases/rules/finding.hpp"
#include "releases/rules/repository.hpp"

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

/// A warning (`waiver.void`) for each consent that can count for nothing: its Release is none of
/// `releases`, or its rule none of `rules`. No `rules` at all: rules are not looked at.
std::vector<finding> lost_waivers(const std::vector<waiver>& waivers,
                                  const std::vector<std::string>& releases,
                                  const std::vector<std::string>& rules);

/// What is said of consent beside a train: a warning for each rule that is none of `rules`, an info
/// for each finding that there is not, and one info of all that is about other trains.
std::vector<finding> unused_waivers(const std::vector<waiver>& waivers, const std::string& train,
                                    const std::vector<std::string>& rules,
                                    const std::vector<finding>& found);

}  // namespace policies::releases
