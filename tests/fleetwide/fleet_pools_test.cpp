// FleetPools on a fleet, in virtual time: embedded clusters with nodes, daemons and the API that
// moves them, a home, and what was said there once.
#include "bootc/api.hpp"
#include "bootc/kinds/names.hpp"
#include "fleetwide/api.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/view.hpp"
#include "simulation/node_world.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/simulation/fleet_service.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

const std::string source = WINDLASS_SOURCE_DIR;
const std::string old_image(simulation::old_image), new_image(simulation::new_image),
    middle_image(simulation::middle_image);

json::object object_in(const std::string& file) {
  std::ifstream in(source + "/" + file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  auto read = formats::parse_kubernetes_yaml(text.str(), file);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? read->as_object() : json::object();
}

std::string digest_of(const std::string& image) {
  return image.substr(image.find('@') + 1);
}

/// Two clusters of each ring, without pools of their own.
class FleetPoolsOnClusters : public testing::Test {
protected:
  explicit FleetPoolsOnClusters(std::vector<std::string> rings = {"canary", "canary", "early",
                                                                  "early", "", ""},
                                std::size_t nodes = 2) {
    simulation::node_world_options o;
    o.mishaps = false;
    for (std::size_t i = 0; i < rings.size(); ++i) {
      simulation::fleet_cluster c;
      c.name = "c" + std::to_string(i);
      c.nodes = nodes;
      c.max_unavailable = "1";
      if (!rings[i].empty()) c.labels["ring"] = rings[i];
      o.fleet.push_back(std::move(c));
    }
    world_ = std::make_unique<simulation::node_world>(loop_, std::move(o));
    home().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
    for (const char* crd : {"fleetpools", "fleetgrants"})
      home().put(object_in("deploy/crds/fleet/" + std::string(crd) + ".yaml"));
    for (simulation::pool_cluster* c : world_->pools()) {
      pool_before_[c->name()] = *c->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      c->api().erase("node.bootc.dev", "bootcnodepools", "", "workers");
    }
    world_->on_write = [this](std::size_t cluster, const k8s::sim::written& w) {
      saw(world_->pools()[cluster]->name(), w);
    };
  }
  ~FleetPoolsOnClusters() override { EXPECT_EQ(loop_.live(), reactor::live_counts()); }

  k8s::sim::api_server& home() { return world_->home_api(); }
  k8s::sim::api_server& api(const std::string& cluster) {
    for (simulation::pool_cluster* c : world_->pools())
      if (c->name() == cluster) return c->api();
    ADD_FAILURE() << cluster;
    return home();
  }
  void saw(const std::string& cluster, const k8s::sim::written& w) {
    if (w.plural != "bootcnodepools" || w.type == k8s::sim::write_type::deleted) return;
    const auto ref = [](const json::object* o) {
      return o ? std::string(o->at("spec").at("image").at("ref").as_string()) : std::string();
    };
    if (ref(w.before) != ref(w.after)) moves_.emplace_back(cluster, ref(w.after));
  }

  /// A FleetPool that asks for `ref`; `rollout` and `more` are JSON.
  json::object fleet_pool(const std::string& ref, const std::string& rollout = "{}",
                          const std::string& more = "", const std::string& ns = "default",
                          const std::string& name = "workers") {
    const json::value pool = pool_before_.begin()->second.at("spec");
    json::object spec = pool.as_object();
    spec.erase("image");
    json::object o =
        json::parse(
            R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetPool","metadata":{"name":")" +
            name + R"(","namespace":")" + ns +
            R"("},"spec":{"clusters":{"selector":{}},"image":{"ref":")" + ref + R"("},"rollout":)" +
            rollout + more + "}}")
            .as_object();
    json::object made;
    made["spec"] = std::move(spec);
    if (name != "workers") made["metadata"] = json::object{{"name", "workers"}};
    o["spec"].as_object()["template"] = std::move(made);
    return o;
  }
  void edit_spec(const std::function<void(json::object& spec)>& change,
                 const std::string& name = "workers") {
    home().edit("fleet.windlass.dev", "fleetpools", "default", name,
                [&](json::object& o) { change(o["spec"].as_object()); });
  }
  void ask_for(const std::string& ref) {
    edit_spec([&](json::object& spec) { spec["image"].as_object()["ref"] = ref; });
  }
  void annotate(const char* key, const std::string& value) {
    home().edit("fleet.windlass.dev", "fleetpools", "default", "workers", [&](json::object& o) {
      json::value& all = o["metadata"].as_object()["annotations"];
      if (!all.is_object()) all.emplace_object();
      all.get_object()[key] = value;
    });
  }
  void label(const std::string& cluster, const std::string& key, const std::string& value) {
    home().edit("", "secrets", "default", cluster, [&](json::object& secret) {
      json::value& all = secret["metadata"].as_object()["labels"];
      if (value.empty())
        all.as_object().erase(key);
      else
        all.as_object()[key] = value;
    });
  }
  json::value status(const std::string& name = "workers", const std::string& ns = "default") {
    const auto o = home().get("fleet.windlass.dev", "fleetpools", ns, name);
    const json::value* s = o ? o->if_contains("status") : nullptr;
    return s ? *s : json::value(json::object());
  }
  std::string said(const std::string& type, const std::string& name = "workers",
                   const std::string& ns = "default") {
    const json::value s = status(name, ns);
    const json::value* all = s.as_object().if_contains("conditions");
    if (!all) return "none";
    for (const json::value& c : all->as_array())
      if (c.at("type") == json::string(type))
        return std::string(c.at("status").as_string()) + " " +
               std::string(c.at("reason").as_string()) + " " +
               std::string(c.at("message").as_string());
    return "none";
  }
  std::string ref_of(const std::string& cluster) {
    const auto p = api(cluster).get("node.bootc.dev", "bootcnodepools", "", "workers");
    return p ? std::string(p->at("spec").at("image").at("ref").as_string()) : std::string("none");
  }
  std::string note_of(const std::string& cluster, std::string_view key) {
    const auto p = api(cluster).get("node.bootc.dev", "bootcnodepools", "", "workers");
    if (!p) return "none";
    const json::value* notes = p->at("metadata").as_object().if_contains("annotations");
    const json::value* v = notes ? notes->as_object().if_contains(key) : nullptr;
    return v ? std::string(v->as_string()) : std::string();
  }
  /// "c0 c1" of those whose pool asks for it, in order of name.
  std::string who_asks_for(const std::string& ref) {
    std::string out;
    for (simulation::pool_cluster* c : world_->pools())
      if (ref_of(c->name()) == ref) out += (out.empty() ? "" : " ") + c->name();
    return out;
  }
  /// The clusters in the order in which their pools were moved since the last call.
  std::string moved() {
    std::string out;
    for (const auto& [cluster, ref] : moves_) out += (out.empty() ? "" : " ") + cluster;
    moves_.clear();
    return out;
  }

  std::unique_ptr<simulation::fleet_service> service(units::mode does,
                                                     std::vector<json::object> assumed = {}) {
    bootc::settings nodes;
    nodes.tags = &tags_;
    nodes.tag_interval = 1min;
    std::vector<units::api> apis;
    apis.push_back(bootc::api(std::move(nodes)));
    fleetwide::settings s;
    for (json::object& o : assumed) {
      o["metadata"].as_object()["uid"] = "assumed";
      o["metadata"].as_object()["resourceVersion"] = "1";
      auto p = k8s::parse_view<fleetwide::fleet_pool>(json::serialize(o));
      EXPECT_TRUE(p);
      if (p) s.assumed.push_back(std::move(*p));
    }
    apis.push_back(fleetwide::pools(std::move(s)));
    return std::make_unique<simulation::fleet_service>(
        loop_, world_->home(), std::move(apis), does, std::string(),
        reactor::logger([this] { return loop_.wall(); }, lines_), brake_);
  }
  void run(std::function<awaitable<void>()> story) {
    reactor::task_group tasks(loop_);
    tasks.start("story", [this, story]() -> awaitable<void> {
      auto up = world_->start();
      EXPECT_TRUE(up);
      co_await story();
      co_await world_->stop();
    });
    loop_.run();
    EXPECT_TRUE(world_->violations().empty()) << world_->violations().front();
    world_.reset();
  }
  /// What a service does within that time.
  awaitable<void> serve(reactor::nanoseconds time) {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(time);
    co_await w->stop();
  }
  awaitable<std::vector<units::plan_row>> plan() {
    auto looking = service(units::mode::look);
    co_await looking->start();
    std::vector<units::plan_row> rows = co_await looking->overview_of_home("fleetpools");
    co_await looking->stop();
    co_return rows;
  }
  static std::string holds_in(const std::vector<units::plan_row>& rows) {
    std::string out;
    for (const units::plan_row& r : rows)
      for (const units::hold& h : r.holds) out += (out.empty() ? "" : " ") + h.unit + ":" + h.code;
    return out;
  }

  static constexpr const char* rings =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"soak":"2m"})";
  static constexpr const char* rings_and_back =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"onFailure":"Return"})";

  reactor::loop loop_{reactor::loop::mode::simulated, 44};
  bootc::testing::scripted_tags tags_{loop_};
  std::unique_ptr<simulation::node_world> world_;
  units::brake brake_;
  std::map<std::string, json::object> pool_before_;
  std::vector<std::pair<std::string, std::string>> moves_;
  std::shared_ptr<reactor::log_capture> lines_ = std::make_shared<reactor::log_capture>();
};

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

}  // namespace
