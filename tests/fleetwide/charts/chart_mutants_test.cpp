// Each rule of the planner of one release is there because releases at random find out when it is
// gone (tests/simulation/mutants.cmake).
#include "fleetwide/charts/chart_plan.hpp"
#include "fleetwide/kinds/names.hpp"
#include "tests/simulation/safety_rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>

namespace fleetwide::testing {
namespace {

using helm::placed::operation;
using helm::placed::step;
using helm::release::status;
using workspace_state = helm::placed::workspace_facts::state;

constexpr reactor::wall_time now{std::chrono::hours(490'000)};

/// A release in any state, with any note and any order; most of them can be met.
chart_world any_release(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto happens = [&](unsigned percent) { return below(100) < percent; };
  const auto before = [&](unsigned minutes) {
    return now - std::chrono::minutes(below(minutes) + 1);
  };
  chart_world w;
  w.now = now;
  w.wanted.chart = {"https://charts.example.com", "app", "1.1.0"};
  w.wanted.fingerprint = "wanted";
  w.wanted.values = "values";
  w.workspace.is = happens(80)   ? workspace_state::present
                   : happens(50) ? workspace_state::absent
                                 : workspace_state::terminating;
  if (happens(80)) {
    helm::placed::release_facts r;
    constexpr std::array states{status::deployed, status::deployed,        status::deployed,
                                status::failed,   status::pending_upgrade, status::uninstalled};
    r.state = states[below(states.size())];
    r.revision = 3;
    r.last_deployed = before(60);
    r.chart_name = "app";
    r.chart_version = happens(70) ? "1.1.0" : "1.0.0";
    r.values = happens(80) ? "values" : "others";
    w.release = r;
    w.record = "record.v3";
    w.record_version = "7";
  }
  if (happens(20)) w.drift.missing = {"ConfigMap/apps/app"};
  w.chart.is = helm::placed::chart_facts::state::loaded;
  if (happens(15))
    w.running = std::array{operation::install, operation::upgrade, operation::uninstall}[below(3)];
  if (happens(10)) w.retry_in = std::chrono::minutes(1);
  if (happens(20)) w.applied = "wanted";
  chart_order o;
  o.mark = "FleetChart/default/app";
  o.wanted = w.wanted;
  o.ns = "apps";
  o.release = "app";
  o.adopts = happens(15);
  o.uninstalls = happens(20);
  o.tests = happens(30);
  o.timeout = std::chrono::minutes(below(10) + 1);
  o.drift = std::array{chart_spec::on_drift::report, chart_spec::on_drift::repair,
                       chart_spec::on_drift::ignore}[below(3)];
  if (happens(15)) o.asked = reactor::format_rfc3339(before(60));
  if (happens(85)) {
    chart_note n;
    n.object = happens(80) ? o.mark : "FleetChart/default/other";
    n.content = happens(80) ? "wanted" : "before";
    n.is = std::array{chart_note::state::begun, chart_note::state::done,
                      chart_note::state::failed}[below(3)];
    n.since = reactor::format_rfc3339(before(60));
    if (n.is == chart_note::state::done) {
      n.record = happens(70) ? "record.v3" : "record.v2";
      n.version = "7";
    }
    o.noted = n;
  }
  w.object = std::move(o);
  return w;
}

/// The rule that the plan breaks; empty: none.
std::string broken_rule(const chart_world& w, const chart_plan& p) {
  const chart_order& o = *w.object;
  const bool is_mine = o.noted && o.noted->object == o.mark;
  const bool is_there = w.release && w.release->state != status::uninstalled;
  const bool changes = p.next == step::install || p.next == step::upgrade;
  const bool is_same =
      w.release && w.release->chart_version == "1.1.0" && w.release->values == w.wanted.values;
  if (w.running != operation::none && is_operation(p.next)) return "two operations at once";
  if (p.next == step::recover && w.release->last_deployed + o.timeout > now)
    return "ends what another process may be working on";
  if (p.next == step::uninstall && !is_mine) return "uninstalls what is another's";
  if (p.next == step::remove_finalizer && is_there) return "forgets a release that is there";
  if (o.uninstalls) return changes ? "goes and changes" : "";
  if (!o.adopts && o.noted && !is_mine && p.next != step::none) return "takes what is another's";
  if (!o.adopts && !is_mine && is_there && p.next != step::none) return "takes a person's release";
  if (changes) {
    const bool is_retry =
        is_mine && o.noted->is == chart_note::state::failed && o.noted->since < o.asked;
    if (!is_mine || o.noted->content != w.wanted.fingerprint || is_retry)
      return "changes what is not noted";
    if (o.noted->is == chart_note::state::done && o.drift != chart_spec::on_drift::repair)
      return "mends what is only reported";
    if (w.workspace.is != workspace_state::present) return "has no namespace";
  }
  if (p.next == step::note_fingerprint) {
    if (!w.release || w.release->state != status::deployed) return "notes what is not deployed";
    const bool was_applied = w.applied == w.wanted.fingerprint;
    if (!is_same && !was_applied) return "notes what is not wanted";
    if (o.noted->is != chart_note::state::done && !was_applied) {
      if (o.tests) return "notes what was not tested";
      const auto since = reactor::parse_rfc3339(o.noted->since);
      if (!since || w.release->last_deployed < *since) return "notes what was there before";
    }
  }
  const bool is_noted =
      is_mine && o.noted->record == w.record && o.noted->version == w.record_version;
  const bool is_moved =
      !w.release || w.release->state != status::deployed || !is_same || !w.drift.missing.empty();
  if (p.is_settled && o.drift != chart_spec::on_drift::ignore && (!is_noted || is_moved))
    return "rests though another writer changed it";
  if (p.is_settled && !(is_mine && o.noted->is == chart_note::state::done))
    return "rests and is not done";
  const bool may = w.running == operation::none && w.retry_in.count() == 0 &&
                   w.workspace.is == workspace_state::present;
  const bool drifted = is_mine && o.noted->is == chart_note::state::done &&
                       o.noted->content == w.wanted.fingerprint && w.release &&
                       w.release->state == status::deployed && is_moved;
  if (may && drifted && o.drift == chart_spec::on_drift::repair && !changes)
    return "leaves what is to be repaired";
  return {};
}

/// The first release whose plan breaks a rule, and which; 0: none of them.
std::pair<int, std::string> first_broken(int releases) {
  std::mt19937 random(44);
  for (int i = 1; i <= releases; ++i) {
    const chart_world w = any_release(random);
    if (std::string rule = broken_rule(w, plan_chart(w)); !rule.empty()) return {i, rule};
  }
  return {0, ""};
}

struct chart_mutant {
  const char* name;
  mutants::rule rule;
  const char* finding;
};
std::ostream& operator<<(std::ostream& out, const chart_mutant& m) {
  return out << m.name;
}

class ChartMutant : public ::testing::TestWithParam<chart_mutant> {
protected:
  void TearDown() override { mutants::broken.reset(); }
};

TEST_P(ChartMutant, IsFoundAndTheWholeIsNot) {
  mutants::broken = GetParam().rule;
  const auto [release, rule] = first_broken(20'000);
  EXPECT_GT(release, 0) << "not found";
  EXPECT_NE(rule.find(GetParam().finding), std::string::npos) << rule;
  mutants::broken.reset();
  EXPECT_EQ(first_broken(20'000).second, "");
}

using mutants::rule;
INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, ChartMutant,
    ::testing::Values(chart_mutant{"note", rule::chart_note, "changes what is not noted"},
                      chart_mutant{"claim", rule::chart_claim, "takes what is another's"},
                      chart_mutant{"person", rule::chart_person, "takes a person's release"},
                      chart_mutant{"drift", rule::chart_drift, "mends what is only reported"},
                      chart_mutant{"repair", rule::chart_repair, "leaves what is to be repaired"},
                      chart_mutant{"tests", rule::chart_tests, "notes what was not tested"},
                      chart_mutant{"since", rule::chart_since, "notes what was there before"},
                      chart_mutant{"done", rule::chart_done, "notes what"},
                      chart_mutant{"idle", rule::chart_idle, "two operations at once"},
                      chart_mutant{"foreign", rule::chart_foreign, "uninstalls what is another's"},
                      chart_mutant{"stop", rule::chart_stop, "two operations at once"},
                      chart_mutant{"forget", rule::chart_forget, "forgets a release that is there"},
                      chart_mutant{"settle", rule::chart_settle,
                                   "rests though another writer changed it"},
                      chart_mutant{"space", rule::chart_space, "has no namespace"},
                      chart_mutant{"timeout", rule::chart_timeout,
                                   "ends what another process may be working on"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fleetwide::testing
