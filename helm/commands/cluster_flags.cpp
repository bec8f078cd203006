#include "helm/commands/cluster_flags.hpp"

#include "helm/commands/command_flags.hpp"

namespace helm {

void add_cluster_flags(command_flags& f, cluster_flags& into) {
  f.text("namespace", 'n', into.ns);
  f.text("kubeconfig", 0, into.kubeconfig);
  f.text("kube-context", 0, into.context);
  f.text("kube-apiserver", 0, into.server);
  f.text("kube-token", 0, into.token);
  f.text("kube-ca-file", 0, into.ca_file);
  f.text("kube-tls-server-name", 0, into.tls_server_name);
  f.flag("kube-insecure-skip-tls-verify", 0, into.insecure);
  f.flag("debug", 0, into.debug);
  f.ignored_with_value({"burst-limit", "qps"});
  f.unsupported({"kube-as-user", "kube-as-group"});
}

void ignore_cluster_flags(command_flags& f) {
  f.ignored_with_value({"burst-limit", "kube-apiserver", "kube-as-group", "kube-as-user", "kube-ca-file",
             "kube-context", "kube-tls-server-name", "kube-token", "kubeconfig", "qps"});
  f.ignored({"kube-insecure-skip-tls-verify"});
}

}  // namespace helm
