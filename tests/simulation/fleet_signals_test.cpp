// A FleetPool whose waves look at a signal of the clusters that have the revision: one that turns
// bad holds the others, which say why, and they go on after it.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "tests/simulation/fleet_pool_rollout.hpp"
#include "tests/simulation/signal_stage.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

namespace simulation {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using testing::HasSubstr;

class SignalledFleetPool : public testing::Test {
protected:
  SignalledFleetPool() {
    node_world_options o;
    o.mishaps = false;
    o.fleet = rollout_.fleet;
    world_ = std::make_unique<node_world>(l_, std::move(o));
    world_->home_api().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
    rollout_.prepare(*world_);
    world_->home_api().edit("fleet.windlass.dev", "fleetpools", "default", "workers",
                            [](json::object& o) {
                              o["metadata"].as_object()["labels"] = {{"windlass.dev/signals", ""}};
                            });
  }
  /// Whose pools ask for the new image: "c1 c2".
  std::string moved() const {
    std::string out;
    for (pool_cluster* c : world_->pools()) {
      const auto pool = c->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      if (pool && pool->at("spec").at("image").at("ref").as_string() == new_image)
        out += (out.empty() ? "" : " ") + c->name();
    }
    return out;
  }
  awaitable<bool> until(std::string wanted, reactor::nanoseconds within) {
    const auto give_up = l_.now() + within;
    while (moved() != wanted && l_.now() < give_up) co_await l_.sleep_for(1s);
    co_return moved() == wanted;
  }
  /// What the FleetPool says of clusters that wait.
  awaitable<std::string> holds(cli::service& of) {  // borrowed
    const cli::fleet_overview seen = co_await cli::look_at(of, l_, {}, l_.now() + 30s);
    std::string out;
    for (const cli::cluster_overview& c : seen.clusters)
      for (const cli::api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows)
          for (const units::hold& h : r.holds)
            if (a.name == "fleetpools") out += h.unit + " " + h.code + ": " + h.sentence + "\n";
    co_return out;
  }

  reactor::loop l_{reactor::loop::mode::simulated, 13};
  home_rollout rollout_ = fleet_pool_rollout();
  signal_stage stage_{l_};
  std::unique_ptr<node_world> world_;
};

TEST_F(SignalledFleetPool, AWaveHaltsOnAClusterThatHasTheRevisionAndGoesOnAfter) {
  reactor::task_group tasks(l_);
  tasks.start("test", [&]() -> awaitable<void> {
    stage_.start();
    (void)world_->start();
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.packs_are_tested = true;
    rollout_.settings(o);
    stage_.settings(o);
    cli::service windlass(l_, std::move(o), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message());
    co_await l_.sleep_for(30min);
    rollout_.begin(*world_);
    const bool first = co_await until("c1", 10min);
    EXPECT_TRUE(first) << moved();
    stage_.values["c1"] = "0.2";
    co_await l_.sleep_for(40min);
    EXPECT_EQ(moved(), "c1");
    const std::string bad = co_await holds(windlass);
    EXPECT_THAT(bad, HasSubstr("c2 signal-bad: c1: errors is 0.2, at most 0.01 is allowed (seen "));
    stage_.values["c1"] = "NaN";
    co_await l_.sleep_for(10min);
    EXPECT_EQ(moved(), "c1") << "unknown is never a pass";
    const std::string unknown = co_await holds(windlass);
    EXPECT_THAT(unknown, HasSubstr("c2 signal-unknown: c1: errors is unknown: the answer is NaN"));
    stage_.values.clear();
    stage_.values["c3"] = "0.2";
    const bool second = co_await until("c1 c2", 30min);
    EXPECT_TRUE(second) << moved();
    co_await l_.sleep_for(40min);
    EXPECT_EQ(moved(), "c1 c2") << "a cluster that is ill before it begins waits for itself";
    stage_.values.clear();
    const bool all = co_await until("c1 c2 c3", 30min);
    EXPECT_TRUE(all) << moved();
    co_await windlass.stop();
    co_await stage_.stop();
    co_await world_->stop();
  });
  l_.run();
}

}  // namespace
}  // namespace simulation
