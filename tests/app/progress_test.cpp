// What a person is told of a task that takes a while.
#include "app/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace app {
namespace {

using namespace std::chrono_literals;

TEST(Progress, SaysTheTimeAndWhatTheEstimateComesFrom) {
  struct row {
    std::size_t done, of;
    reactor::nanoseconds elapsed;
    std::string text;
  };
  for (const row& r : std::vector<row>{
           {0, 10, 0s, "after 0:00"},
           {0, 10, 90s, "after 1:30"},
           {1, 10, 7s, "after 0:07, about 1:03 left at this pace"},
           {5, 10, 3'600s, "after 1:00:00, about 1:00:00 left at this pace"},
           {9, 10, 59'600ms, "after 1:00, about 0:07 left at this pace"},
           {10, 10, 61s, "after 1:01"},
           {11, 10, 61s, "after 1:01"},
           {0, 0, 5s, "after 0:05"},
       })
    EXPECT_EQ(time_text({{}, {}, r.done, r.of, r.elapsed}), r.text);
}

TEST(Progress, KeepsTheWordsBeforeTheBar) {
  const progress_state s{"pulling", "charts", 5, 10, 20s};
  const std::string words = "pulling: 5 of 10 charts after 0:20, about 0:20 left at this pace";
  EXPECT_EQ(progress_line(s).text(),
            words + " [" + std::string(15, '#') + std::string(15, '.') + "]");
  EXPECT_EQ(progress_line(s, words.size() + 11).text(), words);
  EXPECT_EQ(progress_line(s, words.size() + 12).text(), words + " [####....]");
  EXPECT_EQ(progress_line({"x", "y", 0, 0, 1s}).text(), "x: 0 of 0 y after 0:01");
}

struct written {
  reactor::nanoseconds now = {};
  std::string text;
  progress::place at(bool screen) {
    return {screen, 80, [this](const page& p) { text += p.text(); }, [this] { return now; }};
  }
};

TEST(Progress, SaysNothingOfAShortTask) {
  for (const bool screen : {true, false}) {
    written w;
    progress p(w.at(screen), "pulling", "charts", 3);
    for (const auto t : {1s, 2s}) {
      w.now = t;
      p.next();
    }
    EXPECT_EQ(w.text, "");
  }
}

TEST(Progress, IsALineForEachTenthInAPipe) {
  written w;
  progress p(w.at(false), "pulling", "charts", 20);
  for (int i = 0; i < 20; ++i) {
    w.now += 2s;
    p.next();
  }
  EXPECT_EQ(std::ranges::count(w.text, '\n'), 10);
  EXPECT_EQ(w.text.find('\r'), w.text.npos);
  EXPECT_NE(w.text.find("pulling: 20 of 20 charts after 0:40"), w.text.npos);
}

TEST(Progress, IsRedrawnInItsPlaceAndGoneAtTheEnd) {
  written w;
  {
    progress p(w.at(true), "pulling", "charts", 1'000);
    w.now = 10s;
    for (int i = 0; i < 100; ++i) {  // five times a second at most
      w.now += 10ms;
      p.next();
    }
    EXPECT_EQ(std::ranges::count(w.text, '\r'), 5);
    EXPECT_EQ(w.text.find('\n'), w.text.npos);
    w.text.clear();
    p.tell("seed 7 fails");
    EXPECT_EQ(w.text, "\r\033[2Kseed 7 fails\n");
    w.now += 1s;
    p.next();
    w.text.clear();
  }
  EXPECT_EQ(w.text, "\r\033[2K");
}

TEST(Progress, IsSilentWhereNothingIsWritten) {
  written w;
  progress::place nowhere = w.at(false);
  nowhere.write = nullptr;
  progress p(std::move(nowhere), "pulling", "charts", 1);
  w.now = 10s;
  p.tell("a line");
  p.next();
}

}  // namespace
}  // namespace app
