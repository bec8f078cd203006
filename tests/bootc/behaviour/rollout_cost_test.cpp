// What a rollout asks of the API server and of its own process, as counts.
#include "bootc/kinds/names.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bootc::behaviour {
namespace {

json::object pod_of_daemon_set(const json::value& uid, const std::string& name,
                               const std::string& node) {
  json::object owner{{"apiVersion", "apps/v1"},
                     {"kind", "DaemonSet"},
                     {"name", "agent"},
                     {"uid", uid},
                     {"controller", true}};
  json::array owners;
  owners.push_back(std::move(owner));
  json::object metadata{{"name", name}, {"namespace", "default"}};
  metadata["ownerReferences"] = std::move(owners);
  json::object out{{"apiVersion", "v1"}, {"kind", "Pod"}};
  out["metadata"] = std::move(metadata);
  json::object container{{"name", "c"}, {"image", "quay.io/x/y:1"}};
  json::array containers;
  containers.push_back(std::move(container));
  json::object spec{{"nodeName", node}};
  spec["containers"] = std::move(containers);
  out["spec"] = std::move(spec);
  out["status"] = json::object{{"phase", "Running"}};
  return out;
}

/// Requests by method and the end of their path.
class request_counts {
public:
  explicit request_counts(stage& s) : stage_(s) {
    s.embedded()->before = [this](const k8s::sim::request& r) {
      ++seen_[r.method + " " + r.path];
      std::optional<k8s::sim::answer> out;
      if (hides_daemon_sets && r.path.find("/daemonsets/") != r.path.npos) {
        out.emplace().status = 404;
        out->body = R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})";
      }
      return out;
    };
  }
  ~request_counts() { stage_.embedded()->before = nullptr; }
  int of(const std::string& method, std::string_view end) const {
    int out = 0;
    for (const auto& [what, n] : seen_)
      if (what.starts_with(method + " ") && what.ends_with(end)) out += n;
    return out;
  }
  bool hides_daemon_sets = false;

private:
  stage& stage_;
  std::map<std::string, int> seen_;
};

/// Its uid: pods whose owner is not there are collected.
json::value put_daemon_set(stage& s) {
  json::object set =
      json::parse(
          R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"default"},
      "spec":{"selector":{"matchLabels":{"app":"agent"}},"template":{"metadata":{"labels":{"app":"agent"}},
      "spec":{"containers":[{"name":"c","image":"quay.io/x/y:1"}]}}}})")
          .as_object();
  const json::object stored = s.embedded()->put(std::move(set));
  return stored.at("metadata").at("uid");
}

bool is_told_to_boot(const bootc_node& b) {
  return b.spec.desired_state == image_state::booted;
}

/// Nodes w1 to wN in a pool that wants image b, all staged.
awaitable<void> ready_to_drain(stage& s, int nodes, std::string rollout) {  // borrowed
  s.start_controller();
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = "w" + std::to_string(i);
    co_await s.node(name, "p");
  }
  co_await s.pool("p", 'b', std::move(rollout));
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = "w" + std::to_string(i);
    co_await s.until("there", name, [](const bootc_node&) { return true; });
    co_await s.report(name, unit_state::staged, 'a', 'b');
  }
}

TEST(RolloutCost, ADaemonSetIsAskedAboutOnceForTheDrainsOfAllNodes) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const json::value uid = put_daemon_set(s);
    for (const std::string node : {"w1", "w2", "w3", "w4", "w5", "w6"})
      s.embedded()->put(pod_of_daemon_set(uid, "agent-" + node, node));
    const request_counts requests(s);
    co_await ready_to_drain(s, 6, R"({"maxUnavailable":6})");
    for (const char* name : {"w1", "w2", "w3", "w4", "w5", "w6"})
      co_await s.until("told to boot", name, is_told_to_boot);
    EXPECT_EQ(requests.of("GET", "/daemonsets/agent"), 1);
    EXPECT_EQ(requests.of("POST", "/eviction"), 0);
  });
}

// It changes the version of the Node and nothing that is kept of it.
TEST(RolloutCost, AHeartbeatBetweenLookingAndWritingCostsOneConflict) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    bool beaten = false;
    int conflicts = 0;
    s.embedded()->before = [&](const k8s::sim::request& r) {
      if (r.method == "PATCH" && r.path == "/api/v1/nodes/w1" &&
          r.body.find("unschedulable") != r.body.npos && !std::exchange(beaten, true))
        s.embedded()->edit("", "nodes", "", "w1", [](json::object& o) {
          if (!o["status"].is_object()) o["status"].emplace_object();
          o["status"].as_object()["images"] = json::array{json::object{{"sizeBytes", 1}}};
        });
      return std::optional<k8s::sim::answer>();
    };
    s.embedded()->after = [&](const k8s::sim::request& r, k8s::sim::answer& a) {
      conflicts += r.method == "PATCH" && r.path == "/api/v1/nodes/w1" && a.status == 409;
    };
    co_await ready_to_drain(s, 2, R"({"maxUnavailable":1})");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    s.embedded()->before = nullptr;
    s.embedded()->after = nullptr;
    EXPECT_TRUE(beaten);
    EXPECT_EQ(conflicts, 1);
  });
}

// It may come back, and a wrong guess would kill its pods.
TEST(RolloutCost, ADaemonSetThatIsGoneIsNotRemembered) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const json::value uid = put_daemon_set(s);
    for (const std::string node : {"w1", "w2"})
      s.embedded()->put(pod_of_daemon_set(uid, "agent-" + node, node));
    request_counts requests(s);
    requests.hides_daemon_sets = true;
    co_await ready_to_drain(s, 2, R"({"maxUnavailable":1})");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    requests.hides_daemon_sets = false;
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until("told to boot", "w2", is_told_to_boot);
    EXPECT_EQ(requests.of("GET", "/daemonsets/agent"), 2);
    EXPECT_EQ(requests.of("POST", "/agent-w1/eviction"), 1);
    EXPECT_EQ(requests.of("POST", "/agent-w2/eviction"), 0);
  });
}

// Each list takes as long as where there are tens of thousands of pods.
TEST(RolloutCost, ManyDrainsOnASlowServerWaitForEachOtherAndNoneFails) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    constexpr int nodes = 300;
    int failed = 0;
    s.embedded()->after = [&failed](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (r.method == "GET" && r.path.ends_with("/pods")) a.delay = 8s;
      if (r.method == "PATCH" && r.body.find("drain-failed") != r.body.npos) ++failed;
    };
    co_await ready_to_drain(s, nodes, R"({"maxUnavailable":"100%"})");
    for (int i = 1; i <= nodes; ++i) {
      const std::string name = "w" + std::to_string(i);
      co_await s.until("told to boot", name, is_told_to_boot);
    }
    EXPECT_EQ(failed, 0);
    s.embedded()->after = nullptr;
  });
}

bool asks_since(const k8s::sim::request& r) {
  return std::any_of(r.query.begin(), r.query.end(),
                     [](const auto& q) { return q.first == "resourceVersionMatch"; });
}

awaitable<void> five_pods(stage& s) {  // borrowed
  for (int i = 1; i <= 5; ++i) co_await s.pod("web-" + std::to_string(i), "w1", "web");
}

// A pod takes two seconds to end.
TEST(RolloutCost, PodsThatEndAreLookedAtTogether) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    const request_counts requests(s);
    co_await five_pods(s);
    co_await ready_to_drain(s, 1, "{}");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    EXPECT_EQ(requests.of("POST", "/eviction"), 5);
    for (int i = 1; i <= 5; ++i)
      EXPECT_EQ(requests.of("GET", "/" + s.named("web-" + std::to_string(i))), 0);
    EXPECT_LE(requests.of("GET", "/pods"), 4) << "before, and three looks";
    EXPECT_GE(requests.of("GET", "/pods"), 2);
  });
}

// Such a list reads every pod of the cluster.
TEST(RolloutCost, TheLookThatShowsNobodyIsTheSecondList) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    int lists = 0;
    s.embedded()->after = [&lists](const k8s::sim::request& r, k8s::sim::answer&) {
      if (r.method == "GET" && r.path.ends_with("/pods") && !asks_since(r)) ++lists;
    };
    co_await five_pods(s);
    const json::value uid = put_daemon_set(s);
    s.embedded()->put(pod_of_daemon_set(uid, "agent-w1", "w1"));
    co_await ready_to_drain(s, 1, "{}");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    EXPECT_EQ(lists, 1);
    s.embedded()->after = nullptr;
  });
}

TEST(RolloutCost, APodThatIsBoundWhileTheOthersEndIsEvictedToo) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    int lists = 0;
    std::vector<std::string> evicted;
    s.embedded()->after = [&](const k8s::sim::request& r, k8s::sim::answer&) {
      if (r.method == "GET" && r.path.ends_with("/pods") && !asks_since(r)) ++lists;
      if (r.path.ends_with("/eviction")) evicted.push_back(r.path);
    };
    co_await five_pods(s);
    co_await ready_to_drain(s, 1, "{}");
    co_await s.until_node("cordoned", "w1", [](const k8s::node& n) { return n.unschedulable; });
    while (evicted.empty()) co_await s.loop().sleep_for(10ms);
    co_await s.pod("late", "w1", "late");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    EXPECT_EQ(lists, 2);
    EXPECT_TRUE(std::ranges::any_of(
        evicted, [](const std::string& path) { return path.find("late/") != path.npos; }));
    s.embedded()->after = nullptr;
  });
}

// Whose store was restored to an earlier state, for one.
TEST(RolloutCost, AServerThatDoesNotKnowTheVersionOfALookIsAskedWithoutOne) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    int refused = 0;
    s.embedded()->after = [&refused](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (!r.path.ends_with("/pods") || !asks_since(r)) return;
      ++refused;
      a.status = 504;
      a.body = R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504})";
    };
    co_await five_pods(s);
    co_await ready_to_drain(s, 1, "{}");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    EXPECT_EQ(refused, 1);
    s.embedded()->after = nullptr;
  });
}

TEST(RolloutCost, ALookThatIsNotUnderstoodSaysOfNoPodThatItIsGone) {
  const std::string head =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"})";
  for (const std::string rest : {"}", R"(,"items":7})", R"(,"items":[{"metadata":{}}]})",
                                 R"(,"items":[]})", R"(,"items":null})"}) {
    const std::string body = head + rest;
    const bool is_none = rest.find("[]") != rest.npos || rest.find("null") != rest.npos;
    play([=](stage& s) -> awaitable<void> {
      if (!s.embedded()) co_return;
      bool answers = false;
      s.embedded()->after = [&answers, body](const k8s::sim::request& r, k8s::sim::answer& a) {
        if (answers || r.method != "GET" || !r.path.ends_with("/pods") ||
            a.body.find("PartialObjectMetadata") == a.body.npos)
          return;
        a.body = body;
      };
      co_await five_pods(s);
      co_await ready_to_drain(s, 1, "{}");
      co_await s.loop().sleep_for(30s);
      auto now = co_await s.see("w1");
      EXPECT_EQ(now && is_told_to_boot(*now), is_none) << body;
      answers = true;
      co_await s.until("told to boot", "w1", is_told_to_boot);
      s.embedded()->after = nullptr;
    });
  }
}

TEST(RolloutCost, ADrainThatSeesNotWhichPodsAreGoneSaysSoWhenItsTimeIsOver) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    s.embedded()->after = [](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (r.method == "GET" && r.path.ends_with("/pods") &&
          a.body.find("PartialObjectMetadata") != a.body.npos)
        a.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{}})";
    };
    co_await five_pods(s);
    co_await ready_to_drain(s, 1, R"({"drainTimeoutSeconds":10})");
    co_await s.until("noted", "w1", [](const bootc_node& b) {
      const auto reason = b.annotation("windlass.dev/hold-reason");
      return b.annotation("windlass.dev/hold") == "drain-timeout" && reason &&
             reason->find("; not seen: list the pods of w1: the answer is no list of pods") !=
                 reason->npos;
    });
    s.embedded()->after = nullptr;
  });
}

TEST(RolloutCost, AListThatIsNotUnderstoodIsNoNodeWithoutPods) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    bool answers = false;
    s.embedded()->after = [&answers](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (!answers && r.method == "GET" && r.path.ends_with("/pods"))
        a.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{}})";
    };
    co_await five_pods(s);
    co_await ready_to_drain(s, 1, "{}");
    co_await s.loop().sleep_for(30s);
    auto now = co_await s.see("w1");
    EXPECT_FALSE(now && is_told_to_boot(*now));
    answers = true;
    co_await s.until("told to boot", "w1", is_told_to_boot);
    s.embedded()->after = nullptr;
  });
}

TEST(RolloutCost, APassCopiesOnlyWhatHasChangedSinceTheOneBefore) {
  constexpr int nodes = 40, changes = 5;
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    co_await s.budget("db", "db", "1");
    co_await ready_to_drain(s, nodes, "{}");
    co_await s.pod("db-0", "w1", "db");
    co_await s.until("refused", "w1", [](const bootc_node& b) {
      return b.annotation("windlass.dev/hold") == "pdb";
    });
    co_await s.loop().sleep_for(20s);
    const auto label_one = [&s](std::string to) -> awaitable<void> {
      co_await s.label("w7", "seen", std::move(to));
      co_await s.loop().sleep_for(5s);
    };
    co_await label_one("first");  // its pass copies what was only noted before, too
    std::size_t before = s.controller()->copied();
    for (int i = 0; i < changes; ++i) co_await label_one(std::to_string(i));
    std::size_t copied = s.controller()->copied() - before;
    EXPECT_GE(copied, std::size_t(changes));
    EXPECT_LE(copied, std::size_t(4 * changes));
    // At rest none is kept: the next pass copies every Node and every BootcNode.
    s.embedded()->erase("policy", "poddisruptionbudgets", "default", "db");
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":true}}})");
    co_await s.until("told to boot", "w1", is_told_to_boot);
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until("released", "w1", [](const bootc_node& b) { return !b.in_slot(); });
    co_await s.loop().sleep_for(20s);
    before = s.controller()->copied();
    co_await label_one("last");
    copied = s.controller()->copied() - before;
    EXPECT_GE(copied, std::size_t(2 * nodes));
  });
}

}  // namespace
}  // namespace bootc::behaviour
