#include "k8s/client/stream_delivery.hpp"
#include "reactor/http/message.hpp"
#include "tests/k8s/informer/informer_fixture.hpp"

#include <string>

namespace k8s {
namespace {

using reactor::nanoseconds;

TEST(StreamDelivery, PiecesShowWhetherStreamsAreKeptUntilTheirEnd) {
  stream_delivery d;
  EXPECT_FALSE(d.in_pieces());
  EXPECT_FALSE(d.ended(0ms, 5s)) << "nothing is asked for in pieces";
  d.held_back();
  EXPECT_TRUE(d.in_pieces());
  EXPECT_FALSE(d.ended(3ms, 5s));
  EXPECT_FALSE(d.ended(std::nullopt, 5s)) << "an empty piece shows nothing";
  EXPECT_FALSE(d.ended(0ms, 1s)) << "nor does one that a server ended early";
  EXPECT_FALSE(d.ended(0ms, 5s));
  EXPECT_FALSE(d.is_shown());
  EXPECT_TRUE(d.ended(0ms, 5s)) << "told once";
  EXPECT_FALSE(d.ended(0ms, 5s));
  EXPECT_TRUE(d.is_shown());
}

TEST(StreamDelivery, StreamsThatComeInTimeAreWatchedForLongAgain) {
  stream_delivery d;
  d.held_back();
  for (const nanoseconds before_end :
       {nanoseconds(2s), nanoseconds(0s), nanoseconds(2s), nanoseconds(5s), nanoseconds(1s)}) {
    EXPECT_TRUE(d.in_pieces());
    EXPECT_FALSE(d.ended(before_end, 5s));
  }
  EXPECT_FALSE(d.in_pieces());
  EXPECT_FALSE(d.is_shown());
}

/// Pods "a" at version 10, behind what keeps a stream back until the server ends it.
struct Buffered : informer_fixture {
  enum class kept { body, all };

  /// What the server says in a watch that is to last `asked_for`.
  answer watch_through(kept how, nanoseconds asked_for) {
    const std::string bytes = (version > 10 ? change : "") + objects::bookmark_line(version);
    if (how == kept::all) return answer::stream().wait(asked_for).piece(bytes);
    return answer::stream().piece(bytes, asked_for);
  }
  void serve(kept how) {
    server.otherwise([this, how](const scripted_server::received& r) {
      if (r.target.starts_with(list_path)) return list_of(10, {pod_at("a", 1)});
      const auto query = reactor::http::split_target(r.target);
      if (!query.get("watch")) return list_of(version, {});
      if (query.get("resourceVersion") == "11") change.clear();
      const auto seconds = std::stoll(std::string(query.get("timeoutSeconds").value_or("600")));
      return watch_through(how, std::chrono::seconds(seconds));
    });
  }
  bool was_told() const {
    return log->count("streams arrive only when they end; a proxy or balancer buffers them") > 0;
  }

  std::uint64_t version = 10;
  std::string change = event("ADDED", "b", 11);
};

TEST_F(Buffered, WatchesWhoseHeadNeverComesAreAskedForInPieces) {
  serve(kept::all);
  begin(pod_options(true));
  run_for(90s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(last_watch("timeoutSeconds"), "5");
  EXPECT_EQ(last_watch("sendInitialEvents"), "(none)") << "the beginning is listed";
  EXPECT_TRUE(was_told());
  version = 11;
  run_for(12s);
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_TRUE(pods->may_be_acted_upon());
}

TEST_F(Buffered, WatchesThatDeliverNothingAreAskedForInPieces) {
  serve(kept::body);
  begin(pod_options());
  run_for(30s);
  EXPECT_GT(std::stoi(last_watch("timeoutSeconds")), 60) << "nothing is known against it yet";
  version = 11;
  run_for(40s);
  EXPECT_EQ(stored(), "a@1 b@11");
  EXPECT_EQ(last_watch("timeoutSeconds"), "5");
  run_for(30s);
  EXPECT_TRUE(was_told());
  EXPECT_TRUE(pods->may_be_acted_upon());
  const std::size_t failures = pods->counters().failures;
  run_for(60s);
  EXPECT_EQ(pods->counters().failures, failures) << "the end of a piece is no failure";
}

TEST_F(Buffered, AnotherInformerOfTheClientBeginsInPieces) {
  serve(kept::all);
  api->newest().delivery.held_back();
  begin(pod_options(true));
  run_for(2s);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_EQ(last_watch("timeoutSeconds"), "5");
}

TEST_F(Buffered, ALostConnectionIsNoBuffer) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server_is_at(10);
  api->newest().delivery.held_back();
  for (int i = 0; i < 3; ++i)
    server.on("GET", watch_path,
              answer::stream().piece(objects::bookmark_line(10), 3s).piece(" \n", 2s));
  server.always("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(20s);
  EXPECT_GT(std::stoi(last_watch("timeoutSeconds")), 60);
  EXPECT_FALSE(was_told());
}

}  // namespace
}  // namespace k8s
