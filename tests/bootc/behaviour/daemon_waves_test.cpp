// The waves in which daemons are upgraded, with a DaemonSet whose controller this test plays.
#include "bootc/daemons/daemon_waves.hpp"

#include "bootc/kinds/names.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bootc::behaviour {
namespace {

using testing::image_of;

const std::string ns = "bootc-operator-daemon";

k8s::resource revisions() {
  return {"apps", "v1", "controllerrevisions", "ControllerRevision", true};
}

/// A DaemonSet of the daemon and what its controller does: it notes revisions, makes a pod for each
/// node that has none, and counts.
class daemon_set {
public:
  daemon_set(stage& s, std::vector<std::string> nodes) : s_(s), nodes_(std::move(nodes)) {}

  awaitable<void> install(std::string strategy) {
    json::object made = json::parse(R"({"metadata":{"name":"bootc-operator-daemon","labels":{
      "windlass.dev/daemon":""}},"spec":{"selector":{"matchLabels":{"app":"daemon"}},"template":{
      "metadata":{"labels":{"app":"daemon"}},"spec":{"containers":[{"name":"daemon","image":"d:1"}]}}}})")
                            .as_object();
    made["spec"].as_object()["updateStrategy"] = json::object{{"type", strategy}};
    k8s::object_key key{"", ns};
    json::object space;
    auto there = co_await s_.api().apply(k8s::resources::namespaces(), std::move(key), space);
    EXPECT_TRUE(there);
    auto done = co_await s_.api().create(k8s::resources::daemon_sets(), ns, std::move(made));
    if (!done) co_return ADD_FAILURE() << done.error().message();
    uid_ = json::value(*done).at_pointer("/metadata/uid").as_string();
    co_await revise();
    for (const std::string& node : nodes_) co_await make_pod(node);
    co_await count();
  }

  /// Another template.
  awaitable<void> revise() {
    ++revision_;
    json::object body, metadata, labels;
    labels["controller-revision-hash"] = hash();
    labels["app"] = "daemon";
    metadata["name"] = "bootc-operator-daemon-" + hash();
    metadata["labels"] = std::move(labels);
    metadata["ownerReferences"] = owners();
    body["metadata"] = std::move(metadata);
    body["revision"] = revision_;
    body["data"] = json::object();
    auto done = co_await s_.api().create(revisions(), ns, std::move(body));
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
    co_await count();
  }

  /// One pass of its controller; how many pods are away.
  awaitable<std::size_t> pass() {
    std::set<std::string> have;
    std::size_t away = 0;
    for (const daemon_pod& p : co_await pods()) {
      have.insert(p.node);
      if (p.ready) continue;
      ++away;
      if (!broken) co_await set_ready(p.name);
    }
    for (const std::string& node : nodes_)
      if (!have.contains(node)) {
        ++away;
        co_await make_pod(node);
      }
    co_await count();
    co_return away;
  }

  awaitable<std::vector<daemon_pod>> pods() {
    k8s::list_options o;
    o.ns = ns;
    auto all = co_await s_.api().list(k8s::resources::pods(), std::move(o));
    co_return all ? pods_in(*all, uid_) : std::vector<daemon_pod>();
  }
  awaitable<std::size_t> updated() {
    std::size_t n = 0;
    for (const daemon_pod& p : co_await pods()) n += p.revision == hash();
    co_return n;
  }

  bool broken = false;                 // new pods do not become ready
  reactor::nanoseconds nodes_ahead{};  // how wrong the nodes' clocks are

private:
  std::string hash() const { return "rev" + std::to_string(revision_); }
  json::array owners() const {
    json::object owner{{"apiVersion", "apps/v1"}, {"kind", "DaemonSet"}};
    owner["name"] = "bootc-operator-daemon";
    owner["uid"] = uid_;
    owner["controller"] = true;
    json::array all;
    all.push_back(std::move(owner));
    return all;
  }
  awaitable<void> make_pod(std::string node) {
    json::object body =
        json::parse(R"({"metadata":{},"spec":{"containers":[{"name":"daemon","image":"d:1"}]}})")
            .as_object();
    json::object& metadata = body["metadata"].as_object();
    metadata["name"] = "daemon-" + node + "-" + std::to_string(++made_);
    metadata["labels"] = json::object{{"app", "daemon"}, {"controller-revision-hash", hash()}};
    metadata["ownerReferences"] = owners();
    body["spec"].as_object()["nodeName"] = node;
    const std::string name(metadata["name"].as_string());
    auto done = co_await s_.api().create(k8s::resources::pods(), ns, std::move(body));
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
    if (revision_ == 1) co_await set_ready(name);
  }
  awaitable<void> set_ready(std::string pod) {
    json::object ready{{"type", "Ready"}, {"status", "True"}};
    ready["lastTransitionTime"] = reactor::format_rfc3339(s_.loop().wall() + nodes_ahead);
    json::array conditions;
    conditions.push_back(std::move(ready));
    json::object patch{{"status", json::object{{"phase", "Running"}}}};
    patch["status"].as_object()["conditions"] = std::move(conditions);
    k8s::object_key key{ns, std::move(pod)};
    auto done =
        co_await s_.api().merge_patch(k8s::resources::pods(), std::move(key), std::move(patch),
                                      k8s::request_options().at("status"));
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
  }
  awaitable<void> count() {
    std::int64_t is = 0, updated = 0;
    for (const daemon_pod& p : co_await pods()) ++is, updated += p.revision == hash();
    json::object status;
    status["desiredNumberScheduled"] = nodes_.size();
    status["currentNumberScheduled"] = is;
    status["updatedNumberScheduled"] = updated;
    status["numberMisscheduled"] = 0;
    status["numberReady"] = is;
    status["observedGeneration"] = 1;
    json::object patch;
    patch["status"] = std::move(status);
    k8s::object_key key{ns, "bootc-operator-daemon"};
    auto done =
        co_await s_.api().merge_patch(k8s::resources::daemon_sets(), std::move(key),
                                      std::move(patch), k8s::request_options().at("status"));
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
  }

  stage& s_;
  std::vector<std::string> nodes_;
  std::string uid_;
  std::int64_t revision_ = 0;
  int made_ = 0;
};

awaitable<void> a_pool_of(stage& s, std::vector<std::string> nodes) {  // borrowed
  for (const std::string& node : nodes) co_await s.node(node, "p");
  co_await s.pool("p", 'a');
  s.start_controller();
  for (const std::string& node : nodes) {
    co_await s.until("joined", node, [](const bootc_node&) { return true; });
    co_await s.report(node, unit_state::up_to_date, 'a');
  }
}

std::vector<std::string> names_of(std::size_t nodes) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < nodes; ++i) out.push_back("w" + std::to_string(100 + i));
  return out;
}

TEST(DaemonWaves, AllDaemonsAreReplacedAFewAtATime) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;  // the test plays a controller that a real cluster has
    const std::vector<std::string> nodes = names_of(20);
    co_await a_pool_of(s, nodes);
    daemon_set daemons(s, nodes);
    co_await daemons.install("OnDelete");
    co_await daemons.revise();
    std::size_t most_away = 0, updated = 0;
    for (int i = 0; i < 400 && updated < nodes.size(); ++i) {
      co_await s.loop().sleep_for(5s);
      most_away = std::max(most_away, co_await daemons.pass());
      updated = co_await daemons.updated();
    }
    EXPECT_EQ(updated, nodes.size());
    EXPECT_LE(most_away, 2u) << "a tenth of twenty";
    // At rest: a look every five minutes and no more.
    const std::uint64_t before = s.embedded()->revision();
    co_await s.loop().sleep_for(20min);
    EXPECT_EQ(s.embedded()->revision(), before);
  });
}

TEST(DaemonWaves, ClocksOfNodesThatAreADayApartNeitherStopNorHurryThem) {
  for (const reactor::nanoseconds apart : {reactor::nanoseconds(24h), reactor::nanoseconds(-24h)})
    play([apart](stage& s) -> awaitable<void> {
      if (!s.embedded()) co_return;
      const std::vector<std::string> nodes = names_of(20);
      co_await a_pool_of(s, nodes);
      daemon_set daemons(s, nodes);
      daemons.nodes_ahead = apart;
      co_await daemons.install("OnDelete");
      co_await daemons.revise();
      std::size_t updated = 0;
      for (int i = 0; i < 400 && updated == 0; ++i) {
        co_await s.loop().sleep_for(5s);
        (void)co_await daemons.pass();
        updated = co_await daemons.updated();
      }
      const reactor::steady_time first = s.loop().now();
      for (int i = 0; i < 400 && updated == 1; ++i) {
        co_await s.loop().sleep_for(5s);
        (void)co_await daemons.pass();
        updated = co_await daemons.updated();
      }
      EXPECT_EQ(updated, 2u) << "the second wave is one pod";
      EXPECT_GE(s.loop().now() - first, daemon_settles_in);
    });
}

TEST(DaemonWaves, ADaemonThatDoesNotComeUpStopsThemAndIsTold) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const std::vector<std::string> nodes = names_of(12);
    co_await a_pool_of(s, nodes);
    daemon_set daemons(s, nodes);
    co_await daemons.install("OnDelete");
    daemons.broken = true;
    co_await daemons.revise();
    for (int i = 0; i < 240; ++i) {
      co_await s.loop().sleep_for(5s);
      (void)co_await daemons.pass();
    }
    const std::size_t broken = co_await daemons.updated();
    EXPECT_EQ(broken, 1u);
    const auto told = co_await s.told_of("bootc-operator-daemon", ns);
    EXPECT_EQ(told, (std::vector<std::string>{"DaemonsHalted"}));
    // Mended by another template, it goes on.
    daemons.broken = false;
    co_await daemons.revise();
    std::size_t updated = 0;
    for (int i = 0; i < 400 && updated < nodes.size(); ++i) {
      co_await s.loop().sleep_for(5s);
      (void)co_await daemons.pass();
      updated = co_await daemons.updated();
    }
    EXPECT_EQ(updated, nodes.size());
  });
}

TEST(DaemonWaves, ANodeThatFetchesAnImageKeepsItsDaemonUntilItHasIt) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const std::vector<std::string> nodes = names_of(2);
    co_await a_pool_of(s, nodes);
    daemon_set daemons(s, nodes);
    co_await daemons.install("OnDelete");
    co_await s.report("w100", unit_state::staging, 'a');
    co_await daemons.revise();
    for (int i = 0; i < 120; ++i) {
      co_await s.loop().sleep_for(5s);
      (void)co_await daemons.pass();
    }
    const auto pods = co_await daemons.pods();
    for (const daemon_pod& p : pods)
      EXPECT_EQ(p.revision, p.node == "w100" ? "rev1" : "rev2") << p.node;
    co_await s.report("w100", unit_state::up_to_date, 'a');
    for (int i = 0; i < 60; ++i) {
      co_await s.loop().sleep_for(5s);
      (void)co_await daemons.pass();
    }
    const std::size_t updated = co_await daemons.updated();
    EXPECT_EQ(updated, 2u);
  });
}

TEST(DaemonWaves, AnotherStrategyIsItsControllersAlone) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const std::vector<std::string> nodes = names_of(3);
    co_await a_pool_of(s, nodes);
    daemon_set daemons(s, nodes);
    co_await daemons.install("RollingUpdate");
    co_await daemons.revise();
    for (int i = 0; i < 100; ++i) {
      co_await s.loop().sleep_for(10s);
      (void)co_await daemons.pass();
    }
    const std::size_t updated = co_await daemons.updated();
    EXPECT_EQ(updated, 0u);
  });
}

}  // namespace
}  // namespace bootc::behaviour
