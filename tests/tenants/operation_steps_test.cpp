#include "helm/placed/plan/operation_steps.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace helm::placed {
namespace {

using request = operation_request;

const char* name_of(request r) {
  switch (r) {
    case request::announce: return "announce";
    case request::remember_place: return "remember";
    case request::ask_owner: return "ask";
    case request::run: return "run";
    case request::say_left: return "say-left";
    case request::forget_place: return "forget";
    case request::tell_failure: return "failure";
    case request::tell_success: return "success";
    case request::note_fingerprint: return "note";
    case request::say_done: return "done";
    case request::end: return "end";
  }
  return "";
}

struct course {
  std::string asked;    // in order
  std::string failure;  // as it was told
};

/// All requests of an operation whose requests are answered so; others are answered with nothing.
course follow(operation_facts facts, std::map<request, operation_answer> answers) {
  course out;
  operation_steps steps(std::move(facts));
  operation_answer last;
  for (;;) {
    const request want = steps.next(last);
    EXPECT_EQ(steps.is_over(), want > request::say_left) << out.asked;
    if (want == request::end) break;
    if (want == request::tell_failure) out.failure = steps.failure();
    out.asked += (out.asked.empty() ? "" : " ") + std::string(name_of(want));
    last = answers[want];
  }
  EXPECT_EQ(steps.next({}), request::end) << "it has ended for good";
  return out;
}

TEST(OperationSteps, OfEachOperationInTheirOrder) {
  using enum operation;
  const operation_answer failed{.failure = "no"}, mine{.owner = "me", .is_mine = true},
      others{.owner = "it", .is_taken = true}, unknown;
  const operation_facts plain_install{.what = install}, plain_upgrade{.what = upgrade},
      plain_uninstall{.what = uninstall},
      shared{.what = install, .asks_owner = true, .release = "web"},
      shared_uninstall{.what = uninstall, .asks_owner = true, .release = "web"},
      leaving{.what = uninstall, .asks_owner = true, .leaves = true},
      lost{.what = uninstall, .is_reachable = false, .asks_owner = true, .leaves = true};
  struct row {
    const char* what;
    operation_facts facts;
    std::map<request, operation_answer> answers;
    const char *asked, *failure = "";
  };
  const std::vector<row> rows = {
      {"install", plain_install, {}, "announce remember run success note done"},
      {"upgrade", plain_upgrade, {}, "announce remember run success note done"},
      {"uninstall", plain_uninstall, {}, "announce run success"},
      {"a failed install notes no fingerprint",
       plain_install,
       {{request::run, failed}},
       "announce remember run failure",
       "no"},
      {"a failed uninstall",
       plain_uninstall,
       {{request::run, failed}},
       "announce run failure",
       "no"},
      {"a fingerprint that is not noted ends nothing",
       plain_install,
       {{request::note_fingerprint, failed}},
       "announce remember run success note done"},
      {"a release that is noted for no object is taken over",
       shared,
       {},
       "announce remember ask run success note done"},
      {"one of another object is left",
       shared,
       {{request::ask_owner, others}},
       "announce remember ask failure",
       "release web is it's"},
      {"also when it is to be removed",
       shared_uninstall,
       {{request::ask_owner, others}},
       "announce ask failure",
       "release web is it's"},
      {"a former place is left with what is ours",
       leaving,
       {{request::ask_owner, mine}},
       "announce ask run forget success"},
      {"and without what is not",
       leaving,
       {{request::ask_owner, unknown}},
       "announce ask say-left forget success"},
      {"it is remembered while something of it is left",
       leaving,
       {{request::ask_owner, mine}, {request::run, failed}},
       "announce ask run failure",
       "no"},
      {"or cannot be forgotten",
       leaving,
       {{request::ask_owner, mine}, {request::forget_place, failed}},
       "announce ask run forget failure",
       "no"},
      {"a cluster that is gone has nothing left", lost, {}, "announce forget success"},
  };
  for (const row& r : rows) {
    const course is = follow(r.facts, r.answers);
    EXPECT_EQ(is.asked, r.asked) << r.what;
    EXPECT_EQ(is.failure, r.failure) << r.what;
  }
}

}  // namespace
}  // namespace helm::placed
