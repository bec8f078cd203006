#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace helm {

class command_flags;

/// What a variable of the environment holds, "" without one.
using variables = std::function<std::string(const std::string&)>;

/// How to reach the cluster, and what every command takes.
struct cluster_flags {
  std::string kubeconfig, context, ns;
  std::string server, token, ca_file, tls_server_name;
  std::string impersonated;  // the variable that asks for it, which is refused
  bool insecure = false;
  bool debug = false;
};
inline constexpr std::string_view no_impersonation =
    "windlass acts as the user that the kubeconfig names and impersonates no other";
/// HELM_NAMESPACE, HELM_KUBECONTEXT and their like: what holds where no flag is given. Without
/// variables nothing.
cluster_flags cluster_flags_from(const variables& of);

/// --kubeconfig, --kube-context, --namespace, --debug and their like: the one list of them. Keeps a
/// reference to `into`.
void add_cluster_flags(command_flags& f, cluster_flags& into);

/// The same for commands that reach no cluster: they are taken and mean nothing.
void ignore_cluster_flags(command_flags& f);

}  // namespace helm
