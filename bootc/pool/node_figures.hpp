#pragma once

#include "reactor/metrics.hpp"

#include <string>

namespace bootc {

/// Counts drains and reboots of one cluster; made without metrics it counts nothing.
struct node_figures {
  node_figures() = default;
  node_figures(reactor::metrics& into, const std::string& cluster);
  reactor::counter drains_done, drains_failed, drains_timed_out, evictions_refused,
      reboots_requested, reboots_completed;
  reactor::gauge daemons_older;
  reactor::histogram drain_seconds, stage_seconds, reboot_seconds;
};

}  // namespace bootc
