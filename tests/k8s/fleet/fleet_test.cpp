// Longer than most files: which Secrets become clusters, and what becomes of each, on one stage.
#include "k8s/fleet/fleet.hpp"

#include "formats/digest.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/dial_turns.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/of_loop.hpp"
#include "tests/hostile/counted.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using reactor::loop;
using reactor::memory_network;

std::string kubeconfig_for(const std::string& host, const std::string& token = "t") {
  return "current-context: x\nclusters:\n- name: c\n  cluster: {server: 'http://" + host +
         ":6443'}\nusers:\n- name: u\n  user: {token: " + token +
         "}\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n";
}

std::string everything_of(const fleet& f) {
  std::string all;
  for (fleet::reading r(f);;) {
    const auto piece = r.next();
    if (!piece) return all;
    all += *piece;
  }
}

class Fleet : public testing::Test {
protected:
  /// A fleet that discovers from `home`, and the servers c1 and c2.
  struct world {
    explicit world(Fleet& f)
        : home(f.l, "home"),
          c1(f.l, "c1"),
          c2(f.l, "c2"),
          home_api(f.l, home.server.to()),
          events(f.l, home_api, {}),
          fleet(f.l, f.options(), reactor::logger([&f] { return f.l.wall(); }, f.log)) {}
    awaitable<void> stop() {
      co_await fleet.stop();
      co_await events.stop();
      co_await home_api.stop();
      co_await home.server.stop();
      co_await c1.server.stop();
      co_await c2.server.stop();
    }
    std::string events_sent() const {
      std::string out;
      for (const auto& r : home.server.requests()) {
        if (r.method != "POST") continue;
        const auto body = boost::json::parse(r.body).as_object();
        out += std::string(body.at("reason").as_string()) + ":" +
               std::string(body.at("regarding").at("name").as_string()) + " ";
      }
      return out;
    }
    api_server home, c1, c2;
    client home_api;
    event_recorder events;
    k8s::fleet fleet;
  };
  fleet_options options() {
    fleet_options o;
    o.metrics = &metrics;
    o.on_engaged = [this](cluster& c) { said += "+" + c.name() + " "; };
    o.on_disengaged = [this](cluster& c) { said += "-" + c.name() + " "; };
    return o;
  }
  void run(std::function<awaitable<void>(world& w)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      world w(*this);
      co_await f(w);
      co_await w.stop();
    });
  }
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  memory_network& net() { return memory_network::of(l); }
  loop l{loop::mode::simulated, 21};
  reactor::metrics metrics;
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();
  std::string said;
};

TEST_F(Fleet, AnApiIsPutOnEveryClusterAndTakenOffAllOfThem) {
  run([&](world& w) -> awaitable<void> {
    w.fleet.add("a", w.c1.server.to());
    co_await l.sleep_for(1s);
    w.fleet.engage({"x", [](engagement&) -> awaitable<result<void>> { co_return result<void>(); }});
    w.fleet.add("b", w.c2.server.to());
    co_await l.sleep_for(1s);
    for (cluster* c : w.fleet.clusters()) EXPECT_TRUE(c->find("x") && c->find("x")->is_live());
    co_await w.fleet.withdraw("x");
    for (cluster* c : w.fleet.clusters()) EXPECT_EQ(c->find("x"), nullptr) << c->name();
    w.fleet.add("c", w.c1.server.to());
    EXPECT_EQ(w.fleet.find("c")->find("x"), nullptr);
    co_await w.fleet.withdraw("never was there");
  });
}

TEST_F(Fleet, EngagesTheClustersOfLabelledSecrets) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    const bool listed = co_await w.fleet.discovered(l.now() + 5s);
    EXPECT_TRUE(listed);
    co_await l.sleep_for(1s);
    EXPECT_EQ(said, "+a ");
    w.home.put("b", kubeconfig_for("c2"));
    co_await l.sleep_for(5s);
    EXPECT_EQ(said, "+a +b ");
    EXPECT_EQ(w.fleet.clusters().size(), 2u);
    EXPECT_EQ(w.fleet.find("a")->hash(), formats::sha256_hex(kubeconfig_for("c1")));
    EXPECT_EQ(w.fleet.find("none"), nullptr);
    EXPECT_EQ(w.events_sent(), "ClusterEngaged:a ClusterEngaged:b ");
    const auto all = boost::json::parse(everything_of(w.fleet)).as_array();
    EXPECT_EQ(all.at(0).at("name"), "a");
    EXPECT_EQ(all.at(0).at("state"), "Live");
    const auto& asked = w.home.server.requests().at(0).target;
    EXPECT_NE(asked.find("labelSelector=sigs.k8s.io%2Fmulticluster-runtime-kubeconfig%3Dtrue"),
              std::string::npos)
        << asked;
  });
}

TEST_F(Fleet, ReconnectsOnNewBytesOnly) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    w.home.put("a", kubeconfig_for("c1"), R"({"touched":"yes"})");
    co_await l.sleep_for(2s);
    EXPECT_EQ(said, "+a ");
    w.home.put("a", kubeconfig_for("c1", "rotated"));
    co_await l.sleep_for(2s);
    EXPECT_EQ(said, "+a -a +a ");
    EXPECT_EQ(w.c1.server.requests().back().fields.get("Authorization"), "Bearer rotated");
    EXPECT_EQ(w.events_sent(), "ClusterEngaged:a ClusterReconnected:a ");
    EXPECT_EQ(w.home.server.count("PATCH", "/apis/events.k8s.io"), 1u) << "engaged twice";
    EXPECT_NE(metrics.text().find("krypton_kubeconfig_reloads_total"), std::string::npos);
  });
}

TEST_F(Fleet, DisengagesWhenTheSecretGoesOrIsEmptied) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.home.put("b", kubeconfig_for("c2"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    w.home.remove("a");
    w.home.put("b", "");
    co_await l.sleep_for(2s);
    EXPECT_EQ(said, "+a +b -a -b ");
    EXPECT_EQ(w.fleet.clusters().size(), 0u);
    EXPECT_EQ(w.fleet.size(), 1u);
    const auto all = boost::json::parse(everything_of(w.fleet)).as_array();
    EXPECT_EQ(all.at(0).at("state"), "Invalid");
    EXPECT_EQ(all.at(0).at("lastError"), "Secret default/b, key kubeconfig: the key is empty");
    EXPECT_EQ(w.events_sent(),
              "ClusterEngaged:a ClusterEngaged:b ClusterDisengaged:a KubeconfigInvalid:b ");
    EXPECT_EQ(metrics.text().find("windlass_cluster_state{cluster=\"a\""), std::string::npos);
    EXPECT_EQ(net().connections("c1"), 0u);
    w.home.put("b", kubeconfig_for("c2"));
    co_await l.sleep_for(2s);
    EXPECT_EQ(said, "+a +b -a -b +b ");
  });
}

TEST_F(Fleet, KeepsOneBadKubeconfigFromHurtingOthers) {
  run([&](world& w) -> awaitable<void> {
    const std::string secret_word = "hunter2";
    w.home.put("garbage", "\x01\x02" + secret_word);
    w.home.put("exec",
               "contexts:\n- name: x\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n"
               "  cluster: {server: 'http://c1:6443'}\nusers:\n- name: u\n  user: {token: " +
                   secret_word + ", exec: {command: sh}}\n");
    w.home.put("good", kubeconfig_for("c2"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(3s);
    EXPECT_EQ(said, "+good ");
    const std::string everything = everything_of(w.fleet);
    EXPECT_NE(everything.find("exec: no program is run"), std::string::npos);
    EXPECT_EQ(everything.find(secret_word), std::string::npos);
    for (const auto& r : w.home.server.requests()) {
      EXPECT_EQ(r.body.find(secret_word), std::string::npos) << r.body;
    }
    for (const auto& r : log->records()) {
      EXPECT_EQ(reactor::format_json(r).find(secret_word), std::string::npos);
    }
  });
}

TEST_F(Fleet, IsReadInSmallPiecesWhileClustersComeAndGo) {
  run([&](world& w) -> awaitable<void> {
    const auto name = [](int i) { return "c" + std::to_string(10'000 + i); };
    for (int i = 0; i < 300; ++i) w.home.put(name(i), "");  // known, and without a connection
    w.fleet.discover(w.home_api, nullptr);
    co_await l.sleep_for(2s);
    EXPECT_EQ(w.fleet.size(), 300u);
    fleet::reading r(w.fleet);
    std::string all;
    std::size_t pieces = 0, largest = 0;
    for (auto piece = r.next(); piece; piece = r.next()) {
      all += *piece;
      largest = std::max(largest, piece->size());
      if (++pieces > 1) continue;
      // Whose turn was, whose turn is and whose turn comes go; new ones come before and behind.
      for (const int i : {0, 299}) w.home.remove(name(i));
      for (int i = 50; i < 110; ++i) w.home.remove(name(i));
      for (const char* fresh : {"a", "d"}) w.home.put(fresh, "");
      co_await l.sleep_for(2s);
      EXPECT_EQ(w.fleet.size(), 240u);
    }
    EXPECT_GE(pieces, 3u);
    EXPECT_LE(largest, 17u * 1024);
    const auto read = boost::json::parse(all).as_array();
    EXPECT_EQ(read.front().at("name").as_string(), name(0)) << "it was there when it was read";
    EXPECT_EQ(read.back().at("name").as_string(), "d");
    EXPECT_TRUE(std::is_sorted(read.begin(), read.end(), [](const auto& a, const auto& b) {
      return a.at("name").as_string() < b.at("name").as_string();
    }));
    EXPECT_EQ(all.find("\"a\""), std::string::npos) << "it came behind the reader";
    EXPECT_EQ(all.find(name(299)), std::string::npos);
  });
}

TEST_F(Fleet, AHomeThatIsAlsoAClusterOfTheFleetIsToldOfOnce) {
  run([&](world& w) -> awaitable<void> {
    cluster home(l, w.home.server.to(), cluster_options(),
                 reactor::logger([this] { return l.wall(); }, log));
    home.engage({"toys", [](engagement&) -> awaitable<result<void>> { co_return result<void>(); }});
    w.fleet.also_tell_of(home);
    EXPECT_EQ(boost::json::parse(everything_of(w.fleet)).as_array().size(), 1u) << "home alone";
    w.fleet.add("c1", w.c1.server.to());
    EXPECT_EQ(boost::json::parse(everything_of(w.fleet)).as_array().size(), 2u);
    w.fleet.add("self-cluster", w.home.server.to());
    const auto all = boost::json::parse(everything_of(w.fleet)).as_array();
    EXPECT_EQ(all.size(), 2u);
    EXPECT_EQ(all.back().at("name").as_string(), "self-cluster");
    EXPECT_TRUE(all.back().at("home").as_bool());
    EXPECT_TRUE(all.back().at("apis").as_object().contains("toys"));
    EXPECT_FALSE(all.front().as_object().contains("home"));
    co_await home.stop();
  });
}

TEST_F(Fleet, OfNobodyIsAnEmptyArray) {
  run([&](world& w) -> awaitable<void> {
    EXPECT_EQ(everything_of(w.fleet), "[]\n");
    co_return;
  });
}

TEST_F(Fleet, EngagesALiveClusterAtOnceAmongDeadOnes) {
  net().set_reach("dead", memory_network::reach::blackhole);
  run([&](world& w) -> awaitable<void> {
    for (int i = 0; i < 50; ++i) w.home.put("dead-" + std::to_string(i), kubeconfig_for("dead"));
    w.home.put("zlive", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(1s);
    EXPECT_EQ(said, "+zlive ");
    co_await l.sleep_for(20s);
    EXPECT_EQ(w.fleet.find("dead-7")->state(), cluster_state::unreachable);
  });
}

TEST_F(Fleet, StaysWhenHomeIsLostAndGoesOnWhenItIsBack) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    net().set_reach("home", memory_network::reach::refused);
    net().cut_all("home");
    w.home.put("b", kubeconfig_for("c2"));
    co_await l.sleep_for(2min);
    EXPECT_EQ(said, "+a ");
    EXPECT_TRUE(w.fleet.find("a")->is_live());
    net().set_reach("home", memory_network::reach::open);
    co_await l.sleep_for(1min);
    EXPECT_EQ(said, "+a +b ");
  });
}

TEST_F(Fleet, TellsThatAClusterWentAndCameBack) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    net().set_reach("c1", memory_network::reach::refused);
    net().cut_all("c1");
    for (int i = 0; i < 3; ++i) {
      auto got = co_await w.fleet.find("a")->api().get_path("/version");
      EXPECT_FALSE(got);
    }
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(2min);
    EXPECT_EQ(w.events_sent(), "ClusterEngaged:a ClusterUnreachable:a ClusterRecovered:a ");
  });
}

TEST_F(Fleet, NamesOnePrimaryForOneApiServer) {
  const auto of = [](std::vector<server_name> names) { return primary_name(names); };
  EXPECT_EQ(of({{"self-cluster"}, {"b"}, {"a"}}), "a");
  EXPECT_EQ(of({{"zeta"}, {"self-cluster"}}), "zeta");
  EXPECT_EQ(of({{"self-cluster"}}), "self-cluster");
  EXPECT_EQ(of({}), "");
  EXPECT_EQ(of({{"a", false}, {"b"}, {"c"}}), "b") << "its credentials are refused";
  EXPECT_EQ(of({{"a", false}, {"self-cluster"}}), "self-cluster");
  EXPECT_EQ(of({{"self-cluster", false}, {"b", false}, {"a", false}}), "a");
  run([&](world& w) -> awaitable<void> {
    w.c2.uid = "uid-of-c1";
    w.c2.events = w.c1.events;
    w.home.put("b", kubeconfig_for("c1"));
    w.home.put("self-cluster", kubeconfig_for("c2"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    for (const char* name : {"b", "self-cluster"}) {
      const server_names both = w.fleet.names_of(*w.fleet.find(name));
      EXPECT_EQ(both.all, (std::vector<std::string>{"b", "self-cluster"})) << name;
      EXPECT_EQ(both.primary, "b") << name;
    }
    EXPECT_EQ(log->count("two names for one API server"), 1u);
    w.home.remove("b");
    co_await l.sleep_for(2s);
    const server_names alone = w.fleet.names_of(*w.fleet.find("self-cluster"));
    EXPECT_EQ(alone.all, std::vector<std::string>{"self-cluster"});
    EXPECT_EQ(alone.primary, "self-cluster");
  });
}

/// A part that says where it runs, and takes a second to stop.
struct told_part final : cluster_controller {
  told_part(engagement& e, std::set<std::string>& where) : on(e), where_(where) {
    where_.insert(e.on().name());
  }
  ~told_part() override { where_.erase(on.on().name()); }
  awaitable<void> stop() override { co_await on.loop().sleep_for(1s); }
  engagement& on;
  std::set<std::string>& where_;
};
std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += name + " ";
  return out;
}

/// An API that acts in its parts; `most` is how many of them there were at one moment.
struct acting_api {
  cluster_api made(cluster_api::names under) {
    cluster_api a;
    a.name = "x";
    a.acts_under = under;
    a.start = [this](engagement& e) -> awaitable<result<void>> {
      if (!e.part()) e.attach(std::make_unique<told_part>(e, where));
      most = std::max(most, where.size());
      co_return result<void>();
    };
    return a;
  }
  std::set<std::string> where;
  std::size_t most = 0;
};

TEST_F(Fleet, OneClusterUnderTwoNamesIsActedUponUnderOne) {
  acting_api x;
  run([&](world& w) -> awaitable<void> {
    w.c2.uid = "uid-of-c1";
    w.c2.events = w.c1.events;
    w.fleet.engage(x.made(cluster_api::names::one));
    w.home.put("b", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(2s);
    EXPECT_EQ(joined(x.where), "b ");
    // A name that comes before it: it acts once the other one has ended.
    w.home.put("a", kubeconfig_for("c2"));
    co_await l.sleep_for(5s);
    EXPECT_EQ(joined(x.where), "a ");
    EXPECT_EQ(w.fleet.find("b")->state(), cluster_state::twin);
    const auto all = boost::json::parse(everything_of(w.fleet)).as_array();
    EXPECT_EQ(all.at(0).at("state"), "Live");
    EXPECT_EQ(all.at(1).at("state"), "Twin");
    EXPECT_EQ(all.at(1).at("lastError"), "it is the same cluster as \"a\", which acts");
    EXPECT_EQ(all.at(1).at("apis").at("x").at("state"), "Twin");
    // The one that acts leaves.
    w.home.remove("a");
    co_await l.sleep_for(5s);
    EXPECT_EQ(joined(x.where), "b ");
    EXPECT_EQ(w.fleet.find("b")->state(), cluster_state::live);
    EXPECT_EQ(x.most, 1u) << "never both at once";
  });
}

TEST_F(Fleet, ANameWhoseCredentialsAreRefusedIsNotTheOneThatActs) {
  for (const char* first : {"a", "self-cluster"})  // by name, and by the rule for self-cluster
    for (const bool from_the_start : {true, false}) {
      SCOPED_TRACE(std::string(first) + (from_the_start ? ", from the start" : ", later"));
      const std::string refused = std::string(first) == "a" ? "a" : "b",
                        good = refused == "a" ? "b" : "self-cluster";
      acting_api x;
      run([&](world& w) -> awaitable<void> {
        std::set<std::string>& tokens = w.c1.refused_tokens;
        if (from_the_start) tokens.insert("expired");
        w.fleet.engage(x.made(cluster_api::names::one));
        w.home.put(good, kubeconfig_for("c1", "good"));
        w.home.put(refused, kubeconfig_for("c1", "expired"));
        w.fleet.discover(w.home_api, &w.events);
        for (int i = 0; i < 500; ++i) {  // a command that looks sees no Twin of the refused one
          co_await l.sleep_for(10ms);
          const cluster* c = from_the_start ? w.fleet.find(good) : nullptr;
          const bool is_known = c && w.fleet.is_known(*c->find("x"));
          EXPECT_FALSE(is_known && c->state() == cluster_state::twin) << i;
        }
        EXPECT_EQ(joined(x.where), (from_the_start ? good : refused) + " ");
        tokens.insert("expired");
        (void)co_await w.fleet.find(refused)->api().get_path("/version");
        co_await l.sleep_for(5s);
        EXPECT_EQ(joined(x.where), good + " ");
        EXPECT_EQ(w.fleet.find(good)->state(), cluster_state::live);
        EXPECT_EQ(w.fleet.find(refused)->state(), cluster_state::unauthorized);
        EXPECT_EQ(w.fleet.names_of(*w.fleet.find(refused)).primary, good);
        // It is the first again once its credentials work.
        tokens.clear();
        co_await l.sleep_for(3min);
        EXPECT_EQ(joined(x.where), refused + " ");
        EXPECT_EQ(w.fleet.find(good)->state(), cluster_state::twin);
        EXPECT_EQ(x.most, 1u) << "never both at once";
      });
    }
}

/// An API whose kinds the server forbids under some names.
struct forbidden_api : acting_api {
  cluster_api made(cluster_api::names under) {
    cluster_api a = acting_api::made(under);
    a.start = [this, before = a.start](engagement& e) -> awaitable<result<void>> {
      tried += e.on().name() + " ";
      if (!forbidden.contains(e.on().name())) co_return co_await before(e);
      fault f;
      f.code = errc::forbidden;
      f.http_status = 403;
      f.doing = "list toys";
      co_return f;
    };
    return a;
  }
  std::set<std::string> forbidden;
  std::string tried;
};

TEST_F(Fleet, ANameThatIsForbiddenForAnApiGivesWayToOneThatIsNot) {
  forbidden_api x;
  x.forbidden = {"a"};
  run([&](world& w) -> awaitable<void> {
    w.fleet.engage(x.made(cluster_api::names::one));
    w.home.put("a", kubeconfig_for("c1", "few rights"));
    w.home.put("b", kubeconfig_for("c1", "all rights"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(10s);
    EXPECT_EQ(joined(x.where), "b ");
    EXPECT_EQ(w.fleet.find("b")->state(), cluster_state::live);
    EXPECT_EQ(w.fleet.find("a")->find("x")->says(),
              "it is the same cluster as \"b\", which acts, since the server refused it under this "
              "name");
    EXPECT_EQ(w.fleet.names_of(*w.fleet.find("a"), sameness::same, "x").primary, "b");
    EXPECT_EQ(w.fleet.names_of(*w.fleet.find("a")).primary, "a") << "for every other API";
    EXPECT_TRUE(w.fleet.can_act(*w.fleet.find("a")));
    EXPECT_FALSE(w.fleet.can_act(*w.fleet.find("a"), "x"));
    // Its rights are not tried while the other one acts, which would end that.
    const std::string tried = std::exchange(x.tried, "");
    EXPECT_EQ(tried, "a b ");
    co_await l.sleep_for(10min);
    EXPECT_EQ(x.tried, "");
    // A new kubeconfig is a new beginning.
    x.forbidden.clear();
    w.home.put("a", kubeconfig_for("c1", "more rights"));
    co_await l.sleep_for(10s);
    EXPECT_EQ(joined(x.where), "a ");
    EXPECT_EQ(x.most, 1u) << "never both at once";
  });
}

TEST_F(Fleet, NamesThatAreAllForbiddenForAnApiAreTriedInTurn) {
  forbidden_api x;
  x.forbidden = {"a", "b"};
  run([&](world& w) -> awaitable<void> {
    w.fleet.engage(x.made(cluster_api::names::one));
    w.home.put("a", kubeconfig_for("c1", "none"));
    w.home.put("b", kubeconfig_for("c1", "none either"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(1min);
    EXPECT_EQ(joined(x.where), "");
    EXPECT_TRUE(x.tried.starts_with("a b a b ")) << x.tried;
    x.tried.clear();
    co_await l.sleep_for(10min);
    EXPECT_LE(x.tried.size(), 2u * 2 * 20) << "no oftener than each name's delay: " << x.tried;
    x.forbidden = {"a"};
    co_await l.sleep_for(3min);
    EXPECT_EQ(joined(x.where), "b ");
    EXPECT_EQ(w.fleet.find("b")->state(), cluster_state::live);
    EXPECT_EQ(x.most, 1u);
  });
}

TEST_F(Fleet, ANameThatCannotBeReachedGivesWayAtOnceIfItNeverWasAndElseAfterAnOutage) {
  acting_api x;
  run([&](world& w) -> awaitable<void> {
    w.c2.uid = "uid-of-c1";
    w.c2.events = w.c1.events;
    w.fleet.engage(x.made(cluster_api::names::one));
    w.home.put("a", kubeconfig_for("c1"));
    w.home.put("b", kubeconfig_for("c2"));
    w.fleet.discover(w.home_api, &w.events);
    co_await l.sleep_for(5s);
    EXPECT_EQ(joined(x.where), "a ");
    net().set_reach("c1", memory_network::reach::refused);
    net().cut_all("c1");
    for (int i = 0; i < cluster_health::breaker_threshold; ++i)
      (void)co_await w.fleet.find("a")->api().get_path("/version");
    co_await l.sleep_for(1min);
    EXPECT_EQ(w.fleet.find("a")->state(), cluster_state::unreachable);
    EXPECT_EQ(joined(x.where), "a ") << "it may be back soon";
    co_await l.sleep_for(fleet::outage);
    EXPECT_EQ(joined(x.where), "b ");
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(3min);
    EXPECT_EQ(joined(x.where), "a ");
    EXPECT_EQ(x.most, 1u) << "never both at once";
  });
  acting_api y;
  run([&](world& w) -> awaitable<void> {  // two ways to one address, of which one is no way
    connection no_way = w.c1.server.to();
    no_way.proxy_url = reactor::secret("http://nowhere:3128");
    w.fleet.engage(y.made(cluster_api::names::one));
    w.fleet.add("a", no_way);
    w.fleet.add("b", w.c1.server.to());
    co_await l.sleep_for(10s);
    EXPECT_EQ(joined(y.where), "b ");
  });
}

TEST_F(Fleet, OneServerUnderTwoNamesIsKnownByItsAddressWhereItsUidIsNotRead) {
  acting_api x;
  run([&](world& w) -> awaitable<void> {
    w.fleet.engage(x.made(cluster_api::names::one));
    w.fleet.add("a", w.c1.server.to());
    w.fleet.add("b", w.c1.server.to());
    w.fleet.add("c", w.c2.server.to());
    co_await l.sleep_for(2s);
    EXPECT_EQ(joined(x.where), "a c ");
  });
}

TEST_F(Fleet, OtherNamesOfServersAreLookedForInPieces) {
  std::map<std::string, std::uint64_t> told_in_turn;
  fleet_options o;
  o.on_names = [&](cluster& c) { told_in_turn[c.name()] = reactor::loop_slice::number().value(); };
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::fleet f(l, o, reactor::logger());
    const auto reached_at = [](const std::string& host) {
      connection to;
      to.server = "http://" + host + ":6443";
      return to;
    };
    for (const char* name : {"a1", "a2"}) f.add(name, reached_at("first"));
    for (int i = 0; i < 2'000; ++i) f.add("m" + std::to_string(i), reached_at(std::to_string(i)));
    for (const char* name : {"z1", "z2"}) f.add(name, reached_at("last"));
    co_await l.sleep_for(2s);
    // Their other names act now: the first and the last that are looked at.
    for (const char* name : {"a1", "z1"})
      f.add(name, reactor::make_fault(reactor::errc::malformed, "read", "it is no kubeconfig"));
    co_await l.sleep_for(2s);
    co_await f.stop();
  });
  ASSERT_TRUE(told_in_turn.contains("a2") && told_in_turn.contains("z2"));
  EXPECT_GE(told_in_turn["z2"], told_in_turn["a2"] + 3) << "2,000 names were one turn's work";
}

/// A server that says that it has another one's UID, and what it answers when it is to prove that.
struct liar {
  const char* name;
  std::function<answer(const scripted_server::received&)> says;
};
std::vector<liar> liars() {
  using received = scripted_server::received;
  std::vector<liar> out;
  out.push_back({"knows nothing of it",
                 [](const received&) { return answer::failure(404, "NotFound", "not found"); }});
  out.push_back({"forbids it",
                 [](const received&) { return answer::failure(403, "Forbidden", "not allowed"); }});
  out.push_back({"repeats what it is asked", [](const received& r) {
                   boost::json::object o = boost::json::parse(r.body).as_object();
                   if (!o.contains("message"))
                     o["message"] = r.target.substr(r.target.rfind('/') + 1);
                   return answer::json(200, boost::json::serialize(o));
                 }});
  out.push_back({"says what was said to it before",
                 [last = std::make_shared<std::string>()](const received& r) {
                   boost::json::object o = boost::json::parse(r.body).as_object();
                   if (const auto* said = o.if_contains("message"))
                     *last = std::string(said->as_string());
                   o["message"] = *last;
                   return answer::json(200, boost::json::serialize(o));
                 }});
  out.push_back({"is silent", [](const received&) { return answer::stream().stay_open(); }});
  out.push_back({"answers no JSON", [](const received&) { return answer::json(200, "{"); }});
  return out;
}

class HostileMembers : public Fleet {};

TEST_F(HostileMembers, TakeThePlaceOfNoOtherByTheirUid) {
  counted_cases tried("members that lie about their UID");
  for (const liar& one : liars())
    for (const auto under : {cluster_api::names::one, cluster_api::names::each})
      tried([&] {
        acting_api x;
        log->clear();
        run([&](world& w) -> awaitable<void> {
          w.c2.uid = "uid-of-c1";
          w.c2.about_events = one.says;
          w.fleet.engage(x.made(under));
          w.home.put("b", kubeconfig_for("c1"));
          w.fleet.discover(w.home_api, &w.events);
          co_await l.sleep_for(2s);
          EXPECT_EQ(joined(x.where), "b ") << one.name;
          w.home.put("a", kubeconfig_for("c2"));
          for (int i = 0; i < 600; ++i) {
            co_await l.sleep_for(100ms);
            EXPECT_TRUE(x.where.contains("b")) << one.name << ": what runs is not disturbed";
          }
          EXPECT_EQ(joined(x.where), "a b ") << one.name;
          EXPECT_EQ(w.fleet.names_of(*w.fleet.find("b")).primary, "b") << one.name;
          EXPECT_EQ(w.fleet.find("b")->state(), cluster_state::live) << one.name;
          EXPECT_NE(w.events_sent().find("ClusterUIDClaimed:b"), std::string::npos) << one.name;
          // It is asked again and does no harm by that.
          for (int i = 0; i < 60; ++i) {
            co_await l.sleep_for(20s);
            EXPECT_EQ(w.fleet.names_of(*w.fleet.find("b")).primary, "b") << one.name;
          }
        });
        run([&](world& w) -> awaitable<void> {  // both come at once
          acting_api y;
          w.c2.uid = "uid-of-c1";
          w.c2.about_events = one.says;
          w.fleet.engage(y.made(under));
          w.home.put("b", kubeconfig_for("c1"));
          w.home.put("a", kubeconfig_for("c2"));
          w.fleet.discover(w.home_api, &w.events);
          co_await l.sleep_for(1min);
          EXPECT_EQ(joined(y.where), "a b ") << one.name;
          co_await w.fleet.withdraw("x");
        });
      });
}

TEST_F(Fleet, AnApiThatDecidesForEachObjectIsUnderEachName) {
  acting_api x;
  run([&](world& w) -> awaitable<void> {
    w.fleet.engage(x.made(cluster_api::names::each));
    w.fleet.add("a", w.c1.server.to());
    w.fleet.add("b", w.c1.server.to());
    co_await l.sleep_for(2s);
    EXPECT_EQ(joined(x.where), "a b ");
  });
}

TEST_F(Fleet, IsAFleetOfOneWithoutDiscovery) {
  run([&](world& w) -> awaitable<void> {
    w.fleet.add("only", w.c1.server.to());
    const bool at_once = co_await w.fleet.discovered(l.now());
    EXPECT_TRUE(at_once);
    co_await l.sleep_for(1s);
    EXPECT_EQ(said, "+only ");
    w.fleet.add("only", w.c2.server.to());
    co_await l.sleep_for(1s);
    EXPECT_EQ(said, "+only -only +only ");
    EXPECT_EQ(w.fleet.find("only")->uid(), "uid-of-c2");
  });
}

TEST_F(Fleet, LeaksNothingOverAThousandRotations) {
  run([&](world& w) -> awaitable<void> {
    w.home.put("a", kubeconfig_for("c1"));
    w.fleet.discover(w.home_api, nullptr);
    co_await l.sleep_for(61s);  // home was asked for its version, over a connection of its own
    const auto before = l.live();
    const std::size_t series = metrics.series();
    for (int i = 0; i < 1'000; ++i) {
      w.home.put("a", kubeconfig_for("c1", "t" + std::to_string(i)));
      co_await l.sleep_for(100ms);
    }
    co_await l.sleep_for(2s);
    EXPECT_EQ(l.live(), before);
    EXPECT_EQ(metrics.series(), series);
    EXPECT_LE(net().connections("c1"), 1u);
  });
}

TEST_F(Fleet, ConnectsToSomeClustersAtOnceAndToAllInTurn) {
  net().faults("c1").latency = 5ms;
  run([&](world& w) -> awaitable<void> {
    for (int i = 0; i < 300; ++i) w.fleet.add("c" + std::to_string(i), w.c1.server.to());
    std::size_t most = 0;
    for (int i = 0; i < 200; ++i) {
      co_await l.sleep_for(1ms);
      most = std::max(most, reactor::of_loop<reactor::dial_turns>(l).under_way());
    }
    EXPECT_EQ(most, reactor::dial_turns::most_at_once);
    co_await l.sleep_for(5s);
    for (cluster* c : w.fleet.clusters()) EXPECT_TRUE(c->is_connected()) << c->name();
  });
}

/// While thousands of clusters connect again, each turn of the loop takes as long as a handshake of
/// each of them.
TEST(FleetThatStops, LetsOthersRunBetweenSomeClustersAndNotAfterEach) {
  constexpr std::size_t clusters = 400;
  loop real;
  reactor::run_task(real, [&]() -> awaitable<void> {
    fleet f(real, {}, {});
    for (std::size_t i = 0; i < clusters; ++i) {
      reactor::fault wrong = reactor::make_fault(reactor::errc::malformed, "read it");
      f.add("c" + std::to_string(i), std::move(wrong));
    }
    std::size_t turns = 0;
    bool stopped = false;
    reactor::task_group beside(real);
    beside.start("others", [&]() -> awaitable<void> {
      for (; !stopped; ++turns) co_await real.yield();
    });
    co_await f.stop();
    stopped = true;
    co_await beside.join();
    EXPECT_LE(turns, clusters / 10);
    EXPECT_GE(turns, clusters / 40) << "others have to run between them";
  });
}

TEST_F(Fleet, StopsAtAnyMoment) {
  for (int step = 0; step < 40; ++step) {
    for (const char* host : {"home", "c1", "c2"}) net().faults(host).latency = 1ms;
    run([&](world& w) -> awaitable<void> {
      w.home.put("a", kubeconfig_for("c1"));
      w.home.put("b", kubeconfig_for("c2"));
      w.fleet.discover(w.home_api, &w.events);
      co_await l.sleep_for(step * 1ms);
    });
    ASSERT_EQ(l.live(), reactor::nothing_live) << step;
  }
}

}  // namespace
}  // namespace k8s
