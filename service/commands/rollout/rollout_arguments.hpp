#pragma once

#include "app/api/assumed_targets.hpp"
#include "app/listing.hpp"
#include "service/connect.hpp"

#include <memory>
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
  bool force = false;           // also what another field manager has written
  bool override_brake = false;  // with `why`: these pools go on, brake or not
  std::string why;
  bool no_lookup = false;  // set-image: also an image that the registry does not have
  std::shared_ptr<units::assumed_targets> assumed = {};  // set-image: what is planned with
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  bool timeout_given = false;
};

std::vector<app::command> rollout_commands();

}  // namespace cli
