// The architecture, checked: which folder may include which (ARCHITECTURE.md, "Folders are layers").
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Layer → the layers it may include besides itself. The longest matching prefix of a path is its layer.
const std::map<std::string, std::set<std::string>> allowed = {
    {"reactor", {}},
    {"k8s", {"reactor"}},
    {"k8s/sim", {"reactor", "k8s"}},
    {"policies/host", {"reactor"}},
    {"policies", {"reactor", "k8s", "policies/host"}},
    {"bootc", {"reactor", "k8s", "policies", "policies/host"}},
    {"helm", {"reactor", "k8s", "policies", "policies/host"}},
    {"cli", {"reactor", "k8s", "k8s/sim", "policies", "policies/host", "bootc", "helm", "bench"}},
    {"bench", {"reactor", "k8s", "k8s/sim", "policies", "policies/host", "bootc", "helm"}},
};

std::string layer_of(const std::string& path) {
  std::string best;
  for (const auto& [layer, others] : allowed)
    if (path.starts_with(layer + "/") && layer.size() > best.size()) best = layer;
  return best;
}

/// The violations in one file's text, as "file:line: layer must not include "header"".
std::vector<std::string> violations_in(const std::string& path, std::istream& text) {
  static const std::regex include(R"re(^\s*#\s*include\s+"([^"]+)")re");
  std::vector<std::string> found;
  const std::string from = layer_of(path);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.find("include") == std::string::npos) continue;  // the expression is slow
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string header = match[1];
    const std::string to = layer_of(header);
    const std::string where = path + ":" + std::to_string(number) + ": ";
    if (to.empty()) {
      found.push_back(where + "\"" + header + "\" does not start at a layer's folder");
    } else if (to != from && !allowed.at(from).contains(to)) {
      found.push_back(where + from + " must not include \"" + header + "\"");
    }
  }
  return found;
}

TEST(Layers, EveryIncludePointsDownwards) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = fs::relative(entry.path(), root).generic_string();
    const auto extension = entry.path().extension();
    if ((extension != ".cpp" && extension != ".hpp") || layer_of(path).empty()) continue;
    ++files;
    std::ifstream text(entry.path());
    for (const std::string& violation : violations_in(path, text)) ADD_FAILURE() << violation;
  }
  EXPECT_GT(files, 20u) << "the check looked at too little of " << root;
}

TEST(Layers, AnUpwardIncludeIsReportedWithFileAndLine) {
  std::istringstream text("#include \"reactor/loop.hpp\"\n#include \"k8s/client.hpp\"\n");
  EXPECT_EQ(violations_in("reactor/timer_queue.cpp", text),
            std::vector<std::string>{
                "reactor/timer_queue.cpp:2: reactor must not include \"k8s/client.hpp\""});
}

TEST(Layers, SiblingsDoNotKnowEachOther) {
  std::istringstream bootc("#include \"helm/chart.hpp\"\n"), host("#include \"k8s/client.hpp\"\n"),
      local("#include \"loop.hpp\"\n");
  EXPECT_EQ(violations_in("bootc/slots.cpp", bootc).size(), 1u);
  EXPECT_EQ(violations_in("policies/host/pack.cpp", host).size(), 1u);
  EXPECT_EQ(violations_in("reactor/loop.cpp", local).size(), 1u);
}

}  // namespace
