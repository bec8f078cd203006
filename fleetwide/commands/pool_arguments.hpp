#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <cstddef>
#include <string>

namespace cli {

using namespace app;

/// pool list|status|plan|diff|history|undo|pause|resume|approve|retry: pools that are said once at
/// home.
struct pool_arguments {
  enum class command {
    list,
    status,
    plan,
    diff,
    history,
    undo,
    pause,
    resume,
    approve,
    retry
  } what = command::list;
  fleet_arguments fleet;
  std::string name;             // [NAMESPACE/]NAME; list, plan: empty = all
  std::string file;             // plan, diff: FleetPools as if they were at home
  std::size_t to_revision = 0;  // undo: 0 = the newest other one that was complete
  bool adopt = false;           // approve: what is there is taken over
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;
};

std::vector<app::command> pool_commands();

}  // namespace cli
