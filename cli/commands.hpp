#pragma once

#include "app/command.hpp"
#include "cli/apis.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

// The commands that have no header of their own.
std::vector<app::command> version_commands();
std::vector<app::command> completion_commands();
/// Every command, in the order of --help.
app::program program();

/// What follows the name of the program, which is also a command where it is called by that name:
/// an image has the link `/secret-converter`.
std::vector<std::string> words_of(const std::vector<std::string>& command_line);

/// Parses and runs; `known` are the APIs to choose from. Usage errors go to standard error.
int dispatch(const std::vector<std::string>& arguments,
             const std::vector<units::api>& known = apis());
/// The same without running it; an empty environment.
app::parse_outcome parsed(const std::vector<std::string>& arguments,
                          const std::vector<units::api>& known = apis());

}  // namespace cli
