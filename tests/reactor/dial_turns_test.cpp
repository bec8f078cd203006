#include "reactor/net/dial_turns.hpp"

#include "reactor/loop.hpp"
#include "reactor/of_loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace reactor {
namespace {

/// "a1 a2 b1": who waits, the first first; each is named by its peer and its number there.
struct FairTurns : testing::Test {
  void wait(const std::string& names) {
    std::istringstream all(names);
    for (std::string name; all >> name;) {
      tickets[name] = turns.join(peer_of(name));
      names_of[tickets[name]] = name;
    }
  }
  void leave(const std::string& name) { turns.leave(peer_of(name), tickets[name]); }
  /// In the order of their turns.
  std::string rest() {
    std::string out;
    while (const auto next = turns.next()) out += (out.empty() ? "" : " ") + names_of[*next];
    return out;
  }
  fair_turns::peer peer_of(const std::string& name) { return &peers[name.front()]; }

  std::map<char, int> peers;
  std::map<std::string, fair_turns::ticket> tickets;
  std::map<fair_turns::ticket, std::string> names_of;
  fair_turns turns;
};

TEST_F(FairTurns, PeersComeOneAfterTheOtherHoweverManyWaitForOne) {
  const std::pair<const char*, const char*> table[] = {
      {"", ""},
      {"a1", "a1"},
      {"a1 a2 a3", "a1 a2 a3"},
      {"a1 b1 c1", "a1 b1 c1"},
      {"a1 a2 a3 a4 b1", "a1 b1 a2 a3 a4"},
      {"a1 a2 a3 b1 b2 c1", "a1 b1 c1 a2 b2 a3"},
      {"b1 a1 a2 a3 b2 b3", "b1 a1 b2 a2 b3 a3"},
  };
  for (const auto& [waiting, order] : table) {
    wait(waiting);
    EXPECT_EQ(rest(), order) << waiting;
    EXPECT_TRUE(turns.empty());
  }
}

TEST_F(FairTurns, APeerThatComesBackIsBehindThoseThatWaitAlready) {
  wait("a1 b1 c1");
  EXPECT_EQ(names_of[*turns.next()], "a1");
  wait("a2 d1");
  EXPECT_EQ(rest(), "b1 c1 a2 d1");
}

TEST_F(FairTurns, APeerThatLeavesDelaysNoOther) {
  wait("a1 a2 b1 c1 c2");
  leave("a1");
  leave("b1");
  leave("c2");
  leave("c2");
  EXPECT_EQ(rest(), "a2 c1");
  leave("a2");
  wait("b2 a3");
  EXPECT_EQ(rest(), "b2 a3");
}

/// Connections that take `time` each once their turn has come.
struct DialTurns : testing::Test {
  void dial(const std::string& name, nanoseconds time, precedence how = precedence::usual,
            steady_time deadline = never) {
    tasks->start(name, [this, name, time, how, deadline]() -> awaitable<void> {
      const auto place = co_await turns().begin(&peers[name.front()], how, deadline);
      begun.push_back(place ? name : name + " gave up");
      at.push_back(l.now());
      most = std::max(most, turns().under_way());
      if (place) co_await l.sleep_for(time);
    });
  }
  void run_for(nanoseconds d) { l.run_until(l.now() + d); }
  dial_turns& turns() { return of_loop<dial_turns>(l); }
  ~DialTurns() override {
    run_for(1h);
    EXPECT_EQ(turns().under_way(), 0u);
  }

  loop l{loop::mode::simulated, 3};
  std::map<char, int> peers;
  std::vector<std::string> begun;
  std::vector<steady_time> at;
  std::size_t most = 0;
  std::optional<task_group> tasks{std::in_place, l};
};
constexpr auto limit = dial_turns::most_at_once;

TEST_F(DialTurns, NoMoreThanTheLimitAreMadeAtOnceAndAllComeToTheirTurn) {
  for (std::size_t i = 0; i < 3 * limit; ++i) dial("a", 10ms);
  run_for(1ms);
  EXPECT_EQ(begun.size(), limit);
  run_for(10ms);
  EXPECT_EQ(begun.size(), 2 * limit);
  run_for(1s);
  EXPECT_EQ(begun.size(), 3 * limit);
  EXPECT_EQ(most, limit);
}

TEST_F(DialTurns, OnePeersMultitudeDelaysAnotherByOneOfThem) {
  for (std::size_t i = 0; i < 40 * limit; ++i) dial("a", 10ms);
  dial("b", 10ms);
  run_for(1ms);
  run_for(10ms);
  EXPECT_EQ(std::ranges::count(begun, "b"), 1);
}

TEST_F(DialTurns, PeersThatNeverAnswerHoldTheirPlacesForATenthOfASecond) {
  for (std::size_t i = 0; i < limit; ++i) dial("a", 5s);
  dial("b", 10ms);
  run_for(dial_turns::longest_place - 1ms);
  EXPECT_EQ(std::ranges::count(begun, "b"), 0);
  run_for(2ms);
  EXPECT_EQ(std::ranges::count(begun, "b"), 1);
}

TEST_F(DialTurns, AnEssentialOneWaitsForNone) {
  for (std::size_t i = 0; i < 2 * limit; ++i) dial("a", 10ms);
  dial("h", 10ms, precedence::essential);
  run_for(1ms);
  EXPECT_EQ(begun.back(), "h");
}

TEST_F(DialTurns, WhoseDeadlineComesFirstGivesUpAndTakesNoPlace) {
  for (std::size_t i = 0; i < limit; ++i) dial("a", 50ms);
  dial("b", 10ms, precedence::usual, l.now() + 20ms);
  dial("c", 10ms);
  run_for(30ms);
  EXPECT_EQ(begun.back(), "b gave up");
  run_for(30ms);
  EXPECT_EQ(begun.back(), "c");
}

TEST_F(DialTurns, WhoIsCancelledAtAnyMomentLeavesItsPlaceToTheNext) {
  for (nanoseconds when = 0ms; when < 14ms; when += 1ms) {
    for (std::size_t i = 0; i < 3 * limit; ++i) dial("a", 5ms);
    run_for(when);
    reactor::task_group stopping(l);
    stopping.start("stop", tasks->cancel_and_join());
    run_for(1s);
    EXPECT_TRUE(stopping.empty());
    tasks.emplace(l);
    EXPECT_EQ(turns().under_way(), 0u) << "after " << when / 1ms << " ms";
  }
}

}  // namespace
}  // namespace reactor
