// `windlass demo --charts` in virtual time: the story, how it is told, and who judges it.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "reactor/loop.hpp"
#include "simulation/commands/demo/chart_story.hpp"
#include "simulation/commands/demo/view.hpp"
#include "tests/cli/terminal.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace cli {
namespace {

struct ended {
  int code = -1;
  std::string out, told;
};

ended demo_of(std::vector<std::string> more) {
  std::vector<std::string> line{"demo", "--charts"};
  line.insert(line.end(), more.begin(), more.end());
  ended e;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  e.code = dispatch(line);
  e.out = testing::internal::GetCapturedStdout();
  e.told = testing::internal::GetCapturedStderr();
  return e;
}

/// A story of so many clusters in virtual time.
demo::show_result played(std::size_t clusters, demo::show_options how,
                         const std::function<void(simulation::chart_fleet&)>& before,
                         const std::function<void(reactor::event& stop)>& begun = {}) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  const auto world = std::make_unique<simulation::chart_fleet>(l, demo::chart_places(clusters));
  demo::show_result r;
  if (!world->start()) return r;
  service_options o;
  o.apis = apis();
  std::erase_if(o.apis, [](const units::api& a) { return a.name != "fleetcharts"; });
  o.hooks = all_hooks();
  o.home = world->home();
  service windlass(l, std::move(o), reactor::logger());
  reactor::event stop(l);
  if (begun) begun(stop);
  before(*world);
  reactor::task_group tasks(l);
  tasks.start("story", [&]() -> reactor::awaitable<void> {
    r = co_await demo::play_charts(l, *world, windlass, how, stop);
    co_await windlass.stop();
    co_await world->stop();
    l.stop();
  });
  l.run();
  r.more["violations"] = world->violation_count();
  return r;
}

TEST(ChartDemo, TellsOfAHaltAndAnUndoInLinesOf80Columns) {
  const ended e = demo_of({"--simulate", "--seed", "7"});
  EXPECT_EQ(e.code, 0) << e.out << e.told;
  std::istringstream lines(e.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(page(line).width(), 80u) << line;
  std::size_t at = 0;
  for (const char* part :
       {"storefront 1.0.0 is asked for on 20 clusters", "wave canary gets storefront 1.0.0",
        "wave early", "wave others", "20 clusters have storefront 1.0.0, and its test passed",
        "storefront 1.1.0 is asked for", "wave canary gets storefront 1.1.0",
        " failed: its tests: ", "halted: 2 clusters failed",
        "$ windlass chart undo storefront --yes", "go back to revision 1",
        "wave canary gets storefront 1.0.0", "20 clusters have storefront 1.0.0",
        "done: 20 of 20 clusters have storefront 1.0.0", "1.1.0 was halted and",
        "no invariant was broken", "trace "}) {
    const std::size_t found = e.out.find(part, at);
    EXPECT_NE(found, e.out.npos) << part << " is not in, or too early in:\n" << e.out;
    if (found != e.out.npos) at = found;
  }
}

TEST(ChartDemo, IsOneDocumentAndTheSameTraceForTheSameSeed) {
  const std::vector<std::string> how{"--clusters", "6", "--simulate", "--seed", "7", "-o", "json"};
  const ended e = demo_of(how);
  EXPECT_EQ(e.code, 0) << e.out << e.told;
  const boost::json::value v = boost::json::parse(e.out);
  EXPECT_EQ(v.at("clusters"), 6);
  EXPECT_EQ(v.at("updated"), 6);
  EXPECT_EQ(v.at("violations"), 0);
  EXPECT_EQ(v.at("finished"), true);
  EXPECT_EQ(v.at("undone"), true);
  EXPECT_EQ(v.at("version"), "1.0.0");
  EXPECT_EQ(v.at("revision"), 3) << "that of the undo";
  EXPECT_EQ(v.at("held"), 0);
  EXPECT_NE(v.at("halted").as_string().find("2 clusters failed"), std::string_view::npos);
  EXPECT_NE(e.told.find("halted: "), e.told.npos) << "the story goes to standard error";
  EXPECT_EQ(boost::json::parse(demo_of(how).out).at("trace"), v.at("trace"));
}

TEST(ChartDemo, FlagsOfTheOtherDemoAreRefused) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--nodes", "4"}, std::vector<std::string>{"--tags"}}) {
    const ended e = demo_of(more);
    EXPECT_EQ(e.code, 2);
    EXPECT_NE(e.told.find("leave out --nodes and --tags"), e.told.npos) << e.told;
  }
}

TEST(ChartDemo, IsDrawnOnATerminalWithALineForEachCluster) {
  terminal t(80, 30);
  const terminal_size size{80, 30};
  bool fails = false;
  demo::show_options how;
  how.draw = [&](const demo::view& v) {
    t.write(screen(demo::drawn(v, size, colours::shown), size).text());
    EXPECT_EQ(t.wrapped + t.scrolled, 0u) << t.text();
    fails = fails || (t.shows("failed  its tests:") && t.shows("0 of 20 clusters"));
  };
  const demo::show_result r = played(20, how, [](simulation::chart_fleet&) {});
  EXPECT_TRUE(r.finished);
  EXPECT_TRUE(fails);
  EXPECT_TRUE(t.shows("20 of 20 clusters have what is asked for")) << t.text();
}

TEST(ChartDemo, WhatTheJudgeFindsCounts) {
  const demo::show_result r = played(3, {}, [](simulation::chart_fleet& w) {
    (void)w.judge();
    w.clusters()[1]->api().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "stray"}}}});
  });
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.more.at("violations"), 1u);
}

TEST(ChartDemo, IsStoppedInTheMiddle) {
  reactor::event* stop = nullptr;
  demo::show_options how;
  how.tell = [&](const page& line) {
    if (line.text().find("halted: ") != std::string::npos) stop->set();
  };
  const demo::show_result r =
      played(3, how, [](simulation::chart_fleet&) {}, [&](reactor::event& e) { stop = &e; });
  EXPECT_TRUE(r.stopped);
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.more.at("violations"), 0u);
}

}  // namespace
}  // namespace cli
