#include "policies/releases/consent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace policies::releases {
namespace {

finding too_high() {
  finding f;
  f.id = "level.too-high";
  f.how = severity::error;
  f.subject = "component/os-tooling";
  f.why = "too much";
  return f;
}

struct ReleaseConsent : testing::Test {
  ReleaseConsent() {
    release.name = "vsphere-27.0.1";
    release.hash = "abc";
    agreed = {
        "level.too-high", "component/os-tooling", "vsphere-27.0.1", "abc", "agreed", "me", ""};
  }
  std::vector<finding> given(finding f) {
    return with_consent({std::move(f)}, {agreed}, release,
                        *reactor::parse_rfc3339("2026-11-22T12:00:00Z"));
  }
  document release;
  waiver agreed;
};

TEST_F(ReleaseConsent, LowersWhatIsNamedByOneStep) {
  finding f = too_high();
  auto after = given(f);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].how, severity::warn);
  EXPECT_EQ(after[0].why, "too much; waived by me: agreed");
  EXPECT_EQ(decide(after), decision::allow);
  f.how = severity::warn;
  f.blocking = "approval";
  EXPECT_EQ(decide({f}), decision::needs_approval);
  after = given(f);
  EXPECT_EQ(after[0].how, severity::info);
  EXPECT_EQ(decide(after), decision::allow);
}

TEST_F(ReleaseConsent, LowersOnceHoweverManyAgree) {
  const auto after = with_consent({too_high()}, {agreed, agreed, agreed}, release, {});
  EXPECT_EQ(after[0].how, severity::warn);
}

TEST_F(ReleaseConsent, IsVoidForOtherContentWithoutAReasonAndAfterItsTime) {
  const auto denied = [&](const std::string& why) {
    const auto after = given(too_high());
    EXPECT_EQ(decide(after), decision::deny);
    ASSERT_EQ(after.size(), 2u) << why;
    EXPECT_EQ(after[1].id, "waiver.void");
    EXPECT_THAT(after[1].why, testing::HasSubstr(why));
  };
  release.hash = "abd";
  denied("other content");
  release.hash = "abc";
  agreed.reason = "";
  denied("no reason");
  agreed.reason = "agreed";
  agreed.until = "2026-11-21";
  denied("it ended 2026-11-21");
  agreed.until = "soon";
  denied("no time");
  agreed.until = "2026-11-22";
  EXPECT_EQ(decide(given(too_high())), decision::allow);
}

TEST_F(ReleaseConsent, SpeaksOfOneFindingOnOneRelease) {
  agreed.subject = "component/kubernetes";
  EXPECT_EQ(given(too_high()), std::vector<finding>{too_high()});
  agreed.subject = "component/os-tooling";
  agreed.of = "vsphere-27.0.2";
  EXPECT_EQ(given(too_high()), std::vector<finding>{too_high()});
}

}  // namespace
}  // namespace policies::releases
