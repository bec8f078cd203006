// What it costs to prove that the views of many clusters are current, on embedded servers.
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/informer/proof_pace.hpp"
#include "k8s/sim/server.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/loop.hpp"
#include "reactor/of_loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;

TEST(ProofPace, GivesPlacesInOrderAndSavesUpASecondOfThem) {
  const reactor::loop l{reactor::loop::mode::simulated};
  proof_pace pace(l);
  pace.set_rate(4);
  const reactor::steady_time t(1h);
  std::vector<reactor::nanoseconds> waits;
  for (int i = 0; i < 8; ++i) waits.push_back(pace.take(t) - t);
  EXPECT_EQ(waits,
            (std::vector<reactor::nanoseconds>{0ms, 0ms, 0ms, 0ms, 0ms, 250ms, 500ms, 750ms}));
  EXPECT_EQ(pace.take(t + 500ms), t + 1s);
  EXPECT_EQ(pace.take(t + 10s), t + 10s);
}

/// Clusters with three informers each, on each of which a node is written every few seconds.
class many_clusters : public testing::Test {
protected:
  struct one_cluster {
    one_cluster(reactor::loop& l, const std::string& host)
        : api(sim::options_on(l)), front(l, {{host, 80}, nullptr}) {
      api.put(named("Node", "n"));
      api.before = [this](const sim::request& r) -> std::optional<sim::answer> {
        const auto has = [&](std::string_view name, std::string_view value) {
          return std::ranges::any_of(
              r.query, [&](const auto& q) { return q.first == name && q.second == value; });
        };
        ++all;
        if (has("limit", "1")) ++versions;
        return std::nullopt;
      };
      front.add(api);
      (void)front.start();
      connection to;
      to.server = "http://" + host + ":80";
      asks = std::make_unique<client>(l, std::move(to));
      follow<node>(l, resources::nodes());
      follow<pod>(l, resources::pods());
      follow<secret>(l, resources::secrets());
    }
    static boost::json::object named(const char* kind, const char* name) {
      boost::json::object o{{"apiVersion", "v1"}, {"kind", kind}};
      o["metadata"] = boost::json::object{{"name", name}};
      return o;
    }
    template <class View>
    void follow(reactor::loop& l, const resource& of) {
      informer_options o;
      o.collection = of;
      views.push_back(std::make_unique<informer<View>>(l, *asks, std::move(o)));
      views.back()->start();
    }
    void set_freshness(freshness how) {
      for (const auto& v : views) v->set_freshness(how);
    }
    bool may_be_acted_upon() const {
      return std::ranges::all_of(views, [](const auto& v) { return v->may_be_acted_upon(); });
    }
    reactor::awaitable<void> stop() {
      for (const auto& v : views) co_await v->stop();
      co_await asks->stop();
      co_await front.stop();
    }

    sim::api_server api;
    sim::server front;
    std::unique_ptr<client> asks;
    std::vector<std::unique_ptr<informer_base>> views;
    std::size_t all = 0, versions = 0;
  };

  void make(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(std::make_unique<one_cluster>(l, "c" + std::to_string(i)));
    tasks.start("writes", write());
    run_for(10s);
  }
  reactor::awaitable<void> write() {
    for (std::size_t n = 0;; ++n) {
      for (const auto& c : all)
        c->api.edit("", "nodes", "", "n", [&](boost::json::object& o) {
          o["spec"] = boost::json::object{{"podCIDR", std::to_string(n)}};
        });
      co_await l.sleep_for(3s);
    }
  }
  void run_for(reactor::nanoseconds d) { l.run_until(l.now() + d); }
  void set_freshness(freshness how) {
    for (const auto& c : all) c->set_freshness(how);
  }
  std::size_t sum(std::size_t one_cluster::* of) const {
    std::size_t n = 0;
    for (const auto& c : all) n += *c.*of;
    return n;
  }
  void TearDown() override {
    reactor::task_group stopping(l);
    stopping.start("stop", [this]() -> reactor::awaitable<void> {
      co_await tasks.cancel_and_join();
      for (const auto& c : all) co_await c->stop();
    });
    run_for(1min);
    EXPECT_TRUE(stopping.empty());
  }

  reactor::loop l{reactor::loop::mode::simulated, 5};
  std::vector<std::unique_ptr<one_cluster>> all;
  reactor::task_group tasks{l};
};

TEST_F(many_clusters, AskForTheirVersionsAtARateOfTheProcessWhileAllAreAttended) {
  reactor::of_loop<proof_pace>(l).set_rate(1);
  make(20);
  set_freshness(freshness::close);
  run_for(30s);
  // By the clusters' own rate it would be one in 8 s, 20 × 300 / 8.
  const std::size_t before = sum(&one_cluster::versions), all_before = sum(&one_cluster::all);
  run_for(5min);
  EXPECT_LE(sum(&one_cluster::versions) - before, 302u);
  EXPECT_GE(sum(&one_cluster::versions) - before, 290u);
  // Each is followed by a list and a watch for each stream that has not come to the version.
  EXPECT_LE(sum(&one_cluster::all) - all_before, 7u * 302u);
}

TEST_F(many_clusters, AllHaveTheSameShareOfThatRate) {
  reactor::of_loop<proof_pace>(l).set_rate(1);
  make(20);
  set_freshness(freshness::close);
  run_for(10min);
  std::vector<std::size_t> asked;
  for (const auto& c : all) asked.push_back(c->versions);
  const auto [least, most] = std::ranges::minmax(asked);
  EXPECT_LE(most - least, 2u);
}

TEST_F(many_clusters, AreProvedCurrentWhereTheRateHasRoomForThem) {
  make(20);
  set_freshness(freshness::close);
  run_for(10s);
  for (int second = 0; second < 60; ++second, run_for(1s))
    EXPECT_TRUE(std::ranges::all_of(all, [](const auto& c) { return c->may_be_acted_upon(); }));
}

TEST_F(many_clusters, AreNeverAskedLessOftenThanAtRest) {
  reactor::of_loop<proof_pace>(l).set_rate(0.01);
  make(20);
  set_freshness(freshness::close);
  run_for(1min);
  const std::size_t before = sum(&one_cluster::versions);
  run_for(5min);
  // Twice a minute, as at rest.
  EXPECT_GE(sum(&one_cluster::versions) - before, 180u);
  EXPECT_LE(sum(&one_cluster::versions) - before, 205u);
}

TEST_F(many_clusters, OneThatIsAttendedAloneIsAskedAtOnce) {
  reactor::of_loop<proof_pace>(l).set_rate(1);
  make(20);
  run_for(40s);
  all.front()->set_freshness(freshness::close);
  run_for(4s);
  EXPECT_TRUE(all.front()->may_be_acted_upon());
}

TEST_F(many_clusters, AtRestEachIsAskedTwiceAMinute) {
  make(20);
  run_for(1min);
  const std::size_t before = sum(&one_cluster::all);
  run_for(5min);
  EXPECT_LE(sum(&one_cluster::all) - before, 20u * 5 * 2 + 10);
}

}  // namespace
}  // namespace k8s
