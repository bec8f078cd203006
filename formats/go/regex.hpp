#pragma once

#include <string>

namespace re2 {
class RE2;
}

namespace formats {

/// Go's words for what is wrong with an expression that RE2 refused: error parsing regexp: missing
/// closing ): `(`
std::string regex_syntax_text(const re2::RE2& re, const std::string& pattern);

}  // namespace formats
