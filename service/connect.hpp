#pragma once

#include "app/command.hpp"
#include "service/service.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// Which clusters a command looks at: the home connection and what it finds there.
struct fleet_arguments {
  std::string kubeconfig, context;
  enum class source { automatic, secrets, self, contexts } from = source::automatic;
  std::string ns = "default";  // of the kubeconfig Secrets
  const char* ns_flag = "--namespace";
  std::string kubeconfig_label = "sigs.k8s.io/multicluster-runtime-kubeconfig";
  std::string kubeconfig_key = "kubeconfig";
  std::vector<k8s::allowed_program> programs;  // --allow-exec
  // --watch-kubeconfig-secret…
  std::string home_secret, home_secret_ns, home_secret_key = "kubeconfig";
  std::vector<std::string> policies;  // what comes before the stock packs, the first first
  // Labels of a cluster's Secret: its Release, and of which provider it is.
  std::string release_label = "release.giantswarm.io/version",
              provider_label = "windlass.dev/provider";
  std::vector<std::string> apis;  // names
  bool apis_named = false;        // by --apis, perhaps all of them, or by the command itself
  bool is_service = false;        // `run`: what is wanted is what is said here
  std::string operator_ns;  // of the Leases of `run`; empty: POD_NAMESPACE, else the context's
  std::string log_level = "info", log_format = "console";
  /// How each API gets what its flags said, by its name.
  std::map<std::string, units::api_setup> setups, service_setups;
};
/// The flags of a command about the fleet, and those of the APIs that it may name. Without --apis
/// where `to` names the APIs already.
void declare_fleet(app::flags& f, fleet_arguments& to);
/// Those flags of the APIs that `run` alone has.
void declare_service_settings(app::flags& f, fleet_arguments& to);

/// Those of the known APIs that the command line chooses, each set up with its settings. Blocks on
/// files. Errors: one sentence that names the setting or the file.
reactor::result<std::vector<units::api>> chosen_apis(reactor::loop& l, const reactor::logger& log,
                                                     const fleet_arguments& a,
                                                     const std::vector<units::api>& known,
                                                     const environment_reader& environment);

inline constexpr const char* name_a_cluster =
    "Name a cluster with --kubeconfig FILE [--context NAME].";

/// What a command about the fleet begins with.
struct prepared_service {
  reactor::logger log;
  service_options options;
};
/// The APIs that are chosen, each set up with its settings; where home is and which clusters there
/// are. Blocks on files, and runs the loop where home is asked; for the start of the process.
/// None: what is wrong was told, `hint` behind it where there is no cluster, and `exit_code` is
/// set.
std::optional<prepared_service> prepare_service(reactor::loop& l, const fleet_arguments& a,
                                                const app::invocation& i, int& exit_code,
                                                const char* hint = name_a_cluster);

}  // namespace cli
