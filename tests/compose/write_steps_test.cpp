#include "compose/write_steps.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace compose {
namespace {

using kind = policies::compose::action::kind;

policies::compose::action action_of(kind what, const std::string& name) {
  policies::compose::action a;
  a.what = what;
  a.of.kind = {"v1", "ConfigMap"};
  a.of.name = name;
  return a;
}

k8s::fault answer(k8s::errc code, int status) {
  k8s::fault f;
  f.code = code;
  f.http_status = status;
  f.detail = std::to_string(status);
  return f;
}

const k8s::fault conflict = answer(k8s::errc::conflict, 409),
                 absent = answer(k8s::errc::not_found, 404),
                 refused = answer(k8s::errc::forbidden, 403),
                 silence = answer(k8s::errc::unavailable, 0),
                 overloaded = answer(k8s::errc::unavailable, 503);
k8s::fault cancellation() {
  k8s::fault f = silence;
  f.cancelled = true;
  return f;
}

/// What a pass asks for, one letter each, when its writes are answered as `answers` says: "a" is
/// the write of the object named a, "?" a plan.
std::string asked(const std::vector<policies::compose::action>& plan,
                  const std::map<std::string, k8s::fault>& answers, write_steps& steps) {
  std::string out;
  for (;;) {
    const write_steps::request want = steps.next(plan);
    if (want.what == write_steps::request::is::end) return out;
    if (want.what == write_steps::request::is::plan_again) {
      out += '?';
      continue;
    }
    const policies::compose::action& one = plan.at(want.action);
    out += one.of.name;
    const auto said = answers.find(one.of.name);
    if (said == answers.end())
      steps.made();
    else
      steps.failed(one, said->second);
  }
}

TEST(WriteSteps, GoOnAsFarAsTheAnswersLetThem) {
  const std::vector plan = {action_of(kind::add_finalizer, "f"), action_of(kind::create, "c"),
                            action_of(kind::set_status, "s"), action_of(kind::apply, "a"),
                            action_of(kind::remove, "r")};
  struct row {
    const char* what;
    std::map<std::string, k8s::fault> answers;
    const char* asked;
    std::string refused = {};
    bool raced = false, no_server = false;
    std::uint32_t races = 0;
  };
  const std::vector<row> rows = {
      {"all goes well, and the status is last", {}, "fcars"},
      {"a refusal keeps no other back", {{"c", refused}}, "fcar?s", "c"},
      {"so does a server that is overloaded",
       {{"c", overloaded}, {"a", overloaded}},
       "fcar?s",
       "ac"},
      {"without the finalizer nothing is made", {{"f", refused}}, "f?s", "f"},
      {"a conflict ends it", {{"c", conflict}}, "fc", "", true},
      {"unless it is the sixth in a row", {{"c", conflict}}, "fcar?s", "c", false, false, 5},
      {"what is to be changed is gone", {{"a", absent}}, "fca", "", true},
      {"what is to be made has no place", {{"c", absent}}, "fcar?s", "c"},
      {"the status of nothing", {{"s", absent}}, "fcars", "s"},
      {"one silence may be a webhook", {{"c", silence}}, "fcar?s", "c"},
      {"two that are apart, too", {{"f", overloaded}, {"s", silence}}, "f?s", "fs"},
      {"after two in a row the status alone is tried",
       {{"c", silence}, {"a", silence}},
       "fca?s",
       "ac",
       false,
       false},
      {"and if that is silent, too, there is no server",
       {{"c", silence}, {"a", silence}, {"s", silence}},
       "fca?s",
       "acs",
       false,
       true},
      {"a cancelled pass ends", {{"c", cancellation()}}, "fc"},
  };
  for (const row& r : rows) {
    write_steps steps(r.races, write_steps::refused_is::planned_again);
    EXPECT_EQ(asked(plan, r.answers, steps), r.asked) << r.what;
    std::string told;
    for (const auto& [of, why] : steps.refused()) told += of.name;
    EXPECT_EQ(told, r.refused) << r.what;
    EXPECT_EQ(steps.raced(), r.raced) << r.what;
    EXPECT_EQ(steps.has_no_server(), r.no_server) << r.what;
    EXPECT_EQ(steps.failure().has_value(), !r.answers.empty()) << r.what;
    EXPECT_TRUE(steps.wrote() || r.answers.contains("f")) << r.what;
  }
}

TEST(WriteSteps, WithoutAnAnswerOfThePackNothingIsPlannedAgain) {
  write_steps steps(0, write_steps::refused_is::left);
  const std::vector plan = {action_of(kind::create, "c"), action_of(kind::set_status, "s")};
  EXPECT_EQ(asked(plan, {{"c", refused}}, steps), "cs");
  EXPECT_EQ(steps.refused().begin()->second, "create: 403");
}

TEST(WriteSteps, EndWhereTheClusterIsLost) {
  write_steps steps(0, write_steps::refused_is::planned_again);
  const std::vector plan = {action_of(kind::create, "c"), action_of(kind::set_status, "s")};
  EXPECT_EQ(steps.next(plan).what, write_steps::request::is::write);
  steps.lost();
  EXPECT_EQ(steps.next(plan).what, write_steps::request::is::end);
  EXPECT_TRUE(steps.raced() && steps.is_cut_short() && !steps.failure());
}

}  // namespace
}  // namespace compose
