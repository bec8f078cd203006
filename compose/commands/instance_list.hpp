#pragma once

#include "app/listing.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cli {

using namespace app;

/// An instance of Trustee, as `trustee list` shows it.
struct listed_instance {
  std::string ns, name;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::string asked, runs;  // versions; empty: none
  std::string ready = "Unknown", reason, message;
  std::string problem;  // what is not as it was asked for, also of one that is ready
};

/// What `trustee list` prints of these. Returns the exit code.
int show_instances(const std::vector<listed_instance>& all, const list_request& asked,
                   colours tint);

}  // namespace cli
