// Longer than most files: one scenario per behaviour of a pool against an API server, each readable
// alone.
#include "bootc/kinds/cluster_node.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/rollout_policy.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "formats/digest.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace bootc::behaviour {
namespace {

using testing::digest_of;
using testing::image_of;

const auto healthy = [](const node_pool& p) { return degraded(p) == "False/Healthy/"; };

// ---- the CRDs ----

json::object whole_pool(const std::string& name) {
  return json::
      parse(R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNodePool","metadata":{"name":")" +
            name + R"("},
    "spec":{"nodeSelector":{"matchLabels":{"role":"worker"},"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}]},
            "image":{"ref":")" +
            image_of('a') + R"("},
            "rollout":{"maxUnavailable":"25%","paused":true,"drainTimeoutSeconds":60,"rebootTimeoutSeconds":900},
            "disruption":{"rebootPolicy":"AllowSoftReboot"},
            "pullSecretRef":{"name":"pull","namespace":"bootc-operator"}}})")
          .as_object();
}

json::object whole_node(const std::string& name) {
  return json::parse(
             R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNode","metadata":{"name":")" +
             name + R"("},
    "spec":{"desiredImage":")" +
             image_of('a') + R"(","desiredImageState":"Staged",
            "pullSecretRef":{"name":"pull","namespace":"bootc-operator"},"pullSecretHash":"sha256:00"}})")
      .as_object();
}

/// Creates it and reads it back; the fault's code when it is refused.
awaitable<k8s::result<json::object>> round_trip(stage& s, k8s::resource r,
                                                json::object body) {  // borrowed
  k8s::object_key key{"", std::string(body.at("metadata").at("name").as_string())};
  auto created = co_await s.api().create(r, std::string(), std::move(body));
  if (!created) co_return created.error();
  auto read = co_await s.api().get(r, key);
  k8s::object_key gone = key;
  co_await s.erase(r, std::move(gone));
  co_return read;
}

awaitable<k8s::errc> refusal(stage& s, k8s::resource r, json::object body) {  // borrowed
  auto answer = co_await round_trip(s, std::move(r), std::move(body));
  co_return answer ? k8s::errc{} : answer.error().code;
}

TEST(CrdBehaviour, T001_AFullPoolReadsBackIdentical) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_pool(s.named("p"));
    const json::value spec = body.at("spec");
    auto read = co_await round_trip(s, node_pools(), std::move(body));
    EXPECT_TRUE(read);
    if (read) {
      EXPECT_EQ(read->at("spec"), spec) << json::serialize(read->at("spec"));
    }
  });
}

TEST(CrdBehaviour, T002_AFullNodeAndItsStatusReadBackIdentical) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_node(s.named("n"));
    const json::value spec = body.at("spec");
    k8s::object_key key{"", s.named("n")};
    auto created = co_await s.api().create(bootc_nodes(), std::string(), std::move(body));
    EXPECT_TRUE(created);
    if (!created) co_return;
    EXPECT_EQ(created->at("spec"), spec);
    json::object status = json::parse(R"({"observedGeneration":3,
      "booted":{"image":"q.io/a/b@x","imageDigest":"sha256:1","version":"9.1","timestamp":"2026-01-02T03:04:05Z","architecture":"amd64","softRebootCapable":true,"incompatible":true},
      "staged":{"image":"q.io/a/c","imageDigest":"sha256:2"},"rollback":{"image":"q.io/a/d","imageDigest":"sha256:3"},
      "conditions":[{"type":"Idle","status":"False","reason":"Staged","message":"","lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":3},
                    {"type":"Degraded","status":"False","reason":"Healthy","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]})")
                              .as_object();
    json::object whole = *created;
    whole["status"] = status;
    auto written = co_await s.api().replace(bootc_nodes(), key, std::move(whole),
                                            k8s::request_options().at("status"));
    EXPECT_TRUE(written) << (written ? "" : written.error().message());
    auto read = co_await s.api().get(bootc_nodes(), key);
    EXPECT_TRUE(read);
    if (read) {
      EXPECT_EQ(read->at("status"), json::value(status)) << json::serialize(read->at("status"));
    }
    co_await s.erase(bootc_nodes(), key);
  });
}

TEST(CrdBehaviour, T003_AnUnknownRebootPolicyIsInvalid) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_pool(s.named("p"));
    body["spec"].as_object()["disruption"].as_object()["rebootPolicy"] = "Invalid";
    const auto code = co_await refusal(s, node_pools(), std::move(body));
    EXPECT_EQ(code, k8s::errc::invalid);
  });
}

TEST(CrdBehaviour, T004_AnUnknownImageStateIsInvalid) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_node(s.named("n"));
    body["spec"].as_object()["desiredImageState"] = "Invalid";
    const auto code = co_await refusal(s, bootc_nodes(), std::move(body));
    EXPECT_EQ(code, k8s::errc::invalid);
  });
}

TEST(CrdBehaviour, T005_AnEmptyReferenceIsInvalid) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_pool(s.named("p"));
    body["spec"].as_object()["image"].as_object()["ref"] = "";
    const auto code = co_await refusal(s, node_pools(), std::move(body));
    EXPECT_EQ(code, k8s::errc::invalid);
  });
}

TEST(CrdBehaviour, T006_AnEmptyDesiredImageIsInvalid) {
  play([](stage& s) -> awaitable<void> {
    json::object body = whole_node(s.named("n"));
    body["spec"].as_object()["desiredImage"] = "";
    const auto code = co_await refusal(s, bootc_nodes(), std::move(body));
    EXPECT_EQ(code, k8s::errc::invalid);
  });
}

// ---- membership ----

TEST(MembershipBehaviour, T014_AShortNameIsReportedAndCuredByAnEdit) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.pool("p", 'a');
    co_await s.patch_pool_without_rules("p", R"({"spec":{"image":{"ref":"myos:latest"}}})");
    co_await s.until_pool("InvalidSpec", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/InvalidSpec/invalid image ref \"myos:latest\"");
    });
    std::string fixed = R"({"spec":{"image":{"ref":")" + image_of('a') + R"("}}})";
    co_await s.patch_pool("p", std::move(fixed));
    co_await s.until_pool("healthy", "p", healthy);
  });
}

TEST(MembershipBehaviour, T015_MatchingNodesJoin) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.node("w2", "p");
    co_await s.pool("p", 'a');
    for (const char* name : {"w1", "w2"}) {
      const std::string pool = s.named("p");
      {
        std::function<bool(const bootc_node&)> holds = [pool](const bootc_node& b) {
          return b.meta.owner.name == pool && b.meta.owner.kind == "BootcNodePool" &&
                 b.spec.desired_image == image_of('a') &&
                 b.spec.desired_state == image_state::staged;
        };
        co_await s.until("there", name, std::move(holds));
      }
      co_await s.until_node("labelled", name, [](const k8s::node& n) { return is_managed(n); });
    }
  });
}

TEST(MembershipBehaviour, T016_ANodeThatLosesItsLabelLeaves) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until_node("labelled", "w1", [](const k8s::node& n) { return is_managed(n); });
    co_await s.label("w1", "pool", std::nullopt);
    co_await s.until_gone("w1");
    co_await s.until_node("unlabelled", "w1",
                          [](const k8s::node& n) { return !n.meta.labels.has(names::managed); });
  });
}

TEST(MembershipBehaviour, T017_ADeletedNodeTakesItsObjectAlong) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.remove_node("w1");
    co_await s.until_gone("w1");
  });
}

/// Deletes an object of w1 as soon as the controller has written to it.
void delete_after_patch(stage& s, std::string plural, std::string group, reactor::nanoseconds later,
                        reactor::nanoseconds answer_takes) {
  const std::string path = "/" + plural + "/w1";
  s.embedded()->after = [=, &s, once = false](const k8s::sim::request& r,
                                              k8s::sim::answer& a) mutable {
    if (once || r.method != "PATCH" || !r.path.ends_with(path)) return;
    once = true;
    a.delay = answer_takes;
    s.loop().timers().arm(s.loop().now() + later,
                          [&s, plural, group] { s.embedded()->erase(group, plural, "", "w1"); });
  };
}

/// Of the deletion after the write, and of the answer to it: either comes first, and mostly both
/// before the next pass.
constexpr std::pair<reactor::nanoseconds, reactor::nanoseconds> moments[] = {
    {0ms, 0ms}, {0ms, 300ms}, {1ms, 0ms}, {20ms, 0ms}, {200ms, 0ms}};

TEST(MembershipBehaviour, ANodeDeletedRightAfterItsLabelIsNotAwaited) {
  if (stage::live()) return;  // T017 is the same there, whatever comes first
  for (const auto& [later, answer_takes] : moments)
    play([later = later, answer_takes = answer_takes](stage& s) -> awaitable<void> {
      s.start_controller();
      co_await s.node("w1", "p");
      delete_after_patch(s, "nodes", "", later, answer_takes);
      const auto began = s.loop().now();
      co_await s.pool("p", 'a');
      co_await s.loop().sleep_for(1s);
      const auto left = co_await s.see_node("w1");
      EXPECT_FALSE(left);
      co_await s.until_gone("w1");
      EXPECT_LT(s.loop().now() - began, 5s) << later.count() << "+" << answer_takes.count();
    });
}

TEST(MembershipBehaviour, AnObjectDeletedRightAfterAPatchIsMadeAgain) {
  if (stage::live()) return;
  for (const auto& [later, answer_takes] : moments)
    play([later = later, answer_takes = answer_takes](stage& s) -> awaitable<void> {
      s.start_controller();
      co_await s.node("w1", "p");
      co_await s.pool("p", 'a');
      co_await s.until_node("labelled", "w1", [](const k8s::node& n) { return is_managed(n); });
      co_await s.loop().sleep_for(10s);
      const auto first = co_await s.see("w1");
      delete_after_patch(s, "bootcnodes", std::string(names::group), later, answer_takes);
      std::string moved = R"({"spec":{"image":{"ref":")" + image_of('b') + R"("}}})";
      co_await s.patch_pool("p", std::move(moved));
      const auto began = s.loop().now();
      co_await s.until("made again", "w1", [&first](const bootc_node& b) {
        return first && !(b.meta.uid == first->meta.uid);
      });
      EXPECT_LT(s.loop().now() - began, 5s) << later.count() << "+" << answer_takes.count();
    });
}

TEST(MembershipBehaviour, T018_ANewImageReachesEveryNodeAsStaged) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.node("w2", "p");
    co_await s.pool("p", 'a');
    co_await s.until("there", "w2", [](const bootc_node&) { return true; });
    std::string moved = R"({"spec":{"image":{"ref":")" + image_of('b') + R"("}}})";
    co_await s.patch_pool("p", std::move(moved));
    for (const char* name : {"w1", "w2"})
      co_await s.until("on b", name, [](const bootc_node& b) {
        return b.spec.desired_image == image_of('b') && b.spec.desired_state == image_state::staged;
      });
  });
}

/// Two pools that both select w2; the first one owns it.
awaitable<void> overlap(stage& s) {  // borrowed
  s.start_controller();
  co_await s.node("w1", "p1");
  co_await s.node("w2", "p1", R"({"second":"yes"})");
  co_await s.node("w3", "p3", R"({"second":"yes"})");
  co_await s.pool("p1", 'a');
  co_await s.until("there", "w2", [](const bootc_node&) { return true; });
  co_await s.pool("p2", 'b', "{}", "nobody");
  co_await s.patch_pool(
      "p2", R"({"spec":{"nodeSelector":{"matchLabels":{"pool":null,"second":"yes"}}}})");
}

TEST(MembershipBehaviour, T019_TheSecondPoolReportsTheConflict) {
  play([](stage& s) -> awaitable<void> {
    co_await overlap(s);
    const std::string first = s.named("p1");
    {
      std::function<bool(const node_pool&)> holds = [first](const node_pool& p) {
        return degraded(p) == "True/NodeConflict/Node selector overlaps with pool(s): " + first &&
               p.status.node_count == 1;
      };
      co_await s.until_pool("NodeConflict", "p2", std::move(holds));
    }
    co_await s.until_pool(
        "healthy", "p1", [](const node_pool& p) { return healthy(p) && p.status.node_count == 2; });
    co_await s.until("of the second pool", "w3",
                     [](const bootc_node& b) { return b.spec.desired_image == image_of('b'); });
  });
}

TEST(MembershipBehaviour, APoolThatIsCreatedLaterTakesNoNodeByItsName) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until("a member", "w1", [](const bootc_node&) { return true; });
    // The same selector under a name that comes before.
    co_await s.pool("a-p", 'b', "{}", "p");
    const std::string first = s.named("p");
    std::function<bool(const node_pool&)> holds = [first](const node_pool& p) {
      return degraded(p) == "True/NodeConflict/Node selector overlaps with pool(s): " + first;
    };
    co_await s.until_pool("NodeConflict", "a-p", std::move(holds));
    auto kept = co_await s.see("w1");
    EXPECT_TRUE(kept && kept->meta.owner.name == first &&
                kept->spec.desired_image == image_of('a'));
  });
}

TEST(MembershipBehaviour, T020_TheSecondPoolTakesOverWhenTheFirstLetsGo) {
  play([](stage& s) -> awaitable<void> {
    co_await overlap(s);
    co_await s.until_pool("NodeConflict", "p2", [](const node_pool& p) {
      return degraded(p).starts_with("True/NodeConflict/");
    });
    co_await s.label("w2", "pool", "other");
    co_await s.until_pool(
        "healthy", "p2", [](const node_pool& p) { return healthy(p) && p.status.node_count == 2; });
    const std::string second = s.named("p2");
    {
      std::function<bool(const bootc_node&)> holds = [second](const bootc_node& b) {
        return b.meta.owner.name == second;
      };
      co_await s.until("of the second pool", "w2", std::move(holds));
    }
    co_await s.until_node("labelled", "w2", [](const k8s::node& n) { return is_managed(n); });
  });
}

TEST(MembershipBehaviour, AForeignObjectIsNeverAdoptedAndItsDeletionIsNoticed) {
  play([](stage& s) -> awaitable<void> {
    json::object foreign = whole_node(s.named("w1"));
    auto made = co_await s.api().create(bootc_nodes(), std::string(), std::move(foreign));
    EXPECT_TRUE(made);
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until_pool("NodeConflict", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/NodeConflict/BootcNode(s) that no pool owns");
    });
    k8s::object_key key{"", s.named("w1")};
    co_await s.erase(bootc_nodes(), std::move(key));
    co_await s.until("ours", "w1",
                     [](const bootc_node& b) { return static_cast<bool>(b.meta.owner); });
    co_await s.until_pool("healthy", "p", healthy);
  });
}

// ---- rollout ----

awaitable<void> all_staged(stage& s, int nodes, std::string rollout) {  // borrowed
  s.start_controller();
  for (int i = 1; i <= nodes; ++i) {
    std::string name = "w" + std::to_string(i);
    co_await s.node(std::move(name), "p");
  }
  std::string paused = R"({"paused":true)" + (rollout.size() > 2 ? "," + rollout.substr(1) : "}");
  co_await s.pool("p", 'b', std::move(paused));
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = "w" + std::to_string(i);
    co_await s.until("there", name, [](const bootc_node&) { return true; });
    co_await s.report(name, unit_state::staged, 'a', 'b');
  }
  co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":false}}})");
}

const auto approved = [](const bootc_node& b) {
  return b.in_slot() && b.spec.desired_state == image_state::booted;
};
const auto released = [](const bootc_node& b) {
  return !b.in_slot() && !b.annotation(names::was_cordoned) &&
         b.spec.desired_state == image_state::staged;
};

TEST(RolloutBehaviour, T038_OneNodeAfterTheOther) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 3, "{}");
    for (const char* name : {"w1", "w2", "w3"}) {
      co_await s.until("approved", name, approved);
      co_await s.until_node("cordoned", name, [](const k8s::node& n) { return n.unschedulable; });
      for (const char* other : {"w1", "w2", "w3"}) {
        if (std::string_view(other) <= name) continue;
        auto b = co_await s.see(other);
        auto n = co_await s.see_node(other);
        EXPECT_TRUE(b && !b->in_slot() && b->spec.desired_state == image_state::staged) << other;
        EXPECT_TRUE(n && !n->unschedulable) << other;
      }
      auto b = co_await s.see(name);
      EXPECT_TRUE(b && b->annotation(names::was_cordoned) == "false");
      co_await s.report(name, unit_state::up_to_date, 'b');
      co_await s.until("released", name, released);
      co_await s.until_node("schedulable", name,
                            [](const k8s::node& n) { return !n.unschedulable; });
    }
    co_await s.until_pool("all updated", "p", [](const node_pool& p) {
      return p.status.updated_count == 3 && p.status.deployed_digest == digest_of('b') &&
             !p.status.update_available;
    });
  });
}

TEST(RolloutBehaviour, T039_ADegradedNodeDoesNotBlockTheOthers) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 0, "{}");
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":true}}})");
    for (const char* name : {"w1", "w2"}) {
      co_await s.node(name, "p");
      co_await s.until("there", name, [](const bootc_node&) { return true; });
    }
    co_await s.report("w1", unit_state::degraded, 'a');
    co_await s.report("w2", unit_state::staged, 'a', 'b');
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":false}}})");
    const std::string message = "True/NodeDegraded/Degraded nodes: " + s.named("w1");
    {
      std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
        return degraded(p) == message;
      };
      co_await s.until_pool("degraded", "p", std::move(holds));
    }
    co_await s.until("approved", "w2", approved);
  });
}

/// Four nodes, three slots: w1 degraded on the target, w2 on it but not Ready, w3 done, w4 waiting.
awaitable<void> halted(stage& s) {  // borrowed
  co_await all_staged(s, 4, R"({"maxUnavailable":3})");
  for (const char* name : {"w1", "w2", "w3"}) co_await s.until("approved", name, approved);
  co_await s.set_ready("w2", false);
  co_await s.set_ready("w3", false);
  co_await s.report("w2", unit_state::up_to_date, 'b');
  co_await s.report("w1", unit_state::degraded, 'b');
  co_await s.report("w3", unit_state::up_to_date, 'b');
  const std::string w1 = s.named("w1"), w2 = s.named("w2");
  co_await s.until_pool("halted", "p", [](const node_pool& p) {
    return degraded(p).starts_with("True/RolloutHalted/");
  });
  co_await s.set_ready("w3", true);
  co_await s.until("released", "w3", released);
  const std::string message =
      "True/RolloutHalted/Rollout halted: 2+ unhealthy nodes in reboot slots (" + w1 +
      ": Degraded, " + w2 + ": NotReady)";
  {
    std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
      return degraded(p) == message;
    };
    co_await s.until_pool("halted", "p", std::move(holds));
  }
}

TEST(RolloutBehaviour, T040_TwoUnhealthyNodesHalt) {
  play([](stage& s) -> awaitable<void> {
    co_await halted(s);
    co_await s.loop().sleep_for(2s);
    auto b = co_await s.see("w4");
    EXPECT_TRUE(b && !b->in_slot());
  });
}

TEST(RolloutBehaviour, T041_HealthResumesIt) {
  play([](stage& s) -> awaitable<void> {
    co_await halted(s);
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.set_ready("w2", true);
    co_await s.until("approved", "w4", approved);
    co_await s.until_pool("healthy", "p", healthy);
  });
}

TEST(RolloutBehaviour, AHaltedPoolGoesBackToTheImageThatAllRan) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    for (const char* name : {"w1", "w2", "w3"}) co_await s.node(name, "p");
    co_await s.pool("p", 'a', R"({"maxUnavailable":2,"onFailure":"Return"})");
    for (const char* name : {"w1", "w2", "w3"}) {
      co_await s.until("there", name, [](const bootc_node&) { return true; });
      co_await s.report(name, unit_state::up_to_date, 'a');
    }
    co_await s.until_pool("all on a", "p", [](const node_pool& p) {
      return p.status.deployed_digest == digest_of('a') && p.status.updated_count == 3;
    });
    std::string moved = R"({"spec":{"image":{"ref":")" + image_of('b') + R"("}}})";
    co_await s.patch_pool("p", std::move(moved));
    for (const char* name : {"w1", "w2", "w3"}) {
      co_await s.until("asked for b", name,
                       [](const bootc_node& b) { return b.spec.desired_image == image_of('b'); });
      co_await s.report(name, unit_state::staged, 'a', 'b');
    }
    for (const char* name : {"w1", "w2"}) {
      co_await s.until("approved", name, approved);
      co_await s.set_ready(name, false);
      co_await s.report(name, unit_state::up_to_date, 'b');
    }
    co_await s.until_pool("back", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/RolloutReturned/") &&
             p.status.failed_digest == digest_of('b') && p.status.return_ref == image_of('a');
    });
    for (const char* name : {"w1", "w2"}) {
      co_await s.until("staging a, in its slot", name, [](const bootc_node& b) {
        return b.spec.desired_image == image_of('a') && b.in_slot() &&
               b.spec.desired_state == image_state::staged;
      });
      co_await s.report(name, unit_state::staged, 'b', 'a');
      co_await s.until("approved", name, approved);
      co_await s.report(name, unit_state::up_to_date, 'a');
      co_await s.set_ready(name, true);
      co_await s.until("released", name, released);
    }
    co_await s.report("w3", unit_state::up_to_date, 'a');
    co_await s.until_pool("all on a again", "p", [](const node_pool& p) {
      return p.status.updated_count == 3 && p.status.target_digest == digest_of('a') &&
             degraded(p).starts_with("True/RolloutReturned/");
    });
    std::string another = R"({"spec":{"image":{"ref":")" + image_of('c') + R"("}}})";
    co_await s.patch_pool("p", std::move(another));
    co_await s.until_pool("on its way to c", "p", [](const node_pool& p) {
      return p.status.target_digest == digest_of('c') && p.status.failed_digest.empty() &&
             p.status.return_ref.empty() && healthy(p);
    });
  });
}

TEST(RolloutBehaviour, T042_ANodeThatLeavesWhileABudgetHoldsItsDrain) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w0", "elsewhere");
    co_await s.budget("db", "db", "1");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until_node("cordoned", "w1", [](const k8s::node& n) { return n.unschedulable; });
    co_await s.loop().sleep_for(7s);
    auto b = co_await s.see("w1");
    EXPECT_TRUE(b && b->in_slot() && b->spec.desired_state == image_state::staged)
        << "the budget holds it";
    co_await s.label("w1", "pool", std::nullopt);
    co_await s.until_gone("w1");
    co_await s.until_node("as it was", "w1", [](const k8s::node& n) {
      return !n.unschedulable && !n.meta.labels.has(names::managed);
    });
    k8s::object_key pod{"default", s.named("db-0")};
    auto left = co_await s.api().get(k8s::resources::pods(), std::move(pod));
    EXPECT_TRUE(left && !left->at("metadata").as_object().contains("deletionTimestamp"))
        << "nobody evicts it any more";
  });
}

TEST(RolloutBehaviour, T043_PausedNodesStageButDoNotStart) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, "{}");
    co_await s.until("approved", "w1", approved);
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":true}}})");
    co_await s.until_pool("paused", "p", [](const node_pool& p) {
      return testing::up_to_date_of(p.status).starts_with("False/Paused/");
    });
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until("released", "w1", released);
    co_await s.loop().sleep_for(2s);
    auto b = co_await s.see("w2");
    EXPECT_TRUE(b && !b->in_slot());
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"paused":false}}})");
    co_await s.until("approved", "w2", approved);
  });
}

TEST(RolloutBehaviour, T044_ANewImageWithdrawsTheApproval) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 1, "{}");
    co_await s.until("approved", "w1", approved);
    std::string moved = R"({"spec":{"image":{"ref":")" + image_of('c') + R"("}}})";
    co_await s.patch_pool("p", std::move(moved));
    co_await s.until("staged again, in its slot", "w1", [](const bootc_node& b) {
      return b.spec.desired_image == image_of('c') && b.spec.desired_state == image_state::staged &&
             b.in_slot();
    });
    co_await s.loop().sleep_for(2s);
    auto b = co_await s.see("w1");
    EXPECT_TRUE(b && b->spec.desired_state == image_state::staged) << "c is not on the host yet";
    co_await s.report("w1", unit_state::staged, 'a', 'c');
    co_await s.until("approved", "w1", approved);
  });
}

TEST(RolloutBehaviour, T045_TwoNotReadyNodesInSlotsStopNewOnes) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 4, R"({"maxUnavailable":3})");
    for (const char* name : {"w1", "w2", "w3"}) co_await s.until("approved", name, approved);
    for (const char* name : {"w1", "w2"}) {
      co_await s.set_ready(name, false);
      co_await s.report(name, unit_state::up_to_date, 'b');
    }
    co_await s.until_pool("halted", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/RolloutHalted/");
    });
    co_await s.report("w3", unit_state::up_to_date, 'b');
    co_await s.until("released", "w3", released);
    co_await s.loop().sleep_for(2s);
    auto b = co_await s.see("w4");
    EXPECT_TRUE(b && !b->in_slot());
  });
}

/// On a real server no kubelet ends the pods that were evicted: does as it does.
awaitable<void> play_kubelet(stage& s, std::vector<std::string> evicted) {  // borrowed
  if (!stage::live()) co_return;
  for (const std::string& name : evicted) {
    k8s::object_key pod{"default", s.named(name)};
    for (int i = 0; i < 200; ++i) {
      auto seen = co_await s.api().get(k8s::resources::pods(), pod);
      if (!seen || seen->at("metadata").as_object().contains("deletionTimestamp")) break;
      co_await s.loop().sleep_for(50ms);
    }
    k8s::delete_options now;
    now.grace_period_seconds = 0;
    (void)co_await s.api().remove(k8s::resources::pods(), pod, std::move(now));
  }
}

TEST(RolloutBehaviour, PodsAreEvictedBeforeTheApproval) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.pod("web-0", "w1", "web");
    co_await s.pod("web-1", "w1", "web");
    co_await all_staged(s, 0, "{}");
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    std::vector<std::string> evicted{"web-0", "web-1"};
    co_await play_kubelet(s, std::move(evicted));
    co_await s.until("approved", "w1", approved);
    for (const char* name : {"web-0", "web-1"}) {
      k8s::object_key pod{"default", s.named(name)};
      auto left = co_await s.api().get(k8s::resources::pods(), std::move(pod));
      EXPECT_FALSE(left) << name;
    }
  });
}

TEST(RolloutBehaviour, ADrainThatTimesOutGivesTheNodeBackForAWhile) {
  play([](stage& s) -> awaitable<void> {
    co_await s.budget("db", "db", "1");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b', R"({"drainTimeoutSeconds":2})");
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until_node("cordoned", "w1", [](const k8s::node& n) { return n.unschedulable; });
    co_await s.until("given back", "w1", [](const bootc_node& b) {
      return !b.in_slot() && b.annotation(names::drain_retry_at).has_value();
    });
    co_await s.until_node("schedulable", "w1", [](const k8s::node& n) { return !n.unschedulable; });
    const std::string message =
        "True/NodeDegraded/Degraded nodes: " + s.named("w1") + " (drain timed out)";
    {
      std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
        return degraded(p) == message;
      };
      co_await s.until_pool("degraded", "p", std::move(holds));
    }
  });
}

TEST(RolloutBehaviour, AnEvictionThatTheServerCannotDoFailsTheDrainAndIsNamed) {
  play([](stage& s) -> awaitable<void> {
    co_await s.budget("db", "db", "0");
    co_await s.budget("db-too", "db", "0");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    const std::string message =
        "True/NodeDegraded/Degraded nodes: " + s.named("w1") + " (drain failed)";
    {
      std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
        return degraded(p) == message;
      };
      co_await s.until_pool("degraded", "p", std::move(holds));
    }
    co_await s.until("the pod is named", "w1", [](const bootc_node& n) {
      const auto why = n.annotation("windlass.dev/hold-reason");
      return why && why->find("more than one PodDisruptionBudget") != std::string_view::npos &&
             why->find("db-0") != std::string_view::npos;
    });
  });
}

/// What is noted on the BootcNode for people.
std::string noted(const bootc_node& b, const char* what) {
  return std::string(b.annotation(std::string("windlass.dev/") + what).value_or(""));
}

TEST(RolloutBehaviour, TheHourOfTheNextAttemptLiesAheadAfterEachThatFails) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;  // in virtual time
    co_await s.budget("db", "db", "0");
    co_await s.budget("db-too", "db", "0");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until("failed", "w1",
                     [](const bootc_node& b) { return noted(b, "hold") == "drain-failed"; });
    for (int i = 0; i < 60; ++i) {
      co_await s.loop().sleep_for(3s);
      const auto now = co_await s.see("w1");
      const std::string said = noted(*now, "hold-released-by");
      const std::string begins = "the next attempt at ";
      EXPECT_TRUE(said.starts_with(begins)) << said;
      if (!said.starts_with(begins)) continue;
      const auto at = reactor::parse_rfc3339(said.substr(begins.size()));
      EXPECT_TRUE(at && *at >= s.loop().wall() - 1s) << said;
    }
  });
}

TEST(RolloutBehaviour, APodThatDoesNotEndIsNamedWithItsFinalizersAndAStandstillWritesNothing) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    co_await s.node("w1", "p");
    co_await s.pod("web-0", "w1", "web");
    co_await s.pod("web-1", "w1", "web");
    boost::json::object hold;
    hold["metadata"] = boost::json::object{
        {"finalizers", boost::json::array{boost::json::string("example.com/hold")}}};
    const k8s::object_key web{"default", "web-1"};
    (void)co_await s.api().merge_patch(k8s::resources::pods(), web, std::move(hold));
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until("the pod and its finalizer are named", "w1", [](const bootc_node& b) {
      const std::string why = noted(b, "hold-reason");
      return noted(b, "hold") == "draining" && why.find("default/web-1") != std::string::npos &&
             why.find("example.com/hold") != std::string::npos &&
             why.find("default/web-0") == std::string::npos;
    });
    const auto before = co_await s.see("w1");
    co_await s.loop().sleep_for(600s);
    const auto later = co_await s.see("w1");
    EXPECT_TRUE(before->meta.resource_version == later->meta.resource_version)
        << "the drain stands still, so its note does";
    const std::vector<std::string> told = co_await s.told_of("w1");
    EXPECT_NE(std::ranges::find(told, "DrainTakingTooLong"), told.end());
  });
}

TEST(RolloutBehaviour, ABudgetThatBeginsToRefuseLaterIsNamedAndSoIsTheNodeThatDies) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    co_await s.budget("db", "db", "1");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until("the budget is named", "w1", [](const bootc_node& b) {
      return noted(b, "hold") == "pdb" &&
             noted(b, "hold-reason") ==
                 "the PodDisruptionBudget default/db allows no eviction of default/db-0";
    });
    co_await s.set_ready("w1", false);
    co_await s.until("the node is named", "w1", [](const bootc_node& b) {
      return noted(b, "hold-reason").find("Node w1 is not Ready") != std::string::npos;
    });
  });
}

// Whose budget refuses it as well, whatever uid was asked for.
TEST(RolloutBehaviour, APodOfTheSameNameElsewhereEndsTheWait) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    co_await s.budget("db", "db", "1");
    co_await s.node("other", "nobody");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until("refused", "w1", [](const bootc_node& b) {
      return b.annotation("windlass.dev/hold") == "pdb";
    });
    s.embedded()->erase("", "pods", "default", "db-0");
    co_await s.pod("db-0", "other", "db");
    const auto moved = s.loop().now();
    co_await s.until("told to boot", "w1", approved);
    EXPECT_LE(s.loop().now() - moved, 8s);
  });
}

/// On a cluster of one node no other one takes the pod of the controller: once evicted it would
/// wait for ever for the node that only it uncordons.
TEST(RolloutBehaviour, TheControllersOwnPodStaysUntilItsNodeReboots) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.pod("controller", "w1", "controller");
    co_await s.pod("standby", "w1", "controller");
    co_await s.pod("db-0", "w1", "db");
    co_await s.live_in("controller");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    std::vector<std::string> others{"standby", "db-0"};
    co_await play_kubelet(s, std::move(others));
    co_await s.until("told to boot", "w1", approved);
    const auto is_there = [&s](std::string name) -> awaitable<bool> {
      k8s::object_key pod{"default", s.named(name)};
      auto found = co_await s.api().get(k8s::resources::pods(), std::move(pod));
      co_return found && !found->at("metadata").as_object().contains("deletionTimestamp");
    };
    const bool own = co_await is_there("controller"), standby = co_await is_there("standby"),
               other = co_await is_there("db-0");
    EXPECT_TRUE(own);
    EXPECT_FALSE(standby) << "a pod of another process is one like any other";
    EXPECT_FALSE(other);
    // The reboot ends it with its node, and it goes on where it stopped.
    co_await s.stop_controller();
    co_await s.report("w1", unit_state::up_to_date, 'b');
    s.start_controller();
    co_await s.until_node("uncordoned", "w1", [](const k8s::node& n) { return !n.unschedulable; });
    co_await s.until("let go", "w1", released);
  });
}

TEST(RolloutBehaviour, ADrainWhosePoolVanishesEnds) {
  play([](stage& s) -> awaitable<void> {
    auto* server = s.embedded();
    if (!server) co_return;
    co_await s.budget("db", "db", "1");
    co_await s.node("w1", "p");
    co_await s.pod("db-0", "w1", "db");
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until("blocked", "w1", [](const bootc_node& n) {
      return n.annotation("windlass.dev/hold") == "pdb";
    });
    EXPECT_FALSE(s.controller()->idle());
    server->erase("node.bootc.dev", "bootcnodepools", "", s.named("p"));  // past its finalizer
    co_await s.loop().sleep_for(7s);
    EXPECT_TRUE(s.controller()->idle()) << "nobody evicts its pods any more";
  });
}

TEST(RolloutBehaviour, EveryWriteCarriesOurFieldManager) {
  play([](stage& s) -> awaitable<void> {
    auto* server = s.embedded();
    if (!server) co_return;
    std::string others;
    std::size_t ours = 0;
    server->before = [&others, &ours](const k8s::sim::request& r) {
      const bool write = r.method == "PATCH" || r.method == "POST" || r.method == "PUT";
      std::string manager;
      for (const auto& [key, value] : r.query)
        if (key == "fieldManager") manager = value;
      const bool aside = r.path.ends_with("/eviction") || r.path.find("/events") != r.path.npos;
      if (write && manager != "behaviour" && !aside) {
        if (manager == names::field_manager)
          ++ours;
        else
          others += r.method + " " + r.path + " by " + manager + "\n";
      }
      return std::optional<k8s::sim::answer>();
    };
    co_await all_staged(s, 1, "{}");
    co_await s.until("approved", "w1", approved);
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until("released", "w1", released);
    server->before = nullptr;
    EXPECT_GE(ours, 6u);
    EXPECT_EQ(others, "");
  });
}

TEST(RolloutBehaviour, ARestartedControllerGoesOnWhereTheFormerStopped) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, "{}");
    co_await s.until("in a slot", "w1", holds_slot);
    co_await s.stop_controller();
    co_await s.patch_node("w1", R"({"spec":{"unschedulable":null}})");
    s.start_controller();
    co_await s.until("approved", "w1", approved);
    co_await s.until_node("cordoned", "w1", [](const k8s::node& n) { return n.unschedulable; });
    auto b = co_await s.see("w1");
    EXPECT_TRUE(b && b->annotation(names::was_cordoned) == "false")
        << "what was so before us stays known";
    auto other = co_await s.see("w2");
    EXPECT_TRUE(other && !other->in_slot());
  });
}

TEST(EventBehaviour, T084_AWholeRolloutIsToldOnce) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    const auto remembers = [](std::string state) {
      return std::function<bool(const bootc_node&)>([state](const bootc_node& n) {
        const auto told = n.annotation(names::last_observed_state);
        return told && told->starts_with(state);
      });
    };
    for (const auto& [state, text] : {std::pair{unit_state::staging, "False:Staging:"},
                                      {unit_state::staged, "False:Staged:"}}) {
      co_await s.report("w1", state, 'a', state == unit_state::staged ? 'b' : '\0');
      auto holds = remembers(text);
      co_await s.until("told", "w1", std::move(holds));
    }
    co_await s.until("approved", "w1", approved);
    co_await s.report("w1", unit_state::rebooting, 'a', 'b');
    auto reboots = remembers("False:Rebooting:");
    co_await s.until("told", "w1", std::move(reboots));
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until("released", "w1", released);
    auto idle = remembers("True:Idle:");
    co_await s.until("told", "w1", std::move(idle));
    co_await s.until_pool("done", "p", [](const node_pool& p) {
      return testing::up_to_date_of(p.status) == "True/AllUpdated/";
    });
    auto node = co_await s.told_of("w1");
    EXPECT_EQ(node, (std::vector<std::string>{"Staging", "Staged", "Rebooting", "Idle"}));
    auto pool = co_await s.told_of("p");
    EXPECT_EQ(pool, (std::vector<std::string>{"RolloutStarted", "RolloutCompleted"}));
  });
}

TEST(EventBehaviour, T085_AnInvalidReferenceIsAWarning) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.pool("p", 'a');
    co_await s.until_pool("healthy", "p", healthy);
    co_await s.patch_pool_without_rules("p", R"({"spec":{"image":{"ref":"myos:latest"}}})");
    co_await s.until_pool("InvalidSpec", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/InvalidSpec/");
    });
    auto told = co_await s.told_of("p");
    EXPECT_EQ(told, std::vector<std::string>{"InvalidSpec"});
  });
}

TEST(EventBehaviour, T078_WhatCannotBeRememberedIsToldOnceAllTheSame) {
  play([](stage& s) -> awaitable<void> {
    auto* server = s.embedded();
    if (!server) co_return;
    co_await all_staged(s, 1, R"({"maxUnavailable":0})");
    server->before = [](const k8s::sim::request& r) {
      std::optional<k8s::sim::answer> out;
      if (r.method == "PATCH" && r.body.find("last-observed-state") != std::string::npos)
        out.emplace().status = 403;
      return out;
    };
    co_await s.report("w1", unit_state::rebooting, 'a', 'b');
    co_await s.loop().sleep_for(30s);
    auto b = co_await s.see("w1");
    EXPECT_TRUE(
        b &&
        !b->annotation(names::last_observed_state).value_or("").starts_with("False:Rebooting"));
    auto told = co_await s.told_of("w1");
    EXPECT_EQ(std::count(told.begin(), told.end(), "Rebooting"), 1);
    server->before = nullptr;
  });
}

std::string with_secret(stage& s, const std::string& name, const std::string& ns = "default") {
  return R"({"spec":{"pullSecretRef":{"name":")" + s.named(name) + R"(","namespace":")" + ns +
         R"("}}})";
}

TEST(SecretBehaviour, T051_T053_TheReferenceIsHandedOnAndTakenAway) {
  play([](stage& s) -> awaitable<void> {
    const std::string config = R"({"auths":{"quay.io":{"auth":"bWU6cHc="}}})";
    co_await s.pull_secret("pull", config);
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'b');
    std::string patch = with_secret(s, "pull");
    co_await s.patch_pool("p", std::move(patch));
    {
      const std::string name = s.named("pull");
      std::function<bool(const bootc_node&)> carries = [name, config](const bootc_node& n) {
        return n.spec.pull_secret == secret_ref{name, "default"} &&
               n.spec.pull_secret_hash == formats::digest_of(config);
      };
      co_await s.until("carries it", "w1", std::move(carries));
    }
    co_await s.pull_secret("pull", "{}");
    co_await s.until("another content", "w1", [](const bootc_node& n) {
      return n.spec.pull_secret_hash == formats::digest_of("{}");
    });
    co_await s.patch_pool("p", R"({"spec":{"pullSecretRef":null}})");
    co_await s.until("cleared", "w1", [](const bootc_node& n) {
      return !n.spec.pull_secret && n.spec.pull_secret_hash.empty();
    });
  });
}

TEST(SecretBehaviour, T052_AMissingSecretIsReportedAndNodesJoinAllTheSame) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'b');
    std::string patch = with_secret(s, "later");
    co_await s.patch_pool("p", std::move(patch));
    {
      const std::string message =
          "True/SecretError/pull secret default/" + s.named("later") + " does not exist";
      std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
        return degraded(p) == message;
      };
      co_await s.until_pool("SecretError", "p", std::move(holds));
    }
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.pull_secret("later", "{}");
    co_await s.until_pool("healthy", "p", healthy);
  });
}

TEST(SecretBehaviour, AtRestNobodyIsAskedWhetherASecretChanged) {
  play([](stage& s) -> awaitable<void> {
    auto* server = s.embedded();
    if (!server) co_return;
    co_await s.pull_secret("pull", R"({"auths":{}})");
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'b');
    std::string patch = with_secret(s, "pull");
    co_await s.patch_pool("p", std::move(patch));
    co_await s.until("carries it", "w1", [](const bootc_node& n) {
      return n.spec.pull_secret_hash == formats::digest_of(R"({"auths":{}})");
    });
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until_pool("done", "p", [](const node_pool& p) {
      return testing::up_to_date_of(p.status) == "True/AllUpdated/";
    });
    int asked = 0;
    server->before = [&asked](const k8s::sim::request& r) {
      if (r.path.ends_with("/secrets")) ++asked;
      return std::optional<k8s::sim::answer>();
    };
    co_await s.loop().sleep_for(10min);
    server->before = nullptr;
    EXPECT_LE(asked, 1) << "a stream that ends is opened again";
  });
}

TEST(SecretBehaviour, AnotherNamespaceIsInvalid) {
  play([](stage& s) -> awaitable<void> {
    s.start_controller();
    co_await s.pool("p", 'b');
    std::string patch = with_secret(s, "pull", "kube-system");
    co_await s.patch_pool("p", std::move(patch));
    co_await s.until_pool("InvalidSpec", "p", [](const node_pool& p) {
      return degraded(p) ==
             "True/InvalidSpec/invalid pullSecretRef: Secrets are read in namespace \"default\" "
             "only, not in \"kube-system\"";
    });
  });
}

/// A pool whose one node runs what the tag names, image a.
awaitable<void> run_by_tag(stage& s, tag_watcher& tags, std::string tag) {
  s.start_controller(nullptr, &tags);
  co_await s.node("w1", "p");
  co_await s.pool("p", 'a');
  std::string by_tag = R"({"spec":{"image":{"ref":")" + tag + R"("}}})";
  co_await s.patch_pool("p", std::move(by_tag));
  co_await s.until("on a", "w1",
                   [](const bootc_node& n) { return n.spec.desired_image == image_of('a'); });
  co_await s.report("w1", unit_state::up_to_date, 'a');
}

TEST(TagBehaviour, T110_ATagThatMovesIsRolledOut) {
  play([](stage& s) -> awaitable<void> {
    testing::scripted_tags source(s.loop());
    const std::string os = "quay.io/example/os:latest";
    source.now[os] = testing::digest_of('a');
    tag_watcher tags(s.loop(), source, {.interval = 2s});
    co_await run_by_tag(s, tags, os);
    {
      std::function<bool(const node_pool&)> resolved = [os](const node_pool& p) {
        return p.status.resolved_ref == os && !p.status.next_tag_resolution_time.empty();
      };
      co_await s.until_pool("resolved", "p", std::move(resolved));
    }
    source.now[os] = testing::digest_of('b');
    co_await s.until("on b", "w1",
                     [](const bootc_node& n) { return n.spec.desired_image == image_of('b'); });
    source.failure = registry::failed(registry::errc::unavailable, "connection refused");
    co_await s.until_pool("degraded", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/TagResolutionError/") &&
             p.status.target_digest == testing::digest_of('b');
    });
    source.failure.reset();
    co_await s.until_pool("healthy", "p", healthy);
    auto told = co_await s.told_of("p");
    EXPECT_EQ(std::count(told.begin(), told.end(), "ImageUpdateAvailable"), 1);
    EXPECT_EQ(std::count(told.begin(), told.end(), "TagResolutionError"), 1);
    co_await s.stop_controller();
    EXPECT_TRUE(tags.idle());
    co_await tags.stop();
  });
}

TEST(TagBehaviour, AnAnswerThatChangesNothingCostsOnePass) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    testing::scripted_tags source(s.loop());
    const std::string os = "quay.io/example/os:latest";
    source.now[os] = testing::digest_of('a');
    tag_watcher tags(s.loop(), source, {.interval = 1min});
    co_await run_by_tag(s, tags, os);
    co_await s.loop().sleep_for(2min);
    const auto questions = tags.questions();
    const auto before = s.controller()->revision();
    co_await s.loop().sleep_for(10min);
    const auto asked = tags.questions() - questions;
    EXPECT_GE(asked, 9u);
    // The pass that writes the time of the next question, and its event.
    EXPECT_LE(*s.controller()->revision() - *before, 2 * asked + 1);
    co_await s.stop_controller();
    co_await tags.stop();
  });
}

/// What a predecessor's last request does, whenever it lands.
awaitable<void> take_slot(stage& s, std::string node) {
  json::object patch =
      json::parse(
          R"({"metadata":{"annotations":{"bootc.dev/in-reboot-slot":"","bootc.dev/was-cordoned":"false"}}})")
          .as_object();
  k8s::object_key key{"", s.named(node)};
  auto done = co_await s.api().merge_patch(bootc_nodes(), std::move(key), std::move(patch));
  EXPECT_TRUE(done);
}

TEST(RolloutBehaviour, ASlotThatTheViewDoesNotShowYetIsNotTakenASecondTime) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, R"({"maxUnavailable":0})");
    co_await s.stop_controller();
    co_await s.patch_pool("p", R"({"spec":{"rollout":{"maxUnavailable":1}}})");
    if (auto* server = s.embedded()) {
      // It lands after everything has been listed, and before the event of it is delivered.
      auto landed = std::make_shared<bool>(false);
      server->before = [&s, server, landed](const k8s::sim::request& r) {
        const bool asks =
            r.fields.get("accept").find("PartialObjectMetadata") != std::string_view::npos;
        if (asks && !std::exchange(*landed, true))
          server->edit("node.bootc.dev", "bootcnodes", "", s.named("w2"), [](json::object& o) {
            json::object& annotations = o["metadata"].as_object()["annotations"].emplace_object();
            annotations[names::in_reboot_slot] = "";
            annotations[names::was_cordoned] = "false";
          });
        return std::optional<k8s::sim::answer>();
      };
    } else {
      co_await take_slot(s, "w2");
    }
    s.start_controller();
    co_await s.until("approved", "w2", approved);
    auto other = co_await s.see("w1");
    EXPECT_TRUE(other && !other->in_slot());
  });
}

TEST(RolloutBehaviour, ASlotThatCouldNotBeGivenBackIsNotTakenByAnother) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, "{}");
    co_await s.until("in a slot", "w1", holds_slot);
    if (auto* server = s.embedded()) {
      auto refusals = std::make_shared<int>(2);
      server->before = [&s, server, refusals](const k8s::sim::request& r) {
        std::optional<k8s::sim::answer> out;
        const bool of_w1 = r.path.ends_with("bootcnodes/" + s.named("w1"));
        if (r.method == "DELETE" && of_w1 && (*refusals)-- > 0) out.emplace().status = 500;
        if (r.method == "PATCH" && r.path.ends_with("bootcnodes/" + s.named("w2"))) {
          EXPECT_FALSE(server->get("node.bootc.dev", "bootcnodes", "", s.named("w1")))
              << "w1 still holds its slot: " << r.body;
        }
        return out;
      };
    }
    co_await s.label("w1", "pool", std::nullopt);
    co_await s.until_gone("w1");
    co_await s.until("in a slot", "w2", holds_slot);
  });
}

TEST(RolloutBehaviour, NothingIsWrittenWhileNothingChanges) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, "{}");
    co_await s.until("approved", "w1", approved);
    co_await s.loop().sleep_for(5s);
    auto before = co_await s.see_pool("p");
    auto node_before = co_await s.see("w1");
    co_await s.loop().sleep_for(stage::live() ? reactor::nanoseconds(3s)
                                              : reactor::nanoseconds(500s));  // not stuck yet
    auto after = co_await s.see_pool("p");
    auto node_after = co_await s.see("w1");
    EXPECT_TRUE(before && after && before->meta.resource_version == after->meta.resource_version);
    EXPECT_TRUE(node_before && node_after &&
                node_before->meta.resource_version == node_after->meta.resource_version);
  });
}

TEST(RolloutBehaviour, ALargePoolTakesManyNewsInAtOnceAndItsOwnChangeAtOnce) {
  play([](stage& s) -> awaitable<void> {
    auto* server = s.embedded();
    if (!server) co_return;
    constexpr int nodes = 40;
    co_await all_staged(s, nodes, R"({"maxUnavailable":0})");
    co_await s.loop().sleep_for(5s);
    std::size_t writes = 0;
    server->before = [&writes](const k8s::sim::request& r) {
      if (r.method == "PATCH" && r.path.ends_with("/status") &&
          r.path.find("bootcnodepools") != std::string::npos)
        ++writes;
      return std::optional<k8s::sim::answer>();
    };
    for (int i = 1; i <= nodes; ++i) {
      std::string name = "w" + std::to_string(i);
      co_await s.report(std::move(name), unit_state::up_to_date, 'b');
      co_await s.loop().sleep_for(50ms);
    }
    co_await s.loop().sleep_for(2s);
    EXPECT_GE(writes, 1u);
    EXPECT_LE(writes, 6u) << "two seconds of news, and passes 800 ms apart";
    auto all = co_await s.see_pool("p");
    EXPECT_TRUE(all && all->status.updated_count == nodes);
    co_await s.report("w1", unit_state::staged, 'a', 'b');  // a pass begins
    co_await s.loop().sleep_for(20ms);
    const std::string another = image_of('c');
    std::string moved = R"({"spec":{"image":{"ref":")" + another + R"("}}})";
    co_await s.patch_pool("p", std::move(moved));
    co_await s.loop().sleep_for(100ms);
    auto asked = co_await s.see("w1");
    EXPECT_TRUE(asked && asked->spec.desired_image == another)
        << "a person's wish waits for nothing";
  });
}

/// Starts one node and gives a reason for the others; or fails.
class fixed_policy final : public rollout_policy {
public:
  std::string first;
  bool fails = false;
  awaitable<policy_answer> ask(policy_question question) override {
    policy_answer out;
    out.is = fails ? policy_answer::kind::failed : policy_answer::kind::given;
    out.detail = "policy.lua:1: boom";
    for (const unit& u : question.units) {
      if (u.state != unit_state::staged || u.slotted) continue;
      if (u.name == first)
        out.start.push_back(u.name);
      else
        out.holds.emplace(u.name, policy_hold{{}, "not its turn"});
    }
    co_return out;
  }
};

TEST(PolicyBehaviour, ThePolicyChoosesAndAFailingOneStartsNobodyNew) {
  play([](stage& s) -> awaitable<void> {
    fixed_policy policy;
    policy.first = s.named("w2");
    s.start_controller(&policy);
    for (const char* name : {"w1", "w2", "w3"}) co_await s.node(name, "p");
    co_await s.pool("p", 'b', R"({"maxUnavailable":2})");
    for (const char* name : {"w1", "w2", "w3"}) {
      co_await s.until("there", name, [](const bootc_node&) { return true; });
      co_await s.report(name, unit_state::staged, 'a', 'b');
    }
    co_await s.until("approved", "w2", approved);
    std::string pool = s.named("p");
    auto plan = co_await s.controller()->preview(std::move(pool));
    EXPECT_TRUE(plan.has_value());
    std::string reasons;
    if (plan)
      for (const hold& h : plan->holds) reasons += std::string(h.code) + " ";
    EXPECT_EQ(reasons, "policy rebooting policy ");
    policy.fails = true;
    s.controller()->reconsider();
    co_await s.loop().sleep_for(2s);
    for (const char* name : {"w1", "w3"}) {
      auto b = co_await s.see(name);
      EXPECT_TRUE(b && !b->in_slot()) << name;
    }
    policy.fails = false;
    policy.first = s.named("w3");
    s.controller()->reconsider();
    co_await s.until("approved", "w3", approved);
    co_await s.stop_controller();
  });
}

TEST(PolicyBehaviour, WhatAPolicyHoldsIsPublishedOnceAndNotAgainWhereItsKindIsOlder) {
  for (const bool is_older : {false, true})
    play([is_older](stage& s) -> awaitable<void> {
      auto* server = s.embedded();
      if (!server) co_return;
      if (is_older)
        server->edit("apiextensions.k8s.io", "customresourcedefinitions", "",
                     "bootcnodepools.node.bootc.dev", [](json::object& crd) {
                       json::value& schema =
                           crd["spec"].at("versions").at(0).at("schema").at("openAPIV3Schema");
                       schema.at("properties")
                           .at("status")
                           .at("properties")
                           .as_object()
                           .erase("policyHolds");
                     });
      fixed_policy policy;
      s.start_controller(&policy);
      co_await s.node("w1", "p");
      co_await s.pool("p", 'b');
      co_await s.until("there", "w1", [](const bootc_node&) { return true; });
      co_await s.report("w1", unit_state::staged, 'a', 'b');
      co_await s.until_pool("held", "p",
                            [](const node_pool& p) { return p.status.held.contains("policy"); });
      auto pool = co_await s.see_pool("p");
      EXPECT_EQ(pool && pool->status.policy_waits.size() == 1, !is_older);
      std::size_t patches = 0;
      server->access().authorize = [&](const std::string&, const k8s::sim::request& r) {
        patches += r.method == "PATCH";
        return true;
      };
      co_await s.loop().sleep_for(5min);
      EXPECT_LE(patches, 1u);
      server->access().authorize = {};
      co_await s.stop_controller();
    });
}

class slow_policy final : public rollout_policy {
public:
  explicit slow_policy(reactor::loop& l) : loop_(l) {}
  awaitable<policy_answer> ask(policy_question) override {
    co_await loop_.sleep_for(5s);
    policy_answer nobody;
    nobody.is = policy_answer::kind::given;
    co_return nobody;
  }

private:
  reactor::loop& loop_;
};

// Who shows a fleet all the time looks at a cluster in the moment in which it leaves, too.
TEST(OverviewBehaviour, StoppingWaitsForTheOverviewThatIsUnderWay) {
  play([](stage& s) -> awaitable<void> {
    slow_policy policy(s.loop());
    s.start_controller(&policy);
    co_await s.node("w1", "p");
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.loop().sleep_for(1s);
    bool looked = false;
    reactor::task_group looking(s.loop());
    looking.start("look", [&]() -> awaitable<void> {
      const auto rows = co_await s.controller()->overview();
      EXPECT_EQ(rows.size(), 1u);
      looked = true;
    });
    co_await s.loop().sleep_for(100ms);
    EXPECT_FALSE(looked) << "or there was nothing to wait for";
    co_await s.stop_controller();
    EXPECT_TRUE(looked);
    co_await looking.join();
  });
}

TEST(DeletionBehaviour, ADeletedPoolCleansItsNodesAndThenGoes) {
  play([](stage& s) -> awaitable<void> {
    co_await all_staged(s, 2, "{}");
    co_await s.until("approved", "w1", approved);
    co_await s.remove_pool("p");
    co_await s.until_gone("w2");
    co_await s.loop().sleep_for(2s);
    auto waiting = co_await s.see("w1");
    EXPECT_TRUE(waiting) << "it was told to reboot and is not back";
    co_await s.report("w1", unit_state::up_to_date, 'b');
    co_await s.until_gone("w1");
    for (const char* name : {"w1", "w2"})
      co_await s.until_node("as it was", name, [](const k8s::node& n) {
        return !n.unschedulable && !n.meta.labels.has(names::managed);
      });
    for (int i = 0; i < 200; ++i) {
      auto p = co_await s.see_pool("p");
      if (!p) co_return;
      co_await s.loop().sleep_for(50ms);
    }
    ADD_FAILURE() << "the pool is still there";
  });
}

}  // namespace
}  // namespace bootc::behaviour
