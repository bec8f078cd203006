// Each chart and index of the table, loaded and rendered as the service does, in its memory.
#include "bench/hostile/charts.hpp"

#include "helm/tenants/chart_children.hpp"
#include "reactor/plain/memory.hpp"
#include "tests/helm/in_child.hpp"
#include "tests/hostile/counted.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace bench::hostile;

bool says_one_of(const std::string& said, const std::string& wanted) {
  if (wanted.empty()) return said.empty();
  std::istringstream all(wanted);
  for (std::string one; std::getline(all, one, '|');)
    if (said.find(one) != said.npos) return true;
  return false;
}

TEST(HostileCharts, AreRefusedWithAReasonInTheServicesMemoryAndHoldNothingUp) {
  counted_cases tried("charts");
  for (const chart& c : charts())
    tried([&] {
      const std::string said = helm::testing::in_child([&]() -> std::string {
        const chart_outcome out = try_chart(c);
        if (!out.neighbour) return "the chart after it was not rendered";
        if (out.ours == 0) return "nothing of ours was done meanwhile";
        return out.said;
      });
      EXPECT_TRUE(says_one_of(said, c.says)) << c.name << ": \"" << said << "\"";
    });
}

/// What an author has that is read in that place. A cell that no row can fill is not listed.
TEST(HostileCharts, EveryCellOfTheTableHasARow) {
  const std::set<std::pair<held_by_author, read_by>> cells{
      {held_by_author::archive, read_by::loader},
      {held_by_author::metadata, read_by::loader},
      {held_by_author::values, read_by::loader},
      {held_by_author::dependencies, read_by::renderer},
      {held_by_author::templates, read_by::renderer},
      {held_by_author::functions, read_by::renderer},
      {held_by_author::schema, read_by::schema_check},
      {held_by_author::templates, read_by::manifests},
      {held_by_author::index, read_by::index_reader}};
  std::set<std::pair<held_by_author, read_by>> filled;
  for (const chart& c : charts()) filled.emplace(c.holds, c.at);
  EXPECT_EQ(filled, cells);
}

}  // namespace

/// The children that work on charts are this program, started again.
int main(int argc, char** argv) {
  reactor::end_when_memory_is_lost();
  std::signal(SIGPIPE, SIG_IGN);
  helm::tenants::chart_child_main(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
