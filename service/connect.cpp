#include "service/connect.hpp"

#include "app/api/setup.hpp"
#include "app/process.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/home.hpp"
#include "k8s/fleet/kubeconfig_contexts.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <algorithm>
#include <cstdlib>

namespace cli {

using namespace app;

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

/// Contexts that cannot be used are clusters with that reason, unless none can be used.
reactor::result<std::vector<named_connection>> every_context(const fleet_arguments& a,
                                                             const k8s::environment& env) {
  const std::vector<std::string> files = kubeconfig_files(a, env);
  std::vector<named_connection> all;
  bool usable = false;
  for (k8s::context_connection& c : k8s::every_kubeconfig_context(files)) {
    usable = usable || c.to;
    // Several programs at once cannot share a terminal.
    if (c.to && c.to->login && env.dialogue.show)
      c.to->login->talk({.terminal = false, .show = env.dialogue.show});
    all.push_back({std::move(c.name), std::move(c.to)});
  }
  if (all.empty())
    return reactor::make_fault(reactor::errc::not_found, "kubeconfig " + files.front(),
                               "it has no context");
  if (!usable) return all.front().to.error();
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
  o.programs = a.programs;
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

/// Empty: each API's own.
std::string operator_namespace(const fleet_arguments& a, const k8s::connection& home) {
  if (!a.operator_ns.empty()) return a.operator_ns;
  if (const char* pod = std::getenv("POD_NAMESPACE"); pod && *pod) return pod;
  return home.ns;
}

/// Where home is and which clusters there are, from the flags.
/// Errors: one sentence that names the file, field and reason.
reactor::result<service_options> service_from(reactor::loop& l, const reactor::logger& log,
                                              const fleet_arguments& a,
                                              std::vector<units::api> apis) {
  k8s::environment env = k8s::environment::of_process();
  if (a.is_service) env.dialogue = {};
  service_options o;
  o.programs = a.programs;
  o.apis = std::move(apis);
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
  if (o.home.login && !o.home.login->has_dialogue())
    o.home.login->talk(k8s::logged_dialogue(log, o.home_name));
  o.discover = a.from != fleet_arguments::source::self;
  o.home_alone_is_a_fleet = a.from != fleet_arguments::source::secrets;
  if (o.discover && std::ranges::any_of(o.apis, &units::api::wants_home_in_fleet)) {
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

}  // namespace

namespace {

std::vector<units::api> chosen_of(const std::vector<units::api>& all, const fleet_arguments& a) {
  std::vector<units::api> out;
  for (const units::api& one : all) {
    if (std::ranges::find(a.apis, one.name) == a.apis.end()) continue;
    out.push_back(one);
    out.back().where_served = one.where_served && !a.apis_named;
  }
  return out;
}

reactor::result<void> carry_out(const std::map<std::string, units::api_setup>& setups,
                                std::vector<units::api>& apis, units::process_facts facts,
                                const fleet_arguments& a) {
  for (units::api& one : apis) {
    const auto setup = setups.find(one.name);
    if (setup == setups.end()) continue;
    facts.is_named = a.apis_named;  // those that run are the named ones
    facts.is_alone = apis.size() == 1;
    auto done = setup->second(one, facts);
    if (!done) return done;
  }
  return {};
}

units::process_facts facts_of(reactor::loop& l, const reactor::logger& log,
                              const fleet_arguments& a, const environment_reader& environment) {
  units::process_facts facts{l, log, environment};
  facts.ns = a.ns;
  facts.kubeconfig_key = a.kubeconfig_key;
  facts.release_label = a.release_label;
  facts.provider_label = a.provider_label;
  facts.identity = process_identity();
  facts.is_service = a.is_service;
  facts.finds_fleet = a.from == fleet_arguments::source::automatic;
  return facts;
}

}  // namespace

reactor::result<std::vector<units::api>> chosen_apis(reactor::loop& l, const reactor::logger& log,
                                                     const fleet_arguments& a,
                                                     const std::vector<units::api>& known,
                                                     const environment_reader& environment) {
  std::vector<units::api> apis = chosen_of(known, a);
  auto done = carry_out(a.setups, apis, facts_of(l, log, a, environment), a);
  if (!done) return done.error();
  return apis;
}

std::optional<prepared_service> prepare_service(reactor::loop& l, const fleet_arguments& a,
                                                const app::invocation& i, int& exit_code,
                                                const char* hint) {
  auto log = logger_from(l, a.log_level, a.log_format);
  if (!log) {
    exit_code = complain(log.error().message(), wrong_usage);
    return std::nullopt;
  }
  auto apis = chosen_apis(l, *log, a, i.apis(), i.environment);
  if (!apis) {
    exit_code = complain(apis.error().message());
    return std::nullopt;
  }
  auto options = service_from(l, *log, a, std::move(*apis));
  if (!options) {
    exit_code = complain(options.error().message() + "\n  " + hint);
    return std::nullopt;
  }
  if (a.is_service) {
    options->lease_ns = operator_namespace(a, options->home);
    units::process_facts facts = facts_of(l, *log, a, i.environment);
    facts.operator_ns = options->lease_ns;
    facts.home = &options->home;
    if (auto done = carry_out(a.service_setups, options->apis, facts, a); !done) {
      exit_code = complain(done.error().message());
      return std::nullopt;
    }
  }
  options->hooks = units::hooks_of(i.apis());
  for (const units::api& one : i.apis()) options->known_apis.push_back(one.name);
  return prepared_service{std::move(*log), std::move(*options)};
}

namespace {

void declare_home(app::flags& f, fleet_arguments& to) {
  f.value("--kubeconfig,--watch-kubeconfig", to.kubeconfig,
          "kubeconfig of the home cluster; else $KUBECONFIG, in-cluster, ~/.kube/config")
      .takes("FILE")
      .matters()
      .variables({"WATCH_KUBECONFIG", "WATCH_CLUSTER_KUBECONFIG"});
  f.value("--context,--watch-context", to.context, "context of that kubeconfig")
      .takes("NAME")
      .matters()
      .variables({"WATCH_CONTEXT"});
  f.read(
       "--fleet",
       [&to](const std::string& name) {
         using source = fleet_arguments::source;
         to.from = name == "secrets"    ? source::secrets
                   : name == "self"     ? source::self
                   : name == "contexts" ? source::contexts
                                        : source::automatic;
         return std::string();
       },
       "where the clusters come from: kubeconfig Secrets at home, home itself, or every context of "
       "the kubeconfig; "
       "auto = Secrets if there is one, else home itself")
      .one_of({"auto", "secrets", "self", "contexts"})
      .takes("auto|secrets|self|contexts");
  f.value(to.ns_flag, to.ns, "namespace of the kubeconfig Secrets")
      .shows_default()
      .variables({"WATCH_NAMESPACE"});
  f.value("--kubeconfig-label", to.kubeconfig_label,
          "label (value \"true\") of the kubeconfig Secrets")
      .shows_default()
      .variables({"KUBECONFIG_SECRET_LABEL"});
  f.value("--kubeconfig-key", to.kubeconfig_key, "data key in the Secret")
      .shows_default()
      .variables({"KUBECONFIG_SECRET_KEY"});
  f.read(
       "--allow-exec",
       [&to](const std::string& text) {
         auto read = k8s::read_allowed_program(text);
         if (read) to.programs.push_back(std::move(*read));
         return read ? std::string() : read.error().detail;
       },
       "a program that kubeconfigs in Secrets may name under exec, with these arguments and no "
       "others, if its file has this SHA-256; \",server=URL\" behind the digest binds it to one "
       "API server")
      .repeated()
      .takes("PATH@sha256:DIGEST ARG…");
  if (!to.is_service) return;
  f.value("--watch-kubeconfig-secret", to.home_secret,
          "Secret with the home kubeconfig; preferred source")
      .variables({"WATCH_KUBECONFIG_SECRET"});
  f.value("--watch-kubeconfig-secret-namespace", to.home_secret_ns,
          "its namespace (default: --namespace)")
      .variables({"WATCH_KUBECONFIG_SECRET_NAMESPACE"});
  f.value("--watch-kubeconfig-secret-key", to.home_secret_key, "its data key")
      .shows_default()
      .variables({"WATCH_KUBECONFIG_SECRET_KEY"});
}

/// Which APIs run; one that is not known is answered with those that are.
void declare_choice(app::flags& f, fleet_arguments& to) {
  std::string known;
  for (const units::api& a : f.apis()) {
    to.apis.push_back(a.name);
    known += (known.empty() ? "" : ",") + a.name;
  }
  f.value("--apis", to.apis, "what is moved, of: " + known)
      .separated(',')
      .repeated()
      .check([names = to.apis, known](const std::string& name) {
        if (std::ranges::find(names, name) != names.end()) return std::string();
        return "there is no API \"" + name + "\"; there is: " + known;
      })
      .each([&to] { to.apis_named = true; })
      .takes("NAME,…")
      .shows_default("those that home serves; tenants run where they are named");
  f.choice_of_apis(to.apis, to.apis_named);
}

}  // namespace

void declare_fleet(app::flags& f, fleet_arguments& to) {
  if (!to.is_service) to.log_level = "error";  // what clusters say of themselves is in the table
  f.section("Home and the fleet");
  declare_home(f, to);
  f.value("--policies", to.policies,
          "policy packs that come before the stock ones: a folder, or a ConfigMap of the home "
          "cluster as configmap:NAME; given again, the first comes first")
      .repeated()
      .takes("DIR");
  f.value("--release-label", to.release_label,
          "label of a kubeconfig Secret that says which Release its cluster has")
      .shows_default();
  f.value("--provider-label", to.provider_label,
          "label of it that says of which provider the cluster is")
      .shows_default();
  if (!to.apis_named) declare_choice(f, to);
  for (const units::api& a : f.apis()) {
    // A command that names its APIs itself has no settings of another one.
    const bool own = !to.apis_named || std::ranges::find(to.apis, a.name) != to.apis.end();
    f.section("Settings of " + a.name);
    if (a.settings && own) to.setups[a.name] = a.settings(f);
  }
  f.section("Home and the fleet");
  f.config();
  declare_logging(f, to.log_level, to.log_format);
  f.section("");
}

void declare_service_settings(app::flags& f, fleet_arguments& to) {
  for (const units::api& a : f.apis()) {
    f.section("Settings of " + a.name);
    if (a.service_settings) to.service_setups[a.name] = a.service_settings(f);
  }
  f.section("");
}

}  // namespace cli
