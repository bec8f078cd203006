#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <string>

namespace cli {

using namespace app;

/// tenant list|status|diff|retry: the releases of Tenants on the clusters.
struct tenant_arguments {
  enum class command { list, status, diff, retry } what = command::list;
  fleet_arguments fleet;
  std::string name;      // [NAMESPACE/]NAME; list, retry: empty = all
  bool failed = false;   // retry: all whose phase is Error
  bool upgrade = false;  // retry: also those that are as wanted
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;  // which of them, and how they are shown
};

std::vector<app::command> tenant_commands();

}  // namespace cli
