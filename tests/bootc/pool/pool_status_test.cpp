#include "bootc/pool/pool_status.hpp"

#include "tests/bootc/builders.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <utility>

namespace bootc {
namespace {

using testing::degraded_of;
using testing::noon;
using testing::up_to_date_of;

census counts(std::initializer_list<unit_state> states) {
  census c;
  for (unit_state s : states) c.add(s);
  return c;
}

pool_findings found(census c, char target = 'b') {
  pool_findings f;
  f.counts = c;
  f.target_digest = testing::digest_of(target);
  return f;
}

TEST(PoolStatus, T046_AllOnTarget) {
  const auto s = status_after(
      {}, found(counts({unit_state::up_to_date, unit_state::up_to_date, unit_state::up_to_date})),
      noon);
  EXPECT_EQ(s.node_count, 3);
  EXPECT_EQ(s.updated_count, 3);
  EXPECT_EQ(s.updating_count, 0);
  EXPECT_EQ(s.degraded_count, 0);
  EXPECT_EQ(s.deployed_digest, s.target_digest);
  EXPECT_FALSE(s.update_available);
  EXPECT_EQ(up_to_date_of(s), "True/AllUpdated/");
}

TEST(PoolStatus, T047_OneInEachState) {
  const auto s =
      status_after({},
                   found(counts({unit_state::up_to_date, unit_state::pending, unit_state::staging,
                                 unit_state::staged, unit_state::rebooting})),
                   noon);
  EXPECT_EQ(s.node_count, 5);
  EXPECT_EQ(s.updated_count, 1);
  EXPECT_EQ(s.updating_count, 4);
  EXPECT_EQ(s.degraded_count, 0);
  EXPECT_EQ(up_to_date_of(s),
            "False/RolloutInProgress/1/5 updated; 1 pending, 1 staging, 1 staged, 1 rebooting, 0 "
            "degraded");
}

TEST(PoolStatus, T048_Paused) {
  node_pool pool;
  pool.spec.paused = true;
  const auto s = status_after(
      pool, found(counts({unit_state::up_to_date, unit_state::pending, unit_state::pending})),
      noon);
  EXPECT_EQ(up_to_date_of(s),
            "False/Paused/1/3 updated; 2 pending, 0 staging, 0 staged, 0 rebooting, 0 degraded");
}

TEST(PoolStatus, T049_NoNodes) {
  const auto s = status_after({}, found({}), noon);
  EXPECT_EQ(s.node_count, 0);
  EXPECT_EQ(s.deployed_digest, s.target_digest);
  EXPECT_EQ(up_to_date_of(s), "True/AllUpdated/");
}

TEST(PoolStatus, T050_KeepsTheDeployedDigestUntilAllAreThere) {
  node_pool pool;
  pool.status.deployed_digest = testing::digest_of('a');
  const auto s = status_after(pool, found(counts({unit_state::pending})), noon);
  EXPECT_EQ(s.deployed_digest, testing::digest_of('a'));
  EXPECT_EQ(s.target_digest, testing::digest_of('b'));
  EXPECT_TRUE(s.update_available);
}

TEST(PoolStatus, TheStrongestReasonIsShown) {
  pool_findings f = found(counts({unit_state::degraded}));
  f.degradations = {{pool_reason::node_conflict, "conflict"},
                    {pool_reason::node_degraded, "nodes"},
                    {pool_reason::node_conflict, "second"}};
  EXPECT_EQ(degraded_of(status_after({}, f, noon)), "True/NodeConflict/conflict")
      << "an equal one does not replace it";
  f.degradations.push_back({pool_reason::rollout_halted, "halted"});
  EXPECT_EQ(degraded_of(status_after({}, f, noon)), "True/RolloutHalted/halted");
}

TEST(PoolStatus, EveryReasonIsStrongerThanTheOneBefore) {
  int before = -1;
  for (const auto reason :
       {pool_reason::healthy, pool_reason::node_degraded, pool_reason::secret_error,
        pool_reason::node_conflict, pool_reason::rollout_returned, pool_reason::rollout_halted,
        pool_reason::invalid_spec, pool_reason::tag_resolution_error})
    EXPECT_GT(precedence(reason), std::exchange(before, precedence(reason))) << reason;
  pool_findings f = found(counts({unit_state::up_to_date}));
  f.degradations = {{pool_reason::secret_error, "there is no Secret"}};
  EXPECT_EQ(degraded_of(status_after({}, f, noon)), "True/SecretError/there is no Secret");
}

TEST(PoolStatus, TheSameFindingsLaterChangeNothing) {
  node_pool pool;
  const auto f = found(counts({unit_state::pending, unit_state::degraded}));
  pool.status = status_after(pool, f, noon);
  EXPECT_EQ(status_after(pool, f, noon + std::chrono::hours(1)), pool.status);
}

TEST(PoolStatus, TransitionTimeMovesOnlyWithTheStatus) {
  node_pool pool;
  pool.status = status_after(pool, found(counts({unit_state::pending})), noon);
  const auto later =
      status_after(pool, found(counts({unit_state::staging})), noon + std::chrono::minutes(1));
  EXPECT_EQ(find_condition(later.conditions, "UpToDate")->last_transition_time,
            "2026-11-21T12:00:00Z");
  const auto done =
      status_after(pool, found(counts({unit_state::up_to_date})), noon + std::chrono::minutes(2));
  EXPECT_EQ(find_condition(done.conditions, "UpToDate")->last_transition_time,
            "2026-11-21T12:02:00Z");
}

TEST(PoolStatus, AnInvalidSpecLeavesTheCountsAsTheyWere) {
  node_pool pool;
  pool.meta.generation = 7;
  pool.status =
      status_after(pool, found(counts({unit_state::pending, unit_state::up_to_date})), noon);
  const auto s = status_with_invalid_spec(pool, "invalid image ref", {}, noon);
  EXPECT_EQ(s.node_count, 2);
  EXPECT_EQ(s.updated_count, 1);
  EXPECT_EQ(degraded_of(s), "True/InvalidSpec/invalid image ref");
  EXPECT_EQ(up_to_date_of(s), up_to_date_of(pool.status));
}

TEST(PoolStatus, ConditionsOfOthersStay) {
  node_pool pool;
  pool.status.conditions = {testing::cond("Audited", "True", "Yes")};
  EXPECT_NE(find_condition(status_after(pool, found({}), noon).conditions, "Audited"), nullptr);
}

TEST(PoolStatus, ThePatchShowsZerosToWhoeverLooksIntoTheColumns) {
  node_pool_status before, after;
  before.updating_count = 2;
  after.updated_count = 2;
  EXPECT_EQ(boost::json::serialize(status_patch(before, after)),
            R"({"status":{"updatedCount":2,"updatingCount":0}})");
  EXPECT_TRUE(status_patch(after, after).empty());
  // What another operator left off is there after the first pass, and is not written again.
  const node_pool_status left_off;
  const auto first = status_after({}, found({}), noon);
  const auto patch = status_patch(left_off, first).at("status").as_object();
  for (const char* count : {"nodeCount", "updatedCount", "updatingCount", "degradedCount"})
    EXPECT_EQ(patch.at(count), 0) << count;
  node_pool pool;
  pool.status = first;
  EXPECT_TRUE(status_patch(first, status_after(pool, found({}), noon)).empty());
}

TEST(PoolStatus, HoldsAreCountedByCodeAndWrittenWhenACountChanges) {
  pool_findings f = found(counts({unit_state::staged, unit_state::staged}));
  f.held = {{"pdb", 1}, {"slot-full", 1}};
  const auto first = status_after({}, f, noon);
  node_pool pool;
  pool.status = first;
  EXPECT_TRUE(status_patch(first, status_after(pool, f, noon)).empty());
  f.held = {{"slot-full", 2}};
  const auto patch = status_patch(first, status_after(pool, f, noon)).at("status").as_object();
  EXPECT_EQ(boost::json::serialize(patch.at("held")), R"({"pdb":null,"slot-full":2})");
  EXPECT_EQ(status_with_invalid_spec(pool, "no", {{"invalid-spec", 2}}, noon).held,
            (std::map<std::string, std::int64_t>{{"invalid-spec", 2}}));
}

TEST(PoolStatus, ThePolicysWordsAreCountedWhileTheyAreFew) {
  std::vector<hold> holds{{"n", "pdb", "", ""}, {"n", "policy:Later", "", ""}};
  EXPECT_EQ(counted(holds), (hold_counts{{"pdb", 1}, {"policy:Later", 1}}));
  for (std::size_t i = 0; i < most_policy_words; ++i)
    holds.push_back({"n", "policy:W" + std::to_string(i), "", ""});
  EXPECT_EQ(counted(holds), (hold_counts{{"pdb", 1}, {"policy", most_policy_words + 1}}));
}

}  // namespace
}  // namespace bootc
