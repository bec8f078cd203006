// Rules that the compiler cannot hold, looked for in the text of everything that ships.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct rule {
  std::string name, forbidden, why;
  std::map<std::string, std::string> except;  // file → reason
};

const std::vector<rule> rules = {
    {"OnlyKeyedTables",
     "std::unordered_",
     "its hash can be predicted and its order depends on it: reactor::keyed_map has a key and no "
     "order",
     {{"reactor/keyed_map.hpp", "the table itself"}}},
    {"OnlyKeyedHashes", "std::hash<", "it has no key: reactor::keyed_hash has one", {}},
    {"NoCredentialAmongTheFields",
     "\"Authorization\"",
     "fields are copied and never overwritten: http::request::authorization is a secret",
     {}},
    {"BearerTokensAreMadeOnce",
     "\"Bearer ",
     "a text that is put together leaves copies: http::bearer_authorization does not",
     {{"reactor/http/authorization.cpp", "makes it"},
      {"k8s/sim/routes.cpp", "the embedded server reads it"}}},
    {"BasicProofsAreMadeOnce",
     "\"Basic ",
     "a text that is put together leaves copies: http::basic_authorization does not",
     {{"reactor/http/authorization.cpp", "makes it"}}},
};

const std::vector<std::string> shipped = {"reactor",  "formats", "registry", "k8s",
                                          "policies", "bootc",   "helm",     "cli"};

class Rules : public testing::TestWithParam<rule> {};

TEST_P(Rules, AreKeptByEveryFile) {
  const rule& r = GetParam();
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const std::string& folder : shipped) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      ++files;
      if (r.except.contains(path)) continue;
      std::ifstream text(entry.path());
      std::string line;
      for (int number = 1; std::getline(text, line); ++number)
        if (line.find(r.forbidden) != std::string::npos)
          ADD_FAILURE() << path << ":" << number << ": " << r.forbidden << ": " << r.why;
    }
  }
  EXPECT_GT(files, 300u);
  for (const auto& [path, reason] : r.except) EXPECT_TRUE(fs::exists(root / path)) << path;
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(rules),
                         [](const auto& info) { return info.param.name; });

}  // namespace
