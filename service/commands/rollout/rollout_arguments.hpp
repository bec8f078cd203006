#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// rollout status|pause|resume|set-image|approve|history|undo: what a person would edit, on every
/// cluster that has the pool.
struct rollout_arguments {
  enum class command {
    status,
    pause,
    resume,
    set_image,
    approve,
    history,
    undo
  } what = command::status;
  fleet_arguments fleet;
  std::string pool, image;
  std::string digest;           // approve: empty = what waits for approval
  list_request list;            // which clusters, and how they are shown
  std::size_t to_revision = 0;  // undo: 0 = the one before
  bool yes = false;
  bool force = false;  // also what another field manager has written
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  bool timeout_given = false;
};

std::vector<app::command> rollout_commands();

}  // namespace cli
