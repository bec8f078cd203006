#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// RFC 4648 with padding, as Secrets and kubeconfigs carry bytes.
std::string encode_base64(std::string_view bytes);
/// Accepts line breaks and spaces anywhere, as YAML folds them in; nothing else. Padding is
/// required.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace formats
