// CONTRACT.md says which test shows which scenario: each has a row, and each test that is named is
// there.
#include "asking.hpp"

#include <filesystem>
#include <regex>
#include <set>

namespace policies::releases {
namespace {

namespace fs = std::filesystem;

/// "Suite.Test" of all tests, and the names of those that packs have.
struct known_tests {
  known_tests() {
    const std::regex cpp(R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))"),
        lua(R"re(test\("([^"]+)",)re");
    for (const char* root : {"/tests", "/policies"}) {
      for (const auto& file :
           fs::recursive_directory_iterator(WINDLASS_SOURCE_DIR + std::string(root))) {
        const std::string extension = file.path().extension();
        if (extension != ".cpp" && extension != ".lua") continue;
        const std::string text = read_text(file.path());
        const bool is_lua = extension == ".lua";
        for (std::sregex_iterator at(text.begin(), text.end(), is_lua ? lua : cpp), end; at != end;
             ++at) {
          if (is_lua) {
            packs.insert((*at)[1]);
          } else {
            suites.insert((*at)[1]);
            tests.insert((*at)[1].str() + "." + (*at)[2].str());
          }
        }
      }
    }
  }
  std::set<std::string> tests, suites, packs;
};

TEST(ReleaseContract, HasATestForEachScenario) {
  const known_tests known;
  std::istringstream text(read_text(WINDLASS_SOURCE_DIR "/tests/releases/CONTRACT.md"));
  const std::regex row(R"(\| (\d+) \|.*\|(.*)\|)"), bad_row(R"(\| ([^|]+) \|(.*)\|)"),
      name("`([A-Z]\\w+)\\.(\\w+|\\*)`"), pack("pack: ([^;|`]+)");
  std::set<int> scenarios;
  std::size_t bad_inputs = 0;
  bool bad = false;
  for (std::string line; std::getline(text, line);) {
    std::size_t named = 0;
    for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at, ++named) {
      const std::string suite = (*at)[1], test = (*at)[2];
      EXPECT_TRUE(test == "*" ? known.suites.contains(suite)
                              : known.tests.contains(suite + "." + test))
          << suite << "." << test << " is named in CONTRACT.md and is no test";
    }
    std::smatch cells;
    bad = bad || line == "## Bad input";
    if (line.starts_with("| --- ") || line.starts_with("| what ")) continue;
    if (!std::regex_match(line, cells, bad ? bad_row : row)) continue;
    if (bad) {
      ++bad_inputs;
    } else {
      scenarios.insert(std::stoi(cells[1]));
    }
    const std::string last = cells[2];
    for (std::sregex_iterator at(last.begin(), last.end(), pack), end; at != end; ++at, ++named) {
      std::string wanted = (*at)[1];
      wanted.erase(wanted.find_last_not_of(" ,") + 1);
      EXPECT_TRUE(known.packs.contains(wanted)) << "no pack has a test '" << wanted << "'";
    }
    EXPECT_GT(named, 0u) << line;
  }
  EXPECT_EQ(bad_inputs, 22u);
  for (int i = 1; i <= 36; ++i)
    EXPECT_TRUE(scenarios.contains(i)) << "scenario " << i << " has no row";
}

}  // namespace
}  // namespace policies::releases
