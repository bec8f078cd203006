#include "helm/sources/index.hpp"

#include <gtest/gtest.h>

namespace helm::sources {
namespace {

std::string error_of(std::string_view text) {
  auto r = read_index(text, "src");
  return r ? "" : r.error().text;
}

std::string version_entry(const std::string& version, const std::string& more = "") {
  return "  - {apiVersion: v2, name: app, version: " + version + ", urls: [app-" + version +
         ".tgz]" + more + "}\n";
}

repository_index index_of(const std::vector<std::string>& versions) {
  std::string text = "apiVersion: v1\nentries:\n  app:\n";
  for (const auto& v : versions) text += version_entry(v);
  auto r = read_index(text, "src");
  EXPECT_TRUE(r) << (r ? "" : r.error().text);
  return r ? r->index : repository_index();
}

std::string found(const repository_index& i, const std::string& name, const std::string& version) {
  auto v = i.find(name, version);
  return v ? (*v)->meta.version : "! " + v.error().text;
}

TEST(RepositoryIndex, SaysWhatIsWrongInHelmsWords) {
  EXPECT_EQ(error_of(""), "empty index.yaml file");
  EXPECT_EQ(error_of("entries: {}\n"), "no API version specified");
  EXPECT_EQ(error_of("apiVersion: v1\nentries: []\n"),
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go "
            "struct field IndexFile.entries of type map[string]repo.ChartVersions");
  EXPECT_EQ(error_of("apiVersion: v1\nfoo: 1\n"),
            "error unmarshaling JSON: while decoding JSON: json: unknown field \"foo\"");
  EXPECT_EQ(error_of("apiVersion: v1\nentries:\n  app:\n  - {name: app, version: 1.0.0, bar: 1}\n"),
            "error unmarshaling JSON: while decoding JSON: json: unknown field \"bar\"");
  EXPECT_EQ(error_of("apiVersion: v1\napiVersion: v1\n"),
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key \"apiVersion\" "
            "already set in map");
  EXPECT_EQ(error_of("<html>\n<body> not found: x: y\n"),
            "error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this "
            "context");
  EXPECT_EQ(error_of("apiVersion: v1\ngenerated: yesterday\n"),
            "error unmarshaling JSON: while decoding JSON: parsing time \"yesterday\" as "
            "\"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"");
}

TEST(RepositoryIndex, ReadsJson) {
  auto r = read_index(
      R"({"apiVersion":"v1","unknown":1,"entries":{"app":[{"name":"app","version":"1.0.0","urls":["u"]}]}})",
      "src");
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(found(r->index, "app", ""), "1.0.0");
  EXPECT_EQ(error_of("{}"), "no API version specified");
}

TEST(RepositoryIndex, SkipsEntriesThatCannotBeUsed) {
  auto r = read_index(
      "apiVersion: v1\nentries:\n  app:\n  - null\n  - {name: app, version: one}\n"
      "  - {name: app, version: 1.0.0, dependencies: [{name: a, repository: x}, {name: a, "
      "repository: x}]}\n",
      "src");
  ASSERT_TRUE(r) << r.error().text;
  ASSERT_EQ(r->skipped.size(), 2u);
  EXPECT_EQ(r->skipped[0],
            "skipping loading invalid entry for chart \"app\" from src: empty entry");
  EXPECT_EQ(r->skipped[1],
            "skipping loading invalid entry for chart \"app\" \"one\" from src: validation: "
            "chart.metadata.version \"one\" is invalid");
  EXPECT_EQ(found(r->index, "app", ""), "1.0.0");
}

TEST(RepositoryIndex, PicksTheExactTextThenTheNewestThatFits) {
  const auto i = index_of({"1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "1.2", "1.2.0"});
  EXPECT_EQ(found(i, "app", ""), "1.10.0");
  EXPECT_EQ(found(i, "app", "1.2"), "1.2");
  EXPECT_EQ(found(i, "app", "v1.9.0"), "1.9.0");
  EXPECT_EQ(found(i, "app", "~1.9"), "1.9.0");
  EXPECT_EQ(found(i, "app", ">0.0.0-0"), "2.0.0-rc.1");
  EXPECT_EQ(found(i, "app", ">=3"), "! no chart version found for app->=3");
  EXPECT_EQ(found(i, "app", "x.y.z?"), "! improper constraint: \"x.y.z?\"");
  EXPECT_EQ(found(i, "other", ""), "! no chart name found");
  auto empty = read_index("apiVersion: v1\nentries: {app: []}\n", "src");
  EXPECT_EQ(found(empty->index, "app", ""), "! no chart version found");
}

TEST(RepositoryIndex, MergesWhatIsNotThereYet) {
  auto own = index_of({"1.0.0"});
  own.entries["app"][0].digest = "own";
  auto other = index_of({"1.0.0", "2.0.0"});
  own.merge(std::move(other));
  own.sort();
  ASSERT_EQ(own.entries["app"].size(), 2u);
  EXPECT_EQ(own.entries["app"][0].meta.version, "2.0.0");
  EXPECT_EQ(own.entries["app"][1].digest, "own");
}

TEST(RepositoryIndex, IsWrittenAsHelmWritesIt) {
  auto i = index_of({"1.0.0"});
  i.generated = "2026-01-02T03:04:05.5Z";
  i.entries["app"][0].created = "2026-01-02T03:04:05Z";
  i.entries["app"][0].digest = "abc";
  EXPECT_EQ(*write_index(i, index_form::yaml),
            "apiVersion: v1\n"
            "entries:\n"
            "  app:\n"
            "  - apiVersion: v2\n"
            "    created: \"2026-01-02T03:04:05Z\"\n"
            "    digest: abc\n"
            "    name: app\n"
            "    urls:\n"
            "    - app-1.0.0.tgz\n"
            "    version: 1.0.0\n"
            "generated: \"2026-01-02T03:04:05.5Z\"\n");
  const auto json = *write_index(i, index_form::json);
  EXPECT_TRUE(
      json.starts_with("{\n  \"apiVersion\": \"v1\",\n  \"generated\": \"2026-01-02T03:04:"
                       "05.5Z\",\n  \"entries\": {\n    \"app\": [\n      {\n        "
                       "\"name\": \"app\",\n"))
      << json;
  EXPECT_EQ(*write_index(read_index(json, "src")->index, index_form::json), json);
}

TEST(RepositoryIndex, IsLimited) {
  std::string many = "apiVersion: v1\nentries: {app: [";
  for (std::size_t i = 0; i <= index_versions_limit; ++i) many += "~,";
  EXPECT_EQ(error_of(many + "]}\n"), "repository index lists more than 200000 versions");
  EXPECT_EQ(error_of(std::string(index_bytes_limit + 1, ' ')),
            "repository index is larger than 50331648 bytes");
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += "*a" + std::to_string(i - 1) + ",";
    bomb += "]\n";
  }
  EXPECT_EQ(error_of(bomb),
            "error converting YAML to JSON: yaml: document contains excessive aliasing");
}

}  // namespace
}  // namespace helm::sources
