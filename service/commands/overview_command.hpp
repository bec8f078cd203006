#pragma once

#include "app/api/assumed_targets.hpp"
#include "service/connect.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// status, plan and explain.
struct overview_arguments {
  fleet_arguments fleet;
  output_format output = output_format::text;
  enum class command { status, plan, explain } what = command::status;
  std::string unit;  // explain: [cluster/]node
  std::vector<std::string>
      in_force;         // plan: what --policies is compared with; none: the stock packs
  std::string cluster;  // only this one
  /// plan: --image and --set-image. The APIs have the same object.
  std::shared_ptr<units::assumed_targets> assumed = {};
  reactor::nanoseconds timeout = std::chrono::seconds(15);
};

std::vector<app::command> overview_commands();
int overview_command(const overview_arguments& a, const invocation& i);

}  // namespace cli
