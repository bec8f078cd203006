// What a FleetPool, a FleetGrant and a revision are read as, and what is refused with its field.
#include "fleetwide/kinds/fleet_chart.hpp"
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

fleet_chart read_chart(const std::string& spec) {
  auto p = k8s::parse_view<fleet_chart>(object(spec));
  EXPECT_TRUE(p) << (p ? "" : p.error().message());
  return p ? *p : fleet_chart();
}

constexpr const char* smallest_chart =
    R"({"clusters":{"selector":{}},"namespace":"apps","chart":{"repository":"https://charts.example.com/","name":"web"})";

TEST(FleetChartKind, IsReadWithItsDefaults) {
  const fleet_chart p = read_chart(std::string(smallest_chart) + "}");
  EXPECT_EQ(p.spec_problem(), "");
  EXPECT_EQ(p.claim, "apps/" + p.meta.name.str());
  EXPECT_EQ(p.ref, "https://charts.example.com/web");
  EXPECT_TRUE(p.removes);
  EXPECT_EQ(p.chart.drift, chart_spec::on_drift::report);
  EXPECT_EQ(p.chart.timeout, std::chrono::minutes(5));
  EXPECT_FALSE(p.chart.tests || p.chart.atomic || p.chart.by_policy || p.paused);
  EXPECT_EQ(p.history_limit, 10);
  EXPECT_EQ(p.chart.keys, keyring_source());
  const fleet_chart with_keys = read_chart(
      R"({"clusters":{"selector":{}},"namespace":"a","chart":{"repository":"https://x","name":"n","provenance":{"keysFrom":{"name":"k"}}}})");
  EXPECT_EQ(with_keys.chart.keys, (keyring_source{"k", "pubring.gpg"}));
}

TEST(FleetChartKind, IsReadAsWritten) {
  const fleet_chart p = read_chart(
      R"({"clusters":{"names":["b","a"]},"chart":{"repository":"oci://r.example/charts","name":"web","version":"1.x","digest":"sha256:0a","provenance":{"keysFrom":{"name":"k","key":"ring"}}},)"
      R"("namespace":"apps","release":"front","values":{"a":{"b":1}},"valuesFrom":[{"kind":"Secret","name":"s"},)"
      R"({"kind":"ConfigMap","name":"c","key":"{region}-{zone}.yaml","optional":true}],"valuesByPolicy":true,"dependsOn":["base"],)"
      R"("drift":"Repair","test":true,"atomic":true,"timeout":"90s","uninstall":"Orphan","paused":true,"revisionHistoryLimit":3})");
  EXPECT_EQ(p.spec_problem(), "");
  EXPECT_EQ(p.claim, "apps/front");
  EXPECT_EQ(p.ref, "oci://r.example/charts/web:1.x");
  EXPECT_FALSE(p.removes);
  const chart_spec& c = p.chart;
  EXPECT_EQ(c.depends_on, std::vector<std::string>{"base"});
  EXPECT_TRUE(c.tests && c.atomic && c.by_policy && p.paused);
  EXPECT_EQ(c.keys, (keyring_source{"k", "ring"}));
  EXPECT_EQ(c.drift, chart_spec::on_drift::repair);
  EXPECT_EQ(c.timeout, std::chrono::seconds(90));
  ASSERT_EQ(c.sources.size(), 2u);
  EXPECT_TRUE(c.sources[0].is_secret);
  EXPECT_EQ(c.sources[0].key, "values.yaml");
  EXPECT_EQ(c.sources[1].key_for({{k8s::interned("region"), k8s::interned("eu")},
                                  {k8s::interned("zone"), k8s::interned("1")}}),
            "eu-1.yaml");
  EXPECT_EQ(c.sources[1].key_for({{k8s::interned("zone"), k8s::interned("1")}}), std::nullopt);
  EXPECT_EQ(read_chart(p.template_json).chart.content_json(), p.template_json)
      << "a revision has all of it";
}

TEST(FleetChartKind, WhatCannotBeProcessedIsNamedWithItsField) {
  const auto says = [](const std::string& more) {
    return read_chart(std::string(smallest_chart) + more + "}").spec_problem();
  };
  const std::string big(chart_spec::most_bytes, 'x');
  EXPECT_EQ(says(R"(,"drift":"Mend")"), "spec.drift: \"Mend\" is none of Report, Repair, Ignore");
  EXPECT_EQ(says(R"(,"timeout":"soon")"), "spec.timeout: \"soon\" is no duration like \"5m\"");
  EXPECT_EQ(says(R"(,"uninstall":"Keep")"),
            "spec.uninstall: \"Keep\" is neither Delete nor Orphan");
  EXPECT_EQ(says(R"(,"values":[1])"), "spec.values is no object");
  EXPECT_EQ(says(R"(,"values":{"a":")" + big + R"("})"),
            "spec.values has 262152 bytes, 262144 are allowed");
  EXPECT_EQ(says(R"(,"valuesFrom":[{"kind":"Pod","name":"p"}])"),
            "spec.valuesFrom: kind \"Pod\" is neither ConfigMap nor Secret");
  EXPECT_EQ(says(R"(,"valuesFrom":[{"kind":"Secret"}])"), "spec.valuesFrom: a name is missing");
  EXPECT_EQ(says(R"(,"release":")" + std::string(54, 'a') + R"(")"),
            "spec.release: \"" + std::string(54, 'a') + "\" is longer than 53 characters");
  EXPECT_EQ(says(R"(,"rollout":{"maxClusters":"200%"})").substr(0, 26),
            "spec.rollout.maxClusters \"");
  EXPECT_EQ(
      read_chart(
          R"({"clusters":{"selector":{}},"namespace":"a","chart":{"repository":"ftp://x","name":"n"}})")
          .spec_problem(),
      "spec.chart.repository: \"ftp://x\" does not begin with https://, http:// or oci://");
  EXPECT_EQ(
      read_chart(R"({"clusters":{"selector":{}},"chart":{"repository":"https://x","name":"n"}})")
          .spec_problem(),
      "spec.namespace is empty");
  for (const char* provenance : {"{}", R"({"keysFrom":{}})", R"({"keysFrom":{"name":""}})"})
    EXPECT_EQ(
        read_chart(
            R"({"clusters":{"selector":{}},"namespace":"a","chart":{"repository":"https://x","name":"n","provenance":)" +
            std::string(provenance) + "}}")
            .spec_problem(),
        "spec.chart.provenance.keysFrom.name is empty")
        << provenance << ": what asks for a signature is never as if it asked for none";
  EXPECT_FALSE(k8s::parse_view<fleet_chart>(
      object(std::string(smallest_chart) + R"(,"values":{"a":1,"a":2}})")))
      << "a key that is there twice";
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
