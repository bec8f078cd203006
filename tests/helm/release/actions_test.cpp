// One file although it is long: every action on one stage, so that a reader sees a release live and
// die from top to bottom.
#include "formats/json/json.hpp"
#include "helm/go.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/task_group.hpp"
#include "tests/helm/release/stage.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace helm::release::testing {
namespace {

install_request installing(std::shared_ptr<prepared_chart> c) {
  install_request r;
  r.name = "web";
  r.chart = std::move(c);
  r.work.timeout = std::chrono::seconds(20);
  return r;
}
upgrade_request upgrading(std::shared_ptr<prepared_chart> c) {
  upgrade_request r;
  r.name = "web";
  r.chart = std::move(c);
  r.work.timeout = std::chrono::seconds(20);
  return r;
}
/// A request answered 422 when it creates or changes the object of that name.
void refuse(stage& s, const std::string& name) {
  s.api().before = [name](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.method != "POST" && r.method != "PATCH" && r.method != "PUT") return std::nullopt;
    if (r.body.find("\"" + name + "\"") == r.body.npos && !r.path.ends_with("/" + name))
      return std::nullopt;
    if (r.path.find("/secrets") != r.path.npos) return std::nullopt;
    k8s::sim::answer a;
    a.status = 422;
    a.body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no such luck","reason":"Invalid","code":422})";
    return a;
  };
}

template <class T>
std::string text_of(const outcome<T>& o) {
  return o ? "" : o.error().text;
}
const std::string& text_of(const std::string& s) {
  return s;
}

awaitable<std::string> install(stage& s, std::shared_ptr<prepared_chart> c) {  // borrowed
  auto r = installing(std::move(c));
  auto made = co_await s.actions().install(std::move(r));
  co_return text_of(made);
}
awaitable<std::string> upgrade(stage& s, std::shared_ptr<prepared_chart> c) {  // borrowed
  auto r = upgrading(std::move(c));
  auto up = co_await s.actions().upgrade(std::move(r));
  co_return text_of(up);
}

TEST(ReleaseInstall, CreatesObjectsWithOwnershipAndARecord) {
  play([](stage& s) -> awaitable<void> {
    auto r =
        installing(chart_of(config_map("a", "{{ .Values.x }}"), file("values.yaml", "x: one\n"),
                            file("templates/NOTES.txt", "Hello {{ .Release.Name }}")));
    r.labels = {{"team", "blue"}};
    auto made = co_await s.actions().install(std::move(r));
    EXPECT_EQ(text_of(made), "");
    if (!made) co_return;
    EXPECT_EQ(s.seen("a"), "one");
    auto a = s.api().get("", "configmaps", "shops", "a");
    EXPECT_EQ(a->at("metadata").at("labels").at("app.kubernetes.io/managed-by"), "Helm");
    EXPECT_EQ(a->at("metadata").at("annotations").at("meta.helm.sh/release-name"), "web");
    EXPECT_EQ(a->at("metadata").at("annotations").at("meta.helm.sh/release-namespace"), "shops");
    EXPECT_EQ(made->notes, "Hello web");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told, "1:deployed(Install complete)");
    auto secret = s.api().get("", "secrets", "shops", "sh.helm.release.v1.web.v1");
    EXPECT_EQ(secret->at("type"), "helm.sh/release.v1");
    const auto& labels = secret->at("metadata").at("labels").as_object();
    EXPECT_EQ(labels.at("team"), "blue");
    EXPECT_EQ(labels.at("status"), "deployed");
    EXPECT_EQ(labels.at("owner"), "helm");
    EXPECT_TRUE(labels.contains("modifiedAt"));
    EXPECT_FALSE(labels.contains("createdAt"));
    EXPECT_FALSE(labels.contains(instance_label));
  });
}

TEST(ReleaseInstall, RefusesANameInUse) {
  play([](stage& s) -> awaitable<void> {
    auto first = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(first), "");
    auto second = co_await install(s, chart_of(config_map("a", "2")));
    EXPECT_EQ(text_of(second), "cannot re-use a name that is still in use");
    EXPECT_EQ(s.seen("a"), "1");
    auto bad = installing(chart_of(config_map("a", "1")));
    bad.name = "Web";
    auto third = co_await s.actions().install(std::move(bad));
    EXPECT_TRUE(text_of(third).starts_with("release name \"Web\": invalid release name"));
  });
}

TEST(ReleaseInstall, RefusesObjectsOfOthersAndTakesThemWhenTold) {
  play([](stage& s) -> awaitable<void> {
    s.api().put(
        boost::json::parse(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shops"},"data":{"v":"old"}})")
            .as_object());
    auto refused = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(
        text_of(refused),
        "Unable to continue with install: ConfigMap \"a\" in namespace \"shops\" exists and cannot "
        "be imported "
        "into the current release: invalid ownership metadata; label validation error: missing key "
        "\"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation error: "
        "missing key "
        "\"meta.helm.sh/release-name\": must be set to \"web\"; annotation validation error: "
        "missing key "
        "\"meta.helm.sh/release-namespace\": must be set to \"shops\"");
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
    auto r = installing(chart_of(config_map("a", "1")));
    r.take_ownership = true;
    auto taken = co_await s.actions().install(std::move(r));
    EXPECT_EQ(text_of(taken), "");
    EXPECT_EQ(s.seen("a"), "1");
  });
}

TEST(ReleaseInstall, StoresNothingWhenAChartDoesNotRender) {
  play([](stage& s) -> awaitable<void> {
    auto failed = co_await install(s, chart_of(file("templates/a.yaml", "{{ fail \"no\" }}")));
    EXPECT_EQ(text_of(failed), "execution error at (shop/templates/a.yaml:1:3): no");
    auto unknown = co_await install(
        s, chart_of(file("templates/a.yaml", "apiVersion: x/v1\nkind: Yy\nmetadata: {name: z}\n")));
    EXPECT_TRUE(
        text_of(unknown).starts_with("unable to build kubernetes objects from release manifest: "
                                     "resource mapping not found for name: \"z\""))
        << text_of(unknown);
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
  });
}

TEST(ReleaseInstall, MarksTheRecordFailedWhenAnObjectIsRefused) {
  play([](stage& s) -> awaitable<void> {
    refuse(s, "b");
    auto failed = co_await install(s, chart_of(config_map("a", "1"), config_map("b", "1")));
    EXPECT_EQ(text_of(failed), "1 error occurred:\n\t* no such luck\n\n");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told, "1:failed(Release \"web\" failed: 1 error occurred:\n\t* no such luck\n\n)");
    EXPECT_EQ(s.seen("a"), "1");
  });
}

TEST(ReleaseInstall, AtomicTakesEverythingBack) {
  play([](stage& s) -> awaitable<void> {
    refuse(s, "b");
    auto r = installing(chart_of(config_map("a", "1"), config_map("b", "1")));
    r.atomic = true;
    auto failed = co_await s.actions().install(std::move(r));
    EXPECT_EQ(text_of(failed),
              "release web failed, and has been uninstalled due to atomic being set: 1 error "
              "occurred:\n\t* no such "
              "luck\n\n");
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
    EXPECT_EQ(s.seen("a"), "-");
  });
}

TEST(ReleaseInstall, LooksUpWhatTemplatesAskForUnlessItIsADryRunOfTheClient) {
  play([](stage& s) -> awaitable<void> {
    s.api().put(
        boost::json::parse(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there","namespace":"shops"},"data":{"v":"found"}})")
            .as_object());
    const auto c = chart_of(config_map(
        "a",
        R"({{ (lookup "v1" "ConfigMap" "shops" "there").data.v }}-{{ len (lookup "v1" "ConfigMap" "shops" "not") }}-)"
        R"({{ range (lookup "v1" "ConfigMap" "" "").items }}{{ .kind }}{{ end }})"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.seen("a"), "found-0-ConfigMap");
    auto dry = installing(
        chart_of(config_map("b", R"({{ len (lookup "v1" "ConfigMap" "shops" "there") }})")));
    dry.name = "dry";
    dry.dry = dry_run::client;
    auto rendered = co_await s.actions().install(std::move(dry));
    EXPECT_EQ(text_of(rendered), "");
    if (!rendered) co_return;
    EXPECT_NE(rendered->manifest.find("v: \"0\""), std::string::npos) << rendered->manifest;
    EXPECT_EQ(rendered->description, "Dry run complete");
    auto told = co_await s.told("dry");
    EXPECT_EQ(told, "release: not found");
    auto unknown = installing(chart_of(config_map("b", R"({{ lookup "x/v1" "Y" "" "z" }})")));
    unknown.name = "unknown";
    auto failed = co_await s.actions().install(std::move(unknown));
    EXPECT_NE(
        text_of(failed).find(
            "error calling lookup: unable to get apiresource from unstructured: x/v1, Kind=Y: "
            "the server could not find the requested resource"),
        std::string::npos)
        << text_of(failed);
  });
}

TEST(ReleaseInstall, AKindThatAServedGroupLacksLooksUpWhatHelmDoes) {
  play([](stage& s) -> awaitable<void> {
    const auto c = chart_of(config_map(
        "a",
        R"({{ $all := lookup "v1" "Nope" "" "" }}{{ $all.kind }} {{ len $all.items }} )"
        R"({{ (lookup "apps/v1" "Nope" "shops" "").kind }} {{ lookup "v1" "Nope" "" "x" | toJson }} )"
        R"({{ (lookup "v1" "Nope" "" "v1").kind }} )"
        R"({{ range list "v1/secrets" "v1%2Fsecrets" "v1?x" "." ".." }}{{ lookup "v1" "Nope" "" . | toJson }}{{ end }})"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.seen("a"), "APIVersions 0 APIVersions {} APIResourceList {}{}{}{}{}");
  });
}

TEST(ReleaseUpgrade, AsksWhatTheClusterServesOnceForManyRenders) {
  play([](stage& s) -> awaitable<void> {
    const auto c = chart_of(config_map("a", R"({{ len (lookup "v1" "ConfigMap" "shops" "x") }})"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    for (int i = 0; i < 3; ++i) {
      auto again = co_await upgrade(s, c);
      EXPECT_EQ(text_of(again), "");
    }
    EXPECT_EQ(s.discoveries, 1);
    co_await s.loop().sleep_for(k8s::discovery::longest_life);
    auto later = co_await upgrade(s, c);
    EXPECT_EQ(text_of(later), "");
    EXPECT_EQ(s.discoveries, 2);
  });
}

TEST(ReleaseUpgrade, KnowsTheKindsThatTheLastOneBrought) {
  play([](stage& s) -> awaitable<void> {
    const chart_file kind{"templates/kind.yaml", R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: toys, singular: toy, kind: Toy, listKind: ToyList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)"};
    const auto c = chart_of(
        kind, config_map("a", R"({{ .Capabilities.APIVersions.Has "example.com/v1/Toy" }})"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.seen("a"), "false");
    auto again = co_await upgrade(s, c);
    EXPECT_EQ(text_of(again), "");
    EXPECT_EQ(s.seen("a"), "true");
  });
}

TEST(ReleaseInstall, CreatesItsNamespaceWhenTold) {
  play([](stage& s) -> awaitable<void> {
    s.api().erase("", "namespaces", "", "shops");
    auto r = installing(chart_of(config_map("a", "1")));
    r.create_namespace = true;
    auto made = co_await s.actions().install(std::move(r));
    EXPECT_EQ(text_of(made), "");
    auto ns = s.api().get("", "namespaces", "", "shops");
    EXPECT_TRUE(ns);
    if (!ns) co_return;
    EXPECT_EQ(ns->at("metadata").at("labels").at("name"), "shops");
  });
}

TEST(ReleaseInstall, ReplacesAFailedOne) {
  play([](stage& s) -> awaitable<void> {
    refuse(s, "a");
    auto failed = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_NE(failed, "");
    s.api().before = {};
    auto r = installing(chart_of(config_map("a", "2")));
    r.replace = true;
    auto made = co_await s.actions().install(std::move(r));
    EXPECT_EQ(text_of(made), "");
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "1:failed 2:deployed");
  });
}

TEST(ReleaseHooks, RunInOrderAndAreRecorded) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    auto c = chart_of(config_map("a", "1"),
                      hook_file("late", "Pod", "pre-install", "helm.sh/hook-weight: \"5\""),
                      hook_file("early", "ConfigMap", "pre-install,post-install",
                                "helm.sh/hook-delete-policy: hook-succeeded"),
                      hook_file("after", "Pod", "post-install"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.created, std::vector<std::string>({"configmaps/early", "pods/late", "configmaps/a",
                                                   "pods/after", "configmaps/early"}));
    EXPECT_EQ(s.seen("early"), "-");
    auto r = co_await s.actions().find("web", 0);
    EXPECT_EQ(text_of(r), "");
    if (!r) co_return;
    for (const auto& h : r->hooks) {
      EXPECT_EQ(h.last_run.phase, "Succeeded") << h.what.name;
      EXPECT_FALSE(is_zero(h.last_run.completed)) << h.what.name;
    }
    uninstall_request out;
    out.name = "web";
    auto gone = co_await s.actions().uninstall(std::move(out));
    EXPECT_EQ(text_of(gone), "");
    EXPECT_TRUE(s.api().get("", "pods", "shops", "late")) << "hooks stay";
  });
}

TEST(ReleaseHooks, ThatFailStopTheActionAndAreCleanedUpAsTheirPolicySays) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::badly);
    auto c = chart_of(
        config_map("a", "1"),
        hook_file("ok", "ConfigMap", "pre-install", "helm.sh/hook-delete-policy: hook-succeeded"),
        hook_file("z", "Pod", "pre-install", "helm.sh/hook-delete-policy: hook-failed"));
    auto failed = co_await install(s, c);
    EXPECT_EQ(text_of(failed), "failed pre-install: 1 error occurred:\n\t* pod z failed\n\n");
    EXPECT_EQ(s.created, std::vector<std::string>({"configmaps/ok", "pods/z"}));
    EXPECT_EQ(s.deleted, std::vector<std::string>({"pods/z", "configmaps/ok"}));
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told,
              "1:failed(Release \"web\" failed: failed pre-install: 1 error occurred:\n\t* pod z "
              "failed\n\n)");
  });
}

TEST(ReleaseHooks, ThatNeverEndAreWaitedForUntilTheTimeout) {
  play([](stage& s) -> awaitable<void> {
    const auto before = s.loop().now();
    auto failed = co_await install(s, chart_of(hook_file("z", "Pod", "post-install")));
    EXPECT_EQ(
        text_of(failed),
        "failed post-install: 1 error occurred:\n\t* timed out waiting for the condition\n\n");
    EXPECT_GE(s.loop().now() - before, std::chrono::seconds(20));
    EXPECT_LT(s.loop().now() - before, std::chrono::seconds(25));
  });
}

TEST(ReleaseTests, RunOnRequestAndAreRemembered) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    auto c = chart_of(config_map("a", "1"), hook_file("t1", "Pod", "test"),
                      hook_file("t2", "Pod", "test"));
    auto made = co_await install(s, c);
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.created, std::vector<std::string>({"configmaps/a"}));
    test_request one;
    one.name = "web";
    one.include = {"t2"};
    auto tested = co_await s.actions().test(std::move(one));
    EXPECT_FALSE(tested.failure);
    EXPECT_EQ(s.created, std::vector<std::string>({"configmaps/a", "pods/t2"}));
    s.let_pods_end(stage::ending::badly);
    test_request all;
    all.name = "web";
    tested = co_await s.actions().test(std::move(all));
    EXPECT_EQ(tested.failure ? tested.failure->text : "",
              "1 error occurred:\n\t* pod t1 failed\n\n");
    auto r = co_await s.actions().find("web", 0);
    if (!r) co_return;
    for (const auto& h : r->hooks)
      EXPECT_EQ(h.last_run.phase, h.what.name == "t1" ? "Failed" : "Succeeded");
    EXPECT_EQ(r->state, status::deployed);
  });
}

TEST(ReleaseHooks, ShowWhatTheyPrintedWhenTheyAskForIt) {
  play([](stage& s) -> awaitable<void> {
    const std::string on_success = "helm.sh/hook-output-log-policy: hook-succeeded";
    const std::string always = "helm.sh/hook-output-log-policy: hook-succeeded,hook-failed";
    s.let_pods_end(stage::ending::well);
    auto made = co_await install(s, chart_of(hook_file("a", "Pod", "pre-install", on_success),
                                             hook_file("b", "Pod", "pre-install"),
                                             hook_file("c", "Pod", "pre-install", always)));
    EXPECT_EQ(text_of(made), "");
    EXPECT_EQ(s.logs, "log of c/c\nlog of a/c\n") << "the last hook first, as they are cleaned up";
    s.logs.clear();
    s.let_pods_end(stage::ending::badly);
    auto failed = co_await upgrade(s, chart_of(hook_file("c", "Pod", "pre-upgrade", always)));
    EXPECT_NE(text_of(failed), "");
    EXPECT_EQ(s.logs, "log of c/c\n");
    s.logs.clear();
    s.logs_forbidden = true;
    auto again = co_await upgrade(s, chart_of(hook_file("c", "Pod", "pre-upgrade", always)));
    EXPECT_NE(text_of(again), "");
    EXPECT_EQ(s.logs, "");
    EXPECT_EQ(s.warnings.back(),
              "error outputting logs for hook failure: Failed to stream pod logs for pod: c, "
              "container: c");
  });
}

TEST(ReleaseTests, OnNoNodeHaveAnEmptyLog) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    auto made = co_await install(s, chart_of(hook_file("waiting", "Pod", "test")));
    EXPECT_EQ(text_of(made), "");
    test_request all;
    all.name = "web";
    test_request asked = all;
    auto tested = co_await s.actions().test(std::move(asked));
    if (!tested.tested) co_return;
    std::string text;
    auto got = co_await s.actions().test_logs(*tested.tested, std::move(all), &text);
    EXPECT_TRUE(got);
    EXPECT_EQ(text, "POD LOGS: waiting\n\n");
  });
}

TEST(ReleaseTests, GiveTheirLogsWhenAsked) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    const std::string first = "helm.sh/hook-weight: \"-1\"";
    auto made = co_await install(
        s, chart_of(hook_file("a", "Pod", "test"), hook_file("b", "Pod", "test", first),
                    hook_file("c", "Pod", "post-delete")));
    EXPECT_EQ(text_of(made), "");
    test_request all;
    all.name = "web";
    test_request asked = all;
    auto tested = co_await s.actions().test(std::move(asked));
    EXPECT_TRUE(tested.tested);
    if (!tested.tested) co_return;
    std::string text;
    asked = all;
    auto got = co_await s.actions().test_logs(*tested.tested, std::move(asked), &text);
    EXPECT_TRUE(got);
    EXPECT_EQ(text, "POD LOGS: b\nlog of b\n\nPOD LOGS: a\nlog of a\n\n");
    s.api().erase("", "pods", "shops", "a");
    text.clear();
    asked = all;
    got = co_await s.actions().test_logs(*tested.tested, std::move(asked), &text);
    EXPECT_EQ(text, "POD LOGS: b\nlog of b\n\n");
    EXPECT_EQ(got ? "" : got.error().text, "unable to get pod logs for a: pods \"a\" not found");
    s.logs_forbidden = true;
    got = co_await s.actions().test_logs(*tested.tested, std::move(all), &text);
    EXPECT_TRUE(got ? false : got.error().text.starts_with("unable to get pod logs for b: "))
        << got.error().text;
  });
}

TEST(ReleaseUpgrade, ChangesObjectsDropsOldOnesAndKeepsHistory) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1"), config_map("b", "1")));
    EXPECT_EQ(text_of(made), "");
    auto up = co_await upgrade(s, chart_of(config_map("a", "2"), config_map("c", "1")));
    EXPECT_EQ(text_of(up), "");
    EXPECT_EQ(s.seen("a") + s.seen("b") + s.seen("c"), "2-1");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told, "1:superseded(Install complete) 2:deployed(Upgrade complete)");
  });
}

TEST(ReleaseUpgrade, ThatFailsLeavesTheDeployedOneInForceAndCanBeRepeated) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(made), "");
    refuse(s, "b");
    auto r = upgrading(chart_of(config_map("a", "2"), config_map("a2", "1"), config_map("b", "2")));
    r.cleanup_on_fail = true;
    auto failed = co_await s.actions().upgrade(std::move(r));
    EXPECT_NE(text_of(failed).find("no such luck"), std::string::npos) << text_of(failed);
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "1:deployed 2:failed");
    EXPECT_EQ(s.seen("a2"), "-") << "created by the failed upgrade";
    s.api().before = {};
    auto again = co_await upgrade(s, chart_of(config_map("a", "3"), config_map("b", "3")));
    EXPECT_EQ(text_of(again), "");
    told = co_await s.told("web");
    EXPECT_EQ(told, "1:superseded 2:failed 3:deployed");
    EXPECT_EQ(s.seen("b"), "3");
  });
}

TEST(ReleaseUpgrade, AtomicGoesBackToTheLastThatWorked) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(made), "");
    refuse(s, "b");
    auto r = upgrading(chart_of(config_map("a", "2"), config_map("b", "2")));
    r.atomic = true;
    auto failed = co_await s.actions().upgrade(std::move(r));
    EXPECT_TRUE(text_of(failed).starts_with(
        "release web failed, and has been rolled back due to atomic being set: "))
        << text_of(failed);
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "1:superseded 2:failed 3:deployed");
    EXPECT_EQ(s.seen("a"), "1");
  });
}

/// As refuse(), and no record of that revision can be written that says so.
void refuse_and_lose(stage& s, const std::string& name, int revision, const std::string& state) {
  refuse(s, name);
  s.api().before = [refuses = std::move(s.api().before),
                    record = "/sh.helm.release.v1.web.v" + std::to_string(revision),
                    says = "\"status\":\"" + state +
                           "\""](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    const bool is_it = r.method != "GET" && r.path.ends_with(record);
    if (!is_it || r.body.find(says) == r.body.npos) return refuses(r);
    k8s::sim::answer a;
    a.status = 500;
    a.body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"the disk is full","code":500})";
    return a;
  };
}

// What is on record is what is done: none of this leaves two records deployed, or two pending.
TEST(ReleaseUpgrade, AtomicThatCannotBeRecordedTellsSoAndDeploysNoTwo) {
  struct loss {
    int revision;
    const char *state, *told;
  };
  for (const loss& l : {loss{1, "superseded", "1:deployed 2:failed 3:pending-rollback"},
                        loss{2, "failed", "1:deployed 2:pending-upgrade"},
                        loss{3, "deployed", "1:superseded 2:failed 3:pending-rollback"}})
    play([&](stage& s) -> awaitable<void> {
      auto made = co_await install(s, chart_of(config_map("a", "1")));
      EXPECT_EQ(text_of(made), "");
      auto r = upgrading(chart_of(config_map("a", "2"), config_map("b", "2")));
      r.atomic = true;
      r.work.recorded = true;
      refuse_and_lose(s, "b", l.revision, l.state);
      auto failed = co_await s.actions().upgrade(std::move(r));
      EXPECT_TRUE(text_of(failed).starts_with("an error occurred while rolling back the release."))
          << text_of(failed);
      auto told = co_await s.told("web");
      EXPECT_EQ(told, l.told);
    });
}

TEST(ReleaseUpgrade, PrunesHistoryBeforeItStores) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(made), "");
    for (int i = 2; i <= 5; ++i) {
      auto r = upgrading(chart_of(config_map("a", "v" + std::to_string(i))));
      r.history_max = 3;
      auto up = co_await s.actions().upgrade(std::move(r));
      EXPECT_EQ(text_of(up), "");
    }
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "3:superseded 4:superseded 5:deployed");
  });
}

TEST(ReleaseUpgrade, IsRefusedWhileAnotherIsUnderWay) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(made), "");
    auto all = co_await s.records().all_of("web");
    if (!all) co_return;
    record pending = all->back();
    pending.revision = 2;
    pending.state = status::pending_upgrade;
    record copy = pending;
    auto stored = co_await s.records().create(std::move(copy));
    EXPECT_EQ(text_of(stored), "");
    auto refused = co_await upgrade(s, chart_of(config_map("a", "2")));
    EXPECT_EQ(text_of(refused), pending_text);
    auto twice = co_await s.records().create(std::move(pending));
    EXPECT_EQ(text_of(twice), exists_text);
    rollback_request back;
    back.name = "web";
    back.revision = 1;
    auto out_of_it = co_await s.actions().rollback(std::move(back));
    EXPECT_EQ(text_of(out_of_it), "");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told,
              "1:superseded(Install complete) 2:pending-upgrade(Install complete) "
              "3:deployed(Rollback to 1)");
  });
}

TEST(ReleaseRollback, BringsBackARevision) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1"), config_map("b", "1")));
    EXPECT_EQ(text_of(made), "");
    auto up = co_await upgrade(s, chart_of(config_map("a", "2")));
    EXPECT_EQ(text_of(up), "");
    rollback_request r;
    r.name = "web";
    auto back = co_await s.actions().rollback(r);
    EXPECT_EQ(text_of(back), "");
    EXPECT_EQ(s.seen("a") + s.seen("b"), "11");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(
        told,
        "1:superseded(Install complete) 2:superseded(Upgrade complete) 3:deployed(Rollback to 1)");
    r.revision = 9;
    auto missing = co_await s.actions().rollback(r);
    EXPECT_EQ(text_of(missing), "release has no 9 version");
    refuse(s, "a");
    r.revision = 2;
    auto failed = co_await s.actions().rollback(r);
    EXPECT_NE(text_of(failed).find("no such luck"), std::string::npos) << text_of(failed);
    told = co_await s.told("web");
    EXPECT_EQ(told, "1:superseded 2:superseded 3:superseded 4:failed");
  });
}

TEST(ReleaseUninstall, DeletesObjectsAndRecordsButWhatIsKept) {
  play([](stage& s) -> awaitable<void> {
    auto kept = config_map("kept", "1");
    kept.data.insert(kept.data.find("\ndata:") + 1,
                     "  annotations: {helm.sh/resource-policy: keep}\n");
    auto made = co_await install(s, chart_of(config_map("a", "1"), kept));
    EXPECT_EQ(text_of(made), "");
    uninstall_request r;
    r.name = "web";
    r.work.wait = true;
    auto gone = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(gone), "");
    if (!gone) co_return;
    EXPECT_EQ(*gone, "These resources were kept due to the resource policy:\n[ConfigMap] kept\n");
    EXPECT_EQ(s.seen("a") + s.seen("kept"), "-1");
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
    auto again = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(again), "uninstall: Release not loaded: web: release: not found");
    r.ignore_not_found = true;
    again = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(again), "");
  });
}

TEST(ReleaseUninstall, MayKeepTheHistory) {
  play([](stage& s) -> awaitable<void> {
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_EQ(text_of(made), "");
    auto up = co_await upgrade(s, chart_of(config_map("a", "2")));
    EXPECT_EQ(text_of(up), "");
    uninstall_request r;
    r.name = "web";
    r.keep_history = true;
    auto gone = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(gone), "");
    auto told = co_await s.told("web", true);
    EXPECT_EQ(told, "1:superseded(Install complete) 2:uninstalled(Uninstallation complete)");
    auto again = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(again), "the release named \"web\" is already deleted");
    r.keep_history = false;
    again = co_await s.actions().uninstall(r);
    EXPECT_EQ(text_of(again), "");
    told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
  });
}

TEST(ReleaseRecords, MayBeConfigMapsAndPassOverDamagedOnes) {
  play([](stage& s) -> awaitable<void> {
    k8s::connection to;
    to.server = "http://api:6443";
    k8s::client api(s.loop(), to, "helm");
    cluster_records store(s.loop(), api, "shops", cluster_records::driver::config_maps);
    std::vector<std::string> lines;
    store.on_line = [&](const std::string& l) { lines.push_back(l); };
    record r;
    r.name = "web";
    r.revision = 1;
    r.labels = {{"team", "a"}};
    record copy = r;
    auto made = co_await store.create(std::move(copy));
    EXPECT_EQ(text_of(made), "");
    s.api().put(
        boost::json::parse(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad","namespace":"shops","labels":{"name":"web","owner":"helm"}},"data":{"release":"!"}})")
            .as_object());
    auto all = co_await store.all_of("web");
    EXPECT_EQ(text_of(all), "");
    if (all) {
      EXPECT_EQ(all->size(), 1u);
      EXPECT_EQ(all->front().labels.at("team"), "a");
    }
    EXPECT_EQ(lines.size(), 1u);
    auto gone = co_await store.remove("web", 1);
    EXPECT_EQ(text_of(gone), "");
    auto twice = co_await store.remove("web", 1);
    EXPECT_EQ(text_of(twice), not_found_text);
    co_await api.stop();
  });
}

// Ended at every request that an action makes.

struct cut_short {
  bool finished = false;  // the action came to its end first
  std::string error;
};

/// Runs `action` in a task of its own and cancels it when it makes its n-th request.
awaitable<cut_short> cancelled_at(stage& s, int n, std::function<awaitable<std::string>()> action) {
  cut_short out;
  int seen = 0;
  reactor::task_group tasks(s.loop());
  reactor::event over(s.loop());
  s.api().before = [&](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
    if (++seen == n) s.loop().post([&] { tasks.cancel(); });
    return std::nullopt;
  };
  tasks.start("action", [&]() -> awaitable<void> {
    out.error = co_await action();
    out.finished = true;
  });
  co_await tasks.join();
  s.api().before = {};
  co_return out;
}

TEST(ReleaseCancellation, AtEveryRequestOfAnInstallEndsInARecordThatSaysSo) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    const auto c = chart_of(config_map("a", "1"), hook_file("h", "Pod", "pre-install"),
                            hook_file("p", "ConfigMap", "post-install"));
    int cut = 0;
    for (int n = 1;; ++n) {
      auto end = co_await cancelled_at(
          s, n, [&]() -> awaitable<std::string> { co_return co_await install(s, c); });
      if (end.finished) {
        EXPECT_EQ(end.error, "");
        break;
      }
      ++cut;
      auto shown = co_await s.actions().settle();
      auto told = co_await s.told("web", true);
      if (shown) {
        EXPECT_EQ(shown->text, "context canceled") << n;
        EXPECT_EQ(told, "1:failed(Release \"web\" failed: context canceled)") << n;
      } else {
        EXPECT_TRUE(told == "release: not found" || told.starts_with("1:deployed")) << n << told;
      }
      uninstall_request r;
      r.name = "web";
      r.ignore_not_found = true;
      auto gone = co_await s.actions().uninstall(std::move(r));
      EXPECT_EQ(text_of(gone), "") << n;
      EXPECT_EQ(s.seen("a"), "-") << n;
      s.restart_actions();
    }
    EXPECT_GT(cut, 12);
  });
}

/// After kill number `n` was recovered: no revision is pending, and one is deployed.
awaitable<void> expect_one_deployed(stage& s, int n) {  // borrowed
  auto all = co_await s.records().all_of("web");
  EXPECT_TRUE(all) << n;
  if (!all) co_return;
  int deployed = 0;
  for (const auto& r : *all) {
    deployed += r.state == status::deployed;
    EXPECT_FALSE(is_pending(r.state)) << n << ", revision " << r.revision;
  }
  EXPECT_EQ(deployed, 1) << n;
}

/// Its rollback is cancelled as well as what came before it.
TEST(ReleaseCancellation, AtEveryRequestOfAnAtomicUpgradeThatFailsLeavesNothingPending) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::badly);
    const auto old = chart_of(config_map("a", "1"));
    const auto bad = chart_of(config_map("a", "2"), hook_file("h", "Pod", "post-upgrade"));
    int rolled_back = 0;
    for (int n = 1;; ++n) {
      auto made = co_await install(s, old);
      EXPECT_EQ(text_of(made), "") << n;
      auto end = co_await cancelled_at(s, n, [&]() -> awaitable<std::string> {
        auto r = upgrading(bad);
        r.atomic = true;
        auto up = co_await s.actions().upgrade(std::move(r));
        co_return text_of(up);
      });
      const auto before = co_await s.told("web");
      rolled_back += before.ends_with("3:pending-rollback");
      if (!end.finished) (void)co_await s.actions().settle();
      EXPECT_EQ(s.seen("a"), "1") << n << ", " << before;
      co_await expect_one_deployed(s, n);
      uninstall_request r;
      r.name = "web";
      auto gone = co_await s.actions().uninstall(std::move(r));
      EXPECT_EQ(text_of(gone), "") << n;
      s.restart_actions();
      if (end.finished) break;
    }
    EXPECT_GT(rolled_back, 2);
  });
}

TEST(ReleaseRecovery, OfAnUpgradeKilledAtEveryRequest) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    const auto old = chart_of(config_map("a", "1"), config_map("b", "1"));
    const auto next =
        chart_of(config_map("a", "2"), config_map("c", "2"), hook_file("h", "Pod", "pre-upgrade"),
                 hook_file("p", "ConfigMap", "post-upgrade"));
    int killed = 0, waited = 0;
    for (int n = 1;; ++n) {
      auto made = co_await install(s, old);
      EXPECT_EQ(text_of(made), "") << n;
      auto end = co_await cancelled_at(
          s, n, [&]() -> awaitable<std::string> { co_return co_await upgrade(s, next); });
      s.restart_actions();  // nothing is settled: the process is gone
      if (!end.finished) {
        ++killed;
        auto again = co_await upgrade(s, next);
        if (!again.empty()) {
          ++waited;
          EXPECT_EQ(text_of(again), pending_text) << n;
          co_await s.loop().sleep_for(std::chrono::seconds(25));
          again = co_await upgrade(s, next);
        }
        EXPECT_EQ(text_of(again), "") << n;
      }
      EXPECT_EQ(s.seen("a") + s.seen("b") + s.seen("c"), "2-2") << n;
      co_await expect_one_deployed(s, n);
      uninstall_request r;
      r.name = "web";
      auto gone = co_await s.actions().uninstall(std::move(r));
      EXPECT_EQ(text_of(gone), "") << n;
      if (end.finished) break;
    }
    EXPECT_GT(killed, 15);
    EXPECT_GT(waited, 5);
  });
}

TEST(ReleaseRecovery, OfARollbackKilledAtEveryRequest) {
  play([](stage& s) -> awaitable<void> {
    s.let_pods_end(stage::ending::well);
    const auto old =
        chart_of(config_map("a", "1"), config_map("b", "1"), hook_file("h", "Pod", "pre-rollback"));
    const auto next = chart_of(config_map("a", "2"), config_map("c", "2"));
    const auto back = [&s]() -> awaitable<std::string> {
      rollback_request r;
      r.name = "web";
      r.revision = 1;
      r.work.timeout = std::chrono::seconds(20);
      auto ended = co_await s.actions().rollback(std::move(r));
      co_return text_of(ended);
    };
    int killed = 0;
    for (int n = 1;; ++n) {
      auto made = co_await install(s, old);
      EXPECT_EQ(text_of(made), "") << n;
      auto moved = co_await upgrade(s, next);
      EXPECT_EQ(moved, "") << n;
      auto end = co_await cancelled_at(s, n, back);
      s.restart_actions();
      if (!end.finished) {
        ++killed;
        co_await s.loop().sleep_for(std::chrono::seconds(25));
        auto again = co_await back();
        EXPECT_EQ(again, "") << n;
      }
      EXPECT_EQ(s.seen("a") + s.seen("b") + s.seen("c"), "11-") << n;
      co_await expect_one_deployed(s, n);
      uninstall_request r;
      r.name = "web";
      auto gone = co_await s.actions().uninstall(std::move(r));
      EXPECT_EQ(text_of(gone), "") << n;
      if (end.finished) break;
    }
    EXPECT_GT(killed, 10);
  });
}

TEST(ReleaseRecovery, LeavesPendingRecordsOfOthersAlone) {
  play([](stage& s) -> awaitable<void> {
    record r;
    r.name = "web";
    r.ns = "shops";
    r.revision = 1;
    r.state = status::pending_install;
    r.labels = {{instance_label, "others"}, {deadline_label, "1"}};
    auto stored = co_await s.records().create(std::move(r));
    EXPECT_EQ(text_of(stored), "");
    auto refused = co_await upgrade(s, chart_of(config_map("a", "2")));
    EXPECT_EQ(text_of(refused), pending_text);
  });
}

TEST(ReleaseActions, SayWhenTheClusterIsUnreachable) {
  play([](stage& s) -> awaitable<void> {
    s.api().before = [](const k8s::sim::request&) {
      k8s::sim::answer a;
      a.drop = true;
      return std::optional(a);
    };
    auto made = co_await install(s, chart_of(config_map("a", "1")));
    EXPECT_TRUE(text_of(made).starts_with("Kubernetes cluster unreachable: ")) << text_of(made);
    s.api().before = {};
  });
}

}  // namespace
}  // namespace helm::release::testing
