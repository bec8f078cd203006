#include "helm/commands/source_commands.hpp"

#include "helm/commands/command_parts.hpp"
#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/commands/verbs.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace helm::sources {
namespace {

struct entry {
  std::string_view name;
  awaitable<command_result> (*run)(command_context, words);
};
constexpr std::array<entry, 8> commands{{{"repo", repo_command},
                                         {"registry", registry_command},
                                         {"pull", pull_command},
                                         {"push", push_command},
                                         {"package", package_command},
                                         {"dependency", dependency_command},
                                         {"search", search_command},
                                         {"verify", verify_command}}};

}  // namespace

awaitable<command_result> run_source_command(command_context context,
                                             std::vector<std::string> arguments) {
  arguments = spelled_out(arguments);
  const auto* found = std::ranges::find(commands, arguments.front(), &entry::name);
  arguments.erase(arguments.begin());
  co_return co_await found->run(std::move(context), std::move(arguments));
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

source_flags::source_flags(chart_flags& places) {
  ignore_cluster_flags(*this);
  add_place_flags(*this, places);
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
