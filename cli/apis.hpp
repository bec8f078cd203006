#pragma once

#include "service/service.hpp"
#include "app/api/api.hpp"

#include <vector>

namespace cli {

/// Every API of this program, in the order in which people see them.
std::vector<units::api> apis();

/// What packs may answer to all of them.
policies::shared_hooks all_hooks();
/// A service of all of them.
service_options with_all_apis();

}  // namespace cli
