#include "signals/history.hpp"

#include <gmock/gmock.h>

namespace signals {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr reactor::steady_time begin{};

history of_ten_minutes() {
  return {600s, 60s};
}

TEST(SignalHistory, IsUnknownBeforeTheFirstAnswer) {
  EXPECT_EQ(of_ten_minutes().at(begin).unknown, "it has not been asked for yet");
  EXPECT_FALSE(of_ten_minutes().at(begin).value);
}

TEST(SignalHistory, TellsTheLastValueWithItsAgeAndTheRangeOfItsWindow) {
  history h = of_ten_minutes();
  for (int i = 0; i <= 100; ++i) h.add({double(i), {}}, begin + i * 15s);
  const auto seen = h.at(begin + 1'510s);
  EXPECT_EQ(seen.value, 100);
  EXPECT_EQ(seen.age, 10);
  EXPECT_EQ(seen.covers, 600);
  EXPECT_EQ(seen.highest, 100);
  EXPECT_EQ(seen.lowest, 60) << "the value that held at the window's start counts";
}

TEST(SignalHistory, CoversNoMoreThanItHasSeen) {
  history h = of_ten_minutes();
  h.add({1, {}}, begin);
  h.add({1, {}}, begin + 15s);
  EXPECT_EQ(h.at(begin + 20s).covers, 20);
}

TEST(SignalHistory, GrowsOldWhileTheServerDoesNotAnswer) {
  history h = of_ten_minutes();
  h.add({1, {}}, begin);
  h.no_answer("connection refused");
  EXPECT_EQ(h.at(begin + 60s).value, 1);
  const auto stale = h.at(begin + 61s);
  EXPECT_FALSE(stale.value);
  EXPECT_EQ(stale.unknown, "its last value is 61 s old; since then: connection refused");
}

TEST(SignalHistory, AGapThatIsTooLongBeginsTheWindowAgain) {
  history h = of_ten_minutes();
  h.add({9, {}}, begin);
  h.add({1, {}}, begin + 61s);
  const auto seen = h.at(begin + 70s);
  EXPECT_EQ(seen.covers, 9);
  EXPECT_EQ(seen.highest, 1);
}

TEST(SignalHistory, AnAnswerWithoutANumberEndsWhatWasKnown) {
  history h = of_ten_minutes();
  h.add({1, {}}, begin);
  h.add({std::nullopt, "the query finds nothing"}, begin + 15s);
  EXPECT_EQ(h.at(begin + 15s).unknown, "the query finds nothing");
  h.add({1, {}}, begin + 30s);
  EXPECT_EQ(h.at(begin + 31s).covers, 1);
}

TEST(SignalHistory, WithoutAWindowTheLastValueAloneCounts) {
  history h(0s, 60s);
  h.add({5, {}}, begin);
  h.add({1, {}}, begin + 15s);
  EXPECT_EQ(h.at(begin + 15s).highest, 1);
  EXPECT_EQ(h.at(begin + 15s).covers, 0);
}

}  // namespace
}  // namespace signals
