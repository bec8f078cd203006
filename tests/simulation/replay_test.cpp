// Policies tried on what was asked before, and on a fleet as it is.
#include "policies/commands/replay.hpp"

#include "cli/apis.hpp"
#include "policies/commands/explain.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/overview/changes.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t most = 64 * 1024 * 1024;

/// disruption/zones as it is shipped, but for every pool.
void copy_zones(const std::string& to, int per_zone) {
  const fs::path from = fs::path(WINDLASS_SOURCE_DIR) / "policies/disruption/zones";
  fs::create_directories(to);
  fs::copy(from, fs::path(to) / "zones", fs::copy_options::recursive);
  EXPECT_TRUE(reactor::store_file(to + "/zones/zones.lua",
                                  "return { max_per_zone = " + std::to_string(per_zone) + " }"));
}

class Tried : public testing::Test {
protected:
  Tried() : loop_(reactor::loop::mode::simulated, 5), tasks_(loop_) {
    simulation::node_world_options o;
    o.clusters = 2;
    o.nodes = 9;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
  }
  std::unique_ptr<cli::service> windlass(units::mode does, std::string policies = {},
                                         std::string record = {}) {
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.does = does;
    if (!policies.empty()) o.policies.emplace_back(std::move(policies));
    o.record = std::move(record);
    return std::make_unique<cli::service>(loop_, std::move(o), reactor::logger());
  }
  void run(std::function<reactor::awaitable<void>()> story) {
    tasks_.start("tried", [this, story]() -> reactor::awaitable<void> {
      auto up = world_->start();
      EXPECT_TRUE(up);
      co_await story();
      co_await world_->stop();
    });
    loop_.run();
  }
  reactor::awaitable<cli::fleet_overview> look(std::string policies) {
    auto looking = windlass(units::mode::look, std::move(policies));
    auto started = co_await looking->start();
    EXPECT_TRUE(started) << started.error().message();
    cli::fleet_overview seen = co_await cli::look_at(*looking, loop_, {}, loop_.now() + 30s);
    co_await looking->stop();
    co_return seen;
  }
  reactor::awaitable<cli::comparison> compare_with(std::string in_force, std::string other,
                                                   cli::fleet_overview& shown) {
    auto before = windlass(units::mode::look, std::move(in_force));
    auto after = windlass(units::mode::look, std::move(other));
    const bool started = (co_await before->start()) && (co_await after->start());
    EXPECT_TRUE(started);
    const reactor::steady_time deadline = loop_.now() + 30s;
    shown = co_await cli::look_at(*after, loop_, {}, deadline);
    (void)co_await cli::look_at(*before, loop_, {}, deadline);
    cli::comparison c = co_await cli::compare(*before, *after, loop_, shown, deadline);
    co_await before->stop();
    co_await after->stop();
    co_return c;
  }
  void pause(json::value paused) {
    for (const auto& c : world_->clusters())
      c->api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
        pool["spec"].as_object()["rollout"].as_object()["paused"] = paused;
      });
  }

  reactor::temporary_folder folder_;
  reactor::loop loop_;
  std::unique_ptr<simulation::node_world> world_;
  reactor::task_group tasks_;
};

cli::replayed replay(const std::string& record, const std::string& policies) {
  auto text = reactor::load_file(record, most);
  EXPECT_TRUE(text);
  auto read = policies::read_record(*text, record);
  EXPECT_TRUE(read) << read.error().message();
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::host::options o;
  if (!policies.empty()) o.folders.push_back(policies);
  o.limits.hooks = cli::all_hooks();
  policies::host packs(l, std::move(o));
  cli::replayed out;
  reactor::task_group tasks(l);
  tasks.start("replay", [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded) << loaded.error().message();
    out = co_await cli::ask_again(packs, std::move(read->questions));
  });
  l.run();
  return out;
}

TEST_F(Tried, ARecordIsAnsweredAlikeByTheSamePacksAndOtherwiseByOthers) {
  const std::string record = folder_.path() + "/record", zones = folder_.path() + "/packs";
  copy_zones(zones, 1);
  run([&]() -> reactor::awaitable<void> {
    auto acting = windlass(units::mode::act, {}, record);
    auto started = co_await acting->start();
    EXPECT_TRUE(started) << started.error().message();
    co_await loop_.sleep_for(30s);
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(10min);
    co_await acting->stop();
  });
  EXPECT_EQ(world_->hosts_on(simulation::new_image), 18u);
  const cli::replayed same = replay(record, {});
  EXPECT_GT(same.questions, 30u);
  EXPECT_TRUE(same.changed.empty()) << same.changed.front().was << "\n" << same.changed.front().is;
  const cli::replayed other = replay(record, zones);
  ASSERT_FALSE(other.changed.empty());
  for (const cli::changed_answer& c : other.changed) {
    EXPECT_EQ(c.hook, "disruption.admit");
    EXPECT_EQ(c.is_pack, "disruption/zones");
    EXPECT_NE(c.is.find("ZoneBusy"), std::string::npos) << c.is;
  }
  // The fleet's credentials are nowhere in it.
  auto text = reactor::load_file(record, most);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find("token"), std::string::npos);
}

TEST(ReplayRow, ShowsBothAnswersWhereTheyPart) {
  const std::string same(300, 'x');
  const cli::changed_answer c{.question = 7,
                              .at = "2026-11-23T00:00:00Z",
                              .hook = "release.map",
                              .cluster = "m1",
                              .unit = "w1",
                              .was_pack = "a",
                              .is_pack = "b",
                              .was = same + "old" + same,
                              .is = same + "new"};
  const std::string before = "… " + std::string(60, 'x');
  EXPECT_EQ(cli::row_of(c).text(),
            "question 7, 2026-11-23T00:00:00Z: release.map m1/w1\n  was a: " + before + "old" +
                std::string(97, 'x') + " …\n  is  b: " + before + "new\n");
  EXPECT_EQ(cli::row_of({.question = 1,
                         .at = "t",
                         .hook = "h",
                         .was_pack = "a",
                         .is_pack = "b",
                         .was = "no",
                         .is = ""})
                .text(),
            "question 1, t: h\n  was a: no\n  is  b: \n");
}

TEST_F(Tried, ThePlanNamesTheUnitsWhoseVerdictChangesAndThenThatIsWhatHappens) {
  const std::string zones = folder_.path() + "/packs";
  copy_zones(zones, 1);
  std::vector<cli::verdict_change> changes, none;
  std::set<std::string> planned, started_now;
  run([&]() -> reactor::awaitable<void> {
    pause(true);
    world_->roll_out(simulation::new_image);
    auto first = windlass(units::mode::act);
    auto began = co_await first->start();
    EXPECT_TRUE(began);
    co_await loop_.sleep_for(60s);
    co_await first->stop();
    pause(false);
    // Slots for all three of a zone, of which the new rule lets one go.
    for (const auto& c : world_->clusters())
      c->api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
        pool["spec"].as_object()["rollout"].as_object()["maxUnavailable"] = 5;
      });
    cli::fleet_overview after;
    changes = (co_await compare_with({}, zones, after)).changes;
    none = (co_await compare_with({}, {}, after)).changes;
    after = co_await look(zones);
    for (const cli::cluster_overview& c : after.clusters)
      for (const cli::api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows)
          for (const std::string& unit : r.start) planned.insert(c.name + "/" + unit);
    for (const auto& c : world_->clusters())
      c->on_write = [&, name = c->name()](const k8s::sim::written& w) {
        if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted) return;
        const json::value* a = w.after->at("metadata").as_object().if_contains("annotations");
        if (a && a->as_object().contains("bootc.dev/in-reboot-slot") &&
            started_now.size() < planned.size())
          started_now.insert(name + "/" + std::string(w.name));
      };
    auto second = windlass(units::mode::act, zones);
    auto again = co_await second->start();
    EXPECT_TRUE(again);
    co_await loop_.sleep_for(5s);
    co_await second->stop();
  });
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(changes.size(), 4u);  // two of five on each cluster wait for their zone
  for (const cli::verdict_change& c : changes) {
    EXPECT_EQ(c.was.what, "starts") << c.unit;
    EXPECT_EQ(c.is.what, "waits") << c.unit;
    EXPECT_EQ(c.is.code, "policy:ZoneBusy") << c.unit;
    EXPECT_NE(c.is.reason.find("of at most 1 disturbed"), std::string::npos) << c.is.reason;
    EXPECT_FALSE(planned.contains(c.cluster + "/" + c.unit));
  }
  EXPECT_EQ(planned.size(), 6u);
  EXPECT_EQ(started_now, planned);
}

TEST_F(Tried, WhatMovesMeanwhileIsNoAnswerOfAPolicy) {
  std::size_t compared = 0, moved = 0;
  std::vector<cli::verdict_change> changes;
  run([&]() -> reactor::awaitable<void> {
    auto acting = windlass(units::mode::act);
    const bool started = bool(co_await acting->start());
    EXPECT_TRUE(started);
    co_await loop_.sleep_for(30s);
    world_->roll_out(simulation::new_image);
    std::vector<units::plan_row> last;
    for (int i = 0; i < 60; ++i) {
      cli::fleet_overview seen;
      const cli::comparison c = co_await compare_with({}, {}, seen);
      changes.insert(changes.end(), c.changes.begin(), c.changes.end());
      EXPECT_TRUE(c.uncompared.empty()) << c.uncompared.front().row << c.uncompared.front().why;
      std::vector<units::plan_row> rows;
      for (const cli::cluster_overview& of : seen.clusters)
        for (const cli::api_overview& a : of.apis)
          rows.insert(rows.end(), a.rows.begin(), a.rows.end());
      compared += rows.size();
      std::size_t updated = 0, held = 0;
      for (const units::plan_row& row : rows) {
        updated += row.updated;
        held += row.holds.size();
      }
      EXPECT_EQ(seen.apis.front().second.updated, updated) << "sums are those of what was compared";
      EXPECT_EQ(seen.held, held);
      if (rows != last) ++moved;
      last = std::move(rows);
      co_await loop_.sleep_for(1700ms);
    }
    co_await acting->stop();
  });
  EXPECT_EQ(compared, 120u);
  EXPECT_GT(moved, 10u);  // else nothing is shown
  EXPECT_TRUE(changes.empty()) << changes.front().unit << " " << changes.front().was.what << " → "
                               << changes.front().is.what;
}

TEST_F(Tried, ARowThatNeverRestsAndAClusterThatIsSilentAreNamed) {
  cli::comparison c;
  run([&]() -> reactor::awaitable<void> {
    auto before = windlass(units::mode::look), after = windlass(units::mode::look);
    const bool started = (co_await before->start()) && (co_await after->start());
    EXPECT_TRUE(started);
    cli::fleet_overview f = co_await cli::look_at(*after, loop_, {}, loop_.now() + 30s);
    (void)co_await cli::look_at(*before, loop_, {}, loop_.now() + 30s);
    const std::string restless = f.clusters.front().name;
    cli::api_overview& silent = f.clusters.back().apis.front();
    silent.state = "Unreachable";
    silent.last_error = "connection refused";
    reactor::task_group mover(loop_);
    int turn = 0;
    mover.start("move", [&]() -> reactor::awaitable<void> {
      for (;;) {
        world_->clusters().front()->api().edit(
            "node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
              pool["spec"].as_object()["image"].as_object()["ref"] =
                  "registry.example.com/os@sha256:" + std::string(62, 'a') +
                  std::to_string(10 + ++turn % 90);
            });
        co_await loop_.sleep_for(200ms);
      }
    });
    EXPECT_EQ(world_->clusters().front()->name(), restless);
    c = co_await cli::compare(*before, *after, loop_, f, loop_.now() + 3s);
    co_await mover.cancel_and_join();
    co_await before->stop();
    co_await after->stop();
  });
  ASSERT_EQ(c.uncompared.size(), 2u);
  EXPECT_EQ(c.uncompared[0].why, "it is Unreachable: connection refused");
  EXPECT_EQ(c.uncompared[0].row, "");
  EXPECT_EQ(c.uncompared[1].row, "workers");
  EXPECT_EQ(c.uncompared[1].why, "it moves while it is looked at; ask again");
  EXPECT_EQ(
      cli::changes_text(c, {}).text(),
      "\nagainst the stock policies: 0 units change\n  not compared: " + c.uncompared[0].cluster +
          ": it is Unreachable: connection refused\n"
          "  not compared: " +
          c.uncompared[1].cluster + "/workers: it moves while it is looked at; ask again\n");
}

TEST_F(Tried, AnExplanationNamesThePackWhatItWasGivenAndWhatWasNotTaken) {
  const std::string packs = folder_.path() + "/packs";
  fs::create_directories(packs + "/greedy");
  EXPECT_TRUE(reactor::store_file(
      packs + "/greedy/policy.lua",
      "return { name = 'greedy', version = '7', rollout = { plan = function(units) local all = {} "
      "for i, u in ipairs(units) do all[i] = u.name end return { start = all } end } }"));
  std::vector<cli::explained_question> seen;
  run([&]() -> reactor::awaitable<void> {
    auto acting = windlass(units::mode::act, packs);
    acting->packs().on_question = [&](const policies::question_note& n) {
      if (auto q = cli::question_about(n, "node-02"); q && q->hook == "rollout.plan")
        seen.push_back(std::move(*q));
    };
    auto started = co_await acting->start();
    EXPECT_TRUE(started);
    co_await loop_.sleep_for(10s);
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(20s);
    co_await acting->stop();
  });
  ASSERT_FALSE(seen.empty());
  const cli::explained_question& q = seen.front();
  EXPECT_EQ(q.pack, "greedy");
  EXPECT_EQ(q.version, "7");
  EXPECT_EQ(q.digest.size(), 71u);
  EXPECT_TRUE(q.unit.find("state"));
  EXPECT_TRUE(q.fleet.find("free"));
  ASSERT_FALSE(q.clamped.empty());
  EXPECT_NE(cli::explained_text(seen).text().find("not taken: start["), std::string::npos);
}

}  // namespace
