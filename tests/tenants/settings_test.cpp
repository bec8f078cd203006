#include "helm/tenants/desired/settings.hpp"

#include <gtest/gtest.h>

#include <map>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;

struct process {
  std::map<std::string, std::string> variables;
  given_settings given;

  outcome<read_settings_result> read() {
    given.environment = [this](std::string_view name) {
      const auto found = variables.find(std::string(name));
      return found == variables.end() ? std::string() : found->second;
    };
    return read_settings(given);
  }
  std::string effective(std::string_view name) {
    const auto r = read();
    if (!r) return r.error().text;
    for (const auto& e : r->effective)
      if (e.name == name) return e.value + " (" + e.origin + ")";
    return "absent";
  }
  std::string problem() {
    const auto r = read();
    return r ? std::string() : r.error().text;
  }
};

TEST(TenantSettings, C1_WithoutAnythingTheDefaultsAreShown) {
  process p;
  const auto r = p.read();
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(
      r->line(),
      "chart-repo=https://charts.jetstack.io (default), chart-name=cert-manager (default), "
      "chart-version=1.19.1 (default), chart-values-file= (default), chart-install-crds=false "
      "(default), namespace=default (default), "
      "kubeconfig-label=sigs.k8s.io/multicluster-runtime-kubeconfig (default), "
      "kubeconfig-key=kubeconfig (default), watch-kubeconfig= (default), watch-context= (default), "
      "ensure-watch-crds=false (default), watch-kubeconfig-secret= (default), "
      "watch-kubeconfig-secret-namespace=default (default), "
      "watch-kubeconfig-secret-key=kubeconfig (default), watch-namespaces= (default), kubeconfig= "
      "(default), metrics-bind-address=:8080 (default), health-probe-bind-address=:8081 (default), "
      "leader-elect=false (default), apis=tenants,kryptondeployments (default), self-cluster=true "
      "(default), tenant-drift=report (default), allow-exec-auth=false (default), "
      "allow-secret-lookup=false (default), allow-system-namespaces=false (default), "
      "notes-namespace=bootc-operator (default), records-namespace= (default), "
      "region-secret-namespaces= (default), "
      "max-concurrent-per-cluster=4 (default), max-concurrent-helm=16 (default), max-failures=0 "
      "(default), wave-soak=0s (default), log-level=info (default), log-format=console (default), "
      "ALLOW_CHART_SKIP= (default), "
      "KRYPTON_CHECK_INTERVAL=60s (default), HELM_DRIVER= (default), HELM_MAX_HISTORY=10 "
      "(default), "
      "HELM_REPOSITORY_CONFIG=/.config/helm/repositories.yaml (default), "
      "HELM_REPOSITORY_CACHE=/.cache/helm/repository (default), "
      "HELM_REGISTRY_CONFIG=/.config/helm/registry.json (default)");
  settings standard;
  standard.chart = {"https://charts.jetstack.io", "cert-manager", "1.19.1"};
  standard.ns = standard.home_secret_ns = "default";
  standard.kubeconfig_label = "sigs.k8s.io/multicluster-runtime-kubeconfig";
  standard.kubeconfig_key = standard.home_secret_key = "kubeconfig";
  standard.unlike_krypton = r->all.unlike_krypton;
  EXPECT_EQ(r->all, standard);
}

TEST(TenantSettings, WithCompatTheDefaultsAreThoseOfTheOriginalAndWhatIsSaidCounts) {
  process p;
  EXPECT_EQ(p.read()->all.unlike_krypton.size(), krypton_defaults().size());
  p.given.like = compat::krypton;
  EXPECT_EQ(p.effective("chart-install-crds"), "true (compat krypton)");
  EXPECT_EQ(p.effective("HELM_MAX_HISTORY"), "0 (compat krypton)");
  EXPECT_TRUE(p.read()->all.install_crds);
  EXPECT_FALSE(p.read()->all.install_crds_in_regions) << "it gives it to Tenants alone";
  EXPECT_EQ(p.effective("chart-name"), "cert-manager (default)");
  EXPECT_EQ(p.read()->all.unlike_krypton, std::vector<std::string>());
  p.given.flags["chart-install-crds"] = {"false"};
  p.variables["HELM_MAX_HISTORY"] = "5";
  EXPECT_EQ(p.effective("chart-install-crds"), "false (flag)");
  EXPECT_EQ(p.read()->all.max_history, 5);
  EXPECT_EQ(p.read()->all.unlike_krypton, std::vector<std::string>());
}

TEST(TenantSettings, C2_AVariableWinsOverItsFlag) {
  for (const setting_kind& kind : setting_kinds()) {
    if (kind.flag.empty() || kind.environment[0].empty()) continue;
    process p;
    p.given.file[std::string(kind.flag)] = {"of-the-file"};
    EXPECT_EQ(p.effective(kind.flag), "of-the-file (file)");
    p.given.flags[std::string(kind.flag)] = {"of-the-flag"};
    EXPECT_EQ(p.effective(kind.flag), "of-the-flag (flag)");
    p.variables[std::string(kind.environment[0])] = "of-the-variable";
    EXPECT_EQ(p.effective(kind.flag),
              "of-the-variable (env " + std::string(kind.environment[0]) + ")");
  }
}

TEST(TenantSettings, C2_TheNamespaceOfThePodBeatsNoFlag) {
  process p;
  p.given.service_account_ns = " of-the-account\n";
  EXPECT_EQ(p.effective("namespace"), "of-the-account (service account)");
  p.variables["POD_NAMESPACE"] = "b";
  EXPECT_EQ(p.effective("namespace"), "b (env POD_NAMESPACE)");
  p.given.flags["namespace"] = {"a"};
  EXPECT_EQ(p.effective("namespace"), "a (flag)");
  EXPECT_EQ(p.effective("watch-kubeconfig-secret-namespace"), "a (default)");
  p.variables["WATCH_NAMESPACE"] = "w";
  EXPECT_EQ(p.effective("namespace"), "w (env WATCH_NAMESPACE)");
}

TEST(TenantSettings, C5_TheFirstOfTwoVariablesCounts) {
  process p;
  p.variables["WATCH_CLUSTER_KUBECONFIG"] = "/second";
  EXPECT_EQ(p.effective("watch-kubeconfig"), "/second (env WATCH_CLUSTER_KUBECONFIG)");
  p.variables["WATCH_KUBECONFIG"] = "/first";
  EXPECT_EQ(p.effective("watch-kubeconfig"), "/first (env WATCH_KUBECONFIG)");
}

TEST(TenantSettings, EnsureWatchCrdsIsOnlySwitchedOn) {
  process p;
  for (const char* on : {"true", "1", "yes"}) {
    p.variables["ENSURE_WATCH_CRDS"] = on;
    EXPECT_EQ(p.effective("ensure-watch-crds"), "true (env ENSURE_WATCH_CRDS)");
  }
  p.given.flags["ensure-watch-crds"] = {"true"};
  for (const char* other : {"false", "TRUE", "0", "on"}) {
    p.variables["ENSURE_WATCH_CRDS"] = other;
    EXPECT_EQ(p.effective("ensure-watch-crds"), "true (flag)") << other;
  }
}

TEST(TenantSettings, X4_OnlyTheExactTextAllowsToSkipAChart) {
  process p;
  for (const char* text : {"TRUE", "1", "yes", "True", " true", ""}) {
    p.variables["ALLOW_CHART_SKIP"] = text;
    EXPECT_EQ(p.read()->all.skip, chart_skip::forbidden) << text;
  }
  p.variables["ALLOW_CHART_SKIP"] = "true";
  EXPECT_EQ(p.read()->all.skip, chart_skip::allowed);
}

TEST(TenantSettings, K12_TheCheckIntervalIsADurationOrSecondsElseAMinute) {
  EXPECT_EQ(read_check_interval("10s"), 10s);
  EXPECT_EQ(read_check_interval("30"), 30s);
  EXPECT_EQ(read_check_interval("1m30s"), 90s);
  for (const char* wrong :
       {"-1", "x", "", "0", "0s", "-5s", "99999999999999999999", "9e9", "9223372036854775807"})
    EXPECT_EQ(read_check_interval(wrong), 60s) << wrong;
  process p;
  p.variables["KRYPTON_CHECK_INTERVAL"] = "30";
  EXPECT_EQ(p.effective("KRYPTON_CHECK_INTERVAL"), "30 (env KRYPTON_CHECK_INTERVAL)");
  p.variables["KRYPTON_CHECK_INTERVAL"] = "-1";
  p.variables["HELM_MAX_HISTORY"] = "many";
  EXPECT_EQ(p.effective("KRYPTON_CHECK_INTERVAL"),
            "60s (default, for KRYPTON_CHECK_INTERVAL=-1 counts for nothing)");
  EXPECT_EQ(p.effective("HELM_MAX_HISTORY"),
            "10 (default, for HELM_MAX_HISTORY=many counts for nothing)");
}

TEST(TenantSettings, ADriverThatStockHelmCannotReadEndsTheStart) {
  process p;
  for (const char* text : {"", "secret", "secrets"}) {
    p.variables["HELM_DRIVER"] = text;
    EXPECT_EQ(p.read()->all.driver, record_driver::secrets);
  }
  for (const char* text : {"configmap", "configmaps"}) {
    p.variables["HELM_DRIVER"] = text;
    EXPECT_EQ(p.read()->all.driver, record_driver::config_maps);
  }
  p.variables["HELM_DRIVER"] = "sql";
  EXPECT_EQ(
      p.problem(),
      "HELM_DRIVER: must be secret or configmap, where stock Helm reads releases, is \"sql\"");
}

TEST(TenantSettings, C3_AWrongValueIsNamedWithWhoSaidIt) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"tenant-drift", "maybe", "--tenant-drift: must be one of off report heal, is \"maybe\""},
      {"self-cluster", "yes", "--self-cluster: must be true or false, is \"yes\""},
      {"max-concurrent-helm", "0",
       "--max-concurrent-helm: must be a whole number from 1 to 10000, is \"0\""},
      {"log-format", "xml", "--log-format: must be one of console json, is \"xml\""},
      {"max-failures", "-1", "--max-failures: must be a number, or a share such as 10%, is \"-1\""},
      {"max-failures", "101%",
       "--max-failures: must be a number, or a share such as 10%, is \"101%\""},
      {"max-failures", "few",
       "--max-failures: must be a number, or a share such as 10%, is \"few\""},
      {"wave-soak", "soon",
       "--wave-soak: must be a duration such as 30m, a year at most, is \"soon\""},
      {"wave-soak", "-5m",
       "--wave-soak: must be a duration such as 30m, a year at most, is \"-5m\""},
  };
  for (const auto& [flag, text, said] : rows) {
    process p;
    p.given.flags[flag] = {text};
    EXPECT_EQ(p.problem(), said);
  }
}

TEST(TenantSettings, V1_WavesAreToldByFlags) {
  process p;
  p.given.flags["max-failures"] = {"10%"};
  p.given.flags["wave-soak"] = {"1h30m"};
  EXPECT_EQ(p.read()->all.max_failures, "10%");
  EXPECT_EQ(p.read()->all.wave_soak, 90min);
  p.given.flags["wave-soak"] = {"0"};
  EXPECT_EQ(p.read()->all.wave_soak, 0s);
}

TEST(TenantSettings, K11_NamespacesAreAListAndAStarIsAll) {
  process p;
  p.variables["WATCH_NAMESPACES"] = " a, b ,,c,a";
  EXPECT_EQ(p.read()->all.watch_namespaces, (std::vector<std::string>{"a", "b", "c"}));
  p.variables["WATCH_NAMESPACES"] = "*";
  EXPECT_TRUE(p.read()->all.watch_namespaces.empty());
}

TEST(TenantSettings, ValuesFilesAreARepeatableFlagOrOneVariable) {
  process p;
  p.given.flags["chart-values-file"] = {"a.yaml", "b.yaml"};
  EXPECT_EQ(p.read()->all.values_files, (std::vector<std::string>{"a.yaml", "b.yaml"}));
  p.variables["CHART_VALUES_FILE"] = "c.yaml";
  EXPECT_EQ(p.read()->all.values_files, (std::vector<std::string>{"c.yaml"}));
}

TEST(TenantSettings, NoCredentialOfAnAddressIsShown) {
  process p;
  p.given.flags["chart-repo"] = {"https://user:hunter2secret@charts.example/x"};
  const auto r = p.read();
  ASSERT_TRUE(r);
  EXPECT_EQ(r->line().find("hunter2secret"), std::string::npos) << r->line();
  EXPECT_EQ(r->all.chart.repo, "https://user:hunter2secret@charts.example/x");
}

TEST(TenantSettings, HistoryIsBoundedUnlessANumberSaysOtherwise) {
  process p;
  EXPECT_EQ(p.read()->all.max_history, 10);
  for (const auto& [text, n] : {std::pair("0", 0), {"3", 3}, {"-1", 10}, {"many", 10}}) {
    p.variables["HELM_MAX_HISTORY"] = text;
    EXPECT_EQ(p.read()->all.max_history, n) << text;
  }
}

}  // namespace
}  // namespace helm::tenants
