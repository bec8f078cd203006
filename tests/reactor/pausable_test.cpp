#include "reactor/plain/pausable.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace reactor {
namespace {

pausable count(std::vector<int>& seen, int most) {
  for (int i = 0; i < most; ++i) {
    co_await pausable::step{};
    seen.push_back(i);
  }
}

pausable fail_at_second() {
  co_await pausable::step{};
  co_await pausable::step{};
  throw std::runtime_error("second");
}

TEST(Pausable, GoesOnWhereItPaused) {
  std::vector<int> seen;
  pausable counting = count(seen, 5);
  EXPECT_TRUE(seen.empty());
  EXPECT_FALSE(counting.advance(0));
  EXPECT_FALSE(counting.advance(2));
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
  EXPECT_FALSE(counting.advance(0));
  EXPECT_FALSE(counting.advance(1));
  EXPECT_TRUE(counting.advance(2));
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(counting.advance(7));
  EXPECT_EQ(seen.size(), 5u);
}

TEST(Pausable, WithoutStepsEndsAtOnce) {
  std::vector<int> seen;
  pausable counting = count(seen, 0);
  EXPECT_TRUE(counting.advance(1));
}

TEST(Pausable, HandsOnAnException) {
  pausable failing = fail_at_second();
  EXPECT_FALSE(failing.advance(1));
  EXPECT_THROW(failing.advance(1), std::runtime_error);
  EXPECT_TRUE(failing.advance(1));
}

TEST(Pausable, MayBeGivenUpBeforeItsEnd) {
  std::vector<int> seen;
  {
    pausable counting = count(seen, 5);
    EXPECT_FALSE(counting.advance(1));
    counting = count(seen, 2);
    EXPECT_TRUE(counting.advance(2));
  }
  EXPECT_EQ(seen, (std::vector<int>{0, 0, 1}));
}

}  // namespace
}  // namespace reactor
