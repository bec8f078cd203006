#pragma once

#include "k8s/informer/selector.hpp"
#include "service/commands/looking.hpp"
#include "service/commands/rollout/rollout_arguments.hpp"

namespace cli {

/// `windlass rollout …` on a service that was started in look mode, until it is done or `stop` is
/// set. Returns the exit code. A cluster that is away keeps nobody else from being written; it is
/// named, and the code is 1.
reactor::awaitable<int> roll(reactor::loop& l, service& s, rollout_arguments a,  // borrowed
                             k8s::label_selector selector, reactor::event& stop,
                             command_output& out);

}  // namespace cli
