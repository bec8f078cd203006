// A pool of thousands of nodes: nothing that is done for it may keep the loop for itself.
#include "bootc/tags/tag_watcher.hpp"
#include "bootc/pool/drains.hpp"
#include "bootc/pool/reconciler/node_pool_reconciler.hpp"
#include "bootc/pool/pack_rollout_policy.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "tests/bootc/builders.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using namespace testing;

std::string name_of(std::size_t i) {
  char text[32];
  std::snprintf(text, sizeof text, "node-%06zu.example.org", i);
  return text;
}

/// The situation's objects, as the views of a cluster.
class large_cluster {
public:
  explicit large_cluster(const situation& s) {
    put<node_pool>(pools, s.world.pool, nullptr);
    for (const k8s::node* n : s.world.nodes) put(nodes, *n, &copied_nodes);
    for (const bootc_node* b : s.world.bootc_nodes) put(bootc_nodes, *b, &copied_bootc_nodes);
  }

  /// What the next pass would do, and how often others had their turn meanwhile.
  struct outcome {
    std::optional<rollout_plan> plan;
    std::size_t turns_of_others = 0;
    std::string policy;
  };
  outcome look(plan_view of = plan_view::as_it_is) {
    outcome out;
    const bool show =
        std::getenv("WINDLASS_SHOW") != nullptr;  // turns are measured where time is real
    reactor::loop l(show ? reactor::loop::mode::real : reactor::loop::mode::simulated, 1);
    reactor::run_task(l, [&]() -> reactor::awaitable<void> {
      k8s::connection to;
      to.server = "http://nowhere:6443";
      k8s::client api(l, std::move(to));
      drains running(l, api, [](const std::string&) {});
      policies::host packs(l, {});
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded.has_value());
      pack_rollout_policy policy(l, packs);
      reconciler_settings settings;
      settings.policy = &policy;
      node_pool_reconciler reconciler(
          l, api, cluster_views{pools, bootc_nodes, nodes, copied_bootc_nodes, copied_nodes},
          running, std::move(settings));
      reactor::task_group others(l);
      others.start("others", [&]() -> reactor::awaitable<void> {
        for (;; ++out.turns_of_others) co_await l.yield();
      });
      co_await l.yield();
      (void)l.take_health();
      out.turns_of_others = 0;
      out.plan = co_await reconciler.preview("workers", of);
      co_await others.cancel_and_join();
      if (show)
        std::cout
            << "longest turn "
            << std::chrono::duration<double, std::milli>(l.take_health().longest_stall).count()
            << " ms, " << out.turns_of_others << " turns of others\n";
      co_await running.stop();
      co_await api.stop();
    });
    return out;
  }

  k8s::store<node_pool> pools;
  k8s::store<bootc_node> bootc_nodes;
  k8s::store<k8s::node> nodes;
  copies<bootc_node> copied_bootc_nodes;
  copies<k8s::node> copied_nodes;

private:
  template <class View>
  static void put(k8s::store<View>& into, const View& v, copies<View>* known) {
    (void)into.put(v, k8s::origin::list);
    if (known) known->try_emplace(v.meta.name.str());
  }
};

constexpr std::size_t many = 10'000;  // as many as are kept of a cluster

TEST(LargePool, IsLookedAtInPiecesWhoeverWaits) {
  for (const unit_state state : {unit_state::pending, unit_state::staged, unit_state::degraded}) {
    situation s;
    s.max_unavailable(std::int64_t(many));
    for (std::size_t i = 0; i < many; ++i) s.member(name_of(i), state);
    const auto seen = large_cluster(s).look();
    ASSERT_TRUE(seen.plan);
    EXPECT_EQ(seen.plan->units.size(), many);
    EXPECT_GE(seen.turns_of_others, 150u) << text(state);
  }
}

TEST(LargePool, OfControlPlanesIsLookedAtInPieces) {
  situation s;
  s.max_unavailable(std::int64_t(many));
  for (std::size_t i = 0; i < many; ++i) {
    s.member(name_of(i), unit_state::staged);
    auto& labels = s.world.nodes.back()->meta.labels;
    const_cast<k8s::string_map&>(labels) = with(labels, std::string(names::control_plane_role), "");
  }
  const auto seen = large_cluster(s).look();
  ASSERT_TRUE(seen.plan);
  EXPECT_EQ(seen.plan->occupied, 1u);
  EXPECT_GE(seen.turns_of_others, 150u);
}

TEST(LargePool, SaysAFewNamesOfThousands) {
  situation s;
  for (std::size_t i = 0; i < 1'000; ++i)
    s.slotted(name_of(i), unit_state::degraded).status.booted.reset();
  const auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  for (const hold& h : plan.holds) EXPECT_LT(h.sentence.size(), 2'000u);
  const std::string said = degraded_of(plan.status);
  EXPECT_NE(said.find(" and 980 more"), said.npos) << said;
  EXPECT_LT(said.size(), 2'000u);
}

TEST(LargePool, IsPlannedTheSameInPiecesAndAtOnce) {
  situation s;
  s.max_unavailable("30%");
  const unit_state states[] = {unit_state::up_to_date, unit_state::pending,  unit_state::staging,
                               unit_state::staged,     unit_state::degraded, unit_state::rebooting};
  for (std::size_t i = 0; i < 60; ++i) {
    if (i % 7 == 0) s.slotted(name_of(i), states[i % 6]);
    // its node has left
    else if (i % 11 == 0)
      s.object(name_of(i));
    else
      s.member(name_of(i), states[i % 6]);
  }
  const rollout_plan at_once = s.plan();
  for (const std::size_t steps : {1u, 2u, 7u, 1'000u}) {
    rollout_planning planning(s.world);
    std::size_t pieces = 1;
    while (!planning.advance(steps)) ++pieces;
    const rollout_plan in_pieces = planning.take();
    EXPECT_EQ(bootc::testing::steps(in_pieces), bootc::testing::steps(at_once));
    EXPECT_EQ(in_pieces.holds, at_once.holds);
    EXPECT_EQ(in_pieces.status, at_once.status);
    if (steps == 1) {
      EXPECT_GE(pieces, 500u);
    }
  }
}

}  // namespace
}  // namespace bootc
