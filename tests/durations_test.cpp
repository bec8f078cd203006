// A machine that has much else to do must not decide what a test says: durations belong to benches.
// Tests run in virtual time, wait for what comes without a limit of their own, or count work. Where
// only a clock will do, the place is listed here with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using reasons = std::map<std::string, std::string>;  // file → why

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// All but tests/live, which runs beside real peers: these have clocks of their own.
std::map<std::string, std::vector<std::string>> tests() {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const std::string path = fs::relative(entry.path(), root).generic_string();
    if (!path.starts_with("tests/live/") && path != "tests/durations_test.cpp")
      all.emplace(path, lines_of(entry.path()));
  }
  return all;
}

/// The lines that stand in a TEST with a loop on the machine's clock.
std::vector<std::string> on_a_real_loop(const std::vector<std::string>& lines) {
  const std::regex real_loop(R"re(\bloop \w+;|loop::mode::real)re");
  std::vector<std::string> all, block;
  bool real = false;
  for (const std::string& line : lines) {
    if (line.starts_with("TEST")) {
      block.clear();
      real = false;
    }
    block.push_back(line);
    real = real || (line.find("loop") != line.npos && std::regex_search(line, real_loop));
    if (line == "}" && real) all.insert(all.end(), block.begin(), block.end());
    if (line == "}") block.clear();
  }
  return all;
}

/// `words`: every line that `found` matches has one of them; a pattern is slow to look for.
void expect_listed(const std::regex& found, const std::vector<const char*>& words, reasons listed,
                   std::vector<std::string> (*of)(const std::vector<std::string>&)) {
  const auto may_match = [&](const std::string& line) {
    return std::ranges::any_of(words, [&](const char* w) { return line.find(w) != line.npos; });
  };
  std::set<std::string> used;
  for (const auto& [path, lines] : tests()) {
    for (const std::string& line : of ? of(lines) : lines) {
      if (!may_match(line) || !std::regex_search(line, found)) continue;
      used.insert(path);
      if (!listed.contains(path)) ADD_FAILURE() << path << ": " << line;
    }
  }
  for (const auto& [path, why] : listed)
    if (!used.contains(path)) ADD_FAILURE() << path << " is listed for nothing: " << why;
}

TEST(Durations, FewTestsReadAClockOfTheMachineAndSayWhy) {
  const std::regex clock(
      R"re(steady_clock::now|system_clock::now|clock_gettime|std::clock\(|getrusage|gettimeofday|thread_cpu\()re");
  ASSERT_TRUE(std::regex_search("const auto t = std::chrono::steady_clock::now();", clock));
  expect_listed(clock, {"clock", "getrusage", "gettimeofday", "thread_cpu("},
                {{"tests/reactor/spend.hpp", "uses up processor time, as much as it was asked for"},
                 {"tests/k8s/informer/store_test.cpp", "of each put the least of up to ten tries"},
                 {"tests/policies/host/sandbox_worker_test.cpp", "the median of all turns"},
                 {"tests/cli/helm_signal_test.cpp", "is printed"},
                 {"tests/trustee/pack_test.cpp", "is printed"},
                 {"tests/registry/tag_reader_test.cpp", "reads a size of memory"},
                 {"tests/helm/differential/answers.cpp", "charts print it: it is not compared"},
                 {"tests/fail_points/calls.cpp", "makes the clock of what it tries run faster"},
                 {"tests/fail_points/service_run.cpp", "a multiple of what the calm run took"}},
                nullptr);
}

TEST(Durations, FewTestsCompareThemOnARealLoopAndSayWhy) {
  const std::regex compared(
      R"re((EXPECT|ASSERT)_(LT|LE|GT|GE|NEAR)\(.*(now\(\) *-|\btook\b|elapsed|longest|_stall\b|processor_time|\d(ns|us|ms|s|min|h)\)))re");
  ASSERT_TRUE(std::regex_search("  EXPECT_LT(l.now() - start, 5s);", compared));
  expect_listed(compared, {"_LT(", "_LE(", "_GT(", "_GE(", "_NEAR("},
                {{"tests/reactor/core_test.cpp", "lower bounds, and what it spends itself"},
                 {"tests/k8s/client/hostile_test.cpp", "the least of up to ten tries"},
                 {"tests/policies/host/sandbox_test.cpp", "threads of its own take the processor"}},
                on_a_real_loop);
}

}  // namespace
