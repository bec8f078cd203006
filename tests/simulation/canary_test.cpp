// The canary example on a running fleet: the rest waits until the canaries have proved themselves
// for ten minutes.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

class canary_run {
public:
  canary_run() : loop_(reactor::loop::mode::simulated, 7), tasks_(loop_) {}

  /// When each node took its slot, since the rollout began.
  std::map<std::string, reactor::nanoseconds> go() {
    simulation::world_options o;
    o.clusters = 1;
    o.nodes = 5;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    tasks_.start("canaries", run());
    loop_.run();
    return std::move(taken_);
  }
  std::string canary() const { return canary_; }

private:
  reactor::awaitable<void> run() {
    (void)world_->start();
    simulation::cluster& c = *world_->clusters().front();
    c.api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      json::object& annotations = pool["metadata"].as_object()["annotations"].emplace_object();
      annotations["windlass.dev/policy"] = "canary";
      pool["spec"].as_object()["rollout"].as_object()["maxUnavailable"] = 2;
    });
    canary_ = c.node_names().at(3);
    c.api().edit("", "nodes", "", canary_, [](json::object& node) {
      node["metadata"].as_object()["labels"].as_object()["example.com/canary"] = "true";
    });
    c.on_write = [this](const k8s::sim::written& w) {
      if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted) return;
      const json::value* annotations =
          w.after->at("metadata").as_object().if_contains("annotations");
      if (annotations && annotations->as_object().contains("bootc.dev/in-reboot-slot"))
        taken_.emplace(w.name, loop_.now() - began_);
    };
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.policies.emplace_back(WINDLASS_SOURCE_DIR "/policies/examples");
    cli::service windlass(loop_, std::move(o), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value());
    began_ = loop_.now();
    world_->roll_out(simulation::new_image);
    co_await loop_.sleep_for(30min);
    co_await windlass.stop();
    co_await world_->stop();
  }

  std::string canary_;
  reactor::loop loop_;
  std::unique_ptr<simulation::node_world> world_;
  std::map<std::string, reactor::nanoseconds> taken_;
  reactor::steady_time began_{};
  reactor::task_group tasks_;
};

TEST(CanaryExample, TheRestGoesTenMinutesAfterTheCanaryIsDone) {
  canary_run run;
  const auto taken = run.go();
  ASSERT_EQ(taken.size(), 5u);
  for (const auto& [node, when] : taken) {
    if (node == run.canary()) {
      EXPECT_LT(when, 1min);
    } else {
      EXPECT_GT(when, 10min) << node;
      EXPECT_LT(when, 15min) << node;
    }
  }
}

}  // namespace
