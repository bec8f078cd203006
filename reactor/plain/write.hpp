#pragma once

#include <string_view>

namespace reactor {

/// Writes all of it to a descriptor that waits; false when the reader is gone or the disk is full.
bool write_all(int fd, std::string_view bytes) noexcept;
/// Shows what a program that works for a person says, as it says it.
void show_on_standard_error(std::string_view bytes) noexcept;

}  // namespace reactor
