#include "bootc/kinds/names.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc::behaviour {
namespace {

constexpr const char* claimed =
    R"({"metadata":{"ownerReferences":[{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","name":"claim",
        "uid":"00000000-0000-4000-8000-000000000777","blockOwnerDeletion":true}]}})";

struct seen {
  std::string in_slot, ours, afterwards;  // "repair disrupt", and "cordoned"
};

std::string said_of(const k8s::node& n) {
  std::string out;
  if (n.meta.annotations.get(names::do_not_repair) == "true") out += "repair ";
  if (n.meta.annotations.get(names::do_not_disrupt) == "true") out += "disrupt ";
  if (n.unschedulable) out += "cordoned ";
  return out;
}

/// A node goes through its slot.
awaitable<void> one_update(stage& s, seen& into) {  // borrowed
  s.start_controller();
  co_await s.pool("p", 'b');
  co_await s.until("there", "w1", [](const bootc_node&) { return true; });
  co_await s.report("w1", unit_state::staged, 'a', 'b');
  co_await s.until("approved", "w1", [](const bootc_node& b) {
    return b.in_slot() && b.spec.desired_state == image_state::booted;
  });
  auto node = co_await s.see_node("w1");
  auto object = co_await s.see("w1");
  EXPECT_TRUE(node && object);
  if (!node || !object) co_return;
  into.in_slot = said_of(*node);
  if (object->annotation(names::owns_do_not_repair) == "true") into.ours += "repair ";
  if (object->annotation(names::owns_do_not_disrupt) == "true") into.ours += "disrupt ";
  co_await s.report("w1", unit_state::up_to_date, 'b');
  co_await s.until("released", "w1", [](const bootc_node& b) {
    return !b.in_slot() && !b.annotation(names::owns_do_not_repair) &&
           !b.annotation(names::owns_do_not_disrupt);
  });
  node = co_await s.see_node("w1");
  EXPECT_TRUE(node);
  if (node) into.afterwards = said_of(*node);
}

TEST(Karpenter, T086_ANodeOfANodeClaimIsKeptFromItWhileItHoldsItsSlot) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.patch_node("w1", claimed);
    seen what;
    co_await one_update(s, what);
    EXPECT_EQ(what.in_slot, "repair disrupt cordoned ");
    EXPECT_EQ(what.ours, "repair disrupt ");
    EXPECT_EQ(what.afterwards, "");
  });
}

TEST(Karpenter, T087_WhatSomebodyElseHasWrittenIsNeverOursAndStays) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.patch_node(
        "w1",
        R"({"metadata":{"annotations":{"karpenter.sh/do-not-repair":"true","karpenter.sh/do-not-disrupt":"true"}}})");
    seen what;
    co_await one_update(s, what);
    EXPECT_EQ(what.in_slot, "repair disrupt cordoned ");
    EXPECT_EQ(what.ours, "");
    EXPECT_EQ(what.afterwards, "repair disrupt ");
  });
}

TEST(Karpenter, T088_ANodeThatWasCordonedStaysCordonedAndIsGivenBack) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.patch_node("w1", claimed);
    co_await s.patch_node("w1", R"({"spec":{"unschedulable":true}})");
    seen what;
    co_await one_update(s, what);
    EXPECT_EQ(what.in_slot, "repair disrupt cordoned ");
    EXPECT_EQ(what.afterwards, "cordoned ");
  });
}

TEST(Karpenter, T089_EachAnnotationIsFollowedByItself) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.patch_node("w1", claimed);
    co_await s.patch_node("w1",
                          R"({"metadata":{"annotations":{"karpenter.sh/do-not-repair":"true"}}})");
    seen what;
    co_await one_update(s, what);
    EXPECT_EQ(what.in_slot, "repair disrupt cordoned ");
    EXPECT_EQ(what.ours, "disrupt ");
    EXPECT_EQ(what.afterwards, "repair ");
  });
}

TEST(Karpenter, ANodeThatLeavesInItsSlotIsGivenBack) {
  play([](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    co_await s.patch_node("w1", claimed);
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until_node("shielded", "w1", [](const k8s::node& n) {
      return n.meta.annotations.get(names::do_not_disrupt) == "true";
    });
    co_await s.label("w1", "pool", std::nullopt);
    co_await s.until_gone("w1");
    auto node = co_await s.see_node("w1");
    EXPECT_TRUE(node && said_of(*node).empty()) << (node ? said_of(*node) : "absent");
  });
}

TEST(Karpenter, ANodeOfAPoolThatIsDeletedInItsSlotIsGivenBack) {
  play([](stage& s) -> awaitable<void> {
    co_await s.budget("db", "db", "1");
    co_await s.node("w1", "p");
    co_await s.patch_node("w1", claimed);
    co_await s.pod("db-0", "w1", "db");  // so that it stays in its slot
    s.start_controller();
    co_await s.pool("p", 'b');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::staged, 'a', 'b');
    co_await s.until_node("shielded", "w1", [](const k8s::node& n) {
      return n.meta.annotations.get(names::do_not_disrupt) == "true" && n.unschedulable;
    });
    co_await s.remove_pool("p");
    co_await s.until_gone("w1");
    auto node = co_await s.see_node("w1");
    EXPECT_TRUE(node && said_of(*node).empty()) << (node ? said_of(*node) : "absent");
  });
}

}  // namespace
}  // namespace bootc::behaviour
