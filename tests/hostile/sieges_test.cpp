// The service as it is shipped, with each feature on, within the memory that deploy/chart gives it,
// and one stranger at work: in a namespace, on a member, in a repository, in a chart, at home. Real
// processes on loopback, so this takes some minutes.
#include "bench/hostile/siege/besieged.hpp"
#include "bench/hostile/siege/strangers.hpp"
#include "tests/hostile/counted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace {

using namespace bench::hostile;

constexpr double megabyte = 1e6;

/// A group per siege where one can be made, else its memory is only counted.
void undergo(stranger_kind kind, const std::string& what) {
  std::signal(SIGPIPE, SIG_IGN);
  counted_cases tried(what);
  double most = 0;
  bool is_limited = true;
  for (std::size_t i = 0; i < strangers().size(); ++i) {
    if (strangers()[i].holds != kind) continue;
    tried([&] {
      SCOPED_TRACE(strangers()[i].name);
      const std::optional<memory_group> group = memory_group::make(shipped_memory_bytes);
      const siege_outcome o = besiege(i, std::chrono::seconds(1), group ? &*group : nullptr);
      is_limited = is_limited && group.has_value();
      most = std::max({most, o.rss_mb, o.group_mb});
      EXPECT_EQ(o.damage, "");
      EXPECT_TRUE(o.stood);
      EXPECT_EQ(o.killed, 0u);
      EXPECT_LT(o.rss_mb, shipped_memory_bytes / megabyte);
      for (const std::string& why : o.children_ended) EXPECT_NE(why, "signal");
    });
  }
  std::cout << "## most memory " << most << " MB"
            << (is_limited ? " within a cgroup" : ", counted: no memory cgroup can be made here")
            << "\n";
}

TEST(Sieges, ByTenants) {
  undergo(stranger_kind::tenant, "tenants of the shipped service");
}
TEST(Sieges, ByMembers) {
  undergo(stranger_kind::member, "members of the shipped service");
}
TEST(Sieges, ByRepositories) {
  undergo(stranger_kind::registry, "repositories of the shipped service");
}
TEST(Sieges, ByChartsThatGoToTheirLimits) {
  undergo(stranger_kind::chart, "charts of the shipped service");
}
TEST(Sieges, ByAuthorsOfFleetCharts) {
  undergo(stranger_kind::fleet_author, "authors of FleetCharts beside the shipped service");
}

/// The limit that is tried is the one of the chart.
TEST(Sieges, AreWithinTheShippedLimit) {
  std::ifstream in(WINDLASS_SOURCE_DIR "/deploy/chart/values.yaml");
  const std::string values(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(values.find("memory: 128Mi"), values.npos);
  EXPECT_EQ(shipped_memory_bytes, 128u << 20);
}

}  // namespace
