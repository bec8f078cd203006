// docs/releases.md and docs/migrating/giantswarm-releases.md: every command on them is run on the
// real Releases, and every name that they give is one that the program has.
#include "bootc/kinds/names.hpp"
#include "cli/commands.hpp"
#include "reactor/system/files.hpp"
#include "releases/hold.hpp"
#include "releases/names.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace cli {
namespace {

namespace fs = std::filesystem;
const std::string source = WINDLASS_SOURCE_DIR;

std::string page_text(const std::string& path) {
  const auto text = reactor::load_file(source + "/" + path, 1 << 20);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

/// Runs each line of the page's blocks of commands that copies or edits a file.
void prepare(const std::string& page) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const bool edits =
        line.starts_with("mkdir ") || line.starts_with("cp ") || line.starts_with("sed ");
    EXPECT_TRUE(!edits || std::system(line.c_str()) == 0) << line;
  }
}

/// The lines of blocks of commands that begin with `windlass `, as words.
std::vector<std::vector<std::string>> commands_of(const std::string& page) {
  std::vector<std::vector<std::string>> all;
  bool inside = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("```")) inside = !inside && line == "```sh";
    if (!inside || !line.starts_with("windlass ")) continue;
    std::erase(line, '\'');
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    words.erase(words.begin());
    all.push_back(std::move(words));
  }
  return all;
}

class ReleasePages : public testing::TestWithParam<const char*> {};

TEST_P(ReleasePages, EachCommandDoesWhatItSays) {
  const fs::path before = fs::current_path();
  reactor::temporary_folder folder;
  fs::copy(source + "/tests/data/releases", folder.path() + "/releases",
           fs::copy_options::recursive);
  folder.write("available.yaml", "kubernetes: [1.34.12, 1.35.1]\nflatcar: [4593.2.6]\n");
  folder.write("built.yaml", "flatcar-stable-4593.2.4-kube-1.34.12-tooling-1.33.1-gs\n");
  folder.write("in-use", "34.5.0\n");
  for (const char* shipped : {"policies", "deploy"})
    fs::create_directory_symlink(source + "/" + shipped, folder.path() + "/" + shipped);
  fs::current_path(folder.path());
  prepare(page_text(GetParam()));
  std::size_t ran = 0;
  for (const std::vector<std::string>& words : commands_of(page_text(GetParam()))) {
    std::string line;
    for (const std::string& word : words) line += word + " ";
    const parse_outcome outcome = parsed(words);
    EXPECT_EQ(outcome.exit_code, 0) << line << outcome.err;
    if (words.front() != "release") continue;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = dispatch(words);
    const std::string out = testing::internal::GetCapturedStdout(),
                      err = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(code == success || code == needs_approval || code == denied)
        << line << code << err << out;
    EXPECT_EQ(err, "") << line;
    EXPECT_NE(out, "") << line;
    fs::remove_all("drafts");
    ++ran;
  }
  fs::current_path(before);
  EXPECT_GE(ran, 8u);
}

INSTANTIATE_TEST_SUITE_P(All, ReleasePages,
                         testing::Values("docs/releases.md",
                                         "docs/migrating/giantswarm-releases.md"),
                         [](const auto& page) {
                           std::string name = fs::path(page.param).stem();
                           std::erase(name, '-');
                           return name;
                         });

TEST(ReleasePageNames, NameEveryHoldAndAnnotationOfAPool) {
  const std::string page = page_text("docs/releases.md");
  for (const units::hold_kind& k : releases::hold_code::of_pools)
    EXPECT_THAT(page, testing::HasSubstr("`" + std::string(k.code) + "`"));
  for (const std::string_view name : {bootc::names::release, releases::names::at,
                                      releases::names::from, releases::names::conditions})
    EXPECT_THAT(page, testing::HasSubstr(std::string(name)));
}

}  // namespace
}  // namespace cli
