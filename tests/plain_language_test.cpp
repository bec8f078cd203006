// The words that people read: code with its comments and names, the stock packs, the page, what
// deploy/ ships and the pages of docs/.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Words without an actor, or of another century. Name the actor: the caller, the API server, the
/// user, another controller.
const std::set<std::string> unclear = {
    "somebody", "nobody",    "whoever",   "whom",  "anew",     "wherever",  "shall",
    "furnish",  "furnishes", "furnished", "borne", "nobody's", "somebody's"};

/// The unclear words of a text, in lower case.
std::vector<std::string> unclear_in(std::string_view text) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) || (c == '\'' && !word.empty())) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (unclear.contains(word)) found.push_back(word);
    word.clear();
  }
  return found;
}

/// What is read whole: code with its comments and names, packs, the page, manifests, documents.
const std::set<std::string> read_whole = {".cpp", ".hpp", ".lua", ".js", ".html", ".yaml", ".md"};

/// What is no part of the product, or is history.
bool is_passed_over(const std::string& path) {
  for (const std::string_view begin : {"build/", "tests/", "bench/", ".", "docs/adr/"})
    if (path.starts_with(begin)) return true;
  // Rows of a contract name tests of packs by their sentences.
  return path.ends_with("_test.lua") || path.starts_with("docs/contract/");
}

TEST(PlainLanguage, NoSentenceOrNameIsWithoutAnActor) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (auto at = fs::recursive_directory_iterator(root); at != fs::end(at); ++at) {
    const std::string path = fs::relative(at->path(), root).string();
    if (at->is_directory() && (path == "build" || path.starts_with(".")))
      at.disable_recursion_pending();
    if (!at->is_regular_file() || is_passed_over(path)) continue;
    if (!read_whole.contains(at->path().extension().string())) continue;
    ++files;
    std::ifstream text(at->path());
    std::string line;
    for (int number = 1; std::getline(text, line); ++number)
      for (const std::string& word : unclear_in(line))
        ADD_FAILURE() << path << ":" << number << ": \"" << word << "\": name who acts: " << line;
  }
  EXPECT_GT(files, 1'500u) << "the tree was not found";
}

TEST(PlainLanguage, WordsAreFoundInNamesAndSentences) {
  EXPECT_EQ(unclear_in("say(\"nobody moved\");  // by Somebody's"),
            (std::vector<std::string>{"nobody", "somebody's"}));
  EXPECT_EQ(unclear_in("int shall_be = 0;"), std::vector<std::string>{"shall"});
  EXPECT_TRUE(unclear_in("marshall whomever renew").empty());
}

}  // namespace
