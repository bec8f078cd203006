#pragma once

#include <string>
#include <string_view>

namespace cli {

/// The completion script for bash, zsh or fish, made from the commands as they are.
std::string completion_script(std::string_view shell);

}  // namespace cli
