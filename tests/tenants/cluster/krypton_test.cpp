// Objects as the original operator (v0.0.2 to v0.0.8) leaves them: its kind, which has
// spec.workspace and no status.observedGeneration; a fingerprint of where the chart is alone; a
// release with installCRDs: true, and a revision for every look at it.
#include "formats/yaml/yaml.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace helm::tenants::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const its_kind = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tenants.mesh.openkcm.io}
spec:
  group: mesh.openkcm.io
  names: {kind: Tenant, listKind: TenantList, plural: tenants, singular: tenant}
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [workspace]
              properties:
                workspace: {type: string}
                clusterRef:
                  type: object
                  required: [secretName, secretNamespace]
                  properties: {secretName: {type: string}, secretNamespace: {type: string}}
            status:
              type: object
              properties:
                phase: {type: string}
                lastMessage: {type: string}
                lastAppliedChart: {type: string}
                conditions:
                  type: array
                  items:
                    type: object
                    required: [type, status, lastTransitionTime, reason, message]
                    properties:
                      type: {type: string}
                      status: {type: string}
                      lastTransitionTime: {type: string, format: date-time}
                      reason: {type: string}
                      message: {type: string}
                      observedGeneration: {type: integer}
)";

const char* const its_release = "tenant-acme-a";
const char* const choose = "windlass.dev/workspace";

value with_kinds() {
  value out{value::map_type{}};
  out.entries()["installCRDs"] = value(true).box();
  return out;
}

settings like_krypton() {
  told_settings told;
  told.compat.value = "krypton";
  settings s = *settings_from(told);
  s.chart = {"http://charts", "web", "1.2.0"};
  s.ns = "default";
  s.chart_is_said = true;
  return s;
}

class FromKrypton : public TenantStage {
protected:
  /// What it left of the Tenant `acme` in the namespace that spec.workspace names, after
  /// `revisions` looks at it.
  awaitable<void> left(std::string workspace, int revisions) {
    member& a = cluster("a");
    a.api.put(formats::parse_kubernetes_yaml(its_kind, "crd")->as_object());
    json::object o, metadata, spec, annotations;
    metadata["name"] = "acme";
    metadata["namespace"] = "default";
    annotations[choose] = workspace;  // so that the release is made where it puts it
    metadata["annotations"] = std::move(annotations);
    spec["workspace"] = workspace;
    o["apiVersion"] = "mesh.openkcm.io/v1alpha1";
    o["kind"] = "Tenant";
    o["metadata"] = std::move(metadata);
    o["spec"] = std::move(spec);
    a.api.put(std::move(o));
    a.put_namespace(workspace);
    for (int i = 0; i < revisions; ++i) {
      forget_fingerprint();
      auto it = start(like_krypton());
      const std::string newest = std::to_string(i + 1) + ":deployed";
      const bool came = co_await until(
          [&] { return a.records(workspace, its_release).ends_with(newest) && !noted().empty(); },
          30s);
      EXPECT_TRUE(came) << a.records(workspace, its_release);
      co_await l.sleep_for(2s);
      co_await it->stop();
    }
    a.api.edit(names::group, "tenants", "default", "acme", [](json::object& t) {
      json::object& meta = t["metadata"].as_object();
      json::object& all = meta["annotations"].as_object();
      all.erase(choose);
      all[names::fingerprint_annotation("a")] = fingerprint({"http://charts", "web", "1.2.0"}, {});
      json::object status, ready;
      ready["type"] = "ClusterReady/a";
      ready["status"] = "True";
      ready["reason"] = "Installed";
      ready["message"] = "release installed";
      ready["lastTransitionTime"] = "2026-01-14T10:00:00Z";
      ready["observedGeneration"] = 1;
      json::array conditions;
      conditions.push_back(std::move(ready));
      status["phase"] = "Ready";
      status["conditions"] = std::move(conditions);
      t["status"] = std::move(status);
    });
    a.events.clear();
    a.writes = 0;
  }
  void forget_fingerprint() {
    cluster("a").api.edit(names::group, "tenants", "default", "acme", [](json::object& t) {
      t["metadata"].as_object()["annotations"].as_object().erase(
          names::fingerprint_annotation("a"));
    });
  }
  void annotate(std::string key, std::string value) {
    cluster("a").api.edit(names::group, "tenants", "default", "acme", [&](json::object& t) {
      json::value& all = t["metadata"].as_object()["annotations"];
      if (!all.is_object()) all.emplace_object();
      all.get_object()[key] = value;
    });
  }
  std::string noted() { return cluster("a").fingerprint("acme", "a"); }
  /// The one row that somebody who looks with these settings is shown.
  awaitable<units::plan_row> row(settings s) {
    auto looks = start(std::move(s), {}, units::mode::look);
    co_await l.sleep_for(3s);
    auto rows = co_await looks->on("a")->overview();
    co_await looks->stop();
    EXPECT_EQ(rows.size(), 1u);
    co_return rows.empty() ? units::plan_row() : rows.front();
  }
};

std::string action_of(const units::plan_row& row) {
  for (const units::unit& u : row.units)
    for (const units::detail& d : u.details)
      if (d.key == "action") return std::get<std::string>(d.value);
  return {};
}

TEST_F(FromKrypton, WithItsDefaultsNothingIsUpgradedAndItsHistoryStays) {
  play([&]() -> awaitable<void> {
    co_await left("acme", 12);
    member& a = cluster("a");
    const std::string before = a.records("acme", its_release);
    const units::plan_row planned = co_await row(like_krypton());
    EXPECT_EQ(action_of(planned), "skip");
    EXPECT_THAT(planned.notes, ElementsAre());
    auto windlass = start(like_krypton());
    const bool came = co_await until([&] { return a.told("HelmSkip") == 1; });
    EXPECT_TRUE(came);
    co_await l.sleep_for(10min);
    EXPECT_EQ(a.records("acme", its_release), before) << "not one revision more, nor one less";
    EXPECT_EQ(noted(), fingerprint({"http://charts", "web", "1.2.0"}, with_kinds()));
    EXPECT_EQ(a.applied_chart("acme"), "http://charts/web:1.2.0");
    EXPECT_LE(a.writes, 4u) << "finalizer, fingerprint, status";
    co_await windlass->stop();
  });
}

TEST_F(FromKrypton, WithoutThemThePlanNamesEachDefaultThatIsAnotherOne) {
  play([&]() -> awaitable<void> {
    co_await left("acme", 1);
    const units::plan_row planned = co_await row(of_version("1.2.0"));
    EXPECT_EQ(action_of(planned), "held");
    EXPECT_EQ(planned.forecast.front().code, hold_code::drifted.code) << "it has other values";
    EXPECT_THAT(planned.notes,
                ElementsAre(HasSubstr("--chart-install-crds is false by default, and "
                                      "true in the original operator"),
                            HasSubstr("$HELM_MAX_HISTORY is 10 by default, and 0")));
    told_settings told;
    told.install_crds = true;
    told.install_crds.origin = "flag";
    told.max_history.origin = "env HELM_MAX_HISTORY";
    settings said = *settings_from(told);
    said.chart = {"http://charts", "web", "1.2.0"};
    said.ns = "default";
    said.chart_is_said = true;
    const units::plan_row same = co_await row(said);
    EXPECT_EQ(action_of(same), "skip");
    EXPECT_THAT(same.notes, ElementsAre()) << "what was said is known";
    // Where it counts the values in.
    annotate(names::fingerprint_annotation("a"),
             fingerprint({"http://charts", "web", "1.2.0"}, with_kinds()));
    const units::plan_row hashed = co_await row(of_version("1.2.0"));
    EXPECT_EQ(action_of(hashed), "upgrade");
    EXPECT_EQ(hashed.notes.size(), 2u);
    const units::plan_row like_it = co_await row(like_krypton());
    EXPECT_EQ(action_of(like_it), "skip");
  });
}

TEST_F(FromKrypton, AnotherWorkspaceIsToldAndHeldUntilOneOfTheTwoIsChosen) {
  play([&]() -> awaitable<void> {
    co_await left("shop", 1);
    member& a = cluster("a");
    const units::plan_row planned = co_await row(like_krypton());
    EXPECT_EQ(action_of(planned), "held");
    EXPECT_EQ(planned.forecast.size(), 1u);
    if (!planned.forecast.empty()) {
      EXPECT_EQ(planned.forecast.front().code, hold_code::workspace_open.code);
      EXPECT_THAT(planned.forecast.front().sentence, HasSubstr("windlass.dev/workspace=shop"));
    }
    auto windlass = start(like_krypton());
    co_await l.sleep_for(5min);
    EXPECT_EQ(a.told("WorkspaceOpen"), 1u);
    EXPECT_FALSE(a.has("namespaces", "", "acme")) << "no second release";
    EXPECT_EQ(a.records("shop", its_release), "1:deployed");
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Progress=False/Held"));
    EXPECT_EQ(a.phase("acme"), "Ready") << "what is there goes on serving";
    annotate(choose, "shop");
    const bool came = co_await until([&] { return a.told("HelmSkip") == 1; });
    EXPECT_TRUE(came);
    EXPECT_EQ(a.records("shop", its_release), "1:deployed");
    EXPECT_FALSE(a.has("namespaces", "", "acme"));
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    const bool gone = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(gone);
    EXPECT_EQ(a.records("shop", its_release), "");
    EXPECT_TRUE(a.has("namespaces", "", "shop")) << "we did not make it";
    co_await windlass->stop();
  });
}

TEST_F(FromKrypton, TheOtherWorkspaceMayBeLeftForANamespaceOfItsName) {
  play([&]() -> awaitable<void> {
    co_await left("shop", 1);
    member& a = cluster("a");
    annotate(choose, "acme");
    forget_fingerprint();
    auto windlass = start(like_krypton());
    const bool came =
        co_await until([&] { return a.records("acme", its_release) == "1:deployed"; });
    EXPECT_TRUE(came);
    EXPECT_EQ(a.records("shop", its_release), "1:deployed") << "nobody said that it goes";
    co_await windlass->stop();
  });
}

TEST_F(FromKrypton, ATenantThatGoesUnaskedTakesTheReleaseOfItsWorkspaceWithIt) {
  play([&]() -> awaitable<void> {
    co_await left("shop", 1);
    member& a = cluster("a");
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    auto windlass = start(like_krypton());
    const bool gone = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(gone);
    EXPECT_EQ(a.records("shop", its_release), "") << "as the original did";
    co_await windlass->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
