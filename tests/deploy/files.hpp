#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace deploy_files {

inline const std::filesystem::path root = WINDLASS_SOURCE_DIR;

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace deploy_files
