// disruption/guard on objects of the cluster: how they are named, what is seen of them, and a
// rollout that waits for them.
#include "bootc/pool/guard/guarded.hpp"
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using testing::HasSubstr;

std::string named(std::string_view text) {
  auto all = bootc::guarded_in(text);
  if (!all) return "!" + all.error().detail;
  std::string out;
  for (const bootc::guarded& one : *all)
    out += one.kind.api_version() + " " + one.kind.plural + " " + one.key.text() + "\n";
  return out;
}

TEST(Guarded, ObjectsAreNamedByGroupVersionPluralAndName) {
  EXPECT_EQ(
      named(
          "apps/v1/deployments/shop/web, v1/configmaps/ops/alert,example.com/v1beta1/alerts/ceph"),
      "apps/v1 deployments shop/web\nv1 configmaps ops/alert\nexample.com/v1beta1 alerts ceph\n");
  EXPECT_EQ(named(" , "), "");
  for (const char* wrong :
       {"web", "deployments/shop/web", "apps/v1/deployments", "apps/v1/deployments//web",
        "apps/v1/deployments/a/b/c", "v1/configmaps/../secrets"})
    EXPECT_THAT(named(wrong), HasSubstr("is no [GROUP/]VERSION/PLURAL/[NAMESPACE/]NAME")) << wrong;
  std::string many;
  for (int i = 0; i < 9; ++i) many += "v1/configmaps/ops/n" + std::to_string(i) + ",";
  EXPECT_THAT(named(many), HasSubstr("more than 8 objects"));
}

TEST(Guarded, KindsThatWindlassReadsForItselfAreNotLookedAt) {
  for (const char* ours :
       {"v1/secrets/kube-system/token", "v1/pods/kube-system/etcd", "v1/namespaces/other",
        "v1/nodes/n1", "v1/serviceaccounts/a/b", "rbac.authorization.k8s.io/v1/clusterroles/admin",
        "coordination.k8s.io/v1/leases/a/b", "apps/v1/controllerrevisions/a/b",
        "policy/v1/poddisruptionbudgets/a/b", "authentication.k8s.io/v1/tokenreviews/x"})
    EXPECT_THAT(named(ours), HasSubstr("is of a kind that is not looked at")) << ours;
  EXPECT_EQ(named("batch/v1/jobs/ops/backup"), "batch/v1 jobs ops/backup\n");
}

TEST(Guarded, WhatHasReplicasIsCounted) {
  const auto facts = [](std::string_view text) {
    const auto f = bootc::facts_of("x", json::parse(text).as_object());
    return std::to_string(f.counts) + " " + std::to_string(f.available) + "/" +
           std::to_string(f.wanted);
  };
  EXPECT_EQ(
      facts(R"({"kind":"Deployment","spec":{"replicas":3},"status":{"availableReplicas":2}})"),
      "1 2/3");
  EXPECT_EQ(facts(R"({"kind":"StatefulSet","spec":{}})"), "1 0/1") << "one, where nothing is said";
  EXPECT_EQ(
      facts(R"({"kind":"DaemonSet","status":{"desiredNumberScheduled":5,"numberAvailable":4}})"),
      "1 4/5");
  EXPECT_EQ(facts(R"({"kind":"Alert","spec":{"replicas":-3}})"), "0 0/0");
}

/// One cluster of four nodes, whose pool is guarded by a Deployment and by a ConfigMap that alerts.
struct guarded_fleet {
  guarded_fleet() {
    simulation::world_options o;
    o.clusters = 1;
    o.nodes = 4;
    o.mishaps = false;
    world = std::make_unique<simulation::node_world>(l, o);
    api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      json::object& metadata = pool["metadata"].as_object();
      metadata["labels"].emplace_object()["windlass.dev/guard"] = "0";
      metadata["annotations"].emplace_object()["windlass.dev/guard-objects"] =
          "apps/v1/deployments/shop/web, v1/configmaps/ops/alert";
    });
    for (const char* name : {"shop", "ops"}) {
      json::object space{{"apiVersion", "v1"}, {"kind", "Namespace"}};
      space["metadata"].emplace_object()["name"] = name;
      api().put(std::move(space));
    }
    deployment(2);
  }
  k8s::sim::api_server& api() { return world->clusters().front()->api(); }
  void deployment(int available) {
    json::object metadata{{"name", "web"}, {"namespace", "shop"}};
    json::object spec = json::parse(R"({"replicas":3,"selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1"}]}}})")
                            .as_object();
    json::object status{{"availableReplicas", available}};
    json::object all{{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
    all["metadata"] = std::move(metadata);
    all["spec"] = std::move(spec);
    all["status"] = std::move(status);
    api().put(std::move(all));
  }
  void alert() {
    json::object metadata{{"name", "alert"}, {"namespace", "ops"}};
    json::object all{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    all["metadata"] = std::move(metadata);
    api().put(std::move(all));
  }
  awaitable<std::string> why(cli::service& windlass) {  // borrowed
    const cli::fleet_overview overview = co_await cli::look_at(windlass, l, {}, l.now() + 30s);
    const json::object plan = cli::plan_json(overview);
    std::string out;
    for (const json::value& h :
         plan.at("clusters").as_array().at(0).at("pools").as_array().at(0).at("holds").as_array())
      out += std::string(h.at("unit").as_string()) + ": " +
             std::string(h.at("reason").as_string()) + "\n";
    co_return out;
  }
  awaitable<void> run() {
    (void)world->start();
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    cli::service windlass(l, std::move(o), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value());
    world->roll_out(simulation::new_image);
    co_await l.sleep_for(5min);
    EXPECT_EQ(world->reboots(), 0u);
    below = co_await why(windlass);
    alert();
    deployment(3);
    co_await l.sleep_for(5min);
    EXPECT_EQ(world->reboots(), 0u);
    alerted = co_await why(windlass);
    api().erase("", "configmaps", "ops", "alert");
    co_await l.sleep_for(20min);
    EXPECT_EQ(world->hosts_on(simulation::new_image), 4u);
    co_await windlass.stop();
    co_await world->stop();
  }
  reactor::loop l{reactor::loop::mode::simulated, 5};
  std::unique_ptr<simulation::node_world> world;
  std::string below, alerted;
};

TEST(Guarded, ARolloutWaitsForADeploymentBelowItsReplicasAndForAnAlertingObject) {
  guarded_fleet f;
  reactor::task_group tasks(f.l);
  tasks.start("test", f.run());
  f.l.run();
  EXPECT_THAT(f.below, HasSubstr("apps/v1/deployments/shop/web has 2 of 3 replicas"));
  EXPECT_THAT(f.alerted, HasSubstr("v1/configmaps/ops/alert exists"));
}

}  // namespace
