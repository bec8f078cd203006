#include "k8s/informer/watch_state.hpp"

#include "reactor/plain/entropy.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

using action = step::action;

fault of(errc code, int status = 0, std::string detail = {}) {
  fault f;
  f.code = code;
  f.http_status = status;
  f.detail = std::move(detail);
  return f;
}

struct WatchState : testing::Test {
  /// A watch that began at version 10 of a list.
  watch_state watching() {
    watch_state s(limits, false);
    s.first();
    s.page_ended("10", "");
    s.stream_opened(now);
    return s;
  }
  watch_limits limits;
  reactor::seeded_entropy rng{1};
  reactor::steady_time now{1h};
};

TEST_F(WatchState, ListsThenWatchesFromTheListsVersion) {
  watch_state s(limits, false);
  EXPECT_EQ(s.first().what, action::list);
  step page = s.page_ended("10", "more");
  EXPECT_EQ(page.what, action::list);
  EXPECT_EQ(page.continue_token, "more");
  const step watch = s.page_ended("10", "");
  EXPECT_EQ(watch.what, action::watch);
  EXPECT_EQ(watch.resource_version, "10");
  EXPECT_EQ(watch.delay, 0ns);
}

TEST_F(WatchState, StreamsTheBeginningWhereItMay) {
  watch_state s(limits, true);
  EXPECT_EQ(s.first().what, action::stream);
  s.stream_opened(now);
  s.initial_ended("10");
  const step next = s.failed(of(errc::unavailable), now, rng);
  EXPECT_EQ(next.what, action::watch);
  EXPECT_EQ(next.resource_version, "10");
}

TEST_F(WatchState, ListsAfterAWatchThatEndedInOrderWhereItIsToldTo) {
  watch_state s(limits, false, true);
  s.first();
  s.page_ended("10", "");
  s.stream_opened(now);
  EXPECT_EQ(s.failed(of(errc::unavailable), now + 5min, rng).what, action::watch) << "it broke";
  s.stream_opened(now + 5min);
  EXPECT_EQ(s.stream_ended(now + 10min, rng).what, action::list);
}

TEST_F(WatchState, FallsBackToAListWhenStreamingIsRejected) {
  watch_state s(limits, true);
  s.first();
  const step next = s.failed(of(errc::invalid, 422), now, rng);
  EXPECT_EQ(next.what, action::list);
  EXPECT_EQ(next.delay, 0ns);
  s.page_ended("10", "");
  EXPECT_EQ(s.failed(of(errc::gone, 410), now, rng).what, action::list) << "and does not try again";
}

TEST_F(WatchState, ListsWhereTheServerFailsInEachStreamOfTheBeginning) {
  watch_state s(limits, true);
  s.first();
  s.stream_opened(now);
  const step next = s.failed(of(errc::unavailable, 500), now, rng);
  EXPECT_EQ(next.what, action::list) << "its storage may not offer what a stream needs";
  EXPECT_GT(next.delay, 0ns);
  watch_state away(limits, true);
  away.first();
  EXPECT_EQ(away.failed(of(errc::unavailable, 503), now, rng).what, action::stream)
      << "nobody was there to answer";
}

TEST_F(WatchState, RelistsWhenTheVersionIsGone) {
  watch_state s = watching();
  const step next = s.failed(of(errc::gone, 410), now, rng);
  EXPECT_EQ(next.what, action::list);
  EXPECT_LE(next.delay, limits.relist_jitter);
  EXPECT_EQ(s.counters().gone, 1u);
}

TEST_F(WatchState, RelistsNeverInACircle) {
  watch_state s = watching();
  reactor::nanoseconds last{};
  for (int i = 0; i < 12; ++i) {
    last = s.failed(of(errc::gone, 410), now, rng).delay;
    s.page_ended("10", "");
    s.stream_opened(now);
  }
  EXPECT_GT(last, 20s);
}

TEST_F(WatchState, StartsTheListAgainWhenItsTokenExpired) {
  watch_state s(limits, false);
  s.first();
  s.page_ended("10", "more");
  const step next = s.failed(of(errc::gone, 410), now, rng);
  EXPECT_EQ(next.what, action::list);
  EXPECT_EQ(next.continue_token, "");
}

TEST_F(WatchState, AsksForTheSamePageAgainAfterAPassingFailure) {
  watch_state s(limits, false);
  s.first();
  s.page_ended("10", "more");
  EXPECT_EQ(s.failed(of(errc::unavailable), now, rng).continue_token, "more");
}

TEST_F(WatchState, GoesOnFromTheLastVersionAfterABrokenStream) {
  watch_state s = watching();
  EXPECT_EQ(s.event(event_type::added, "11", put_outcome::added, false), oddity::fits);
  EXPECT_EQ(s.bookmark("15"), oddity::fits);
  const step next = s.failed(of(errc::unavailable), now, rng);
  EXPECT_EQ(next.what, action::watch);
  EXPECT_EQ(next.resource_version, "15");
}

TEST_F(WatchState, BackoffDoublesFrom800msTo30s) {
  watch_state s = watching();
  reactor::nanoseconds expected = 800ms;
  for (int i = 0; i < 10; ++i) {
    const auto delay = s.failed(of(errc::unavailable), now, rng).delay;
    EXPECT_GE(delay, expected * 8 / 10);
    EXPECT_LE(delay, std::min<reactor::nanoseconds>(expected * 12 / 10, 30s));
    expected = std::min<reactor::nanoseconds>(expected * 2, 30s);
  }
}

TEST_F(WatchState, AWatchThatLivedForAMomentMakesTheNextFailureTheFirst) {
  // As long as balancers let a silent stream live, and longer.
  for (const reactor::nanoseconds lived : {1s, 3s, 5s, 15s, 29s, 31s}) {
    watch_state s = watching();
    for (int i = 0; i < 8; ++i) s.failed(of(errc::unavailable), now, rng);
    for (int i = 0; i < 3; ++i) {
      s.stream_opened(now);
      EXPECT_LT(s.failed(of(errc::unavailable), now + lived, rng).delay, 1s);
    }
  }
  watch_state s = watching();
  for (int i = 0; i < 8; ++i) s.failed(of(errc::unavailable), now, rng);
  s.stream_opened(now);
  EXPECT_GT(s.failed(of(errc::unavailable), now + 900ms, rng).delay, 20s);
}

TEST_F(WatchState, WatchesThatEndInAListHaveToLiveForLonger) {
  watch_state s = watching();
  for (int i = 0; i < 8; ++i) s.failed(of(errc::unavailable), now, rng);
  s.stream_opened(now);
  EXPECT_GT(s.failed(of(errc::gone, 410), now + 5s, rng).delay, 20s);
}

TEST_F(WatchState, WaitsAtLeastAsLongAsTheServerAsks) {
  watch_state s = watching();
  fault f = of(errc::throttled, 429);
  f.retry_after = 7s;
  for (int i = 0; i < 3; ++i) {
    const auto delay = s.failed(f, now, rng).delay;
    EXPECT_GE(delay, 7s);
    EXPECT_LE(delay, 8400ms);
  }
  f.retry_after = 24h;
  EXPECT_LE(s.failed(f, now, rng).delay, limits.longest_retry_after * 12 / 10);
}

TEST_F(WatchState, AnEndInOrderIsNoFailureUnlessItIsAtOnce) {
  watch_state s = watching();
  EXPECT_EQ(s.stream_ended(now + 5min, rng).delay, 0ns);
  s.stream_opened(now);
  EXPECT_GT(s.stream_ended(now + 10ms, rng).delay, 500ms);
}

TEST_F(WatchState, ReportsWhatDoesNotFit) {
  struct row {
    event_type type;
    const char* version;
    put_outcome outcome;
    bool known;
    oddity expected;
  };
  for (const row& r :
       {row{event_type::modified, "11", put_outcome::repeated, true, oddity::repeated},
        row{event_type::modified, "11", put_outcome::older, true, oddity::regressed},
        row{event_type::modified, "9", put_outcome::older, true, oddity::regressed},
        row{event_type::added, "11", put_outcome::replaced, true, oddity::replaced},
        row{event_type::modified, "11", put_outcome::added, false, oddity::unknown_modified},
        row{event_type::deleted, "11", {}, false, oddity::unknown_deleted},
        row{event_type::deleted, "11", {}, true, oddity::fits},
        row{event_type::added, "11", put_outcome::added, false, oddity::fits},
        row{event_type::modified, "opaque", put_outcome::changed, true, oddity::fits}}) {
    watch_state s = watching();
    EXPECT_EQ(s.event(r.type, r.version, r.outcome, r.known), r.expected)
        << r.version << name_of(r.expected);
  }
  watch_state s = watching();
  EXPECT_EQ(s.bookmark("9"), oddity::regressed);
  EXPECT_EQ(s.counters().regressed, 1u);
  EXPECT_EQ(s.repair(now, rng).what, action::list);
}

TEST_F(WatchState, RefusesListsFromThePast) {
  watch_state s = watching();
  s.event(event_type::added, "20", put_outcome::added, false);
  EXPECT_TRUE(s.is_past("19"));
  EXPECT_FALSE(s.is_past("20"));
  const step again = s.past_refused(now, rng);
  EXPECT_EQ(again.what, action::list);
  EXPECT_GT(again.delay, 500ms);
  EXPECT_EQ(s.counters().older_refused, 1u);
}

TEST_F(WatchState, BelievesAPastThatTheServerInsistsOn) {
  watch_state s = watching();
  s.event(event_type::added, "20", put_outcome::added, false);
  s.past_refused(now, rng);
  s.past_refused(now + 1s, rng);
  EXPECT_TRUE(s.is_past("5"));
  s.past_refused(now + 2s, rng);
  EXPECT_TRUE(s.is_past("5")) << "often enough, and not for long enough";
  EXPECT_EQ(s.past_refused(now + 6s, rng).delay, 0ns);
  EXPECT_FALSE(s.is_past("5"));
}

TEST_F(WatchState, AnAnswerThatFitsEndsTheDoubtOfThePast) {
  watch_state s = watching();
  s.past_refused(now, rng);
  s.past_refused(now + 3s, rng);
  s.page_ended("12", "");
  s.past_refused(now + 10s, rng);
  EXPECT_TRUE(s.is_past("5"));
}

TEST_F(WatchState, ListsPlainlyWhileTheServerNamesThePast) {
  watch_state s(limits, true);
  s.first();
  s.initial_ended("10");
  EXPECT_EQ(s.past_refused(now, rng).what, action::list) << "a stream waits for version 10";
}

TEST_F(WatchState, ComparesWithTheVersionThatTheServerNames) {
  struct row {
    const char* named;
    bool moved_since;
    version_check expected;
  };
  for (const row& r :
       {row{"10", false, version_check::reached}, row{"9", true, version_check::reached},
        row{"9", false, version_check::went_back}, row{"11", false, version_check::behind},
        row{"11", true, version_check::behind}, row{"opaque", false, version_check::behind}}) {
    watch_state s = watching();
    (void)s.take_proof();
    EXPECT_EQ(s.named(r.named, r.moved_since), r.expected) << r.named;
    EXPECT_EQ(s.take_proof().has_value(), r.expected == version_check::reached) << r.named;
  }
}

TEST_F(WatchState, ASecondWatchProvesOnlyWhatItReaches) {
  struct row {
    const char *event, *bookmark;
    probe_verdict expected;
  };
  for (const row& r :
       {row{"", "20", probe_verdict::current}, row{"", "25", probe_verdict::current},
        row{"", "19", probe_verdict::unproven}, row{"", "", probe_verdict::unproven},
        row{"11", "20", probe_verdict::missed}, row{"10", "20", probe_verdict::moving}}) {
    watch_state s = watching();
    (void)s.take_proof();
    probe_findings found;
    found.event = r.event;
    found.bookmark = r.bookmark;
    EXPECT_EQ(s.probed(found, "20"), r.expected) << r.event << " " << r.bookmark;
    EXPECT_EQ(s.take_proof().has_value(), r.expected == probe_verdict::current);
  }
}

TEST_F(WatchState, EventsAndBookmarksAloneProveNothing) {
  watch_state s = watching();
  (void)s.take_proof();
  s.event(event_type::added, "20", put_outcome::added, false);
  s.bookmark("30");
  EXPECT_FALSE(s.take_proof());
  EXPECT_TRUE(s.take_moved());
  EXPECT_FALSE(s.take_moved());
}

TEST_F(WatchState, WaitsForAServerThatIsBehindThenListsItsTruth) {
  watch_state s = watching();
  const fault behind =
      of(errc::unavailable, 504, "Timeout: Too large resource version: 10, current: 8");
  EXPECT_EQ(s.failed(behind, now, rng).what, action::watch);
  EXPECT_EQ(s.failed(behind, now, rng).what, action::watch);
  EXPECT_EQ(s.failed(behind, now, rng).what, action::list);
}

TEST_F(WatchState, ListsAroundAnEventThatStaysBroken) {
  watch_state s = watching();
  EXPECT_EQ(s.failed(of(errc::malformed), now, rng).what, action::watch);
  EXPECT_EQ(s.failed(of(errc::malformed), now, rng).what, action::watch);
  EXPECT_EQ(s.failed(of(errc::malformed), now, rng).what, action::list);
}

TEST_F(WatchState, AsksForThirtyToSixtyMinutes) {
  watch_state s = watching();
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(s.watch_timeout(rng), 30min);
    EXPECT_LE(s.watch_timeout(rng), 60min);
  }
}

}  // namespace
}  // namespace k8s
