#include "formats/version_range.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace formats {
namespace {

int order(std::string_view a, std::string_view b) {
  return compare_versions(*view_strict_version(a), *view_strict_version(b));
}

bool in(std::string_view version, std::string_view range) {
  const range_answer answer = range_holds(range, *view_strict_version(version));
  EXPECT_EQ(answer.wrong, nullptr) << range << ": " << answer.wrong;
  return answer.holds;
}

TEST(VersionView, TakesFullVersionsAndNothingElse) {
  for (const char* good :
       {"0.0.0", "v1.2.3", "1.2.3-a.b-c.0", "1.2.3+01.x", "1.2.3--+-", "18446744073709551615.0.0"})
    EXPECT_TRUE(view_strict_version(good)) << good;
  for (const char* bad : {"",
                          "v",
                          "1",
                          "1.2",
                          "1.2.3.4",
                          "1.2.",
                          ".1.2",
                          "1..2",
                          "01.2.3",
                          "1.2.3-",
                          "1.2.3-01",
                          "1.2.3-a..b",
                          "1.2.3-a.",
                          "1.2.3+",
                          "1.2.3+a+b",
                          "1.2.3 ",
                          "vv1.2.3",
                          "1.2.x",
                          "-1.2.3",
                          "18446744073709551616.0.0",
                          "1.2.3-\u00e4"})
    EXPECT_FALSE(view_strict_version(bad)) << bad;
  EXPECT_FALSE(view_strict_version("1.2.3-" + std::string(300, 'a')));
}

TEST(VersionView, IsOrderedAsSemVerHasIt) {
  const std::vector<std::string> ascending = {"1.0.0-alpha",
                                              "1.0.0-alpha.1",
                                              "1.0.0-alpha.beta",
                                              "1.0.0-beta",
                                              "1.0.0-beta.2",
                                              "1.0.0-beta.11",
                                              "1.0.0-rc.1",
                                              "1.0.0-rc.99999999999999999999",
                                              "1.0.0-rc.100000000000000000000",
                                              "1.0.0",
                                              "1.0.1",
                                              "1.2.0",
                                              "1.10.0",
                                              "2.0.0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j)
      EXPECT_EQ(order(ascending[i], ascending[j]), i < j    ? -1
                                                   : i == j ? 0
                                                            : 1)
          << ascending[i] << " " << ascending[j];
  }
  EXPECT_EQ(order("1.0.0+a", "1.0.0+b"), 0);
}

TEST(VersionRange, JoinsByBlanksCommasAndAlternatives) {
  EXPECT_TRUE(in("34.4.1", ">= 34.2.0 < 35.0.0"));
  EXPECT_TRUE(in("34.4.1", " >=34.2.0,<35.0.0 "));
  EXPECT_FALSE(in("35.0.0", ">= 34.2.0 , < 35.0.0"));
  EXPECT_TRUE(in("1.0.0", "2.0.0 || = v1.0.0||== 3.0.0"));
  EXPECT_FALSE(in("1.0.0", "!= 1.0.0"));
  EXPECT_TRUE(in("1.0.1", "> 1.0.0 <= 1.0.1"));
}

TEST(VersionRange, ComparesPreReleasesPlainly) {
  EXPECT_TRUE(in("34.0.0-e2e.h92f8", "< 34.0.0"));
  EXPECT_FALSE(in("34.0.0-e2e.h92f8", ">= 34.0.0"));
  EXPECT_TRUE(in("34.1.0-rc", ">= 34.0.0"));
}

TEST(VersionRange, WildcardsStandForAllBelowTheirNext) {
  for (const char* range : {"12.*", "12.x", "12.X.x", "= 12.*", "v12.*"}) {
    EXPECT_TRUE(in("12.0.0", range)) << range;
    EXPECT_TRUE(in("12.99.1", range)) << range;
    EXPECT_FALSE(in("13.0.0", range)) << range;
    EXPECT_FALSE(in("11.9.9", range)) << range;
  }
  EXPECT_TRUE(in("1.2.9", "1.2.*"));
  EXPECT_FALSE(in("1.3.0", "1.2.*"));
  EXPECT_TRUE(in("0.0.1", "*"));
  EXPECT_FALSE(in("1.9.0", "> 1.x"));
  EXPECT_TRUE(in("2.0.0", "> 1.x"));
  EXPECT_TRUE(in("1.9.0", "<= 1.x"));
  EXPECT_FALSE(in("2.0.0", "<= 1.x"));
  EXPECT_TRUE(in("1.0.0", ">= 1.x"));
  EXPECT_FALSE(in("1.0.0", "< 1.x"));
  EXPECT_FALSE(in("1.5.0", "!= 1.x"));
}

TEST(VersionRange, SaysWhereItCannotBeRead) {
  struct row {
    std::string range;
    std::size_t position;
  };
  for (const auto& [range, position] :
       {row{"", 0}, row{"  ", 2}, row{"~1.2.3", 0}, row{"^1.2.3", 0}, row{">= 1.2", 3},
        row{"1.2.3 - 2.0.0", 6}, row{">= 1.0.0 <", 10}, row{"> 1.0.0,", 8}, row{",> 1.0.0", 0},
        row{"1.0.0 |", 6}, row{"1.0.0|2.0.0", 5}, row{"1.0.0 || ", 9}, row{"1.x.2", 0},
        row{">> 1.0.0", 1}, row{"1.0.0-", 0}, row{"latest", 0}, row{">=1.0.0<2.0.0", 2}}) {
    const range_answer answer = read_range(range);
    EXPECT_NE(answer.wrong, nullptr) << range;
    EXPECT_EQ(answer.position, position) << range;
  }
  EXPECT_NE(read_range(std::string(600, ' ')).wrong, nullptr);
  std::string many = "1.0.0";
  for (int i = 0; i < 64; ++i) many += " 1.0.0";
  EXPECT_STREQ(read_range(many).wrong, "has more than 64 comparators");
}

TEST(VersionRange, OverlapsWhereAVersionIsInBoth) {
  EXPECT_FALSE(ranges_overlap(">= 1.3.0", "< 1.3.0"));
  EXPECT_TRUE(ranges_overlap(">= 1.3.0", "<= 1.3.0"));
  EXPECT_TRUE(ranges_overlap("> 1.0.0", "< 1.0.1"));  // 1.0.1-0
  EXPECT_TRUE(ranges_overlap("< 2.0.0", "< 1.0.0"));
  EXPECT_TRUE(ranges_overlap("> 2.0.0", "> 1.0.0"));
  EXPECT_TRUE(ranges_overlap("> 1.0.0-rc", "< 1.0.0"));
  EXPECT_FALSE(ranges_overlap("1.x", "2.x"));
  EXPECT_TRUE(ranges_overlap("1.x || 3.x", ">= 2.0.0"));
  EXPECT_FALSE(ranges_overlap("1.0.0", "!= 1.0.0"));
  EXPECT_TRUE(ranges_overlap("*", "*"));
}

}  // namespace
}  // namespace formats
