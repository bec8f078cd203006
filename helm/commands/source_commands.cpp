#include "helm/commands/source_commands.hpp"

#include "helm/commands/cluster_flags.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/go.hpp"

#include <array>
#include <optional>

namespace helm::sources {
namespace {

struct entry {
  std::string_view name, other_name;
  awaitable<command_result> (*run)(command_context, words);
};
constexpr std::array<entry, 9> commands{{{"repo", "repo", repo_command},
                                         {"registry", "registry", registry_command},
                                         {"pull", "fetch", pull_command},
                                         {"push", "push", push_command},
                                         {"package", "package", package_command},
                                         {"dependency", "dep", dependency_command},
                                         {"dependencies", "dependencies", dependency_command},
                                         {"search", "search", search_command},
                                         {"verify", "verify", verify_command}}};

const entry* find_command(std::string_view name) {
  for (const auto& c : commands)
    if (c.name == name || c.other_name == name) return &c;
  return nullptr;
}

}  // namespace

bool is_source_command(std::string_view name) {
  return find_command(name) != nullptr;
}

awaitable<command_result> run_source_command(command_context context,
                                             std::vector<std::string> arguments) {
  const auto* found = find_command(arguments.front());
  arguments.erase(arguments.begin());
  co_return co_await found->run(std::move(context), std::move(arguments));
}

std::string_view source_commands_help() {
  return "  repo add|list|update|remove|index   chart repositories, in the files that helm uses\n"
         "  registry login|logout               logins of OCI registries\n"
         "  pull, push                          archives from a repository or registry, and to "
         "one\n"
         "  package                             a chart folder as an archive\n"
         "  dependency list|update|build        what a chart's charts/ folder should hold\n"
         "  search repo                         charts in the repositories that were added\n"
         "  verify ARCHIVE                      the archive's signature, as helm verify does\n"
         "  verify CHART -f VALUES              renders with this program and with the helm on "
         "PATH\n"
         "                                      and shows the first difference\n";
}

chart_origin origin_of(const chart_flags& flags) {
  chart_origin out;
  out.version = flags.version;
  if (flags.devel && out.version.empty()) out.version = ">0.0.0-0";
  out.repo_url = flags.repo;
  out.username = flags.username;
  out.password = reactor::secret(flags.password);
  out.tls = {flags.certificate_file, flags.key_file, flags.ca_file, flags.skip_tls_verify};
  out.keyring = flags.keyring;
  out.verify = flags.verify;
  out.plain_http = flags.plain_http;
  out.pass_credentials = flags.pass_credentials;
  return out;
}

settings settings_of(settings where, const chart_flags& flags) {
  if (!flags.repository_config.empty()) where.repository_config = flags.repository_config;
  if (!flags.repository_cache.empty()) where.repository_cache = flags.repository_cache;
  if (!flags.registry_config.empty()) where.registry_config = flags.registry_config;
  return where;
}

void add_common_flags(command_flags& f) {
  ignore_cluster_flags(f);
  f.ignored({"debug"});
}

std::string count_problem(const words& rest, std::size_t least, std::size_t most,
                          const std::string& command, const std::string& synopsis) {
  const bool exact = least == most;
  if (rest.size() >= least && (most < least || rest.size() <= most)) return {};
  const auto counted = [](std::size_t n) {
    return std::to_string(n) + (n == 1 ? " argument" : " arguments");
  };
  std::string text = quote("helm " + command);
  if (exact)
    text += " requires " + counted(least);
  else if (rest.size() < least)
    text += " requires at least " + counted(least);
  else
    text += " accepts at most " + counted(most);
  return text + "\n\nUsage:  helm " + command + " " + synopsis + " [flags]";
}

}  // namespace helm::sources
