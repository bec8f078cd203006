#include "helm/render/source_block.hpp"

namespace helm {

std::string source_block(const std::string& path, const std::string& text) {
  return "---\n# Source: " + path + "\n" + text + "\n";
}

}  // namespace helm
