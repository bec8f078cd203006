// disruption/signals beside a Prometheus in memory: a rollout that halts on a value, goes on after
// it, returns where its pool says so, and is replayed without the server.
#include "cli/apis.hpp"
#include "policies/commands/replay.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/simulation/signal_stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using testing::HasSubstr;

/// One cluster of four nodes whose pool looks at a signal.
class signalled_fleet {
public:
  signalled_fleet() {
    simulation::world_options o;
    o.clusters = 1;
    o.nodes = 4;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(l, o);
    api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      pool["metadata"].as_object()["labels"].emplace_object()["windlass.dev/signals"] = "";
    });
  }
  std::string folder() const { return stage_.folder(); }
  std::string record() const { return kept_ / "record"; }
  std::string record_text() const {
    std::ifstream in(record(), std::ios::binary);
    return std::string(std::istreambuf_iterator(in), {});
  }
  k8s::sim::api_server& api() { return world_->clusters().front()->api(); }
  simulation::node_world& world() { return *world_; }
  void on_failure(const char* word) {
    api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
      pool["spec"].as_object()["rollout"].as_object()["onFailure"] = word;
    });
  }

  static std::string digest_of(std::string_view image) {
    return std::string(image.substr(image.find('@') + 1));
  }
  /// What the pool says that every node ran, and was fine.
  std::string deployed() {
    const auto pool = api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    return std::string(pool->at("status").as_object().at("deployedDigest").as_string());
  }

  awaitable<std::string> holds(cli::service& windlass) {  // borrowed
    const cli::fleet_overview overview = co_await cli::look_at(windlass, l, {}, l.now() + 30s);
    const json::object plan = cli::plan_json(overview);
    std::string out;
    for (const json::value& h :
         plan.at("clusters").as_array().at(0).at("pools").as_array().at(0).at("holds").as_array())
      out += std::string(h.at("unit").as_string()) + " " + std::string(h.at("code").as_string()) +
             ": " + std::string(h.at("reason").as_string()) + "\n";
    co_return out;
  }
  /// The first node runs the new image.
  awaitable<void> first_move() {
    co_await l.sleep_for(2min);  // the service has seen all nodes on the image before
    world_->roll_out(simulation::new_image);
    for (int i = 0; i < 720 && world_->hosts_on(simulation::new_image) < 1; ++i)
      co_await l.sleep_for(5s);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 1u);
  }
  /// Runs `body` beside a service and the server.
  void run(std::function<awaitable<void>(cli::service&)> body) {
    reactor::task_group tasks(l);
    tasks.start("test", [&]() -> awaitable<void> {
      stage_.start();
      (void)world_->start();
      cli::service_options o = cli::with_all_apis();
      o.home = world_->home();
      stage_.settings(o);
      o.record = record();
      cli::service windlass(l, std::move(o), reactor::logger());
      auto started = co_await windlass.start();
      EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message());
      co_await body(windlass);
      co_await windlass.stop();
      co_await stage_.stop();
      co_await world_->stop();
    });
    l.run();
  }

  reactor::loop l{reactor::loop::mode::simulated, 5};

private:
  simulation::signal_stage stage_{l};
  reactor::temporary_folder kept_;

public:
  std::string& value = stage_.value;
  const int& asked = stage_.asked;

private:
  std::unique_ptr<simulation::node_world> world_;
};

TEST(Signals, ARolloutHaltsOnAValueGoesOnAfterAndIsReplayedWithoutTheServer) {
  signalled_fleet f;
  f.run([&](cli::service& windlass) -> awaitable<void> {
    co_await f.first_move();
    f.value = "0.2";
    co_await f.l.sleep_for(10min);
    const std::size_t halted_at = f.world().hosts_on(simulation::new_image);
    EXPECT_LT(halted_at, 4u);
    const std::string bad = co_await f.holds(windlass);
    EXPECT_THAT(bad, HasSubstr("signal-bad: errors is 0.2, at most 0.01 is allowed (seen "));
    co_await f.l.sleep_for(30min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), halted_at);
    f.value = "NaN";
    co_await f.l.sleep_for(1min);
    const std::string unknown = co_await f.holds(windlass);
    EXPECT_THAT(unknown, HasSubstr("signal-unknown: errors is unknown: the answer is NaN"));
    co_await f.l.sleep_for(30min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), halted_at) << "unknown is never a pass";
    f.value = "0.001";
    co_await f.l.sleep_for(40min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), 4u);
  });
  EXPECT_GT(f.asked, 0);

  // Nothing but the record and the packs.
  reactor::loop alone{reactor::loop::mode::simulated, 5};
  std::size_t questions = 0, changed = 0;
  std::string asked_again;
  reactor::task_group tasks(alone);
  tasks.start("replay", [&]() -> awaitable<void> {
    policies::host::options o;
    o.folders = {f.folder()};
    policies::host packs(alone, std::move(o));
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    auto record = policies::read_record(f.record_text(), "record");
    EXPECT_TRUE(record.has_value()) << (record ? "" : record.error().message());
    if (!record) co_return;
    for (const auto& q : record->questions)
      for (const policies::value& a : q.arguments) asked_again += policies::to_text(a);
    auto said = co_await cli::ask_again(packs, std::move(record->questions));
    questions = said.questions;
    changed = said.changed.size();
  });
  alone.run();
  EXPECT_GT(questions, 10u);
  EXPECT_EQ(changed, 0u);
  EXPECT_THAT(asked_again, HasSubstr("\"value\":0.2"));
  EXPECT_THAT(asked_again, HasSubstr("the answer is NaN"));
}

TEST(Signals, WherePoolsSayReturnTheNodesGoBackAlthoughTheValueStays) {
  signalled_fleet f;
  f.on_failure("Return");
  f.run([&](cli::service&) -> awaitable<void> {
    co_await f.first_move();
    f.value = "0.2";
    co_await f.l.sleep_for(60min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), 0u);
  });
}

/// Every node runs the new image, within a minute.
awaitable<void> all_moved(signalled_fleet& f) {  // borrowed
  co_await f.first_move();
  for (int i = 0; i < 720 && f.world().hosts_on(simulation::new_image) < 4; ++i)
    co_await f.l.sleep_for(5s);
  EXPECT_EQ(f.world().hosts_on(simulation::new_image), 4u);
}

TEST(Signals, AValueThatTurnsBadAfterTheLastNodeTakesThemBack) {
  signalled_fleet f;
  f.on_failure("Return");
  f.run([&](cli::service& windlass) -> awaitable<void> {
    co_await all_moved(f);
    co_await f.l.sleep_for(30s);
    const std::string soaks = co_await f.holds(windlass);
    EXPECT_THAT(soaks, HasSubstr("policy:SignalSoak: node-"));
    f.value = "0.2";
    co_await f.l.sleep_for(60min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), 0u);
  });
}

TEST(Signals, AValueThatTurnsBadAfterTheLastNodeHaltsUntilItIsFineForTheSoak) {
  signalled_fleet f;
  f.run([&](cli::service& windlass) -> awaitable<void> {
    co_await all_moved(f);
    f.value = "0.2";
    co_await f.l.sleep_for(2min);
    EXPECT_EQ(f.deployed(), f.digest_of(simulation::old_image));
    const std::string bad = co_await f.holds(windlass);
    EXPECT_THAT(bad, HasSubstr("signal-bad: errors is 0.2"));
    f.value = "NaN";
    co_await f.l.sleep_for(10min);
    EXPECT_EQ(f.deployed(), f.digest_of(simulation::old_image)) << "unknown is never a pass";
    f.value = "0";
    co_await f.l.sleep_for(5min);
    EXPECT_EQ(f.deployed(), f.digest_of(simulation::new_image));
    const std::string none = co_await f.holds(windlass);
    EXPECT_EQ(none, "");
    f.value = "0.2";
    co_await f.l.sleep_for(10min);
    EXPECT_EQ(f.world().hosts_on(simulation::new_image), 4u) << "the rollout is over";
    const std::string over = co_await f.holds(windlass);
    EXPECT_EQ(over, "");
  });
}

TEST(Signals, AProcessThatOnlyLooksInventsNothing) {
  signalled_fleet f;
  f.run([&](cli::service& windlass) -> awaitable<void> {
    f.value = "0.2";
    f.world().roll_out(simulation::new_image);
    co_await f.l.sleep_for(5min);
    cli::service_options o = cli::with_all_apis();
    o.home = f.world().home();
    o.policies = {f.folder()};
    o.does = units::mode::look;
    cli::service looks(f.l, std::move(o), reactor::logger());
    auto started = co_await looks.start();
    EXPECT_TRUE(started.has_value());
    const int before = f.asked;
    const std::string said = co_await f.holds(looks);
    EXPECT_THAT(said, HasSubstr("signal-unknown: errors is unknown: this process fetches no "
                                "signals; `windlass run` does"));
    co_await looks.stop();
    const std::string acts = co_await f.holds(windlass);
    EXPECT_THAT(acts, HasSubstr("signal-bad"));
    EXPECT_LE(f.asked, before + 3);
  });
}

}  // namespace
