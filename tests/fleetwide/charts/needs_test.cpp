#include "fleetwide/charts/needs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fleetwide {
namespace {

using state = needed_chart::state;
using names = std::vector<std::string>;

/// What each FleetChart is and needs; counts how often it is looked at.
struct charts {
  std::map<std::string, needed_chart> all;
  std::size_t looks = 0;

  needs_verdict judge(const names& needs) {
    return judge_needs("c", needs, [this](const std::string& name) {
      ++looks;
      const auto found = all.find(name);
      return found == all.end() ? needed_chart{state::missing, {}} : found->second;
    });
  }
};

std::string layer_of(std::size_t deep, std::size_t n) {
  return "l" + std::to_string(deep) + "-" + std::to_string(n);
}

/// Each chart of a layer needs all of the next one: wide to the power of deep ways lead down.
charts layers(std::size_t deep, std::size_t wide, state last) {
  charts out;
  for (std::size_t d = 0; d < deep; ++d)
    for (std::size_t n = 0; n < wide; ++n) {
      needed_chart& is = out.all[layer_of(d, n)];
      is.is = d + 1 == deep ? last : state::not_ready;
      for (std::size_t m = 0; d + 1 < deep && m < wide; ++m) is.needs.push_back(layer_of(d + 1, m));
    }
  return out;
}

TEST(Needs, WaitForTheFirstThatIsNotReady) {
  charts are{
      {{"a", {state::ready, {}}}, {"b", {state::not_ready, {}}}, {"c", {state::not_ready, {}}}}};
  const needs_verdict v = are.judge({"a", "b", "c"});
  ASSERT_TRUE(v.hold);
  EXPECT_EQ(v.hold->sentence, "FleetChart b, which it needs, is not ready here");
  EXPECT_FALSE(v.is_stuck);
  EXPECT_FALSE(are.judge({"a"}).hold);
  EXPECT_FALSE(are.judge({}).hold);
}

TEST(Needs, AreStuckByWhatIsFarAway) {
  charts are{{{"a", {state::not_ready, {"b"}}}, {"b", {state::not_ready, {"gone"}}}}};
  const needs_verdict v = are.judge({"a"});
  EXPECT_TRUE(v.is_stuck);
  EXPECT_EQ(v.hold->sentence, "FleetChart a, which it needs, is not ready here");
  are.all["b"].is = state::ready;  // what it needs itself no longer matters
  EXPECT_FALSE(are.judge({"a"}).is_stuck);
}

TEST(Needs, AreLookedAtOnceEachHoweverManyWaysLeadThere) {
  charts wide = layers(30, 2, state::not_ready);
  EXPECT_FALSE(wide.judge({layer_of(0, 0), layer_of(0, 1)}).is_stuck);
  EXPECT_EQ(wide.looks, 60u);
  charts missing = layers(30, 2, state::missing);
  EXPECT_TRUE(missing.judge({layer_of(0, 0)}).is_stuck);
  charts most = layers(32, 32, state::not_ready);
  most.judge({layer_of(0, 0)});
  EXPECT_EQ(most.looks, most_needed_looks);
}

TEST(Needs, OfEachOtherEnd) {
  charts are;
  for (const char* one : {"a", "b", "c"}) are.all[one] = {state::not_ready, {"a", "b", "c"}};
  EXPECT_FALSE(are.judge({"a"}).is_stuck);
  EXPECT_EQ(are.looks, 3u);
}

TEST(Needs, SayTheCycle) {
  const std::map<std::string, names> needs{
      {"a", {"x", "b"}}, {"b", {"c"}}, {"c", {"b", "a"}}, {"s", {"s"}}};
  EXPECT_EQ(cycle_of("a", needs), "a → b → c → a");
  EXPECT_EQ(cycle_of("b", needs), "b → c → b");
  EXPECT_EQ(cycle_of("s", needs), "s → s");
  EXPECT_EQ(cycle_of("x", needs), "");
}

TEST(Needs, SayTheCycleOfAsManyAsANamespaceHolds) {
  std::map<std::string, names> needs;
  constexpr std::size_t many = 100'000;
  for (std::size_t i = 0; i < many; ++i) needs[std::to_string(i)] = {std::to_string(i + 1)};
  EXPECT_EQ(cycle_of("0", needs), "");
  needs[std::to_string(many)] = {"0"};
  EXPECT_TRUE(cycle_of("0", needs).ends_with(" → 99999 → 100000 → 0"));
}

}  // namespace
}  // namespace fleetwide
