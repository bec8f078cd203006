// The judge of the demo and of the simulation must see each kind of violation.
#include "simulation/invariants.hpp"

#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"
#include "simulation/pool_cluster.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace {

using namespace simulation;
namespace json = boost::json;

class Invariants : public testing::Test {
protected:
  Invariants()
      : loop_(reactor::loop::mode::simulated, 1),
        cluster_(loop_, options(), {.max_unavailable = "1"}) {}

  static cluster_options options() {
    cluster_options o;
    o.name = "c";
    o.nodes = 4;
    o.crds = crd_manifests();
    return o;
  }
  void put_bootc_node(const std::string& node, bool slotted) {
    json::object metadata{{"name", node}};
    if (slotted) metadata["annotations"] = json::object{{"bootc.dev/in-reboot-slot", ""}};
    cluster_.api().put({{"apiVersion", "node.bootc.dev/v1alpha1"},
                        {"kind", "BootcNode"},
                        {"metadata", metadata},
                        {"spec", {{"desiredImage", new_image}, {"desiredImageState", "Staged"}}}});
  }
  void cordon(const std::string& node, bool unschedulable) {
    cluster_.api().edit("", "nodes", "", node, [&](json::object& o) {
      o["spec"].as_object()["unschedulable"] = unschedulable;
    });
  }
  std::string first() const {
    return cluster_.checks().violations().empty() ? "none" : cluster_.checks().violations().front();
  }

  reactor::loop loop_;
  pool_cluster cluster_;
};

TEST_F(Invariants, AnOrderlySlotBreaksNothing) {
  for (const std::string& n : cluster_.node_names()) put_bootc_node(n, false);
  put_bootc_node("node-01", true);
  cordon("node-01", true);
  cordon("node-01", false);
  put_bootc_node("node-01", false);
  cluster_.checks().check_at_rest();
  EXPECT_EQ(first(), "none");
  EXPECT_EQ(cluster_.checks().max_disrupted(), 1u);
}

TEST_F(Invariants, OneSlotTooManyIsSeen) {
  for (const std::string& n : cluster_.node_names()) put_bootc_node(n, false);
  put_bootc_node("node-01", true);
  put_bootc_node("node-02", true);
  EXPECT_EQ(first(), "c: node-02 took a reboot slot as number 2 of 1");
}

TEST_F(Invariants, ARebootOutsideASlotIsSeen) {
  put_bootc_node("node-01", false);
  cluster_.checks().saw_reboot("node-01");
  EXPECT_EQ(first(), "c: node-01 reboots outside a slot");
}

TEST_F(Invariants, ARebootWithPodsOnTheNodeIsSeen) {
  put_bootc_node("node-01", true);
  cordon("node-01", true);
  cluster_.checks().saw_reboot("node-01");
  EXPECT_NE(first().find("node-01 reboots with default/"), std::string::npos) << first();
}

TEST_F(Invariants, ACordonLeftBehindIsSeen) {
  put_bootc_node("node-01", true);
  cordon("node-01", true);
  put_bootc_node("node-01", false);
  EXPECT_EQ(first(), "c: node-01 is still cordoned after its slot was freed");
}

TEST_F(Invariants, AnEvictionBelowTheBudgetIsSeen) {
  // Deleted past the Eviction API, which would have refused the second and third.
  std::size_t deleted = 0;
  for (const json::object& pod : cluster_.api().list("", "pods")) {
    if (pod.at("metadata").at("labels").at("app").as_string() != "web") continue;
    (void)cluster_.api().handle(k8s::sim::make_request(
        "DELETE", "/api/v1/namespaces/default/pods/" +
                      std::string(pod.at("metadata").at("name").as_string())));
    if (++deleted == 3) break;
  }
  EXPECT_NE(first().find("healthy pods of web where 3 are required"), std::string::npos) << first();
}

}  // namespace
