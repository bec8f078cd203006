// `windlass events` beside a running service: whose Events are shown, of which clusters, and in
// which forms.
#include "service/commands/events/events.hpp"

#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "simulation/node_world.hpp"
#include "tests/cli/schema.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace events_test {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

const cli::known_events& known() {
  static const cli::known_events all = cli::events_of(cli::with_all_apis().apis);
  return all;
}

json::object event(std::string_view reason, std::string_view kind, std::string_view name,
                   std::string_view time = "2026-01-01T00:00:00Z") {
  return {{"metadata", {{"name", "e"}, {"namespace", "default"}, {"uid", "u"}}},
          {"type", "Warning"},
          {"reason", reason},
          {"note", "why"},
          {"eventTime", time},
          {"regarding", {{"kind", kind}, {"namespace", ""}, {"name", name}}}};
}

TEST(EventRow, IsOfWhatAPageOfTheReferenceHasAndOfNothingElse) {
  const auto is_shown = [](const json::object& e, const std::string& about = "") {
    return cli::event_row("c", e, known(), about, reactor::wall_time(), cli::colours::none)
        .has_value();
  };
  EXPECT_TRUE(is_shown(event("ClusterEngaged", "Secret", "prod-1")));
  EXPECT_TRUE(is_shown(event("RolloutHalted", "BootcNodePool", "workers")));
  EXPECT_TRUE(is_shown(event("PolicyRefused", "ConfigMap", "rules")));
  EXPECT_FALSE(is_shown(event("ClusterEngaged", "Pod", "prod-1")));
  EXPECT_FALSE(is_shown(event("BackOff", "Pod", "web")));
  EXPECT_FALSE(is_shown({}));
  EXPECT_FALSE(is_shown({{"reason", 1}, {"regarding", "x"}}));
  const json::object of_pool = event("RolloutHalted", "BootcNodePool", "workers");
  for (const char* about : {"workers", "pool/workers", "BootcNodePool/workers", "POOL/workers"})
    EXPECT_TRUE(is_shown(of_pool, about)) << about;
  for (const char* about : {"worker", "node/workers", "pool/other", "/x", "XBootcNodePool/workers"})
    EXPECT_FALSE(is_shown(of_pool, about)) << about;
}

TEST(EventRow, HasTheLastTimeAndTheCountInWhicheverFieldTheyAre) {
  const auto cell = [](json::object e) {
    const auto now = *reactor::parse_rfc3339("2026-01-01T01:00:00Z");
    return cli::event_row("c", e, known(), "", now, cli::colours::none)->cells[0].text();
  };
  json::object e = event("RolloutHalted", "BootcNodePool", "workers");
  EXPECT_EQ(cell(e), "60m");
  e["deprecatedLastTimestamp"] = "2026-01-01T00:50:00Z";
  e["deprecatedCount"] = 3;
  EXPECT_EQ(cell(e), "10m (x3)");
  e["series"] = json::object{{"count", 7}, {"lastObservedTime", "2026-01-01T00:59:30.000000Z"}};
  EXPECT_EQ(cell(e), "30s (x7)");
  EXPECT_EQ(cell(event("RolloutHalted", "BootcNodePool", "workers", "yesterday")), "<unknown>");
}

struct said {
  int code = -1;
  std::string text, bytes, complaint;
};

class Events : public testing::Test {
protected:
  Events() {
    simulation::world_options o;
    o.clusters = 3;
    o.nodes = 2;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
  }
  awaitable<said> ask(cli::events_arguments a, bool watched = false) {
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.does = units::mode::look;
    o.apis.clear();
    cli::service looking(loop_, std::move(o), reactor::logger());
    auto started = co_await looking.start();
    EXPECT_TRUE(started);
    said out;
    cli::command_output into;
    into.columns = cli::any_width;
    into.text = [&](const cli::page& p) { out.text += p.text(); };
    into.bytes = [&](const std::string& b) { out.bytes += b; };
    into.complaint = [&](const std::string& c) { out.complaint += c + "\n"; };
    reactor::event stop(loop_);
    reactor::task_group tasks(loop_);
    if (watched)
      tasks.start("later", [&]() -> awaitable<void> {
        co_await loop_.sleep_for(5s);
        world_->roll_out();
        co_await loop_.sleep_for(120s);
        stop.set();
      });
    cli::known_events all = known();
    out.code = co_await cli::show_events(loop_, looking, std::move(a), std::move(all), stop, into);
    co_await looking.stop();
    co_return out;
  }
  void go(std::function<awaitable<void>()> body) {
    reactor::task_group tasks(loop_);
    tasks.start("test", [&]() -> awaitable<void> {
      EXPECT_TRUE(world_->start());
      cli::service_options o = cli::with_all_apis();
      o.home = world_->home();
      cli::service acting(loop_, std::move(o), reactor::logger());
      auto started = co_await acting.start();
      EXPECT_TRUE(started);
      co_await loop_.sleep_for(30s);
      co_await body();
      co_await acting.stop();
      co_await world_->stop();
    });
    loop_.run();
  }
  reactor::loop loop_{reactor::loop::mode::simulated, 7};
  std::unique_ptr<simulation::node_world> world_;
};

TEST_F(Events, AreThoseOfTheFleetAndFollowARollout) {
  go([this]() -> awaitable<void> {
    world_->clusters()[0]->api().put(
        {{"apiVersion", "v1"},
         {"kind", "Event"},
         {"metadata", {{"name", "strange"}, {"namespace", "default"}}},
         {"type", "Normal"},
         {"reason", "Pulled"},
         {"involvedObject", {{"kind", "Pod"}, {"name", "web"}, {"namespace", "default"}}},
         {"message", "of another component"}});
    cli::events_arguments a;
    const said first = co_await ask(a);
    EXPECT_EQ(first.code, 0) << first.complaint;
    EXPECT_TRUE(first.text.starts_with("LAST SEEN")) << first.text;
    EXPECT_NE(first.text.find("ClusterEngaged"), first.text.npos) << first.text;
    EXPECT_EQ(first.text.find("Pulled"), first.text.npos) << first.text;

    cli::events_arguments follow;
    follow.list.watch_only = true;
    follow.list.clusters = {"cluster-002"};
    const said then = co_await ask(follow, true);
    EXPECT_EQ(then.code, 0) << then.complaint;
    EXPECT_NE(then.text.find("cluster-002"), then.text.npos) << then.text;
    EXPECT_EQ(then.text.find("cluster-001"), then.text.npos) << then.text;
    EXPECT_EQ(then.text.find("LAST SEEN"), then.text.npos) << then.text;
    const auto times = [&](std::string_view reason) {
      std::size_t n = 0;
      for (auto at = then.text.find(reason); at != then.text.npos;
           at = then.text.find(reason, at + 1))
        ++n;
      return n;
    };
    EXPECT_EQ(times("RolloutStarted"), 1u) << then.text;

    cli::events_arguments machine;
    machine.list.output.format = cli::output_format::json;
    const said third = co_await ask(machine);
    const json::object document = json::parse(third.bytes).as_object();
    EXPECT_EQ(cli::breaks_schema(document), "");
    EXPECT_FALSE(document.at("items").as_array().empty());

    cli::events_arguments none;
    none.about = "node/none";
    const said last = co_await ask(none);
    EXPECT_EQ(last.code, 0);
    EXPECT_EQ(last.complaint, "no Events found\n");
  });
}

TEST_F(Events, NameTheClusterThatCannotBeAsked) {
  go([this]() -> awaitable<void> {
    world_->home_api().edit("", "secrets", "default", simulation::world::cluster_name(1),
                            [](json::object& secret) { secret["data"] = json::object(); });
    co_await loop_.sleep_for(1s);
    cli::events_arguments a;
    const said s = co_await ask(a);
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("cluster-002: "), s.complaint.npos) << s.complaint;
    EXPECT_NE(s.text.find("ClusterEngaged"), s.text.npos) << s.text;
  });
}

}  // namespace
}  // namespace events_test
