// What opens a wave: how Tenants stand to what shall be, and what a policy says of it.
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/waves/fleet_progress.hpp"
#include "helm/tenants/waves/turn.hpp"
#include "helm/tenants/waves/wave_state.hpp"
#include "policies/host/host.hpp"
#include "policies/moment.hpp"
#include "policies/signals.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using kind = wave_state::kind;

const reactor::wall_time start(std::chrono::seconds(1'795'428'000));

tenant_plan settled() {
  tenant_plan p;
  p.action = "skip";
  return p;
}
tenant_plan held(std::string_view code) {
  tenant_plan p;
  p.action = "held";
  p.hold = units::hold{"default/acme", std::string(code), "why", "how"};
  return p;
}
tenant_plan moves() {
  tenant_plan p;
  p.action = "upgrade";
  p.next = step::upgrade;
  return p;
}

fleet_progress::seen reached(const std::string& name, std::uint64_t updated) {
  fleet_progress::seen out;
  out.name = name;
  out.was_reached = true;
  out.is.emplace();
  out.is->name = name;
  out.is->units = 3;
  out.is->updated = updated;
  return out;
}
fleet_progress::seen lost(const std::string& name, bool was_reached = true) {
  fleet_progress::seen out;
  out.name = name;
  out.was_reached = was_reached;
  return out;
}
/// "a 3/2 b 3/0": of each that counts units and updated.
std::string text(const std::vector<policies::rollout_cluster>& all) {
  std::string out;
  for (const policies::rollout_cluster& c : all)
    out += (out.empty() ? "" : " ") + c.name + " " + std::to_string(c.units) + "/" +
           std::to_string(c.updated);
  return out;
}

TEST(TenantFleetProgress, WhoIsLostForAMomentCountsAsItWasAndLaterNotAtAll) {
  const reactor::steady_time t{};
  fleet_progress p;
  EXPECT_EQ(text(p.take({reached("b", 3), reached("a", 1)}, "new", t)), "a 3/1 b 3/3");
  EXPECT_EQ(text(p.take({lost("a"), reached("b", 3)}, "new", t + 1h)), "a 3/1 b 3/3")
      << "it was reached all the time in between, for all that is known";
  EXPECT_EQ(text(p.take({lost("a"), lost("b")}, "new", t + 1h + 59s)), "a 3/1 b 3/3");
  EXPECT_EQ(text(p.take({lost("a"), lost("b")}, "new", t + 1h + 60s)), "b 3/3");
  EXPECT_EQ(text(p.take({reached("a", 2), lost("b")}, "new", t + 2h)), "a 3/2");
  EXPECT_EQ(text(p.take({lost("a"), lost("b")}, "new", t + 2h + 1s)), "a 3/2");
}

TEST(TenantFleetProgress, WhatWasKnownOfAnotherStateSettlesNothing) {
  const reactor::steady_time t{};
  fleet_progress p;
  (void)p.take({reached("a", 3)}, "old", t);
  EXPECT_EQ(text(p.take({lost("a")}, "new", t + 1s)), "a 3/0");
}

TEST(TenantFleetProgress, WhoHasLeftTheFleetOrWasNeverThereDoesNotCount) {
  const reactor::steady_time t{};
  fleet_progress p;
  (void)p.take({reached("a", 0)}, "new", t);
  EXPECT_EQ(text(p.take({lost("dead", false)}, "new", t + 1s)), "");
  EXPECT_EQ(text(p.take({lost("a", false)}, "new", t + 2s)), "") << "another one of that name";
  EXPECT_EQ(text(p.take({lost("b")}, "new", t + 3s)), "b 1/0") << "nobody had asked yet";
}

TEST(TenantStanding, OnlyTheNewStateCounts) {
  const wave_state before{kind::ready, "old", start};
  EXPECT_EQ(wave_state_after(before, "new", "old", moves(), start + 1h).is, kind::unsettled);
  EXPECT_EQ(wave_state_after(before, "new", "old", settled(), start + 1h).is, kind::unsettled);
  const wave_state after = wave_state_after(before, "new", "new", settled(), start + 1h);
  EXPECT_EQ(after, (wave_state{kind::ready, "new", start + 1h}));
  EXPECT_EQ(wave_state_after(after, "new", "new", settled(), start + 2h).since, start + 1h);
}

TEST(TenantStanding, AFailureLastsWhileItIsTriedAgain) {
  const wave_state failed = wave_state_after({}, "new", "old", held("backoff"), start);
  EXPECT_EQ(failed, (wave_state{kind::failed, "new", start}));
  EXPECT_EQ(wave_state_after(failed, "new", "old", moves(), start + 1min), failed);
  EXPECT_EQ(wave_state_after(failed, "newer", "old", moves(), start + 1min).is, kind::unsettled);
  const wave_state cured = wave_state_after(failed, "new", "new", settled(), start + 2min);
  EXPECT_EQ(cured, (wave_state{kind::ready, "new", start + 2min}));
  EXPECT_EQ(wave_state_after(cured, "new", "new", moves(), start + 3min), cured)
      << "it is put back";
}

TEST(TenantStanding, WhoOnlyWaitsIsNotSettled) {
  for (const std::string_view code : {"operating", "chart-loading", "policy:EarlierWave",
                                      "release-pending", "namespace-terminating", "fleet-loading"})
    EXPECT_EQ(wave_state_after({}, "new", "old", held(code), start).is, kind::unsettled) << code;
  for (const std::string_view code : {"conflict", "chart-not-loaded", "version-invalid"})
    EXPECT_EQ(wave_state_after({}, "new", "old", held(code), start).is, kind::failed) << code;
}

TEST(TenantStanding, AClusterIsSettledWhenItsLastTenantIs) {
  wave_progress all;
  all.add({kind::ready, "new", start});
  all.add({kind::failed, "new", start + 5s});
  EXPECT_TRUE(all.is_settled());
  EXPECT_EQ(all.failed, 1u);
  EXPECT_EQ(all.since, start + 5s);
  all.add({});
  EXPECT_FALSE(all.is_settled());
  EXPECT_EQ(all.tenants, 3u);
}

turn_question two_that_wait() {
  turn_question q;
  q.cluster = "east";
  q.chart = "web";
  for (const char* name : {"default/a", "default/b", "default/c"}) {
    policies::rollout_unit u;
    u.name = name;
    u.state = turn_state::staged;
    q.units.push_back(std::move(u));
  }
  q.units.back().state = turn_state::moving;
  q.units.back().slotted = true;
  q.max_failures = "10%";
  q.soak = 90s;
  return q;
}

TEST(TenantTurn, ThePolicyIsToldWhatTheFlagsSay) {
  const auto input = input_of(two_that_wait());
  EXPECT_EQ(input->fleet.api, "tenants");
  EXPECT_EQ(input->fleet.pool, "web");
  EXPECT_EQ(input->fleet.free, 2u);
  EXPECT_EQ(input->fleet.in_slots, std::vector<std::string>{"default/c"});
  EXPECT_EQ(input->fleet.parameters.get("max_failures"), "10%");
  EXPECT_EQ(input->fleet.parameters.get("soak_seconds"), "90");
  EXPECT_EQ(input->fleet.parameters.get("wave_label"), "mesh.openkcm.io/wave");
}

TEST(TenantTurn, WhoIsNotNamedWaits) {
  const auto input = input_of(two_that_wait());
  policies::rollout_answer said;
  said.start = {"default/b"};
  said.look_again = 30s;
  const turn_answer some = answer_of(*input, said, reactor::wall_time(1'800'000'000s));
  EXPECT_TRUE(some.may.contains("default/b"));
  ASSERT_EQ(some.holds.size(), 1u) << "who moves already is not asked about";
  EXPECT_EQ(some.holds.begin()->second.code, "policy");
  EXPECT_EQ(some.holds.begin()->second.sentence, "the policy has not chosen it");
  EXPECT_EQ(some.holds.begin()->second.asked_again, "2027-01-15T08:00:30Z");
  said.start.clear();
  said.look_again = {};
  said.holds["default/a"] = {"EarlierWave", "waits"};
  const turn_answer none = answer_of(*input, said, {});
  EXPECT_EQ(none.holds.find("default/a")->second.code, "policy:EarlierWave");
  EXPECT_EQ(none.holds.find("default/a")->second.asked_again, "") << "when something changes";
}

TEST(TenantTurn, APolicyThatFailsLetsNobodyMove) {
  const auto input = input_of(two_that_wait());
  const auto failed = reactor::make_fault(reactor::errc::malformed, "rollout.plan", "line 7");
  const turn_answer none = answer_of(*input, failed, {});
  EXPECT_TRUE(none.may.empty());
  ASSERT_EQ(none.holds.size(), 2u);
  EXPECT_EQ(none.holds.begin()->second.code, "policy-fault");
  EXPECT_EQ(none.holds.begin()->second.sentence, "the policy failed: line 7");
}

/// Asked with the stock pack for signals, which names one signal; what is known of it.
turn_answer ask_with(policies::signal_fact errors, turn_question q) {
  reactor::loop l{reactor::loop::mode::simulated, 5};
  const reactor::temporary_folder folder;
  std::filesystem::copy(std::filesystem::path(WINDLASS_SOURCE_DIR) / "policies/disruption/signals",
                        folder.path() + "/signals");
  folder.write("signals/signals.lua", R"lua(
return { soak_seconds = 60, look_again = 5, signals = { { name = "errors", at_most = 0.01,
  prometheus = "http://prometheus", query = "errors" } } }
)lua");
  turn_answer out;
  reactor::task_group tasks(l);
  tasks.start("ask", [&]() -> reactor::awaitable<void> {
    policies::host::options o;
    o.folders = {folder.path()};
    policies::host packs(l, std::move(o));
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    known_signals known = [&](const policies::subject& about, const std::string& cluster) {
      EXPECT_EQ(about.api, "tenants");
      EXPECT_EQ(cluster, "east");
      EXPECT_EQ(policies::signals_wanted(packs, about).size(), 1u);
      return policies::signal_facts{{"errors", errors}};
    };
    out = co_await ask_turn(packs, std::move(q), std::move(known));
  });
  l.run();
  return out;
}
policies::signal_fact errors_of(double value) {
  policies::signal_fact out;
  out.value = out.lowest = out.highest = value;
  out.age = 3;
  out.covers = 60;
  return out;
}
/// The first carries the label.
turn_question labelled() {
  turn_question q = two_that_wait();
  q.now = start;
  q.units.front().labels = k8s::string_map{{"windlass.dev/signals", ""}};
  return q;
}

TEST(TenantTurn, WhoCarriesTheLabelWaitsForTheSignals) {
  EXPECT_EQ(ask_with(errors_of(0), labelled()).may.size(), 2u);

  const turn_answer bad = ask_with(errors_of(0.2), labelled());
  EXPECT_EQ(bad.may, (std::set<std::string, std::less<>>{"default/b"})) << "without the label";
  EXPECT_EQ(bad.holds.at("default/a").code, "signal-bad");
  EXPECT_EQ(bad.holds.at("default/a").sentence,
            "errors is 0.2, at most 0.01 is allowed (seen 3 s ago)");
  EXPECT_EQ(bad.look_again, 5s);

  policies::signal_fact unknown;
  unknown.unknown = "the answer is NaN";
  EXPECT_EQ(ask_with(unknown, labelled()).holds.at("default/a").code, "signal-unknown");
}

TEST(TenantTurn, AfterATenantHasMovedTheNextOnesWaitForTheSoak) {
  turn_question q = labelled();
  q.units.back().state = turn_state::settled;
  q.units.back().slotted = false;
  q.units.back().since = policies::unix_seconds(start - 20s);
  const turn_answer soaks = ask_with(errors_of(0), q);
  EXPECT_EQ(soaks.holds.at("default/a").code, "policy:SignalSoak");
  EXPECT_EQ(soaks.holds.at("default/a").sentence,
            "default/c has moved and is watched for another 40 s");
}

}  // namespace
}  // namespace helm::tenants
