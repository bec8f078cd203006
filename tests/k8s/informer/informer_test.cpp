// Every rule of a client of the Kubernetes watch API, one test each: they belong together as one
// specification.
#include "tests/k8s/informer/informer_fixture.hpp"

namespace k8s {
namespace {

using objects::bookmark_line;
using objects::error_line;

struct InformerTest : informer_fixture {
  /// Listed a@1 at version 10 and watching.
  void watching(const std::vector<std::string>& lines = {}) {
    server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
    server.on("GET", watch_path, watch_saying(lines));
    begin(pod_options());
    run_for(100ms);
    ASSERT_TRUE(pods->is_synced());
  }
};

// ---- lists

TEST_F(InformerTest, ListsThenWatchesFromTheListsVersion) {
  watching({event("ADDED", "b", 11)});
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_EQ(last_watch("resourceVersion"), "10");
  EXPECT_EQ(last_watch("allowWatchBookmarks"), "true");
  EXPECT_EQ(changes, (std::vector<std::string>{">a@1", ">b@11"}));
  EXPECT_TRUE(pods->is_synced());
}

TEST_F(InformerTest, BeginsNothingBeforeItsStartHasReturned) {
  server.on("GET", list_path, list_of(10, {}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  EXPECT_EQ(pods->counters().lists, 0u) << "who starts it may still be in a constructor";
  run_for(1s);
  EXPECT_EQ(pods->counters().lists, 1u);
}

TEST_F(InformerTest, ReadsEveryPageOfAList) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}, "t1"));
  server.on("GET", list_path, list_of(10, {pod_at("b", 2)}, "t2"));
  server.on("GET", list_path, list_of(10, {pod_at("c", 3)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(1s);
  EXPECT_EQ(stored(), "a@1 b@2 c@3");
  EXPECT_NE(server.requests()[1].target.find("continue=t1"), std::string::npos);
  EXPECT_NE(server.requests()[0].target.find("limit=500"), std::string::npos);
}

TEST_F(InformerTest, StartsAgainWhenTheContinueTokenExpired) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1), pod_at("gone", 2)}, "t1"));
  server.on("GET", list_path,
            answer::failure(410, "Expired", "The provided continue parameter is too old"));
  server.on("GET", list_path, list_of(12, {pod_at("a", 1)}, "t2"));
  server.on("GET", list_path, list_of(12, {pod_at("b", 11)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(5s);
  EXPECT_EQ(stored(), "a@1 b@11") << "what only the broken list had is swept";
  EXPECT_EQ(server.requests()[2].target.find("continue="), std::string::npos);
}

TEST_F(InformerTest, IsNotSyncedBeforeTheLastPage) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}, "t1"));
  server.on("GET", list_path, answer::silence());
  begin(pod_options());
  run_for(5s);
  EXPECT_FALSE(pods->is_synced());
  EXPECT_EQ(pods->state(), informer_state::listing);
}

TEST_F(InformerTest, TakesAListWhoseVersionComesLast) {
  server.on("GET", list_path,
            answer::json(200, R"({"items":[)" + pod_at("a", 1) +
                                  R"(],"metadata":{"resourceVersion":"10"}})"));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(1s);
  EXPECT_EQ(stored(), "a@1");
}

TEST_F(InformerTest, RetriesAListThatIsNoList) {
  for (const char* body :
       {"[]", R"({"items":[]})", R"({"metadata":{"resourceVersion":"1"},"items":[1]})",
        R"({"metadata":{"resourceVersion":"1"},"items":[{}]})",
        R"({"metadata":{"resourceVersion":"1"},"items":[)"})
    server.on("GET", list_path, answer::json(200, body));
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(2min);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->counters().malformed, 5u);
}

// ---- streamed lists

TEST_F(InformerTest, StreamsTheBeginningWhereTheServerOffersIt) {
  server.on("GET", watch_path,
            watch_saying({event("ADDED", "a", 1), event("ADDED", "b", 7), bookmark_line(10, true),
                          event("MODIFIED", "a", 11, "w2")}));
  begin(pod_options(true));
  run_for(1s);
  EXPECT_EQ(stored(), "a@11 b@7");
  EXPECT_EQ(lists(), 0u);
  EXPECT_EQ(last_watch("sendInitialEvents"), "true");
  EXPECT_EQ(last_watch("resourceVersionMatch"), "NotOlderThan");
  EXPECT_EQ(pods->state(), informer_state::live);
}

TEST_F(InformerTest, FallsBackToAListWhereTheServerRejectsStreaming) {
  server.on("GET", watch_path,
            answer::failure(422, "Invalid", "sendInitialEvents is forbidden for watch"));
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options(true));
  run_for(1s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->counters().failures, 0u) << "that is no failure";
}

TEST_F(InformerTest, FallsBackWhereAnOlderServerNeverEndsTheBeginning) {
  server.on("GET", watch_path, watch_saying({event("ADDED", "a", 1), event("ADDED", "stale", 2)}));
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options(true));
  run_for(15s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->state(), informer_state::live);
}

TEST_F(InformerTest, A410InTheMiddleOfTheFirstStreamStartsAgain) {
  server.on("GET", watch_path,
            watch_saying({event("ADDED", "a", 1), event("ADDED", "old", 2),
                          error_line(410, "Expired", "too old resource version")}));
  server.on("GET", watch_path, watch_saying({event("ADDED", "a", 1), bookmark_line(12, true)}));
  begin(pod_options(true));
  run_for(5s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->counters().gone, 1u);
}

TEST_F(InformerTest, ARestreamAsksForNothingOlder) {
  server.on("GET", watch_path,
            watch_saying({event("ADDED", "a", 1), bookmark_line(10, true),
                          error_line(410, "Expired", "too old resource version")}));
  server.on("GET", watch_path, watch_saying({event("ADDED", "b", 15), bookmark_line(20, true)}));
  begin(pod_options(true));
  run_for(5s);
  EXPECT_EQ(stored(), "b@15");
  EXPECT_EQ(last_watch("resourceVersion"), "10");
}

TEST_F(InformerTest, AStreamFromThePastIsRefused) {
  server.on("GET", watch_path,
            watch_saying({event("ADDED", "a", 1), bookmark_line(10, true),
                          error_line(410, "Expired", "too old resource version")}));
  server.on("GET", watch_path, watch_saying({bookmark_line(5, true)}));
  server.on("GET", watch_path, watch_saying({event("ADDED", "a", 1), bookmark_line(11, true)}));
  begin(pod_options(true));
  run_for(10s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(changes, (std::vector<std::string>{">a@1"})) << "the past swept nothing";
  EXPECT_EQ(pods->counters().older_refused, 1u);
}

// ---- 410

/// What a server does for a second after a definition changed: an older watch delivers the object
/// without what is new in it, and ends.
TEST_F(InformerTest, AListAfterAWatchThatEndedBringsWhatItCutOutAtTheSameVersion) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({event("MODIFIED", "a", 11, "w1")}));
  server.on("GET", list_path, list_of(11, {pod_at("a", 11, "w2")}));
  server.on("GET", watch_path, watch_saying({}));
  informer_options o = pod_options();
  o.lists_after_end = true;
  begin(std::move(o));
  run_for(2s);
  EXPECT_EQ(stored(), "a@11");
  server.end(watch_path);
  run_for(2s);
  const pod* a = pods->objects().find("default", "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->node.str(), "w2");
  EXPECT_EQ(last_watch("resourceVersion"), "11");
}

TEST_F(InformerTest, A410AsStatusRelists) {
  watching();
  server.on("GET", watch_path, answer::failure(410, "Gone", "too old resource version"));
  server.on("GET", list_path, list_of(30, {pod_at("b", 25)}));
  server.on("GET", watch_path, watch_saying({}));
  run_for(5s);
  server.end(watch_path);
  run_for(5s);
  EXPECT_EQ(stored(), "b@25");
  EXPECT_EQ(last_watch("resourceVersion"), "30");
  EXPECT_EQ(pods->counters().gone, 1u);
}

TEST_F(InformerTest, A410AsEventRelistsWhileTheOldCacheServes) {
  watching();
  answer slow = list_of(30, {pod_at("b", 25)});
  slow.wait(2s);
  server.on("GET", list_path, slow);
  server.on("GET", watch_path, watch_saying({}));
  server.push(watch_path, error_line(410, "Expired", "too old resource version: 10 (30)"));
  run_for(1900ms);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_TRUE(pods->is_synced());
  run_for(10s);
  EXPECT_EQ(stored(), "b@25");
  EXPECT_EQ(changes, (std::vector<std::string>{">a@1", ">b@25", "a>@"}));
}

TEST_F(InformerTest, RelistsAfterA410AtDifferentMoments) {
  std::vector<reactor::nanoseconds> waits;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    reactor::seeded_entropy rng(seed);
    watch_state s({}, false);
    s.first();
    s.page_ended("10", "");
    fault gone;
    gone.code = errc::gone;
    waits.push_back(s.failed(gone, {}, rng).delay);
  }
  std::sort(waits.begin(), waits.end());
  EXPECT_EQ(std::unique(waits.begin(), waits.end()), waits.end());
}

// ---- bookmarks

TEST_F(InformerTest, WorksWithoutBookmarks) {
  watching({event("MODIFIED", "a", 12, "w2")});
  server.on("GET", watch_path, watch_saying({}));
  run_for(5s);
  server.end(watch_path);
  run_for(2s);
  EXPECT_EQ(last_watch("resourceVersion"), "12");
}

TEST_F(InformerTest, GoesOnFromTheLastOfManyBookmarks) {
  std::vector<std::string> lines;
  for (std::uint64_t v = 11; v < 200; ++v) lines.push_back(bookmark_line(v) + bookmark_line(v));
  watching(lines);
  run_for(5s);
  server.on("GET", watch_path, watch_saying({}));
  server.end(watch_path);
  run_for(2s);
  EXPECT_EQ(last_watch("resourceVersion"), "199");
  EXPECT_EQ(pods->counters().bookmarks, 378u);
  EXPECT_EQ(changes.size(), 1u);
}

// ---- versions

TEST_F(InformerTest, WaitsForAServerWhoseVersionIsBehind) {
  watching();
  for (int i = 0; i < 2; ++i)
    server.on(
        "GET", watch_path,
        answer::failure(
            504, "Timeout", "Timeout: Too large resource version: 10, current: 8",
            R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1})"));
  server.on("GET", watch_path, watch_saying({event("ADDED", "b", 11)}));
  run_for(5s);
  server.end(watch_path);
  run_for(20s);
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_EQ(lists(), 1u) << "no list was needed";
}

TEST_F(InformerTest, NeverTakesAListFromThePast) {
  watching({event("ADDED", "b", 50), error_line(410, "Expired", "too old")});
  server.on("GET", list_path, list_of(40, {pod_at("a", 1), pod_at("dead", 20)}));
  server.on("GET", list_path, list_of(51, {pod_at("b", 50)}));
  server.on("GET", watch_path, watch_saying({}));
  run_for(20s);
  EXPECT_EQ(stored(), "b@50");
  for (const std::string& change : changes) EXPECT_EQ(change.find("dead"), std::string::npos);
  EXPECT_EQ(pods->counters().older_refused, 1u);
  EXPECT_EQ(log->count("refused an answer from the past"), 1u);
}

struct odd_case {
  const char* name;
  std::string line;
  std::uint64_t watch_counters::* counter;
};
struct OddEvent : InformerTest, testing::WithParamInterface<odd_case> {};

TEST_P(OddEvent, IsReportedAndRepairedByAList) {
  watching({event("MODIFIED", "a", 20, "w2")});
  server.on("GET", list_path, list_of(30, {pod_at("truth", 29)}));
  server.on("GET", watch_path, watch_saying({}));
  server.push(watch_path, GetParam().line);
  run_for(10s);
  EXPECT_EQ(pods->counters().*GetParam().counter, 1u);
  EXPECT_EQ(log->count("watch answered oddly, listing again"), 1u);
  EXPECT_EQ(stored(), "truth@29");
  EXPECT_EQ(pods->state(), informer_state::live);
}

std::string odd_line(std::string_view type, const std::string& name, std::uint64_t version,
                     const std::string& uid = {}) {
  objects::pod_spec spec;
  spec.name = name;
  spec.version = version;
  spec.uid = uid;
  spec.node = "elsewhere";
  return objects::event_line(type, objects::pod_json(spec));
}

INSTANTIATE_TEST_SUITE_P(
    Events, OddEvent,
    testing::Values(
        odd_case{"RepeatedVersion", odd_line("MODIFIED", "a", 20), &watch_counters::repeated},
        odd_case{"RegressedVersion", odd_line("MODIFIED", "a", 15), &watch_counters::regressed},
        odd_case{"OldNews", odd_line("ADDED", "late", 15), &watch_counters::regressed},
        odd_case{"OldDelete", odd_line("DELETED", "a", 15), &watch_counters::regressed},
        odd_case{"RegressedBookmark", bookmark_line(15), &watch_counters::regressed},
        odd_case{"UnknownDeleted", odd_line("DELETED", "nobody", 25), &watch_counters::unknown},
        odd_case{"UnknownModified", odd_line("MODIFIED", "nobody", 25), &watch_counters::unknown},
        odd_case{"FormerObjectDeleted",
                 odd_line("DELETED", "a", 25, "22222222-2222-4222-8222-222222222222"),
                 &watch_counters::unknown},
        odd_case{"Replaced", odd_line("ADDED", "a", 25, "22222222-2222-4222-8222-222222222222"),
                 &watch_counters::replaced}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(InformerTest, AnOddEventDoesNotMoveAnObjectBack) {
  watching({event("MODIFIED", "a", 20, "w2")});
  server.push(watch_path, event("MODIFIED", "a", 15, "w9"));
  run_for(100ms);
  EXPECT_EQ(pods->objects().find("default", "a")->node, "w2");
}

// ---- bytes

TEST_F(InformerTest, TwoEventsInOneChunkAndOneInMany) {
  const std::string long_event = event("ADDED", "c", 13);
  answer a = answer::stream();
  a.piece(event("ADDED", "b", 11) + event("MODIFIED", "b", 12, "w2") + long_event.substr(0, 7));
  for (std::size_t at = 7; at < long_event.size(); at += 100)
    a.piece(long_event.substr(at, 100), 5ms);
  a.stay_open();
  server.on("GET", list_path, list_of(10, {}));
  server.on("GET", watch_path, a);
  begin(pod_options());
  run_for(1s);
  EXPECT_EQ(stored(), "b@12 c@13");
}

TEST_F(InformerTest, OneByteAtATimeIsTheSame) {
  net().faults("api").piece_limit_bytes = 1;
  watching({event("ADDED", "b", 11), bookmark_line(12)});
  run_for(1s);
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_EQ(pods->version(), "12");
}

TEST_F(InformerTest, TruncatedJsonGoesOnFromTheLastVersion) {
  const std::string half = event("ADDED", "c", 12).substr(0, 60);
  watching({event("ADDED", "b", 11), half + "\n"});
  server.on("GET", watch_path, watch_saying({event("ADDED", "c", 12)}));
  run_for(5s);
  EXPECT_EQ(stored(), "a@1 b@11 c@12");
  EXPECT_EQ(last_watch("resourceVersion"), "11");
  EXPECT_EQ(pods->counters().malformed, 1u);
  EXPECT_EQ(lists(), 1u);
}

TEST_F(InformerTest, AnEndInTheMiddleOfAnEventGoesOnFromTheLastVersion) {
  const std::string half = event("ADDED", "c", 12).substr(0, 60);
  watching({event("ADDED", "b", 11), half});
  server.on("GET", watch_path, watch_saying({event("ADDED", "c", 12)}));
  server.end(watch_path);
  run_for(5s);
  EXPECT_EQ(stored(), "a@1 b@11 c@12");
}

TEST_F(InformerTest, AnEndlessLineIsGivenUp) {
  informer_options options = pod_options();
  options.limits.line_limit_bytes = 64 * 1024;
  answer endless = answer::stream();
  for (int i = 0; i < 100; ++i) endless.piece(std::string(4096, 'x'), 10ms);
  endless.stay_open();
  server.on("GET", list_path, list_of(10, {}));
  server.on("GET", watch_path, endless);
  server.on("GET", watch_path, watch_saying({event("ADDED", "b", 11)}));
  begin(std::move(options));
  std::size_t most = 0;
  for (int i = 0; i < 300; ++i) {
    run_for(10ms);
    most = std::max(most, pods->buffer_bytes());
  }
  EXPECT_LE(most, 2u * 64 * 1024);
  EXPECT_EQ(stored(), "b@11");
  EXPECT_EQ(pods->counters().malformed, 1u);
}

TEST_F(InformerTest, AnIdleInformerHoldsNoBuffer) {
  const std::string one = event("ADDED", "b", 11);
  watching({one.substr(0, 100)});
  EXPECT_GE(pods->buffer_bytes(), 100u);
  server.push(watch_path, one.substr(100));
  run_for(100ms);
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_EQ(pods->buffer_bytes(), std::string().capacity());
}

TEST_F(InformerTest, ADuplicateKeyInAnEventIsRefused) {
  watching({R"({"type":"MODIFIED","object":)" + pod_at("a", 11) + R"(,"object":)" +
            pod_at("a", 12, "w9") + "}\n"});
  run_for(300ms);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->counters().malformed, 1u);
}

// ---- pace

TEST_F(InformerTest, A429WaitsAsLongAsTheServerAsks) {
  server.on("GET", list_path,
            answer::failure(429, "TooManyRequests", "later").header("Retry-After", "7"));
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(6900ms);
  EXPECT_EQ(lists(), 1u);
  EXPECT_EQ(pods->state(), informer_state::retrying);
  run_for(3s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->counters().throttled, 1u);
  EXPECT_FALSE(pods->last_error());
}

TEST_F(InformerTest, BacksOffWhileTheServerIsAway) {
  net().set_reach("api", reactor::memory_network::reach::refused);
  begin(pod_options());
  run_for(10min);
  EXPECT_EQ(pods->state(), informer_state::retrying);
  ASSERT_TRUE(pods->last_error());
  EXPECT_EQ(pods->last_error()->code, errc::unavailable);
  EXPECT_LT(pods->counters().failures, 35u);
  EXPECT_GT(pods->counters().failures, 15u);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  net().set_reach("api", reactor::memory_network::reach::open);
  run_for(31s);
  EXPECT_EQ(pods->state(), informer_state::live);
}

TEST_F(InformerTest, ABrokenStreamGoesOnFromTheLastVersionWithinASecond) {
  watching({event("ADDED", "b", 11)});
  server.on("GET", watch_path, watch_saying({event("ADDED", "c", 12)}));
  net().cut_all("api");
  run_for(1s);
  EXPECT_EQ(stored(), "a@1 b@11 c@12");
  EXPECT_EQ(lists(), 1u);
}

TEST_F(InformerTest, AsksForARandomDurationAndSurvivesAServerThatForgetsIt) {
  watching();
  const std::string asked = last_watch("timeoutSeconds");
  EXPECT_GE(std::stoi(asked), 1800);
  EXPECT_LE(std::stoi(asked), 3600);
  server.always("GET", "/api/v1/pods?watch=true&resourceVersion", answer::stream());
  server.always("GET", watch_path, watch_saying({}));
  run_for(61min);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_GE(pods->counters().watches, 2u);
}

TEST_F(InformerTest, StreamsThatEndAtOnceAreNotAskedForInACircle) {
  server.on("GET", list_path, list_of(10, {}));
  server.always("GET", watch_path, answer::stream());
  begin(pod_options());
  run_for(1min);
  EXPECT_LT(watches(), 12u);
}

// ---- silence

TEST_F(InformerTest, AHalfOpenConnectionIsNoticedWithin20Seconds) {
  watching();
  net().set_reach("api", reactor::memory_network::reach::blackhole);
  run_for(18s);
  EXPECT_EQ(pods->state(), informer_state::retrying);
  EXPECT_EQ(pods->counters().silent, 1u);
  ASSERT_TRUE(pods->last_error());
  EXPECT_NE(pods->last_error()->message().find("silent"), std::string::npos);
}

TEST_F(InformerTest, AFrozenServerIsNoticedWithin20Seconds) {
  watching();
  net().set_reach("api", reactor::memory_network::reach::stalled);
  run_for(20s);
  EXPECT_EQ(pods->state(), informer_state::retrying);
}

TEST_F(InformerTest, ASingleDeadStreamIsNoticedByWhatItMisses) {
  watching();
  // The server still believes in that stream; what it sends there is lost. A new question shows
  // what was missed.
  server_is_at(11);
  server.always("GET", watch_path, answer::stream().piece(event("ADDED", "b", 11)));
  run_for(20s);
  EXPECT_EQ(pods->counters().silent, 1u);
  EXPECT_EQ(stored(), "a@1 b@11");
}

TEST_F(InformerTest, ASilentServerThatIsThereIsLeftInPeace) {
  watching();
  server_is_at(10);
  run_for(95s);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_EQ(pods->counters().silent, 0u);
  EXPECT_EQ(watches(), 1u) << "the stream stayed, and no second one was needed";
  EXPECT_LE(asked(), 12u);
  EXPECT_LT(l.now() - pods->last_contact(), 10s);
}

TEST_F(InformerTest, AtRestAServerWithoutBookmarksIsAskedForItsVersionWhenTheyAreOverdue) {
  watching();
  server_is_at(10);
  pods->set_freshness(freshness::none);
  run_for(10min);
  EXPECT_LE(asked(), 7u);
  EXPECT_GE(asked(), 6u);
  EXPECT_EQ(watches(), 1u);
  EXPECT_FALSE(pods->is_old());
  EXPECT_FALSE(pods->may_be_acted_upon());
}

TEST_F(InformerTest, AtRestAServerThatSendsBookmarksIsAskedFourTimesAnHour) {
  answer stream = watch_saying({});
  for (int minute = 1; minute <= 30; ++minute) stream.piece(bookmark_line(10), 60s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, stream);
  begin(pod_options());
  server_is_at(10);
  pods->set_freshness(freshness::none);
  for (int minute = 1; minute < 29; ++minute) {
    run_for(60s);
    EXPECT_FALSE(pods->is_old()) << minute;
  }
  EXPECT_EQ(asked(), 1u);
  EXPECT_EQ(watches(), 1u);
}

TEST_F(InformerTest, AllInformersOfAClientShareOneQuestion) {
  watching();
  server_is_at(10);
  pods->set_freshness(freshness::none);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  informer<pod> other(l, *api, pod_options());
  other.start();
  run_for(10min);
  EXPECT_LE(asked(), 20u);
  EXPECT_FALSE(other.is_old());
  EXPECT_FALSE(pods->is_old());
  reactor::task_group stopping(l);
  stopping.start("stop", other.stop());
  run_for(1s);
}

TEST_F(InformerTest, WhatTheServerAnsweredToOneThatAttendsProvesOneAtRest) {
  answer stream = watch_saying({});
  for (int minute = 1; minute <= 29; ++minute) stream.piece(bookmark_line(10), 60s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, stream);
  begin(pod_options());
  server_is_at(10);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.always("GET", watch_path, watch_saying({}));
  informer<pod> other(l, *api, pod_options());
  other.start();
  run_for(1s);
  other.set_freshness(freshness::close);
  pods->set_freshness(freshness::none);
  for (int minute = 1; minute < 29; ++minute) {
    run_for(60s);
    EXPECT_FALSE(pods->is_old()) << minute;
  }
  EXPECT_LT(l.now() - pods->last_contact(), 2min);
  reactor::task_group stopping(l);
  stopping.start("stop", other.stop());
  run_for(1s);
}

TEST_F(InformerTest, AtFirstNobodyAttends) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  server_is_at(10);
  informer<pod> alone(l, *api, pod_options());
  alone.start();
  run_for(80s);
  EXPECT_TRUE(alone.is_synced());
  EXPECT_LE(asked(), 2u) << "as seldom as for a cluster at rest";
  EXPECT_FALSE(alone.may_be_acted_upon());
  reactor::task_group stopping(l);
  stopping.start("stop", alone.stop());
  run_for(1s);
}

TEST_F(InformerTest, ABookmarkThatReachesTheServersVersionSparesASecondWatch) {
  answer stream = watch_saying({});
  for (std::uint64_t minute = 1; minute <= 10; ++minute)
    stream.piece(bookmark_line(10 + minute), 60s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, stream);
  begin(pod_options());
  pods->set_freshness(freshness::none);
  for (std::uint64_t minute = 0; minute < 10; ++minute) {
    server_is_at(10 + minute);  // something else was written there
    run_for(60s);
    EXPECT_FALSE(pods->is_old());
  }
  EXPECT_EQ(watches(), 1u);
  EXPECT_EQ(lists(), 1u);
}

TEST_F(InformerTest, ABookmarkThatDoesNotReachItProvesNothing) {
  answer stream = watch_saying({});
  for (std::uint64_t i = 1; i <= 110; ++i) stream.piece(bookmark_line(10 + i), 10s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, stream);
  begin(pod_options());
  pods->set_freshness(freshness::none);
  server_is_at(1000);
  // A replica that lags for ever, on each connection: its watches never come to where its lists
  // are.
  server.always("GET", watch_path, answer::stream());
  server.always("GET", list_path, list_of(1000, {pod_at("b", 900)}));
  run_for(17min);
  EXPECT_EQ(stored(), "b@900");
}

TEST_F(InformerTest, AHalfOpenConnectionIsNoticedWithin20SecondsOfAttending) {
  watching();
  pods->set_freshness(freshness::none);
  run_for(5s);
  net().set_reach("api", reactor::memory_network::reach::blackhole);
  run_for(20s);
  EXPECT_EQ(pods->state(), informer_state::live) << "not asked about yet";
  pods->set_freshness(freshness::close);
  EXPECT_FALSE(pods->may_be_acted_upon()) << "what was proved 25 seconds ago proves nothing now";
  run_for(20s);
  EXPECT_EQ(pods->state(), informer_state::retrying);
  EXPECT_FALSE(pods->may_be_acted_upon());
}

TEST_F(InformerTest, AHalfOpenConnectionAtRestIsNoticedOnceBookmarksAreOverdue) {
  watching();
  pods->set_freshness(freshness::none);
  net().set_reach("api", reactor::memory_network::reach::blackhole);
  run_for(100s);
  EXPECT_EQ(pods->state(), informer_state::retrying);
  run_for(160s);
  EXPECT_TRUE(pods->is_old());
}

TEST_F(InformerTest, AttendingAsksAtOnceAndMayBeActedUponAfterTheAnswer) {
  watching();
  server_is_at(10);
  pods->set_freshness(freshness::none);
  run_for(59s);
  pods->set_freshness(freshness::close);
  EXPECT_FALSE(pods->may_be_acted_upon());
  run_for(100ms);
  EXPECT_TRUE(pods->may_be_acted_upon());
}

TEST_F(InformerTest, AttendingToAQuietCollectionOfABusyServerTakesASecondWatch) {
  watching();
  server_is_at(500);
  server.always("GET", watch_path, answer::stream().piece(bookmark_line(500), 1s).stay_open());
  pods->set_freshness(freshness::none);
  run_for(59s);
  pods->set_freshness(freshness::close);
  run_for(4s);
  EXPECT_TRUE(pods->may_be_acted_upon());
  EXPECT_EQ(lists(), 1u);
}

TEST_F(InformerTest, AStreamThatMissesEventsAtRestIsNoticedWithinThreeMinutes) {
  watching();
  pods->set_freshness(freshness::none);
  server_is_at(11);
  server.always("GET", watch_path, answer::stream().piece(event("ADDED", "b", 11)));
  run_for(175s);
  EXPECT_EQ(pods->counters().silent, 1u);
  EXPECT_EQ(stored(), "a@1 b@11");
}

struct attended_case {
  const char* name;
  freshness how;
  reactor::nanoseconds noticed_within;
};
struct WhenItIsNoticed : InformerTest, testing::WithParamInterface<attended_case> {};

TEST_P(WhenItIsNoticed, VersionsThatWentBack) {
  watching({event("ADDED", "b", 50)});
  pods->set_freshness(GetParam().how);
  // Restored from a backup: it is at 30, and a watch from 50 waits without a word.
  server_is_at(30);
  server.always("GET", watch_path, watch_saying({}));
  server.always("GET", list_path, list_of(30, {pod_at("a", 1), pod_at("older", 30)}));
  run_for(GetParam().noticed_within);
  EXPECT_EQ(stored(), "a@1 older@30");
  EXPECT_EQ(pods->version(), "30");
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(log->count("the server's history went back, listing it as it is now"), 1u);
}

TEST_P(WhenItIsNoticed, AnObjectThatWentBackIsTakenAsItIsNow) {
  watching({event("MODIFIED", "a", 50, "w2")});
  pods->set_freshness(GetParam().how);
  server_is_at(30);
  server.always("GET", watch_path, watch_saying({}));
  server.always("GET", list_path, list_of(30, {pod_at("a", 1)}));
  run_for(GetParam().noticed_within);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(pods->objects().find("default", "a")->node, "w1");
  EXPECT_EQ(changes.back(), "a>a@1");
}

/// By a list, and by the initial events of a watch.
struct AnotherHistory : InformerTest, testing::WithParamInterface<bool> {};

TEST_P(AnotherHistory, WhoseVersionsPassedTheOldOnesBeforeAnybodyAskedIsKnownByItsObjects) {
  const std::string gone = objects::error_line(410, "Expired", "too old resource version");
  server_is_at(60);
  if (GetParam()) {
    server.on("GET", watch_path,
              watch_saying({event("ADDED", "a", 50, "w2"), bookmark_line(50, true), gone}));
    server.on("GET", watch_path,
              watch_saying({event("ADDED", "a", 20, "w1"), bookmark_line(60, true)}));
  } else {
    server.on("GET", list_path, list_of(50, {pod_at("a", 50, "w2")}));
    server.on("GET", watch_path, watch_saying({gone}));
  }
  server.always("GET", list_path, list_of(60, {pod_at("a", 20, "w1")}));
  server.always("GET", watch_path, watch_saying({}));
  begin(pod_options(GetParam()));
  run_for(20s);
  EXPECT_EQ(stored(), "a@20");
  EXPECT_EQ(pods->objects().find("default", "a")->node, "w1");
  EXPECT_EQ(pods->objects().history(), 1u) << "our own writes in the old one are forgotten";
  EXPECT_TRUE(pods->may_be_acted_upon());
  EXPECT_EQ(log->count("the server's history went back, listing it as it is now"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Of, AnotherHistory, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "AStream" : "AList");
});

TEST_P(WhenItIsNoticed, AReplicaThatLagsForEver) {
  watching();
  pods->set_freshness(GetParam().how);
  server_is_at(50);
  server.always("GET", watch_path, watch_saying({}));
  server.always("GET", list_path, list_of(50, {pod_at("b", 40)}));
  run_for(GetParam().noticed_within);
  EXPECT_EQ(stored(), "b@40");
}

TEST_P(WhenItIsNoticed, AReplicaThatDeliversFromLongAgo) {
  answer late = watch_saying({});
  for (std::uint64_t i = 0; i < 1'100; ++i) late.piece(event("MODIFIED", "a", 11 + i), 1s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, late);
  begin(pod_options());
  run_for(100ms);
  pods->set_freshness(GetParam().how);
  server_is_at(5000);
  server.always("GET", watch_path, watch_saying({}));
  server.always("GET", list_path, list_of(5000, {pod_at("b", 4000)}));
  run_for(GetParam().noticed_within);
  EXPECT_EQ(stored(), "b@4000") << "its events are none of the present";
}

INSTANTIATE_TEST_SUITE_P(Attention, WhenItIsNoticed,
                         testing::Values(attended_case{"Attended", freshness::close, 20s},
                                         attended_case{"AtRest", freshness::none, 17min}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(InformerTest, EventsAloneKeepNoViewCurrent) {
  answer busy = watch_saying({});
  for (std::uint64_t i = 0; i < 1'100; ++i) busy.piece(event("MODIFIED", "a", 11 + i), 1s);
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, busy);
  server.always("GET", version_path, answer::failure(500, "InternalError", "etcd is away"));
  begin(pod_options());
  run_for(1s);
  pods->set_freshness(freshness::none);
  run_for(17min);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_TRUE(pods->is_old()) << "these events may be of any age";
}

TEST_F(InformerTest, ASecondWatchThatIsRefusedIsNotTriedAgainAtOnce) {
  watching();
  server_is_at(50);
  server.always("GET", watch_path, answer::failure(500, "InternalError", "no more watches"));
  run_for(60s);
  EXPECT_LE(watches(), 9u) << "one for each version that the server named";
  EXPECT_TRUE(pods->is_old());
}

TEST_F(InformerTest, AServerWhoseCacheDoesNotKeepUpIsListedWithoutASecondWatch) {
  watching();
  server_is_at(50);
  // As a kube-apiserver beside etcd 3.4.23 answers: nothing happens among the pods, and it does not
  // learn from etcd how far it is.
  server.always(
      "GET", "/api/v1/pods?fieldSelector=metadata.name",
      answer::failure(
          504, "Timeout", "Timeout: Too large resource version: 50, current: 1",
          R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1})")
          .wait(3s));
  server.always("GET", watch_path, watch_saying({}));
  server.always("GET", list_path, list_of(50, {pod_at("b", 40)}));
  run_for(20s);
  EXPECT_EQ(stored(), "b@40");
  EXPECT_TRUE(pods->may_be_acted_upon());
  for (const auto& r : server.requests())
    EXPECT_FALSE(r.target.ends_with("timeoutSeconds=3")) << r.target;
  EXPECT_EQ(pods->counters().watches, lists());
}

TEST_F(InformerTest, OneAnswerFromThePastIsNotBelieved) {
  watching({event("ADDED", "b", 50)});
  server_is_at(30);
  server.on("GET", list_path, list_of(30, {pod_at("a", 1)}));
  server.on("GET", list_path, list_of(51, {pod_at("b", 50)}));
  server.always("GET", watch_path, watch_saying({}));
  run_for(9s);
  EXPECT_FALSE(pods->is_synced()) << "what it has is doubted meanwhile, and nothing is done";
  EXPECT_FALSE(pods->may_be_acted_upon());
  server_is_at(51);
  run_for(10s);
  EXPECT_EQ(stored(), "b@50");
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(pods->counters().older_refused, 2u);
}

TEST_F(InformerTest, ACollectionInAnotherStorageIsJudgedByItsOwnVersions) {
  watching({event("ADDED", "b", 5000)});
  server_is_at(5000);
  server.on("GET", "/api/v1/nodes?limit=500", answer::json(200, objects::list_json(10, {})));
  server.on("GET", "/api/v1/nodes?watch", watch_saying({}));
  server.always("GET", "/api/v1/nodes?limit=1", answer::json(200, objects::list_json(10, {})));
  informer_options o = pod_options();
  o.collection = resources::nodes();
  informer<pod> nodes(l, *api, std::move(o));
  nodes.start();
  pods->set_freshness(freshness::none);
  run_for(10min);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_EQ(pods->counters().older_refused, 0u);
  EXPECT_EQ(stored(), "a@1 b@5000");
  reactor::task_group stopping(l);
  stopping.start("stop", nodes.stop());
  run_for(1s);
}

TEST_F(InformerTest, EventsArriveWhileAProbeRuns) {
  watching();
  answer slow = answer::stream();
  slow.wait(5s);
  server.always("GET", watch_path, slow);
  server_is_at(11);
  run_for(11s);
  server.push(watch_path, event("ADDED", "b", 11));
  run_for(10ms);
  EXPECT_EQ(stored(), "a@1 b@11");
}

// ---- views

TEST_F(InformerTest, RemovingManyLetsOthersRunInBetween) {
  constexpr std::size_t many = 2'000;
  for (const bool streamed : {false, true}) {
    SCOPED_TRACE(streamed ? "watch-list" : "list");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < many; ++i) all.push_back(pod_at("p" + std::to_string(i), i + 1));
    const std::string gone = objects::error_line(410, "Expired", "too old resource version");
    server.forget_rules();
    if (streamed) {
      std::vector<std::string> lines;
      for (const std::string& pod : all) lines.push_back(objects::event_line("ADDED", pod));
      lines.push_back(bookmark_line(5'000, true));
      lines.push_back(gone);
      server.on("GET", watch_path, watch_saying(lines));
      server.on("GET", watch_path, watch_saying({bookmark_line(6'000, true)}));
    } else {
      server.on("GET", list_path, list_of(5'000, all));
      server.on("GET", watch_path, watch_saying({gone}));
      server.on("GET", list_path, list_of(6'000, {}));
      server.on("GET", watch_path, watch_saying({}));
    }
    begin(pod_options(streamed));
    std::size_t removed = 0, turns = 0, most_at_once = 0, at_last_turn = 0;
    reactor::task_group others(l);
    pods->on_change([&](const pod*, const pod* now) {
      if (now || ++removed > 1) return;
      others.start("somebody else", [&]() -> awaitable<void> {
        while (removed < many) {
          co_await l.yield();
          ++turns;
          most_at_once = std::max(most_at_once, removed - at_last_turn);
          at_last_turn = removed;
        }
      });
    });
    run_for(10s);
    EXPECT_EQ(removed, many);
    EXPECT_EQ(stored(), "");
    EXPECT_EQ(pods->state(), informer_state::live);
    EXPECT_LE(most_at_once, 256u);
    EXPECT_GE(turns, many / 256 - 1);
    EXPECT_TRUE(others.empty());
    reactor::task_group stopping(l);
    stopping.start("stop", [&]() -> awaitable<void> { co_await pods->stop(); });
    run_for(1s);
    pods.reset();
  }
}

TEST_F(InformerTest, AnEqualViewWakesNobody) {
  watching();
  server.push(watch_path, event("MODIFIED", "a", 11) + event("MODIFIED", "a", 12));
  run_for(100ms);
  EXPECT_EQ(stored(), "a@12");
  EXPECT_EQ(changes.size(), 1u);
  EXPECT_EQ(pods->counters().unchanged, 2u);
}

TEST_F(InformerTest, DeletesLeaveTheStore) {
  watching({event("DELETED", "a", 11)});
  EXPECT_EQ(stored(), "");
  EXPECT_EQ(changes.back(), "a>@");
}

TEST_F(InformerTest, TellsItsStates) {
  watching();
  EXPECT_EQ(states, (std::vector<informer_state>{informer_state::listing, informer_state::live}));
  EXPECT_LE(pods->since(), l.now());
}

TEST_F(InformerTest, SyncedWaitsAndGivesUp) {
  server.on("GET", list_path, list_of(10, {}).wait(3s));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  std::vector<bool> answers;
  reactor::task_group waiting(l);
  waiting.start("wait", [&]() -> awaitable<void> {
    const bool early = co_await pods->synced(l.now() + 1s);
    answers.push_back(early);
    const bool late = co_await pods->synced();
    answers.push_back(late);
  });
  run_for(10s);
  EXPECT_EQ(answers, (std::vector<bool>{false, true}));
}

TEST_F(InformerTest, FindsDifferencesToTheServer) {
  watching({event("ADDED", "b", 11)});
  server.on("GET", list_path, list_of(12, {pod_at("b", 11, "elsewhere"), pod_at("c", 12)}, "t"));
  server.on("GET", list_path, list_of(12, {}));
  std::optional<result<std::vector<std::string>>> found;
  reactor::task_group waiting(l);
  waiting.start("compare", [&]() -> awaitable<void> { found = co_await pods->differences(); });
  run_for(1s);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, (std::vector<std::string>{"default/b differs", "default/c is missing",
                                               "default/a is gone"}));
}

TEST_F(InformerTest, StopsAtAnyMomentAndTwice) {
  begin(pod_options());
  finish();
}

}  // namespace
}  // namespace k8s
