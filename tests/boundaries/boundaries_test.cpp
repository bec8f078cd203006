// The lists of this folder against the tests that are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = WINDLASS_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string trimmed(const std::string& s) {
  const auto from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
  return from == s.npos ? std::string() : s.substr(from, to - from + 1);
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The three columns of each line that is no comment.
std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(text_of(root / "tests/boundaries" / file));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> row;
    std::istringstream cells(line);
    for (std::string cell; row.size() < 2 && std::getline(cells, cell, '|');)
      row.push_back(trimmed(cell));
    std::string rest;
    std::getline(cells, rest);
    row.push_back(trimmed(rest));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// "Suite.Test" of all tests, and the live ones by their names.
const std::set<std::string>& all_tests() {
  static const std::set<std::string> found = [] {
    std::set<std::string> out;
    const std::regex test(R"(\nTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
    const std::regex live(R"(windlass_live\((\w+))");
    for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
      const bool is_live_list = entry.path() == root / "tests/live/CMakeLists.txt";
      if (entry.path().extension() != ".cpp" && !is_live_list) continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), is_live_list ? live : test), end;
           it != end; ++it)
        out.insert(is_live_list ? (*it)[1].str() : (*it)[1].str() + "." + (*it)[2].str());
    }
    return out;
  }();
  return found;
}

TEST(Boundaries, EveryRuleHasItsTests) {
  std::map<std::string, std::size_t> of_suite;
  for (const std::string& name : all_tests()) ++of_suite[name.substr(0, name.find('.'))];
  std::string letters;
  for (const auto& row : rows_of("rules.txt")) {
    ASSERT_EQ(row.size(), 3u);
    letters += row[0];
    std::size_t tests = 0;
    for (const std::string& suite : words(row[2])) {
      EXPECT_GT(of_suite[suite], 0u) << "rule " << row[0] << ": there is no suite " << suite;
      tests += of_suite[suite];
    }
    EXPECT_GT(tests, 0u) << "no test holds rule " << row[0] << ": " << row[1];
    std::cout << "## rule " << row[0] << " (" << row[1] << "): " << tests << " tests\n";
  }
  EXPECT_EQ(letters, "ABCDEFGH");
}

/// What an attacker holds, crossed with where it is read: a cell has tests, or says why not.
TEST(Boundaries, EveryCellIsTriedOrSaysWhyNot) {
  std::set<std::string> holders, readers;
  std::map<std::pair<std::string, std::string>, std::size_t> cells;
  std::size_t tried = 0;
  for (const auto& row : rows_of("cells.txt")) {
    ASSERT_EQ(row.size(), 3u);
    holders.insert(row[0]);
    readers.insert(row[1]);
    ++cells[{row[0], row[1]}];
    if (row[2].starts_with("no case: ")) {
      EXPECT_GT(words(row[2]).size(), 4u) << row[0] << ", " << row[1] << ": no reason";
      continue;
    }
    ++tried;
    EXPECT_FALSE(row[2].empty()) << row[0] << ", " << row[1];
    for (const std::string& test : words(row[2]))
      EXPECT_TRUE(all_tests().contains(test)) << row[0] << ", " << row[1] << ": no test " << test;
  }
  for (const std::string& holder : holders)
    for (const std::string& reader : readers) {
      const std::size_t lines = cells[std::pair(holder, reader)];
      EXPECT_EQ(lines, 1u) << holder << ", " << reader << ": one line each";
    }
  std::cout << "## hostile cells " << cells.size() << " tried " << tried << "\n";
}

}  // namespace
