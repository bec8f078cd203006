#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// check upgrade: what would stop working on a newer Kubernetes.
struct upgrade_arguments {
  fleet_arguments fleet;
  int to = 0;           // the N of 1.N
  std::string waivers;  // a file; empty: none
  std::string notes_ns = "bootc-operator";
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;
  enum class report_form { as_output, github } form = report_form::as_output;
};

/// `windlass check upgrade`; below `windlass check`.
std::vector<app::command> upgrade_commands();

}  // namespace cli
