// What the owner of a fleet says about its clusters, as labels of their kubeconfig Secrets, reaches
// the policies.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

/// Asked for the clusters that are labelled env=prod, and for no others.
constexpr const char* prod_after_dev = R"(
return {
  name = "prod-after-dev", version = "1",
  applies = { clusters = { env = "prod" } },
  rollout = { plan = function(units, fleet)
    local nodes, updated, holds, start = 0, 0, {}, {}
    for _, elsewhere in ipairs(fleet.clusters) do
      if elsewhere.labels.env == "dev" then
        nodes, updated = nodes + elsewhere.nodes, updated + elsewhere.updated - elsewhere.slotted
      end
    end
    for _, unit in ipairs(units) do
      if unit.state == "Staged" and not unit.slotted then
        if updated < nodes then
          holds[unit.name] = { code = "AfterDev", reason = fleet.cluster .. " is " .. fleet.cluster_labels.env }
        elseif unit.annotations["example.com/frozen"] then
          holds[unit.name] = { code = "Frozen", reason = unit.annotations["example.com/frozen"] }
        elseif #start < fleet.free then
          start[#start + 1] = unit.name
        end
      end
    end
    return { start = start, holds = holds, look_again = updated < nodes and 30 or nil }
  end },
}
)";

/// Three clusters of three nodes; `drive` gets them with the service running and a rollout begun.
class ClusterLabels : public testing::Test {
protected:
  void SetUp() override {
    folder_ = own_folder_.path();
    std::filesystem::create_directories(folder_ / "mine");
    std::ofstream(folder_ / "mine" / "policy.lua") << prod_after_dev;
    simulation::world_options o;
    o.clusters = 3;
    o.nodes = 3;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
  }

  void label(std::size_t cluster, const char* env) {
    world_->home_api().edit("", "secrets", "default", simulation::world::cluster_name(cluster),
                            [&](json::object& secret) {
                              json::object& metadata = secret["metadata"].as_object();
                              metadata["labels"].as_object()["env"] = env;
                            });
  }
  void go(std::function<awaitable<void>(cli::service& windlass)> drive) {
    reactor::task_group tasks(loop_);
    tasks.start("test", run(std::move(drive)));
    loop_.run();
  }
  /// Clusters in which a node has taken a slot.
  std::set<std::string> moving_;
  reactor::temporary_folder own_folder_;
  std::filesystem::path folder_;
  reactor::loop loop_{reactor::loop::mode::simulated, 11};
  std::unique_ptr<simulation::node_world> world_;

private:
  awaitable<void> run(std::function<awaitable<void>(cli::service& windlass)> drive) {
    (void)world_->start();
    world_->on_write = [this](std::size_t cluster, const k8s::sim::written& w) {
      if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted) return;
      const json::value* annotations =
          w.after->at("metadata").as_object().if_contains("annotations");
      if (annotations && annotations->as_object().contains("bootc.dev/in-reboot-slot"))
        moving_.insert(simulation::world::cluster_name(cluster));
    };
    label(0, "prod");
    label(1, "dev");
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.policies.emplace_back(folder_.string());
    cli::service windlass(loop_, std::move(o), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value());
    co_await drive(windlass);
    co_await windlass.stop();
    co_await world_->stop();
  }
};

TEST_F(ClusterLabels, APolicyIsAskedForTheClustersWhoseSecretSaysSoAndSeesWhatTheOthersAre) {
  go([this](cli::service&) -> awaitable<void> {
    // Dev is held up, so that prod has to wait for as long.
    auto& dev = world_->clusters().at(1)->api();
    dev.edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      pool["spec"].as_object()["rollout"].as_object()["paused"] = true;
    });
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(10min);
    EXPECT_EQ(moving_, std::set<std::string>{"cluster-003"}) << "nobody labelled it";
    dev.edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      pool["spec"].as_object()["rollout"].as_object()["paused"] = false;
    });
    co_await loop_.sleep_for(20min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 9u);
  });
}

TEST_F(ClusterLabels, AChangedLabelAsksAgainWithoutAReconnect) {
  go([this](cli::service& windlass) -> awaitable<void> {
    auto& dev = world_->clusters().at(1)->api();
    dev.edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      pool["spec"].as_object()["rollout"].as_object()["paused"] = true;
    });
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(10min);
    EXPECT_FALSE(moving_.contains("cluster-001"));
    const k8s::cluster* connected = windlass.fleet().find("cluster-001");
    label(0, "staging");
    co_await loop_.sleep_for(5s);
    EXPECT_TRUE(moving_.contains("cluster-001"));
    EXPECT_EQ(windlass.fleet().find("cluster-001"), connected);
  });
}

TEST_F(ClusterLabels, APolicySeesTheAnnotationsOfNodes) {
  go([this](cli::service&) -> awaitable<void> {
    simulation::cluster& prod = *world_->clusters().front();
    const std::string frozen = prod.node_names().front();
    prod.api().edit("", "nodes", "", frozen, [](json::object& node) {
      node["metadata"].as_object()["annotations"].emplace_object()["example.com/frozen"] =
          "a customer asked for it";
    });
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 8u);
  });
}

}  // namespace
