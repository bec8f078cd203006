#include "cli/commands.hpp"
#include "cli/helm/helm_sources.hpp"
#include "cli/output.hpp"
#include "helm/commands/commands.hpp"
#include "helm/commands/release_command_line.hpp"
#include "helm/commands/source_commands.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace cli {
namespace {

/// The Helm whose output, records and exit codes ours are.
constexpr std::string_view helm_version = "v3.21.4";

struct usage {
  std::string_view name, takes, about, others = {};
};
constexpr std::array<usage, 21> usages{{
    {"template", "[NAME] CHART", "renders a chart"},
    {"show", "all|chart|values|readme|crds CHART", "what is in a chart", "inspect"},
    {"lint", "PATH…",
     "looks for what is wrong with charts; --fleet for what differs from run to run"},
    {"install", "[NAME] CHART", "installs a chart as a release"},
    {"upgrade", "RELEASE CHART", "brings a release to a chart; --install makes it"},
    {"rollback", "RELEASE [REVISION]", "brings a release back to a revision"},
    {"uninstall", "RELEASE…", "takes releases away", "delete del un"},
    {"test", "RELEASE", "runs a release's tests"},
    {"list", "", "the releases of a namespace", "ls"},
    {"status", "RELEASE", "how a release is"},
    {"history", "RELEASE", "the revisions of a release", "hist"},
    {"get", "all|hooks|manifest|metadata|notes|values RELEASE", "what a release was made of"},
    {"repo", "add|list|update|remove|index …", "chart repositories, in the files that helm uses"},
    {"registry", "login|logout HOST", "logins of OCI registries"},
    {"pull", "CHART…", "gets an archive from a repository or registry", "fetch"},
    {"push", "ARCHIVE REMOTE", "brings an archive to a registry"},
    {"package", "PATH…", "makes an archive of a chart folder"},
    {"dependency", "list|update|build CHART", "what a chart's charts/ folder holds",
     "dep dependencies"},
    {"search", "repo [WORD]", "charts in the repositories that were added"},
    {"verify", "ARCHIVE, or CHART -f VALUES",
     "checks a signature, or renders with the helm on PATH as well and compares"},
    {"version", "[--short]", "the Helm that this program does as"},
}};

const usage* usage_of(std::string_view name) {
  for (const usage& u : usages) {
    if (u.name == name) return &u;
    for (std::string_view rest = u.others; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == name) return &u;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return nullptr;
}

/// Flags before the command, as Helm takes them, behind it.
std::vector<std::string> command_first(const std::vector<std::string>& arguments) {
  static constexpr std::array<std::string_view, 15> with_value{"-n",
                                                               "--namespace",
                                                               "--kubeconfig",
                                                               "--kube-context",
                                                               "--kube-token",
                                                               "--kube-apiserver",
                                                               "--kube-ca-file",
                                                               "--kube-tls-server-name",
                                                               "--qps",
                                                               "--burst-limit",
                                                               "--kube-as-user",
                                                               "--kube-as-group",
                                                               "--registry-config",
                                                               "--repository-cache",
                                                               "--repository-config"};
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-') && arguments[at].size() > 1)
    at += std::ranges::find(with_value, arguments[at]) != with_value.end() ? 2 : 1;
  if (at == 0 || at >= arguments.size()) return arguments;
  std::vector<std::string> out(arguments.begin() + static_cast<std::ptrdiff_t>(at),
                               arguments.end());
  // Behind the words that name the command: some have two.
  static constexpr std::array<std::string_view, 9> groups{
      "repo", "registry", "dependency", "dep", "dependencies", "search", "show", "inspect", "get"};
  const bool grouped = out.size() > 1 && std::ranges::find(groups, out[0]) != groups.end();
  out.insert(out.begin() + (grouped ? 2 : 1), arguments.begin(),
             arguments.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}

/// `help COMMAND`, `COMMAND --help`: the command; empty when nobody asked.
std::string asks_for_help(const std::vector<std::string>& arguments) {
  if (arguments.front() == "help") return arguments.size() > 1 ? arguments[1] : "help";
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") return arguments.front();
  }
  return {};
}

int show_usage(const usage& u) {
  std::string text = "windlass helm " + std::string(u.name) + ": " + std::string(u.about) +
                     "\nUsage: windlass helm " + std::string(u.name) +
                     (u.takes.empty() ? "" : " " + std::string(u.takes)) + " [flags]\n";
  if (!u.others.empty()) text += "Also called: " + std::string(u.others) + "\n";
  text += "\nThe flags are those of Helm " + std::string(helm_version) +
          ", https://helm.sh/docs/helm/helm_" + std::string(u.name) +
          "\nOne that is not supported here is named when it is used, with exit code 2.\n";
  return write_bytes(STDOUT_FILENO, text) ? success : failure;
}

int show_version(const std::vector<std::string>& arguments) {
  const bool brief = std::ranges::find(arguments, "--short") != arguments.end();
  const std::string version(helm_version);
  return write_bytes(STDOUT_FILENO, brief ? version + "\n"
                                          : "version.BuildInfo{Version:\"" + version +
                                                "\", GitCommit:\"\", GitTreeState:\"clean\", "
                                                "GoVersion:\"none: windlass " WINDLASS_VERSION
                                                "\"}\n")
             ? success
             : failure;
}

}  // namespace

int helm_command(const std::vector<std::string>& given) {
  const std::vector<std::string> arguments = command_first(given);
  const std::string helped = arguments.empty() ? std::string() : asks_for_help(arguments);
  if (const usage* u = helped.empty() ? nullptr : usage_of(helped)) return show_usage(*u);
  if (!helped.empty() && helped != "help" && !helped.starts_with('-'))
    return complain("helm: there is no command \"" + helped + "\"; `windlass helm help` lists them",
                    wrong_usage);
  if (!arguments.empty() && arguments.front() == "version") return show_version(arguments);
  if (arguments.empty() || !helped.empty()) {
    write_bytes(
        STDOUT_FILENO,
        "Render, check, install, fetch and publish Helm charts as Helm v3.21.4 does.\n"
        "Usage: windlass helm COMMAND ARGUMENTS\n\n"
        "  template, show, lint                charts by path, URL, repository or registry\n"
        "  install, upgrade, rollback,         releases on a cluster (--kubeconfig, "
        "--kube-context,\n"
        "  uninstall, test                     --namespace); the records are Helm's own\n"
        "  list, status, history, get          what is installed there\n"
        "  version, help COMMAND               the Helm that this does as; what a command takes\n" +
            std::string(helm::sources::source_commands_help()) +
            "\n"
            "Examples:\n"
            "  windlass helm template NAME cert-manager.tgz -f values.yaml\n"
            "  windlass helm show values ./chart\n"
            "  windlass helm lint ./chart\n"
            "  windlass helm upgrade --install web ./chart --atomic -n shops\n"
            "  windlass helm verify ./chart -f values.yaml\n");
    return arguments.empty() ? wrong_usage : success;
  }
  reactor::loop loop;  // the one of every helm command
  if (helm::release::is_release_command(arguments.front()))
    return helm_release_command(loop, arguments);
  reactor::system_entropy chance;
  helm::surroundings around;
  around.now = [&] {
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(loop.wall());
  };
  around.steady = [&] { return loop.now().time_since_epoch(); };
  around.random = [&](std::span<unsigned char> bytes) { chance.fill(bytes); };
  const helm::command_result r = helm::sources::is_source_command(arguments.front())
                                     ? run_source_command(loop, arguments, around)
                                     : helm::run_command(arguments, around, chart_locator(loop));
  const bool written = write_bytes(STDOUT_FILENO, r.out) && write_bytes(STDERR_FILENO, r.err);
  return written ? r.exit_code : failure;
}

}  // namespace cli
