// What a service at work publishes on the pool of who waits for a policy, and that who only looks
// says the same, whatever packs he has.
#include "bootc/pool/coexistence/published_policy.hpp"

#include "bootc/pool/pool_status.hpp"
#include "k8s/client/wire.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using testing::noon;
using testing::situation;
using testing::steps;

policy_answer given(std::map<std::string, policy_hold, std::less<>> holds) {
  policy_answer a;
  a.is = policy_answer::kind::given;
  a.by = "mine 3";
  a.holds = std::move(holds);
  return a;
}

/// w1 to w4 are staged: a freeze holds all but w3, whose zone is busy.
void fill(situation& s) {
  for (const char* name : {"w1", "w2", "w3", "w4"}) s.member(name, unit_state::staged);
  s.world.policy = given({{"w1", {"Freeze", "no changes before Monday"}},
                          {"w2", {"Freeze", "no changes before Monday"}},
                          {"w3", {"ZoneBusy", "zone a has 1 of 1", false, "zones 1"}},
                          {"w4", {"Freeze", "no changes before Monday"}}});
}

policy_question question_of(const situation& s, const node_pool_status& published) {
  policy_question q;
  q.units = s.plan().units;
  for (unit& u : q.units)
    if (u.starting) u.slotted = u.starting = false;  // as whoever asks it does
  q.now = s.world.now;
  q.published = published.policy_waits;
  return q;
}

/// The status as another process reads it from the server.
node_pool_status as_read(const node_pool_status& s) {
  const std::string text = boost::json::serialize(status_patch({}, s));
  auto read = k8s::shared_parser().parse(text);
  EXPECT_TRUE(read) << text;
  return node_pool::parse(*read).status;
}

TEST(PublishedPolicy, TheMostCommonReasonNamesNobodyAndTheOthersDo) {
  situation s;
  fill(s);
  const auto waits = s.plan().status.policy_waits;
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].code, "policy:Freeze");
  EXPECT_EQ(waits[0].by, "mine 3");
  EXPECT_EQ(waits[0].nodes, 3);
  EXPECT_TRUE(waits[0].names.empty());
  EXPECT_EQ(waits[1].code, "policy:ZoneBusy");
  EXPECT_EQ(waits[1].by, "zones 1");
  EXPECT_EQ(waits[1].names, std::vector<std::string>{"w3"});
  EXPECT_EQ(waits[1].since, "2026-11-21T12:00:00Z");
}

TEST(PublishedPolicy, WhoLooksSaysWhatTheOneAtWorkSays) {
  situation at_work;
  fill(at_work);
  const rollout_plan acting = at_work.plan();
  situation looks;
  fill(looks);
  looks.world.pool.status = as_read(acting.status);
  looks.world.policy = answer_published(question_of(looks, looks.world.pool.status));
  rollout_plan looked = looks.plan();
  EXPECT_EQ(steps(looked), "");
  for (hold& h : looked.holds) {
    EXPECT_EQ(h.since, "2026-11-21T12:00:00Z");
    h.since.clear();
  }
  EXPECT_EQ(looked.holds, acting.holds);
}

TEST(PublishedPolicy, AFaultIsToldAsTheFaultThatItIs) {
  situation at_work;
  at_work.member("w1", unit_state::staged);
  at_work.world.policy.is = policy_answer::kind::failed;
  at_work.world.policy.detail = "policy.lua:3: boom";
  const rollout_plan acting = at_work.plan();
  ASSERT_EQ(acting.status.policy_waits.size(), 1u);
  situation looks;
  looks.member("w1", unit_state::staged);
  looks.world.policy = answer_published(question_of(looks, as_read(acting.status)));
  EXPECT_EQ(looks.plan().holds, acting.holds);
}

TEST(PublishedPolicy, ASignalThatHaltsIsToldAsTheOneAtWorkTellsIt) {
  situation at_work, looks;
  for (situation* s : {&at_work, &looks})
    for (const char* name : {"w1", "w2"}) s->member(name, unit_state::staged);
  at_work.world.policy = given({{"w2", {"WaitsForSlot", "waits for a free slot"}}});
  at_work.world.policy.halt = {"signal-bad", "errors is 0.2", false, "signals 1"};
  const rollout_plan acting = at_work.plan();
  EXPECT_TRUE(acting.halted);
  EXPECT_EQ(testing::held(acting), "w1:signal-bad w2:signal-bad");
  ASSERT_EQ(acting.status.policy_waits.size(), 1u);
  policy_question q = question_of(looks, as_read(acting.status));
  q.published_halt = true;
  looks.world.policy = answer_published(q);
  const rollout_plan looked = looks.plan();
  EXPECT_EQ(looked.holds, acting.holds);
  EXPECT_TRUE(looked.halted);
}

TEST(PublishedPolicy, IsKeptAsItWasWhileOnlyItsNumbersMove) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.policy = given({{"w1", {"Soak", "watched for another 293 s"}}});
  s.world.policy.look_again = noon + 30s;
  s.world.pool.status = s.plan().status;
  EXPECT_EQ(s.world.pool.status.policy_waits.front().asked_again, "") << "that is soon";
  s.world.now = noon + 30s;
  s.world.policy = given({{"w1", {"Soak", "watched for another 7 s"}}});
  s.world.policy.look_again = noon + 60s;
  EXPECT_FALSE(s.plan().status_changed);
  s.world.policy = given({{"w1", {"Soak", "watched for good"}}});
  const rollout_plan plan = s.plan();
  EXPECT_TRUE(plan.status_changed);
  EXPECT_EQ(plan.status.policy_waits.front().reason, "watched for good");
  EXPECT_EQ(plan.status.policy_waits.front().since, "2026-11-21T12:00:00Z")
      << "the same code holds it";
}

TEST(PublishedPolicy, SaysWhenThePolicyIsAskedAgainWhereThatIsLater) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.policy = given({{"w1", {"OutsideWindow", "from 22:00 on"}}});
  s.world.policy.look_again = noon + 10h;
  const rollout_plan plan = s.plan();
  EXPECT_EQ(plan.status.policy_waits.front().asked_again, "2026-11-21T22:00:00Z");
  EXPECT_EQ(answer_published(question_of(s, plan.status)).look_again, noon + 10h);
}

TEST(PublishedPolicy, GoesWithTheLastWhoWaits) {
  situation s;
  fill(s);
  s.world.pool.status = s.plan().status;
  s.world.pool.spec.paused = true;
  EXPECT_TRUE(s.plan().status.policy_waits.empty()) << "the pause holds them now";
  const auto patch = status_patch(s.world.pool.status, s.plan().status);
  EXPECT_TRUE(patch.at("status").at("policyHolds").is_null());
}

TEST(PublishedPolicy, AThousandReasonsStayAFewAndThoseWhomNobodyNamesHearAllOfThem) {
  situation s;
  std::map<std::string, policy_hold, std::less<>> holds;
  for (int i = 100; i < 300; ++i) {
    const std::string name = "w" + std::to_string(i);
    s.member(name, unit_state::staged);
    holds[name] = {i % 3 == 0 ? "Third" : "Other", "a reason of " + name};
  }
  s.world.policy = given(std::move(holds));
  const rollout_plan plan = s.plan();
  const auto waits = as_read(plan.status).policy_waits;
  EXPECT_EQ(waits, plan.status.policy_waits);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].reason, "a reason of w100 (the first of many reasons)");
  EXPECT_EQ(waits[0].nodes + waits[1].nodes, 200);
  EXPECT_EQ(waits[1].names.size(), most_waiting_names);
  const policy_answer answer = answer_published(question_of(s, plan.status));
  EXPECT_EQ(answer.holds.at("w102").code, "Third");
  const policy_hold& unnamed = answer.holds.at("w299");
  EXPECT_EQ(unnamed.code, "");
  EXPECT_EQ(unnamed.reason,
            "a reason of w100 (the first of many reasons); or: a reason of w102 (the first of many "
            "reasons)");
}

TEST(PublishedPolicy, ACodeForEachNodeBecomesOneForAll) {
  situation s;
  std::map<std::string, policy_hold, std::less<>> holds;
  for (int i = 10; i < 40; ++i) {
    const std::string name = "w" + std::to_string(i);
    s.member(name, unit_state::staged);
    holds[name] = {"Code" + name, "a reason of " + name};
  }
  s.world.policy = given(std::move(holds));
  const auto waits = s.plan().status.policy_waits;
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].code, "policy");
  EXPECT_EQ(waits[0].nodes, 30);
}

/// Lets everybody start.
class at_hand final : public rollout_policy {
public:
  reactor::awaitable<policy_answer> ask(policy_question question) override {
    policy_answer out = given({});
    out.by = "at hand";
    for (const unit& u : question.units) out.start.push_back(u.name);
    co_return out;
  }
};

std::string asked(std::vector<policy_wait> published) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  reactor::task_group tasks(l);
  std::string by;
  tasks.start("ask", [&]() -> reactor::awaitable<void> {
    at_hand own;
    published_policy policy(own);
    policy_question q;
    q.published = published;
    policy_answer said = co_await policy.ask(std::move(q));
    by = said.by;
  });
  l.run();
  return by;
}

TEST(PublishedPolicy, ThePacksAtHandAnswerWhereNobodyHas) {
  EXPECT_EQ(asked({}), "at hand");
  policy_wait w;
  w.code = "policy:Freeze";
  w.by = "mine 3";
  w.nodes = 1;
  EXPECT_EQ(asked({w}), "mine 3");
}

}  // namespace
}  // namespace bootc
