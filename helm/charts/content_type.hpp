#pragma once

#include <string_view>

namespace helm {

/// What the first 512 bytes of a file look like, as Go's net/http says it of a buffer of that size:
/// what is shorter is filled up with zeros, so a short text is "application/octet-stream".
std::string_view content_type(std::string_view file);

}  // namespace helm
