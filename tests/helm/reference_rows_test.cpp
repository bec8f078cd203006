#include "formats/json/json.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "helm/template/function.hpp"
#include "helm/template/parser.hpp"
#include "tests/helm/questions.hpp"

#include <gtest/gtest.h>
#include <regex.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace helm::tests {
namespace {

/// The values and helper with which the rows of functions.jsonl were asked; generate.py holds the
/// same.
constexpr const char* values = R"yaml(
s: hello
e: ""
sp: "a b,c"
ml: "x\ny: 1\n"
num: "12"
i: 3
f: 2.5
z: 0
big: 12345678
neg: -7
t: true
fa: false
n: null
l: [1, two, null, [a], {k: v}]
ls: [b, a, c]
el: []
m: {b: 1, a: {c: x}, n: null}
em: {}
deep: {x: {y: {z: end}}}
)yaml";
constexpr const char* helper = "{{ define \"named\" }}<{{ . }}>{{ end }}";

std::vector<value> rows(const std::string& name) {
  std::ifstream in(WINDLASS_SOURCE_DIR "/tests/helm/data/" + name);
  std::vector<value> out;
  for (std::string line; std::getline(in, line);) {
    auto v = read_json(line);
    EXPECT_TRUE(v) << line;
    if (v) out.push_back(std::move(*v));
  }
  EXPECT_FALSE(out.empty()) << name;
  return out;
}

answer wanted(const value& row) {
  const auto* out = row.find("out");
  const auto* err = row.find("err");
  return {out ? out->text() : "", err ? err->text() : ""};
}

value question_of(const value& row) {
  const auto* t = row.find("template");
  if (!t) return row;
  value files(value::map_type{{"x.yaml", *t}, {"_h.tpl", helper}});
  return value(value::map_type{{"kind", "template"}, {"files", files}, {"values", values}});
}

/// The lines of a text in one order: the reference gives the reasons of a schema in the order of a
/// map.
std::string sorted_lines(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

enum class order : bool { counts, is_random };

void replay(const std::string& name, order of_lines = order::counts) {
  int differing = 0;
  for (const auto& row : rows(name)) {
    auto got = ask(question_of(row));
    auto want = wanted(row);
    if (got == want) continue;
    if (of_lines == order::is_random && got.out == want.out &&
        sorted_lines(got.err) == sorted_lines(want.err))
      continue;
    if (++differing <= 5)
      ADD_FAILURE() << *write_json(row) << "\ngot out: " << got.out << "\ngot err: " << got.err;
  }
  EXPECT_EQ(differing, 0) << name;
}

TEST(ReferenceRows, EveryFunctionGivesWhatTheReferenceGave) {
  replay("functions.jsonl");
}
TEST(ReferenceRows, HostsBytesNumbersAndFractionsAtTheEdgesAreReadAsInTheReference) {
  replay("edges.jsonl");
}
TEST(ReferenceRows, GeneratedTemplatesRenderAsInTheReference) {
  replay("templates.jsonl");
}
TEST(ReferenceRows, NumbersAreTakenAsInTheReference) {
  replay("numbers.jsonl");
}
TEST(ReferenceRows, SchemasAcceptTheSameValuesForTheSameReasons) {
  replay("schemas.jsonl", order::is_random);
}
TEST(ReferenceRows, ValuesMakeTheTripThroughYamlUnharmed) {
  replay("yaml.jsonl");
}
TEST(ReferenceRows, SetLinesMakeTheSameValues) {
  replay("set.jsonl");
}
TEST(ReferenceRows, RenderedFilesAreSplitAndSortedAlike) {
  replay("sort.jsonl");
}
TEST(ReferenceRows, VersionConstraintsHoldForTheSameVersions) {
  replay("constraints.jsonl");
}

TEST(ReferenceRows, WhatIsEmptyCutShortOrWrongIsTakenAndToldAsInTheReference) {
  replay("damaged.jsonl");
}

std::vector<std::pair<std::string, std::string>> chance_rows() {
  std::ifstream in(WINDLASS_SOURCE_DIR "/tests/helm/data/random.txt");
  std::vector<std::pair<std::string, std::string>> out;
  for (std::string line; std::getline(in, line);) {
    auto tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == line.npos) continue;
    out.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return out;
}

bool matches(const std::string& text, const std::string& pattern) {
  regex_t re;
  if (regcomp(&re, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  bool yes = regexec(&re, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&re);
  return yes;
}

TEST(ReferenceRows, WhatDependsOnChanceHasTheRightForm) {
  for (const auto& [text, pattern] : chance_rows()) {
    template_set set;
    for (auto& t :
         parse_template("t", text, [](std::string_view name) { return find_function(name); }))
      set.add(std::move(t));
    render_runtime runtime;
    runtime.now = [] { return std::chrono::system_clock::from_time_t(1709251200); };
    executor engine(set, runtime, {}, missing_keys::zero, false);
    std::string out;
    engine.run(out, "t", value());
    EXPECT_TRUE(matches(out, pattern)) << text << " gave " << out;
  }
}

TEST(ReferenceRows, EveryFunctionHasRows) {
  std::map<std::string, int> count;
  auto note = [&](const std::string& t) { count_words(t, count); };
  for (const auto& row : rows("functions.jsonl")) note(row.find("template")->text());
  for (const auto& [text, pattern] : chance_rows()) note(text);
  for (auto name : function_names()) EXPECT_GT(count[std::string(name)], 0) << name;
}

}  // namespace
}  // namespace helm::tests
