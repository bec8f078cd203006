#include "reactor/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace reactor {
namespace {

/// Makes the row of a table with each call.
class by_name : public metrics {
public:
  counter get_counter(const std::string& name, const std::string& help, metric_labels of = {}) {
    return metrics::get_counter(kind(name, help, metric_type::counter, of), of);
  }
  gauge get_gauge(const std::string& name, const std::string& help, metric_labels of = {}) {
    return metrics::get_gauge(kind(name, help, metric_type::gauge, of), of);
  }
  histogram get_histogram(const std::string& name, const std::string& help,
                          std::span<const double> bounds, metric_labels of = {}) {
    metric_kind k = kind(name, help, metric_type::histogram, of);
    k.bounds = bounds;
    return metrics::get_histogram(k, of);
  }

private:
  static metric_kind kind(const std::string& name, const std::string& help, metric_type type,
                          const metric_labels& of) {
    metric_kind k{name, type, "", {}, help};
    std::size_t i = 0;
    for (const auto& [label, value] : of) k.labels.at(i++) = label;
    return k;
  }
};

TEST(Metrics, AreWrittenAsPrometheusTextSortedByNameAndLabels) {
  by_name all;
  all.get_gauge("windlass_b", "Second", {{"cluster", "z"}}).set(2);
  all.get_gauge("windlass_b", "Second", {{"cluster", "a"}}).set(1.5);
  all.get_counter("windlass_a_total", "First").add(3);
  const std::string text = all.text();
  const auto at = [&](const char* part) { return text.find(part); };
  EXPECT_NE(
      at("# HELP windlass_a_total First\n# TYPE windlass_a_total counter\nwindlass_a_total 3"),
      std::string::npos);
  EXPECT_LT(at("windlass_a_total 3"), at("windlass_b{cluster=\"a\"} 1.5"));
  EXPECT_LT(at("windlass_b{cluster=\"a\"} 1.5"), at("windlass_b{cluster=\"z\"} 2"));
}

TEST(Metrics, DropsASeriesWhereverItsLabelStandsAmongTheOthers) {
  by_name all;
  std::size_t of_b = 0;
  for (const char* cluster : {"", "a", "b", "bb", "c"})
    for (const char* other : {"", "1", "2"}) {
      all.get_gauge("first", "x", {{"cluster", cluster}, {"pool", other}}).set(1);
      all.get_gauge("last", "x", {{"api", other}, {"cluster", cluster}}).set(1);
      all.get_gauge("between", "x", {{"api", other}, {"cluster", cluster}, {"pool", "p"}}).set(1);
      of_b += std::string(cluster) == "b" ? 3 : 0;
    }
  all.get_gauge("lonely", "x", {{"api", "b"}, {"cluster", "b"}}).set(1);
  all.get_gauge("without", "x", {{"api", "b"}}).set(1);
  const std::size_t before = all.series();
  EXPECT_EQ(all.drop("cluster", "b"), of_b + 1);
  EXPECT_EQ(all.series(), before - of_b - 1);
  EXPECT_EQ(all.text().find("cluster=\"b\""), std::string::npos);
  EXPECT_NE(all.text().find("without{api=\"b\"} 1"), std::string::npos);
  EXPECT_EQ(all.drop("cluster", "b"), 0u);
  EXPECT_EQ(all.drop("cluster", ""), of_b);
  EXPECT_EQ(all.drop("nobody", "b"), 0u);
}

TEST(Metrics, TheSameLabelsNameTheSameSeries) {
  by_name all;
  all.get_counter("c_total", "x", {{"k", "1"}}).add();
  counter same = all.get_counter("c_total", "x", {{"k", "1"}});
  same.add(2);
  EXPECT_EQ(same.value(), 3);
}

TEST(Metrics, DropEverySeriesOfAClusterAndMakeItsHandlesInert) {
  by_name all;
  gauge gone = all.get_gauge("g", "x", {{"cluster", "a"}, {"pool", "p"}});
  counter kept = all.get_counter("c_total", "x", {{"cluster", "b"}});
  histogram also = all.get_histogram("h", "x", latency_bounds, {{"cluster", "a"}});
  gone.set(1);
  kept.add();
  EXPECT_EQ(all.drop("cluster", "a"), 2u);
  gone.set(5);
  also.observe(1);
  EXPECT_EQ(gone.value(), 0);
  EXPECT_EQ(all.text().find("cluster=\"a\""), std::string::npos);
  EXPECT_NE(all.text().find("c_total{cluster=\"b\"} 1"), std::string::npos);
  gauge again = all.get_gauge("g", "x", {{"cluster", "a"}, {"pool", "p"}});
  again.set(7);
  EXPECT_NE(all.text().find("g{cluster=\"a\",pool=\"p\"} 7"), std::string::npos);
}

TEST(Metrics, HandlesOutliveTheRegistry) {
  counter c;
  c.add();
  {
    by_name all;
    c = all.get_counter("c_total", "x");
  }
  c.add();
  EXPECT_EQ(c.value(), 0);
}

TEST(Metrics, CountObservationsInBuckets) {
  by_name all;
  constexpr std::array<double, 2> bounds = {0.1, 1};
  histogram h = all.get_histogram("h_seconds", "x", bounds, {{"verb", "list"}});
  h.observe(0.05);
  h.observe(0.5);
  h.observe(5);
  const std::string text = all.text();
  EXPECT_NE(text.find("h_seconds_bucket{verb=\"list\",le=\"1\"} 2"), std::string::npos) << text;
  EXPECT_NE(text.find("h_seconds_count{verb=\"list\"} 3"), std::string::npos);
}

TEST(Metrics, RefreshGaugesRightBeforeTheyAreRead) {
  by_name all;
  int depth = 4;
  gauge g = all.get_gauge("queue_depth", "x");
  all.on_collect([&] { g.set(depth); });
  EXPECT_NE(all.text().find("queue_depth 4"), std::string::npos);
  depth = 9;
  EXPECT_NE(all.text().find("queue_depth 9"), std::string::npos);
}

/// What 500 clusters have: 30 gauges, 5 counters and 2 histograms each.
void fill(by_name& all) {
  for (int i = 0; i < 500; ++i) {
    const metric_labels of{{"cluster", "cluster-with-a-name-" + std::to_string(i)}};
    for (int k = 0; k < 30; ++k) {
      metric_labels labels = of;
      labels["state"] = "state-" + std::to_string(k);
      all.get_gauge("windlass_gauge_" + std::to_string(k % 3), "Help.", labels).set(k);
    }
    for (int k = 0; k < 5; ++k)
      all.get_counter("windlass_counter_" + std::to_string(k), "Help.", of).add(i + 0.5);
    for (int k = 0; k < 2; ++k)
      all.get_histogram("windlass_seconds_" + std::to_string(k), "Help.", latency_bounds, of)
          .observe(0.1);
  }
}

TEST(Metrics, OfAFleetAreReadInPiecesOfLittleWork) {
  by_name all;
  fill(all);
  int refreshed = 0;
  for (int i = 0; i < 3; ++i) all.on_collect([&] { ++refreshed; });
  std::string joined;
  std::size_t pieces = 0, largest = 0;
  metrics::reading reading(all);
  for (;;) {
    const auto piece = reading.next();
    if (!piece) break;
    ++pieces;
    largest = std::max(largest, piece->size());
    joined += *piece;
  }
  EXPECT_EQ(refreshed, 3);
  EXPECT_EQ(joined, all.text());
  EXPECT_GT(joined.size(), 1'000'000u);
  EXPECT_LT(largest, 20'000u);
  EXPECT_GT(pieces, joined.size() / 20'000);
}

TEST(Metrics, MayComeAndGoWhileTheyAreRead) {
  by_name all;
  fill(all);
  metrics::reading reading(all);
  std::string text;
  for (int pieces = 0;; ++pieces) {
    const auto piece = reading.next();
    if (!piece) break;
    text += *piece;
    all.drop("cluster", "cluster-with-a-name-" + std::to_string(pieces * 7 % 500));
    all.get_gauge("windlass_gauge_1", "Help.", {{"cluster", "new" + std::to_string(pieces)}})
        .set(1);
    all.get_gauge("windlass_a" + std::to_string(pieces), "Help.").set(1);
  }
  EXPECT_TRUE(text.ends_with("\n"));
  std::size_t heads = 0;
  for (std::size_t at = 0; (at = text.find("# TYPE windlass_gauge_1 ", at)) != text.npos; ++at)
    ++heads;
  EXPECT_EQ(heads, 1u);
  EXPECT_NE(
      text.find("windlass_seconds_1_bucket{cluster=\"cluster-with-a-name-499\",le=\"+Inf\"} 1\n"),
      std::string::npos);
}

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  by_name all;
  all.get_gauge("a", "Two\nlines and a \\.", {{"k", "\"q\" \\ \n"}}).set(1e6);
  all.get_gauge("b", "").set(0.1);
  all.get_gauge("c", "").set(std::numeric_limits<double>::infinity());
  all.get_gauge("d", "").set(-std::numeric_limits<double>::infinity());
  all.get_gauge("e", "").set(std::numeric_limits<double>::quiet_NaN());
  all.get_gauge("f", "").set(1e300);
  const std::string text = all.text();
  for (const char* line :
       {"# HELP a Two\\nlines and a \\\\.\n# TYPE a gauge\na{k=\"\\\"q\\\" \\\\ \\n\"} 1000000\n",
        "\nb 0.1\n", "\nc +Inf\n", "\nd -Inf\n", "\ne NaN\n", "\nf 1e+300\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Metrics, RefuseNamesThatPrometheusForbidsAndTwoTypesOfOneName) {
  by_name all;
  EXPECT_THROW(all.get_counter("no spaces", "x"), std::logic_error);
  EXPECT_THROW(all.get_counter("ok", "x", {{"not-ok", "x"}}), std::logic_error);
  (void)all.get_counter("twice", "x");
  EXPECT_THROW(all.get_gauge("twice", "x"), std::logic_error);
}

TEST(Metrics, RefuseLabelsThatTheirTableDoesNotHave) {
  metrics all;
  const metric_kind kind{"windlass_x_total", metric_type::counter, "", {"cluster"}, "x"};
  EXPECT_THROW(all.get_counter(kind, {{"node", "x"}}), std::logic_error);
  EXPECT_THROW(all.get_counter(kind), std::logic_error);
  EXPECT_THROW(all.get_counter(kind, {{"cluster", "a"}, {"node", "x"}}), std::logic_error);
  all.get_counter(kind, {{"cluster", "a"}}).add();
  EXPECT_NE(all.text().find("windlass_x_total{cluster=\"a\"} 1"), std::string::npos);
}

TEST(Metrics, DropOneSeriesUnlessAnotherHasItsLabelsByNow) {
  metrics all;
  const metric_kind kind{"g", metric_type::gauge, "", {"cluster"}, "x"};
  gauge old = all.get_gauge(kind, {{"cluster", "a"}});
  all.drop("cluster", "a");
  gauge now = all.get_gauge(kind, {{"cluster", "a"}});
  now.set(3);
  all.drop(kind, {{"cluster", "a"}}, old);
  EXPECT_EQ(now.value(), 3);
  all.drop(kind, {{"cluster", "a"}}, now);
  EXPECT_EQ(now.value(), 0);
  EXPECT_EQ(all.text().find("g{"), std::string::npos);
}

TEST(Metrics, AreOpenMetricsForWhoAcceptsThem) {
  EXPECT_EQ(metrics::wanted("text/plain, */*;q=0.1"), metrics::format::prometheus);
  EXPECT_EQ(metrics::wanted("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            metrics::format::open_metrics);
  metrics all;
  all.get_counter({"windlass_read_bytes_total", metric_type::counter, "bytes", {}, "Read."}).add(2);
  const std::string text = all.text(metrics::format::open_metrics);
  EXPECT_NE(
      text.find("# HELP windlass_read_bytes Read.\n# TYPE windlass_read_bytes counter\n# UNIT "
                "windlass_read_bytes bytes\nwindlass_read_bytes_total 2\n"),
      std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(all.text().find("# EOF"), std::string::npos);
}

}  // namespace
}  // namespace reactor
