#pragma once

#include "app/command.hpp"
#include "reactor/metrics.hpp"
#include "app/api/api.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

/// What docs/reference is: pages by their file's name, made from the tables of the program.
/// `schemas` are the texts of docs/schema. `./dev render` writes them, and a test says when they
/// are older.
std::map<std::string, std::string> reference_pages(const app::program& commands,
                                                   const std::vector<units::api>& apis,
                                                   const std::vector<std::string>& schemas);

}  // namespace cli
