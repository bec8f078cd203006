// How a pool on a member stands to what was said at home, and what the status says of a plan.
#include "bootc/kinds/conditions.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "fleetwide/plan/holds.hpp"
#include "fleetwide/plan/pool_sight.hpp"

#include <gtest/gtest.h>

namespace {

using namespace fleetwide;
using namespace std::chrono_literals;
using progress = member::progress;
using owner = member::owner;

const reactor::wall_time midday = *reactor::parse_rfc3339("2026-11-29T12:00:00Z");
const std::string mark = "FleetPool/windlass-system/workers";

bootc::node_pool ours() {
  bootc::node_pool p;
  p.meta.name = "workers";
  p.meta.generation = 2;
  p.meta.annotations = k8s::string_map(std::vector<k8s::string_map::member>{
      {k8s::interned(names::object), k8s::interned(mark)},
      {k8s::interned(names::digest), k8s::interned("abc")},
      {k8s::interned(names::since), k8s::interned("2026-11-29T11:30:00Z")}});
  p.spec.image_ref = "r/os:1";
  p.status.observed_generation = 2;
  return p;
}
void say(bootc::node_pool& p, std::string_view type, const char* status, const char* reason,
         const char* since) {
  k8s::condition c;
  c.type = type;
  c.status = status;
  c.reason = reason;
  c.last_transition_time = since;
  p.status.conditions.push_back(c);
}
member sight(const bootc::node_pool* p, reactor::wall_time now = midday) {
  return sight_of(member(), p, mark, "r/os:1", now).is;
}

TEST(FleetSight, APoolIsOursByItsMarkAlone) {
  EXPECT_EQ(sight(nullptr).has, owner::none);
  bootc::node_pool p = ours();
  EXPECT_EQ(sight(&p).has, owner::ours);
  EXPECT_EQ(sight(&p).digest, "abc");
  p.meta.annotations = {};
  EXPECT_EQ(sight(&p).has, owner::other);
  p = ours();
  const member other = sight_of(member(), &p, "FleetPool/team-a/workers", "r/os:1", midday).is;
  EXPECT_EQ(other.has, owner::other);
  EXPECT_EQ(other.holder, "the pool comes from " + mark);
}

TEST(FleetSight, WhoWritesItsImageByHandHasIt) {
  bootc::node_pool p = ours();
  p.spec.image_ref = "r/os:2";
  EXPECT_EQ(sight(&p).has, owner::other);
  EXPECT_NE(sight(&p).holder.find("r/os:2"), std::string::npos);
}

TEST(FleetSight, ItIsReadyWhenTheControllerThereHasSeenItAndSaysSo) {
  bootc::node_pool p = ours();
  EXPECT_EQ(sight(&p).is, progress::moving);
  say(p, bootc::pool_condition::up_to_date, "True", "AllUpdated", "2026-11-29T10:00:00Z");
  EXPECT_EQ(sight(&p).is, progress::ready);
  EXPECT_EQ(sight(&p).since, midday - 30min) << "not before its revision was written";
  p.status.observed_generation = 1;
  EXPECT_EQ(sight(&p).is, progress::moving);
}

TEST(FleetSight, TroubleFromBeforeTheRevisionCountsLater) {
  bootc::node_pool p = ours();
  say(p, bootc::pool_condition::degraded, "True", "NodeDegraded", "2026-11-29T11:40:00Z");
  EXPECT_EQ(sight(&p).is, progress::failed);
  EXPECT_EQ(sight(&p).message, "NodeDegraded");
  p.status.conditions.clear();
  say(p, bootc::pool_condition::degraded, "True", "NodeDegraded", "2026-11-29T10:00:00Z");
  const member_sight early = sight_of(member(), &p, mark, "r/os:1", midday - 29min);
  EXPECT_EQ(early.is.is, progress::moving);
  EXPECT_EQ(early.look_again, midday - 28min);
  EXPECT_EQ(sight(&p).is, progress::failed);
}

TEST(FleetSight, WhatItsNodesWaitForUntilAPersonActsIsSaid) {
  bootc::node_pool p = ours();
  p.status.held = {{"slot-full", 7}, {"staging", 1}};
  EXPECT_FALSE(sight(&p).waits) << "that ends by itself";
  p.status.held = {{"pdb", 1}, {"removed-apis", 3}, {"slot-full", 7}};
  member is;
  is.cluster = "prod";
  const auto why = sight_of(std::move(is), &p, mark, "r/os:1", midday).is.waits;
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, "removed-apis");
  EXPECT_EQ(why->sentence, "3 nodes of its pool wait; `windlass plan --cluster prod` says why");
  p.status.held = {{"policy:Weekend", 2}, {"signal-bad", 1}};
  EXPECT_EQ(sight(&p).waits->code, "signal-bad");
  p.status.observed_generation = 1;
  EXPECT_FALSE(sight(&p).waits) << "it was said of another image";
}

fleet_pool home_object() {
  fleet_pool p;
  p.meta.generation = 5;
  p.status.revision = 2;
  p.status.digest = "new";
  p.status.proven_digest = "old";
  p.status.history = {{1, "old", "r/os:1", "", "", "", "Complete"},
                      {2, "new", "r/os:2", "", "", "", "Rolling"}};
  return p;
}
std::string said(const fleet_status& s, std::string_view type) {
  const k8s::condition* c = k8s::find_condition(s.conditions, type);
  return c ? c->status + " " + c->reason + " " + c->message : "none";
}

TEST(FleetStatus, TellsOfAHaltAndOfItsEnd) {
  fleet_pool p = home_object();
  rollout_world w;
  w.wanted = "new";
  w.proven = "old";
  w.now = midday;
  member bad;
  bad.cluster = "c1";
  bad.has = owner::ours;
  bad.digest = "new";
  bad.is = progress::failed;
  bad.message = "NodeDegraded";
  w.members = {bad};
  fleet_status s = status_after(p, w, plan_rollout(w), hold_code::of_members);
  EXPECT_EQ(said(s, fleet_condition::halted), "True TooManyFailed 1 cluster failed (c1), 0 may");
  EXPECT_EQ(said(s, fleet_condition::degraded), "True ClustersHeld cluster-failed: c1");
  EXPECT_EQ(said(s, fleet_condition::ready), "False NotAllReady 0 of 1 clusters have revision 2");
  EXPECT_EQ(s.history.back().outcome, outcome::halted);
  EXPECT_EQ(s.proven_digest, "old");
  p.status = s;
  w.members[0].is = progress::ready;
  s = status_after(p, w, plan_rollout(w), hold_code::of_members);
  EXPECT_EQ(said(s, fleet_condition::ready), "True AllReady 1 of 1 clusters have revision 2");
  EXPECT_EQ(said(s, fleet_condition::halted), "False Healthy ");
  EXPECT_EQ(s.history.back().outcome, outcome::complete);
  EXPECT_EQ(s.proven_digest, "new");
}

TEST(FleetStatus, NotesAFailureBeforeClustersGoBack) {
  fleet_pool p = home_object();
  rollout_world w;
  w.wanted = "new";
  w.proven = "old";
  w.settings.goes_back = true;
  member bad;
  bad.cluster = "c1";
  bad.has = owner::ours;
  bad.digest = "new";
  bad.is = progress::failed;
  w.members = {bad};
  const fleet_status s = status_after(p, w, plan_rollout(w), hold_code::of_members);
  EXPECT_EQ(s.failed_digest, "new");
  EXPECT_EQ(s.history.back().outcome, outcome::returned);
  EXPECT_EQ(said(s, fleet_condition::halted).substr(0, 13), "True Returned");
}

TEST(FleetStatus, SaysWhenNobodyIsMeant) {
  const fleet_pool p = home_object();
  rollout_world w;
  w.wanted = "new";
  const fleet_status s = status_after(p, w, plan_rollout(w), hold_code::of_members);
  EXPECT_EQ(said(s, fleet_condition::ready).substr(0, 16), "False NoClusters");
  EXPECT_EQ(s.proven_digest, "old");
}

}  // namespace
