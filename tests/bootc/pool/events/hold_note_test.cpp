#include "bootc/pool/events/hold_note.hpp"

#include "bootc/pool/pool_status.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using testing::noon;

const hold blocked{"n1", "pdb", "a disruption budget refuses to evict default/web-1",
                   "the budget allows one more disruption"};

/// The BootcNode after a patch with these annotations.
bootc_node noted(bootc_node b, const boost::json::object& annotations) {
  for (const auto& [key, value] : annotations)
    b.meta.annotations = testing::with(b.meta.annotations, std::string(key),
                                       value.is_null() ? "" : std::string(value.as_string()));
  return b;
}

TEST(HoldNote, SaysCodeSentenceSinceAndWhatReleasesIt) {
  EXPECT_TRUE(is_noted({}, nullptr));
  EXPECT_FALSE(is_noted({}, &blocked));
  const bootc_node b = noted({}, note_annotations({}, &blocked, noon));
  EXPECT_TRUE(is_noted(b, &blocked));
  EXPECT_EQ(note_of(b),
            (hold_note{"pdb", blocked.sentence, "2026-11-21T12:00:00Z", blocked.released_by}));
  EXPECT_FALSE(is_noted(b, nullptr));
  const auto gone = note_annotations(b, nullptr, noon);
  EXPECT_EQ(gone.size(), 4u);
  for (const auto& [key, value] : gone) EXPECT_TRUE(value.is_null()) << key;
}

TEST(HoldNote, IsWrittenAgainForAnotherCodePodOrHour) {
  const bootc_node b = noted({}, note_annotations({}, &blocked, noon));
  hold other = blocked;
  other.sentence = "a disruption budget refuses to evict default/web-2";
  EXPECT_FALSE(is_noted(b, &other));
  EXPECT_EQ(note_of(noted(b, note_annotations(b, &other, noon + 1min)))->since,
            "2026-11-21T12:00:00Z");
  other = blocked;
  other.released_by = "the budget default/web allows one more disruption";
  EXPECT_FALSE(is_noted(b, &other));
  hold draining{"n1", "draining", "its drain begins", "its pods are gone"};
  EXPECT_FALSE(is_noted(b, &draining));
  const bootc_node d = noted(b, note_annotations(b, &draining, noon + 1min));
  EXPECT_EQ(note_of(d)->since, "2026-11-21T12:01:00Z");
  draining.sentence = "it is being drained, 1 pod is left: default/web-1";
  EXPECT_FALSE(is_noted(d, &draining)) << "it does not begin for ever";
}

TEST(HoldNote, WhatIsStuckIsToldAsItBeginsAndAsItEndsAndWhatIsUnderWayIsNot) {
  const hold draining{"n1", "draining", "it is being drained, 3 pods are left",
                      "its pods are gone"};
  EXPECT_FALSE(is_new({}, nullptr));
  EXPECT_FALSE(is_new({}, &draining)) << "the node's own steps tell of it";
  EXPECT_TRUE(is_new({}, &blocked));
  const bootc_node d = noted({}, note_annotations({}, &draining, noon));
  EXPECT_FALSE(is_new(d, &draining));
  EXPECT_TRUE(is_new(d, &blocked));
  EXPECT_FALSE(is_new(d, nullptr));
  const k8s::event_note stuck = event_of(d, &blocked);
  EXPECT_EQ(stuck.reason, "Stuck");
  EXPECT_EQ(stuck.type, k8s::event_severity::warning);
  EXPECT_EQ(stuck.note,
            "pdb: a disruption budget refuses to evict default/web-1; released when the budget "
            "allows one more disruption");
  const bootc_node b = noted({}, note_annotations({}, &blocked, noon));
  EXPECT_FALSE(is_new(b, &blocked));
  EXPECT_TRUE(is_new(b, nullptr));
  const k8s::event_note over = event_of(b, nullptr);
  EXPECT_EQ(over.reason, "Released");
  EXPECT_EQ(over.note, "it is no longer stuck: pdb since 2026-11-21T12:00:00Z");
}

TEST(HoldNote, HoldsAreCountedByCodeInTheConditionReady) {
  EXPECT_EQ(held_text({{"pdb", 1}, {"slot-full", 4}, {"draining", 1}}),
            "4 slot-full, 1 draining, 1 pdb");
  pool_findings found;
  found.counts.add(unit_state::staged);
  found.counts.add(unit_state::up_to_date);
  found.held = {{"pdb", 1}};
  const auto waiting = status_after({}, found, noon);
  const condition* ready = find_condition(waiting.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->status + "/" + ready->reason + "/" + ready->message,
            "False/RolloutInProgress/held: 1 pdb");
  pool_findings done;
  done.counts.add(unit_state::up_to_date);
  const auto all = status_after({}, done, noon);
  EXPECT_EQ(find_condition(all.conditions, "Ready")->status, "True");
}

}  // namespace
}  // namespace bootc
