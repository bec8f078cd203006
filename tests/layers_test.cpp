// The architecture, checked: which folder may include which (ARCHITECTURE.md, "Folders are layers").
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
    {"units", {"reactor", "k8s", "policies", "policies/host"}},
    {"bootc", {"reactor", "k8s", "policies", "policies/host", "units"}},
    {"helm", {"reactor", "k8s", "policies", "policies/host"}},
    {"simulation", {"reactor", "k8s", "k8s/sim", "policies", "policies/host", "units", "bootc"}},
    {"cli",
     {"reactor", "k8s", "k8s/sim", "policies", "policies/host", "units", "bootc", "helm",
      "simulation", "bench"}},
    {"bench", {"reactor", "k8s", "k8s/sim", "policies", "policies/host", "units", "bootc", "helm"}},
};

std::string layer_of(const std::string& path) {
  std::string best;
  for (const auto& [layer, others] : allowed)
    if (path.starts_with(layer + "/") && layer.size() > best.size()) best = layer;
  return best;
}

/// "a/b.hpp" of a line that includes "a/b.hpp"; angle brackets are somebody else's headers.
std::optional<std::string> included(std::string_view line) {
  const auto skip_blanks = [&] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  for (const std::string_view token : {"#", "include", "\""}) {
    skip_blanks();
    if (!line.starts_with(token)) return std::nullopt;
    line.remove_prefix(token.size());
  }
  const std::size_t end = line.find('"');
  if (end == 0 || end == line.npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

/// The violations in one file's text, as "file:line: layer must not include "header"".
std::vector<std::string> violations_in(const std::string& path, std::istream& text) {
  std::vector<std::string> found;
  const std::string from = layer_of(path);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::optional<std::string> header = included(line);
    if (!header) continue;
    const std::string to = layer_of(*header);
    const std::string where = path + ":" + std::to_string(number) + ": ";
    if (to.empty()) {
      found.push_back(where + "\"" + *header + "\" does not start at a layer's folder");
    } else if (to != from && !allowed.at(from).contains(to)) {
      found.push_back(where + from + " must not include \"" + *header + "\"");
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

/// What the APIs move is theirs to name: the words of one of them, in lower case, outside comments.
const std::set<std::string> words_of_apis = {"bootc",    "bootcnode", "pool",   "pools",   "reboot",
                                             "rebooted", "staged",    "cordon", "drained", "drain"};
/// Who must do without them, by the beginning of their paths.
constexpr std::string_view speechless[] = {
    "cli/service",  "cli/survey", "cli/demo",  "cli/run_command", "cli/connect",
    "cli/commands", "cli/output", "units/api", "k8s/engagement",  "simulation/world."};

/// "file:line: word" for each such word.
std::vector<std::string> words_in(const std::string& path, std::istream& text) {
  std::vector<std::string> found;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    line = line.substr(0, line.find("//")) + " ";
    std::string word;
    for (const char c : line) {
      if (std::isalpha(static_cast<unsigned char>(c))) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        continue;
      }
      if (words_of_apis.contains(word))
        found.push_back(path + ":" + std::to_string(number) + ": " + word);
      word.clear();
    }
  }
  return found;
}

TEST(Layers, WhoShowsAndRunsApisNamesNoneOfThem) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* folder : {"cli", "units", "k8s", "simulation"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = fs::relative(entry.path(), root).generic_string();
      const auto begins = [&](std::string_view with) { return path.starts_with(with); };
      if (std::ranges::none_of(speechless, begins)) continue;
      ++files;
      std::ifstream text(entry.path());
      for (const std::string& word : words_in(path, text)) ADD_FAILURE() << word;
    }
  }
  EXPECT_GT(files, 12u) << "the check looked at too little of " << root;
}

TEST(Layers, AWordOfAnApiIsReportedWithFileAndLine) {
  std::istringstream text("int nodes = 1;  // of a pool\nauto x = bootc_part(\"Staged\");\n");
  EXPECT_EQ(words_in("cli/service.cpp", text),
            (std::vector<std::string>{"cli/service.cpp:2: bootc", "cli/service.cpp:2: staged"}));
}

TEST(Layers, AnUpwardIncludeIsReportedWithFileAndLine) {
  std::istringstream text("#include \"reactor/loop.hpp\"\n# include  \"k8s/client.hpp\"  // no\n");
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
