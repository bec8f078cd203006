// A pool with `onFailure: Return` on simulated machines: an image that makes nodes ill takes itself
// back, whoever is killed meanwhile, and within the same rules as any other rollout.
#include "cli/apis.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

struct returned {
  std::string reason;  // of the pool's condition Degraded, once it is back
  std::size_t nodes = 0, back = 0, reboots = 0, on_the_next = 0;
  bool healthy_on_the_next = false;
  std::size_t crashes = 0, writes_at_rest = 0;
  std::vector<std::string> violations;
};

/// What becomes of two nodes that are told to boot the image.
enum class mishap {
  ill,        // they run it and are not Ready, for good
  fall_back,  // it does not boot: they are back on the image before
  die         // they are away for an hour, and come back on the image before
};

class return_run {
public:
  explicit return_run(std::uint64_t seed, mishap of = mishap::ill)
      : of_(of), loop_(reactor::loop::mode::simulated, seed), tasks_(loop_) {}

  returned go() {
    simulation::world_options o;
    o.clusters = 1;
    o.nodes = 6;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    tasks_.start("return", run());
    loop_.run();
    return std::move(out_);
  }

private:
  simulation::pool_cluster& cluster() { return *world_->pools().front(); }

  /// A windlass that is killed again and again until `done`, or for so long.
  template <class Done>
  reactor::awaitable<bool> work_until(Done done, reactor::nanoseconds at_most) {
    const reactor::steady_time deadline = loop_.now() + at_most;
    while (!done() && loop_.now() < deadline) {
      cli::service_options o = cli::with_all_apis();
      o.home = world_->home();
      o.packs_are_tested = true;
      o.shelf = packs_;
      auto windlass = std::make_unique<cli::service>(loop_, std::move(o), reactor::logger());
      (void)co_await windlass->start();
      const reactor::steady_time killed =
          loop_.now() + loop_.random().between(std::uint64_t{5}, std::uint64_t{60}) * 1s;
      while (!done() && loop_.now() < std::min(killed, deadline)) co_await loop_.sleep_for(1s);
      if (!done()) ++out_.crashes;
      co_await windlass->stop();
    }
    co_return done();
  }

  bool rests_on(std::string_view image, std::string_view reason) {
    const auto p = cluster().pool_progress();
    return p.up_to_date == "AllUpdated" && p.degraded == reason &&
           world_->hosts_on(image) == world_->node_count();
  }

  reactor::awaitable<void> run() {
    (void)world_->start();
    out_.nodes = world_->node_count();
    cluster().api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      json::object& rollout = pool["spec"].as_object()["rollout"].as_object();
      rollout["onFailure"] = "Return";
      rollout["maxUnavailable"] = 3;
      json::value& generation = pool["metadata"].as_object()["generation"];
      generation = generation.is_int64() ? generation.get_int64() + 1 : 2;
    });
    // Every node has run it: that is what the others may go back to.
    const bool began =
        co_await work_until([this] { return rests_on(simulation::old_image, "Healthy"); }, 10min);
    EXPECT_TRUE(began);
    const std::size_t before = world_->reboots();
    for (const std::size_t node : {0, 1}) {
      if (of_ == mishap::ill) world_->fall_ill(0, node, 1000h);
      if (of_ == mishap::fall_back) world_->refuse(0, node, simulation::new_image);
      if (of_ == mishap::die) world_->die_of(0, node, simulation::new_image);
    }
    world_->roll_out(simulation::new_image);
    (void)co_await work_until([this] { return rests_on(simulation::old_image, "RolloutReturned"); },
                              2h);
    out_.reason = cluster().pool_progress().degraded;
    out_.back = world_->hosts_on(simulation::old_image);
    out_.reboots = world_->reboots() - before;
    // It stays there, and nobody writes any more.
    cluster().on_write = [this](const k8s::sim::written& w) {
      if (w.plural == "bootcnodes" || w.plural == "bootcnodepools") ++out_.writes_at_rest;
    };
    (void)co_await work_until([] { return false; }, 5min);
    cluster().on_write = {};
    // Until the pool names another image, which is rolled out like any.
    world_->roll_out(simulation::middle_image);
    out_.healthy_on_the_next =
        co_await work_until([this] { return rests_on(simulation::middle_image, "Healthy"); }, 2h);
    out_.on_the_next = world_->hosts_on(simulation::middle_image);
    world_->check_at_rest();
    out_.violations = world_->violations();
    co_await world_->stop();
    loop_.stop();
  }

  mishap of_;
  reactor::loop loop_;
  std::unique_ptr<simulation::node_world> world_;
  std::shared_ptr<policies::pack_shelf> packs_ = std::make_shared<policies::pack_shelf>();
  returned out_;
  reactor::task_group tasks_;
};

class ReturningFleet : public testing::TestWithParam<int> {};

TEST_P(ReturningFleet, GoesBackToTheImageThatAllRanAndOnToTheNext) {
  std::size_t crashes = 0;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 5 + i + 1;
    const returned r = return_run(seed).go();
    EXPECT_EQ(r.reason, "RolloutReturned") << "seed " << seed;
    EXPECT_EQ(r.back, r.nodes) << "seed " << seed;
    EXPECT_GE(r.reboots, 4u) << "seed " << seed << ": two have been there and back";
    EXPECT_LE(r.reboots, 2 * r.nodes) << "seed " << seed << ": nobody goes twice";
    EXPECT_EQ(r.reboots % 2, 0u) << "seed " << seed << ": who has gone has come back";
    EXPECT_EQ(r.writes_at_rest, 0u) << "seed " << seed;
    EXPECT_TRUE(r.healthy_on_the_next) << "seed " << seed;
    EXPECT_EQ(r.on_the_next, r.nodes) << "seed " << seed;
    EXPECT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front();
    crashes += r.crashes;
    if (HasFailure()) break;
  }
  EXPECT_GT(crashes, 10u) << "nobody was killed";
}

TEST(ReturningFromAnImageThatDoesNotBoot, EveryNodeRunsTheImageBefore) {
  for (const mishap of : {mishap::fall_back, mishap::die}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const returned r = return_run(seed, of).go();
      const std::string which =
          std::to_string(static_cast<int>(of)) + ", seed " + std::to_string(seed);
      EXPECT_EQ(r.reason, "RolloutReturned") << which;
      EXPECT_EQ(r.back, r.nodes) << which;
      EXPECT_EQ(r.writes_at_rest, 0u) << which;
      EXPECT_TRUE(r.healthy_on_the_next) << which;
      EXPECT_EQ(r.on_the_next, r.nodes) << which;
      EXPECT_TRUE(r.violations.empty()) << which << ": " << r.violations.front();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReturningFleet, testing::Range(0, 4));

}  // namespace
