#pragma once

#include "service/commands/looking.hpp"
#include "service/commands/rollout/rollout_arguments.hpp"
#include "service/overview/overview.hpp"

namespace cli {

/// `windlass rollout …` on a service that was started in look mode, until it is done or `stop` is
/// set. Returns the exit code. A cluster that is away keeps no other from being written; it is
/// named, and the code is 1.
reactor::awaitable<int> roll(reactor::loop& l, service& s, rollout_arguments a,  // borrowed
                             reactor::event& stop, command_output& out);

/// What `rollout status` shows of a fleet. Returns the exit code.
int show_rollout(fleet_overview f, const rollout_arguments& a, command_output& out);

}  // namespace cli
