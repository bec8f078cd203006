// Home as a cluster of its own fleet, as the service keeps it.
#include "cli/apis.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

TEST(SelfClusterOfAService, S5_WithoutTheRightToItsSecretTheOthersAreServedAllTheSame) {
  reactor::loop l(reactor::loop::mode::simulated, 5);
  simulation::node_world_options o;
  o.clusters = 2;
  o.nodes = 3;
  o.mishaps = false;
  simulation::node_world world(l, o);
  world.home_api().before = [](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.method != "POST" || r.path.find("/secrets") == std::string::npos) return std::nullopt;
    k8s::sim::answer no;
    no.status = 403;
    no.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",)"
              R"("message":"not allowed","code":403})";
    return no;
  };
  const auto lines = std::make_shared<reactor::log_capture>();
  reactor::task_group tasks(l);
  tasks.start("service", [&]() -> reactor::awaitable<void> {
    const bool up = world.start().has_value();
    EXPECT_TRUE(up);
    cli::service_options s = cli::with_all_apis();
    s.home = world.home();
    s.self_cluster = k8s::self_cluster_options();
    cli::service windlass(l, std::move(s), reactor::logger([&l] { return l.wall(); }, lines));
    const bool started = (co_await windlass.start()).has_value();
    EXPECT_TRUE(started);
    co_await l.sleep_for(30s);
    EXPECT_EQ(lines->count("the Secret self-cluster cannot be kept"), 1u);
    std::size_t live = 0;
    for (const k8s::cluster* c : windlass.clusters()) live += c->is_live();
    EXPECT_GE(live, 2u) << "the others";
    EXPECT_EQ(windlass.fleet().find("self-cluster"), nullptr);
    co_await windlass.stop();
    co_await world.stop();
  });
  l.run();
}

}  // namespace
