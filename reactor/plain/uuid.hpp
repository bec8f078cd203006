#pragma once

#include <array>
#include <string>

namespace reactor {

/// Sixteen random bytes as the text of a version 4 UUID (RFC 9562).
std::string uuid_text(std::array<unsigned char, 16> bytes);

}  // namespace reactor
