// The brake's object at home as a service follows it, and as a person writes it, in virtual time.
#include "service/commands/brake/brake.hpp"

#include "cli/apis.hpp"
#include "k8s/client/client.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/home_brake.hpp"
#include "tests/cli/schema.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <string>

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace json = boost::json;

const std::vector<std::string> known = {"bootc", "tenants"};

/// A home, and who follows the brake there.
struct brake_at_home {
  brake_at_home() : api(k8s::sim::options_on(l)), home(l, {.at = {"home", 80}, .tls = nullptr}) {
    home.add(api);
    if (!home.start()) throw std::runtime_error("no home");
    api.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "fleet"}}}});
  }
  k8s::connection to() const {
    k8s::connection c;
    c.server = home.url();
    return c;
  }
  /// As kubectl writes it.
  void put(json::object data) {
    api.put({{"apiVersion", "v1"},
             {"kind", "ConfigMap"},
             {"metadata", {{"name", "windlass-brake"}, {"namespace", "fleet"}}},
             {"data", std::move(data)}});
  }
  home_brake::options options(bool acts = true) {
    home_brake::options o;
    o.ns = "fleet";
    o.apis = known;
    o.acts = acts;
    o.on_change = [this] { changed.push_back(l.now()); };
    return o;
  }
  void go(std::function<reactor::awaitable<void>()> body) {
    reactor::task_group tasks(l);
    tasks.start("test", [&]() -> reactor::awaitable<void> {
      co_await body();
      co_await home.stop();
      l.stop();
    });
    l.run();
  }

  reactor::loop l{reactor::loop::mode::simulated, 7};
  k8s::sim::api_server api;
  k8s::sim::server home;
  units::brake brake;
  std::vector<reactor::steady_time> changed;
};

TEST(HomeBrake, FollowsItsObjectWithinASecond) {
  brake_at_home at;
  at.go([&]() -> reactor::awaitable<void> {
    k8s::client api(at.l, at.to());
    home_brake follows(at.l, api, at.brake, at.options());
    EXPECT_TRUE(at.brake.stops("bootc", {})) << "nothing is done before it is read";
    follows.start();
    const bool known = co_await follows.known(at.l.now() + 5s);
    EXPECT_TRUE(known);
    EXPECT_FALSE(at.brake.order().is_on) << "no object, no brake";
    co_await at.l.sleep_for(1h);
    const reactor::steady_time landed = at.l.now();
    at.put({{"state", "on"}, {"why", "w"}, {"only", "tenants"}});
    co_await at.l.sleep_for(1s);
    EXPECT_TRUE(at.brake.stops("tenants", {}));
    EXPECT_FALSE(at.brake.stops("bootc", {}));
    EXPECT_LT(at.changed.back() - landed, 1s);
    at.put({{"state", "nonsense"}, {"only", "tenants"}});
    co_await at.l.sleep_for(1s);
    EXPECT_TRUE(at.brake.stops("bootc", {})) << "garbage stops everything";
    EXPECT_THAT(at.brake.order().problem, HasSubstr("neither on nor off"));
    at.put({{"state", "on"}, {"other", std::string(900'000, 'x')}});
    co_await at.l.sleep_for(1s);
    EXPECT_TRUE(at.brake.order().is_on) << "however much else is in it";
    EXPECT_EQ(at.brake.order().problem, "");
    at.api.erase("", "configmaps", "fleet", "windlass-brake");
    co_await at.l.sleep_for(1s);
    EXPECT_FALSE(at.brake.order().is_on);
    co_await follows.stop();
    co_await api.stop();
  });
}

TEST(HomeBrake, IsHeardWithinSecondsWhereItsEventWasLostSilently) {
  brake_at_home at;
  at.go([&]() -> reactor::awaitable<void> {
    k8s::client api(at.l, at.to());
    home_brake follows(at.l, api, at.brake, at.options());
    follows.start();
    (void)co_await follows.known(at.l.now() + 5s);
    co_await at.l.sleep_for(1h);
    reactor::memory_network& net = reactor::memory_network::of(at.l);
    net.set_reach("home", reactor::memory_network::reach::blackhole);
    at.put({{"state", "on"}});
    co_await at.l.sleep_for(100ms);
    net.set_reach("home", reactor::memory_network::reach::open);
    co_await at.l.sleep_for(20s);
    EXPECT_TRUE(at.brake.order().is_on);
    co_await follows.stop();
    co_await api.stop();
  });
}

TEST(HomeBrake, KeepsItsLastWordWhileHomeIsAway) {
  brake_at_home at;
  at.put({{"state", "on"}});
  at.go([&]() -> reactor::awaitable<void> {
    k8s::client api(at.l, at.to());
    home_brake follows(at.l, api, at.brake, at.options());
    follows.start();
    (void)co_await follows.known(at.l.now() + 5s);
    reactor::memory_network& net = reactor::memory_network::of(at.l);
    net.set_reach("home", reactor::memory_network::reach::blackhole);
    at.put({{"state", "off"}});
    co_await at.l.sleep_for(1h);
    EXPECT_TRUE(at.brake.order().is_on);
    EXPECT_EQ(at.brake.order().problem, "");
    net.set_reach("home", reactor::memory_network::reach::open);
    net.cut_all("home");
    co_await at.l.sleep_for(2min);
    EXPECT_FALSE(at.brake.order().is_on);
    co_await follows.stop();
    co_await api.stop();
  });
}

TEST(HomeBrake, ThatMayNotBeReadStopsWhoActsAndNobodyWhoLooks) {
  for (const bool acts : {true, false}) {
    brake_at_home at;
    at.api.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return r.path.find("configmaps") == std::string::npos;
    };
    at.go([&]() -> reactor::awaitable<void> {
      k8s::client api(at.l, at.to());
      home_brake follows(at.l, api, at.brake, at.options(acts));
      follows.start();
      const reactor::steady_time began = at.l.now();
      const bool known = co_await follows.known(began + 5s);
      EXPECT_TRUE(known) << "who is refused is not asked to wait";
      EXPECT_LT(at.l.now() - began, 5s);
      EXPECT_EQ(at.brake.order().is_on, acts);
      EXPECT_THAT(at.brake.order().problem, HasSubstr("cannot be read"));
      at.api.access().authorize = {};
      co_await at.l.sleep_for(5min);
      EXPECT_FALSE(at.brake.order().is_on) << "the right was granted";
      EXPECT_EQ(at.brake.order().problem, "");
      co_await follows.stop();
      co_await api.stop();
    });
  }
}

/// What a command says, and its exit code.
struct said {
  int code = -1;
  std::string out, err;
};

struct brake_commands_at_home : brake_at_home {
  reactor::awaitable<said> run(brake_arguments a) {
    said s;
    command_output out;
    out.text = [&s](const app::page& p) { s.out += p.text(); };
    out.bytes = [&s](const std::string& b) { s.out += b; };
    out.complaint = [&s](std::string c) { s.err += c; };
    a.fleet.ns = "fleet";
    k8s::client client(l, to());
    s.code = co_await set_brake(l, client, std::move(a), known, out);
    co_await client.stop();
    co_return s;
  }
  json::object data() {
    const auto there = api.get("", "configmaps", "fleet", "windlass-brake");
    return there ? there->at("data").as_object() : json::object();
  }
};

brake_arguments asks(brake_arguments::command what, std::string why = {}) {
  brake_arguments a;
  a.what = what;
  a.why = std::move(why);
  return a;
}
using verb = brake_arguments::command;

TEST(BrakeCommand, PutsItOnAndOffAndSaysWhoDid) {
  brake_commands_at_home at;
  at.go([&]() -> reactor::awaitable<void> {
    said s = co_await at.run(asks(verb::off));
    EXPECT_EQ(s.code, 0);
    EXPECT_EQ(s.out, "the brake is off; nothing was written\n");
    EXPECT_TRUE(at.data().empty());
    brake_arguments on = asks(verb::on, "bad image");
    on.only = {"bootc", "tenants"};
    on.selector = "env=prod";
    s = co_await at.run(on);
    EXPECT_EQ(s.code, 0) << s.err;
    EXPECT_THAT(s.out, HasSubstr(": bad image; only of bootc, tenants; only on clusters with "
                                 "env=prod\n"));
    json::object data = at.data();
    EXPECT_EQ(data.at("state"), "on");
    EXPECT_EQ(data.at("only"), "bootc,tenants");
    EXPECT_NE(data.at("by"), "");
    on = asks(verb::on, "all of it");
    on.list.output.format = output_format::json;
    s = co_await at.run(on);
    EXPECT_EQ(s.code, 0) << s.err;
    EXPECT_EQ(breaks_schema(json::parse(s.out).as_object()), "");
    data = at.data();
    EXPECT_EQ(data.at("why"), "all of it");
    EXPECT_FALSE(data.contains("only")) << "what the last one named is gone";
    EXPECT_FALSE(data.contains("selector"));
    s = co_await at.run(asks(verb::off));
    EXPECT_EQ(s.code, 0) << s.err;
    EXPECT_THAT(s.out, HasSubstr("the brake is off since "));
    EXPECT_EQ(at.data().at("state"), "off");
    EXPECT_FALSE(at.data().contains("why"));
  });
}

TEST(BrakeCommand, TellsOfAWriterWhoWasFaster) {
  for (const bool there : {false, true}) {
    brake_commands_at_home at;
    if (there) at.put({{"state", "off"}});
    at.api.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method == "GET" || r.path.find("configmaps") == std::string::npos) return std::nullopt;
      at.api.before = nullptr;
      at.put({{"state", "on"}, {"by", "ann"}, {"why", "she was first"}});
      return std::nullopt;
    };
    at.go([&]() -> reactor::awaitable<void> {
      const said s = co_await at.run(asks(verb::on, "mine"));
      EXPECT_EQ(s.code, 1);
      EXPECT_EQ(s.err,
                "another writer was faster, so nothing was written: the brake is on, by ann: she "
                "was first");
      EXPECT_EQ(at.data().at("why"), "she was first");
    });
  }
}

}  // namespace
}  // namespace cli
