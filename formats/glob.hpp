#pragma once

#include <string_view>

namespace formats {

/// Whether the whole text fits the pattern: `*` stands for any letters or none, `?` for one letter.
/// Takes pattern × text steps at most.
bool fits_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace formats
