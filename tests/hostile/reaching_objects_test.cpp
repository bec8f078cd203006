// Tenants and KryptonDeployments of a user who may write such objects, and Secrets, in one
// namespace: their names, annotations, Secrets and regions, and what charts look up.
#include "tests/hostile/counted.hpp"
#include "tests/tenants/cluster/home_stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;

// ---------------------------------------------------------------- names

struct reserved_name {
  const char* name;
  bool by_flag;  // free with --allow-system-namespaces
};
constexpr reserved_name reserved_names[] = {
    {"kube-system", true},      {"kube-public", true},     {"kube-node-lease", true},
    {"openshift-config", true}, {"default", true},         {"fleet", true},
    {"regions-of-a", true},     {"bootc-operator", false}, {"bootc-operator-daemon", false},
    {"records", false},         {"nodes", false},
};

settings of_a_fleet(const std::string& version = "1.2.0") {
  settings s = of_version(version);
  s.ns = "fleet";
  s.records_ns = "records";
  s.reserved_ns = {"nodes"};
  s.region_secrets_in = {"regions-of-a"};
  return s;
}

class ReachingTenants : public TenantStage {};

TEST_F(ReachingTenants, NoTenantHasANamespaceOfTheSystemOrTheFleet) {
  counted_cases tried("tenants");
  for (const bool by_annotation : {false, true})
    for (const reserved_name& one : reserved_names) {
      SCOPED_TRACE(one.name);
      const auto named = [&]() -> awaitable<void> {
        member& a = cluster("a");
        a.put_namespace(one.name);
        a.put_namespace("theirs");
        const std::string called = by_annotation ? "acme" : one.name;
        a.put_tenant(called, "theirs");
        if (by_annotation)  // as the original operator's objects have it
          a.api.edit(names::group, "tenants", "theirs", "acme", [&](json::object& o) {
            o["spec"].as_object()["workspace"] = one.name;
            o["metadata"].as_object()["annotations"].emplace_object()[names::workspace] = one.name;
          });
        auto windlass = start(of_a_fleet());
        co_await l.sleep_for(2min);
        EXPECT_FALSE(a.has("configmaps", one.name, "web"));
        EXPECT_EQ(a.phase(called, "theirs"), "Error");
        EXPECT_THAT(a.conditions(called, "a", "theirs"), HasSubstr("Error=True/NamespaceReserved"));
        EXPECT_EQ(a.told("NamespaceReserved"), 1u);
        // It goes, and takes nothing along.
        (void)a.api.handle(k8s::sim::make_request(
            "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/theirs/tenants/" + called));
        const bool gone = co_await until([&] { return a.tenant(called, "theirs").empty(); });
        EXPECT_TRUE(gone);
        EXPECT_TRUE(a.has("namespaces", "", one.name));
        co_await windlass->stop();
      };
      tried([&] { play(named); });
      if (by_annotation) continue;
      const auto by_flag = [&]() -> awaitable<void> {
        member& a = cluster("a");
        a.put_namespace(one.name);
        a.put_tenant(one.name);
        settings s = of_a_fleet();
        s.system_namespaces = true;
        auto windlass = start(s);
        co_await l.sleep_for(2min);
        EXPECT_EQ(a.has("configmaps", one.name, "web"), one.by_flag);
        co_await windlass->stop();
      };
      tried([&] { play(by_flag); });
    }
}

// ---------------------------------------------------------------- lookup

struct looked_up {
  const char* name;
  const char* lookup;
  bool allowed;
};
constexpr looked_up looked_ups[] = {
    {"a Secret of the system", R"(lookup "v1" "Secret" "kube-system" "key")", false},
    {"all Secrets of the system", R"(lookup "v1" "Secret" "kube-system" "")", false},
    {"all Secrets", R"(lookup "v1" "Secret" "" "")", false},
    {"a Secret by name in no namespace", R"(lookup "v1" "Secret" "" "key")", false},
    {"a Secret of its namespace", R"(lookup "v1" "Secret" .Release.Namespace "key")", true},
    {"the Secrets of its namespace", R"(lookup "v1" "Secret" .Release.Namespace "")", true},
    {"another kind of the system", R"(lookup "v1" "ConfigMap" "kube-system" "key")", true},
};

TEST_F(ReachingTenants, LookupLeavesTheNamespaceOfTheReleaseForNoSecret) {
  counted_cases tried("lookups");
  for (const bool by_flag : {false, true})
    for (const looked_up& one : looked_ups) {
      SCOPED_TRACE(one.name);
      const auto looks_up = [&]() -> awaitable<void> {
        std::vector<chart_file> templates;
        templates.push_back({"templates/copy.yaml",
                             std::string("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "
                                         "copy\ndata:\n  got: {{ ") +
                                 one.lookup + " | toJson | quote }}\n"});
        charts->offer("2.0.0", archive_of("2.0.0", std::move(templates)));
        member& a = cluster("a");
        a.put_namespace("acme");
        for (const char* ns : {"kube-system", "acme"})
          for (const char* kind : {"Secret", "ConfigMap"}) {
            json::object o =
                json::parse(R"({"apiVersion":"v1","metadata":{"name":"key"}})").as_object();
            o["kind"] = kind;
            o["metadata"].as_object()["namespace"] = ns;
            o["data"].emplace_object()["k"] = "dG9wLXNlY3JldA==";
            a.api.put(std::move(o));
          }
        a.put_tenant("acme");
        settings s = of_version("2.0.0");
        s.secret_lookup = by_flag;
        auto windlass = start(s);
        co_await l.sleep_for(1min);
        const auto copy = a.api.get("", "configmaps", "acme", "copy");
        EXPECT_EQ(copy.has_value(), one.allowed || by_flag);
        if (!one.allowed && !by_flag) {
          EXPECT_THAT(json::serialize(a.tenant("acme")), HasSubstr("--allow-secret-lookup"));
        }
        co_await windlass->stop();
      };
      tried([&] { play(looks_up); });
    }
}

/// Users of a namespace make what a chart looks up in it as large as they like.
TEST_F(ReachingTenants, LookupTakesNoMoreThanARenderMayHave) {
  for (const char* lookup : {"(lookup \"v1\" \"ConfigMap\" .Release.Namespace \"\").items | len",
                             "range $i := until 9 }}{{ lookup \"v1\" \"ConfigMap\" "
                             "$.Release.Namespace (print \"f\" $i) | len }}{{ end"})
    play([&]() -> awaitable<void> {
      std::vector<chart_file> templates;
      templates.push_back(
          {"templates/copy.yaml", std::string("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "
                                              "copy\ndata:\n  n: \"{{ ") +
                                      lookup + " }}\"\n"});
      charts->offer("2.0.0", archive_of("2.0.0", std::move(templates)));
      member& a = cluster("a");
      a.put_namespace("acme");
      for (int i = 0; i < 9; ++i) {
        json::object o =
            json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})").as_object();
        o["metadata"].as_object()["name"] = "f" + std::to_string(i);
        o["metadata"].as_object()["namespace"] = "acme";
        o["data"].emplace_object()["k"] = std::string(900'000, 'x');
        a.api.put(std::move(o));
      }
      a.put_tenant("acme");
      auto windlass = start(of_version("2.0.0"));
      co_await l.sleep_for(1min);
      EXPECT_THAT(json::serialize(a.tenant("acme")),
                  HasSubstr("more objects than may be looked up"));
      co_await windlass->stop();
    });
}

// ---------------------------------------------------------------- regions

/// An object in namespace `evil`, and Secrets there, of a user who wants what is prod's or the
/// operator's.
struct reaching_deployment {
  const char* name;
  std::string region;              // of spec, as JSON
  std::string called = "shop";     // as that of prod
  std::vector<std::string> noted;  // fingerprint-<this>: "x"
  /// Then, as JSON merge patches of the object.
  std::vector<std::string> then = {};
  bool deploys = false;  // rightly: to a region of the operator
};

std::string by_secret(const char* ns, const char* name) {
  return std::string(R"({"name":"r","kubeconfig":{"secret":{"namespace":")") + ns +
         R"(","name":")" + name + R"("}}})";
}

const std::vector<reaching_deployment>& reaching_deployments() {
  static const std::vector<reaching_deployment> all = {
      {"its own cluster", by_secret("evil", "mine"), "own"},
      {"its own cluster under prod's name", by_secret("evil", "mine")},
      {"a note of prod's region", by_secret("evil", "mine"), "shop", {"default.eu-kubeconfig"}},
      {"notes of every Secret",
       by_secret("evil", "mine"),
       "shop",
       {"default.eu-kubeconfig", "prod.theirs", "evil.mine", "default.us-kubeconfig"}},
      {"another team's Secret", by_secret("prod", "theirs"), "own"},
      {"another team's Secret, then deleted",
       by_secret("prod", "theirs"),
       "own",
       {},
       {R"({"spec":{"account":{"name":"other"}}})"}},
      {"a Secret that is granted to others", by_secret("prod", "granted"), "own"},
      {"a Secret of the operator for others", R"({"name":"closed"})", "own"},
      {"prod's region under prod's name", R"({"name":"eu"})"},
      {"prod's region, then its own",
       R"({"name":"eu"})",
       "shop",
       {},
       {R"({"spec":{"region":{"name":"r","kubeconfig":{"secret":{"namespace":"evil","name":"mine"}}}}})"}},
      {"prod's region, then another one, under prod's name",
       R"({"name":"eu"})",
       "shop",
       {},
       {R"({"spec":{"region":{"name":"us"}}})"},
       true},
      {"the same by another Secret", by_secret("default", "eu-again")},
      {"the same by another Secret, then another one",
       by_secret("default", "eu-again"),
       "shop",
       {},
       {R"({"spec":{"region":{"name":"us","kubeconfig":null}}})"},
       true},
      {"a region of the operator", R"({"name":"us"})", "own", {}, {}, true},
      {"kube-system", R"({"name":"eu"})", "kube-system"},
      {"default", R"({"name":"eu"})", "default"},
      {"the service's namespace", R"({"name":"eu"})", "bootc-operator"},
  };
  return all;
}

class ReachingDeployments : public KryptonAtHome {
protected:
  static std::string everything_on(const member& m) {
    std::string out;
    for (const char* plural : {"configmaps", "secrets", "namespaces"})
      for (const json::object& o : m.api.list("", plural)) {
        const json::object& meta = o.at("metadata").as_object();
        const json::value* ns = meta.if_contains("namespace");
        if (ns && ns->as_string() == "bootc-operator") continue;
        out += std::string(plural) + " " + json::serialize(o) + "\n";
      }
    return out;
  }
  void furnish() {
    for (const char* ns : {"prod", "evil"}) home().put_namespace(ns);
    put_way("eu-kubeconfig", "eu");
    put_way("eu-again", "eu", "default", "other");
    put_way("us-kubeconfig", "us");
    put_way("closed-kubeconfig", "eu", "default", "one", "prod, staging");
    put_way("theirs", "eu", "prod");
    put_way("granted", "eu", "prod", "one", "staging");
    put_way("mine", "mine", "evil");
    put("shop", "eu", "prod");
  }
  void let_loose(const reaching_deployment& one) {
    json::object o = deployment(one.called, "evil", "r");
    o["spec"].as_object()["region"] = json::parse(one.region);
    json::object& annotations = o["metadata"].as_object()["annotations"].emplace_object();
    for (const std::string& noted : one.noted)
      annotations[std::string(names::fingerprint_prefix) + noted] = "x";
    home().api.put(std::move(o));
  }
  void meet(const reaching_deployment& one, const settings& s) {
    SCOPED_TRACE(one.name);
    play([&]() -> awaitable<void> {
      member &eu = cluster("eu"), &mine = cluster("mine");
      (void)cluster("us");
      furnish();
      auto windlass = std::make_unique<home_process>(l, s, home());
      const bool came = co_await until([&] { return says("shop", "prod") == "Ready/Deployed"; });
      EXPECT_TRUE(came) << says("shop", "prod");
      co_await l.sleep_for(30s);
      const std::string before = everything_on(eu), nothing = everything_on(mine);
      let_loose(one);
      co_await l.sleep_for(3min);
      for (const std::string& patch : one.then) {
        (void)home().api.handle(k8s::sim::make_request(
            "PATCH", kinds_path + std::string("evil/kryptondeployments/") + one.called, patch,
            "application/merge-patch+json"));
        co_await l.sleep_for(5min);
      }
      EXPECT_EQ(everything_on(mine), nothing) << "the operator's chart and values";
      EXPECT_EQ(says(one.called, "evil") == "Ready/Deployed", one.deploys)
          << says(one.called, "evil");
      remove(one.called, "evil");
      const bool gone = co_await until([&] { return is_gone(one.called, "evil"); }, 15min);
      EXPECT_TRUE(gone) << says(one.called, "evil");
      EXPECT_EQ(everything_on(eu), before);
      EXPECT_EQ(says("shop", "prod"), "Ready/Deployed");
      co_await windlass->stop();
    });
  }
};

TEST_F(ReachingDeployments, GetNothingOfOthersAndTheOperatorsValuesNowhere) {
  counted_cases tried("kryptondeployments");
  for (const reaching_deployment& one : reaching_deployments())
    tried([&] { meet(one, of_version("1.2.0")); });
}

TEST_F(ReachingDeployments, WhereTheOperatorLetsANamespaceLeadOthersSecretsStillNeedAGrant) {
  settings s = of_version("1.2.0");
  s.region_secrets_in = {"prod"};
  counted_cases tried("kryptondeployments of namespaces that may lead elsewhere");
  for (const reaching_deployment& one : reaching_deployments()) tried([&] { meet(one, s); });
}

TEST_F(ReachingDeployments, AGrantIsFollowedAndCounts) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    for (const char* ns : {"prod", "team"}) home().put_namespace(ns);
    put_way("theirs", "eu", "prod");
    json::object o = deployment("own", "team", "r");
    o["spec"].as_object()["region"] = json::parse(by_secret("prod", "theirs"));
    home().api.put(std::move(o));
    settings s = of_version("1.2.0");
    s.region_secrets_in = {"*"};
    auto windlass = std::make_unique<home_process>(l, s, home());
    const bool said =
        co_await until([&] { return says("own", "team") == "Error/EdgeUnavailable"; });
    EXPECT_TRUE(said) << says("own", "team");
    put_way("theirs", "eu", "prod", "one", "staging, team");
    const bool came = co_await until([&] { return says("own", "team") == "Ready/Deployed"; });
    EXPECT_TRUE(came) << says("own", "team");
    EXPECT_EQ(eu.records("own", "ced-own"), "1:deployed");
    co_await windlass->stop();
  });
}

/// What we remember of former regions survives the process, and the author cannot take it away.
TEST_F(ReachingDeployments, AFormerRegionIsLeftAfterARestartThoughItsNoteIsGone) {
  play([&]() -> awaitable<void> {
    member &eu = cluster("eu"), &us = cluster("us");
    put_way("eu-kubeconfig", "eu");
    put_way("us-kubeconfig", "us");
    put("shop", "eu");
    auto first = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    co_await first->stop();
    edit("shop", R"({"metadata":{"annotations":null},"spec":{"region":{"name":"us"}}})");
    auto second = run();
    const bool left = co_await until([&] { return !eu.has("namespaces", "", "shop"); });
    EXPECT_TRUE(left);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "");
    EXPECT_EQ(us.records("shop", "ced-shop"), "1:deployed");
    remove("shop");
    const bool gone = co_await until([&] { return is_gone("shop"); });
    EXPECT_TRUE(gone);
    std::string notes;
    for (const json::object& o : home().api.list("", "configmaps"))
      if (const json::value* data = o.if_contains("data")) notes += json::serialize(*data);
    EXPECT_THAT(notes, ::testing::Not(HasSubstr("shop"))) << "nothing is kept of what is gone";
    co_await second->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
