// What concerns nobody is read together, by a reader that rests between two looks (docs/adr/0006).
#include "tests/k8s/informer/informer_fixture.hpp"

#include <string>
#include <utility>

namespace k8s {
namespace {

class Lull : public informer_fixture {
protected:
  void watch(const answer& stream, reactor::nanoseconds coalesce_window) {
    server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
    server.on("GET", watch_path, stream);
    informer_options o = pod_options();
    o.coalesce_window = coalesce_window;
    begin(std::move(o));
    run_for(1s);
  }
  /// What is stored 200 and 900 ms after `b`, when `c` came 100 ms after it.
  std::pair<std::string, std::string> seen(freshness how) {
    answer stream = answer::stream();
    stream.piece(event("ADDED", "b", 11), 10s).piece(event("ADDED", "c", 12), 100ms).stay_open();
    watch(stream, 500ms);
    pods->set_freshness(how);
    const reactor::steady_time give_up = l.now() + 60s;
    while (stored() == "a@1" && l.now() < give_up) run_for(1ms);
    run_for(200ms);
    const std::string soon = stored();
    run_for(700ms);
    return {soon, stored()};
  }
};

TEST_F(Lull, WhatConcernsNobodyIsReadWithWhatComesNext) {
  const auto [soon, later] = seen(freshness::none);
  EXPECT_EQ(soon, "a@1 b@11");
  EXPECT_EQ(later, "a@1 b@11 c@12");
}

TEST_F(Lull, WhatCameMeanwhileIsReadTogether) {
  answer stream = answer::stream();
  for (std::size_t i = 0; i < 50; ++i)
    stream.piece(event("MODIFIED", "a", 11 + i), i == 0 ? reactor::nanoseconds(10s) : 5ms);
  watch(stream.stay_open(), 500ms);
  pods->set_freshness(freshness::none);
  const reactor::steady_time give_up = l.now() + 60s;
  while (stored() == "a@1" && l.now() < give_up) run_for(1ms);
  ASSERT_EQ(stored(), "a@11");
  run_for(1s);
  EXPECT_EQ(stored(), "a@60");
}

TEST_F(Lull, EndsWhenSomebodyAttends) {
  answer stream = answer::stream();
  stream.piece(event("ADDED", "b", 11), 10s).piece(event("ADDED", "c", 12), 10ms).stay_open();
  watch(stream, 60s);
  pods->set_freshness(freshness::none);
  run_for(11s);
  ASSERT_EQ(stored(), "a@1 b@11");
  pods->set_freshness(freshness::close);
  run_for(10ms);
  EXPECT_EQ(stored(), "a@1 b@11 c@12");
  EXPECT_EQ(pods->state(), informer_state::live);
}

TEST_F(Lull, MayOutlastThePatienceWithASilentServer) {
  watch_limits limits;
  ASSERT_GT(180s, limits.rest_silence + limits.unattended.reached_in);
  answer stream = answer::stream();
  stream.piece(event("ADDED", "b", 11), 10s).stay_open();
  watch(stream, 180s);
  pods->set_freshness(freshness::none);
  server.always("GET", watch_path, answer::stream());
  run_for(600s);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_EQ(pods->counters().watches, 1u) << "the stream stayed";
}

TEST_F(Lull, ThereIsNoneBehindAChangeThatMatters) {
  changes_matter = true;
  EXPECT_EQ(seen(freshness::none).first, "a@1 b@11 c@12");
}

TEST_F(Lull, ThereIsNoneWhileSomebodyAttends) {
  EXPECT_EQ(seen(freshness::close).first, "a@1 b@11 c@12");
}

}  // namespace
}  // namespace k8s
