// The states of a cluster as a table and the cluster that goes through them: both are one story,
// told with the same failures.
#include "k8s/fleet/cluster.hpp"

#include "k8s/fleet/metric_table.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using reactor::loop;
using reactor::memory_network;
using state = cluster_state;
using verdict = cluster_health::verdict;

fault failure(errc code, int status) {
  fault f;
  f.code = code;
  f.http_status = status;
  f.doing = "get /version";
  f.detail = "no";
  return f;
}

const fault refused = failure(errc::unavailable, 0), overloaded = failure(errc::unavailable, 503),
            unauthorized = failure(errc::unauthorized, 401),
            forbidden = failure(errc::forbidden, 403), absent = failure(errc::not_found, 404),
            stranger = failure(errc::malformed, 200), nonsense = failure(errc::malformed, 0);

struct Health : testing::Test {
  cluster_health h{reactor::steady_time{}, reactor::wall_time{}};
  reactor::steady_time now{};
  reactor::wall_time wall{};
  void later() {
    now += 1s;
    wall += 1s;
  }
};

TEST_F(Health, NamesTheStateAfterEachFailureOfEngaging) {
  const std::pair<fault, state> table[] = {
      {refused, state::unreachable},  {overloaded, state::unreachable},
      {stranger, state::unreachable}, {unauthorized, state::unauthorized},
      {forbidden, state::forbidden},  {absent, state::crd_missing},
      {nonsense, state::unreachable}};
  for (const auto& [why, expected] : table) {
    cluster_health one{now, wall};
    one.dialling(now, wall);
    EXPECT_EQ(one.state(), state::connecting);
    EXPECT_EQ(one.failed(why, now, wall), verdict::probe);
    EXPECT_EQ(one.state(), expected);
    EXPECT_EQ(one.last_error(), "get /version: no");
    one.dialling(now, wall);
    EXPECT_EQ(one.state(), expected) << "stays visible while it is tried again";
  }
}

TEST_F(Health, GoesLiveAndForgetsTheError) {
  h.failed(refused, now, wall);
  later();
  h.answered(now, wall);
  EXPECT_EQ(h.state(), state::syncing);
  EXPECT_EQ(h.since(), now);
  later();
  h.engaged(now, wall);
  EXPECT_EQ(h.state(), state::live);
  EXPECT_EQ(h.last_error(), "");
}

TEST_F(Health, OpensTheBreakerAfterThreeTransportFailuresInARow) {
  h.engaged(now, wall);
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(&overloaded, now, wall), verdict::carry_on) << "an answer, so it is there";
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(nullptr, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(&nonsense, now, wall), verdict::carry_on);
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::probe);
  EXPECT_EQ(h.state(), state::unreachable);
  EXPECT_EQ(h.outcome(&refused, now, wall), verdict::carry_on) << "asked for once";
}

TEST_F(Health, RecoversAsStaleUntilItsViewsAreCurrent) {
  h.engaged(now, wall);
  for (int i = 0; i < 3; ++i) h.outcome(&refused, now, wall);
  EXPECT_EQ(h.probed(now, wall), verdict::recovered);
  EXPECT_EQ(h.state(), state::stale);
  h.doubted(now, wall, "");
  EXPECT_EQ(h.state(), state::stale);
  h.current(now, wall);
  EXPECT_EQ(h.state(), state::live);
  EXPECT_EQ(h.probed(now, wall), verdict::carry_on);
}

TEST_F(Health, NoticesCredentialsThatStoppedWorking) {
  h.engaged(now, wall);
  EXPECT_EQ(h.outcome(&forbidden, now, wall), verdict::carry_on)
      << "one right is missing somewhere";
  EXPECT_EQ(h.outcome(&unauthorized, now, wall), verdict::probe);
  EXPECT_EQ(h.state(), state::unauthorized);
  EXPECT_EQ(h.probed(now, wall), verdict::recovered);
}

TEST_F(Health, IgnoresFreshnessWhileItIsDown) {
  h.current(now, wall);
  EXPECT_EQ(h.state(), state::connecting);
  h.invalid("no context", now, wall);
  h.current(now, wall);
  EXPECT_EQ(h.state(), state::invalid);
  EXPECT_EQ(h.last_error(), "no context");
}

class Cluster : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  cluster_options named(std::string name) {
    cluster_options o;
    o.name = std::move(name);
    o.hash = "abc";
    o.metrics = &metrics;
    o.on_state = [this](cluster& c, state) { states += std::string(name_of(c.state())) + " "; };
    o.on_engaged = [this](cluster&) { ++engaged; };
    o.on_recovered = [this](cluster&) { ++recovered; };
    return o;
  }
  memory_network& net() { return memory_network::of(l); }
  loop l{loop::mode::simulated, 9};
  reactor::metrics metrics;
  std::string states;
  int engaged = 0, recovered = 0;
};

TEST_F(Cluster, EngagesStepByStep) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    int stepped = 0;
    o.apis.push_back({"count", [&](engagement& e) -> awaitable<result<void>> {
                        EXPECT_EQ(e.state(), state::syncing);
                        EXPECT_EQ(e.on().state(), state::syncing);
                        EXPECT_EQ(e.on().uid(), "uid-of-c1");
                        ++stepped;
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    EXPECT_EQ(c.state(), state::connecting);
    c.start();
    const bool up = co_await c.engaged(l.now() + 1s);
    EXPECT_TRUE(up);
    EXPECT_TRUE(c.is_live());
    EXPECT_EQ(states, "Syncing Live ");
    EXPECT_EQ(stepped, 1);
    EXPECT_EQ(engaged, 1);
    const boost::json::object entry = c.to_json();
    EXPECT_EQ(entry.at("state"), "Live");
    EXPECT_EQ(entry.at("server"), "http://c1:6443");
    EXPECT_EQ(entry.at("uid"), "uid-of-c1");
    EXPECT_EQ(entry.at("lastError"), "");
    EXPECT_NE(metrics.text().find("windlass_cluster_state{cluster=\"c1\",state=\"Live\"} 1"),
              std::string::npos)
        << metrics.text();
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, KeepsTryingWithBackoffUntilTheServerIsThere) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    net().set_reach("c1", memory_network::reach::refused);
    cluster c(l, api.server.to(), named("c1"));
    c.start();
    co_await l.sleep_for(10min);
    EXPECT_EQ(c.state(), state::unreachable);
    EXPECT_NE(c.last_error(), "");
    EXPECT_EQ(states, "Unreachable ");
    net().set_reach("c1", memory_network::reach::open);
    const bool up = co_await c.engaged(l.now() + 61s);
    EXPECT_TRUE(up);
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, ShowsMissingRightsKindsAndCredentials) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    fault next = absent;
    bool fails = true;
    cluster_options o = named("c1");
    o.apis.push_back({"ensure", [&](engagement&) -> awaitable<result<void>> {
                        if (fails) co_return next;
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(1s);
    EXPECT_EQ(c.state(), state::crd_missing);
    next = forbidden;
    co_await l.sleep_for(5s);
    EXPECT_EQ(c.state(), state::forbidden);
    fails = false;
    api.unauthorized = true;
    co_await l.sleep_for(30s);
    EXPECT_EQ(c.state(), state::unauthorized);
    api.unauthorized = false;
    co_await l.sleep_for(60s);
    EXPECT_TRUE(c.is_live());
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, StopsActingWhileTheServerIsGoneAndTellsWhenItIsBack) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster c(l, api.server.to(), named("c1"));
    c.start();
    (void)co_await c.engaged();
    net().set_reach("c1", memory_network::reach::refused);
    net().cut_all("c1");
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(c.is_live());
      auto got = co_await c.api().get_path("/version");
      EXPECT_FALSE(got);
    }
    EXPECT_EQ(c.state(), state::unreachable);
    co_await l.sleep_for(5min);
    EXPECT_EQ(recovered, 0);
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(61s);
    EXPECT_TRUE(c.is_live());
    EXPECT_EQ(recovered, 1);
    EXPECT_EQ(engaged, 1);
    EXPECT_EQ(states, "Syncing Live Unreachable Stale Live ");
    co_await c.stop();
    co_await api.server.stop();
  });
}

/// An informer as a part of the cluster.
struct secrets_part final : cluster_controller {
  explicit secrets_part(engagement& e) : owner(e), informer_(e.loop(), e.api(), options()) {
    owner.follow(informer_);
    informer_.start();
  }
  static informer_options options() {
    informer_options o;
    o.collection = resources::secrets();
    o.ns = "default";
    return o;
  }
  awaitable<void> stop() override {
    owner.unfollow(informer_);
    co_await informer_.stop();
  }
  engagement& owner;
  informer<secret> informer_;
};

TEST_F(Cluster, IsStaleWhileItsInformersHearNothingAndSomebodyIsAboutToAct) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    o.apis.push_back({"secrets", [](engagement& e) -> awaitable<result<void>> {
                        if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    c.set_freshness(freshness::close);
    co_await l.sleep_for(60s);
    EXPECT_TRUE(c.is_live()) << name_of(c.state());
    net().set_reach("c1", memory_network::reach::stalled);
    co_await l.sleep_for(31s);
    EXPECT_FALSE(c.is_live()) << name_of(c.state());
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(2min);
    EXPECT_TRUE(c.is_live()) << name_of(c.state());
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, IsStaleWithinFiveMinutesWhenNobodyIsAboutToAct) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    o.apis.push_back({"secrets", [](engagement& e) -> awaitable<result<void>> {
                        if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(60s);
    EXPECT_TRUE(c.is_live()) << name_of(c.state());
    net().set_reach("c1", memory_network::reach::stalled);
    co_await l.sleep_for(300s);
    EXPECT_FALSE(c.is_live()) << name_of(c.state());
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(2min);
    EXPECT_TRUE(c.is_live()) << name_of(c.state());
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, AMissingRightIsForbiddenAndNamesVerbAndResource) {
  for (const std::string verb : {"list", "watch"}) {
    SCOPED_TRACE(verb);
    states.clear();
    reactor::run_task(l, [&]() -> awaitable<void> {
      api_server api(l, "c1");
      api.refuses = verb;
      cluster_options o = named("c1");
      o.apis.push_back({"secrets", [this](engagement& e) -> awaitable<result<void>> {
                          if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                          co_await l.sleep_for(1s);
                          if (auto refused = e.refusal()) co_return *std::move(refused);
                          co_return result<void>();
                        }});
      cluster c(l, api.server.to(), o);
      c.start();
      co_await l.sleep_for(3s);
      EXPECT_EQ(c.state(), state::forbidden) << name_of(c.state());
      EXPECT_THAT(c.last_error(), testing::HasSubstr("cannot " + verb + " resource \"secrets\""));
      EXPECT_THAT(c.find("secrets")->says(), testing::HasSubstr(verb));
      // The right is given: what is kept becomes current by itself.
      api.refuses.clear();
      co_await l.sleep_for(2min);
      EXPECT_TRUE(c.is_live()) << c.last_error();
      co_await c.stop();
      co_await api.server.stop();
    });
  }
}

TEST_F(Cluster, ARightThatIsTakenAwayIsForbidden) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    o.apis.push_back({"secrets", [](engagement& e) -> awaitable<result<void>> {
                        if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(10s);
    EXPECT_TRUE(c.is_live());
    api.refuses = "list";
    co_await l.sleep_for(17min);
    EXPECT_EQ(c.state(), state::forbidden) << "its watch goes on, and its list does not";
    api.refuses.clear();
    co_await l.sleep_for(2min);
    EXPECT_TRUE(c.is_live()) << c.last_error();
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, SaysWhatItWaitsForWhileItIsSyncing) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    bool goes_on = false;
    o.apis.push_back({"secrets", [&](engagement& e) -> awaitable<result<void>> {
                        while (!goes_on) co_await l.sleep_for(1s);
                        if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                        while (goes_on) co_await l.sleep_for(1s);
                        co_return result<void>();
                      }});
    api.server.on("GET", "/api/v1/namespaces/kube-system",
                  answer::json(200, R"({"metadata":{"name":"kube-system","uid":"u"}})").wait(2s));
    api.server.always("GET", "/api/v1/namespaces/default/secrets?", answer::silence());
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(1s);
    EXPECT_EQ(c.state(), state::syncing);
    EXPECT_THAT(c.says(), testing::HasSubstr("kube-system"));
    co_await l.sleep_for(3s);
    EXPECT_EQ(c.state(), state::syncing);
    EXPECT_THAT(c.says(), testing::HasSubstr("kinds"));
    goes_on = true;
    co_await l.sleep_for(3s);
    EXPECT_EQ(c.state(), state::syncing);
    EXPECT_EQ(c.says(), "secrets are not complete");
    EXPECT_EQ(c.to_json().at("lastError"), "secrets are not complete");
    EXPECT_EQ(c.to_json().at("apis").at("secrets").at("lastError"), "secrets are not complete");
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, AnApiThatMissesItsKindLeavesTheOthersLive) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    bool missing = true;
    o.apis.push_back({"a", [&](engagement&) -> awaitable<result<void>> {
                        if (missing) co_return absent;
                        co_return result<void>();
                      }});
    o.apis.push_back(
        {"b", [](engagement&) -> awaitable<result<void>> { co_return result<void>(); }});
    cluster c(l, api.server.to(), o);
    c.start();
    const bool up = co_await c.engaged(l.now() + 1s);
    EXPECT_TRUE(up);
    EXPECT_EQ(c.find("a")->state(), state::crd_missing);
    EXPECT_TRUE(c.find("a")->is_settled());
    EXPECT_TRUE(c.find("b")->is_live());
    EXPECT_TRUE(c.is_live()) << "something can be done there";
    const boost::json::object shown = c.to_json().at("apis").as_object();
    EXPECT_EQ(shown.at("a").at("state"), "CRDMissing");
    EXPECT_EQ(std::string(shown.at("a").at("lastError").as_string()), absent.message());
    EXPECT_EQ(shown.at("b").at("state"), "Live");
    EXPECT_NE(
        metrics.text().find("windlass_api_state{api=\"a\",cluster=\"c1\",state=\"CRDMissing\"} 1"),
        std::string::npos)
        << metrics.text();
    missing = false;
    co_await l.sleep_for(61s);
    EXPECT_TRUE(c.find("a")->is_live());
    EXPECT_EQ(c.find("a")->last_error(), "");
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, AnApiThatIsTriedAgainAsksWhatIsServedByNow) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    o.apis.push_back({"a", [](engagement& e) -> awaitable<result<void>> {
                        resource wanted = resources::leases();
                        auto served = co_await e.discovery().serves(std::move(wanted));
                        if (!served) co_return served.error();
                        if (!*served) co_return absent;
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(10s);
    EXPECT_EQ(c.state(), state::crd_missing);
    EXPECT_EQ(states, "Syncing CRDMissing ") << "said once";
    api.server.always("GET", "/apis",
                      answer::json(200, R"({"groups":[{"name":"coordination.k8s.io","versions":[
                        {"groupVersion":"coordination.k8s.io/v1","version":"v1"}],
                        "preferredVersion":{"groupVersion":"coordination.k8s.io/v1"}}]})"));
    api.server.always("GET", "/apis/coordination.k8s.io/v1",
                      answer::json(200, R"({"resources":[{"name":"leases","kind":"Lease"}]})"));
    co_await l.sleep_for(61s);
    EXPECT_TRUE(c.is_live()) << c.last_error();
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, AnApiIsWithdrawnAloneAndMayComeBack) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    const cluster_api secrets{"secrets", [](engagement& e) -> awaitable<result<void>> {
                                if (!e.part()) e.attach(std::make_unique<secrets_part>(e));
                                co_return result<void>();
                              }};
    cluster_options o = named("c1");
    o.apis.push_back(secrets);
    o.apis.push_back(
        {"b", [](engagement&) -> awaitable<result<void>> { co_return result<void>(); }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(1s);
    EXPECT_NE(c.part("secrets"), nullptr);
    bool gone = false;
    c.withdraw("secrets", [&] { gone = true; });
    EXPECT_EQ(c.find("secrets"), nullptr) << "nobody reaches it any more";
    co_await l.sleep_for(1s);
    EXPECT_TRUE(gone);
    EXPECT_TRUE(c.find("b")->is_live());
    c.engage(secrets);
    co_await l.sleep_for(10s);
    EXPECT_TRUE(c.find("secrets")->is_live());
    EXPECT_NE(c.part("secrets"), nullptr);
    c.withdraw("secrets");  // stop() waits for it
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, AnApiOfAServerThatWentAwayWaitsForItsAnswer) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    int tries = 0;
    cluster_options o = named("c1");
    o.apis.push_back({"a", [&](engagement&) -> awaitable<result<void>> {
                        ++tries;
                        co_return refused;
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(1s);
    net().set_reach("c1", memory_network::reach::refused);
    net().cut_all("c1");
    for (int i = 0; i < 3; ++i) (void)co_await c.api().get_path("/version");
    const int before = tries;
    co_await l.sleep_for(10min);
    EXPECT_EQ(tries, before) << "only probes go there";
    EXPECT_EQ(c.find("a")->state(), state::unreachable);
    net().set_reach("c1", memory_network::reach::open);
    co_await l.sleep_for(2min);
    EXPECT_GT(tries, before);
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, CountsWhatItsInformersDo) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster_options o = named("c1");
    o.apis.push_back({"secrets", [](engagement& e) -> awaitable<result<void>> {
                        e.attach(std::make_unique<secrets_part>(e));
                        co_return result<void>();
                      }});
    cluster c(l, api.server.to(), o);
    c.start();
    co_await l.sleep_for(6s);
    api.put("a", "x");
    api.put("a", "y");
    co_await l.sleep_for(31s);
    const auto value = [&](const std::string& name) {
      const auto kind = std::ranges::find(
          fleet_metrics::all, "windlass_informer_" + name + "_total", &reactor::metric_kind::name);
      return metrics.get_counter(*kind, {{"cluster", "c1"}, {"kind", "Secret"}}).value();
    };
    const std::string before = metrics.text();
    EXPECT_EQ(before.find("windlass_informer_oddities_total"), std::string::npos)
        << "what never happened has no series";
    EXPECT_EQ(value("events"), 2);
    EXPECT_EQ(value("watches"), 1);
    EXPECT_GE(value("lists"), 1);
    EXPECT_GT(value("bytes"), 100);
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, ShowsThePauseThatTheServerAskedFor) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    cluster c(l, api.server.to(), named("c1"));
    c.start();
    const bool up = co_await c.engaged(l.now() + 1s);
    EXPECT_TRUE(up);
    EXPECT_LE(c.api().paused_until(), l.now());
    EXPECT_FALSE(c.to_json().contains("pausedUntil"));
    api.server.on("GET", "/version",
                  answer::failure(429, "TooManyRequests", "later").header("Retry-After", "40"));
    auto version = co_await c.discovery().read_version(5s);
    EXPECT_FALSE(version);
    EXPECT_EQ(c.api().paused_until() - l.now(), 40s);
    EXPECT_EQ(std::string(c.to_json().at("pausedUntil").as_string()),
              reactor::format_rfc3339(l.wall() + 40s));
    co_await l.sleep_for(41s);
    EXPECT_FALSE(c.to_json().contains("pausedUntil"));
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(Cluster, StopsAtAnyMoment) {
  for (int step = 0; step < 60; ++step) {
    net().faults("c1").latency = 1ms;
    reactor::run_task(l, [&]() -> awaitable<void> {
      api_server api(l, "c1");
      cluster c(l, api.server.to(), named("c1"));
      c.start();
      co_await l.sleep_for(step * 400us);
      co_await c.stop();
      co_await api.server.stop();
    });
    ASSERT_EQ(l.live(), reactor::nothing_live) << step;
  }
}

}  // namespace
}  // namespace k8s
