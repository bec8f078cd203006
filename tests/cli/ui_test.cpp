// The page of a running service in virtual time: it says what `status` says, soon, and nothing
// while nothing happens.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/ui/fleet_page.hpp"
#include "service/ui/places.hpp"
#include "simulation/node_world.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace cli {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
namespace json = boost::json;

/// A service on a simulated fleet with its page, and a reader of it.
struct shown_fleet {
  explicit shown_fleet(simulation::world_options o, service_options with = with_all_apis())
      : world(std::make_unique<simulation::node_world>(l, o)) {
    if (!world->start()) throw std::runtime_error("no world");
    with.home = world->home();
    windlass = std::make_unique<service>(l, std::move(with), reactor::logger());
    web::site_options at;
    at.at = where;
    page.emplace(l, *windlass, std::move(at), reactor::logger());
  }
  /// Starts all, runs `story`, stops all.
  void run(std::function<awaitable<void>()> story) {
    reactor::task_group tasks(l), reading(l);
    bool stopped = false;
    tasks.start("story", [&, story = std::move(story)]() -> awaitable<void> {
      auto started = co_await windlass->start();
      if (started) started = co_await page->start();
      if (!started) throw std::runtime_error(started.error().message());
      if (followed) reading.start("reader", read());
      co_await story();
      co_await reading.cancel_and_join();
      co_await page->stop();
      co_await windlass->stop();
      co_await world->stop();
      stopped = true;
      l.stop();
    });
    l.run();
    EXPECT_TRUE(stopped);
    page.reset();
    windlass.reset();
    world.reset();
    EXPECT_EQ(l.live(), reactor::live_counts());
  }

  /// Follows /events and keeps what it says.
  awaitable<void> read() {
    auto to = co_await l.net().connect(where, l.now() + 5s);
    if (!to) throw std::runtime_error("refused");
    const std::string asks = "GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n";
    (void)co_await (*to)->write_all(asks);
    std::string said;
    std::array<char, 16'384> some;
    for (;;) {
      const auto n = co_await (*to)->read_some(some);
      if (!n || *n == 0) co_return;
      bytes += *n;
      said.append(some.data(), *n);
      for (std::size_t end; (end = said.find("\n\n")) != said.npos;) {
        const std::string one = said.substr(0, end);
        said.erase(0, end + 2);
        const std::size_t data = one.find("\ndata: ");
        if (data != one.npos) hear(json::parse(one.substr(data + 7)).as_object());
      }
    }
  }
  void hear(json::object event) {
    ++events;
    const std::string wrong = breaks_schema(event);
    if (!wrong.empty()) broken = wrong;
    if (const json::value* set = event.if_contains("set"))
      for (const auto& [key, value] : set->as_object()) {
        lines[std::string(key)] = value;
        told_at[std::string(key)] = l.now();
      }
    if (const json::value* gone = event.if_contains("gone"))
      for (const json::value& key : gone->as_array()) lines.erase(std::string(key.as_string()));
  }
  awaitable<json::value> get(std::string target) {
    auto to = co_await l.net().connect(where, l.now() + 5s);
    if (!to) throw std::runtime_error("refused");
    const std::string asks = "GET " + target + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
    (void)co_await (*to)->write_all(asks);
    std::string said;
    std::array<char, 16'384> some;
    for (;;) {
      const auto n = co_await (*to)->read_some(some);
      if (!n || *n == 0) break;
      said.append(some.data(), *n);
    }
    boost::system::error_code wrong;
    json::value all = json::parse(said.substr(said.find("\r\n\r\n") + 4), wrong);
    if (wrong) throw std::runtime_error(said.substr(0, 300));
    co_return all;
  }

  reactor::loop l{reactor::loop::mode::simulated, 11};
  const reactor::endpoint where{"page", 8090};
  std::unique_ptr<simulation::node_world> world;
  std::unique_ptr<service> windlass;
  std::optional<ui> page;
  std::map<std::string, json::value> lines;
  std::map<std::string, reactor::steady_time> told_at;
  bool followed = true;
  std::size_t events = 0, bytes = 0;
  std::string broken;
};

simulation::world_options fleet_of(std::size_t clusters, std::size_t nodes) {
  simulation::world_options o;
  o.clusters = clusters;
  o.nodes = nodes;
  return o;
}

TEST(Ui, SaysWhatStatusSaysOfAFleetThatIsStuckInSeveralWays) {
  shown_fleet f(fleet_of(4, 4));
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(30s);
    f.world->roll_out();
    co_await f.l.sleep_for(120s);
    const fleet_overview now = co_await look_at(*f.windlass, f.l, {}, f.l.now() + 5s);
    const json::object status = status_document(now);
    const json::value& fleet = f.lines.at("fleet");
    EXPECT_EQ(fleet.at("held"), status.at("held"));
    EXPECT_EQ(fleet.at("clusters").to_number<std::size_t>(), now.clusters.size());
    // The page ranks a hold by its nature, and has that of every code.
    for (const units::api& a : f.windlass->apis())
      for (const units::hold_kind& k : a.holds)
        EXPECT_EQ(fleet.at("natures").at(k.code) == "trouble",
                  k.nature == units::hold_nature::trouble)
            << k.code;
    const json::value& api = fleet.at("apis").at(0);
    EXPECT_EQ(api.at("total"), status.at("nodes"));
    for (const char* sum : {"updated", "updating", "degraded"})
      EXPECT_EQ(api.at(sum), status.at(sum)) << sum;
    EXPECT_GE(now.held, 2u) << "or there was nothing to say";
    for (const json::value& cluster : status.at("clusters").as_array()) {
      const std::string name(cluster.at("name").as_string());
      std::string asked = "/data/cluster?name=" + name;
      const json::value view = co_await f.get(std::move(asked));
      EXPECT_EQ(breaks_schema(view.as_object()), "");
      EXPECT_EQ(view.at("cluster"), cluster) << name;
      const json::value& line = f.lines.at("cluster/" + name);
      EXPECT_EQ(line.at("version"), view.at("version")) << name;
      EXPECT_EQ(line.at("state"), cluster.at("state")) << name;
      std::size_t held = 0;
      for (const auto& [code, n] : line.at("apis").at(0).at("rows").at(0).at("holds").as_object())
        held += n.to_number<std::size_t>();
      const json::array& holds = cluster.at("pools").at(0).at("holds").as_array();
      EXPECT_EQ(held, holds.size()) << name;
      for (const json::value& h : holds) {
        const json::value& since =
            view.at("since").at("bootc/workers").at(h.at("unit").as_string());
        EXPECT_FALSE(since.as_object().contains("atLeast")) << "it began while we looked";
      }
      const json::value& points = view.at("history").at("bootc/workers").at("points");
      EXPECT_GE(points.as_array().size(), 4u) << name;
      EXPECT_EQ(points.as_array().back().as_array()[2],
                line.at("apis").at(0).at("rows").at(0).at("updated"));
      EXPECT_EQ(view.at("history").at("bootc/workers").at("targets").as_array().size(), 2u);
    }
    const json::value history = co_await f.get("/data/fleet");
    EXPECT_EQ(breaks_schema(history.as_object()), "");
    EXPECT_GE(history.at("history").at("points").as_array().size(), 8u);
  });
  EXPECT_EQ(f.broken, "");
  EXPECT_LT(f.bytes, 400u * 1024) << "what changed, not everything";
  std::cout << "## page 4 clusters, a rollout: events " << f.events << " bytes " << f.bytes << "\n";
}

TEST(Ui, TellsAChangeWithinTwoSecondsAndNothingWhileNothingHappens) {
  simulation::world_options o = fleet_of(8, 3);
  o.mishaps = false;
  shown_fleet f(o);
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(180s);
    const std::uint64_t overviews = f.page->shows().overviews();
    const std::size_t events = f.events, bytes = f.bytes;
    co_await f.l.sleep_for(120s);
    EXPECT_EQ(f.page->shows().overviews(), overviews);
    EXPECT_LE(f.events - events, 9u) << "heartbeats";
    EXPECT_LE(f.bytes - bytes, 2'000u);
    const reactor::steady_time changed = f.l.now();
    f.world->pools()[2]->set_image(simulation::new_image);
    co_await f.l.sleep_for(2s);
    EXPECT_GE(f.told_at.at("cluster/cluster-003"), changed);
    EXPECT_LT(f.told_at.at("cluster/cluster-004"), changed)
        << "who did not change is not told again";
    EXPECT_EQ(f.lines.at("cluster/cluster-003")
                  .at("apis")
                  .at(0)
                  .at("rows")
                  .at(0)
                  .at("target")
                  .as_string(),
              simulation::new_image.substr(simulation::new_image.find("sha256:")));
  });
  EXPECT_EQ(f.broken, "");
}

TEST(Ui, SaysWhoPutTheBrakeOnAndWhyUntilItIsOff) {
  simulation::world_options o = fleet_of(2, 2);
  o.mishaps = false;
  shown_fleet f(o);
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(60s);
    EXPECT_FALSE(f.lines.at("fleet").as_object().contains("brake"));
    EXPECT_FALSE(f.lines.at("fleet").as_object().contains("maxChanges")) << "there is no limit";
    const auto brake = [&](const char* state) {
      f.world->home_api().put(
          {{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", units::brake_object}, {"namespace", "default"}}},
           {"data",
            {{"state", state}, {"why", "no network"}, {"by", "ann"}, {"selector", "env=prod"}}}});
    };
    brake("on");
    co_await f.l.sleep_for(3s);
    const json::value is = f.lines.at("fleet").at("brake");
    EXPECT_EQ(is.at("why").as_string(), "no network");
    EXPECT_EQ(is.at("by").as_string(), "ann");
    EXPECT_EQ(is.at("selector").as_string(), "env=prod");
    brake("off");
    co_await f.l.sleep_for(3s);
    EXPECT_FALSE(f.lines.at("fleet").as_object().contains("brake"));
  });
  EXPECT_EQ(f.broken, "");
}

TEST(Ui, LooksSeldomWhileNobodyFollowsAndKnowsTheBeginningAllTheSame) {
  simulation::world_options o = fleet_of(2, 3);
  o.mishaps = false;
  shown_fleet f(o);
  f.followed = false;
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(20s);
    f.world->roll_out();
    co_await f.l.sleep_for(100s);
    EXPECT_EQ(f.page->readers(), 0u);
    EXPECT_LE(f.page->shows().overviews(), 2u * 13) << "each cluster every ten seconds at most";
    const json::value view = co_await f.get("/data/cluster?name=cluster-001");
    const json::value& points = view.at("history").at("bootc/workers").at("points");
    EXPECT_EQ(points.as_array().front().as_array()[1].as_int64(), 3);
    EXPECT_EQ(points.as_array().back().as_array()[2].as_int64(), 3);
  });
}

TEST(Ui, ShowsTheClusterThatCannotBeReadAndForgetsTheOneThatLeft) {
  simulation::world_options o = fleet_of(3, 3);
  o.mishaps = false;
  shown_fleet f(o);
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(30s);
    EXPECT_EQ(f.lines.count("cluster/cluster-002"), 1u);
    k8s::client home(f.l, f.world->home());
    k8s::object_key leaving{"default", "cluster-002"};
    auto gone = co_await home.remove(k8s::resources::secrets(), std::move(leaving));
    EXPECT_TRUE(gone);
    const json::value secret = json::parse(
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"broken\","
        "\"namespace\":"
        "\"default\",\"labels\":{\"sigs.k8s.io/multicluster-runtime-kubeconfig\":\"true\"}},"
        "\"data\":{\"kubeconfig\":\"dXNlcnM6IDc=\"}}");
    json::object broken = secret.as_object();
    auto made = co_await home.create(k8s::resources::secrets(), "default", std::move(broken));
    EXPECT_TRUE(made);
    co_await f.l.sleep_for(5s);
    EXPECT_EQ(f.lines.count("cluster/cluster-002"), 0u);
    EXPECT_EQ(f.lines.at("cluster/broken").at("state").as_string(), "Invalid");
    const json::value view = co_await f.get("/data/cluster?name=broken");
    EXPECT_EQ(breaks_schema(view.as_object()), "");
    EXPECT_EQ(f.lines.at("fleet").at("clusters").as_int64(), 3);
    co_await home.stop();
  });
  EXPECT_EQ(f.broken, "");
}

TEST(Ui, ShowsPoliciesWithTheirDigestAndWhyTheNewestWasRefused) {
  const std::string good =
      "return { name = 'mine', version = '7', rollout = { plan = function() return { start = {} } "
      "end } }";
  reactor::temporary_folder packs;
  packs.write("mine/policy.lua", good);
  service_options with = with_all_apis();
  with.policies.emplace_back(packs.path());
  simulation::world_options o = fleet_of(1, 3);
  o.mishaps = false;
  shown_fleet f(o, std::move(with));
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(5s);
    const json::value loaded = f.lines.at("policies").at(0);
    EXPECT_EQ(loaded.at("name").as_string(), "mine");
    EXPECT_TRUE(loaded.at("digest").as_string().starts_with("sha256:"));
    EXPECT_FALSE(loaded.as_object().contains("refused"));
    packs.write("mine/policy.lua", "return { name = <script>alert(1)</script> }");
    f.windlass->reload();
    co_await f.l.sleep_for(5s);
    const json::value refused = f.lines.at("policies").at(0);
    EXPECT_EQ(refused.at("digest"), loaded.at("digest")) << "the last good one stays";
    EXPECT_NE(refused.at("refused").as_string().find("policy.lua"), std::string::npos);
  });
  EXPECT_EQ(f.broken, "");
}

/// Those of one word, the newest first.
std::vector<json::object> entries_of(const json::value& timeline, std::string_view what) {
  std::vector<json::object> out;
  for (const json::value& e : timeline.at("entries").as_array())
    if (e.at("what").as_string() == what) out.push_back(e.as_object());
  return out;
}

TEST(Ui, TellsWhatHappenedAndWhichFieldManagerAskedForIt) {
  simulation::world_options o = fleet_of(3, 3);
  o.mishaps = false;
  shown_fleet f(o);
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(30s);
    const std::uint64_t quiet = f.page->shows().happened().revision();
    co_await f.l.sleep_for(60s);
    EXPECT_EQ(f.page->shows().happened().revision(), quiet) << "nothing happens, nothing is told";
    f.world->pools()[1]->set_image(simulation::new_image);
    co_await f.l.sleep_for(120s);
    const json::value all = co_await f.get("/data/timeline?cluster=cluster-002&limit=200");
    EXPECT_EQ(breaks_schema(all.as_object()), "");
    const auto targets = entries_of(all, "Target");
    if (targets.empty()) throw std::runtime_error(json::serialize(all));
    EXPECT_EQ(targets.front().at("by"), "kubectl-edit");
    EXPECT_EQ(targets.front().at("about"), "BootcNodePool/workers");
    EXPECT_EQ(targets.front().at("text").as_string(),
              "asks for " + std::string(simulation::new_image));
    EXPECT_FALSE(entries_of(all, "RolloutStarted").empty());
    EXPECT_FALSE(entries_of(all, "RolloutCompleted").empty());
    for (const json::value& e : all.at("entries").as_array())
      EXPECT_EQ(e.at("cluster"), "cluster-002");
    const json::value found = co_await f.get("/data/timeline?q=KUBECTL-edit%20asks");
    EXPECT_EQ(found.at("entries").as_array().size(), 1u);
    const json::value first = co_await f.get("/data/timeline?limit=2");
    EXPECT_EQ(first.at("entries").as_array().size(), 2u);
    std::string older =
        "/data/timeline?limit=2&before=" + std::string(first.at("next").as_string());
    const json::value second = co_await f.get(std::move(older));
    EXPECT_NE(second.at("entries").at(0), first.at("entries").at(1));
    EXPECT_EQ(f.lines.at("timeline").at("revision").to_number<std::uint64_t>(),
              f.page->shows().happened().revision());
  });
  EXPECT_EQ(f.broken, "");
}

/// A cluster with as many rows as there may be, each with a unit that waits for its policy.
class many_rows final : public units::cluster_controller {
public:
  static constexpr std::size_t count = 20'000;
  awaitable<void> stop() override { co_return; }
  awaitable<bool> synced(reactor::steady_time) override { co_return true; }
  awaitable<std::vector<units::plan_row>> overview() override {
    std::vector<units::plan_row> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].name = "rack-" + std::to_string(10'000 + i);
      rows[i].target = "full";
      rows[i].units.push_back({.name = "shelf-" + std::to_string(i)});
      units::hold h{rows[i].units[0].name, "policy", "not before the night", "the night"};
      h.asked_again = "2026-11-29T22:00:00Z";
      rows[i].holds.push_back(std::move(h));
    }
    co_return rows;
  }
  std::optional<std::uint64_t> revision() const override { return 1; }
};

units::api racks() {
  struct running final : units::running_api {
    std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement&) override {
      return std::make_unique<many_rows>();
    }
  };
  units::api a;
  a.name = "racks";
  a.says = {"rack", "racks", "shelf", "shelves"};
  a.lease = "racks.example.com";
  a.lease_ns = "racks";
  a.make = [](const units::api_environment&) { return std::make_unique<running>(); };
  return a;
}

TEST(Ui, NoTurnHasMoreThanABoundedPartOfTwentyThousandRows) {
  simulation::world_options o = fleet_of(1, 1);
  o.mishaps = false;
  service_options with;
  with.apis = {racks()};
  shown_fleet f(o, std::move(with));
  f.run([&]() -> awaitable<void> {
    co_await f.l.sleep_for(30s);
    const json::value& line = f.lines.at("cluster/cluster-001");
    EXPECT_EQ(line.at("apis").at(0).at("rows").as_array().size(), many_rows::count);
    EXPECT_EQ(f.lines.at("fleet").at("held").to_number<std::size_t>(), many_rows::count);
    const json::value view = co_await f.get("/data/cluster?name=cluster-001");
    const std::string all = json::serialize(view);
    std::size_t asked_again = 0;
    for (std::size_t at = 0; (at = all.find("\"askedAgain\":\"2026-11-29", at)) != all.npos; ++at)
      ++asked_again;
    EXPECT_EQ(asked_again, many_rows::count);
    const json::value found = co_await f.get("/data/timeline?q=no%20such%20words");
    EXPECT_EQ(found.at("entries").as_array().size(), 0u);
    EXPECT_GE(f.page->shows().most_walked(), fleet_page::walked_a_turn);
    EXPECT_LT(f.page->shows().most_walked(), 2 * fleet_page::walked_a_turn);
  });
}

TEST(Ui, ThePlacesOfItsAddressesAreThereOrNot) {
  const place at = place_of("/cluster/prod/tenants/web/shop/a");
  EXPECT_EQ(at.cluster, "prod");
  EXPECT_EQ(at.row, "web");
  EXPECT_EQ(at.unit, "shop/a") << "a unit's name may have a slash";
  EXPECT_EQ(route_of(at), "#/cluster/prod/tenants/web/shop%2Fa");
  EXPECT_EQ(place_of("/cluster/").cluster, "");
  EXPECT_EQ(place_of("/cluster/a%2Fb/x/y/shop%2Fa%20b").cluster, "a/b");
  EXPECT_EQ(place_of("/cluster/a%2Fb/x/y/shop%2Fa%20b").unit, "shop/a b");
  cluster_overview c;
  c.name = "prod";
  c.apis.push_back({"tenants", {"chart", "charts", "tenant", "tenants"}, "Live", "", {}});
  c.apis[0].rows.push_back({.name = "web", .target = ""});
  c.apis[0].rows[0].units.push_back({.name = "shop/a"});
  EXPECT_EQ(missing_in(c, at), "");
  EXPECT_EQ(missing_in(c, place_of("/cluster/prod")), "");
  EXPECT_EQ(missing_in(c, place_of("/cluster/prod/tenants/web")), "");
  EXPECT_EQ(missing_in(c, place_of("/cluster/prod/bootc")),
            "cluster \"prod\" has no API \"bootc\"");
  EXPECT_EQ(missing_in(c, place_of("/cluster/prod/tenants/x")),
            "cluster \"prod\" has no chart \"x\"");
  EXPECT_EQ(missing_in(c, place_of("/cluster/prod/tenants/web/shop/b")),
            "cluster \"prod\" has no tenant \"shop/b\" in chart \"web\"");
}

TEST(Ui, IsOnLoopbackUnlessAnAddressIsSaid) {
  const auto at = [](const char* flag) {
    ui_arguments a;
    a.at = flag;
    return site_options_of(a);
  };
  EXPECT_FALSE(*at(""));
  EXPECT_FALSE(*at("0"));
  EXPECT_EQ((*at(":8090"))->at.text(), "127.0.0.1:8090");
  EXPECT_EQ((*at("0.0.0.0:8090"))->at.text(), "0.0.0.0:8090");
  EXPECT_EQ((*at("[::]:8090"))->at.host, "::");
  for (const char* bad : {"8090", "x", ":", ":x", ":99999"}) EXPECT_FALSE(at(bad)) << bad;
}

}  // namespace
}  // namespace cli
