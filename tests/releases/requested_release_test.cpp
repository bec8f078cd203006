#include "releases/requested_release.hpp"

#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "releases/hold.hpp"
#include "releases/home_releases.hpp"
#include "releases/pool_decision.hpp"
#include "tests/policies/host/run.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
namespace docs = policies::releases;

std::string json_of(const std::string& name) {
  return R"({"apiVersion":"release.giantswarm.io/v1alpha1","kind":"Release","metadata":{"name":")" +
         name +
         R"("},"spec":{"apps":[],"components":[{"name":"kubernetes","version":"1.34.1"}],)"
         R"("date":"2026-01-01T00:00:00Z","state":"active"}})";
}

class Wishes : public testing::Test {
protected:
  Wishes() {
    policies::run_task(loop_, [&]() -> reactor::awaitable<void> {
      books_.start();
      for (const char* name :
           {"aws-34.4.1", "aws-34.5.0", "azure-34.5.0", "aws-9.1.0", "aws-10.1.0", "v14.1.0"})
        books_.put(name, json_of(name));
      books_.put("aws-35.0.0", "{\"kind\":\"Release\"");
      const bool all = co_await books_.read(loop_.now() + 10s);
      EXPECT_TRUE(all);
      co_await books_.stop();
    });
  }
  releases::requested_release of(std::initializer_list<k8s::string_map::member> labels) {
    return releases::requested_release_of(k8s::string_map(labels), {}, books_);
  }
  reactor::loop loop_{reactor::loop::mode::simulated, 1};
  policies::host packs_{loop_, {}};
  releases::library books_{loop_, packs_};
};

TEST_F(Wishes, ANameSaysBoth) {
  EXPECT_EQ(of({{"release.giantswarm.io/version", "aws-34.5.0"}}),
            (releases::requested_release{"aws", "34.5.0", ""}));
}

TEST_F(Wishes, AVersionIsOfTheClustersProvider) {
  for (const char* version : {"34.5.0", "v34.5.0"})
    EXPECT_EQ(of({{"release.giantswarm.io/version", version}, {"windlass.dev/provider", "azure"}}),
              (releases::requested_release{"azure", "34.5.0", ""}))
        << version;
  EXPECT_EQ(of({{"release.giantswarm.io/version", "34.4.1"}}),
            (releases::requested_release{"aws", "34.4.1", ""}))
      << "only one provider has it";
}

TEST_F(Wishes, WhatCannotBeToldIsSaid) {
  EXPECT_NE(of({{"release.giantswarm.io/version", "34.5.0"}}).problem.find("aws and of azure"),
            std::string::npos);
  EXPECT_NE(of({{"release.giantswarm.io/version", "1.2.3"}}).problem.find("no Release at home"),
            std::string::npos);
  EXPECT_NE(
      of({{"release.giantswarm.io/version", "aws-34.5.0"}, {"windlass.dev/provider", "azure"}})
          .problem,
      "");
  EXPECT_EQ(of({}), releases::requested_release())
      << "no label is no mistake: a policy may know more";
}

TEST_F(Wishes, ReleasesAreInTheOrderOfTheirVersionsAndBrokenOnesAreKnown) {
  std::string names;
  for (const auto& b : books_.of("aws")) names += b->name + " ";
  EXPECT_EQ(names, "aws-9.1.0 aws-10.1.0 aws-34.4.1 aws-34.5.0 aws-35.0.0 ");
  const auto broken = books_.find("aws-35.0.0");
  ASSERT_TRUE(broken);
  EXPECT_FALSE(broken->content);
  EXPECT_NE(broken->problem, "");
}

docs::finding finding_of(const char* id, docs::severity how, const char* blocking = "") {
  docs::finding f;
  f.id = id;
  f.how = how;
  f.blocking = blocking;
  f.subject = "component/kubernetes";
  f.why = "why";
  return f;
}

releases::followed_pool due() {
  releases::followed_pool e;
  e.pool = "workers";
  e.ref = "r/os:a";
  e.settled = true;
  e.at = "aws-34.4.1";
  e.release = "aws-34.5.0";
  e.content = "c0ffee";
  docs::map_answer a;
  docs::pool_image image;
  image.image = "b";
  image.ref = "r/os:b";
  a.images.push_back(image);
  e.image = a;
  docs::diff_answer step;
  step.rolls = "yes";
  step.level = "minor";
  step.image_from = "a";
  e.steps.push_back({"aws-34.4.1", step});
  return e;
}

TEST(ReleaseOutlook, SaysWhatBecomesOfAPool) {
  using standing = releases::pool_decision::standing;
  struct row {
    const char* about;
    std::function<void(releases::followed_pool&)> change;
    standing is;
    const char *code, *said;
  };
  const std::vector<row> rows = {
      {"all is well", [](auto&) {}, standing::due, "", ""},
      {"it has the image", [](auto& e) { e.ref = "r/os:b"; }, standing::arrived, "", ""},
      {"nodes are on their way",
       [](auto& e) {
         e.ref = "r/os:b";
         e.settled = false;
       },
       standing::moving, "", ""},
      {"what moves is finished",
       [](auto& e) {
         e.ref = "r/os:b";
         e.own.push_back(finding_of("component.duplicate", docs::severity::error));
       },
       standing::arrived, "", ""},
      {"its image was pushed again",
       [](auto& e) {
         e.ref = "r/os:b";
         e.digest = "sha256:one";
         e.moved_to = "sha256:other";
       },
       standing::held, "release-image-moved",
       "workers: \"r/os:b\" was pushed again and is sha256:other by now; the pool stays at "
       "sha256:one"},
      {"the image that it leaves was pushed again", [](auto& e) { e.moved_to = "sha256:other"; },
       standing::due, "", ""},
      {"the Release has an error",
       [](auto& e) { e.own.push_back(finding_of("component.duplicate", docs::severity::error)); },
       standing::held, "release-denied", "aws-34.5.0 is denied: component.duplicate"},
      {"only this cluster cannot",
       [](auto& e) {
         e.steps[0].answer.findings.push_back(finding_of("k8s.minor-skip", docs::severity::error));
       },
       standing::held, "release-denied", "the step from aws-34.4.1 to aws-34.5.0 is denied here"},
      {"somebody has to consent",
       [](auto& e) {
         e.steps[0].answer.findings.push_back(
             finding_of("nodes.roll-in-patch", docs::severity::warn, "approval"));
       },
       standing::held, "release-approval", "waits for consent: nodes.roll-in-patch"},
      {"a warning is only told",
       [](auto& e) { e.own.push_back(finding_of("tied.skew", docs::severity::warn)); },
       standing::due, "", ""},
      {"nobody knows the Release",
       [](auto& e) {
         e.release.clear();
         e.why_none = "34.9.0 is not in the catalogue";
       },
       standing::held, "release-unknown", "34.9.0 is not in the catalogue"},
      {"it cannot be read", [](auto& e) { e.why_none = "aws-34.5.0 cannot be read"; },
       standing::held, "release-unknown", "cannot be read"},
      {"the rule has no ref", [](auto& e) { e.image->images[0].ref.clear(); }, standing::held,
       "release-unknown", "(`ref`)"},
      {"it has no name",
       [](auto& e) {
         e.image->verdict = docs::decision::deny;
         e.image->findings.push_back(finding_of("image.rule-none", docs::severity::error));
       },
       standing::held, "release-denied", "names no image: image.rule-none"},
      {"a policy failed", [](auto& e) { e.fault = "policy.lua:3: no"; }, standing::held,
       "policy-fault", "policy.lua:3"},
  };
  for (const row& r : rows) {
    releases::followed_pool e = due();
    r.change(e);
    const releases::pool_decision o = releases::decide(e);
    EXPECT_EQ(o.is, r.is) << r.about;
    EXPECT_EQ(o.hold ? o.hold->code : std::string(), r.code) << r.about;
    if (o.hold) {
      EXPECT_NE(o.hold->sentence.find(r.said), std::string::npos)
          << r.about << ": " << o.hold->sentence;
      EXPECT_NE(o.hold->released_by, "") << r.about;
    }
  }
}

TEST(ReleaseOutlook, SaysWhatAWaiverQuotesAndHowToConsentToAnImage) {
  releases::followed_pool e = due();
  e.own.push_back(finding_of("nodes.roll-in-patch", docs::severity::warn, "approval"));
  releases::pool_decision o = releases::decide(e);
  ASSERT_TRUE(o.hold);
  EXPECT_NE(o.hold->released_by.find("a waiver names release: aws-34.5.0, hash: c0ffee"),
            std::string::npos)
      << o.hold->released_by;
  EXPECT_EQ(o.content, "c0ffee");
  e = due();
  e.ref = "r/os:b";
  e.moved_to = "sha256:other";
  o = releases::decide(e);
  ASSERT_TRUE(o.hold);
  EXPECT_NE(
      o.hold->released_by.find("`windlass rollout approve workers --digest sha256:other` consents"),
      std::string::npos)
      << o.hold->released_by;
}

TEST(ReleaseConditions, QuoteTheHashThatAWaiverNeedsWhereTheyDeny) {
  releases::verdict v;
  v.content = "c0ffee";
  v.image = releases::library::image_answer(docs::map_answer());
  docs::diff_answer alone;
  std::vector<k8s::condition> all;
  v.alone = releases::library::step_answer(alone);
  EXPECT_TRUE(releases::put_conditions(all, v, 1, {}));
  EXPECT_EQ(all[1].message, "") << "of one that is allowed nothing is asked";
  alone.findings.push_back(finding_of("depends.cycle", docs::severity::error));
  alone.verdict = docs::decision::deny;
  v.alone = releases::library::step_answer(alone);
  EXPECT_TRUE(releases::put_conditions(all, v, 1, {}));
  EXPECT_EQ(all[1].message, "depends.cycle; a waiver quotes the hash c0ffee");
  v.consent_problem = "waivers.yaml: waivers[1]: no";
  EXPECT_TRUE(releases::put_conditions(all, v, 1, {}));
  EXPECT_EQ(all[1].message,
            "depends.cycle; a waiver quotes the hash c0ffee; in the ConfigMap windlass-releases: "
            "waivers.yaml: waivers[1]: no");
}

TEST(ReleaseConditions, AreWrittenOnlyWhenTheySayAnotherThing) {
  const reactor::wall_time then{std::chrono::hours(24)}, later = then + std::chrono::hours(1);
  releases::verdict v;
  docs::map_answer image;
  docs::pool_image named;
  named.image = "flatcar";
  named.rule = "T1";
  image.images.push_back(named);
  v.image = releases::library::image_answer(image);
  docs::diff_answer alone;
  v.alone = releases::library::step_answer(alone);
  std::vector<k8s::condition> all;
  EXPECT_TRUE(releases::put_conditions(all, v, 1, then));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].message, "flatcar (rule T1)");
  EXPECT_EQ(all[1].reason, "Clean");
  EXPECT_FALSE(releases::put_conditions(all, v, 1, later));
  alone.findings.push_back(finding_of("depends.cycle", docs::severity::error));
  alone.verdict = docs::decision::deny;
  v.alone = releases::library::step_answer(alone);
  EXPECT_TRUE(releases::put_conditions(all, v, 1, later));
  EXPECT_EQ(all[1].status + all[1].reason + all[1].message, "FalseDenieddepends.cycle");
  v.unreadable = "line 3";
  EXPECT_TRUE(releases::put_conditions(all, v, 1, later));
  EXPECT_EQ(all[0].reason, "Unreadable");
  EXPECT_EQ(all[1].reason, "Denied");
}

}  // namespace
