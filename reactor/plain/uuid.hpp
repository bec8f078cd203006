#pragma once

#include <array>
#include <string>

namespace reactor {

/// Sixteen bytes of chance as the text of a version 4 UUID (RFC 9562).
std::string uuid_text(std::array<unsigned char, 16> bytes);

}  // namespace reactor
