#include "k8s/informer/own_writes.hpp"

#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

using namespace std::chrono_literals;

struct OwnWrites : testing::Test {
  object_meta at(const char* version, const char* id = "u") {
    object_meta m;
    m.name = "a";
    m.uid = id;
    m.resource_version = version;
    return m;
  }
  bool stale(const object_meta& m) { return writes.is_stale(key, &m); }
  reactor::loop l{reactor::loop::mode::simulated, 1};
  std::uint64_t history = 0;  // of the store
  own_writes writes{l, [this] { return history; }, 3, 60s};
  object_key key{"", "a"};
};

TEST_F(OwnWrites, AnOlderViewIsStaleUntilTheWriteIsSeen) {
  EXPECT_FALSE(stale(at("5")));
  writes.wrote(key, "u", "9");
  EXPECT_TRUE(stale(at("8")));
  EXPECT_FALSE(stale(at("9")));
  EXPECT_EQ(writes.size(), 0u) << "forgotten on sight";
  EXPECT_FALSE(stale(at("8")));
}

TEST_F(OwnWrites, WhatWasCreatedIsAwaited) {
  writes.wrote(key, "u", "9");
  EXPECT_TRUE(writes.is_stale(key, nullptr));
  EXPECT_FALSE(stale(at("12")));
}

TEST_F(OwnWrites, WhatWasRemovedIsAwaited) {
  writes.removed(key, "u");
  EXPECT_TRUE(stale(at("9")));
  EXPECT_FALSE(writes.is_stale(key, nullptr));
  writes.removed(key, "u");
  EXPECT_FALSE(stale(at("10", "another"))) << "somebody made it anew";
}

TEST_F(OwnWrites, NothingIsAwaitedOfAnObjectThatDisappeared) {
  writes.wrote(key, "u", "9");
  writes.gone(key, "another");
  EXPECT_TRUE(writes.is_stale(key, nullptr));
  writes.gone(key, "u");
  EXPECT_FALSE(writes.is_stale(key, nullptr));
}

TEST_F(OwnWrites, AnAnswerBehindTheNewsOfTheEndIsNoReasonToWait) {
  writes.gone(key, "u");
  writes.wrote(key, "u", "9");
  writes.removed(key, "u");
  EXPECT_FALSE(writes.is_stale(key, nullptr));
  writes.wrote(key, "its successor", "12");
  EXPECT_TRUE(writes.is_stale(key, nullptr));
  for (int i = 0; i < 300; ++i) writes.gone({"", "other"}, "o" + std::to_string(i));
  writes.wrote(key, "u", "9");
  EXPECT_TRUE(writes.is_stale(key, nullptr)) << "what is remembered has a limit";
}

TEST_F(OwnWrites, OfAnEarlierHistoryOfTheServerNothingIsAwaited) {
  writes.wrote(key, "u", "9");
  EXPECT_TRUE(stale(at("8"))) << "the same history";
  history = 1;
  EXPECT_FALSE(stale(at("8")));
  writes.wrote(key, "u", "9");
  EXPECT_TRUE(stale(at("8")));
  // Of all at once, also where the history changes while others have their turn.
  history = 2;
  bool any = true;
  reactor::task_group tasks(l);
  tasks.start("look", [&]() -> reactor::awaitable<void> {
    const auto older = at("8");
    const auto view = [&older](const object_key&) { return &older; };
    const auto all = [](const object_key&) { return true; };
    any = co_await writes.any_is_stale(view, all);
  });
  l.run_until(l.now() + 1s);
  EXPECT_FALSE(any);
  EXPECT_EQ(writes.size(), 0u);
}

TEST_F(OwnWrites, TimeForgets) {
  writes.wrote(key, "u", "9");
  l.run_until(l.now() + 61s);
  EXPECT_FALSE(stale(at("8")));
}

TEST_F(OwnWrites, TheOldestIsForgottenFirst) {
  for (const char* name : {"b", "c"}) writes.wrote({"", name}, "u", "9");
  writes.wrote(key, "u", "9");
  writes.wrote({"", "d"}, "u", "9");
  EXPECT_EQ(writes.size(), 3u);
  EXPECT_FALSE(writes.is_stale({"", "b"}, nullptr));
  EXPECT_TRUE(writes.is_stale({"", "c"}, nullptr));
}

TEST_F(OwnWrites, VersionsThatDoNotCompareAreStaleUntilTheVeryOneIsSeen) {
  writes.wrote(key, "u", "xyz");
  EXPECT_TRUE(stale(at("abc")));
  EXPECT_FALSE(stale(at("xyz")));
}

}  // namespace
}  // namespace k8s
