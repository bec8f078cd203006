// Twelve clusters in three waves: the second begins when the first has proved itself, and not while
// a canary has failed.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::string_view repaired_image =
    "registry.demo.local/os/"
    "node@sha256:3333333333333333333333333333333333333333333333333333333333333333";

simulation::node_world_options twelve_clusters() {
  simulation::node_world_options o;
  o.mishaps = false;
  for (const char* wave : {"canary", "early", "main"})
    for (int i = 1; i <= 4; ++i) {
      simulation::fleet_cluster c;
      c.name = std::string(wave) + "-" + std::to_string(i);
      c.nodes = 3;
      c.max_unavailable = "1";
      c.labels["windlass.dev/wave"] = wave;
      c.pool_labels["windlass.dev/rollout"] = "waves";
      o.fleet.push_back(std::move(c));
    }
  return o;
}

class Waves : public testing::Test {
protected:
  Waves()
      : loop_(reactor::loop::mode::simulated, 12), world_(loop_, twelve_clusters()), tasks_(loop_) {
    for (const auto& c : world_.clusters())
      c->on_write = [this, name = c->name()](const k8s::sim::written& w) { saw(name, w); };
  }

  void run(std::function<reactor::awaitable<void>()> story) {
    tasks_.start("waves", [this, story]() -> reactor::awaitable<void> {
      auto up = world_.start();
      EXPECT_TRUE(up);
      auto windlass = service(units::mode::act);
      auto started = co_await windlass->start();
      EXPECT_TRUE(started);
      co_await loop_.sleep_for(30s);
      began_ = loop_.now();
      co_await story();
      co_await windlass->stop();
      co_await world_.stop();
    });
    loop_.run();
    EXPECT_TRUE(world_.violations().empty()) << world_.violations().front();
  }

  std::unique_ptr<cli::service> service(units::mode does) {
    cli::service_options o = cli::with_all_apis();
    o.home = world_.home();
    o.does = does;
    return std::make_unique<cli::service>(loop_, std::move(o), reactor::logger());
  }

  void saw(const std::string& cluster, const k8s::sim::written& w) {
    if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted) return;
    const json::value* annotations = w.after->at("metadata").as_object().if_contains("annotations");
    if (annotations && annotations->as_object().contains("bootc.dev/in-reboot-slot"))
      began_at_.emplace(cluster.substr(0, cluster.find('-')), loop_.now() - began_);
  }

  reactor::awaitable<std::string> explain(std::string unit) {
    auto looking = service(units::mode::look);
    auto started = co_await looking->start();
    EXPECT_TRUE(started);
    const cli::fleet_overview seen = co_await cli::look_at(*looking, loop_, {}, loop_.now() + 30s);
    co_await looking->stop();
    co_return cli::explain_text(seen, unit, cli::colours::none).text();
  }

  reactor::loop loop_;
  simulation::node_world world_;
  reactor::steady_time began_{};
  std::map<std::string, reactor::nanoseconds> began_at_;  // wave → its first slot
  reactor::task_group tasks_;
};

TEST_F(Waves, EachBeginsWhenTheOneBeforeHasBeenWatchedForItsHour) {
  run([this]() -> reactor::awaitable<void> {
    world_.roll_out(simulation::new_image);
    co_await loop_.sleep_for(30min);
    const std::string soaking = co_await explain("early-1/node-01");
    EXPECT_NE(soaking.find("policy:WaveSoak"), std::string::npos) << soaking;
    co_await loop_.sleep_for(4h);
  });
  ASSERT_EQ(began_at_.size(), 3u);
  EXPECT_LT(began_at_["canary"], 1min);
  EXPECT_GT(began_at_["early"], 60min);
  EXPECT_GT(began_at_["main"], began_at_["early"] + 60min);
  EXPECT_EQ(world_.hosts_on(simulation::new_image), 36u);
}

TEST_F(Waves, AFailedCanaryHoldsTheSecondWaveWithTheReasonUntilItIsRepaired) {
  run([this]() -> reactor::awaitable<void> {
    world_.refuse(1, 1, simulation::new_image);
    world_.roll_out(simulation::new_image);
    co_await loop_.sleep_for(6h);
    EXPECT_FALSE(began_at_.contains("early"));
    const std::string why = co_await explain("early-2/node-01");
    EXPECT_NE(why.find("policy:WaveFailed"), std::string::npos) << why;
    EXPECT_NE(why.find("the waves before report 1 failures, 0 are allowed"), std::string::npos)
        << why;
    world_.roll_out(repaired_image);
    co_await loop_.sleep_for(6h);
  });
  EXPECT_EQ(began_at_.size(), 3u);
  EXPECT_EQ(world_.hosts_on(repaired_image), 36u);
}

}  // namespace
