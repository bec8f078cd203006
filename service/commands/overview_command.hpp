#pragma once

#include "app/api/assumed_targets.hpp"
#include "app/listing.hpp"
#include "service/connect.hpp"
#include "service/overview/changes.hpp"
#include "service/overview/overview.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// status, plan and explain.
struct overview_arguments {
  fleet_arguments fleet;
  list_request list;  // explain: its names are what is explained
  enum class command { status, plan, explain } what = command::status;
  std::vector<std::string> in_force;  // plan: what --policies is compared with; none: stock packs
  /// plan: --image and --set-image. The APIs have the same object.
  std::shared_ptr<units::assumed_targets> assumed = {};
  reactor::nanoseconds timeout = std::chrono::seconds(15);
};

std::vector<app::command> overview_commands();
/// Writes what is shown of a fleet, of which the rows that were asked for are left. `compared` with
/// what the policies in force say; none: no comparison is asked for. Returns the exit code.
int show_overview(const fleet_overview& f, const std::optional<comparison>& compared,
                  const overview_arguments& a);
int overview_command(const overview_arguments& a, const invocation& i);

}  // namespace cli
