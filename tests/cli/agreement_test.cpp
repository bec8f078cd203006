// Whatever holds something up, or is wrong, is said by every command in the same words. The codes
// and conditions come from the tables of the APIs: one that is added there without a case here
// fails.
#include "bootc/kinds/conditions.hpp"
#include "bootc/pool/events/event_notes.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/pool_status.hpp"
#include "bootc/pool_rows.hpp"
#include "cli/apis.hpp"
#include "service/overview/overview.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {
namespace {

using bootc::unit_state;
using bootc::testing::digest_of;
using bootc::testing::image_of;
using bootc::testing::noon;
using bootc::testing::situation;
using bootc::testing::with;
using phase = bootc::drain_progress::phase;
namespace json = boost::json;

fleet_overview fleet_of(const std::string& api, const units::words& says, units::plan_row row) {
  fleet_overview f;
  f.apis.push_back({api, {.says = says}});
  f.clusters.push_back({"blue", "https://blue", "Live", "", {{api, says, "Live", "", {row}}}});
  sum_up(f);
  return f;
}

/// What each place says of the fleet; `asked` is what `explain` is asked for.
std::map<std::string, std::string> places(const fleet_overview& f, const std::string& asked) {
  return {
      {"status", status_text(f, extent::usual, colours::none).text()},
      {"status -o wide", status_text(f, extent::wide, colours::none).text()},
      {"status -o json", json::serialize(status_json(f))},
      {"plan", plan_text(f, extent::usual, colours::none).text()},
      {"plan -o json", json::serialize(plan_json(f))},
      {"explain", explain_text(f, asked, colours::none).text()},
      {"explain -o json", json::serialize(explain_json(f, asked))},
      {"the page", json::serialize(status_cluster_json(f.clusters.front()))},
  };
}

void expect_everywhere(const fleet_overview& f, const std::string& asked,
                       const std::vector<std::string>& words) {
  for (const auto& [place, text] : places(f, asked))
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << place << " does not say " << word << "\n"
                                                    << text;
}

units::plan_row row_of_one(const std::string& unit) {
  units::plan_row r;
  r.name = "row";
  r.target = "target";
  units::unit u;
  u.name = unit;
  u.state = "State";
  r.units = {u};
  r.updating = 1;
  return r;
}

TEST(Agreement, EveryHoldOfEveryApiIsSaidInEveryPlace) {
  for (const units::api& a : apis())
    for (const units::hold_kind& k : a.holds) {
      units::plan_row r = row_of_one("team/unit-1");
      r.holds = {{"team/unit-1",
                  std::string(k.code),
                  "because of " + std::string(k.code),
                  "once it ends",
                  "2026-11-21T12:00:00Z",
                  {}}};
      r.forecast = r.holds;
      const fleet_overview f = fleet_of(a.name, a.says, r);
      expect_everywhere(f, "blue/team/unit-1",
                        {std::string(k.code), "because of " + std::string(k.code), "once it ends"});
      EXPECT_EQ(f.held, 1u);
    }
}

TEST(Agreement, EveryProblemOfEveryApiIsSaidInEveryPlaceAndNothingIsCalledDone) {
  std::size_t problems = 0;
  for (const units::api& a : apis())
    for (const units::condition_kind& k : a.conditions) {
      k8s::condition c;
      c.type = std::string(k.type.substr(0, k.type.find('<')));
      if (c.type != k.type) c.type += "blue";
      c.status = k.status;
      c.reason = k.reason;
      c.message = "it says why";
      for (const std::string unit : {"", "unit-1"}) {
        units::plan_row r = row_of_one("unit-1");
        r.updating = 0;
        r.updated = 1;
        r.units.front().is = units::standing::done;
        units::add_problems(r.problems, a.conditions, {c}, unit);
        const fleet_overview f = fleet_of(a.name, a.says, r);
        const std::string plan = plan_text(f, extent::usual, colours::none).text();
        const bool done = plan.find("nothing to do") != std::string::npos;
        if (k.shows == units::condition_shows::nothing) {
          EXPECT_TRUE(r.problems.empty()) << k.type << k.status << k.reason;
          EXPECT_TRUE(done) << plan;
          continue;
        }
        ++problems;
        ASSERT_EQ(r.problems.size(), 1u) << k.type << k.status << k.reason;
        EXPECT_FALSE(done) << plan;
        expect_everywhere(f, unit.empty() ? "row" : "unit-1",
                          {c.type, std::string(k.reason), "it says why"});
      }
    }
  EXPECT_GE(problems, 80u) << "the tables were read";
}

TEST(Agreement, WhatIsWrongIsMarkedInEachTable) {
  for (const units::api& a : apis())
    for (const units::condition_kind& k : a.conditions) {
      const std::string type(k.type.substr(0, k.type.find('/')));
      const bool is_error = (type == "Degraded" || type == "ClusterError") && k.status == "True";
      // A BootcNode's stands in its pool's condition and in the hold `degraded` of its node.
      if (is_error && k.kind != "BootcNode") {
        EXPECT_EQ(k.shows, units::condition_shows::problem) << k.kind << " " << k.reason;
      }
    }
}

// ---- nodes of pools ----

using scene = std::function<void(situation&)>;

void annotate(k8s::object_meta& meta, std::string_view key, const std::string& value) {
  meta.annotations = with(meta.annotations, std::string(key), value);
}

bootc::drain_progress& slotted(situation& s, phase drain) {
  s.slotted("w1", unit_state::staged);
  return s.drain("w1", drain);
}

void two_unhealthy(situation& s) {
  s.max_unavailable(3);
  for (const char* name : {"w2", "w3"}) {
    s.slotted(name, unit_state::up_to_date);
    s.node_named(name).ready = k8s::condition_status::no;
  }
}

void tag_error(situation& s) {
  s.world.pool.spec.image_ref = "quay.io/os/node:stable";
  bootc::tag_resolution t;
  t.ref = s.world.pool.spec.image_ref;
  t.error = "no such tag";
  s.world.tag = t;
}

/// How node w1 comes to be held by each code. What the planner says is what `run` does.
const std::map<std::string, scene>& scenes() {
  static const std::map<std::string, scene> all = {
      {"paused",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.pool.spec.paused = true;
       }},
      {"braked",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.braked =
             units::hold{"", "braked", "the brake is on", "`windlass brake off`", "", {}};
       }},
      {"speed-limit",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.braked = units::hold{
             "", "speed-limit", "as many changes began as may", "its turn comes", "", {}};
       }},
      {"version-skew",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.kubernetes.servers = {"v1.30.0"};
         s.world.kubernetes.images[digest_of('b')] = {"v1.33.0", "label io.kubernetes.version"};
       }},
      {"removed-apis",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         auto& n = s.node_named("w1");
         n.meta.labels = with(n.meta.labels, std::string(bootc::names::control_plane_role), "");
         s.world.kubernetes.are_gated = true;
         s.world.kubernetes.servers = {"v1.30.0"};
         s.world.kubernetes.images[digest_of('b')] = {"v1.31.0", "label io.kubernetes.version"};
       }},
      {"version-lookup",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.kubernetes.images[digest_of('b')].is_asking = true;
       }},
      {"halted",
       [](situation& s) {
         two_unhealthy(s);
         s.member("w1", unit_state::staged);
       }},
      {"degraded", [](situation& s) { s.member("w1", unit_state::degraded); }},
      {"policy",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.policy.is = bootc::policy_answer::kind::given;
       }},
      {"policy-fault",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.policy.is = bootc::policy_answer::kind::failed;
         s.world.policy.detail = "policy.lua:3: boom";
       }},
      {"signal-bad",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.policy.is = bootc::policy_answer::kind::given;
         s.world.policy.halt = {"signal-bad", "errors is 0.2, at most 0.01 is allowed"};
       }},
      {"signal-unknown",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.policy.is = bootc::policy_answer::kind::given;
         s.world.policy.holds["w1"] = {"signal-unknown", "errors is unknown: it finds nothing"};
       }},
      {"conflict",
       [](situation& s) {
         s.node("w1");
         s.object("w1").meta.owner.uid = bootc::testing::uid_of(9);
       }},
      {"invalid-spec",
       [](situation& s) {
         s.node("w1");
         s.world.pool.spec.image_ref = "myos:latest";
       }},
      {"stale-cluster",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.pool.spec.paused = true;
         s.world.stale = true;
       }},
      {"slot-full",
       [](situation& s) {
         s.slotted("w0", unit_state::rebooting).spec.desired_state = bootc::image_state::booted;
         s.member("w1", unit_state::staged);
       }},
      {"control-plane",
       [](situation& s) {
         s.max_unavailable(2);
         for (const char* name : {"w0", "w1"}) {
           s.member(name, unit_state::staged);
           auto& meta = s.node_named(name).meta;
           meta.labels = with(meta.labels, std::string(bootc::names::control_plane_role), "");
         }
       }},
      {"draining",
       [](situation& s) {
         auto& d = slotted(s, phase::running);
         d.pods_left = 1;
         d.left = {"shop/db-0"};
       }},
      {"pdb",
       [](situation& s) {
         slotted(s, phase::running).waits = {
             {"shop/db-0", bootc::pod_wait::kind::budget, "db", {}, false, noon}};
       }},
      {"drain-timeout",
       [](situation& s) {
         annotate(s.member("w1", unit_state::staged).meta, bootc::names::drain_retry_at,
                  "2026-11-21T12:05:00Z");
       }},
      {"drain-failed",
       [](situation& s) {
         auto& d = slotted(s, phase::failed);
         d.detail = "evict pod shop/db-0: admission webhook \"no.example.com\" denied the request";
         d.retry_at = noon + std::chrono::seconds(5);
       }},
      {"staging", [](situation& s) { s.member("w1", unit_state::staging); }},
      {"staging-turn",
       [](situation& s) {
         annotate(s.world.pool.meta, bootc::names::stages_at_once, "1");
         for (const char* name : {"w0", "w1"})
           s.member(name, unit_state::pending).spec.desired_image = image_of('a');
       }},
      {"rebooting",
       [](situation& s) {
         s.slotted("w1", unit_state::rebooting).spec.desired_state = bootc::image_state::booted;
       }},
      {"reboot-timeout",
       [](situation& s) {
         s.world.pool.spec.reboot_timeout_seconds = 600;
         auto& b = s.slotted("w1", unit_state::rebooting);
         b.spec.desired_state = bootc::image_state::booted;
         annotate(b.meta, bootc::names::approved_at, "2026-11-21T11:00:00Z");
       }},
      {"not-ready",
       [](situation& s) {
         s.slotted("w1", unit_state::up_to_date);
         s.node_named("w1").ready = k8s::condition_status::no;
       }},
      {"no-daemon",
       [](situation& s) {
         s.node("w1");
         s.object("w1").status = {};
       }},
      {"other-operator",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.pool.spec.paused = true;
         s.world.other_operator = "their-controller-0";
       }},
      {"stuck",
       [](situation& s) {
         annotate(s.member("w1", unit_state::pending).meta, bootc::names::desired_since,
                  "2026-11-21T11:40:00Z");
       }},
      {"tag-unresolved",
       [](situation& s) {
         s.node("w1");
         tag_error(s);
       }},
      {"leaving",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.node_named("w1").meta.labels = {};
       }},
  };
  return all;
}

fleet_overview fleet_of(situation& s) {
  bootc::rollout_plan now = s.plan();
  s.world.assume_staged = true;
  bootc::rollout_plan forecast = s.plan();
  s.world.assume_staged = false;
  const std::vector<bootc::unit> units = now.units;
  units::plan_row row = bootc::shown("workers", now, forecast);
  for (const bootc::unit& u : units) row.units.push_back(bootc::shown(u));
  return fleet_of("bootc", {"pool", "pools", "node", "nodes"}, std::move(row));
}

const units::hold* hold_on(const std::vector<units::hold>& all, const std::string& unit) {
  const auto found = std::ranges::find(all, unit, &units::hold::unit);
  return found == all.end() ? nullptr : &*found;
}

TEST(Agreement, EveryHoldOfANodeIsSaidByCommandsConditionsNotesAndEvents) {
  std::vector<units::hold_kind> table(bootc::hold_code::of_nodes.begin(),
                                      bootc::hold_code::of_nodes.end());
  table.insert(table.end(), bootc::hold_code::of_every_api.begin(),
               bootc::hold_code::of_every_api.end());
  EXPECT_EQ(scenes().size(), table.size()) << "scenes of codes that are in no table";
  for (const units::hold_kind& k : table) {
    SCOPED_TRACE(k.code);
    const auto scene = scenes().find(std::string(k.code));
    ASSERT_NE(scene, scenes().end()) << "a new hold needs a scene";
    situation s;
    scene->second(s);
    const bootc::rollout_plan plan = s.plan();
    const units::hold* h = hold_on(plan.holds, "w1");
    ASSERT_NE(h, nullptr) << bootc::testing::held(plan);
    ASSERT_EQ(h->code, k.code);
    EXPECT_NE(h->released_by, "");

    const fleet_overview f = fleet_of(s);
    for (const auto& [place, text] : places(f, "blue/w1")) {
      // What a node that was told to move does is no forecast, and one that is not shown (it
      // belongs to another pool) cannot be explained.
      const bool is_forecast = place.starts_with("plan");
      if (is_forecast && !hold_on(f.clusters[0].apis[0].rows[0].forecast, "w1")) continue;
      if (is_forecast && hold_on(f.clusters[0].apis[0].rows[0].forecast, "w1")->code != k.code)
        continue;
      const bool has_unit = std::ranges::any_of(f.clusters[0].apis[0].rows[0].units,
                                                [](const auto& u) { return u.name == "w1"; });
      if (place.starts_with("explain") && !has_unit) continue;
      EXPECT_NE(text.find(k.code), std::string::npos) << place << "\n" << text;
    }

    // The pool counts it, and kubectl sees that in the condition Ready.
    const bool is_told = !s.world.stale && s.world.other_operator.empty();
    if (is_told && plan.status_changed) {
      EXPECT_TRUE(plan.status.held.contains(std::string(k.code)));
      const auto* ready = k8s::find_condition(plan.status.conditions, "Ready");
      if (plan.moves && ready && ready->status == "False") {
        EXPECT_NE(ready->message.find(k.code), std::string::npos) << ready->message;
      }
    }
    // Status counts what the pool counts.
    const units::plan_row& row = f.clusters[0].apis[0].rows[0];
    if (is_told && plan.moves) {
      EXPECT_EQ(row.degraded, static_cast<std::size_t>(plan.status.degraded_count));
    }

    // The note on the BootcNode, from which another process and kubectl read it, says the same; the
    // Event names what may last.
    bootc::bootc_node noted;
    for (const auto& [key, value] : bootc::note_annotations({}, h, noon))
      noted.meta.annotations =
          with(noted.meta.annotations, std::string(key), std::string(value.as_string()));
    EXPECT_EQ(bootc::note_of(noted)->sentence, h->sentence);
    EXPECT_EQ(bootc::note_of(noted)->released_by, h->released_by);
    EXPECT_TRUE(bootc::is_noted(noted, h));
    EXPECT_EQ(bootc::is_new({}, h), k.nature == units::hold_nature::trouble);
    EXPECT_NE(bootc::event_of(bootc::bootc_node{}, h).note.find(h->sentence), std::string::npos);
  }
}

/// How a pool comes to have each reason of Degraded.
const std::map<std::string, scene>& degradations() {
  const auto of = [](const char* code) { return scenes().at(code); };
  static const std::map<std::string, scene> all = {
      {"NodeDegraded", of("degraded")},
      {"PolicyFault", of("policy-fault")},
      {"SecretError",
       [](situation& s) {
         s.member("w1", unit_state::up_to_date);
         s.world.pool.spec.pull_secret.emplace();
         s.world.pool.spec.pull_secret->ns = "bootc";
         s.world.pool.spec.pull_secret->name = "pull";
         s.world.secret.is = bootc::secret_state::kind::missing;
       }},
      {"NodeConflict", of("conflict")},
      {"RolloutReturned",
       [](situation& s) {
         s.member("w1", unit_state::staged);
         s.world.pool.spec.on_failure = "Return";
         s.world.pool.status.failed_digest = digest_of('b');
         s.world.pool.status.return_ref = image_of('a');
       }},
      {"RolloutHalted", of("halted")},
      {"InvalidSpec", of("invalid-spec")},
      {"TagResolutionError",
       [](situation& s) {
         tag_error(s);
         s.world.pool.status.resolved_ref = s.world.pool.spec.image_ref;
         s.world.pool.status.target_digest = digest_of('b');
         s.member("w1", unit_state::up_to_date);
       }},
  };
  return all;
}

TEST(Agreement, EveryReasonOfADegradedPoolIsSaidByCommandsConditionsAndEvents) {
  for (const units::condition_kind& k : bootc::pool_conditions) {
    if (k.shows == units::condition_shows::nothing) continue;
    SCOPED_TRACE(k.reason);
    const auto scene = degradations().find(std::string(k.reason));
    ASSERT_NE(scene, degradations().end()) << "a new reason needs a scene";
    situation s;
    scene->second(s);
    const bootc::rollout_plan plan = s.plan();
    const auto* degraded = k8s::find_condition(plan.status.conditions, "Degraded");
    ASSERT_TRUE(degraded && degraded->reason == k.reason)
        << bootc::testing::degraded_of(plan.status);
    ASSERT_NE(degraded->message, "");
    const fleet_overview f = fleet_of(s);
    const std::string plan_says = plan_text(f, extent::usual, colours::none).text();
    EXPECT_EQ(plan_says.find("nothing to do"), std::string::npos) << plan_says;
    for (const std::string asked : {"w1", "workers"})
      for (const auto& [place, text] : places(f, asked)) {
        if (place.starts_with("explain") && k.reason == "NodeConflict" && asked == "w1") continue;
        EXPECT_NE(text.find(k.reason), std::string::npos) << place << " " << asked << "\n" << text;
      }
    bootc::node_pool before = s.world.pool;
    const auto told = bootc::pool_events(before, plan.status);
    EXPECT_TRUE(std::ranges::any_of(told, [&](const k8s::event_note& n) {
      return n.reason == k.reason && n.note == degraded->message;
    }));
  }
}

// ---- names ----

TEST(Agreement, AUnitWithASlashIsFoundWithAndWithoutItsClusterAndSoIsARow) {
  const fleet_overview f =
      fleet_of("trustee", {"pack", "packs", "instance", "instances"}, row_of_one("two/third"));
  for (const char* asked : {"two/third", "blue/two/third", "third"}) {
    EXPECT_EQ(explain_json(f, asked).size(), 1u) << asked;
    EXPECT_NE(explain_text(f, asked, colours::none).text().find("two/third"), std::string::npos);
  }
  for (const char* row : {"row", "blue/row"}) EXPECT_EQ(explain_json(f, row).size(), 1u) << row;
  for (const char* other : {"hird", "two", "green/two/third", "blue/third", "/two/third", ""})
    EXPECT_EQ(explain_json(f, other).size(), 0u) << other;
}

TEST(Agreement, ARowWithoutUnitsIsNotCalledDone) {
  units::plan_row r;
  r.name = "workers";
  const fleet_overview f = fleet_of("bootc", {"pool", "pools", "node", "nodes"}, r);
  const std::string plan = plan_text(f, extent::usual, colours::none).text();
  EXPECT_EQ(plan.find("nothing to do"), std::string::npos) << plan;
  EXPECT_NE(plan.find("it has no node"), std::string::npos) << plan;
}

}  // namespace
}  // namespace cli
