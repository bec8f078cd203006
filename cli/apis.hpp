#pragma once

#include "units/api.hpp"

#include <string>
#include <vector>

namespace cli {

/// Every API of this program, in the order in which people see them.
std::vector<units::api> apis();

/// Their names, for --apis.
std::vector<std::string> names_of(const std::vector<units::api>& all);
/// Those that are named, each once and in the order of `all`.
std::vector<units::api> chosen_of(const std::vector<units::api>& all,
                                  const std::vector<std::string>& names);

}  // namespace cli
