#include "helm/commands/about_commands.hpp"

#include "helm/commands/flags/chart_flags.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/help.hpp"
#include "helm/render/text_template.hpp"

namespace helm {
namespace {

void take_common_flags(command_flags& f) {
  auto unread = std::make_shared<chart_flags>();
  ignore_cluster_flags(f);
  add_place_flags(f, *unread);
  f.hold(std::move(unread));
}

std::string either(std::string first, std::string second) {
  return first.empty() ? std::move(second) : std::move(first);
}

std::string flag_word(bool on) {
  return on ? "true" : "false";
}

}  // namespace

command_result version_of_helm(std::span<const std::string> arguments,
                               const std::string& program_version) {
  bool brief = false;
  std::string form;
  command_flags f;
  take_common_flags(f);
  f.flag("short", 0, brief);
  f.about("the version alone");
  f.text("template", 0, form);
  f.ignored({"client"});
  auto rest = f.parse(arguments.subspan(1));
  if (!rest) return usage_end(rest.error());
  if (!rest->empty())
    return usage_end(
        problem{"\"helm version\" accepts no arguments\n\nUsage:  helm version [flags]"});
  const std::string version(stock_version);
  if (!form.empty()) {
    auto text =
        print_template(form, value::map_type{{"Version", version},
                                             {"GitCommit", ""},
                                             {"GitTreeState", "clean"},
                                             {"GoVersion", "none: windlass " + program_version}});
    if (!text) return usage_end(text.error());
    return {*text, "", 0};
  }
  if (brief) return {version + "\n", "", 0};
  return {"version.BuildInfo{Version:\"" + version +
              "\", GitCommit:\"\", GitTreeState:\"clean\", GoVersion:\"none: windlass " +
              program_version + "\"}\n",
          "", 0};
}

command_result env_command(std::span<const std::string> arguments, const variables& of,
                           const sources::settings& where, const std::string& program,
                           const std::string& ns) {
  cluster_flags cluster = cluster_flags_from(of);
  chart_flags places;
  command_flags f;
  add_cluster_flags(f, cluster);
  add_place_flags(f, places);
  auto rest = f.parse(arguments.subspan(1));
  if (!rest) return usage_end(rest.error());
  if (rest->size() > 1)
    return usage_end(
        problem{"\"helm env\" accepts at most 1 argument\n\nUsage:  helm env [flags]"});
  const auto home = [&](const char* helms, const char* xdg, const char* below) {
    if (auto s = of(helms); !s.empty()) return s;
    if (auto s = of(xdg); !s.empty()) return s + "/helm";
    return of("HOME") + below + "/helm";
  };
  const std::string data = home("HELM_DATA_HOME", "XDG_DATA_HOME", "/.local/share");
  const auto path = [](const std::string& given, const std::string& found) {
    return given.empty() ? found : given;
  };
  const std::pair<const char*, std::string> all[] = {
      {"HELM_BIN", program},
      {"HELM_BURST_LIMIT", either(of("HELM_BURST_LIMIT"), "100")},
      {"HELM_CACHE_HOME", home("HELM_CACHE_HOME", "XDG_CACHE_HOME", "/.cache")},
      {"HELM_CONFIG_HOME", home("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", "/.config")},
      {"HELM_DATA_HOME", data},
      {"HELM_DEBUG", flag_word(cluster.debug)},
      {"HELM_KUBEAPISERVER", cluster.server},
      {"HELM_KUBEASGROUPS", of("HELM_KUBEASGROUPS")},
      {"HELM_KUBEASUSER", of("HELM_KUBEASUSER")},
      {"HELM_KUBECAFILE", cluster.ca_file},
      {"HELM_KUBECONTEXT", cluster.context},
      {"HELM_KUBEINSECURE_SKIP_TLS_VERIFY", flag_word(cluster.insecure)},
      {"HELM_KUBETLS_SERVER_NAME", cluster.tls_server_name},
      {"HELM_KUBETOKEN", cluster.token.empty() ? "" : "(set)"},  // Helm prints it
      {"HELM_MAX_HISTORY", either(of("HELM_MAX_HISTORY"), "10")},
      {"HELM_NAMESPACE", either(cluster.ns, either(ns, "default"))},
      {"HELM_PLUGINS", either(of("HELM_PLUGINS"), data + "/plugins")},
      {"HELM_QPS", either(of("HELM_QPS"), "0.00")},
      {"HELM_REGISTRY_CONFIG", path(places.registry_config, where.registry_config)},
      {"HELM_REPOSITORY_CACHE", path(places.repository_cache, where.repository_cache)},
      {"HELM_REPOSITORY_CONFIG", path(places.repository_config, where.repository_config)}};
  command_result out;
  for (const auto& [name, text] : all) {
    if (rest->empty()) out.out += std::string(name) + "=\"" + text + "\"\n";
    if (!rest->empty() && rest->front() == name) out.out = text;
  }
  if (!rest->empty()) out.out += "\n";
  return out;
}

}  // namespace helm
