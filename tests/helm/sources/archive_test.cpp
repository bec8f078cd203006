#include "helm/sources/archive.hpp"

#include "helm/charts/chart_archive.hpp"

#include <gtest/gtest.h>

namespace helm::sources {
namespace {

chart_ptr loaded(std::vector<chart_file> files) {
  std::vector<std::string> warnings;
  auto c = load_files(std::move(files), warnings);
  EXPECT_TRUE(c) << (c ? "" : c.error().text);
  return c ? *c : nullptr;
}

const std::string chart_yaml = "apiVersion: v2\nname: app\nversion: 1.0.0\n";

TEST(ChartArchive, HoldsWhatTheChartHolds) {
  const std::string deep = "templates/" + std::string(120, 'd') + "/x.yaml";
  auto c = loaded(
      {{"Chart.yaml", chart_yaml},
       {"Chart.lock", "dependencies: []\ndigest: sha256:x\ngenerated: \"2026-01-02T03:04:05Z\"\n"},
       {"values.yaml", "a: 1 # one\n"},
       {"values.schema.json", "{}"},
       {"README.md", "read"},
       {deep, "x: y"},
       {"charts/sub/Chart.yaml", "apiVersion: v1\nname: sub\nversion: 0.1.0\n"},
       {"charts/sub/templates/y.yaml", "y"}});
  auto bytes = pack_chart(*c, 1'700'000'000);
  ASSERT_TRUE(bytes) << bytes.error().text;
  auto files = read_archive(*bytes);
  ASSERT_TRUE(files) << files.error().text;
  std::vector<std::string> names;
  for (const auto& f : *files) names.push_back(f.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "Chart.yaml", "Chart.lock", "values.yaml", "values.schema.json", deep,
                       "README.md", "charts/sub/Chart.yaml", "charts/sub/templates/y.yaml"}));
  auto again = loaded(std::move(*files));
  EXPECT_EQ(again->meta.version, "1.0.0");
  EXPECT_EQ(again->lock->digest, "sha256:x");
  EXPECT_EQ(archive_name(again->meta), "app-1.0.0.tgz");
  EXPECT_EQ(*pack_chart(*again, 1'700'000'000), *bytes);
}

TEST(ChartArchive, KeepsDependenciesOfOldChartsInTheirOwnFile) {
  auto c =
      loaded({{"Chart.yaml", "apiVersion: v1\nname: app\nversion: 1.0.0\n"},
              {"requirements.yaml", "dependencies:\n- {name: a, version: 1, repository: r}\n"}});
  auto files = read_archive(*pack_chart(*c, 0));
  ASSERT_TRUE(files);
  EXPECT_EQ((*files)[0].data, "apiVersion: v1\nname: app\nversion: 1.0.0\n");
  EXPECT_EQ(loaded(std::move(*files))->meta.dependencies.size(), 1u);
}

TEST(ChartArchive, RefusesWhatIsNoChart) {
  auto c = loaded({{"Chart.yaml", chart_yaml}, {"values.schema.json", "{"}});
  EXPECT_EQ(pack_chart(*c, 0).error().text, "Invalid JSON in values.schema.json");
  c->meta.version = "one";
  EXPECT_EQ(pack_chart(*c, 0).error().text,
            "chart validation: validation: chart.metadata.version \"one\" is invalid");
}

}  // namespace
}  // namespace helm::sources
