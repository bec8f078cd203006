// What the timeline keeps, finds and drops.
#include "service/page/timeline.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace web;
namespace json = boost::json;

reactor::wall_time second(int n) {
  return reactor::wall_time(std::chrono::seconds(1'800'000'000 + n));
}

timeline_entry entry(int at, std::string text, std::string cluster = "c1") {
  timeline_entry e;
  e.at = second(at);
  e.cluster = std::move(cluster);
  e.about = "BootcNodePool/workers";
  e.what = "RolloutStarted";
  e.by = "windlass";
  e.text = std::move(text);
  return e;
}

/// The texts of all that is found, asked for by `most` at a time and `looked` in one look.
std::vector<std::string> found(const timeline& t, timeline_question q, std::size_t looked = 7) {
  std::vector<std::string> out;
  std::optional<timeline_place> at;
  do {
    const timeline::piece piece = t.search(q, at, looked);
    EXPECT_LE(piece.found.size(), q.most);
    for (const std::string& one : piece.found)
      out.emplace_back(json::parse(one).at("text").as_string());
    at = piece.next;
  } while (at);
  return out;
}

using texts = std::vector<std::string>;

TEST(Timeline, TellsTheNewestFirstAPageAtATime) {
  timeline t;
  for (const int at : {3, 1, 2, 5, 4}) t.add(entry(at, std::to_string(at)));
  EXPECT_EQ(found(t, {}), (texts{"5", "4", "3", "2", "1"}));
  const timeline::piece first = t.search({.words = {}, .cluster = {}, .most = 2}, {}, 100);
  ASSERT_EQ(first.found.size(), 2u);
  ASSERT_TRUE(first.next);
  const auto place = timeline_place::read(first.next->text());
  ASSERT_TRUE(place);
  t.add(entry(6, "6"));
  const timeline::piece second_page =
      t.search({.words = {}, .cluster = {}, .most = 2}, *place, 100);
  ASSERT_EQ(second_page.found.size(), 2u);
  EXPECT_EQ(json::parse(second_page.found[0]).at("text"), "3") << "what came meanwhile moves none";
}

TEST(Timeline, FindsByAllWordsInAnyFieldAndByCluster) {
  timeline t;
  t.add(entry(1, "toward sha256:abc", "prod-eu-1"));
  t.add(entry(2, "toward sha256:DEF", "prod-us-1"));
  t.add(entry(3, "Alice asks", "prod-eu-10"));
  EXPECT_EQ(found(t, {.words = "ALICE rolloutstarted", .cluster = {}, .most = 50}),
            texts{"Alice asks"});
  EXPECT_EQ(found(t, {.words = "def bootcnodepool/", .cluster = {}, .most = 50}),
            texts{"toward sha256:DEF"});
  EXPECT_EQ(found(t, {.words = {}, .cluster = "prod-eu-1", .most = 50}),
            texts{"toward sha256:abc"});
  EXPECT_EQ(found(t, {.words = "prod-eu-1", .cluster = {}, .most = 50}).size(), 2u);
  EXPECT_EQ(found(t, {.words = "nothing of that", .cluster = {}, .most = 50}), texts{});
  EXPECT_EQ(found(t, {.words = std::string(100'000, 'x'), .cluster = {}, .most = 50}), texts{});
}

TEST(Timeline, CountsWhatIsAddedAgainAndWritesOnceWhatIsPutAgain) {
  timeline t;
  t.add(entry(1, "again"));
  t.add(entry(2, "other"));
  t.add(entry(9, "again"));
  EXPECT_EQ(t.size(), 2u);
  const json::value newest = json::parse(t.search({}, {}, 1).found.at(0));
  EXPECT_EQ(newest.at("text"), "again");
  EXPECT_EQ(newest.at("times"), 2);
  EXPECT_EQ(newest.at("at"), "2027-01-15T08:00:09Z");
  EXPECT_TRUE(t.put(entry(5, "asked")));
  const std::uint64_t before = t.revision();
  EXPECT_FALSE(t.put(entry(5, "asked"))) << "a history is read more than once";
  EXPECT_EQ(t.revision(), before);
  EXPECT_TRUE(t.put(entry(6, "asked"))) << "at another time it is another one";
  EXPECT_EQ(t.size(), 4u);
}

TEST(Timeline, KeepsTheNewestOfAMillionInBoundedMemory) {
  timeline t;
  const std::string long_text(5'000, 'x');
  for (int i = 0; i < 20'000; ++i) t.add(entry(i, std::to_string(i)));
  EXPECT_EQ(t.size(), timeline::most_entries / 2);
  EXPECT_EQ(found(t, {}).front(), "19999");
  for (int i = 0; i < 20'000; ++i) t.add(entry(20'000 + i, std::to_string(i) + long_text));
  EXPECT_LE(t.bytes(), timeline::most_bytes);
  EXPECT_GT(t.size(), 300u);
  EXPECT_LE(found(t, {}).front().size(), timeline::longest_text + 3);
  t.put(entry(-5, "older than all that is kept"));
  EXPECT_EQ(found(t, {.words = "older than", .cluster = {}, .most = 50}), texts{});
}

TEST(Timeline, OfTwentyThousandThingsIsSearchedInPiecesOfLittleWork) {
  timeline t;
  for (int i = 0; i < 20'000; ++i) {
    timeline_entry e = entry(i, "thing " + std::to_string(i) + std::string(300, 'x'));
    e.of = i % 2 == 0 ? timeline_entry::kind::event : timeline_entry::kind::decision;
    t.add(std::move(e));
  }
  constexpr std::size_t looked = 64;
  for (const char* words : {"", "no such words"}) {
    std::size_t pieces = 0, bytes = 0, found = 0;
    std::optional<timeline_place> at;
    do {
      const timeline::piece piece = t.search({.words = words, .most = 1'000'000}, at, looked);
      ++pieces;
      EXPECT_LE(piece.found.size(), looked);
      std::size_t these = 0;
      for (const std::string& one : piece.found) these += one.size();
      bytes = std::max(bytes, these);
      found += piece.found.size();
      at = piece.next;
    } while (at);
    EXPECT_EQ(found, *words ? 0u : t.size());
    EXPECT_EQ(pieces, (t.size() + looked - 1) / looked);
    EXPECT_LT(bytes, looked * 2 * timeline::longest_text);
  }
}

TEST(Timeline, TheEventsOfAThousandNodesTakeNoRoomFromWhoAskedForThem) {
  timeline t;
  timeline_entry asked = entry(0, "asks for an image");
  asked.of = timeline_entry::kind::decision;
  t.put(asked);
  for (int i = 1; i < 10'000; ++i) t.add(entry(i, "a node reboots, " + std::to_string(i)));
  EXPECT_EQ(found(t, {.words = "asks for", .cluster = {}, .most = 50}).size(), 1u);
  EXPECT_EQ(t.size(), timeline::most_entries / 2 + 1);
}

TEST(Timeline, WritesWhatMeansHarmAsText) {
  timeline t;
  timeline_entry e = entry(1, "\"},{\"<script>\u202e\x1b[2J\xff");
  e.cluster = "\"\\";
  e.is = timeline_entry::weight::warning;
  t.add(e);
  const std::string text = t.search({}, {}, 1).found.at(0);
  const json::value v = json::parse(text);
  EXPECT_EQ(v.at("cluster"), "\"\\");
  EXPECT_EQ(v.at("warning"), true);
  for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  EXPECT_EQ(text.find("\u202e"), text.npos);
}

TEST(Timeline, APlaceIsReadBackAndNothingElseIs) {
  const timeline_place p{second(7), 42};
  EXPECT_EQ(timeline_place::read(p.text()), p);
  for (const char* bad : {"", "-", "1", "1-", "-1", "x-1", "1-x", "1-2-3", "1- 2", "1-2 "})
    EXPECT_FALSE(timeline_place::read(bad)) << bad;
}

TEST(Timeline, ALookLooksAtNoMoreThanItMay) {
  timeline t;
  for (int i = 0; i < 100; ++i) t.add(entry(i, std::to_string(i)));
  const timeline::piece none = t.search({.words = "nowhere", .cluster = {}, .most = 50}, {}, 10);
  EXPECT_TRUE(none.found.empty());
  ASSERT_TRUE(none.next);
  EXPECT_EQ(none.next->at, second(90));
}

}  // namespace
