#include "formats/yaml/reader.hpp"
#include "helm/placed/plan/chart_version.hpp"
#include "helm/placed/plan/fingerprint.hpp"
#include "helm/tenants/desired/chart_requests.hpp"
#include "helm/tenants/desired/values.hpp"

#include <gtest/gtest.h>

namespace helm::tenants {
namespace {

const chart_coordinates cert_manager{"https://charts.jetstack.io", "cert-manager", "1.19.1"};

value values(std::string_view yaml) {
  auto read = read_go_yaml(yaml);
  EXPECT_TRUE(read) << read.error().text;
  return read ? *read : value();
}

TEST(Fingerprint, IsThatOfTheExamples) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "dd782c04db309dcc54c116da69b3f09bdae53e49d4d4e087fb6bce3a92e80a8d"},
      {"installCRDs: true", "2ef86b2331a500594c663f2e3db844c4194039523ad614325b5d64853515a7d6"},
      {"{installCRDs: true, replicaCount: 2}",
       "ddd8253db460ca56842694610fc7b0a22d7184f862a68ae762a967a77a99a62c"},
      {"{crds: {enabled: true}, replicaCount: 2}",
       "67b51786a329856967388323cd9122e3c06da2df25c7705014f10e0f1993048c"},
  };
  for (const auto& [yaml, digest] : rows)
    EXPECT_EQ(fingerprint(cert_manager, values(yaml)), digest);
  const chart_coordinates echo{"https://ealenn.github.io/charts", "echo-server", "0.5.0"};
  EXPECT_EQ(fingerprint(echo, {}),
            "57890fb183912c42ea7b9eea6441ed86881be29116a94cfff5cf1cfa89c6110d");
  EXPECT_EQ(fingerprint(echo, values("replicaCount: 1")),
            "ce18748147c047f6d2e7a21bd2ba91cfe6a00ab9bb084b044aca9a496b9bf4c0");
}

TEST(Fingerprint, IsTakenOverOneText) {
  const chart_coordinates c{"r", "n", "v"};
  const std::pair<const char*, const char*> rows[] = {
      {"", "r|n|v"},
      {"{}", "r|n|v"},
      {"a: 1.5", "r|n|v|a=1.5"},
      {"a: 1000000", "r|n|v|a=1000000"},
      {"a: 123456789012", "r|n|v|a=123456789012"},
      {"a: -0.0", "r|n|v|a=0"},
      {"a: -3", "r|n|v|a=-3"},
      {"a: 1e21", "r|n|v|a=1e+21"},
      {"a: 1e-7", "r|n|v|a=1e-07"},
      {"a: null", "r|n|v|a=<nil>"},
      {"a: false", "r|n|v|a=false"},
      {"a: '|b=c '", "r|n|v|a=|b=c "},
      {"a: [1, x, {z: 1, w: [true, null]}]", R"(r|n|v|a=[1,"x",{"w":[true,null],"z":1}])"},
      {"a: {b: <&>, c: 1.25}", R"(r|n|v|a={"b":"<&>","c":1.25})"},
      {"{b: 1, a: 2, B: 3}", "r|n|v|B=3|a=2|b=1"},
  };
  for (const auto& [yaml, text] : rows)
    EXPECT_EQ(fingerprint_text(c, *yaml ? values(yaml) : value()), text);
  EXPECT_EQ(fingerprint_text({" r ", "n/", "v1"}, {}), " r |n/|v1") << "flags are not tidied";
}

TEST(Fingerprint, T6_TheOrderOfKeysDoesNotCount) {
  EXPECT_EQ(fingerprint(cert_manager, values("{a: {x: 1, z: 2}, b: 1}")),
            fingerprint(cert_manager, values("{b: 1, a: {z: 2, x: 1}}")));
}

TEST(Fingerprint, T3_T4_VersionAndEveryValueCount) {
  const std::string is = fingerprint(cert_manager, values("{a: {b: [1]}}"));
  EXPECT_NE(is, fingerprint(cert_manager, values("{a: {b: [2]}}")));
  chart_coordinates other = cert_manager;
  other.version = "1.19.2";
  EXPECT_NE(is, fingerprint(other, values("{a: {b: [1]}}")));
}

TEST(Fingerprint, ValuesOfARecordAreComparedWhole) {
  EXPECT_EQ(values_digest({}), values_digest(values("{}")));
  EXPECT_EQ(values_digest(values("{a: 1, b: {c: d}}")), values_digest(values("{b: {c: d}, a: 1}")));
  EXPECT_NE(values_digest(values("{a: 1}")), values_digest(values("{a: '1'}")));
}

TEST(ChartVersion, X6_RangesAndWordsAreNone) {
  for (const char* wrong : {"latest", "^1.2", "~1", "1.x", ">=1.0.0", "1.2.3.4", "v", "1..2", "*",
                            "1.2 ", "01.2.3-01", "vv1.2.3", "1.2.3 || 2"})
    EXPECT_NE(version_problem(wrong), "") << wrong;
  for (const char* right :
       {"", "1.19.1", "v1.19.1", "1", "v1.2", "1.2.3-rc.1", "1.2.3+build.5", "0.5.0"})
    EXPECT_EQ(version_problem(right), "") << right;
  EXPECT_EQ(version_problem("latest"),
            "chart version \"latest\" is no version (such as 1.19.1): ranges and words are not "
            "followed");
}

TEST(ChartVersion, X7_WithAndWithoutVIsTheSame) {
  using all = std::vector<std::string>;
  EXPECT_EQ(choose_version({"v1.19.1", "v1.19.0"}, "1.19.1"), "v1.19.1");
  EXPECT_EQ(choose_version({"1.19.1", "1.19.0"}, "v1.19.1"), "1.19.1");
  EXPECT_EQ(choose_version({"v1.19.1", "1.19.1"}, "1.19.1"), "1.19.1") << "the exact text first";
  EXPECT_EQ(choose_version({"1.2.0"}, "1.2"), "1.2.0");
  EXPECT_EQ(choose_version({"1.2.0+a", "1.2.0+b"}, "1.2.0+b"), "1.2.0+b");
  EXPECT_EQ(choose_version({"1.2.0+a"}, "1.2.0+b"), std::nullopt);
  EXPECT_EQ(choose_version({"1.2.0+a"}, "1.2.0"), "1.2.0+a");
  EXPECT_EQ(choose_version({"1.2.0-rc.1"}, "1.2.0"), std::nullopt);
  EXPECT_EQ(choose_version(all{}, "1.2.0"), std::nullopt);
}

TEST(ChartVersion, X5_OneThatIsNotThereIsNotReplacedByAnother) {
  EXPECT_EQ(choose_version({"1.19.0", "1.19.2"}, "1.19.1"), std::nullopt);
}

TEST(ChartVersion, NoneIsTheHighestStableOne) {
  EXPECT_EQ(choose_version({"1.9.0", "1.10.0", "2.0.0-rc.1", "nonsense"}, ""), "1.10.0");
  EXPECT_EQ(choose_version({"2.0.0-rc.1"}, ""), std::nullopt);
}

using next = chart_requests::next;
using namespace std::chrono_literals;
const reactor::steady_time start{1h};

TEST(ChartRequests, X9_TwoHundredWhoNeedOneChartFetchItOnce) {
  chart_requests r;
  int fetches = 0;
  for (int i = 0; i < 200; ++i) fetches += r.chart(cert_manager, start).is == next::fetch;
  EXPECT_EQ(fetches, 1);
  EXPECT_EQ(r.chart(cert_manager, start + 1h).is, next::wait) << "however long it takes";
  r.chart_came(cert_manager, start + 1h);
  EXPECT_EQ(r.chart(cert_manager, start + 1'000h).is, next::use);
  r.chart_gone(cert_manager);
  EXPECT_EQ(r.chart(cert_manager, start).is, next::fetch);
}

TEST(ChartRequests, X8_AFailureIsEverybodysAnswerForFifteenSeconds) {
  chart_requests r;
  const chart_problem why{chart_problem::kind::version_not_found, "no such version"};
  r.chart(cert_manager, start);
  r.chart_failed(cert_manager, why, start);
  const auto soon = r.chart(cert_manager, start + 14s);
  EXPECT_EQ(soon.is, next::failed);
  EXPECT_EQ(soon.why, why);
  EXPECT_EQ(r.chart(cert_manager, start + 15s).is, next::fetch);
  EXPECT_EQ(r.chart(cert_manager, start + 15s).is, next::wait);
}

TEST(ChartRequests, AnIndexIsAskedForAgainAfterAMinuteByItsTag) {
  chart_requests r;
  EXPECT_EQ(r.index("repo", start), (chart_requests::answer{next::fetch, "", {}}));
  r.index_came("repo", "\"v1\"", start);
  EXPECT_EQ(r.index("repo", start + 59s).is, next::use);
  EXPECT_EQ(r.index("repo", start + 60s), (chart_requests::answer{next::fetch, "\"v1\"", {}}));
  EXPECT_EQ(r.index("repo", start + 60s).is, next::wait);
  r.index_failed("repo", {chart_problem::kind::not_loaded, "HTML"}, start + 61s);
  EXPECT_EQ(r.index("repo", start + 62s).why.text, "HTML");
  EXPECT_EQ(r.index("repo", start + 76s).etag, "\"v1\"") << "the old one is still known";
}

TEST(ChartRequests, AreBoundedAndForgetNothingThatIsUnderWay) {
  chart_requests r;
  for (std::size_t i = 0; i < 3 * chart_requests::most; ++i) {
    const chart_coordinates c{"r", "n", std::to_string(i)};
    r.chart(c, start);
    if (i > 0) r.chart_came(c, start + std::chrono::seconds(i));
  }
  EXPECT_EQ(r.remembered(), chart_requests::most);
  EXPECT_EQ(r.chart({"r", "n", "0"}, start).is, next::wait);
}

TEST(DesiredValues, AreEmptyUnlessSomebodyGivesSome) {
  const auto none = desired_values({});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->entries().empty());
  values_layers crds;
  crds.install_crds = true;
  EXPECT_EQ(fingerprint(cert_manager, *desired_values(crds)),
            "2ef86b2331a500594c663f2e3db844c4194039523ad614325b5d64853515a7d6");
}

TEST(DesiredValues, LaterLayersWin) {
  values_layers l;
  l.install_crds = true;
  l.files = {{"a.yaml", "m: {x: 1, z: 2}\nl: [1, 2]\ninstallCRDs: false\n"},
             {"b.yaml", "m: {z: 3}\nl: [9]\n"},
             {"c.yaml", "# nothing\n"}};
  const auto v = desired_values(l);
  ASSERT_TRUE(v) << v.error().text;
  EXPECT_EQ(fingerprint_text({"r", "n", "v"}, *v),
            R"(r|n|v|installCRDs=false|l=[9]|m={"x":1,"z":3})");
}

TEST(DesiredValues, ANullTakesWhatWasThereAway) {
  values_layers l;
  l.files = {{"a.yaml", "a: {b: 1, c: 2}\nd: 1\n"}, {"b.yaml", "a: {b: null}\nd: null\n"}};
  EXPECT_EQ(fingerprint_text({"r", "n", "v"}, *desired_values(l)),
            R"(r|n|v|a={"b":null,"c":2}|d=<nil>)")
      << "as with stock Helm the null stays, so that the chart's own value goes too";
}

TEST(DesiredValues, C6_AFileThatIsNoMapIsNamed) {
  const auto problem_with = [](const char* text) {
    values_layers l;
    l.files = {{"v.yaml", text}};
    const auto v = desired_values(l);
    return v ? std::string() : v.error().text;
  };
  EXPECT_EQ(problem_with("- a\n- b\n"), "chart values: v.yaml: must be a map, is array");
  EXPECT_EQ(problem_with("just text"), "chart values: v.yaml: must be a map, is string");
  EXPECT_TRUE(problem_with("a: [").starts_with("chart values: v.yaml: "));
  EXPECT_EQ(problem_with(""), "");
}

}  // namespace
}  // namespace helm::tenants
