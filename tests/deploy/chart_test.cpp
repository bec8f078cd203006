// The chart is the one source of every manifest in deploy/: what our engine renders it to, and that
// nothing there is older.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "helm/commands/commands.hpp"
#include "tests/deploy/files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using deploy_files::bytes_of;

const fs::path deploy = fs::path(WINDLASS_SOURCE_DIR) / "deploy";

/// A registry that does not exist; who applies what is made names one instead.
const std::string registry = "registry.example.com";

/// `windlass helm template` of the chart with that registry; what it says on standard error when it
/// fails.
helm::command_result rendered(std::vector<std::string> more) {
  std::vector<std::string> words = {
      "template",       "bootc-operator", (deploy / "chart").string(), "-n",
      "bootc-operator", "--set",          "image.registry=" + registry};
  words.insert(words.end(), more.begin(), more.end());
  return helm::run_command(words);
}

std::string text_of(std::vector<std::string> more) {
  const helm::command_result r = rendered(std::move(more));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return r.out;
}

/// Every file of deploy/ that is made, and what it has to be.
std::map<fs::path, std::string> made_files() {
  const auto from = [](const std::string& what) {
    return "# Made from deploy/chart" + what + " by `./dev render`.\n";
  };
  std::map<fs::path, std::string> made;
  const auto one = [&](const std::string& folder, const std::string& name, const std::string& set) {
    std::vector<std::string> flags = {"--show-only", "templates/" + name + ".yaml"};
    if (!set.empty()) flags.insert(flags.end(), {"--set", set});
    made[fs::path(folder) / (name + ".yaml")] =
        from("/templates/" + name + ".yaml") + text_of(std::move(flags));
  };
  one("base", "namespace", "namespace.create=true");
  for (const char* name : {"controller-rbac", "controller", "service", "poddisruptionbudget",
                           "networkpolicy", "daemon-pull-secrets", "service-limits"})
    one("base", name, "");
  for (const char* name : {"daemon-namespace", "daemon-rbac", "daemon", "daemon-own-node-only"})
    one("daemon", name, "");
  one("components/releases", "releases", "releases.enabled=true");
  one("components/fleetpools", "fleetpools", "fleetPools.enabled=true");
  one("components/fleetcharts", "fleetcharts", "fleetPools.enabled=true,fleetCharts.enabled=true");
  one("components/compose", "compose", "compose.enabled=true");
  one("components/trustee", "trustee", "trustee.enabled=true");
  one("components/tenants", "tenants", "tenants.enabled=true");
  one("components/kryptondeployments", "kryptondeployments", "kryptondeployments.enabled=true");
  one("components/servicemonitor", "servicemonitor", "serviceMonitor.enabled=true");
  made["install.yaml"] = from("") + text_of({"--set", "namespace.create=true"});
  made["member/member.yaml"] =
      from("") + text_of({"--set", "namespace.create=true,controller.enabled=false"});
  // In folders below lie kinds that only who wants them installs.
  for (const auto& crd : fs::directory_iterator(deploy / "crds"))
    if (crd.is_regular_file())
      made[fs::path("chart/files/crds") / crd.path().filename()] = bytes_of(crd.path());
  for (const char* folder : {"trustee", "fleet"})
    for (const auto& crd : fs::directory_iterator(deploy / "crds" / folder))
      made[fs::path("chart/files/crds") / folder / crd.path().filename()] = bytes_of(crd.path());
  for (const char* name : {"alerts.yaml", "dashboard.json"})
    made[fs::path("chart/files") / name] = bytes_of(deploy / "monitoring" / name);
  return made;
}

TEST(Deploy, EveryManifestIsWhatTheChartSaysToday) {
  const bool write = std::getenv("WINDLASS_RENDER") != nullptr;
  // The chart's copies of the kinds come first: install.yaml is made from them.
  for (const bool kinds : {true, false}) {
    for (const auto& [file, text] : made_files()) {
      if (file.string().starts_with("chart/") != kinds) continue;
      if (write) std::ofstream(deploy / file) << text;
      EXPECT_TRUE(bytes_of(deploy / file) == text)
          << "deploy/" << file.string() << " is older than the chart; run `./dev render`";
    }
  }
}

TEST(Deploy, TheKustomizationHasEveryManifestAndNothingElse) {
  for (const char* folder : {"base", "daemon"}) {
    const std::string listed = bytes_of(deploy / folder / "kustomization.yaml");
    for (const auto& file : fs::directory_iterator(deploy / folder)) {
      const std::string name = file.path().filename().string();
      if (name == "kustomization.yaml") continue;
      EXPECT_NE(listed.find("  - " + name + "\n"), std::string::npos) << name;
      EXPECT_TRUE(made_files().contains(fs::path(folder) / name)) << name << " comes from nowhere";
    }
  }
  EXPECT_NE(bytes_of(deploy / "member/kustomization.yaml").find("newTag: " WINDLASS_VERSION "\n"),
            std::string::npos);
  const std::string whole = bytes_of(deploy / "kustomization.yaml");
  for (const auto& file : fs::directory_iterator(deploy / "crds")) {
    if (!file.is_regular_file()) continue;
    EXPECT_NE(whole.find(file.path().filename().string()), std::string::npos) << file.path();
  }
}

TEST(Deploy, WhatIsShippedIsTheVersionThatIsBuilt) {
  const std::string version = WINDLASS_VERSION;
  const std::string chart = bytes_of(deploy / "chart/Chart.yaml");
  EXPECT_NE(chart.find("\nversion: " + version + "\n"), std::string::npos);
  EXPECT_NE(chart.find("\nappVersion: " + version + "\n"), std::string::npos);
  for (const char* folder : {"base", "daemon", "member"})
    EXPECT_NE(bytes_of(deploy / folder / "kustomization.yaml").find("newTag: " + version + "\n"),
              std::string::npos);
  EXPECT_NE(bytes_of(deploy / "install.yaml")
                .find("image: \"" + registry + "/windlass:" + version + "\"\n"),
            std::string::npos);
}

/// The command lines of the containers in a manifest of ours, without the program's name.
std::vector<std::vector<std::string>> command_lines(const std::string& manifest) {
  std::vector<std::vector<std::string>> all;
  std::istringstream in(manifest);
  bool in_args = false;
  for (std::string line; std::getline(in, line);) {
    const std::string text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    const std::string command = "command: [windlass, ";
    if (text.starts_with(command)) {
      all.push_back({text.substr(command.size(), text.size() - command.size() - 1)});
    } else if (text == "command: [windlass-node]") {
      all.push_back({"daemon"});  // its flags
    } else if (text == "args:") {
      in_args = true;
    } else if (in_args && text.starts_with("- ")) {
      all.back().push_back(text.substr(2));
    } else {
      in_args = false;
    }
  }
  return all;
}

TEST(Deploy, TheProgramKnowsEveryArgumentThatItsManifestsGiveIt) {
  const auto lines = command_lines(text_of({}));
  ASSERT_EQ(lines.size(), 2u);
  for (const auto& words : lines) {
    EXPECT_GE(words.size(), 3u);
    const auto parsed = cli::parsed(words);
    EXPECT_TRUE(static_cast<bool>(parsed)) << parsed.err;
  }
}

TEST(Deploy, ValuesReachWhatTheyName) {
  struct row {
    std::vector<std::string> set, there, absent;
  };
  const std::string digest = "sha256:" + std::string(64, 'a');
  const std::vector<row> rows = {
      {{"image.registry=,image.repository=r.example.com/windlass"},
       {"image: \"r.example.com/windlass:0.3.0\""},
       {registry}},
      {{"image.registry=localhost:5000/team"},
       {"image: \"localhost:5000/team/windlass:0.3.0\""},
       {}},
      {{"image.registry=,image.repository=windlass,controller.enabled=false,daemon.enabled=false"},
       {"kind: ClusterRole"},
       {"/windlass:", "kind: DaemonSet"}},
      {{"image.tag=edge"}, {"image: \"registry.example.com/windlass:edge\""}, {}},
      {{"image.tag=edge,image.digest=" + digest},
       {"image: \"registry.example.com/windlass@" + digest + "\""},
       {":edge"}},
      {{"daemon.enabled=false"},
       {"kind: Deployment"},
       {"DaemonSet", "own-node-only", "serviceAccountName: bootc-operator-daemon"}},
      {{"crds.install=false"}, {"kind: Deployment"}, {"CustomResourceDefinition"}},
      {{"fleet.from=self"}, {"- --fleet=self"}, {"-fleet\n"}},
      {{"controller.enabled=false"},
       {"kind: DaemonSet", "name: bootc-operator-controller\n", "resources: [pods/eviction]",
        "resources: [serviceaccounts/token]", "resourceNames: [bootc-operator-controller-manager]"},
       {"kind: Deployment", "kind: Service\n", "PodDisruptionBudget", "leader-election", "-fleet\n",
        "port: metrics", "service-limits"}},
      {{"controller.enabled=false,tenants.enabled=true,serviceLimits.namespaces={kube-system,"
        "argo}"},
       {"name: bootc-operator-service-limits", "\"bootc-operator-daemon\", \"argo\"]'"},
       {"it is no kubeconfig"}},
      {{"pullSecrets={pull,other}"}, {"resourceNames: [\"pull\",\"other\"]"}, {"rules: []"}},
      {{"signals.secrets={login},signals.hosts={http://prom:9090}"},
       {"name: bootc-operator-signal-secrets\n", "resourceNames: [\"login\"]",
        "- --allow-signal-host=http://prom:9090\n"},
       {}},
      {{"controller.enabled=false,signals.secrets={login}"}, {}, {"signal-secrets"}},
      {{"removedApis.gate=true"},
       {"- --gate-removed-apis\n", "name: bootc-operator-removed-apis\n",
        "nonResourceURLs: [/metrics]\n"},
       {}},
      {{"controller.enabled=false,removedApis.gate=true"}, {}, {"removed-apis"}},
      {{"daemon.namespace=nodes,daemon.createNamespace=false"},
       {"kind: DaemonSet\nmetadata:\n  name: bootc-operator-daemon\n  namespace: nodes\n"},
       {"kind: Namespace\n"}},
      {{"networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.a=b"},
       {"            a: b\n"},
       {}},
      {{"networkPolicy.metricsFrom=null"}, {"kind: NetworkPolicy"}, {"port: metrics\n  policy"}},
      {{"fleet.namespace=clusters"}, {"- --namespace=clusters", "  namespace: clusters\n"}, {}},
      {{"podDisruptionBudget.enabled=false,networkPolicy.enabled=false"},
       {"kind: Service\n"},
       {"PodDisruptionBudget", "NetworkPolicy"}},
      {{"releases.enabled=true"},
       {"- --apis=bootc,releases", "name: releases.release.giantswarm.io",
        "resources: [releases/status]", "resourceNames: [windlass-releases]"},
       {}},
      {{"releases.enabled=true,crds.install=false"},
       {"resources: [releases]"},
       {"CustomResourceDefinition"}},
      {{"releases.enabled=true,controller.enabled=false"}, {}, {"giantswarm"}},
      {{"releases.enabled=true,fleet.namespace=clusters"},
       {"name: bootc-operator-release-consent\n  namespace: clusters\n"},
       {}},
      {{"fleetPools.enabled=true"},
       {"- --apis=bootc,fleetpools", "name: fleetpools.fleet.windlass.dev",
        "name: fleetgrants.fleet.windlass.dev", "resources: [fleetpools/status]",
        "resources: [controllerrevisions]"},
       {}},
      {{"fleetPools.enabled=true,crds.install=false"},
       {"resources: [fleetpools]"},
       {"CustomResourceDefinition"}},
      {{"fleetPools.enabled=true,controller.enabled=false"}, {}, {"fleet.windlass.dev"}},
      {{"fleetCharts.enabled=true"},
       {"- --apis=bootc,fleetcharts\n", "name: fleetcharts.fleet.windlass.dev",
        "name: fleetgrants.fleet.windlass.dev", "resources: [fleetcharts/status]",
        "resources: [fleetgrants]", "resources: [controllerrevisions]",
        "name: bootc-operator-fleetchart-values\n  namespace: bootc-operator\n",
        "resources: [configmaps, secrets]", "windlass.dev/fleet-charts: \"true\"",
        "windlass-placed-f, windlass-fleet]", "- --reserved-namespaces=bootc-operator-daemon\n",
        "name: bootc-operator-fleetcharts\n", "name: bootc-operator-service-limits\n"},
       {"name: fleetpools.fleet.windlass.dev", "--chart-repo", "- --notes-namespace"}},
      {{"fleetCharts.enabled=true,fleet.namespace=clusters,fleetCharts.namespaces={team-a,"
        "clusters}"},
       {"name: bootc-operator-fleetchart-values\n  namespace: clusters\n",
        "name: bootc-operator-fleetchart-values\n  namespace: team-a\n"},
       {"name: bootc-operator-fleetchart-values\n  namespace: bootc-operator\n"}},
      {{"fleetCharts.enabled=true,crds.install=false"},
       {"resources: [fleetcharts]"},
       {"CustomResourceDefinition"}},
      {{"fleetCharts.enabled=true,controller.enabled=false,daemon.enabled=false"},
       {"name: bootc-operator-fleetcharts\n", "name: bootc-operator-fleetcharts-contents\n",
        "windlass-placed-f, windlass-fleet]", "name: bootc-operator-service-limits\n"},
       {"fleet.windlass.dev", "controllerrevisions", "fleetchart-values", "kind: Deployment\n"}},
      {{"fleetCharts.enabled=true,fleetPools.enabled=true"},
       {"- --apis=bootc,fleetpools,fleetcharts\n", "name: fleetpools.fleet.windlass.dev",
        "name: fleetcharts.fleet.windlass.dev"},
       {}},
      {{"serviceMonitor.enabled=true"},
       {"kind: ServiceMonitor", "interval: 30s"},
       {"PrometheusRule", "grafana_dashboard"}},
      {{"prometheusRule.enabled=true,prometheusRule.labels.release=stack"},
       {"kind: PrometheusRule", "    release: stack\n", "      - alert: WindlassDown\n",
        "Cluster {{ $labels.cluster }} is {{ $labels.state }}"},
       {"ServiceMonitor"}},
      {{"dashboard.enabled=true,dashboard.labels.grafana_dashboard=yes"},
       {"name: bootc-operator-dashboard", "    grafana_dashboard: \"yes\"\n",
        "  windlass.json: |\n"},
       {"PrometheusRule"}},
      {{"prometheusRule.enabled=true,dashboard.enabled=true,controller.enabled=false"},
       {},
       {"PrometheusRule", "windlass.json"}},
      {{"compose.enabled=true"},
       {"- --apis=bootc,compose", "windlass.dev/compose: \"true\"",
        "name: bootc-operator-compose\n"},
       {}},
      {{"trustee.enabled=true"},
       {"- --apis=bootc,compose", "name: bootc-operator-compose\n",
        "name: bootc-operator-compose-trustee\n", "name: trusteeconfigs.confidentialcontainers.org",
        "name: bootc-operator-trusteeconfig-viewer\n", "name: bootc-operator-kbsconfig-editor\n",
        "fieldPath: metadata.name"},
       {"OPERATOR_IMAGE_NAME"}},
      {{"trustee.enabled=true,crds.install=false"},
       {"name: bootc-operator-compose-trustee\n"},
       {"CustomResourceDefinition"}},
      {{"trustee.enabled=true,controller.enabled=false"},
       {"name: bootc-operator-compose\n", "name: bootc-operator-compose-trustee\n"},
       {"kind: Deployment"}},
      {{"compose.enabled=true,releases.enabled=true"}, {"- --apis=bootc,releases,compose"}, {}},
      {{"tenants.enabled=true,tenants.chart.name=echo-server,tenants.chart.installCRDs=true"},
       {"- --apis=bootc,tenants", "- --chart-name=echo-server", "- --chart-install-crds",
        "windlass.dev/tenants: \"true\"", "resources: [tenants/status]"},
       {}},
      {{"kryptondeployments.enabled=true,kryptondeployments.watchNamespaces=team",
        "tenants.chart.name=echo-server"},
       {"- --apis=bootc,kryptondeployments", "- --chart-name=echo-server", "- --ensure-watch-crds",
        "- --watch-namespaces=team", "resources: [kryptondeployments/status]"},
       {"resources: [tenants/status]"}},
      {{"kryptondeployments.enabled=true,compat=krypton,operator.checkInterval=30s",
        "operator.watchNamespaces=*,discovery.kubeconfigKey=k,chart.version=0.6.0",
        "watchCluster.secretName=home,watchCluster.context=c,watchCluster.secretKey=config"},
       {"- --compat=krypton", "- --chart-repo=https://ealenn.github.io/charts",
        "- --chart-name=echo-server", "- --chart-version=0.6.0", "- --chart-install-crds=false",
        "- --namespace=krypton-operator", "- --watch-kubeconfig-secret=home",
        "- --watch-kubeconfig-secret-key=config", "- --watch-context=c", "- --kubeconfig-key=k",
        "- --watch-namespaces=*", "name: KRYPTON_CHECK_INTERVAL\n              value: \"30s\"",
        "resourceNames: [home]", "- --ensure-watch-crds"},
       {}},
      {{"tenants.enabled=true,chart.name=web,chart.installCRDs=true,discovery.namespace=fleet",
        "installMode.crdsRbacOnly=false,populateArgs=true"},
       {"- --chart-name=web", "- --chart-version=1.19.1", "- --chart-install-crds\n",
        "- --namespace=fleet"},
       {"--compat", "KRYPTON_CHECK_INTERVAL"}},
      {{"kryptondeployments.enabled=true,watchCluster.ensureCrds=false"},
       {"- --chart-name=cert-manager"},
       {"--ensure-watch-crds"}},
      {{"kryptondeployments.enabled=true,controller.enabled=false"}, {}, {"kryptondeployments"}},
      {{"tenants.enabled=true,controller.enabled=false"},
       {"name: bootc-operator-tenants\n"},
       {"kind: Deployment"}},
      {{"compose.enabled=true,controller.enabled=false"},
       {"name: bootc-operator-compose\n"},
       {"kind: Deployment"}},
      {{"name=windlass,daemon.createNamespace=false"},
       {"  name: windlass-daemon\n"},
       {"name: bootc-operator-"}},
      {{"imagePullSecrets[0].name=pull", "podLabels.team=os", "podAnnotations.a=b",
        "commonLabels.c=d"},
       {"- name: pull", "team: os", "a: b", "c: d"},
       {}},
      {{"controller.extraArgs[0]=--policies=/policies"}, {"- \"--policies=/policies\""}, {}},
      {{"controller.policies=rules", "fleet.namespace=clusters"},
       {"- --policies=configmap:rules", "resourceNames: [rules]",
        "-policies\n  namespace: clusters"},
       {}},
  };
  for (const row& r : rows) {
    std::vector<std::string> flags;
    for (const std::string& s : r.set) flags.insert(flags.end(), {"--set", s});
    const std::string text = text_of(flags);
    for (const std::string& t : r.there)
      EXPECT_NE(text.find(t), std::string::npos) << r.set.front() << ": " << t;
    for (const std::string& t : r.absent)
      EXPECT_EQ(text.find(t), std::string::npos) << r.set.front() << ": " << t;
  }
}

TEST(Deploy, ValuesThatMeanNothingAreRefusedWithTheirName) {
  for (const auto& [set, named] : std::map<std::string, std::string>{
           {"daemon.enable=false", "enable"},
           {"daemon.asKubelet=1", "asKubelet"},
           {"pullSecrets=pull", "pullSecrets"},
           {"pullSecrets={Pull}", "pullSecrets"},
           {"daemon.namespace=No_NS", "namespace"},
           {"serviceLimits.namespace=a", "namespace"},
           {"replicas=2", "replicas"},
           {"chart.name=web", "tenants.enabled=true"},
           {"compat=krypton", "kryptondeployments.enabled=true"},
           {"compat=helm", "compat"},
           {"replicaCount=2", "controller.replicas"},
           {"image.registry=", "--set image.registry=registry.example.com"},
           {"image.registry=,image.repository=team/windlass", "image.registry is not set"},
           {"image.registry=,controller.enabled=false", "image.registry is not set"},
           {"image.registry=a b", "registry"},
           {"image.registry=ghcr.io/", "registry"},
           {"image.args[0]=-v", "controller.extraArgs"},
           {"extraEnvs[0].name=A", "controller.extraEnv"},
           {"populateArgs=false", "controller.extraArgs"},
           {"installMode.crdsRbacOnly=true", "controller.enabled=false"},
           {"namespace=krypton", "--namespace"},
           {"operator.interval=1s", "interval"},
           {"image.digest=abc", "digest"},
           {"image.repository=", "repository"},
           {"image.pullPolicy=always", "pullPolicy"},
           {"controller.replicas=-1", "replicas"},
           {"controller.enabled=maybe", "enabled"},
           {"controller.extraArgs[0]=policies", "extraArgs"},
           {"fleet.from=contexts", "from"},
           {"fleet.namespace=My_NS", "namespace"},
           {"logs.level=loud", "level"},
           {"releases.enabled=1", "enabled"},
           {"compose.enabled=yes", "enabled"},
           {"tenants.enabled=on", "enabled"},
           {"fleetCharts.namespaces={Team}", "namespaces"},
           {"tenants.chart.repo=charts", "repo"},
           {"serviceMonitor.interval=often", "interval"},
           {"prometheusRule.interval=30s", "interval"},
           {"dashboard.labels=grafana", "labels"},
           {"name=Upper", "name"}}) {
    const helm::command_result r = rendered({"--set", set});
    EXPECT_NE(r.exit_code, 0) << set;
    EXPECT_NE(r.err.find(named), std::string::npos) << set << ": " << r.err;
  }
}

TEST(Deploy, TheChartHasNothingToComplainAbout) {
  const std::vector<std::string> words = {"lint", "--strict", (deploy / "chart").string()};
  const helm::command_result r = helm::run_command(words);
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

}  // namespace
