#include "k8s/informer/controller.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>

namespace k8s {
namespace {

using namespace std::chrono_literals;

/// Does per key what a test says, and remembers who ran when.
class scripted final : public reconciler<std::string> {
public:
  explicit scripted(reactor::loop& l) : loop_(l) {}
  awaitable<result<next>> reconcile(std::string key) override {
    EXPECT_TRUE(running_.insert(key).second) << key << " runs twice at once";
    struct leave {
      std::set<std::string>& running;
      std::string key;
      ~leave() { running.erase(key); }
    } left{running_, key};
    runs[key].push_back(loop_.now());
    most = std::max(most, running_.size());
    co_await loop_.sleep_for(takes);
    const auto answer = answers.find(key);
    if (answer == answers.end()) co_return await_change();
    co_return answer->second();
  }
  std::map<std::string, std::vector<reactor::steady_time>> runs;
  std::map<std::string, std::function<result<next>()>> answers;
  reactor::nanoseconds takes = 10ms;
  std::size_t most = 0;

private:
  reactor::loop& loop_;
  std::set<std::string> running_;
};

struct ControllerTest : testing::Test {
  controller_options options() {
    controller_options o;
    o.name = "test";
    o.concurrency = 2;
    o.retry = {1s, 8s, 2, 0};
    o.metrics = &metrics;
    return o;
  }
  void run_for(reactor::nanoseconds d) { l.run_until(l.now() + d); }
  void TearDown() override {
    stopper.start("stop", c.stop());
    const auto before = l.now();
    bool joined = false;
    reactor::task_group watcher(l);
    watcher.start("join", [this, &joined]() -> awaitable<void> {
      co_await stopper.join();
      joined = true;
    });
    l.run_until(before + 1s);
    EXPECT_TRUE(joined) << "it stops within one second";
    EXPECT_EQ(l.live(), reactor::live_counts());
  }
  reactor::loop l{reactor::loop::mode::simulated, 3};
  reactor::metrics metrics;
  scripted work{l};
  controller<std::string> c{l, work, options(), [](const std::string& key) { return key; }};
  reactor::task_group stopper{l};
};

fault unavailable() {
  fault f;
  f.code = errc::unavailable;
  f.doing = "test";
  return f;
}

TEST_F(ControllerTest, RunsAKeyOnceHoweverOftenItWasAdded) {
  for (int i = 0; i < 5; ++i) c.add("a");
  c.start();
  run_for(1s);
  EXPECT_EQ(work.runs["a"].size(), 1u);
  EXPECT_TRUE(c.idle());
}

TEST_F(ControllerTest, RunsAgainAfterAChangeDuringARun) {
  c.start();
  c.add("a");
  run_for(5ms);
  c.add("a");
  c.add("a");
  run_for(1s);
  EXPECT_EQ(work.runs["a"].size(), 2u);
}

TEST_F(ControllerTest, KeepsItsConcurrency) {
  c.start();
  for (const char* key : {"a", "b", "c", "d", "e"}) c.add(key);
  run_for(1s);
  EXPECT_EQ(work.runs.size(), 5u);
  EXPECT_EQ(work.most, 2u);
}

TEST_F(ControllerTest, BacksOffPerKeyUntilASuccess) {
  bool failing = true;
  work.takes = 0ms;
  work.answers["a"] = [&]() -> result<next> {
    return failing ? result<next>(unavailable()) : result<next>(await_change());
  };
  c.start();
  c.add("a");
  run_for(20s);
  const auto& runs = work.runs["a"];
  ASSERT_GE(runs.size(), 5u);
  EXPECT_EQ(runs[1] - runs[0], 1s);
  EXPECT_EQ(runs[2] - runs[1], 2s);
  EXPECT_EQ(runs[3] - runs[2], 4s);
  EXPECT_EQ(runs[4] - runs[3], 8s);
  EXPECT_GE(c.failures("a"), 5u);
  c.add("b");
  run_for(1ms);
  EXPECT_EQ(work.runs["b"].size(), 1u) << "others do not wait for it";
  failing = false;
  run_for(10s);
  EXPECT_EQ(c.failures("a"), 0u);
}

TEST_F(ControllerTest, ComesBackWhenAskedTo) {
  int left = 2;
  work.answers["a"] = [&]() -> result<next> {
    return left-- > 0 ? requeue_after(3s) : await_change();
  };
  c.start();
  c.add("a");
  run_for(20s);
  ASSERT_EQ(work.runs["a"].size(), 3u);
  EXPECT_EQ(work.runs["a"][1] - work.runs["a"][0], 3s + 10ms);
}

TEST_F(ControllerTest, AnExceptionEndsThatRunOnly) {
  int left = 1;
  work.answers["a"] = [&]() -> result<next> {
    if (left-- > 0) throw std::logic_error("a bug");
    return await_change();
  };
  c.start();
  c.add("a");
  c.add("b");
  run_for(5s);
  EXPECT_EQ(work.runs["a"].size(), 2u);
  EXPECT_EQ(work.runs["b"].size(), 1u);
  EXPECT_EQ(c.figures().failures(), 1u);
}

TEST_F(ControllerTest, CancelsWhatRuns) {
  work.takes = 1h;
  c.start();
  c.add("a");
  c.add("b");
  run_for(1s);
  EXPECT_EQ(c.running(), 2u);
  c.cancel("a");
  run_for(1ms);
  EXPECT_EQ(c.running(), 1u);
  // TearDown stops it with "b" in the middle of its hour.
}

TEST_F(ControllerTest, HasItsFigures) {
  work.takes = 30ms;
  c.start();
  c.add("a");
  run_for(1s);
  EXPECT_EQ(c.figures().runs(), 1u);
  EXPECT_EQ(c.figures().longest(), 30ms);
  const std::string text = metrics.text();
  EXPECT_NE(text.find(R"(windlass_reconcile_total{controller="test",outcome="done"} 1)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("windlass_reconcile_seconds_count"), std::string::npos);
  EXPECT_NE(text.find("windlass_reconcile_longest_seconds"), std::string::npos);
}

}  // namespace
}  // namespace k8s
