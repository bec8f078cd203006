#include "reactor/metrics.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace reactor {
namespace {

TEST(Metrics, AreWrittenAsPrometheusTextSortedByNameAndLabels) {
  metrics all;
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

TEST(Metrics, TheSameLabelsNameTheSameSeries) {
  metrics all;
  all.get_counter("c_total", "x", {{"k", "1"}}).add();
  counter same = all.get_counter("c_total", "x", {{"k", "1"}});
  same.add(2);
  EXPECT_EQ(same.value(), 3);
}

TEST(Metrics, DropEverySeriesOfAClusterAndMakeItsHandlesInert) {
  metrics all;
  gauge gone = all.get_gauge("g", "x", {{"cluster", "a"}, {"pool", "p"}});
  counter kept = all.get_counter("c_total", "x", {{"cluster", "b"}});
  histogram also = all.get_histogram("h", "x", latency_bounds(), {{"cluster", "a"}});
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
    metrics all;
    c = all.get_counter("c_total", "x");
  }
  c.add();
  EXPECT_EQ(c.value(), 0);
}

TEST(Metrics, CountObservationsInBuckets) {
  metrics all;
  histogram h = all.get_histogram("h_seconds", "x", {0.1, 1}, {{"verb", "list"}});
  h.observe(0.05);
  h.observe(0.5);
  h.observe(5);
  const std::string text = all.text();
  EXPECT_NE(text.find("h_seconds_bucket{verb=\"list\",le=\"1\"} 2"), std::string::npos) << text;
  EXPECT_NE(text.find("h_seconds_count{verb=\"list\"} 3"), std::string::npos);
}

TEST(Metrics, RefreshGaugesRightBeforeTheyAreRead) {
  metrics all;
  int depth = 4;
  gauge g = all.get_gauge("queue_depth", "x");
  all.on_collect([&] { g.set(depth); });
  EXPECT_NE(all.text().find("queue_depth 4"), std::string::npos);
  depth = 9;
  EXPECT_NE(all.text().find("queue_depth 9"), std::string::npos);
}

TEST(Metrics, RefuseNamesThatPrometheusForbidsAndTwoTypesOfOneName) {
  metrics all;
  EXPECT_THROW(all.get_counter("no spaces", "x"), std::logic_error);
  EXPECT_THROW(all.get_counter("ok", "x", {{"not-ok", "x"}}), std::logic_error);
  (void)all.get_counter("twice", "x");
  EXPECT_THROW(all.get_gauge("twice", "x"), std::logic_error);
}

}  // namespace
}  // namespace reactor
