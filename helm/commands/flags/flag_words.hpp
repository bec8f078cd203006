#pragma once

#include <string>
#include <string_view>

namespace helm {

/// What a flag of this name is for, in most commands; where it means something else, the command
/// says so itself (command_flags::about). Empty for a name without an explanation.
std::string flag_words(std::string_view name);

}  // namespace helm
