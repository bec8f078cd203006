#pragma once

#include <string>

namespace helm {

/// A document as it stands in a manifest: "---\n# Source: app/templates/x.yaml\n…\n".
std::string source_block(const std::string& path, const std::string& text);

}  // namespace helm
