#include "bootc/kinds/classification.hpp"

#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using testing::booted;
using testing::cond;

/// A node on image a that shall run b.
bootc_node behind() {
  bootc_node n;
  n.meta.name = "w1";
  n.spec.desired_image = testing::image_of('b');
  n.status.booted = booted('a');
  return n;
}

TEST(Classification, T029_BootedAndIdleIsUpToDate) {
  auto n = behind();
  n.status.booted = booted('b');
  n.status.conditions = {cond("Idle", "True", "Idle")};
  EXPECT_EQ(classify(n), unit_state::up_to_date);
}

TEST(Classification, T030_OtherImageAndIdleIsPending) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "True", "Idle")};
  EXPECT_EQ(classify(n), unit_state::pending);
}

TEST(Classification, T031_NoBootedImageIsPending) {
  auto n = behind();
  n.status.booted.reset();
  EXPECT_EQ(classify(n), unit_state::pending);
}

TEST(Classification, T032_NoConditionsIsPending) {
  EXPECT_EQ(classify(behind()), unit_state::pending);
}

TEST(Classification, T033_Staging) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "False", "Staging")};
  EXPECT_EQ(classify(n), unit_state::staging);
}

TEST(Classification, T034_Staged) {
  auto n = behind();
  n.status.staged = booted('b');
  n.status.conditions = {cond("Idle", "False", "Staged")};
  EXPECT_EQ(classify(n), unit_state::staged);
}

TEST(Classification, T035_Rebooting) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "False", "Rebooting")};
  EXPECT_EQ(classify(n), unit_state::rebooting);
}

TEST(Classification, T036_HealthyWhileStagingIsStaging) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "False", "Staging"), cond("Degraded", "False", "Healthy")};
  EXPECT_EQ(classify(n), unit_state::staging);
}

TEST(Classification, T037_DegradedWinsOverTheImageReached) {
  auto n = behind();
  n.status.booted = booted('b');
  n.status.conditions = {cond("Idle", "True", "Idle"), cond("Degraded", "True", "Error")};
  EXPECT_EQ(classify(n), unit_state::degraded);
}

TEST(Classification, StagedForTheFormerTargetIsStaging) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "False", "Staged")};
  n.status.staged = booted('c');
  EXPECT_EQ(classify(n), unit_state::staging);
  n.status.staged.reset();
  EXPECT_EQ(classify(n), unit_state::staging);
}

TEST(Classification, TheImageReachedWinsOverWhatTheDaemonIsDoing) {
  auto n = behind();
  n.status.booted = booted('b');
  for (const char* reason : {"Staging", "Staged", "Rebooting", "Something"}) {
    n.status.conditions = {cond("Idle", "False", reason)};
    EXPECT_EQ(classify(n), unit_state::up_to_date) << reason;
  }
}

TEST(Classification, AnUnusableDesiredImageIsUnclassified) {
  auto n = behind();
  n.spec.desired_image = "quay.io/example/os:latest";
  EXPECT_EQ(classify(n), unit_state::unclassified);
  n.spec.desired_image = "os";
  EXPECT_EQ(classify(n), unit_state::unclassified);
}

TEST(Classification, AnUnknownReasonIsPending) {
  auto n = behind();
  n.status.conditions = {cond("Idle", "False", "Dreaming")};
  EXPECT_EQ(classify(n), unit_state::pending);
}

TEST(DigestRule, TheIndexDigestInThePullSpecificationCounts) {
  image_info multi_arch;
  multi_arch.image = testing::image_of('b');    // what was asked for: the index
  multi_arch.digest = testing::digest_of('e');  // what was fetched: the platform's manifest
  EXPECT_TRUE(is_image(multi_arch, testing::digest_of('b')));
  EXPECT_TRUE(is_image(multi_arch, testing::digest_of('e')));
  EXPECT_FALSE(is_image(multi_arch, testing::digest_of('a')));
  EXPECT_FALSE(is_image(image_info{}, ""));
}

}  // namespace
}  // namespace bootc
