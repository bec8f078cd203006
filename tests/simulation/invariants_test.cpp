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

TEST_F(Invariants, SkewAKubeletBeyondItsServersIsFound) {
  const auto comes_back = [&](const char* kubelet) {
    const std::size_t before = cluster_.checks().violation_count();
    cluster_.node_up("node-01", "another boot", kubelet);
    return cluster_.checks().violation_count() - before;
  };
  cluster_.api().be("v1.36.2");
  EXPECT_EQ(comes_back("v1.35.0"), 0u);
  EXPECT_EQ(comes_back("v1.33.9+k3s1"), 0u);
  EXPECT_EQ(comes_back("v1.32.0"), 1u);
  EXPECT_EQ(comes_back("v1.37.0"), 1u);
  cluster_.api().edit("", "nodes", "", "node-02", [](json::object& o) {
    o["metadata"].as_object()["labels"].as_object()["node-role.kubernetes.io/control-plane"] = "";
  });
  cluster_.api().be("v1.37.0");
  EXPECT_EQ(comes_back("v1.36.0"), 0u);
  EXPECT_EQ(comes_back("v1.37.0"), 1u) << "node-02 is 1.36";
}

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

TEST_F(Invariants, ASlotBesideTwoFailedRebootsIsSeen) {
  using std::chrono::minutes;
  // Told to boot, and Degraded on the image before, or away for long.
  for (const bool away : {false, true}) {
    pool_cluster c(loop_, options(), {.max_unavailable = "3"});
    reactor::steady_time now{};
    reactor::wall_time wall = loop_.wall();
    invariants judge("c", {[&] { return now; }, [&] { return wall; }});
    c.on_write = [&](const k8s::sim::written& w) { judge.saw(w); };
    c.set_on_failure("Halt");
    for (const std::string& n : c.node_names())
      c.api().edit("", "nodes", "", n,
                   [](json::object& o) { o["spec"].as_object()["unschedulable"] = false; });
    const auto put = [&](const std::string& node, const char* state, bool degraded,
                         std::string_view image) {
      json::object annotations{{"bootc.dev/in-reboot-slot", ""}};
      annotations["windlass.dev/approved-at"] = reactor::format_rfc3339(wall);
      json::object status, spec{{"desiredImage", image}, {"desiredImageState", state}};
      json::object why{{"type", "Degraded"}, {"status", degraded ? "True" : "False"}};
      status["conditions"] = json::array{std::move(why)};
      json::object o{{"apiVersion", "node.bootc.dev/v1alpha1"}, {"kind", "BootcNode"}};
      o["metadata"] = json::object{{"name", node}, {"annotations", std::move(annotations)}};
      o["spec"] = std::move(spec);
      o["status"] = std::move(status);
      c.api().put(std::move(o));
    };
    const auto third_takes_a_slot = [&](std::string_view image) {
      put("node-03", "Staged", false, image);
      (void)c.api().erase("node.bootc.dev", "bootcnodes", "", "node-03");
      return judge.violations().empty() ? "nothing" : judge.violations().front();
    };
    for (const char* node : {"node-01", "node-02"}) put(node, "Booted", !away, new_image);
    now += minutes(away ? 31 : 1), wall += minutes(away ? 31 : 1);
    EXPECT_EQ(third_takes_a_slot(new_image), "nothing") << "they need not be known yet";
    now += minutes(2);
    if (away) {
      EXPECT_EQ(third_takes_a_slot(new_image), "nothing") << "by the wall clock";
    }
    wall += minutes(2);
    EXPECT_EQ(third_takes_a_slot(middle_image), "nothing") << "for another image";
    const std::string why = away ? " is not back from its reboot" : " failed its reboot";
    EXPECT_EQ(third_takes_a_slot(new_image),
              "c: node-03 took a reboot slot although node-01" + why + " and node-02" + why);
  }
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
