// What people read: its links lead somewhere, its commands are known, and the messages it explains
// are those of the program.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/plain/entropy.hpp"
#include "service/reference/reference.hpp"
#include "tests/deploy/files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using deploy_files::bytes_of;
using deploy_files::root;

/// Everything that is written for people, from the root.
std::vector<fs::path> pages() {
  std::vector<fs::path> all;
  for (const auto& f : fs::directory_iterator(root))
    if (f.path().extension() == ".md") all.push_back(f.path());
  for (const char* folder : {"docs", "policies", "deploy"})
    for (const auto& f : fs::recursive_directory_iterator(root / folder))
      if (f.path().extension() == ".md") all.push_back(f.path());
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// How GitHub names a heading: lower case, blanks as dashes, no other signs.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      out += '-';
  }
  return out;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> all;
  for (const std::string& line : lines_of(bytes_of(page)))
    if (line.starts_with("#")) all.insert(anchor_of(line.substr(line.find_first_not_of('#') + 1)));
  return all;
}

TEST(Docs, EveryLinkLeadsSomewhere) {
  const std::regex link(R"(\]\(([^)\s]+)\))");
  std::size_t followed = 0;
  for (const fs::path& page : pages()) {
    const std::string text = bytes_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.find("://") != std::string::npos) continue;
      ++followed;
      const std::string file = target.substr(0, target.find('#'));
      const fs::path to = file.empty() ? page : page.parent_path() / file;
      EXPECT_TRUE(fs::exists(to)) << page << ": " << target;
      if (target.find('#') == std::string::npos || !fs::exists(to)) continue;
      EXPECT_TRUE(anchors_of(to).contains(target.substr(target.find('#') + 1)))
          << page << ": " << target;
    }
  }
  EXPECT_GT(followed, 12u);
}

/// The words of a command line up to where a shell would end it; none where it holds what only a
/// shell can make a word of.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream in(command);
  for (std::string word; in >> word;) {
    if (word.starts_with("#") || word == "|" || word == ";" || word == "&&") break;
    if (word.find_first_of("$…\"'") != std::string::npos) return {};
    words.push_back(word);
  }
  return words;
}

struct written {
  fs::path page;
  std::string text;
};

/// Commands in blocks and between backticks that begin with `program`, without it.
std::vector<written> commands(const std::string& program) {
  std::vector<written> all;
  const std::regex quoted("`(" + program + " [^`\n]+)`");
  for (const fs::path& page : pages()) {
    // the help texts themselves, examples with words beside
    if (page.filename() == "flags.md") continue;
    bool in_block = false;
    std::string pending;
    for (const std::string& line : lines_of(bytes_of(page))) {
      if (line.starts_with("```")) {
        in_block = !in_block;
        continue;
      }
      if (!in_block) {
        for (std::sregex_iterator it(line.begin(), line.end(), quoted), end; it != end; ++it)
          all.push_back({page, (*it)[1].str().substr(program.size() + 1)});
        continue;
      }
      std::string text = pending + line.substr(std::min(line.find_first_not_of(" $"), line.size()));
      pending.clear();
      if (text.ends_with("\\")) {
        pending = text.substr(0, text.size() - 1);
        continue;
      }
      if (text.starts_with(program + " ")) all.push_back({page, text.substr(program.size() + 1)});
    }
  }
  return all;
}

TEST(Docs, TheProgramKnowsEveryCommandThatIsWritten) {
  std::size_t tried = 0;
  for (const written& w : commands("windlass")) {
    std::vector<std::string> words = words_of(w.text);
    // What is behind is for the shell.
    words.erase(std::ranges::find(words, ">"), words.end());
    // Names of commands in a sentence ("`windlass run`…"), tables of several and Helm's own flags
    // are for other tests.
    if (words.empty() || w.text.find('|') != std::string::npos || words.front() == "helm" ||
        words.front() == "bench")
      continue;
    if (std::ranges::any_of(
            words, [](const std::string& x) { return x == "X" || x == "-o" || x == "COMMAND"; }))
      continue;
    const auto said = cli::parsed(words);
    ++tried;
    // The name of a group alone is its help.
    if (said || said.exit_code == app::success) continue;
    // A sentence may name a command without what it needs.
    EXPECT_NE(said.err.find("required"), std::string::npos)
        << w.page << ": windlass " << w.text << ": " << said.err;
  }
  EXPECT_GT(tried, 15u);
}

/// What a program of this machine says, on both streams.
std::string said_by(const std::string& command) {
  std::string out;
  std::array<char, 4096> some{};
  FILE* const from = popen((command + " 2>&1").c_str(), "r");
  if (!from) return out;
  while (const std::size_t n = std::fread(some.data(), 1, some.size(), from))
    out.append(some.data(), n);
  pclose(from);
  return out;
}

/// The words of a command up to a comment or another command; what stands between quotes is one.
std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '#' || c == '|' || c == ';' || c == '&' || c == '<' || c == '>')) break;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (quote == 0 && c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, std::string());
  return words;
}

bool is_plain(const std::string& word) {
  return std::ranges::all_of(word, [](char c) { return std::islower(c) || c == '-'; });
}

// The real program is asked, so that no page has an option that it does not know.
TEST(Docs, KubectlKnowsEveryOptionThatIsWritten) {
  if (said_by("kubectl version --client").find("Client Version") == std::string::npos)
    GTEST_SKIP() << "there is no kubectl on PATH";
  std::map<std::string, std::string> helps;
  const auto help_of = [&](const std::string& verb) -> const std::string& {
    std::string& help = helps[verb];
    if (help.empty()) help = said_by("kubectl " + verb + (verb.empty() ? "options" : "--help"));
    return help;
  };
  const std::string common = help_of("");
  const auto is_known = [&](const std::string& option, const std::string& verb) {
    const std::string name = option.substr(0, option.find('='));
    const std::string text = help_of(verb) + common;
    if (name.starts_with("--")) return text.find(name + "=") != std::string::npos;
    return text.find(" " + name.substr(0, 2) + ",") != std::string::npos;
  };
  ASSERT_TRUE(is_known("--from-file=a", "create secret generic "));
  ASSERT_FALSE(is_known("--label", "create secret generic "));
  std::size_t tried = 0;
  for (const written& w : commands("kubectl")) {
    std::vector<std::string> options;
    std::string verb;
    bool is_value = false;
    std::size_t named = 0;
    for (const std::string& word : shell_words(w.text)) {
      if (word.starts_with("-") && word != "-") {
        options.push_back(word);
        // An option without a value of its own takes the next word, before the verb at least.
        is_value = verb.empty() && word.find('=') == word.npos;
      } else if (is_value) {
        is_value = false;
      } else if (named < 3 && is_plain(word)) {
        const std::string longer = verb + word + " ";
        const bool is_verb = named == 0 || (verb == "create " || verb == "create secret " ||
                                            verb == "rollout " || verb == "config ");
        if (is_verb) {
          verb = longer;
          ++named;
        }
      }
    }
    if (verb.empty()) continue;
    for (const std::string& option : options) {
      ++tried;
      EXPECT_TRUE(is_known(option, verb)) << w.page << ": kubectl " << w.text << ": " << option;
    }
  }
  EXPECT_GT(tried, 20u);
}

TEST(Licences, EveryFileHasOneWhoseTextIsThere) {
  const std::string table = bytes_of(root / "REUSE.toml");
  EXPECT_NE(table.find("path = \"**\""), std::string::npos) << "every file";
  const std::regex named("SPDX-License-Identifier = \"([^\"]+)\"");
  std::set<std::string> licences;
  for (std::sregex_iterator it(table.begin(), table.end(), named), end; it != end; ++it) {
    std::istringstream words((*it)[1]);
    for (std::string word; words >> word;)
      if (word != "OR" && word != "AND") licences.insert(word);
  }
  EXPECT_TRUE(licences.contains("Apache-2.0"));
  for (const std::string& one : licences)
    EXPECT_GT(bytes_of(root / "LICENSES" / (one + ".txt")).size(), 500u) << one;
  for (const auto& f : fs::directory_iterator(root / "LICENSES"))
    EXPECT_TRUE(licences.contains(f.path().stem())) << f.path() << " is the text of nothing";
  EXPECT_TRUE(bytes_of(root / "LICENSES/Apache-2.0.txt") == bytes_of(root / "LICENSE"));
  const std::regex path("path = \"([^\"*]+)/\\*\\*\"");
  for (std::sregex_iterator it(table.begin(), table.end(), path), end; it != end; ++it)
    EXPECT_TRUE(fs::exists(root / (*it)[1].str())) << (*it)[1];
}

TEST(Docs, TheReferenceIsAsTheProgramTellsIt) {
  std::vector<std::string> schemas;
  std::set<fs::path> files;
  for (const auto& f : fs::directory_iterator(root / "docs/schema")) files.insert(f.path());
  for (const fs::path& f : files) schemas.push_back(bytes_of(f));
  const fs::path folder = root / "docs/reference";
  for (const auto& [name, text] : cli::reference_pages(cli::program(), cli::apis(), schemas)) {
    if (std::getenv("WINDLASS_RENDER")) std::ofstream(folder / name) << text;
    EXPECT_TRUE(bytes_of(folder / name) == text)
        << "docs/reference/" << name << " is older than the program: ./dev render";
  }
}

TEST(Docs, EveryReasonOfAnEventStandsInItsTable) {
  std::set<std::string> known;
  for (const units::api& a : cli::apis())
    for (const k8s::event_kind& e : a.events) known.emplace(e.reason);
  const std::regex told(
      R"re((event_severity::(normal|warning), |say\(|warnings\.push_back\(\s*\{)"([A-Z]\w+)")re");
  std::size_t found = 0;
  for (const auto& f : fs::recursive_directory_iterator(root / "bootc")) {
    const std::string text = f.path().extension() == ".cpp" ? bytes_of(f.path()) : std::string();
    for (std::sregex_iterator it(text.begin(), text.end(), told), end; it != end; ++it) {
      ++found;
      EXPECT_TRUE(known.contains((*it)[3])) << f.path() << ": " << (*it)[3];
    }
  }
  EXPECT_GT(found, 8u);
}

TEST(Docs, TheEmbeddedApiServerAnswersAsItsPageSays) {
  const std::regex row(R"(^\| `([A-Z]+) ([^`]+)` \| ([0-9]+) \|)");
  k8s::sim::api_options options;
  options.wall = [] { return reactor::wall_time(); };
  options.now = [] { return reactor::steady_time(); };
  reactor::seeded_entropy rng(1);
  options.entropy = &rng;
  k8s::sim::api_server api(std::move(options));
  std::size_t asked = 0;
  for (const std::string& line : lines_of(bytes_of(root / "docs/embedded-api-server.md"))) {
    std::smatch told;
    if (!std::regex_search(line, told, row)) continue;
    ++asked;
    const bool writes = told[1] == "POST";
    const auto answer =
        api.handle(k8s::sim::make_request(told[1], told[2].str(), writes ? "{}" : ""));
    EXPECT_EQ(std::to_string(answer.status), told[3]) << line << "\n" << answer.body;
  }
  EXPECT_GT(asked, 12u);
}

/// `sh`: tests/deploy/pages.py, or a test of the page's own, runs it. `console`: it is shown.
TEST(Docs, EveryBlockOfCommandsSaysWhetherItIsRun) {
  std::size_t found = 0;
  for (const fs::path& page : pages()) {
    if (page.filename() == "flags.md" || page.parent_path() == root) continue;
    std::string fence;
    for (const std::string& line : lines_of(bytes_of(page))) {
      if (line.starts_with("```")) {
        fence = fence.empty() ? line : std::string();
        continue;
      }
      if (fence.empty() || !std::regex_search(line, std::regex("^(\\$ )?(windlass|kubectl|helm) ")))
        continue;
      ++found;
      EXPECT_TRUE(fence == (line.starts_with("$ ") ? "```console" : "```sh"))
          << page << ": " << fence << ": " << line;
    }
  }
  EXPECT_GT(found, 40u);
}

TEST(Docs, TheVerbsOfTheProjectExist) {
  const std::string dev = bytes_of(root / "dev");
  for (const written& w : commands("./dev")) {
    const std::string verb = w.text.substr(0, w.text.find(' '));
    EXPECT_TRUE(std::regex_search(dev, std::regex("\n  " + verb + "\\)")))
        << w.page << ": " << verb;
  }
}

TEST(Docs, EveryFileOfDeployThatIsNamedIsThere) {
  const std::regex path(R"((^|[\s`(])(deploy/[\w./-]*[\w-]))");
  for (const fs::path& page : pages()) {
    const std::string text = bytes_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end; ++it)
      EXPECT_TRUE(fs::exists(root / (*it)[2].str())) << page << ": " << (*it)[2];
  }
}

TEST(Docs, TheMessagesThatAreExplainedAreThoseOfTheProgram) {
  // The kubelet's and the API server's.
  const std::set<std::string> others = {"ErrImagePull", "ImagePullBackOff", "violates PodSecurity",
                                        "spec.image.ref: Invalid value"};
  std::string everything;
  for (const char* folder :
       {"cli", "app", "service", "k8s", "bootc", "helm", "registry", "deploy/chart/templates"})
    for (const auto& f : fs::recursive_directory_iterator(root / folder))
      if (f.is_regular_file()) everything += bytes_of(f.path());
  const std::regex quoted("`([^`]+)`");
  std::size_t found = 0;
  for (const std::string& line : lines_of(bytes_of(root / "docs/troubleshooting.md"))) {
    if (!line.starts_with("### ")) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), quoted), end; it != end; ++it) {
      ++found;
      if (others.contains((*it)[1])) continue;
      EXPECT_NE(everything.find((*it)[1]), std::string::npos) << (*it)[1];
    }
  }
  EXPECT_GT(found, 12u);
}

/// The tests that a C++ file of tests/ has, as Suite.Test, and the live ones by their names.
std::set<std::string> all_tests() {
  std::set<std::string> all;
  const std::regex test(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))"),
      live(R"(\bwindlass_live\((\w+))");
  for (const auto& f : fs::recursive_directory_iterator(root / "tests")) {
    const bool lists = f.path().filename() == "CMakeLists.txt";
    if (!lists && f.path().extension() != ".cpp") continue;
    const std::string text = bytes_of(f.path());
    for (std::sregex_iterator it(text.begin(), text.end(), lists ? live : test), end; it != end;
         ++it)
      all.insert(lists ? (*it)[1].str() : (*it)[1].str() + "." + (*it)[2].str());
  }
  return all;
}

TEST(Docs, EveryThreatNamesTestsThatExist) {
  const std::set<std::string> tests = all_tests();
  const std::string page = bytes_of(root / "docs/security.md");
  const std::size_t table = page.find("| attack |");
  ASSERT_NE(table, page.npos);
  const std::regex named(R"(`([\w.]+)`)");
  std::size_t rows = 0;
  for (const std::string& line : lines_of(page.substr(table))) {
    if (!line.starts_with("| ") || line.starts_with("| attack") || line.starts_with("| ---"))
      continue;
    const std::string last = line.substr(line.rfind('|', line.size() - 2));
    std::size_t found = 0;
    for (std::sregex_iterator it(last.begin(), last.end(), named), end; it != end; ++it, ++found)
      EXPECT_TRUE(tests.contains((*it)[1].str())) << (*it)[1] << " is no test: " << line;
    EXPECT_GT(found, 0u) << "no test is named: " << line;
    ++rows;
  }
  EXPECT_GE(rows, 15u);
}

}  // namespace
