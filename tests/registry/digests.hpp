#pragma once

#include <string>

namespace registry {

inline const std::string digest_a = "sha256:" + std::string(64, 'a');

}  // namespace registry
