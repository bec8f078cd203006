#pragma once

#include "bootc/daemon/flags.hpp"

#include <string_view>

namespace bootc {

inline constexpr std::string_view program_name = "windlass-node";

/// Runs the daemon of this node until a signal ends it. Returns the exit code; what is wrong was
/// said on standard error.
int serve_daemon(const daemon_arguments& a);

}  // namespace bootc
