#include "reactor/system/private_folder.hpp"

#include <cstdlib>
#include <filesystem>

namespace reactor {

namespace fs = std::filesystem;

private_folder::private_folder(std::string_view name) {
  std::error_code ec;
  const fs::path under = fs::temp_directory_path(ec);
  if (ec) return;
  std::string pattern = (under / ("windlass-" + std::string(name) + "-XXXXXX")).string();
  if (mkdtemp(pattern.data())) path_ = std::move(pattern);
}

private_folder::~private_folder() {
  std::error_code ignored;
  if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
}

}  // namespace reactor
