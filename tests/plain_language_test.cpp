// The words that operators read: messages in the code, the stock packs, the page, what deploy/
// ships and the pages of docs/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
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

/// The line's text without the comment that `mark` begins outside of quotes; with `literals`, only
/// what stands in double quotes.
std::string said_in(std::string_view line, std::string_view mark, bool literals) {
  std::string out;
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote && c == '\\') {
      ++at;
      continue;
    }
    if (quote) {
      if (c == quote) quote = 0;
    } else if (!mark.empty() && line.substr(at).starts_with(mark)) {
      break;
    } else if (c == '"' || (c == '\'' && literals)) {
      quote = c;
    }
    if (!literals || quote == '"') out += c;
    if (literals && c == '"' && !quote) out += ' ';
  }
  return out;
}

struct reading {
  std::string_view folder, extension, comment;
  bool literals;
};
constexpr reading read_by_operators[] = {
    {"", ".cpp", "//", true},          {"", ".hpp", "//", true},
    {"policies", ".lua", "--", false}, {"service", ".js", "//", false},
    {"service", ".html", "", false},   {"deploy", ".yaml", "", false},
    {"deploy", ".txt", "", false},     {"docs", ".md", "", false},
    {"policies", ".md", "", false},    {"docs/reference", ".md", "", false},
};

/// What is not for operators, or says what others said.
bool is_passed_over(const std::string& path) {
  for (const std::string_view begin : {"build/", "tests/", "bench/", ".", "docs/adr/", "docs/contract/"})
    if (path.starts_with(begin)) return true;
  return path.ends_with("_test.lua");
}

TEST(PlainLanguage, OperatorsReadNoSentenceWithoutAnActor) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (auto at = fs::recursive_directory_iterator(root); at != fs::end(at); ++at) {
    const std::string path = fs::relative(at->path(), root).string();
    if (at->is_directory() && (path == "build" || path.starts_with(".")))
      at.disable_recursion_pending();
    if (!at->is_regular_file() || is_passed_over(path)) continue;
    const auto how = std::find_if(
        std::begin(read_by_operators), std::end(read_by_operators), [&](const reading& r) {
          return path.starts_with(r.folder) && at->path().extension() == r.extension;
        });
    if (how == std::end(read_by_operators)) continue;
    ++files;
    std::ifstream text(at->path());
    std::string line;
    for (int number = 1; std::getline(text, line); ++number)
      for (const std::string& word : unclear_in(said_in(line, how->comment, how->literals)))
        ADD_FAILURE() << path << ":" << number << ": \"" << word << "\": name who acts: " << line;
  }
  EXPECT_GT(files, 500u) << "the tree was not found";
}

TEST(PlainLanguage, TheReaderSeesLiteralsAndNoComments) {
  EXPECT_EQ(unclear_in(said_in(R"(say("nobody \"x\" moved");  // somebody)", "//", true)),
            std::vector<std::string>{"nobody"});
  EXPECT_EQ(unclear_in(said_in(R"(int nobody = '"'; f("a // whoever");)", "//", true)),
            std::vector<std::string>{"whoever"});
  EXPECT_EQ(unclear_in(said_in("return 'it shall be' -- anew", "--", false)),
            std::vector<std::string>{"shall"});
  EXPECT_TRUE(unclear_in("marshall whomever renew").empty());
}

}  // namespace
