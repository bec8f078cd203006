#pragma once

#include <string>
#include <string_view>

namespace k8s {

/// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

}  // namespace k8s
