#include "bench/go_peer.hpp"

#include "bench/child.hpp"

#include <cstdlib>
#include <filesystem>

namespace bench {

namespace fs = std::filesystem;

std::string go_peer(const std::string& folder) {
  const char* given = std::getenv("WINDLASS_HELM_PEER");
  if (given && folder == "helm_peer") return given;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path program = (cache ? fs::path(cache) : fs::path(home ? home : "/tmp") / ".cache") /
                           "windlass" / folder;
  const std::string sources = std::string(WINDLASS_SOURCE_DIR) + "/bench/" + folder;
  auto build = child::start_program({"go", "build", "-C", sources, "-o", program.string(), "."});
  return build && build->wait() == 0 ? program.string() : std::string();
}

}  // namespace bench
