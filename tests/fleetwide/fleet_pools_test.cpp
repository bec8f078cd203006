// FleetPools on a fleet, in virtual time: embedded clusters with nodes, daemons and the API that
// moves them, a home, and what was said there once.
#include "k8s/client/client.hpp"
#include "reactor/http/date.hpp"
#include "tests/fleetwide/fleet_pools_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

namespace fleetwide::testing {
namespace {

TEST_F(FleetPoolsOnClusters, WavesFollowOneAnotherAndASettledFleetCostsNoWrites) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    EXPECT_EQ(note_of("c3", fleetwide::names::object), "FleetPool/default/workers");
    moved();
    ask_for(new_image);
    const auto before = co_await plan();
    EXPECT_EQ(before.size(), 1u);
    EXPECT_EQ(before.front().start, (std::vector<std::string>{"c0", "c1"}));
    EXPECT_EQ(holds_in(before), "c2:earlier-wave c3:earlier-wave c4:earlier-wave c5:earlier-wave");
    EXPECT_EQ(moved(), "") << "who looks writes nothing";
    co_await serve(40min);
    EXPECT_EQ(moved(), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(world_->hosts_on(new_image), world_->node_count());
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    EXPECT_EQ(said("Progressing"), "False Complete ");
    EXPECT_EQ(status().at("history").at(1).at("outcome"), "Complete");
    EXPECT_EQ(status().at("provenDigest"), status().at("digest"));
    const std::uint64_t written = world_->writes();
    co_await serve(20min);
    EXPECT_EQ(moved(), "");
    std::printf("## 6 clusters in 3 waves; %llu writes in a settled time\n",
                static_cast<unsigned long long>(world_->writes() - written));
  });
}

TEST_F(FleetPoolsOnClusters, AFailedCanaryHaltsTheRestUntilAnotherRevisionIsAskedFor) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    for (std::size_t node : {0u, 1u}) world_->refuse(0, node, new_image);
    ask_for(new_image);
    co_await serve(60min);
    EXPECT_EQ(moved(), "c0 c1");
    EXPECT_EQ(said("Halted").substr(0, 50), "True TooManyFailed 1 cluster failed (c0), 0 may");
    EXPECT_EQ(status().at("history").at(1).at("outcome"), "Halted");
    const std::string holds = holds_in(co_await plan());
    EXPECT_EQ(holds,
              "c0:cluster-failed c2:rollout-halted c3:rollout-halted c4:rollout-halted "
              "c5:rollout-halted");
    ask_for(old_image);
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 3");
    EXPECT_EQ(said("Halted"), "False Healthy ");
  });
}

TEST_F(FleetPoolsOnClusters, AFailedRevisionIsTakenBackWhereThatIsAskedFor) {
  home().put(fleet_pool(old_image, rings_and_back));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    world_->die_of(0, 0, new_image);
    ask_for(new_image);
    co_await serve(90min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Halted").substr(0, 13), "True Returned");
    EXPECT_EQ(status().at("history").at(1).at("outcome"), "Returned");
    moved();
    EXPECT_TRUE(world_->survive(0, 0, new_image));
    annotate("fleet.windlass.dev/retry", "once more");
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(new_image), "c0 c1 c2 c3 c4 c5")
        << said("Halted") << "; " << holds_in(co_await plan());
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady");
  });
}

TEST_F(FleetPoolsOnClusters, AClusterThatComesGetsTheProvenRevisionAndOneThatLeavesKeepsItsPool) {
  json::object p = fleet_pool(old_image, rings);
  p["spec"].as_object()["clusters"] =
      json::parse(R"({"selector":{"matchExpressions":[{"key":"out","operator":"DoesNotExist"}]}})");
  home().put(std::move(p));
  run([&]() -> awaitable<void> {
    label("c5", "out", "yes");
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4");
    edit_spec([](json::object& spec) { spec["paused"] = true; });
    ask_for(new_image);
    label("c5", "out", "");
    co_await serve(5min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4") << "not in a pause";
    edit_spec([](json::object& spec) {
      spec["paused"] = false;
      spec["rollout"].as_object()["maxClusters"] = 0;
    });
    co_await serve(5min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    label("c4", "out", "yes");
    co_await serve(5min);
    EXPECT_EQ(ref_of("c4"), old_image);
    EXPECT_EQ(note_of("c4", fleetwide::names::object), "") << "it is nobody's now";
    EXPECT_NE(note_of("c3", fleetwide::names::object), "");
  });
}

TEST_F(FleetPoolsOnClusters, WithDeleteAPoolGoesWithItsClusterAndWithTheObject) {
  json::object p = fleet_pool(old_image, rings, R"(,"removal":"Delete")");
  home().put(std::move(p));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    edit_spec([](json::object& spec) {
      spec["clusters"] = json::parse(R"({"names":["c0","c1","c2"]})");
    });
    co_await serve(20min);
    EXPECT_EQ(who_asks_for("none"), "c3 c4 c5");
    k8s::client remover(loop_, world_->home());
    k8s::object_key key{"default", "workers"};
    auto gone = co_await remover.remove(fleetwide::fleet_pools(), std::move(key));
    EXPECT_TRUE(gone);
    co_await remover.stop();
    EXPECT_TRUE(home().get("fleet.windlass.dev", "fleetpools", "default", "workers"));
    co_await serve(20min);
    EXPECT_FALSE(home().get("fleet.windlass.dev", "fleetpools", "default", "workers"));
    EXPECT_EQ(who_asks_for("none"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetPoolsOnClusters, WhatIsThereAlreadyIsHeldUntilItIsAdopted) {
  api("c2").put(pool_before_["c2"]);
  home().put(fleet_pool(old_image, R"({"maxClusters":10})"));
  edit_spec([&](json::object& spec) { spec["image"].as_object()["ref"] = middle_image; });
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(middle_image), "c0 c1 c3 c4 c5");
    EXPECT_EQ(ref_of("c2"), old_image);
    EXPECT_EQ(holds_in(co_await plan()), "c2:managed-by-other");
    EXPECT_EQ(said("Degraded"), "True ClustersHeld managed-by-other: c2");
    annotate("fleet.windlass.dev/adopt", "c2");
    co_await serve(20min);
    EXPECT_EQ(ref_of("c2"), middle_image);
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady");
  });
}

TEST_F(FleetPoolsOnClusters, AFieldThatAnotherManagerTakesIsNotFoughtOver) {
  home().put(fleet_pool(old_image, R"({"maxClusters":10})"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    const auto taken = api("c1").handle(k8s::sim::make_request(
        "PATCH",
        "/apis/node.bootc.dev/v1alpha1/bootcnodepools/workers?fieldManager=flux&force=true",
        R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNodePool","spec":{"image":{"ref":")" +
            middle_image + R"("}}})",
        "application/apply-patch+yaml"));
    EXPECT_EQ(taken.status, 200) << taken.body;
    ask_for(new_image);
    co_await serve(40min);
    EXPECT_EQ(ref_of("c1"), middle_image);
    EXPECT_EQ(who_asks_for(new_image), "c0 c2 c3 c4 c5");
    const auto rows = co_await plan();
    EXPECT_EQ(holds_in(rows), "c1:managed-by-other");
    EXPECT_NE(rows.front().holds.front().sentence.find(middle_image), std::string::npos)
        << rows.front().holds.front().sentence;
  });
}

TEST_F(FleetPoolsOnClusters, AnotherNamespaceReachesWhatAGrantGivesIt) {
  home().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team-a"}}}});
  home().put(fleet_pool(old_image, R"({"maxClusters":10})", "", "team-a"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(old_image), "");
    EXPECT_EQ(said("Degraded", "workers", "team-a"),
              "True ClustersHeld not-granted: c0, c1, c2, c3, c4, c5");
    json::object grant =
        json::parse(
            R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetGrant","metadata":{"name":"a","namespace":"team-a"},)"
            R"("spec":{"namespaces":["team-a"],"kinds":["FleetPool"],"clusters":{"selector":{}}}})")
            .as_object();
    home().put(grant);
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(old_image), "") << "nobody grants himself anything";
    grant["metadata"].as_object()["namespace"] = "default";
    grant["spec"].as_object()["clusters"] =
        json::parse(R"({"selector":{"matchLabels":{"ring":"early"}}})");
    home().put(grant);
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(old_image), "c2 c3");
  });
}

TEST_F(FleetPoolsOnClusters, OfTwoThatClaimOnePoolTheOlderHasIt) {
  home().put(fleet_pool(old_image, R"({"maxClusters":10})"));
  run([&]() -> awaitable<void> {
    co_await loop_.sleep_for(5s);
    home().put(fleet_pool(middle_image, R"({"maxClusters":10})", "", "default", "younger"));
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(status("younger").at("held").at("managed-by-other"), 6);
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady");
  });
}

TEST_F(FleetPoolsOnClusters, TheBrakeKeepsEveryClusterFromItUntilItIsOff) {
  home().put(fleet_pool(old_image, R"({"maxClusters":10})"));
  brake_.set(units::read_brake({{"state", "on"}, {"only", "fleetpools"}}, {"fleetpools"}));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(moved(), "");
    EXPECT_EQ(holds_in(co_await plan()),
              "c0:braked c1:braked c2:braked c3:braked c4:braked c5:braked");
    brake_.set(units::brake_order());
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetPoolsOnClusters, AServiceThatEndsInTheMiddleIsGoneOnFromByTheNext) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    ask_for(new_image);
    for (int i = 0; i < 40; ++i) co_await serve(std::chrono::seconds(20 + 7 * (i % 5)));
    co_await serve(30min);
    const std::string order = moved();
    EXPECT_EQ(order.size(), 17u) << order << ": each once";
    for (const auto& [earlier, later] : {std::pair("c1", "c2"), std::pair("c3", "c4")})
      for (const char* one : {"c0", "c1", "c2", "c3"})
        if (std::string_view(one) <= earlier) {
          EXPECT_LT(order.find(one), order.find(later)) << order;
        }
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
  });
}

TEST_F(FleetPoolsOnClusters, AnObjectThatIsDeletedWaitsTenMinutesForAClusterThatIsDown) {
  // By home's clock, which is an hour behind the service's.
  home().after = [this](const k8s::sim::request&, k8s::sim::answer& a) {
    a.fields.emplace_back("Date", reactor::http::format_date(loop_.wall() - 1h));
  };
  home().put(fleet_pool(old_image, R"({"maxClusters":10})", R"(,"removal":"Delete")"));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(20min);
    api("c5").before = [](const k8s::sim::request&) {
      k8s::sim::answer down;
      down.status = 503;
      return std::optional(down);
    };
    co_await loop_.sleep_for(5min);
    k8s::client remover(loop_, world_->home());
    k8s::object_key key{"default", "workers"};
    auto gone = co_await remover.remove(fleetwide::fleet_pools(), std::move(key));
    EXPECT_TRUE(gone);
    home().edit("fleet.windlass.dev", "fleetpools", "default", "workers", [this](json::object& o) {
      o["metadata"].as_object()["deletionTimestamp"] = reactor::format_rfc3339(loop_.wall() - 1h);
    });
    co_await remover.stop();
    co_await loop_.sleep_for(8min);
    EXPECT_EQ(who_asks_for("none"), "c0 c1 c2 c3 c4");
    EXPECT_TRUE(home().get("fleet.windlass.dev", "fleetpools", "default", "workers"));
    co_await loop_.sleep_for(5min);
    EXPECT_FALSE(home().get("fleet.windlass.dev", "fleetpools", "default", "workers"));
    EXPECT_EQ(ref_of("c5"), old_image);
    co_await w->stop();
  });
}

TEST_F(FleetPoolsOnClusters, ATagThatMovesIsARevisionOrWaitsForApproval) {
  const std::string tag = "registry.demo.local/os/node:stable";
  tags_.now[tag] = digest_of(old_image);
  home().put(fleet_pool(tag, rings));
  edit_spec([&](json::object& spec) { spec["image"].as_object()["updates"] = "Manual"; });
  run([&]() -> awaitable<void> {
    co_await serve(30min);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    tags_.now[tag] = digest_of(new_image);
    co_await serve(30min);
    EXPECT_EQ(world_->hosts_on(old_image), world_->node_count());
    EXPECT_EQ(status().at("availableDigest").as_string(), digest_of(new_image));
    annotate("fleet.windlass.dev/approve-digest", digest_of(new_image));
    co_await serve(60min);
    EXPECT_EQ(world_->hosts_on(new_image), world_->node_count());
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    edit_spec([&](json::object& spec) { spec["image"].as_object()["updates"] = "Auto"; });
    tags_.now[tag] = digest_of(middle_image);
    co_await serve(60min);
    EXPECT_EQ(world_->hosts_on(middle_image), world_->node_count());
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 3");
  });
}

TEST_F(FleetPoolsOnClusters, APolicyHoldsClustersAndOneThatFailsHoldsAllThatWouldBegin) {
  reactor::temporary_folder folder;
  policies_ = folder.path();
  const auto says = [&](const std::string& body) {
    folder.write("p/policy.lua",
                 "local function revision(object, clusters, now)\n" + body +
                     "\nend\nreturn { name = 'p', version = '1', api = 2, fleet = { revision = "
                     "revision } }\n");
  };
  says(
      "return { holds = { c1 = { code = 'NotToday', reason = 'c1 has a party' } }, look_again = 60 "
      "}");
  home().put(fleet_pool(old_image, R"({"maxClusters":2})"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c2 c3 c4 c5");
    const auto rows = co_await plan();
    EXPECT_EQ(holds_in(rows), "c1:policy:NotToday");
    EXPECT_EQ(rows.front().holds.front().by, "p 1");
    EXPECT_FALSE(rows.front().holds.front().asked_again.empty());
    says("error('oops')");
    ask_for(new_image);
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(new_image), "");
    EXPECT_EQ(status().at("held").at("policy-fault"), 6);
    says("return {}");
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(new_image), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetPoolsOnClusters, AClusterThatRefusesTheWriteIsHeldAndTheOthersGoOn) {
  home().put(fleet_pool(old_image, R"({"maxClusters":10})"));
  bool refuses = true;
  api("c3").before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (!refuses || r.method != "PATCH" || r.path.find("bootcnodepools") == std::string::npos)
      return std::nullopt;
    k8s::sim::answer no;
    no.status = 403;
    no.body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no patch for you"})";
    return no;
  };
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c4 c5");
    EXPECT_EQ(said("Degraded"), "True ClustersHeld cluster-refused: c3");
    refuses = false;
    co_await serve(10min);
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady");
  });
}

TEST_F(FleetPoolsOnClusters, WhatCannotBeProcessedIsSaidAndTouchesNothing) {
  json::object p = fleet_pool(old_image, R"({"maxClusters":10})");
  home().put(std::move(p));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    moved();
    edit_spec([&](json::object& spec) {
      spec["rollout"].as_object()["soak"] = "soon";
      spec["image"].as_object()["ref"] = new_image;
    });
    co_await serve(10min);
    EXPECT_EQ(moved(), "");
    EXPECT_EQ(said("Ready"),
              "False InvalidSpec spec.rollout.soak \"soon\" is no duration like \"10m\"");
    edit_spec([&](json::object& spec) {
      spec["rollout"].as_object()["soak"] = "0s";
      spec["clusters"] = json::parse(R"({"names":["nobody"]})");
      spec["removal"] = "Orphan";
    });
    co_await serve(10min);
    EXPECT_EQ(said("Ready").substr(0, 16), "False NoClusters");
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
  });
}

/// Fleets at random, a hundred of them: what a file is planned to do is what then happens.
class SeededFleetPools : public FleetPoolsOnClusters, public ::testing::WithParamInterface<int> {
protected:
  SeededFleetPools() : FleetPoolsOnClusters(rings_of(GetParam()), 1) {}
  static std::vector<std::string> rings_of(int seed) {
    std::mt19937 r(static_cast<unsigned>(seed));
    std::vector<std::string> rings(2 + r() % 4);
    for (std::string& ring : rings) ring = std::array{"canary", "early", ""}[r() % 3];
    return rings;
  }
};

TEST_P(SeededFleetPools, WhatAFileIsPlannedToDoIsWhatThenHappens) {
  std::mt19937 r(static_cast<unsigned>(GetParam()) + 1'000);
  const std::string first = r() % 2 ? rings : R"({"maxClusters":5})";
  home().put(fleet_pool(old_image, first));
  run([&]() -> awaitable<void> {
    co_await serve(r() % 3 == 0 ? 40s : 20min);
    if (r() % 4 == 0) api("c0").erase("node.bootc.dev", "bootcnodepools", "", "workers");
    const std::string rollout =
        r() % 3 == 0 ? std::string(rings)
                     : R"({"waves":{"label":"ring","values":["early","canary"]},"maxClusters":)" +
                           std::to_string(r() % 4) + "}";
    const std::string more = r() % 4 == 0   ? R"(,"paused":true)"
                             : r() % 4 == 0 ? R"(,"removal":"Delete")"
                                            : "";
    json::object next = fleet_pool(r() % 2 ? new_image : middle_image, rollout, more);
    if (r() % 3 == 0)
      next["spec"].as_object()["clusters"] = json::parse(R"({"names":["c0","c1"]})");
    moved();
    std::vector<json::object> file{next};
    const auto rows = co_await plan(std::move(file));
    EXPECT_EQ(moved(), "");
    std::set<std::string> said, did;
    for (const units::planned_action& a : rows.front().actions)
      if (a.action.starts_with("write")) said.insert(a.unit);
    edit_spec([&](json::object& spec) { spec = next["spec"].as_object(); });
    auto acting = service(units::mode::act);
    co_await acting->start();
    co_await loop_.sleep_for(1s);
    for (const auto& [cluster, ref] : moves_) did.insert(cluster);
    co_await acting->stop();
    EXPECT_EQ(did, said) << json::serialize(next);
  });
}

INSTANTIATE_TEST_SUITE_P(Fleets, SeededFleetPools, ::testing::Range(0, 100));

}  // namespace
}  // namespace fleetwide::testing
