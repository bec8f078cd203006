// What a FleetPool, a FleetGrant and a revision are read as, and what is refused with its field.
#include "fleetwide/kinds/fleet_grant.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/kinds/revision.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

using namespace fleetwide;
using namespace std::chrono_literals;
namespace json = boost::json;

std::string object(const std::string& spec, const std::string& more = "") {
  return R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetPool","metadata":{"name":"workers",)"
         R"("namespace":"windlass-system","uid":"0b0c0d0e-0000-4000-8000-000000000001",)"
         R"("resourceVersion":"7","creationTimestamp":"2026-11-29T12:00:00Z")" +
         more + R"(},"spec":)" + spec + "}";
}
std::string spec_with(const std::string& more) {
  return R"({"clusters":{"selector":{}},"template":{"spec":{"nodeSelector":{}}},"image":{"ref":"r.example/os:1"})" +
         more + "}";
}
fleet_pool read(const std::string& spec, const std::string& more = "") {
  auto p = k8s::parse_view<fleet_pool>(object(spec, more));
  EXPECT_TRUE(p) << (p ? "" : p.error().message());
  return p ? *p : fleet_pool();
}

TEST(FleetPoolKind, IsReadWithItsDefaults) {
  const fleet_pool p = read(spec_with(""));
  EXPECT_EQ(p.spec_problem(), "");
  EXPECT_EQ(p.claim, "workers");
  EXPECT_EQ(p.mark(), "FleetPool/windlass-system/workers");
  EXPECT_EQ(p.rollout.max_clusters.up(100), 1u);
  EXPECT_EQ(p.rollout.max_failures.down(100), 0u);
  EXPECT_EQ(p.history_limit, 10);
  EXPECT_TRUE(p.follows_tag);
  EXPECT_FALSE(p.removes || p.paused || p.rollout.goes_back);
}

TEST(FleetPoolKind, IsReadAsWritten) {
  const fleet_pool p = read(
      R"({"clusters":{"names":["b","a"],"selector":{"matchLabels":{"env":"prod"}}},"template":{"metadata":{"name":"os","labels":{"x":"y"}},)"
      R"("spec":{"nodeSelector":{"matchLabels":{"role":"worker"}}}},"image":{"ref":"r.example/os:1","updates":"Manual"},"paused":true,)"
      R"("removal":"Delete","revisionHistoryLimit":3,"rollout":{"waves":{"label":"ring","values":["canary","early"]},"maxClusters":"10%",)"
      R"("maxFailures":2,"soak":"1h30m","onFailure":"Return"}})");
  EXPECT_EQ(p.spec_problem(), "");
  EXPECT_EQ(p.claim, "os");
  EXPECT_FALSE(p.follows_tag);
  EXPECT_TRUE(p.paused && p.removes && p.rollout.goes_back);
  EXPECT_EQ(p.history_limit, 3);
  EXPECT_EQ(p.rollout.soak, 90min);
  EXPECT_EQ(p.rollout.max_clusters.up(25), 3u);
  EXPECT_EQ(p.rollout.wave_of("early"), 1u);
  EXPECT_EQ(p.rollout.wave_of("anything"), 2u);
  EXPECT_EQ(p.rollout.wave_name(2), "others");
  const k8s::string_map prod{{k8s::interned("env"), k8s::interned("prod")}};
  EXPECT_TRUE(p.clusters.chooses("a", {}));
  EXPECT_TRUE(p.clusters.chooses("z", prod));
  EXPECT_FALSE(p.clusters.chooses("z", {}));
}

TEST(FleetPoolKind, WhatCannotBeProcessedIsNamedWithItsField) {
  const struct {
    const char *spec, *says;
  } rows[] = {
      {R"({"clusters":{},"template":{"spec":{"nodeSelector":{}}},"image":{"ref":"a/b:1"}})",
       "spec.clusters has neither a selector nor names"},
      {R"({"clusters":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}},"template":{"spec":{"nodeSelector":{}}},"image":{"ref":"a/b:1"}})",
       "spec.clusters.selector: "},
      {R"({"clusters":{"selector":{}},"template":{"spec":{}},"image":{"ref":"a/b:1"}})",
       "spec.template.spec.nodeSelector is missing"},
      {R"({"clusters":{"selector":{}},"template":{"spec":{"nodeSelector":{},"image":{"ref":"x"}}},"image":{"ref":"a/b:1"}})",
       "spec.template.spec.image stands in image.ref"},
      {R"({"clusters":{"selector":{}},"template":{"spec":{"nodeSelector":{}}},"image":{}})",
       "spec.image.ref is empty"},
      {R"({"clusters":{"selector":{}},"template":{"metadata":{"annotations":{"windlass.dev/fleet-uid":"x"}},"spec":{"nodeSelector":{}}},"image":{"ref":"a/b:1"}})",
       "windlass.dev/fleet-uid, which is ours"},
  };
  for (const auto& row : rows)
    EXPECT_NE(read(row.spec).spec_problem().find(row.says), std::string::npos)
        << row.says << " in " << read(row.spec).spec_problem();
  const struct {
    const char *rollout, *says;
  } settings[] = {
      {R"({"maxClusters":"200%"})", "spec.rollout.maxClusters"},
      {R"({"maxClusters":-1})", "spec.rollout.maxClusters"},
      {R"({"maxFailures":"many"})", "spec.rollout.maxFailures"},
      {R"({"soak":"soon"})", "spec.rollout.soak"},
      {R"({"soak":"-5m"})", "spec.rollout.soak"},
      {R"({"onFailure":"Explode"})", "spec.rollout.onFailure"},
      {R"({"waves":{"values":["a"]}})", "spec.rollout.waves"},
      {R"({"waves":{"label":"r","values":["a","a"]}})", "spec.rollout.waves.values"},
  };
  for (const auto& row : settings)
    EXPECT_NE(
        read(spec_with(std::string(R"(,"rollout":)") + row.rollout)).spec_problem().find(row.says),
        std::string::npos)
        << row.rollout;
  const std::string big(70'000, 'x');
  EXPECT_NE(read(spec_with("").replace(spec_with("").find("{\"nodeSelector\":{}}"), 19,
                                       R"({"nodeSelector":{},"note":")" + big + "\"}"))
                .spec_problem()
                .find("65536 are allowed"),
            std::string::npos);
}

TEST(FleetPoolKind, ANameWithoutRoomForItsRevisionsIsRefused) {
  std::string text = object(spec_with(""));
  text.replace(text.find("\"workers\""), 9, "\"" + std::string(240, 'w') + "\"");
  auto p = k8s::parse_view<fleet_pool>(text);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->spec_problem(),
            "metadata.name is longer than 236 characters, so its revisions have no name");
}

TEST(FleetPoolKind, ClustersAreAdoptedByNameOrAll) {
  const auto with = [](const char* value) {
    return read(spec_with(""),
                std::string(R"(,"annotations":{"fleet.windlass.dev/adopt":")") + value + R"("})");
  };
  EXPECT_TRUE(with("*").adopts_on("a"));
  EXPECT_TRUE(with("b,a").adopts_on("a"));
  EXPECT_FALSE(with("ab").adopts_on("a"));
  EXPECT_FALSE(with("").adopts_on("a"));
}

TEST(FleetPoolKind, ItsStatusComesBackAsItWasWritten) {
  fleet_status s;
  s.observed_generation = 3;
  s.revision = 2;
  s.digest = "abc";
  s.proven_digest = "aaa";
  s.wave = "canary";
  s.clusters = 5;
  s.ready = 1;
  s.waiting = 4;
  s.held = {{"earlier-wave", 4}};
  s.history = {{1, "aaa", "r/os:1", "sha256:1", "kubectl", "2026-11-29T12:00:00Z", "Complete"},
               {2, "abc", "r/os:2", "", "flux", "2026-11-29T13:00:00Z", "Rolling"}};
  json::object o = json::parse(object(spec_with(""))).as_object();
  o["status"] = to_json(s);
  auto p = k8s::parse_view<fleet_pool>(json::serialize(o));
  ASSERT_TRUE(p);
  EXPECT_EQ(p->status, s);
}

TEST(FleetRevision, IsEqualForEqualContentWhateverTheOrder) {
  const revision_content a{R"({"metadata":{},"spec":{"a":1,"b":{"c":2,"d":3}}})", "r/os:1", ""};
  revision_content b{R"({"spec":{"b":{"d":3,"c":2},"a":1},"metadata":{}})", "r/os:1", ""};
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(a.digest().size(), 16u);
  b.image_digest = "sha256:1";
  EXPECT_NE(a.digest(), b.digest());
}

TEST(FleetRevision, IsKeptWholeInAControllerRevision) {
  const revision_content c{R"({"metadata":{"labels":{"x":"y"}},"spec":{"nodeSelector":{}}})",
                           "r/os:1", "sha256:1"};
  json::object o = to_json({"fleet.windlass.dev/v1alpha1", "FleetPool", "workers", "uid-1"}, 4, c);
  EXPECT_EQ(o.at("metadata").at("name").as_string(), "workers-" + c.digest());
  EXPECT_EQ(o.at("metadata").at("ownerReferences").at(0).at("uid"), "uid-1");
  o["metadata"].as_object()["uid"] = "u";
  o["metadata"].as_object()["resourceVersion"] = "1";
  auto r = k8s::parse_view<revision>(json::serialize(o));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->number, 4);
  EXPECT_EQ(r->content.digest(), c.digest());
}

TEST(FleetRevision, APoolThatNamesATagIsHeldAtOneDigest) {
  revision_content c{R"({"metadata":{"annotations":{"a":"b"}},"spec":{"nodeSelector":{}}})",
                     "r.example/os:1", ""};
  const member_marks m{"FleetPool/a/b", "uid", 3, "abc", "2026-11-29T12:00:00Z", ""};
  json::object pool = pool_for_member(c, "os", m);
  EXPECT_EQ(pool.at("spec").at("image").at("updates"), "Manual");
  EXPECT_FALSE(
      pool.at("metadata").at("annotations").as_object().contains("bootc.dev/approve-digest"));
  EXPECT_EQ(pool.at("metadata").at("annotations").at("a"), "b");
  EXPECT_EQ(pool.at("metadata").at("annotations").at("windlass.dev/fleet-revision"), "3");
  member_marks known = m;
  known.image_digest = "sha256:1";
  pool = pool_for_member(c, "os", known);
  EXPECT_EQ(pool.at("metadata").at("annotations").at("bootc.dev/approve-digest"), "sha256:1");
  c.ref = "r.example/os@sha256:1";
  pool = pool_for_member(c, "os", known);
  EXPECT_FALSE(pool.at("spec").at("image").as_object().contains("updates"));
}

TEST(FleetGrantKind, IsForTheNamespacesAndKindsThatItNames) {
  auto g = k8s::parse_view<fleet_grant>(
      R"({"metadata":{"name":"g","namespace":"windlass-system","uid":"u","resourceVersion":"1"},)"
      R"("spec":{"namespaces":["team-a"],"kinds":["FleetPool"],"clusters":{"names":["eu-1"]}}})");
  ASSERT_TRUE(g);
  EXPECT_TRUE(g->is_for("team-a", "FleetPool"));
  EXPECT_FALSE(g->is_for("team-b", "FleetPool"));
  EXPECT_FALSE(g->is_for("team-a", "FleetChart"));
  auto broken = k8s::parse_view<fleet_grant>(
      R"({"metadata":{"name":"g","namespace":"windlass-system","uid":"u","resourceVersion":"1"},)"
      R"("spec":{"namespaces":["team-a"],"kinds":["FleetPool"],"clusters":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}}})");
  ASSERT_TRUE(broken);
  EXPECT_FALSE(broken->is_for("team-a", "FleetPool")) << "what cannot be read grants nothing";
}

}  // namespace
