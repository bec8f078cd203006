#include "bench/peer_program.hpp"

#include "bench/child.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace bench {

namespace fs = std::filesystem;

namespace {

fs::path peer_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache ? fs::path(cache) : fs::path(home ? home : "/tmp") / ".cache") / "windlass";
}

peer_program built_peer(const fs::path& program, const std::string& language,
                        const std::string& packages, const std::vector<std::string>& command) {
  auto build = child::start_program(command);
  if (!build) return {{}, language + " is not installed: there is nothing to compare with"};
  if (build->wait() != 0)
    return {{},
            "the peer cannot be built: its " + packages + " are not there and cannot be fetched"};
  return {program.string(), {}};
}

}  // namespace

peer_program go_peer(const std::string& folder) {
  const char* given = std::getenv("WINDLASS_HELM_PEER");
  if (given && folder == "helm_peer") return {given, {}};
  std::string name = fs::path(folder).filename().string();
  if (!name.ends_with("_peer")) name += "_peer";
  const fs::path program = peer_cache() / name;
  const std::string sources = std::string(WINDLASS_SOURCE_DIR) + "/bench/" + folder;
  return built_peer(program, "Go", "modules",
                    {"go", "build", "-C", sources, "-o", program.string(), "."});
}

peer_program rust_peer(const std::string& folder) {
  const std::string name = fs::path(folder).filename().string();
  const fs::path target = peer_cache() / (name + "_peer");
  const std::string manifest =
      std::string(WINDLASS_SOURCE_DIR) + "/bench/" + folder + "/Cargo.toml";
  return built_peer(target / "release" / name, "Rust", "crates",
                    {"cargo", "build", "--release", "--locked", "--quiet", "--manifest-path",
                     manifest, "--target-dir", target.string()});
}

}  // namespace bench
