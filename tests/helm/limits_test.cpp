// Each limit of a chart or an index run to its end, in the memory that the service has for it.
#include "formats/plain/deep_stack.hpp"
#include "formats/tar.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/render/prepared_chart.hpp"
#include "helm/sources/index.hpp"
#include "reactor/plain/memory.hpp"
#include "tests/gzip.hpp"
#include "tests/helm/in_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace helm {
namespace {

using ::testing::HasSubstr;
using files = std::vector<std::pair<std::string, std::string>>;

std::string metadata_of(const std::string& name) {
  return "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n";
}

std::string archive_of(const std::string& name, const files& more,
                       const std::string& metadata = "") {
  formats::tar_writer tar(0);
  tar.file(name + "/Chart.yaml", metadata_of(name) + metadata);
  for (const auto& [path, data] : more) tar.file(name + "/" + path, data);
  return tests::gzip(std::move(tar).finish());
}

/// "" when the service would load and render it with these values; else its reason.
std::string answer(const std::string& archive) {
  reactor::end_when_memory_is_lost();
  std::vector<std::string> warnings;
  auto loaded = load_archive(archive, warnings, service_chart_limits);
  if (!loaded) return loaded.error().text;
  prepared_chart chart(*loaded);
  render_options options;
  options.limits.walk_steps = service_chart_limits.steps;
  options.limits.memory_bytes = service_chart_limits.memory_bytes;
  options.limits.output_bytes = 2 * service_chart_limits.memory_bytes;
  auto out = chart.render(value(value::map_type{}), {}, default_capabilities(), options);
  return out ? "" : out.error().text;
}
std::string answer_in_a_pod(const std::string& archive) {
  return testing::in_child([&] { return answer(archive); });
}

TEST(ChartLimits, ArchivesInsideAnArchiveHaveOneBudget) {
  const std::string zeros(1 << 20, '\0');
  files much;
  for (int i = 0; i < 5; ++i) much.emplace_back("f" + std::to_string(i), zeros);
  const std::string inner = archive_of("inner", much);
  files once{{"charts/a.tgz", inner}}, often;
  for (int i = 0; i < 10; ++i) often.emplace_back("charts/i" + std::to_string(i) + ".tgz", inner);
  EXPECT_EQ(answer_in_a_pod(archive_of("outer", once)), "");
  EXPECT_THAT(answer_in_a_pod(archive_of("outer", often)),
              HasSubstr("is larger than the maximum file size 12582912"));
  // The same with Helm's own limit, for the command.
  files huge;
  for (int i = 0; i < 25; ++i) huge.emplace_back("f" + std::to_string(i), zeros);
  files ten;
  const std::string large = archive_of("inner", huge);
  for (int i = 0; i < 10; ++i) ten.emplace_back("charts/i" + std::to_string(i) + ".tgz", large);
  std::vector<std::string> warnings;
  const auto refused = load_archive(archive_of("outer", ten), warnings);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("larger than the maximum file size 104857600"));
}

TEST(ChartLimits, ArchivesAreNestedOnlySoDeep) {
  std::string chart = archive_of("c", {});
  for (int i = 0; i < 6; ++i) chart = archive_of("c", {{"charts/c.tgz", chart}});
  EXPECT_EQ(answer(chart), "");
  for (int i = 0; i < 3; ++i) chart = archive_of("c", {{"charts/c.tgz", chart}});
  EXPECT_THAT(answer(chart), HasSubstr("chart archives are nested more than 8 deep"));
}

TEST(ChartLimits, ManySmallFilesOfManyArchivesAreCountedTogether) {
  files small;
  for (int i = 0; i < 3'000; ++i) small.emplace_back("f" + std::to_string(i), "");
  const std::string inner = archive_of("inner", small);
  EXPECT_EQ(answer_in_a_pod(inner), "");
  EXPECT_THAT(
      answer_in_a_pod(archive_of("outer", {{"charts/a.tgz", inner}, {"charts/b.tgz", inner}})),
      HasSubstr("chart archive holds more than 4000 files"));
}

TEST(ChartLimits, ValuesAreCountedByWhatTheyTake) {
  std::string list, map, nested(4'000, '[');
  while (list.size() < 4'000'000) list += "- 1\n";
  while (map.size() < 4'000'000) map += "k" + std::to_string(map.size()) + ": 1\n";
  for (const auto& text : {"a:\n" + list, map, "a: " + nested})
    EXPECT_THAT(answer_in_a_pod(archive_of("c", {{"values.yaml", text}})),
                ::testing::AnyOf(HasSubstr("it takes more memory than it may"), HasSubstr("yaml")));
  // Nine lines that stand for a billion values.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int n = 0; n < 8; ++n) bomb += "," + before;
    bomb += "]\n";
  }
  EXPECT_THAT(answer_in_a_pod(archive_of("c", {{"values.yaml", bomb}})),
              HasSubstr("excessive aliasing"));
}

TEST(ChartLimits, AChartOfManyNamesInChartsOfManyNamesFitsIntoThePod) {
  std::string chart = archive_of("l6", {{"values.yaml", "a: 1\n"}, {"templates/a.yaml", "a: 1\n"}});
  for (int level = 5; level >= 0; --level) {
    const std::string below = "l" + std::to_string(level + 1);
    std::string names = "dependencies:\n";
    for (int i = 0; i < 10; ++i)
      names += "- {name: " + below + ", version: 1.0.0, alias: a" + std::to_string(level) + "x" +
               std::to_string(i) + "}\n";
    chart = archive_of("l" + std::to_string(level), {{"charts/" + below + ".tgz", chart}}, names);
  }
  EXPECT_EQ(answer_in_a_pod(chart), "");
}

TEST(ChartLimits, TemplatesThatOnlyTakeMemoryAreRefusedInThePod) {
  for (const char* text :
       {"{{ $l := list }}{{ range until 100000 }}{{ $l = append $l (repeat 1000 \"x\") }}{{ end }}",
        "{{ $m := dict }}{{ range until 3000000 }}{{ $_ := set $m (print .) (list 1 2 3) }}{{ end "
        "}}",
        "{{ range until 1000000 }}{{ repeat 1000 \"x\" }}{{ end }}",
        "{{ $s := \"x\" }}{{ range until 40 }}{{ $s = print $s $s }}{{ end }}",
        "{{ printf \"%999999d\" 1 | repeat 200 | fromYaml }}", "{{ until 100000000 }}",
        "{{ derivePassword 1 \"long\" \"password\" \"user\" \"example.com\" }}"}) {
    const std::string said = answer_in_a_pod(archive_of("c", {{"templates/a.yaml", text}}));
    EXPECT_THAT(said, ::testing::AnyOf(HasSubstr("rendering"), ::testing::IsEmpty())) << text;
  }
}

std::string index_of(std::size_t bytes) {
  std::string out = "apiVersion: v1\nentries:\n";
  for (int chart = 0; out.size() < bytes; ++chart) {
    out += "  chart-" + std::to_string(chart) + ":\n";
    for (int v = 0; v < 40; ++v)
      out += "  - name: chart-" + std::to_string(chart) + "\n    version: 1." + std::to_string(v) +
             ".0\n    apiVersion: v2\n    created: 2026-01-01T00:00:00Z\n    description: " +
             std::string(180, 'd') + "\n    digest: " + std::string(64, '0') +
             "\n    keywords: [a, b, c]\n    urls:\n    - https://example.com/c-1." +
             std::to_string(v) + ".0.tgz\n";
  }
  return out + "generated: 2026-01-01T00:00:00Z\n";
}

TEST(IndexLimits, AnIndexAsPublicOnesAreFitsIntoThePod) {
  const std::string text = index_of(14'500'000);
  const std::string json =
      "{\"apiVersion\":\"v1\",\"entries\":{\"other\":[" +
      std::string("{\"name\":\"other\",\"version\":\"1.0.0\"}") +
      "],\"chart-9\":[{\"name\":\"chart-9\",\"version\":\"2.0.0\",\"urls\":[\"u\"]}]}}";
  EXPECT_EQ(testing::in_child(
                [&]() -> std::string {
                  auto one = sources::read_index_of(text, "chart-9", "test", 32u << 20);
                  if (!one) return one.error().text;
                  const auto& kept = one->index.entries;
                  if (kept.size() != 1 || kept.begin()->second.size() != 40) return "wrong entries";
                  return kept.begin()->second.front().meta.version + " of " + kept.begin()->first;
                },
                48u << 20),
            "1.39.0 of chart-9");
  const auto in_json = sources::read_index_of(json, "chart-9", "test", 1u << 20);
  ASSERT_TRUE(in_json) << in_json.error().text;
  ASSERT_EQ(in_json->index.entries.size(), 1u);
  EXPECT_EQ(in_json->index.entries.at("chart-9").front().meta.version, "2.0.0");
  const auto nothing = sources::read_index_of(text, "nobody", "test", 1u << 20);
  ASSERT_TRUE(nothing) << nothing.error().text;
  EXPECT_TRUE(nothing->index.entries.empty());
}

TEST(IndexLimits, AChartOfTooManyVersionsIsRefused) {
  std::string text = "apiVersion: v1\nentries:\n  c:\n";
  while (text.size() < 14'000'000)
    text += "  - {name: c, version: 1.0." + std::to_string(text.size()) + ", urls: [u]}\n";
  EXPECT_EQ(testing::in_child([&]() -> std::string {
              auto all = sources::read_index_of(text, "c", "test", 32u << 20);
              return all ? "read" : all.error().text;
            }),
            "the repository index cannot be read: it takes more memory than it may");
}

TEST(WorkLimit, WhatAnInnerOneUsesTheOuterOneHasUsed) {
  const formats::work_limit outer(100, 1'000);
  {
    const formats::work_limit inner(1'000, 1'000'000);
    formats::count_steps(60);
    EXPECT_THROW(formats::hold_bytes(1'001), std::length_error);
  }
  EXPECT_EQ(formats::steps_left(), 40u);
  {
    const formats::work_limit inner(10);
    EXPECT_THROW(formats::count_steps(11), std::length_error);
  }
  EXPECT_EQ(formats::steps_left(), 30u);
  {
    formats::held_bytes some;
    some.add(900);
    EXPECT_THROW(formats::hold_bytes(200), std::length_error);
  }
  formats::hold_bytes(200);
  formats::let_go(200);
}

}  // namespace
}  // namespace helm
