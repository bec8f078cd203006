#include "releases/rules/consent.hpp"

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

std::vector<std::string> texts_of(const std::vector<finding>& findings) {
  std::vector<std::string> all;
  for (const finding& f : findings)
    all.push_back(std::string(to_string(f.how)) + " " + f.id + " " + f.subject + ": " + f.why +
                  " (" + f.evidence + ")");
  return all;
}

const std::string several_waivers =
    "- {rule: level.too-high, subject: component/a, release: aws-1.2.3, hash: x}\n"
    "- {rule: level.too-hihg, subject: component/a, release: aws-1.2.3, hash: x}\n"
    "- {rule: level.too-high, subject: component/b, release: aws-1.2, hash: x}\n"
    "- {rule: something, subject: component/c, release: nothing, hash: x}\n"
    "- {rule: train.skwe, subject: edge/a, train: v0.17.0, hash: x}\n"
    "- {rule: train.skew, subject: edge/a, train: v0.17.0, hash: x}\n"
    "- {rule: train.skew, subject: edge/b, train: v0.17.0, hash: x}\n"
    "- {rule: train.skew, subject: edge/b, train: v0.16.0, hash: x}\n"
    "- {rule: train.skew, subject: edge/b, train: 0.17.0, hash: x}\n";

TEST(LostWaivers, NameNoReleaseOrNoRule) {
  const auto waivers = read_waivers(several_waivers, "waivers.yaml");
  ASSERT_TRUE(waivers) << waivers.error().message();
  const std::vector<std::string> names = {"aws-1.2.3", "aws-9.9.9"};
  EXPECT_THAT(texts_of(lost_waivers(*waivers, names, {"level.too-high", "nodes.roll"})),
              testing::ElementsAre(
                  "warn waiver.void component/a: it counts for nothing: there is no rule "
                  "'level.too-hihg'; is it 'level.too-high'? (waivers.yaml: waivers[2])",
                  "warn waiver.void component/b: it counts for nothing: there is no Release "
                  "'aws-1.2'; is it 'aws-1.2.3'? (waivers.yaml: waivers[3])",
                  "warn waiver.void component/c: it counts for nothing: there is no Release "
                  "'nothing' (waivers.yaml: waivers[4])"));
  // A pack that does not say its rules leaves them unjudged.
  EXPECT_EQ(lost_waivers(*waivers, names, {}).size(), 2u);
}

TEST(LostWaivers, OfATrainAreToldWithWhatTheyName) {
  const auto waivers = read_waivers(several_waivers, "waivers.yaml");
  ASSERT_TRUE(waivers) << waivers.error().message();
  finding skew;
  skew.id = "train.skew";
  skew.subject = "edge/a";
  EXPECT_THAT(
      texts_of(unused_waivers(*waivers, "v0.17.0", {"train.skew"}, {skew})),
      testing::ElementsAre(
          "warn waiver.void edge/a: it counts for nothing: there is no rule 'train.skwe'; "
          "is it 'train.skew'? (waivers.yaml: waivers[5])",
          "info waiver.void edge/b: it waives train.skew, which is not found of this "
          "(waivers.yaml: waivers[7])",
          "info waiver.void train/v0.17.0: consent to other trains counts for nothing here: "
          "v0.16.0, 0.17.0 (waivers.yaml: waivers[8])"));
}

}  // namespace
}  // namespace policies::releases
