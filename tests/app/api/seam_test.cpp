// A toy API is plugged in by one line, `options.apis.push_back(toys::api(n))`; everything that
// people and machines see of an API is then there, and no file of cli/ has changed for it.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/metrics/own_metrics.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/app/api/toy.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

/// Two clusters of three nodes and home. cluster-001 and home serve toys, cluster-002 does not.
class Seam : public testing::Test {
protected:
  Seam() {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 3;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    for (k8s::sim::api_server* api : {&world_->clusters()[0]->api(), &world_->home_api()}) {
      api->put(toys::crd());
      api->put(toys::toy("bear", true));
      api->put(toys::toy("duck", false));
    }
    for (const char* ns : {"kube-system", "toys", "bootc-operator"})
      world_->home_api().put(
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
    options_.health_at = reactor::endpoint{"windlass", 8081};
    options_.metrics_at = reactor::endpoint{"windlass", 8080};
    options_.apis.push_back(toys::api(nursery_));
  }
  ~Seam() override { EXPECT_EQ(loop_.live(), reactor::live_counts()); }

  void go(std::function<awaitable<void>(cli::service& windlass)> drive) {
    reactor::task_group tasks(loop_);
    tasks.start("test", run(std::move(drive)));
    loop_.run();
    world_.reset();
  }
  awaitable<std::string> get(std::uint16_t port, std::string path) {
    reactor::http::client_options o;
    o.origin = {false, "windlass", port};
    reactor::http::client caller(loop_, std::move(o));
    reactor::http::request r;
    r.target = std::move(path);
    auto got = co_await caller.fetch(std::move(r), 1 << 20);
    co_await caller.stop();
    co_return got ? got->body : got.error().message();
  }
  static std::vector<std::string> names_of(const std::vector<units::api>& all) {
    std::vector<std::string> names;
    for (const units::api& a : all) names.push_back(a.name);
    return names;
  }
  void choose(const std::set<std::string>& names) {
    std::erase_if(options_.apis, [&](const units::api& a) { return !names.contains(a.name); });
  }
  /// "CRDMissing"; empty when the API is not on that cluster.
  static std::string state(cli::service& windlass, const char* cluster, const char* api) {
    const k8s::cluster* c = windlass.fleet().find(cluster);
    const k8s::engagement* e = c ? c->find(api) : nullptr;
    return e ? std::string(k8s::name_of(e->state())) : std::string();
  }
  /// Somebody else writes himself into the Lease.
  void steal(const char* ns, const char* lease) {
    const bool there = world_->home_api().edit(
        "coordination.k8s.io", "leases", ns, lease,
        [](json::object& o) { o["spec"].as_object()["holderIdentity"] = "somebody else"; });
    EXPECT_TRUE(there) << ns << "/" << lease;
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 5};
  std::unique_ptr<simulation::node_world> world_;
  toys::nursery nursery_;
  cli::service_options options_ = cli::with_all_apis();
  std::shared_ptr<reactor::log_capture> lines_ = std::make_shared<reactor::log_capture>();

private:
  awaitable<void> run(std::function<awaitable<void>(cli::service& windlass)> drive) {
    (void)world_->start();
    options_.home = world_->home();
    cli::service windlass(loop_, std::move(options_),
                          reactor::logger([this] { return loop_.wall(); }, lines_));
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value());
    co_await loop_.sleep_for(20s);
    co_await drive(windlass);
    co_await windlass.stop();
    EXPECT_EQ(nursery_.on.size(), 0u) << "a part was left behind";
    co_await world_->stop();
  }
};

TEST_F(Seam, ItsUnitsAndHoldsAreInStatusPlanAndExplain) {
  go([this](cli::service& windlass) -> awaitable<void> {
    const cli::fleet_overview f = co_await cli::look_at(windlass, loop_, {}, loop_.now() + 5s);
    const json::object status = cli::status_json(f);
    EXPECT_EQ(status.at("nodes"), 6);
    EXPECT_EQ(status.at("toys"), 4) << "those of home, too";
    const json::object& first = status.at("clusters").as_array().at(0).as_object();
    EXPECT_EQ(first.at("apis").at("toys").at("state"), "Live");
    EXPECT_EQ(first.at("pools").as_array().size(), 1u);
    const json::object& shelf = first.at("shelves").as_array().at(0).as_object();
    EXPECT_EQ(shelf.at("toys"), 2);
    EXPECT_EQ(shelf.at("units").as_array().at(0).at("turns"), 9);
    EXPECT_EQ(shelf.at("holds").as_array().at(0).at("code"), "no-key");
    EXPECT_EQ(cli::plan_json(f).at("clusters").at(0).at("shelves").at(0).at("start").at(0), "duck");
    const std::string text = cli::status_text(f, cli::extent::wide, cli::colours::none).text();
    for (const char* said : {"SHELF", "TOYS", "nobody has the key", "CRDMissing", "buy some"})
      EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    EXPECT_NE(
        cli::plan_text(f, cli::extent::wide, cli::colours::none).text().find("goes first: duck"),
        std::string::npos);
    const std::string why = cli::explain_text(f, "cluster-001/duck", cli::colours::none).text();
    EXPECT_NE(why.find("cluster-001/duck in shelf shelf: Slack"), std::string::npos) << why;
    EXPECT_NE(why.find("turns:    0"), std::string::npos) << why;
    EXPECT_EQ(cli::explain_json(f, "cluster-001/duck").at(0).at("shelf"), "shelf");
  });
}

TEST_F(Seam, HomeAloneInItsFleetIsOneCluster) {
  options_.discover = false;
  go([this](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(windlass.clusters().size(), 2u) << "as a member, and as home";
    const cli::fleet_overview f = co_await cli::look_at(windlass, loop_, {}, loop_.now() + 5s);
    const json::object status = cli::status_json(f);
    EXPECT_EQ(status.at("clusters").as_array().size(), 1u);
    EXPECT_EQ(status.at("toys"), 2);
  });
}

TEST_F(Seam, ItsPartOfClustersAndItsMetricsAreServed) {
  go([this](cli::service&) -> awaitable<void> {
    const std::string clusters = co_await get(8081, "/clusters");
    const json::value all = json::parse(clusters);
    EXPECT_EQ(all.at(0).at("toys"), 2) << clusters;
    EXPECT_EQ(all.at(0).at("apis").at("toys").at("state"), "Live") << clusters;
    EXPECT_EQ(all.at(1).at("apis").at("toys").at("state"), "CRDMissing") << clusters;
    EXPECT_FALSE(all.at(1).as_object().contains("toys")) << clusters;
    EXPECT_EQ(all.at(2).at("home"), true) << clusters;
    EXPECT_EQ(all.at(2).at("toys"), 2) << clusters;
    const std::string metrics = co_await get(8080, "/metrics");
    for (const char* line :
         {"toys_wound{cluster=\"cluster-001\"} 1",
          "windlass_api_state{api=\"toys\",cluster=\"cluster-001\",state=\"Live\"} 1",
          "windlass_api_state{api=\"toys\",cluster=\"cluster-002\",state=\"CRDMissing\"} 1"})
      EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
  });
}

TEST_F(Seam, EveryMetricThatIsServedIsInTheTable) {
  go([this](cli::service& windlass) -> awaitable<void> {
    world_->roll_out();
    co_await loop_.sleep_for(300s);
    std::map<std::string, reactor::metric_kind> known;
    for (const auto& k : cli::metric_tables(windlass.apis())) {
      EXPECT_TRUE(known.emplace(k.name, k).second) << k.name << " is there twice";
      EXPECT_TRUE(k.help.ends_with(".")) << k.name;
      EXPECT_EQ(k.type == reactor::metric_type::counter, k.name.ends_with("_total")) << k.name;
    }
    const std::string metrics = co_await get(8080, "/metrics");
    std::istringstream lines(metrics);
    std::set<std::string> seen;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("# TYPE ")) continue;
      std::istringstream words(line.substr(7));
      std::string name, type;
      words >> name >> type;
      seen.insert(name);
      EXPECT_TRUE(known.contains(name)) << name;
      const auto k = known.find(name);
      EXPECT_EQ(type, k == known.end() ? "" : name_of(k->second.type)) << name;
    }
    for (const char* name :
         {"windlass_units", "windlass_rollouts_completed_total", "windlass_drains_total",
          "windlass_reboots_completed_total", "windlass_build_info", "windlass_policy_pack_info",
          "windlass_loop_busy_seconds_total", "process_resident_memory_bytes"})
      EXPECT_TRUE(seen.contains(name)) << name;
    for (const char* line :
         {"windlass_units{api=\"bootc\",cluster=\"cluster-001\",pool=\"workers\",state="
          "\"UpToDate\"} 3",
          "windlass_rollouts_completed_total{api=\"bootc\",cluster=\"cluster-002\"} 2",
          "windlass_rollout_duration_seconds_count{api=\"bootc\"} 4",
          "windlass_reboots_completed_total{cluster=\"cluster-001\"} 3"})
      EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
    // That its nodes were taken in counts as a pool's first.
    EXPECT_EQ(lines_->count("rollout started"), 4u);
    EXPECT_EQ(lines_->count("rollout done"), 4u);
  });
}

TEST_F(Seam, ItIsAtHomeAndIsAskedAgainWhenPoliciesOrLabelsChange) {
  go([this](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(nursery_.on, (std::multiset<std::string>{"cluster-001", "home"}));
    const k8s::engagement* home = windlass.home() ? windlass.home()->find("toys") : nullptr;
    EXPECT_TRUE(home && home->is_live());
    world_->home_api().edit("", "secrets", "default", "cluster-001", [](json::object& secret) {
      secret["metadata"].as_object()["labels"].as_object()["env"] = "prod";
    });
    co_await loop_.sleep_for(5s);
    EXPECT_EQ(nursery_.reconsidered["cluster-001"], 1);
    EXPECT_EQ(nursery_.reconsidered["home"], 0);
  });
}

TEST_F(Seam, ItIsToldWhenAClusterThatWasGoneAnswersAgain) {
  go([this](cli::service& windlass) -> awaitable<void> {
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    net.set_reach("cluster-001", reactor::memory_network::reach::refused);
    net.cut_all("cluster-001");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Unreachable");
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "Unreachable");
    EXPECT_EQ(nursery_.reconsidered["cluster-001"], 0);
    net.set_reach("cluster-001", reactor::memory_network::reach::open);
    co_await loop_.sleep_for(2min);
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(nursery_.reconsidered["cluster-001"], 1);
  });
}

TEST_F(Seam, AMissingKindOfOneApiLeavesTheOtherLiveOnTheSameCluster) {
  // cluster-001 has toys and loses the other API's kinds before anybody looks.
  for (const char* crd : {"bootcnodepools.node.bootc.dev", "bootcnodes.node.bootc.dev"})
    world_->clusters()[0]->api().erase("apiextensions.k8s.io", "customresourcedefinitions", "",
                                       crd);
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "CRDMissing");
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(state(windlass, "cluster-002", "bootc"), "Live");
    EXPECT_EQ(state(windlass, "cluster-002", "toys"), "CRDMissing");
    for (const k8s::cluster* c : windlass.fleet().clusters()) EXPECT_TRUE(c->is_live());
    co_return;
  });
}

TEST_F(Seam, AMissingKindThatAppearsIsFoundWithoutAReconnect) {
  go([this](cli::service& windlass) -> awaitable<void> {
    const k8s::cluster* connected = windlass.fleet().find("cluster-002");
    EXPECT_EQ(state(windlass, "cluster-002", "toys"), "CRDMissing");
    world_->clusters()[1]->api().put(toys::crd());
    co_await loop_.sleep_for(70s);
    EXPECT_EQ(state(windlass, "cluster-002", "toys"), "Live");
    EXPECT_EQ(windlass.fleet().find("cluster-002"), connected);
  });
}

TEST_F(Seam, LosingOneLeaseStopsOneApi) {
  options_.leader_elect = true;
  options_.identity = "we";
  go([this](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "Live");
    bool failed = false;
    windlass.on_failure = [&] { failed = true; };
    steal("toys", "toys.example.com");
    co_await loop_.sleep_for(5s);
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "");
    EXPECT_EQ(nursery_.on.size(), 0u) << "not at home either";
    const std::string metrics = co_await get(8080, "/metrics");
    for (const char* line :
         {"windlass_leader{api=\"toys\"} 0", "windlass_leader{api=\"bootc\"} 1",
          "windlass_api_state{api=\"toys\",cluster=\"cluster-001\",state=\"Live\"} 0",
          "windlass_api_state{api=\"bootc\",cluster=\"cluster-001\",state=\"Live\"} 1"})
      EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "Live");
    EXPECT_EQ(state(windlass, "cluster-002", "bootc"), "Live");
    const std::string ready = co_await get(8081, "/readyz");
    EXPECT_EQ(ready, "ok\n");
    // Who stole it never renews it.
    co_await loop_.sleep_for(30s);
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(nursery_.on, (std::multiset<std::string>{"cluster-001", "home"}));
    EXPECT_FALSE(failed);
    steal("bootc-operator", "bootc-operator.bootc.dev");
    co_await loop_.sleep_for(5s);
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "");
  });
}

TEST_F(Seam, APartOfAnApiMayHaveALeaseOfItsOwn) {
  options_.leader_elect = true;
  options_.identity = "we";
  go([this](cli::service& windlass) -> awaitable<void> {
    const std::set<std::string> all{"cluster-001", "home"};
    EXPECT_EQ(nursery_.with_key, all);
    steal("toys", "key.example.com");
    co_await loop_.sleep_for(5s);
    EXPECT_TRUE(nursery_.with_key.empty());
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live") << "that is all it loses";
    EXPECT_EQ(
        lines_->count("lost a lease; what needs it is stopped, so that the new holder acts alone"),
        1u);
    co_await loop_.sleep_for(30s);
    EXPECT_EQ(nursery_.with_key, all) << "who stole it never renews it";
    // With the API's Lease the other goes, so that one process has both.
    steal("toys", "toys.example.com");
    co_await loop_.sleep_for(8s);
    const auto key =
        world_->home_api().get("coordination.k8s.io", "leases", "toys", "key.example.com");
    EXPECT_TRUE(key && key->at("spec").at("holderIdentity") == "");
  });
}

TEST_F(Seam, WhoHoldsNoLeaseConnectsToNoCluster) {
  options_.leader_elect = true;
  for (const auto& [ns, lease] : {std::pair{"toys", "toys.example.com"},
                                  std::pair{"bootc-operator", "bootc-operator.bootc.dev"}})
    world_->home_api().put(
        {{"apiVersion", "coordination.k8s.io/v1"},
         {"kind", "Lease"},
         {"metadata", {{"name", lease}, {"namespace", ns}}},
         {"spec", {{"holderIdentity", "somebody else"}, {"leaseDurationSeconds", 3'600}}}});
  go([this](cli::service& windlass) -> awaitable<void> {
    EXPECT_TRUE(windlass.fleet().clusters().empty());
    const std::string ready = co_await get(8081, "/readyz");
    EXPECT_EQ(ready, "ok\n") << "it stands by";
    const reactor::log_record* standby = lines_->last("standing by: another one holds the lease");
    EXPECT_TRUE(standby && standby->field("holder") == "somebody else");
    EXPECT_EQ(lines_->count("standing by: another one holds the lease"), 2u) << "once each";
  });
}

TEST_F(Seam, OnlyTheChosenApisRun) {
  choose({"toys"});
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(state(windlass, "cluster-001", "toys"), "Live");
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "");
    EXPECT_EQ(windlass.fleet().find("cluster-002")->state(), k8s::cluster_state::crd_missing);
    co_return;
  });
}

TEST_F(Seam, AnApiThatWantsToBeServedAtHomeIsLeftOutWhereItIsNot) {
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(names_of(windlass.apis()), (std::vector<std::string>{"bootc", "toys"}));
    EXPECT_EQ(state(windlass, "cluster-001", "releases"), "");
    co_return;
  });
}

TEST_F(Seam, AnApiThatWantsToBeServedAtHomeIsThereWhereItIs) {
  json::object crd = toys::crd();
  crd["metadata"].as_object()["name"] = "releases.release.giantswarm.io";
  json::object& spec = crd["spec"].as_object();
  spec["group"] = "release.giantswarm.io";
  spec["scope"] = "Cluster";
  spec["names"] = json::object{{"kind", "Release"},
                               {"listKind", "ReleaseList"},
                               {"plural", "releases"},
                               {"singular", "release"}};
  spec["versions"].as_array()[0].as_object()["name"] = "v1alpha1";
  world_->home_api().put(std::move(crd));
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(windlass.apis().size(), 3u);
    const k8s::engagement* home = windlass.home()->find("releases");
    EXPECT_TRUE(home && home->is_live());
    EXPECT_EQ(state(windlass, "cluster-001", "releases"), "Live");
    co_return;
  });
}

TEST_F(Seam, AnApiThatWantsToBeServedAtHomeIsThereWhereSomebodyNamesIt) {
  choose({"bootc", "toys", "releases"});
  for (units::api& a : options_.apis) a.where_served = false;  // as --apis does
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(windlass.apis().size(), 3u);
    const k8s::engagement* home = windlass.home()->find("releases");
    EXPECT_TRUE(home && home->state() == k8s::cluster_state::crd_missing);
    EXPECT_EQ(state(windlass, "cluster-001", "releases"), "Live");
    co_return;
  });
}

TEST_F(Seam, AnApiThatHasToBeNamedIsLeftOutAndAPackForItIsToldOf) {
  options_.policies = {std::string(WINDLASS_SOURCE_DIR) + "/docs/compose/shop"};
  go([this](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(state(windlass, "cluster-001", "compose"), "");
    EXPECT_EQ(lines_->count("a pack is not asked: --apis does not name its API"), 1u);
    const auto* told = lines_->last("a pack is not asked: --apis does not name its API");
    EXPECT_TRUE(told && told->field("pack") == "shop" && told->field("api") == "compose");
    co_return;
  });
}

TEST_F(Seam, AnApiThatHasToBeNamedIsThereWhereSomebodyNamesIt) {
  choose({"compose"});
  for (units::api& a : options_.apis) a.where_served = false;  // as --apis does
  go([](cli::service& windlass) -> awaitable<void> {
    EXPECT_EQ(state(windlass, "cluster-001", "compose"), "Live");
    EXPECT_EQ(state(windlass, "cluster-001", "bootc"), "");
    co_return;
  });
}

TEST_F(Seam, ItsNameIsKnownToApisAndUnknownOnesAreAnswered) {
  const auto parse = [&](const std::string& names) {
    return cli::parsed({"run", "--apis", names}, options_.apis);
  };
  EXPECT_TRUE(parse("toys"));
  const app::parse_outcome wrong = parse("dolls");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("there is: bootc,releases,compose,fleetpools,fleetcharts,tenants,kryptondeployments,toys"),
            std::string::npos)
      << wrong.err;
}

}  // namespace
