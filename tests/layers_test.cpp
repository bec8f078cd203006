// The architecture, checked: the table of ARCHITECTURE.md ("Folders are layers") says who may
// include whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Folder → who it may include besides itself: the folders of its own row, and what the row's last
/// column says: names of rows (any of their folders will do), single headers, or everything.
struct layers {
  std::map<std::string, std::size_t> rows;     // folder → its row
  std::vector<std::set<std::string>> allowed;  // by row
  std::vector<bool> everything;                // by row

  /// The longest folder that the path lies in, or "".
  std::string folder_of(const std::string& path) const {
    std::string best;
    for (const auto& [folder, row] : rows)
      if (path.starts_with(folder + "/") && folder.size() > best.size()) best = folder;
    return best;
  }
  bool may_include(const std::string& from, const std::string& header) const {
    const std::string to = folder_of(header);
    const std::size_t row = rows.at(from);
    if (to.empty()) return false;
    if (row == rows.at(to) || everything[row]) return true;
    if (allowed[row].contains(header.substr(0, header.rfind('.')))) return true;
    return std::any_of(allowed[row].begin(), allowed[row].end(), [&](const std::string& name) {
      const auto named = rows.find(name);
      return named != rows.end() && named->second == rows.at(to);
    });
  }
};

std::string trimmed(std::string text) {
  std::erase(text, '`');
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> words(const std::string& text, const char* between) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    if (auto word = trimmed(text.substr(at, end - at)); !word.empty()) out.push_back(word);
    at = end + 1;
  }
  return out;
}

/// The rows "| `folder/` … | what it holds | who it may include |" of the section.
layers read_table(std::istream& text) {
  layers out;
  std::string line;
  bool inside = false;
  while (std::getline(text, line)) {
    if (line.starts_with("## ")) inside = line == "## Folders are layers";
    if (!inside || !line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = std::min(line.find('|', at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (cells.size() < 3) continue;
    for (std::string folder : words(cells.front(), " ")) {
      if (folder.ends_with('/')) folder.pop_back();
      out.rows[folder] = out.allowed.size();
    }
    const auto names = words(cells.back(), ", ");
    out.allowed.emplace_back(names.begin(), names.end());
    out.everything.push_back(out.allowed.back().contains("everything"));
  }
  return out;
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

/// Folder → folder → the first include that leads there, as "file:line".
using graph = std::map<std::string, std::map<std::string, std::string>>;

/// The violations in one file's text, as "file:line: folder must not include "header""; what is
/// included goes to `edges`.
std::vector<std::string> violations_in(const layers& table, const std::string& path,
                                       std::istream& text, graph* edges = nullptr) {
  std::vector<std::string> found;
  const std::string from = table.folder_of(path);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::optional<std::string> header = included(line);
    if (!header) continue;
    const std::string to = table.folder_of(*header);
    const std::string where = path + ":" + std::to_string(number);
    if (to.empty()) {
      found.push_back(where + ": \"" + *header + "\" does not start at a layer's folder");
    } else if (!table.may_include(from, *header)) {
      found.push_back(where + ": " + from + " must not include \"" + *header + "\"");
    }
    if (edges && !to.empty() && to != from) (*edges)[from].try_emplace(to, where);
  }
  return found;
}

/// One sentence for each set of folders that include one another, with an include for each step of
/// a way around.
std::vector<std::string> circles_in(const graph& edges) {
  std::vector<std::string> found;
  std::set<std::string> told;
  const auto way = [&](const std::string& from, const std::string& to) {
    std::map<std::string, std::string> before;  // breadth first
    std::vector<std::string> open{from};
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto next = edges.find(open[i]);
      if (next == edges.end()) continue;
      for (const auto& [folder, where] : next->second)
        if (before.try_emplace(folder, open[i]).second) open.push_back(folder);
    }
    std::vector<std::string> out;
    for (std::string at = to; before.contains(at); at = before[at]) {
      out.insert(out.begin(), at);
      if (before[at] == from) break;
    }
    return out;
  };
  for (const auto& [folder, next] : edges) {
    if (told.contains(folder)) continue;
    const std::vector<std::string> round = way(folder, folder);
    if (round.empty()) continue;
    std::string text = folder, at = folder;
    for (const std::string& step : round) {
      text += " → " + step + " (" + edges.at(at).at(step) + ")";
      at = step;
    }
    for (const auto& [other, more] : edges)
      if (!way(folder, other).empty() && !way(other, folder).empty()) told.insert(other);
    found.push_back(text);
  }
  return found;
}

layers architecture() {
  std::ifstream text(WINDLASS_SOURCE_DIR "/ARCHITECTURE.md");
  return read_table(text);
}

/// f(path from the root, file) for every source and header below the folders of the table, and
/// below those it has forgotten.
void each_file(const std::function<void(const std::string&, const fs::path&)>& f) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  for (const auto& top : fs::directory_iterator(root)) {
    const std::string name = top.path().filename().string();
    if (!top.is_directory() || name.starts_with('.') || name == "build" || name == "tests")
      continue;
    for (const auto& entry : fs::recursive_directory_iterator(top.path())) {
      const auto extension = entry.path().extension();
      if (extension == ".cpp" || extension == ".hpp")
        f(fs::relative(entry.path(), root).generic_string(), entry.path());
    }
  }
}

TEST(Layers, EveryIncludePointsDownwardsAndNoneInACircle) {
  const layers table = architecture();
  graph edges;
  std::size_t files = 0;
  each_file([&](const std::string& path, const fs::path& file) {
    if (table.folder_of(path).empty()) {
      ADD_FAILURE() << path << " lies in no folder of ARCHITECTURE.md";
      return;
    }
    ++files;
    std::ifstream text(file);
    for (const std::string& violation : violations_in(table, path, text, &edges))
      ADD_FAILURE() << violation;
  });
  const auto circles = circles_in(edges);
  for (const std::string& circle : circles) ADD_FAILURE() << "a circle: " << circle;
  EXPECT_GT(files, 500u) << "the check looked at too little";
  std::cout << "## layers " << table.rows.size() << " files " << files << " circles "
            << circles.size() << "\n";
}

TEST(Layers, EveryFolderOfTheTableIsThereAndEveryNameInItIsKnown) {
  const layers table = architecture();
  const fs::path root = WINDLASS_SOURCE_DIR;
  EXPECT_GT(table.rows.size(), 15u);
  for (const auto& [folder, row] : table.rows)
    EXPECT_TRUE(fs::is_directory(root / folder)) << folder;
  for (const auto& names : table.allowed)
    for (const std::string& name : names)
      EXPECT_TRUE(name == "–" || name == "everything" || table.rows.contains(name) ||
                  fs::exists(root / (name + ".hpp")))
          << name;
}

/// Who speaks Go's language: charts, the formats that Helm and Kubernetes read and write, what
/// packs are given of them, and the embedded API server, whose patterns and times are Go's.
constexpr std::string_view speaking_go[] = {"formats/", "helm/", "fleetwide/charts/",
                                            "policies/host/", "k8s/sim/objects/"};

/// The headers of formats/ whose includes lead to formats/go, by themselves or through others.
std::set<std::string> headers_of_go() {
  std::map<std::string, std::set<std::string>> includes;
  each_file([&](const std::string& path, const fs::path& file) {
    if (!path.starts_with("formats/") || !path.ends_with(".hpp")) return;
    std::ifstream text(file);
    std::set<std::string>& of_file = includes[path];
    for (std::string line; std::getline(text, line);)
      if (const auto header = included(line)) of_file.insert(*header);
  });
  std::set<std::string> found;
  for (std::size_t before = 1; before != found.size();) {
    before = found.size();
    for (const auto& [path, headers] : includes)
      if (path.starts_with("formats/go/") ||
          std::ranges::any_of(headers, [&](const auto& h) { return found.contains(h); }))
        found.insert(path);
  }
  return found;
}

TEST(Layers, OnlyWhoSpeaksGoIncludesHowGoHoldsPrintsAndComparesValues) {
  const std::set<std::string> of_go = headers_of_go();
  EXPECT_TRUE(of_go.contains("formats/go/value.hpp"));
  EXPECT_TRUE(of_go.contains("formats/json/record.hpp"));
  EXPECT_FALSE(of_go.contains("formats/plain/text.hpp"));
  each_file([&](const std::string& path, const fs::path& file) {
    if (std::ranges::any_of(speaking_go, [&](auto with) { return path.starts_with(with); })) return;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
      const std::string header = included(line).value_or("");
      EXPECT_FALSE(of_go.contains(header)) << path << " includes " << header;
    }
  });
}

/// Where a value goes to another thread on somebody's word, and how often.
const std::map<std::string, int> vouched_for = {
    {"helm/commands/verify_command.cpp", 2},  // the program's clock and entropy outlive its loop
    {"policies/host/sandbox.cpp", 2},         // a test's trial of memory, null elsewhere
};

TEST(Layers, WhatGoesToAWorkerOnSomebodysWordIsListed) {
  std::map<std::string, int> found;
  each_file([&](const std::string& path, const fs::path& file) {
    if (path == "reactor/plain/owned.hpp") return;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);)
      if (line.find("vouched<") != line.npos) ++found[path];
  });
  EXPECT_EQ(found, vouched_for);
}

TEST(Layers, NoRoomIsTooCrowdedToRead) {
  std::map<std::string, int> files;
  each_file(
      [&](const std::string& path, const fs::path&) { ++files[path.substr(0, path.rfind('/'))]; });
  for (const auto& [folder, count] : files) EXPECT_LE(count, 36) << folder;
}

TEST(Layers, AFileOfMoreThan500LinesBeginsWithTheSentenceThatSaysWhyItIsOneIdea) {
  const auto look = [](const std::string& path, const fs::path& file) {
    std::ifstream text(file);
    std::string first, line;
    std::getline(text, first);
    int lines = 1;
    while (std::getline(text, line)) ++lines;
    EXPECT_TRUE(lines <= 500 || first.starts_with("// ")) << path << " has " << lines << " lines";
  };
  each_file(look);
  const fs::path root = WINDLASS_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests"))
    if (const auto e = entry.path().extension(); e == ".cpp" || e == ".hpp")
      look(fs::relative(entry.path(), root).generic_string(), entry.path());
}

/// "path:line: name: count" of each class with more than 20 data members (their names end in "_")
/// whose comment has no paragraph "Members", which says why.
std::vector<std::string> large_classes_in(const std::string& path, std::istream& text) {
  static const std::regex head(R"(^\s*class (\w+)[^;]*$)"), member(R"(\b[a-z]\w*_(?=[;,]))"),
      noise(R"(\s*//.*|"(\\.|[^"\\])*"|'(\\.|[^'\\])')"), initial(R"(\{[^{}]*\}| = [^,;]*)");
  struct open_class {
    std::string name;
    int line, depth, members;
    bool is_explained, is_entered;
  };
  std::vector<std::string> found;
  std::vector<open_class> open;
  bool explains = false;
  int depth = 0, number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.find("/// Members ") != line.npos) explains = true;
    const std::string code = std::regex_replace(line, noise, "");
    if (code.find_first_not_of(' ') == code.npos) continue;
    std::smatch m;
    if (std::regex_match(code, m, head) && code.find("enum ") == code.npos)
      open.push_back({m[1], number, depth + 1, 0, explains, false});
    explains = false;
    if (!open.empty() && open.back().is_entered && depth == open.back().depth &&
        code.ends_with(';')) {
      const std::string names = std::regex_replace(code, initial, "");
      open.back().members += static_cast<int>(
          std::distance(std::sregex_iterator(names.begin(), names.end(), member), {}));
    }
    for (const char c : code) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (!open.empty() && depth == open.back().depth) open.back().is_entered = true;
      if (open.empty() || !open.back().is_entered || depth >= open.back().depth) continue;
      const open_class& done = open.back();
      if (done.members > 20 && !done.is_explained)
        found.push_back(path + ":" + std::to_string(done.line) + ": " + done.name + ": " +
                        std::to_string(done.members));
      open.pop_back();
    }
  }
  return found;
}

TEST(Layers, AClassOfMoreThan20DataMembersSaysWhy) {
  each_file([&](const std::string& path, const fs::path& file) {
    if (path.starts_with("bench/")) return;
    std::ifstream text(file);
    for (const std::string& large : large_classes_in(path, text)) ADD_FAILURE() << large;
  });
}

TEST(Layers, DataMembersAreCounted) {
  std::string text = "class one final : public base {\n  int call() const { return a_; }\n";
  for (int i = 0; i < 20; ++i) text += "  part p" + std::to_string(i) + "_{other_, b_};  // c_;\n";
  std::istringstream few(text + "};\n"), many(text + "  bool a_ = false, b_;\n};\n"),
      explained("/// Members  for a reason.\n" + text + "  bool a_ = false, b_;\n};\n");
  EXPECT_EQ(large_classes_in("x.hpp", few), std::vector<std::string>{});
  EXPECT_EQ(large_classes_in("x.hpp", many), std::vector<std::string>{"x.hpp:1: one: 22"});
  EXPECT_EQ(large_classes_in("x.hpp", explained), std::vector<std::string>{});
}

/// Who plays a fleet, or measures: the only ones that may include each other.
constexpr std::string_view playing[] = {"simulation/", "bench/", "k8s/sim/", "cli/commands"};

/// What the APIs move is theirs to name: the words of one of them, in lower case, outside comments.
const std::set<std::string> words_of_apis = {"bootc",    "bootcnode", "pool",   "pools",   "reboot",
                                             "rebooted", "staged",    "cordon", "drained", "drain"};
/// Who must do without them, by the beginning of their paths.
constexpr std::string_view api_agnostic_files[] = {"app/c",
                                                   "app/f",
                                                   "app/l",
                                                   "app/o",
                                                   "app/p",
                                                   "app/r",
                                                   "app/s",
                                                   "app/api/api",
                                                   "app/api/setup",
                                                   "service/service",
                                                   "service/connect",
                                                   "service/overview/",
                                                   "service/ui/",
                                                   "k8s/fleet/engagement",
                                                   "simulation/world."};

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

/// Lines of code: neither blank nor comment alone.
std::size_t lines_of_code(std::istream& text) {
  std::size_t count = 0;
  for (std::string line; std::getline(text, line);) {
    const auto first = line.find_first_not_of(" \t");
    if (first != line.npos && line.compare(first, 2, "//") != 0) ++count;
  }
  return count;
}

/// What a header of a domain that cli/ may include ends with: the lists.
bool is_list(const std::string& header) {
  for (const char* end : {"commands.hpp", "command.hpp", "arguments.hpp", "api.hpp",
                          "secret_converter.hpp", "settings.hpp"})
    if (header.ends_with(end)) return true;
  return false;
}

TEST(Layers, CliIsListsOnly) {
  std::size_t lines = 0;
  each_file([&](const std::string& path, const fs::path& file) {
    if (!path.starts_with("cli/")) return;
    std::ifstream text(file), again(file);
    lines += lines_of_code(text);
    for (std::string line; std::getline(again, line);) {
      const auto header = included(line);
      if (!header) continue;
      for (const char* domain : {"bootc/", "helm/", "compose/", "releases/", "policies/"})
        EXPECT_TRUE(!header->starts_with(domain) || is_list(*header) ||
                    *header == "helm/tenants/chart_children.hpp")  // what main() is in a child
            << path << ": " << *header;
    }
  });
  EXPECT_LE(lines, 400u);
  std::cout << "## lines of cli " << lines << "\n";
}

TEST(Layers, NoProductFolderIncludesSimulationsOrBenches) {
  each_file([&](const std::string& path, const fs::path& file) {
    if (std::ranges::any_of(playing, [&](auto with) { return path.starts_with(with); })) return;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
      const std::string header = included(line).value_or("");
      for (const char* folder : {"simulation/", "bench/", "k8s/sim/"})
        EXPECT_FALSE(header.starts_with(folder)) << path << " includes " << header;
    }
  });
  each_file([&](const std::string& path, const fs::path& file) {
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);)
      EXPECT_EQ(line.find("dynamic_cast<simulation"), line.npos) << path << ": " << line;
  });
  // Benches are a program of their own, so that not even the demo needs them.
  each_file([&](const std::string& path, const fs::path& file) {
    if (path.starts_with("bench/")) return;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);)
      EXPECT_FALSE(included(line).value_or("").starts_with("bench/")) << path << ": " << line;
  });
}

TEST(Layers, TheParserOfCommandLinesIsKnownToOneFile) {
  each_file([&](const std::string& path, const fs::path& file) {
    if (path == "app/command_line.cpp") return;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);)
      EXPECT_FALSE(line.starts_with("#include <CLI/")) << path;
  });
}

TEST(Layers, WhoShowsAndRunsApisNamesNoneOfThem) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* folder : {"app", "cli", "service", "k8s", "simulation"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = fs::relative(entry.path(), root).generic_string();
      const auto begins = [&](std::string_view with) { return path.starts_with(with); };
      if (std::ranges::none_of(api_agnostic_files, begins)) continue;
      ++files;
      std::ifstream text(entry.path());
      for (const std::string& word : words_in(path, text)) ADD_FAILURE() << word;
    }
  }
  EXPECT_GT(files, 12u) << "the check looked at too little of " << root;
}

TEST(Layers, AWordOfAnApiIsReportedWithFileAndLine) {
  std::istringstream text("int nodes = 1;  // of a pool\nauto x = bootc_part(\"Staged\");\n");
  EXPECT_EQ(
      words_in("service/service.cpp", text),
      (std::vector<std::string>{"service/service.cpp:2: bootc", "service/service.cpp:2: staged"}));
}

layers example() {
  std::istringstream text(
      "## Folders are layers\n| folder | holds | may include |\n"
      "| `low/` `low/sub/` | a | – |\n| `pure/` | b | `low/value` |\n"
      "| `middle/` | c | low, `pure` |\n| `top/` | d | everything |\n## Next\n| `x/` | e | low "
      "|\n");
  return read_table(text);
}

TEST(Layers, TheTableIsRead) {
  const layers table = example();
  EXPECT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(table.folder_of("low/sub/a.cpp"), "low/sub");
  EXPECT_EQ(table.folder_of("low/other/a.cpp"), "low");
  EXPECT_TRUE(table.may_include("low", "low/sub/a.hpp"));
  EXPECT_TRUE(table.may_include("pure", "low/value.hpp"));
  EXPECT_FALSE(table.may_include("pure", "low/loop.hpp"));
  EXPECT_TRUE(table.may_include("middle", "low/sub/a.hpp"));
  EXPECT_FALSE(table.may_include("middle", "top/a.hpp"));
  EXPECT_TRUE(table.may_include("top", "middle/a.hpp"));
}

TEST(Layers, AnUpwardIncludeIsReportedWithFileAndLine) {
  std::istringstream text("#include \"low/loop.hpp\"\n# include  \"middle/client.hpp\"  // no\n");
  EXPECT_EQ(violations_in(example(), "low/timer_queue.cpp", text),
            std::vector<std::string>{
                "low/timer_queue.cpp:2: low must not include \"middle/client.hpp\""});
  std::istringstream local("#include \"loop.hpp\"\n");
  EXPECT_EQ(violations_in(example(), "low/loop.cpp", local).size(), 1u);
}

TEST(Layers, ACircleIsReportedOnceWithAWayAround) {
  const graph edges = {{"a", {{"b", "a/1.cpp:1"}, {"d", "a/1.cpp:2"}}},
                       {"b", {{"c", "b/1.cpp:1"}}},
                       {"c", {{"a", "c/1.cpp:1"}, {"d", "c/1.cpp:2"}}}};
  EXPECT_EQ(circles_in(edges),
            std::vector<std::string>{"a → b (a/1.cpp:1) → c (b/1.cpp:1) → a (c/1.cpp:1)"});
  EXPECT_TRUE(circles_in({{"a", {{"b", "x"}}}, {"c", {{"b", "y"}}}}).empty());
}

TEST(Layers, SiblingsDoNotKnowEachOther) {
  const layers table = architecture();
  EXPECT_FALSE(table.may_include("bootc", "helm/charts/chart.hpp"));
  EXPECT_FALSE(table.may_include("helm/charts", "bootc/pool/slot_capacity.hpp"));
  EXPECT_FALSE(table.may_include("policies/host", "k8s/client/client.hpp"));
  EXPECT_FALSE(table.may_include("registry", "k8s/client/client.hpp"));
  EXPECT_FALSE(table.may_include("formats", "reactor/loop.hpp"));
  EXPECT_FALSE(table.may_include("helm/template", "reactor/loop.hpp"));
}

}  // namespace
