#include "helm/render/prepared_chart.hpp"

#include "formats/digest.hpp"
#include "formats/gzip.hpp"
#include "formats/tar.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/go.hpp"
#include "helm/render/chart_cache.hpp"
#include "helm/template/parsed_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace helm {
namespace {

std::unique_ptr<prepared_chart> prepared(std::vector<chart_file> files) {
  std::vector<std::string> warnings;
  auto c = load_files(std::move(files), warnings);
  EXPECT_TRUE(c) << (c ? "" : c.error().text);
  return std::make_unique<prepared_chart>(*c);
}

std::vector<chart_file> small_chart(const std::string& text) {
  return {{"Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"},
          {"values.yaml", "name: fallback\n"},
          {"templates/x.yaml", text}};
}

/// A parent with one subchart under two names, each with a condition.
std::vector<chart_file> family() {
  return {{"Chart.yaml",
           "apiVersion: v2\nname: p\nversion: 1.0.0\ndependencies:\n"
           "- {name: sub, version: 1.x.x, alias: one, condition: one.enabled}\n"
           "- {name: sub, version: 1.x.x, alias: two, condition: two.enabled}\n"},
          {"values.yaml", "one: {enabled: true}\ntwo: {enabled: false}\n"},
          {"templates/p.yaml", "{{ .Values.one.size }}"},
          {"charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.2.3\n"},
          {"charts/sub/values.yaml", "size: 1\n"},
          {"charts/sub/templates/s.yaml", "{{ .Chart.Name }}={{ .Values.size }}"}};
}

std::string all_of(const outcome<rendered_files>& files) {
  if (!files) return files.error().text;
  std::string out;
  for (const auto& [name, text] : *files) out += name + ": " + text + "\n";
  return out;
}

std::string render(prepared_chart& c, const char* yaml, render_options options = {}) {
  return all_of(c.render(*read_go_yaml_map(yaml), {}, default_capabilities(), options));
}

/// A gzipped tar with these files below "chart/".
std::string archive(const std::vector<chart_file>& files) {
  tar_writer out(0);
  for (const auto& f : files) out.file("chart/" + f.name, f.data);
  return gzip(std::move(out).finish());
}

TEST(PreparedChart, RendersEachReleaseFromFreshValues) {
  auto c = prepared(small_chart("{{ $_ := set .Values \"seen\" true }}{{ .Values }}"));
  EXPECT_EQ(render(*c, "{}"), "c/templates/x.yaml: map[name:fallback seen:true]\n");
  EXPECT_EQ(render(*c, "name: mine"), "c/templates/x.yaml: map[name:mine seen:true]\n");
  EXPECT_EQ(render(*c, "{}"), "c/templates/x.yaml: map[name:fallback seen:true]\n");
}

TEST(PreparedChart, LetsEachReleaseChooseItsSubcharts) {
  auto c = prepared(family());
  const std::string one = "p/charts/one/templates/s.yaml: one=1\np/templates/p.yaml: 1\n";
  const std::string both =
      "p/charts/one/templates/s.yaml: one=5\np/charts/two/templates/s.yaml: two=1\n"
      "p/templates/p.yaml: 5\n";
  const std::string none = "p/templates/p.yaml: 7\n";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(render(*c, "{}"), one);
    EXPECT_EQ(render(*c, "{one: {size: 5}, two: {enabled: true}}"), both);
    EXPECT_EQ(render(*c, "{one: {enabled: false, size: 7}}"), none);
  }
}

TEST(PreparedChart, IsRenderedByManyThreads) {
  auto c = prepared(family());
  std::vector<std::string> got(4);
  std::vector<std::thread> workers;
  for (std::size_t w = 0; w < got.size(); ++w)
    workers.emplace_back([&, w] {
      for (int i = 0; i < 50; ++i) {
        auto copy = c->copy();
        got[w] = render(*c, "{one: {size: 5}}") +
                 copy->dependencies.at(0)->values.find("size")->kind_name();
      }
    });
  for (auto& w : workers) w.join();
  for (const auto& text : got)
    EXPECT_EQ(text, "p/charts/one/templates/s.yaml: one=5\np/templates/p.yaml: 5\nfloat64");
}

TEST(PreparedChart, ChecksTheSchemaOfEachRelease) {
  auto files = small_chart("x");
  files.push_back({"values.schema.json", R"({"properties":{"name":{"type":"string"}}})"});
  auto c = prepared(files);
  EXPECT_EQ(render(*c, "name: a"), "c/templates/x.yaml: x\n");
  EXPECT_EQ(render(*c, "name: 3"),
            "values don't meet the specifications of the schema(s) in the following chart(s):\n"
            "c:\n- at '/name': got number, want string\n");
}

TEST(PreparedChart, PacksItselfOnce) {
  auto c = prepared(small_chart("x"));
  int asked = 0;
  const auto pack = [&](const chart& whole) {
    ++asked;
    return whole.name() + " packed";
  };
  EXPECT_EQ(*c->packed(pack), "c packed");
  EXPECT_EQ(c->packed(pack), c->packed(pack));
  EXPECT_EQ(asked, 1);
}

TEST(PreparedChart, StopsARenderThatTakesTooLong) {
  auto c = prepared(small_chart("{{ range until 1000 }}{{ . }}{{ end }}"));
  render_options options;
  options.limits.time = std::chrono::seconds(1);
  std::chrono::milliseconds now{5};
  options.runtime.steady = [&] { return now += std::chrono::milliseconds(400); };
  EXPECT_EQ(render(*c, "{}", options),
            "rendering template failed: the templates ran longer than 1000 ms");
}

TEST(PreparedChart, LooksAtTheClockBeforeEachKey) {
  auto c = prepared(small_chart("{{ genPrivateKey \"ed25519\" }}{{ genPrivateKey \"ed25519\" }}"));
  render_options options;
  options.limits.time = std::chrono::seconds(1);
  std::chrono::milliseconds now{0};
  options.runtime.steady = [&] { return now += std::chrono::milliseconds(600); };
  EXPECT_EQ(render(*c, "{}", options),
            "rendering template failed: the templates ran longer than 1000 ms");
}

TEST(PreparedChart, BoundsHowDeepTemplatesIncludeOneAnother) {
  auto c = prepared(
      small_chart("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}"));
  render_options options;
  options.limits.include_depth = 10;
  EXPECT_NE(render(*c, "{}", options).find("rendering template has a nested reference name: a"),
            std::string::npos);
}

TEST(PreparedChart, RunsATextOfValuesAnewForEachRelease) {
  auto c = prepared(small_chart(
      R"({{ tpl .Values.text . }} {{ tpl .Values.text (dict "Values" (dict "name" "x")) }})"));
  constexpr const char* text =
      R"(text: '{{ define "own" }}{{ .Values.name }}!{{ end }}{{ include "own" . }}')";
  EXPECT_EQ(render(*c, text), "c/templates/x.yaml: fallback! x!\n");
  EXPECT_EQ(render(*c, (std::string(text) + "\nname: b").c_str()), "c/templates/x.yaml: b! x!\n");
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(render(*c, "text: '{{ nope }}'").find("function \"nope\" not defined"),
              std::string::npos);
  EXPECT_EQ(render(*c, "text: '{{ .Values.name }}'"), "c/templates/x.yaml: fallback x\n");
}

TEST(PreparedChart, KeepsABoundedAmountOfTexts) {
  auto c = prepared(small_chart("{{ len (tpl .Values.text .) }}"));
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string text = "{{ 1 }}" + std::to_string(i) + std::string(4'000, 'x');
    EXPECT_EQ(render(*c, ("text: '" + text + "'").c_str()),
              "c/templates/x.yaml: " + std::to_string(text.size() - 6) + "\n");
    most = std::max(most, c->bytes());
  }
  EXPECT_GT(most, parsed_texts::limit);  // they are weighed
  EXPECT_LT(most, 2 * parsed_texts::limit * 12 + 64'000);
  // One that is larger than all that may be kept is used and not kept.
  const std::size_t before = c->bytes();
  const std::string large = "{{ 1 }}" + std::string(parsed_texts::limit, 'x');
  EXPECT_EQ(render(*c, ("text: '" + large + "'").c_str()),
            "c/templates/x.yaml: " + std::to_string(large.size() - 6) + "\n");
  EXPECT_EQ(c->bytes(), before);
}

TEST(PreparedChart, HasNoTimeOfItsOwn) {
  auto c = prepared(small_chart("{{ now }}"));
  EXPECT_NE(render(*c, "{}").find("error calling now: no clock was given"), std::string::npos);
}

TEST(ChartCache, KnowsAnArchiveByItsDigest) {
  chart_cache cache;
  const auto bytes = archive(small_chart("x"));
  auto first = cache.from_archive(bytes);
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(render(**first, "{}"), "c/templates/x.yaml: x\n");
  EXPECT_EQ(*cache.from_archive(bytes), *first);
  EXPECT_EQ(cache.find(digest_of(bytes)), *first);
  EXPECT_EQ(cache.find("sha256:0"), nullptr);
  EXPECT_EQ(cache.look().charts, 1u);
}

TEST(ChartCache, LetsTheLeastRecentlyUsedGo) {
  const auto text = [](char c) { return archive(small_chart(std::string(10'000, c))); };
  std::size_t one = 0;
  {
    chart_cache measure;
    ASSERT_TRUE(measure.from_archive(text('a')));
    one = measure.look().bytes;
  }
  chart_cache cache(2 * one + one / 2);
  auto a = cache.from_archive(text('a'));
  ASSERT_TRUE(cache.from_archive(text('b')));
  ASSERT_TRUE(cache.from_archive(text('a')));
  ASSERT_TRUE(cache.from_archive(text('c')));
  EXPECT_EQ(cache.find(digest_of(text('b'))), nullptr);
  EXPECT_EQ(cache.find(digest_of(text('a'))), *a);
  EXPECT_EQ(cache.look().charts, 2u);
  EXPECT_LE(cache.look().bytes, 2 * one + one / 2);
}

TEST(ChartCache, KeepsNothingOfAChartThatDoesNotLoad) {
  chart_cache cache;
  auto bad = cache.from_archive(archive({{"values.yaml", "a: 1"}}));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().text, "Chart.yaml file is missing");
  EXPECT_FALSE(cache.from_archive("no archive"));
  EXPECT_EQ(cache.look().charts, 0u);
}

}  // namespace
}  // namespace helm
