// What `windlass tenant` shows: tables of 80 columns and documents that are as docs/schema says.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "helm/tenants/commands/tenant_arguments.hpp"
#include "helm/tenants/commands/tenant_view.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "reactor/loop.hpp"
#include "service/commands/run_arguments.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

namespace cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<tenants_of_cluster> fleet() {
  tenant_row ready;
  ready.cluster = "cluster-001";
  ready.tenant = "default/acme";
  ready.phase = "Ready";
  ready.action = "upgrade";
  ready.from = "web 1.2.0";
  ready.to = "https://charts.example/web:1.3.0";
  ready.release = "tenant-acme-cluster-001";
  ready.fingerprint = std::string(64, 'f');
  ready.applied = "https://charts.example/web:1.2.0";
  ready.message = "tenant-acme-cluster-001 is installed";
  k8s::condition c;
  c.type = "ClusterReady/cluster-001";
  c.status = "True";
  c.reason = "Installed";
  c.message = ready.message;
  c.last_transition_time = "2026-11-23T08:00:00Z";
  k8s::condition other = c;
  other.type = "ClusterReady/elsewhere";
  other.reason = "Upgraded";
  ready.conditions = {c, other};
  tenant_row failed = ready;
  failed.tenant = "default/beta";
  failed.phase = "Error";
  failed.action = "held";
  failed.release = "tenant-beta-cluster-001";
  failed.message =
      "context deadline exceeded: Deployment web in namespace beta is not ready, and that for a "
      "long time \x1b[31m";
  failed.hold = units::hold{"beta", "backoff", "the last operation on it failed",
                            "the next attempt, or a change of the object"};
  failed.conditions.clear();
  return {{"cluster-001", "Live", "", {ready, failed}},
          {"cluster-002", "Unreachable", "connection refused", {}}};
}

std::size_t widest(const page& p) {
  std::size_t most = 0, at = 0;
  for (const char c : p.text()) {
    if (c == '\n') {
      at = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      most = std::max(most, ++at);
    }
  }
  return most;
}

TEST(TenantView, TheListSaysWhatIsThereWhatComesNextAndWhoIsAway) {
  const page text = tenant_list_text(fleet(), extent::usual, colours::none, 80);
  EXPECT_LE(widest(text), 80u) << text.text();
  EXPECT_THAT(text.text(), HasSubstr("2 releases on 2 clusters: 1 Error, 1 Ready"));
  EXPECT_THAT(text.text(), HasSubstr("web 1.2.0"));
  EXPECT_THAT(text.text(), HasSubstr("backoff"));
  EXPECT_THAT(text.text(), HasSubstr("cluster-002 is Unreachable: connection refused"));
  const page wide = tenant_list_text(fleet(), extent::wide, colours::none, any_width);
  EXPECT_THAT(wide.text(), HasSubstr("tenant-acme-cluster-001"));
  EXPECT_THAT(wide.text(), HasSubstr("https://charts.example/web:1.3.0"));
  EXPECT_EQ(breaks_schema(tenant_list_document(fleet())), "");
}

TEST(TenantView, TheStatusHasTheConditionsOfItsOwnCluster) {
  const page text = tenant_status_text(fleet(), colours::none, 80);
  EXPECT_LE(widest(text), 80u) << text.text();
  EXPECT_THAT(text.text(), HasSubstr("upgrade web 1.2.0 → https://charts.example/web:1.3.0"));
  EXPECT_THAT(text.text(), HasSubstr("ffffffffffff\n")) << "twelve digits of the fingerprint";
  EXPECT_THAT(text.text(), HasSubstr("Installed"));
  EXPECT_THAT(text.text(), Not(HasSubstr("Upgraded")));
  EXPECT_THAT(text.text(), HasSubstr("[backoff]"));
  const boost::json::object o = tenant_status_document(fleet());
  EXPECT_EQ(breaks_schema(o), "");
  EXPECT_EQ(o.at("tenants").at(0).at("conditions").as_array().size(), 1u);
}

TEST(TenantView, ADifferenceIsAnObjectWithItsLines) {
  const auto rows = fleet()[0].rows;
  std::vector<tenant_difference> all = {{rows[0], "", {}}, {rows[1], "", {}}, {rows[0], "no", {}}};
  all[0].changes = {{"change", "apps/v1", "Deployment", "acme", "web", {"spec.replicas: 1 → 2"}},
                    {"create", "v1", "Namespace", "", "x", {}}};
  const page text = tenant_diff_text(all, colours::none, 80);
  EXPECT_LE(widest(text), 80u) << text.text();
  EXPECT_THAT(text.text(), HasSubstr("  change  Deployment acme/web\n    spec.replicas: 1 → 2\n"));
  EXPECT_THAT(text.text(), HasSubstr("  create  Namespace x\n"));
  EXPECT_THAT(text.text(), HasSubstr("no object would change"));
  EXPECT_EQ(breaks_schema(tenant_diff_document(all)), "");
}

TEST(TenantView, ARetryThatWasNotAskedForSaysSo) {
  const auto rows = fleet()[0].rows;
  const std::vector<tenant_retry> shown = {{rows[1], false, ""}};
  const page text = tenant_retry_text(shown, retried::shown, colours::none, 80);
  EXPECT_LE(widest(text), 80u) << text.text();
  EXPECT_THAT(text.text(), HasSubstr("--yes does it"));
  EXPECT_EQ(breaks_schema(tenant_retry_document(shown, retried::shown)), "");
  const std::vector<tenant_retry> done = {{rows[1], true, ""}, {rows[0], false, "forbidden"}};
  EXPECT_THAT(tenant_retry_text(done, retried::asked_for, colours::none, 80).text(),
              HasSubstr("forbidden"));
  EXPECT_EQ(breaks_schema(tenant_retry_document(done, retried::asked_for)), "");
}

TEST(TenantView, NothingOfWhatAClusterSaysIsObeyedByATerminal) {
  for (const page& p : {tenant_list_text(fleet(), extent::wide, colours::none, any_width),
                        tenant_status_text(fleet(), colours::none, 80),
                        tenant_retry_text({{fleet()[0].rows[1], false, "\x1b]0;x"}},
                                          retried::asked_for, colours::none, 80)})
    EXPECT_EQ(p.text().find('\x1b'), std::string::npos);
}

TEST(TenantArguments, TheApiNeedNotBeNamed) {
  const auto list = parsed({"tenant", "list", "--chart-version", "1.2.0", "-o", "json"});
  ASSERT_TRUE(list) << list.err;
  const auto& a = *list.options<tenant_arguments>();
  EXPECT_EQ(a.fleet.apis, std::vector<std::string>{"tenants"});
  EXPECT_TRUE(a.fleet.apis_named);
  EXPECT_EQ(a.list.output.format, output_format::json);
  EXPECT_EQ(parsed({"tenant", "list", "--apis", "bootc"}).exit_code, 2) << "it is not to choose";
}

TEST(TenantArguments, WhatIsTriedAgainIsNamed) {
  EXPECT_EQ(parsed({"tenant", "retry"}).exit_code, 2);
  EXPECT_EQ(parsed({"tenant", "retry", "acme", "--failed"}).exit_code, 2);
  EXPECT_EQ(parsed({"tenant", "diff"}).exit_code, 2);
  EXPECT_EQ(parsed({"tenant", "frobnicate"}).exit_code, 2);
  const auto failed = parsed({"tenant", "retry", "--failed", "--yes"});
  ASSERT_TRUE(failed) << failed.err;
  const auto& a = *failed.options<tenant_arguments>();
  EXPECT_EQ(a.what, tenant_arguments::command::retry);
  EXPECT_TRUE(a.failed && a.yes && !a.upgrade);
  const auto one = parsed({"tenant", "retry", "default/acme", "--upgrade"});
  ASSERT_TRUE(one) << one.err;
  EXPECT_TRUE(one.options<tenant_arguments>()->upgrade);
}

TEST(TenantArguments, RunMayOnlyPlan) {
  const auto run = parsed({"run", "--plan", "--apis", "tenants"});
  ASSERT_TRUE(run) << run.err;
  EXPECT_TRUE(run.options<run_arguments>()->plan);
}

/// What is wrong with the settings of the APIs that the command line chooses; empty: nothing.
/// `made` are these APIs.
std::string set_up(const std::vector<std::string>& words,
                   const std::map<std::string, std::string>& variables = {},
                   std::vector<setting>* shown = nullptr, std::vector<units::api>* made = nullptr) {
  const auto environment = [&variables](std::string_view name) {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::string() : found->second;
  };
  const std::vector<units::api> known = apis();
  const parse_outcome run =
      app::parse(program(), helm::tenants::as_krypton_spells(words), environment, &known);
  if (!run) return run.err;
  reactor::loop l;
  const reactor::logger log;
  auto chosen = chosen_apis(l, log, run.options<run_arguments>()->fleet, known, environment);
  if (shown) *shown = run.settings();
  if (!chosen) return chosen.error().message();
  if (made) *made = std::move(*chosen);
  return {};
}

TEST(TenantArguments, AreReadWhereTheListOfApisHasThem) {
  const std::map<std::string, std::string> wrong = {{"HELM_DRIVER", "memory"}};
  EXPECT_EQ(set_up({"run", "--apis", "bootc"}, wrong), "");
  EXPECT_EQ(set_up({"run"}, wrong), "") << "all of them, and nobody named it";
  EXPECT_THAT(set_up({"run", "--apis", "bootc,tenants"}, wrong), HasSubstr("HELM_DRIVER"));
  EXPECT_THAT(set_up({"run", "--apis", "bootc", "--apis", "tenants"}, wrong),
              HasSubstr("HELM_DRIVER"));
  EXPECT_EQ(set_up({"run", "--apis", "tenants"}, {{"HELM_DRIVER", "configmap"},
                                                  {"KRYPTON_CHECK_INTERVAL", "x"},
                                                  {"ALLOW_CHART_SKIP", "TRUE"}}),
            "");
}

/// What is wrong with the command line; empty: nothing.
std::string idle_flag(const std::vector<std::string>& words) {
  return parsed(words).err;
}

TEST(TenantArguments, AFlagOfAnApiThatDoesNotRunIsWrongUsage) {
  EXPECT_EQ(idle_flag({"run"}), "");
  EXPECT_THAT(idle_flag({"run", "--chart-repo", "https://c.example.com"}),
              HasSubstr("--chart-repo is a setting of tenants or kryptondeployments, and --apis "
                        "does not name either: add --apis tenants"));
  for (const char* flag :
       {"--chart-name=a", "--chart-version=1", "--chart-values-file=f", "--chart-install-crds",
        "--tenant-drift=heal", "--max-concurrent-per-cluster=1", "--max-concurrent-helm=1",
        "--max-failures=1", "--wave-soak=1s", "--no-self-cluster", "--watch-namespaces=a",
        "--ensure-watch-crds", "--allow-secret-lookup", "--allow-system-namespaces",
        "--notes-namespace=a", "--records-namespace=a", "--region-secret-namespaces=a",
        "--reserved-namespaces=a"}) {
    EXPECT_THAT(idle_flag({"run", flag}), HasSubstr("add --apis ")) << flag;
    EXPECT_THAT(idle_flag({"run", "--apis", "bootc", flag}), HasSubstr("add --apis ")) << flag;
    EXPECT_EQ(idle_flag({"run", "--apis", "tenants,kryptondeployments", flag}), "") << flag;
  }
  EXPECT_THAT(idle_flag({"run", "--apis", "kryptondeployments", "--wave-soak", "1s"}),
              HasSubstr("is a setting of tenants, and --apis does not name it"));
  EXPECT_THAT(idle_flag({"run", "--apis", "tenants", "--ensure-watch-crds"}),
              HasSubstr("add --apis kryptondeployments"));
}

TEST(TenantArguments, TheOriginalsCommandLineIsTakenAsItIs) {
  // As its chart and its README write it.
  const std::vector<std::string> its = {"-namespace=krypton-operator",
                                        "-chart-repo",
                                        "https://charts.jetstack.io",
                                        "-chart-name=cert-manager",
                                        "-chart-version=1.19.1",
                                        "-watch-namespaces=*",
                                        "-ensure-watch-crds=true",
                                        "-watch-kubeconfig-secret=home",
                                        "-zap-devel=true",
                                        "-zap-log-level=debug",
                                        "-zap-time-encoding",
                                        "iso8601"};
  std::vector<std::string> words = {"run", "--compat", "krypton"};
  words.insert(words.end(), its.begin(), its.end());
  const parse_outcome run = parsed(words);
  ASSERT_TRUE(run) << run.err;
  const auto& a = *run.options<run_arguments>();
  EXPECT_EQ(a.fleet.apis, (std::vector<std::string>{"tenants", "kryptondeployments"}));
  EXPECT_TRUE(a.fleet.apis_named);
  EXPECT_EQ(a.fleet.ns, "krypton-operator");
  EXPECT_EQ(a.fleet.home_secret, "home");
  EXPECT_EQ(a.fleet.log_level, "debug");
  std::vector<setting> said;
  EXPECT_EQ(set_up(words, {}, &said), "");
  const auto value_of = [&](std::string_view name) {
    const auto found = std::ranges::find(said, name, &setting::name);
    return found == said.end() ? "absent" : found->value + " (" + found->origin + ")";
  };
  EXPECT_EQ(value_of("chart-install-crds"), "true (compat krypton)");
  EXPECT_EQ(value_of("HELM_MAX_HISTORY"), "0 (compat krypton)");
  EXPECT_EQ(value_of("HELM_REPOSITORY_CONFIG"), "/.config/helm/repositories.yaml (default)");
  words[2] = "helm";
  EXPECT_EQ(parsed(words).exit_code, 2);
  EXPECT_EQ(parsed({"run", "-namespace=a"}).exit_code, 2) << "two dashes without it";
}

TEST(TenantArguments, C6_AValuesFileThatIsNoneEndsTheStart) {
  const reactor::temporary_folder dir;
  const std::string list = dir.write("list.yaml", "- a\n"), good = dir.write("good.yaml", "a: 1\n");
  EXPECT_EQ(set_up({"run", "--apis", "tenants", "--chart-values-file", good}), "");
  EXPECT_THAT(set_up({"run", "--apis", "tenants", "--chart-values-file", good,
                      "--chart-values-file", list}),
              HasSubstr("list.yaml"));
  EXPECT_THAT(set_up({"run", "--apis", "tenants", "--chart-values-file", dir / "none"}),
              HasSubstr("none"));
  EXPECT_THAT(set_up({"run", "--apis", "tenants"}, {{"CHART_VALUES_FILE", list}}),
              HasSubstr("list.yaml"))
      << "the variable wins over the flag";
}

TEST(TenantArguments, HomeIsAClusterUnlessSomebodySaysOtherwise) {
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "--apis", "tenants"});
    std::vector<units::api> made;
    EXPECT_EQ(set_up(words, {}, nullptr, &made), "");
    return made.size() == 1 && made.front().wants_home_in_fleet;
  };
  EXPECT_TRUE(said({}));
  EXPECT_FALSE(said({"--fleet", "secrets"}));
  EXPECT_TRUE(said({"--fleet", "secrets", "--self-cluster"}));
  EXPECT_FALSE(said({"--self-cluster=false"}));
  EXPECT_FALSE(said({"--no-self-cluster"}));
}

}  // namespace
}  // namespace cli
