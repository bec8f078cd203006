#pragma once

#include "service/connect.hpp"
#include "service/ui/fleet_page.hpp"

#include <string>
#include <vector>

namespace cli {

struct run_arguments {
  fleet_arguments fleet;
  ui_arguments ui;
  std::string metrics_address = ":8080", health_address = ":8081";  // "0" = off
  std::string metrics_token_file;
  bool leader_elect = false;
  std::vector<std::string> signal_origins;  // --allow-signal-host
  std::string signal_ca_file;
  std::string record;  // a file for every question to policies; empty: none
  units::change_limits max_changes;
  bool plan = false;  // only say as JSON what would be done, and write nothing
};

std::vector<app::command> run_commands();

}  // namespace cli
