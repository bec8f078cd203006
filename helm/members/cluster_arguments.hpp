#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// cluster add|list|remove|check: who is in the fleet.
struct cluster_arguments {
  enum class command { add, list, remove, check } what = command::list;
  fleet_arguments fleet;          // home
  std::string subject;            // add: a context; remove: a name; check: either
  std::string member_context;     // remove: where to take away what was installed; may be empty
  std::string member_kubeconfig;  // the file of those contexts; empty = home's
  std::string name, server, image, member_ns = "bootc-operator";
  std::vector<std::string> labels;        // KEY=VALUE
  std::vector<std::string> pull_secrets;  // add: names that pools may use
  reactor::nanoseconds token_life = std::chrono::hours(24 * 30);
  bool no_daemon = false;
  bool tenants = false;       // add: with the rights that releases of Tenants take
  bool fleet_charts = false;  // add: and those of FleetCharts
  bool take_over = false;     // add: from the original bootc-operator
  bool delete_crds = false;
  bool dry_run = false;
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;  // how it is shown; of `cluster list` also which of them
};

std::vector<app::command> cluster_commands();
/// `windlass check`: of home.
std::vector<app::command> check_commands();

}  // namespace cli
