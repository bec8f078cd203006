#include "cli/connect.hpp"

#include "cli/commands.hpp"
#include "cli/service/tenant_settings.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/home.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/task_group.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace cli {
namespace {

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) paths.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

/// The files of a local kubeconfig, for `--fleet contexts`.
std::vector<std::string> kubeconfig_files(const fleet_arguments& a, const k8s::environment& env) {
  if (!a.kubeconfig.empty()) return {a.kubeconfig};
  if (const std::string list = env.variable("KUBECONFIG"); !list.empty()) return split_paths(list);
  return {env.variable("HOME") + "/.kube/config"};
}

reactor::result<std::vector<named_connection>> every_context(const fleet_arguments& a,
                                                             const k8s::environment& env) {
  std::vector<named_connection> all;
  const std::vector<std::string> files = kubeconfig_files(a, env);
  for (const std::string& file : files) {
    auto bytes = k8s::read_small_file(file);
    if (!bytes) return bytes.error();
    auto names = k8s::kubeconfig_contexts(bytes->reveal(), "kubeconfig " + file);
    if (!names) return names.error();
    for (const std::string& name : *names) {
      auto to = k8s::load_kubeconfig_files(files, name);
      if (!to) return to.error();
      all.push_back({name, *to});
    }
  }
  if (all.empty())
    return reactor::make_fault(reactor::errc::not_found, "kubeconfig " + files.front(),
                               "it has no context");
  return all;
}

/// Through the default connection, before anything else runs.
reactor::result<k8s::connection> home_from_secret(reactor::loop& l, const fleet_arguments& a,
                                                  const k8s::environment& env) {
  k8s::home_options o;
  o.secret = a.home_secret;
  o.secret_ns = a.home_secret_ns.empty() ? a.ns : a.home_secret_ns;
  o.secret_key = a.home_secret_key;
  o.context = a.context;
  o.default_file = a.kubeconfig;
  k8s::home_finder finder(l, std::move(o), env);
  reactor::result<k8s::connection> found = k8s::connection();
  reactor::task_group tasks(l);
  tasks.start("find home", [&]() -> reactor::awaitable<void> {
    found = co_await finder.find();
    l.stop();
  });
  l.run();
  return found;
}

}  // namespace

reactor::result<service_options> service_from(reactor::loop& l, const fleet_arguments& a,
                                              const std::vector<units::api>& known) {
  const k8s::environment env = k8s::environment::of_process();
  service_options o;
  o.apis = chosen_of(of_fleet(known, a), a.apis);
  o.ns = a.ns;
  o.label = a.kubeconfig_label;
  o.key = a.kubeconfig_key;
  o.policies = a.policies;
  o.identity = process_identity();
  o.reporter = host_identity();
  if (a.from == fleet_arguments::source::contexts) {
    auto all = every_context(a, env);
    if (!all) return all.error();
    o.clusters = std::move(*all);
    o.discover = false;
    return o;
  }
  auto home = a.home_secret.empty() ? k8s::load_default(a.kubeconfig, a.context, env)
                                    : home_from_secret(l, a, env);
  if (!home) return home.error();
  o.home = std::move(*home);
  if (!o.home.context.empty()) o.home_name = o.home.context;
  o.discover = a.from != fleet_arguments::source::self;
  o.home_alone_is_a_fleet = a.from != fleet_arguments::source::secrets;
  const bool by_default = a.from == fleet_arguments::source::automatic;
  if (o.discover && names_tenants(a) && a.self_cluster.value_or(by_default)) {
    k8s::self_cluster_options self;
    self.ns = a.ns;
    self.label = a.kubeconfig_label;
    self.key = a.kubeconfig_key;
    self.context = a.context;
    // Any other kubeconfig of this machine may lead to another cluster than home.
    const bool from_files = a.home_secret.empty() && o.home.source.starts_with("kubeconfig ");
    if (from_files) self.files = kubeconfig_files(a, env);
    o.self_cluster = std::move(self);
  }
  return o;
}

std::optional<prepared_service> prepare_service(reactor::loop& l, const fleet_arguments& a,
                                                const std::vector<units::api>& known,
                                                int& exit_code, const char* whom) {
  auto log = logger_from(l, a.log_level, a.log_format);
  if (!log) {
    exit_code = complain(log.error().message(), wrong_usage);
    return std::nullopt;
  }
  auto options = service_from(l, a, known);
  if (!options) {
    exit_code = complain(options.error().message() + "\n  Name " + whom +
                         " with --kubeconfig FILE [--context NAME].");
    return std::nullopt;
  }
  return prepared_service{std::move(*log), std::move(*options)};
}

std::string host_identity() {
  if (const char* pod = std::getenv("POD_NAME"); pod && *pod) return pod;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "windlass";
}

const std::string& process_identity() {
  static const std::string identity = [] {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string random(8, '0');
    std::uint64_t drawn = reactor::system_entropy().next();
    for (char& c : random) c = digits[drawn % 16], drawn /= 16;
    return host_identity() + "-" + random;
  }();
  return identity;
}

}  // namespace cli
