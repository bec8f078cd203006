#include "helm/tenants/plan/crd_care.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace helm::tenants {
namespace {

using is = write_next::is;
using namespace std::chrono_literals;

TEST(TenantWrites, W1_AConflictIsTriedFiveTimesWithGrowingPauses) {
  std::vector<reactor::nanoseconds> pauses;
  for (int made = 1; made < write_attempts; ++made) {
    const auto n = after_write({409, {}}, made);
    EXPECT_EQ(n.what, is::again);
    pauses.push_back(n.pause);
  }
  EXPECT_EQ(pauses, (std::vector<reactor::nanoseconds>{100ms, 200ms, 400ms, 800ms}));
  EXPECT_EQ(after_write({409, {}}, write_attempts).what, is::given_up);
  EXPECT_EQ(after_write({200, {}}, 4).what, is::done);
}

TEST(TenantWrites, W2_WhatIsDeniedIsGivenUpAtOnce) {
  for (const int code : {400, 401, 403, 422, 301}) {
    EXPECT_EQ(after_write({code, {}}, 1).what, is::given_up) << code;
  }
}

TEST(TenantWrites, AnObjectThatIsGoneIsNoFailure) {
  EXPECT_EQ(after_write({404, {}}, 1).what, is::gone);
}

TEST(TenantWrites, AServerThatAsksForAPauseGetsIt) {
  EXPECT_EQ(after_write({429, 7s}, 1), (write_next{is::again, 7s}));
  EXPECT_EQ(after_write({429, 0s}, 2), (write_next{is::again, 200ms}));
  for (const int code : {0, 500, 503, 504}) EXPECT_EQ(after_write({code, {}}, 1).what, is::again);
}

TEST(TenantCrd, N2_OneThatIsThereIsOnlyReplacedByANewerOneOfOurs) {
  EXPECT_EQ(care_for(std::nullopt), crd_step::create);
  for (const char* revision : {"0", "1"}) EXPECT_EQ(care_for(revision), crd_step::replace);
  for (const char* revision : {"", "2", "3", "x", "0x", " 0", "99999999999999999999"})
    EXPECT_EQ(care_for(revision), crd_step::none) << revision;
}

TEST(TenantCrd, N3_WhatPassesIsTriedFiveTimesAndADenialIsNot) {
  EXPECT_EQ(crd_pause(crd_request::read, {503, {}}, 1), 200ms);
  EXPECT_EQ(crd_pause(crd_request::read, {0, {}}, 4), 800ms);
  EXPECT_EQ(crd_pause(crd_request::create, {0, {}}, 3), 900ms);
  EXPECT_EQ(crd_pause(crd_request::create, {0, {}}, 5), std::nullopt);
  EXPECT_EQ(crd_pause(crd_request::read, {403, {}}, 1), std::nullopt);
  EXPECT_EQ(crd_remedy(crd_request::create),
            "grant create on customresourcedefinitions.apiextensions.k8s.io");
}

}  // namespace
}  // namespace helm::tenants
