#pragma once

#include "compose/rules/answer.hpp"

#include <string>
#include <string_view>

namespace policies::compose {

/// The text with the block between its marks, at any place, else behind the line `after`,
/// else at the end. What is around it keeps its bytes, but for the lines that `without` names; the
/// block has the text's line ends.
/// Shape    doing it twice changes nothing.
std::string with_block(std::string_view text, const text_block& block);

}  // namespace policies::compose
