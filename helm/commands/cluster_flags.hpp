#pragma once

#include <string>

namespace helm {

class command_flags;

/// How to reach the cluster, and what every command takes.
struct cluster_flags {
  std::string kubeconfig, context, ns;
  std::string server, token, ca_file, tls_server_name;
  bool insecure = false;
  bool debug = false;
};

/// --kubeconfig, --kube-context, --namespace, --debug and their like. Keeps a reference to `into`.
void add_cluster_flags(command_flags& f, cluster_flags& into);

/// The same but --namespace and --debug for commands that reach no cluster: they are taken and mean nothing.
void ignore_cluster_flags(command_flags& f);

}  // namespace helm
