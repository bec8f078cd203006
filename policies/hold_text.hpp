#pragma once

// Inside policies only: what hooks that hold something answer alike.

#include "policies/rollout.hpp"
#include "reactor/plain/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

/// The reason ends up in conditions, events and tables: one line, bounded, cut between characters.
std::string one_line(std::string text);
/// One word of letters and digits, or one of the codes for signals.
bool is_code(std::string_view text);
/// What a reason may be: a sentence, or a table with code and reason.
shape reason_shape();
/// A value of that shape, as the reason of `name` among the holds. Errors: errc::malformed with the
/// place in the answer.
reactor::result<rollout_hold> read_hold(const std::string& name, const value& v);
/// The same of an answer's `hold`, where there is one at most.
reactor::result<rollout_hold> read_only_hold(const value& v);
/// A policy that asks to be looked at every few milliseconds only burns time; the longest wait
/// bounds a typing error.
reactor::nanoseconds bounded_wait(double seconds);

/// Pools in the middle of their rollouts, a unit for every state: with free slots, and without. The
/// signals that the pack declares have a value in the first, and none in the second.
std::vector<std::shared_ptr<const rollout_input>> typical_rollouts(
    const std::vector<signal_declaration>& signals = {});

}  // namespace policies
