#include "bootc/daemon/stage_progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bootc {
namespace {

using namespace std::chrono_literals;

std::string pulling(const std::string& bytes, const std::string& all) {
  return R"({"type":"ProgressBytes","task":"pulling","description":"Pulling Image","id":"quay.io/x","bytesCached":0,"bytes":)" +
         bytes + R"(,"bytesTotal":)" + all +
         R"(,"stepsCached":0,"steps":1,"stepsTotal":65,"subtasks":[{"subtask":"ostree_chunk","id":"c","bytes":1,"bytesTotal":2}]})";
}

TEST(StageProgress, BytesCountInQuarters) {
  EXPECT_EQ(progress_words(pulling("0", "1234000000")), "pulling: 0 % of 1234 MB");
  EXPECT_EQ(progress_words(pulling("308499999", "1234000000")), "pulling: 0 % of 1234 MB");
  EXPECT_EQ(progress_words(pulling("308500000", "1234000000")), "pulling: 25 % of 1234 MB");
  EXPECT_EQ(progress_words(pulling("1233999999", "1234000000")), "pulling: 75 % of 1234 MB");
  EXPECT_EQ(progress_words(pulling("1234000000", "1234000000")), "pulling: 100 % of 1234 MB");
  EXPECT_EQ(progress_words(pulling("1", "3")), "pulling: 25 % of 1 MB");
  EXPECT_EQ(progress_words(pulling("9223372036854775807", "9223372036854775807")),
            "pulling: 100 % of 9223372036855 MB");
}

TEST(StageProgress, StepsAreCounted) {
  EXPECT_EQ(
      progress_words(
          R"({"type":"ProgressSteps","task":"staging","steps":2,"stepsTotal":4,"subtasks":[]})"),
      "staging: step 2 of 4");
}

TEST(StageProgress, WithoutATotalTheTaskIsNamedAlone) {
  EXPECT_EQ(progress_words(pulling("17", "0")), "pulling");
  EXPECT_EQ(progress_words(pulling("17", "5")), "pulling");
  EXPECT_EQ(progress_words(pulling("-1", "5")), "pulling");
}

TEST(StageProgress, WhatIsNoProgressSaysNothing) {
  for (const char* line : {
           "",
           "x",
           "{",
           "[]",
           "null",
           "17",
           R"({"type":"Start","version":"0.1.0"})",
           R"({"type":"Other","task":"pulling","steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"","steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":7,"steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"a; staged without lock","steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"\u001b[2J","steps":1,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"pulling","steps":"1","stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"pulling","steps":1e99,"stepsTotal":2})",
           R"({"type":"ProgressSteps","task":"pulling","task":"staging","steps":1,"stepsTotal":2})",
           "{\"type\":\"ProgressSteps\",\"task\":\"p\xff\",\"steps\":1,\"stepsTotal\":2}",
       })
    EXPECT_EQ(progress_words(line), "") << line;
  EXPECT_EQ(progress_words(R"({"type":"ProgressSteps","task":")" + std::string(33, 'a') +
                           R"(","steps":1,"stepsTotal":2})"),
            "");
  EXPECT_EQ(progress_words(std::string(60'000, '[')), "");
}

TEST(StageProgress, ChangesAtMostOnceInTenSeconds) {
  stage_progress p;
  reactor::steady_time now{};
  int changes = 0;
  for (int second = 0; second < 100; ++second, now += 1s)
    changes += p.heard(pulling(std::to_string(second % 4 * 25), "100"), now) ? 1 : 0;
  EXPECT_EQ(changes, 10);
}

TEST(StageProgress, WhatIsSaidAgainIsNoChange) {
  stage_progress p;
  EXPECT_TRUE(p.heard(pulling("30", "100"), reactor::steady_time{} + 1s));
  EXPECT_FALSE(p.heard(pulling("31", "100"), reactor::steady_time{} + 60s));
  EXPECT_FALSE(p.heard("nonsense", reactor::steady_time{} + 120s));
  EXPECT_EQ(p.words(), "pulling: 25 % of 1 MB");
  p.forget();
  EXPECT_EQ(p.words(), "");
}

}  // namespace
}  // namespace bootc
