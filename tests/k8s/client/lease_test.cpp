#include "k8s/lease/lease.hpp"

#include "k8s/client/client.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace k8s {
namespace {

namespace json = boost::json;
using reactor::loop;
using reactor::steady_time;
using act = leader_state::act;

const reactor::wall_time wall{};

steady_time at(int seconds) {
  return steady_time(std::chrono::seconds(seconds));
}

lease_record held_by(std::string holder, std::string renewed) {
  lease_record r;
  r.holder = std::move(holder);
  r.duration_seconds = 15;
  r.renewed = std::move(renewed);
  r.resource_version = "5";
  r.transitions = 3;
  return r;
}

TEST(LeaderState, CreatesAMissingLease) {
  leader_state s("a");
  const auto d = s.decide(std::nullopt, at(0), wall);
  EXPECT_EQ(d.what, act::create);
  EXPECT_EQ(d.write.holder, "a");
  EXPECT_EQ(d.write.duration_seconds, 15);
  EXPECT_FALSE(s.leading(at(0)));
  s.wrote(d.write, at(0));
  EXPECT_TRUE(s.leading(at(9)));
  EXPECT_FALSE(s.leading(at(10)));
}

TEST(LeaderState, WaitsForALeaderThatKeepsRenewing) {
  leader_state s("b");
  for (int t = 0; t < 60; t += 2) {
    const auto d = s.decide(held_by("a", std::to_string(t)), at(t), wall);
    EXPECT_EQ(d.what, act::wait);
  }
  EXPECT_EQ(s.holder(), "a");
}

TEST(LeaderState, TakesOverFifteenSecondsAfterItSawTheLastRenewal) {
  leader_state s("b");
  const lease_record silent = held_by("a", "x");
  EXPECT_EQ(s.decide(silent, at(100), wall).what, act::wait);
  EXPECT_EQ(s.decide(silent, at(114), wall).what, act::wait);
  const auto d = s.decide(silent, at(115), wall);
  EXPECT_EQ(d.what, act::update);
  EXPECT_EQ(d.write.resource_version, "5");
  EXPECT_EQ(d.write.transitions, 4);
}

TEST(LeaderState, TakesAReleasedLeaseAtOnce) {
  leader_state s("b");
  EXPECT_EQ(s.decide(held_by("", "x"), at(0), wall).what, act::update);
}

TEST(LeaderState, RenewsItsOwnWithoutATransition) {
  leader_state s("a");
  s.wrote(held_by("a", "x"), at(0));
  const auto d = s.decide(held_by("a", "x"), at(2), wall);
  EXPECT_EQ(d.what, act::update);
  EXPECT_EQ(d.write.transitions, 3);
  ASSERT_TRUE(s.release(wall));
  EXPECT_EQ(s.release(wall)->holder, "");
}

TEST(LeaderState, StepsDownWhenAnotherHoldsTheLease) {
  leader_state s("a");
  s.wrote(held_by("a", "x"), at(0));
  EXPECT_EQ(s.decide(held_by("b", "y"), at(1), wall).what, act::wait);
  EXPECT_FALSE(s.leading(at(1)));
  EXPECT_FALSE(s.release(wall));
}

/// A server that keeps Leases with resource versions.
struct lease_server {
  explicit lease_server(loop& l) : server(l) {
    server.otherwise([this](const scripted_server::received& r) { return reply(r); });
  }
  answer reply(const scripted_server::received& r) {
    if (broken) return answer::silence();
    const std::string path = r.target.substr(0, r.target.find('?'));
    if (path.ends_with("/leases") && r.method == "GET") {
      json::array items;
      for (const auto& [name, lease] : leases) items.push_back(lease);
      return answer::json(200, R"({"kind":"LeaseList","items":)" + json::serialize(items) + "}");
    }
    const std::string name = path.substr(path.rfind('/') + 1);
    if (r.method == "GET") {
      if (!leases.contains(name)) return answer::failure(404, "NotFound", "no such lease");
      return answer::json(200, json::serialize(leases[name]));
    }
    if (r.method == "DELETE") {
      leases.erase(name);
      return answer::json(200, R"({"kind":"Status","status":"Success"})");
    }
    json::object body = json::parse(r.body).as_object();
    json::object& metadata = body["metadata"].as_object();
    const std::string key(metadata["name"].as_string());
    if (r.method == "POST" && leases.contains(key))
      return answer::failure(409, "AlreadyExists", "there");
    if (r.method == "PUT" &&
        metadata["resourceVersion"] !=
            leases[key].as_object()["metadata"].as_object()["resourceVersion"]) {
      return answer::failure(409, "Conflict", "changed");
    }
    metadata["resourceVersion"] = std::to_string(++version);
    leases[key] = body;
    return answer::json(200, json::serialize(body));
  }
  scripted_server server;
  std::map<std::string, json::value> leases;
  int version = 0;
  bool broken = false;
};

class Leader : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  leader_election::options named(std::string identity) {
    leader_election::options o;
    o.lease = {"ns", "bootc-operator.bootc.dev"};
    o.identity = identity;
    o.on_started = [this, identity] { said.push_back(identity + " started"); };
    o.on_lost = [this, identity] { said.push_back(identity + " lost"); };
    return o;
  }
  loop l{loop::mode::simulated, 5};
  std::vector<std::string> said;
};

TEST_F(Leader, HandsOverWhenItStops) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    lease_server api(l);
    client one(l, api.server.to()), two(l, api.server.to());
    leader_election a(l, one, named("a")), b(l, two, named("b"));
    a.start();
    co_await l.sleep_for(1s);
    b.start();
    co_await l.sleep_for(60s);
    EXPECT_TRUE(a.leading());
    EXPECT_FALSE(b.leading());
    EXPECT_EQ(b.holder(), "a");
    co_await a.stop();
    co_await l.sleep_for(3s);
    EXPECT_TRUE(b.leading());
    EXPECT_EQ(said, (std::vector<std::string>{"a started", "b started"}));
    co_await b.stop();
    co_await one.stop();
    co_await two.stop();
    co_await api.server.stop();
  });
}

TEST_F(Leader, StepsDownWithinTheDeadlineWhileTheServerHangs) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    lease_server api(l);
    client one(l, api.server.to());
    leader_election a(l, one, named("a"));
    a.start();
    co_await l.sleep_for(5s);
    EXPECT_TRUE(a.leading());
    api.broken = true;
    co_await l.sleep_for(10s + 100ms);
    EXPECT_FALSE(a.leading());
    EXPECT_EQ(said, (std::vector<std::string>{"a started", "a lost"}));
    api.broken = false;
    co_await l.sleep_for(15s);
    EXPECT_TRUE(a.leading());
    co_await a.stop();
    co_await one.stop();
    co_await api.server.stop();
  });
}

TEST_F(Leader, NeverTwoAtOnceWhileConnectionsBreak) {
  reactor::memory_network::of(l).faults("api").cut_chance = 0.02;
  reactor::run_task(l, [&]() -> awaitable<void> {
    lease_server api(l);
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::unique_ptr<leader_election>> elections;
    for (const char* name : {"a", "b", "c"}) {
      clients.push_back(std::make_unique<client>(l, api.server.to()));
      elections.push_back(std::make_unique<leader_election>(l, *clients.back(), named(name)));
      elections.back()->start();
    }
    int led = 0;
    for (int i = 0; i < 1'200; ++i) {
      co_await l.sleep_for(500ms);
      int leaders = 0;
      for (const auto& e : elections) leaders += e->leading();
      EXPECT_LE(leaders, 1) << i;
      led += leaders;
    }
    EXPECT_GT(led, 600);
    for (const auto& e : elections) co_await e->stop();
    for (const auto& c : clients) co_await c->stop();
    co_await api.server.stop();
  });
}

}  // namespace
}  // namespace k8s
