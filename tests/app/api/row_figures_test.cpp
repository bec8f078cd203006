#include "app/api/row_figures.hpp"

#include <gtest/gtest.h>

namespace units {
namespace {

bool has(reactor::metrics& all, const std::string& line) {
  return all.text().find(line + "\n") != std::string::npos;
}

TEST(RowFigures, CountUnitsByStateAndByCode) {
  reactor::metrics all;
  row_budget budget(all, "x");
  row_figures of(all, budget, "x", "c");
  of.show("a", {{"Staged", 2}}, {{"pdb", 1}, {"policy:Later", 1}, {"policy:Never", 2}});
  EXPECT_TRUE(has(all, R"(windlass_units{api="x",cluster="c",pool="a",state="Staged"} 2)"));
  EXPECT_TRUE(has(all, R"(windlass_held_units{api="x",cluster="c",code="pdb",pool="a"} 1)"));
  EXPECT_TRUE(has(all, R"(windlass_held_units{api="x",cluster="c",code="policy",pool="a"} 3)"));
  of.show("a", {{"UpToDate", 2}}, {});
  EXPECT_TRUE(has(all, R"(windlass_units{api="x",cluster="c",pool="a",state="Staged"} 0)"));
  EXPECT_TRUE(has(all, R"(windlass_held_units{api="x",cluster="c",code="pdb",pool="a"} 0)"));
  of.forget("a");
  EXPECT_EQ(all.text().find("pool=\"a\""), std::string::npos);
}

TEST(RowFigures, RowsBeyondTheLimitAreSummedAndSaid) {
  reactor::metrics all;
  row_budget budget(all, "x", 2);
  row_figures one(all, budget, "x", "one");
  {
    row_figures two(all, budget, "x", "two");
    one.show("a", {{"Staged", 1}}, {});
    for (const char* row : {"a", "b", "c"}) two.show(row, {{"Staged", 5}}, {{"pdb", 1}});
    EXPECT_TRUE(has(all, R"(windlass_units{api="x",cluster="two",pool="a",state="Staged"} 5)"));
    EXPECT_TRUE(
        has(all, R"(windlass_units{api="x",cluster="two",pool="_other",state="Staged"} 10)"));
    EXPECT_TRUE(has(all, R"(windlass_rows_without_series{api="x"} 2)"));
    two.forget("c");
    EXPECT_TRUE(
        has(all, R"(windlass_held_units{api="x",cluster="two",code="pdb",pool="_other"} 1)"));
    EXPECT_TRUE(has(all, R"(windlass_rows_without_series{api="x"} 1)"));
  }
  EXPECT_EQ(all.text().find("windlass_units{api=\"x\",cluster=\"two\""), std::string::npos);
  EXPECT_TRUE(has(all, R"(windlass_rows_without_series{api="x"} 0)"));
}

TEST(RowFigures, AClusterThatComesAgainKeepsItsNewSeries) {
  reactor::metrics all;
  row_budget budget(all, "x");
  auto old = std::make_unique<row_figures>(all, budget, "x", "c");
  old->show("a", {{"Staged", 1}}, {});
  all.drop("cluster", "c");
  row_figures now(all, budget, "x", "c");
  now.show("a", {{"Staged", 7}}, {});
  old.reset();
  EXPECT_TRUE(has(all, R"(windlass_units{api="x",cluster="c",pool="a",state="Staged"} 7)"));
}

}  // namespace
}  // namespace units
