// What goes on after each answer of the server: rules of safety between the writes of one pass.
#include "bootc/pool/reconciler/pass_steps.hpp"

#include "k8s/client/race.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using enum action_kind;

action step(action_kind kind, std::string node) {
  action a;
  a.kind = kind;
  a.node = std::move(node);
  a.resource_version = "seen";
  return a;
}

k8s::fault answer(k8s::errc code, int status) {
  k8s::fault f;
  f.code = code;
  f.http_status = status;
  return f;
}

/// "take_slot w1 @seen", for each step that is made; those of `failing` get `why` for an answer.
struct pass {
  std::vector<action> actions;
  std::set<std::string> giving_back = {};
  std::set<std::string> failing = {};  // "free_slot w1"
  k8s::fault why = answer(k8s::errc::conflict, 409);
  bool ended = false;
  std::string pool_version = {};

  std::vector<std::string> run(bool no_slot = false) {
    pass_steps steps(actions, giving_back);
    if (no_slot) steps.take_no_slot();
    std::vector<std::string> made;
    int version = 0;
    while (const action* a = steps.next()) {
      const std::string name = std::string(text(a->kind)) + " " + a->node;
      made.push_back(name + " @" + a->resource_version);
      if (!failing.contains(name)) {
        steps.made("v" + std::to_string(++version));
      } else if (!steps.failed(why)) {
        ended = true;
        break;
      }
    }
    pool_version = steps.pool_version();
    return made;
  }
};

using made = std::vector<std::string>;

std::string said(action_kind kind, const char* rest) {
  return std::string(text(kind)) + " " + rest;
}

TEST(PassSteps, AFailureStopsItsNodeAlone) {
  pass p{{step(sync_spec, "w1"), step(approve, "w1"), step(sync_spec, "w2")}};
  p.failing = {said(sync_spec, "w1")};
  EXPECT_EQ(p.run(), (made{said(sync_spec, "w1 @seen"), said(sync_spec, "w2 @seen")}));
  EXPECT_FALSE(p.ended);
}

TEST(PassSteps, ALaterStepNamesTheVersionThatTheFormerMade) {
  // A node's own object and the Node have versions of their own.
  pass p{{step(sync_spec, "w1"), step(cordon, "w1"), step(take_slot, "w1"), step(uncordon, "w1")}};
  EXPECT_EQ(p.run(), (made{said(sync_spec, "w1 @seen"), said(cordon, "w1 @seen"),
                           said(take_slot, "w1 @v1"), said(uncordon, "w1 @v2")}));
}

TEST(PassSteps, NothingGoesOnWithoutThePoolsFinalizer) {
  pass p{{step(add_finalizer, ""), step(create_node, "w1")}};
  p.failing = {said(add_finalizer, "")};
  EXPECT_EQ(p.run(), (made{said(add_finalizer, " @seen")}));
  EXPECT_TRUE(p.ended);
  p.failing.clear();
  (void)p.run();
  EXPECT_EQ(p.pool_version, "v1");
}

TEST(PassSteps, ASlotThatCouldNotBeGivenBackIsNotTaken) {
  for (const action_kind gives : {free_slot, note_drain_timeout, delete_node}) {
    pass p{{step(gives, "w1"), step(gives, "w2"), step(take_slot, "w3"), step(cordon, "w3"),
            step(take_slot, "w4")},
           {"w1", "w2"},
           {said(gives, "w1")}};
    EXPECT_EQ(p.run(),
              (made{said(gives, "w1 @seen"), said(gives, "w2 @seen"), said(take_slot, "w4 @seen")}))
        << text(gives);
  }
  // One that holds no slot takes none away from others.
  pass none{{step(delete_node, "w1"), step(take_slot, "w3")}, {}, {said(delete_node, "w1")}};
  EXPECT_EQ(none.run().size(), 2u);
}

TEST(PassSteps, WhereTheServerShowsOtherSlotsNoneIsTaken) {
  pass p{{step(take_slot, "w1"), step(cordon, "w1"), step(free_slot, "w2")}};
  EXPECT_EQ(p.run(true), (made{said(free_slot, "w2 @seen")}));
}

TEST(PassSteps, ACancelledStepEndsThePass) {
  pass p{{step(sync_spec, "w1"), step(sync_spec, "w2")}, {}, {said(sync_spec, "w1")}};
  p.why.cancelled = true;
  EXPECT_EQ(p.run().size(), 1u);
  EXPECT_TRUE(p.ended);
}

TEST(PassSteps, TheFirstFailureIsTold) {
  std::vector<action> actions = {step(take_slot, "w1"), step(sync_spec, "w2")};
  pass_steps steps(actions, {});
  EXPECT_TRUE(steps.takes_slots());
  steps.take_no_slot(answer(k8s::errc::unavailable, 503));
  ASSERT_NE(steps.next(), nullptr);
  EXPECT_TRUE(steps.failed(answer(k8s::errc::conflict, 409)));
  EXPECT_EQ(steps.next(), nullptr);
  ASSERT_TRUE(steps.failure());
  EXPECT_EQ(steps.failure()->http_status, 503);
  EXPECT_EQ(steps.stopped(), (std::set<std::string>{"w1", "w2"}));
}

TEST(PassSteps, WhatAnAnswerMeans) {
  struct row {
    k8s::errc code;
    int status;
    bool race, race_of_a_new_one, unanswered;
  };
  for (const row& r : {row{k8s::errc::conflict, 409, true, true, false},
                       row{k8s::errc::exists, 409, true, true, false},
                       row{k8s::errc::gone, 410, true, true, false},
                       row{k8s::errc::not_found, 404, true, false, false},
                       row{k8s::errc::forbidden, 403, false, false, false},
                       row{k8s::errc::throttled, 429, false, false, false},
                       row{k8s::errc::unavailable, 500, false, false, true},
                       row{k8s::errc::unavailable, 0, false, false, true}}) {
    const k8s::fault why = answer(r.code, r.status);
    EXPECT_EQ(k8s::is_a_race(why), r.race) << r.status;
    for (const auto what : {k8s::written::created, k8s::written::status})
      EXPECT_EQ(k8s::is_a_race(why, what), r.race_of_a_new_one) << r.status;
    EXPECT_EQ(is_unanswered(why), r.unanswered) << r.status;
  }
}

TEST(PassSteps, OfDisturbedNodesComeFirst) {
  std::vector<action> all;
  const auto add = [&](action_kind kind, const char* node) {
    all.emplace_back().kind = kind;
    all.back().node = node;
  };
  add(action_kind::add_finalizer, "");
  add(action_kind::sync_spec, "w1");
  add(action_kind::free_slot, "w2");
  add(action_kind::approve, "w3");
  add(action_kind::take_slot, "w4");
  add(action_kind::cordon, "w5");
  add(action_kind::start_drain, "w4");
  add(action_kind::start_drain, "w5");
  disturbed_first(all);
  std::string order;
  for (const action& a : all) order += std::string(text(a.kind)) + " " + a.node + "; ";
  EXPECT_EQ(order,
            "add finalizer ; approve reboot w3; cordon Node w5; drain Node w5; set desired image "
            "w1; free slot w2; take slot w4; drain Node w4; ");
}

}  // namespace
}  // namespace bootc
