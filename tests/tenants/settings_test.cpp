// The settings of Tenants and KryptonDeployments as a command line and an environment say them.
#include "helm/tenants/desired/settings.hpp"

#include "app/api/api.hpp"
#include "app/command.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// The options of a command that both APIs declare their settings for.
struct two_apis {
  std::vector<std::string> names = {"tenants", "kryptondeployments"};
  bool named = true;
  std::shared_ptr<told_settings> told;
};

/// A command line and an environment, and what the settings are by them.
struct process {
  std::vector<std::string> flags;
  std::map<std::string, std::string> variables;

  struct answer {
    app::parse_outcome line;
    outcome<settings> all = problem{};
  };
  answer read() const {
    static const std::vector<units::api> none;
    const app::program p{"windlass",
                         "",
                         "",
                         {app::command_of<two_apis>(
                             "run", "",
                             [](app::flags& f, two_apis& to) {
                               f.choice_of_apis(to.names, to.named);
                               to.told = declare_settings(f);
                               declare_settings_of_regions(f, *to.told);
                               f.config();
                             },
                             [](const two_apis&, const app::invocation&) { return 0; })}};
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), flags.begin(), flags.end());
    answer out;
    out.line = app::parse(
        p, words,
        [this](std::string_view name) {
          const auto found = variables.find(std::string(name));
          return found == variables.end() ? std::string() : found->second;
        },
        &none);
    const auto* options = out.line.options<two_apis>();
    out.all = options ? settings_from(*options->told) : outcome<settings>(problem{out.line.err});
    return out;
  }
  settings all() const {
    const answer a = read();
    EXPECT_TRUE(a.all) << (a.all ? "" : a.all.error().text);
    return a.all ? *a.all : settings();
  }
  std::string effective(std::string_view name) const {
    const answer a = read();
    if (!a.all) return a.all.error().text;
    for (const app::setting& s : a.line.settings())
      if (s.name == name) return s.value + " (" + s.origin + ")";
    return "absent";
  }
  std::string problem_text() const {
    const answer a = read();
    return a.all ? std::string() : a.all.error().text;
  }
};

TEST(TenantSettings, C1_WithoutAnythingTheDefaultsAreShown) {
  const process::answer a = process().read();
  ASSERT_TRUE(a.all) << a.all.error().text;
  std::string line;
  for (const app::setting& s : a.line.settings()) line += s.name + "=" + s.value + " ";
  EXPECT_EQ(line,
            "compat= chart-repo=https://charts.jetstack.io chart-name=cert-manager "
            "chart-version=1.19.1 chart-values-file= tenant-drift=report "
            "max-concurrent-per-cluster=4 max-concurrent-helm=16 max-failures=0 wave-soak=0s "
            "chart-install-crds=false self-cluster= allow-secret-lookup=false "
            "allow-system-namespaces=false notes-namespace=bootc-operator records-namespace= "
            "reserved-namespaces= region-secret-namespaces= watch-namespaces= "
            "ensure-watch-crds=false config= "
            "ALLOW_CHART_SKIP= KRYPTON_CHECK_INTERVAL=60s HELM_DRIVER= HELM_MAX_HISTORY=10 "
            "HELM_REPOSITORY_CONFIG= HELM_REPOSITORY_CACHE= HELM_REGISTRY_CONFIG= ");
  EXPECT_EQ(*a.all, default_settings());
  EXPECT_EQ(a.all->chart.text(),
            chart_coordinates({"https://charts.jetstack.io", "cert-manager", "1.19.1"}).text());
}

TEST(TenantSettings, WithCompatTheDefaultsAreThoseOfTheOriginalAndWhatIsSaidCounts) {
  process p;
  EXPECT_EQ(p.all().unlike_krypton.size(), krypton_defaults().size());
  p.flags = {"--compat", "krypton"};
  EXPECT_EQ(p.effective("chart-install-crds"), "true (compat krypton)");
  EXPECT_EQ(p.effective("HELM_MAX_HISTORY"), "0 (compat krypton)");
  EXPECT_TRUE(p.all().install_crds);
  EXPECT_FALSE(p.all().install_crds_in_regions) << "it gives it to Tenants alone";
  EXPECT_EQ(p.effective("chart-name"), "cert-manager (default)");
  EXPECT_EQ(p.all().unlike_krypton, std::vector<std::string>());
  p.flags.push_back("--chart-install-crds=false");
  p.variables["HELM_MAX_HISTORY"] = "5";
  EXPECT_EQ(p.effective("chart-install-crds"), "false (flag)");
  EXPECT_EQ(p.all().max_history, 5);
  EXPECT_EQ(p.all().unlike_krypton, std::vector<std::string>());
}

TEST(TenantSettings, C2_AVariableWinsOverItsFlagAndAFlagOverTheFile) {
  const reactor::temporary_folder dir;
  const std::string file =
      dir.write("settings.yaml", "watch-namespaces: of-the-file\nchart-values-file: [a.yaml]\n");
  for (const auto& [flag, variable] : {std::pair("watch-namespaces", "WATCH_NAMESPACES"),
                                       {"chart-values-file", "CHART_VALUES_FILE"}}) {
    process p;
    p.flags = {"--config", file};
    EXPECT_THAT(p.effective(flag), EndsWith("(file " + file + ")"));
    p.flags.push_back("--" + std::string(flag) + "=of-the-flag");
    EXPECT_EQ(p.effective(flag), "of-the-flag (flag)");
    p.variables[variable] = "of-the-variable";
    EXPECT_EQ(p.effective(flag), "of-the-variable (env " + std::string(variable) + ")");
  }
}

TEST(TenantSettings, EnsureWatchCrdsIsOnlySwitchedOn) {
  process p;
  for (const char* on : {"true", "1", "yes"}) {
    p.variables["ENSURE_WATCH_CRDS"] = on;
    EXPECT_EQ(p.effective("ensure-watch-crds"), "true (env ENSURE_WATCH_CRDS)");
  }
  p.flags = {"--ensure-watch-crds"};
  for (const char* other : {"false", "TRUE", "0", "on"}) {
    p.variables["ENSURE_WATCH_CRDS"] = other;
    EXPECT_EQ(p.effective("ensure-watch-crds"), "true (flag)") << other;
  }
}

TEST(TenantSettings, X4_OnlyTheExactTextAllowsToSkipAChart) {
  process p;
  for (const char* text : {"TRUE", "1", "yes", "True", " true", ""}) {
    p.variables["ALLOW_CHART_SKIP"] = text;
    EXPECT_EQ(p.all().skip, chart_skip::forbidden) << text;
  }
  p.variables["ALLOW_CHART_SKIP"] = "true";
  EXPECT_EQ(p.all().skip, chart_skip::allowed);
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
    EXPECT_EQ(p.all().driver, record_driver::secrets);
  }
  for (const char* text : {"configmap", "configmaps"}) {
    p.variables["HELM_DRIVER"] = text;
    EXPECT_EQ(p.all().driver, record_driver::config_maps);
  }
  p.variables["HELM_DRIVER"] = "sql";
  EXPECT_EQ(
      p.problem_text(),
      "HELM_DRIVER: must be secret or configmap, where stock Helm reads releases, is \"sql\"");
}

TEST(TenantSettings, C3_AWrongValueIsNamedWithWhoSaidIt) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"tenant-drift", "maybe", "--tenant-drift: maybe not in {off,report,heal}"},
      {"self-cluster", "perhaps", "--self-cluster"},
      {"max-concurrent-helm", "0", "--max-concurrent-helm: Value 0 not in range"},
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
    p.flags = {"--" + std::string(flag) + "=" + text};
    EXPECT_THAT(p.problem_text(), HasSubstr(said));
  }
}

TEST(TenantSettings, V1_WavesAreToldByFlags) {
  process p;
  p.flags = {"--max-failures", "10%", "--wave-soak", "1h30m"};
  EXPECT_EQ(p.all().max_failures, "10%");
  EXPECT_EQ(p.all().wave_soak, 90min);
  p.flags = {"--wave-soak", "0"};
  EXPECT_EQ(p.all().wave_soak, 0s);
}

TEST(TenantSettings, K11_NamespacesAreAListAndAStarIsAll) {
  process p;
  p.variables["WATCH_NAMESPACES"] = " a, b ,,c,a";
  EXPECT_EQ(p.all().watch_namespaces, (std::vector<std::string>{"a", "b", "c"}));
  p.variables["WATCH_NAMESPACES"] = "*";
  EXPECT_TRUE(p.all().watch_namespaces.empty());
}

TEST(TenantSettings, ValuesFilesAreARepeatableFlagOrOneVariable) {
  process p;
  p.flags = {"--chart-values-file", "a.yaml", "--chart-values-file", "b.yaml"};
  EXPECT_EQ(p.all().values_files, (std::vector<std::string>{"a.yaml", "b.yaml"}));
  p.flags = {"--chart-values-file", "a,b.yaml"};
  EXPECT_EQ(p.all().values_files, std::vector<std::string>{"a,b.yaml"}) << "one file";
  p.variables["CHART_VALUES_FILE"] = "c,d.yaml";
  EXPECT_EQ(p.all().values_files, std::vector<std::string>{"c,d.yaml"});
}

TEST(TenantSettings, OfAFlagThatIsGivenAgainTheLastOneCounts) {
  process p;
  p.flags = {"--chart-name",          "a", "--chart-name",          "b",
             "--max-concurrent-helm", "2", "--max-concurrent-helm", "3"};
  EXPECT_EQ(p.all().chart.name, "b");
  EXPECT_EQ(p.all().in_all, 3u);
}

TEST(TenantSettings, NoCredentialOfAnAddressIsShown) {
  process p;
  p.flags = {"--chart-repo", "https://user:hunter2secret@charts.example/x"};
  EXPECT_EQ(p.effective("chart-repo").find("hunter2secret"), std::string::npos);
  EXPECT_EQ(p.all().chart.repo, "https://user:hunter2secret@charts.example/x");
}

TEST(TenantSettings, HistoryIsBoundedUnlessANumberSaysOtherwise) {
  process p;
  EXPECT_EQ(p.all().max_history, 10);
  for (const auto& [text, n] : {std::pair("0", 0), {"3", 3}, {"-1", 10}, {"many", 10}}) {
    p.variables["HELM_MAX_HISTORY"] = text;
    EXPECT_EQ(p.all().max_history, n) << text;
  }
}

}  // namespace
}  // namespace helm::tenants
