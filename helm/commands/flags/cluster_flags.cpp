#include "helm/commands/flags/cluster_flags.hpp"

#include "helm/commands/flags/command_flags.hpp"
#include "helm/go.hpp"

namespace helm {
namespace {

/// strconv.ParseBool; anything else is false.
bool is_true(const std::string& text) {
  return text == "1" || text == "t" || text == "T" || text == "true" || text == "TRUE" ||
         text == "True";
}

void declare(command_flags& f, cluster_flags& into) {
  f.text("namespace", 'n', into.ns);
  f.text("kubeconfig", 0, into.kubeconfig);
  f.text("kube-context", 0, into.context);
  f.text("kube-apiserver", 0, into.server);
  f.text("kube-token", 0, into.token);
  f.text("kube-ca-file", 0, into.ca_file);
  f.text("kube-tls-server-name", 0, into.tls_server_name);
  f.flag("kube-insecure-skip-tls-verify", 0, into.insecure);
  f.flag("debug", 0, into.debug);
  auto burst = std::make_shared<int>(100);
  f.number("burst-limit", 0, *burst);
  f.changes_nothing();
  f.hold(std::move(burst));
  f.checked("qps", 0, "float32", "", [](const std::string& v) -> std::optional<std::string> {
    const auto n = parse_float(v);
    const char* why = !n ? "invalid syntax" : n->out_of_range ? "value out of range" : nullptr;
    if (!why) return std::nullopt;
    return "strconv.ParseFloat: parsing " + quote(v) + ": " + why;
  });
  f.changes_nothing();
}

}  // namespace

cluster_flags cluster_flags_from(const variables& of) {
  cluster_flags out;
  if (!of) return out;
  out.ns = of("HELM_NAMESPACE");
  out.context = of("HELM_KUBECONTEXT");
  out.server = of("HELM_KUBEAPISERVER");
  out.token = of("HELM_KUBETOKEN");
  out.ca_file = of("HELM_KUBECAFILE");
  out.tls_server_name = of("HELM_KUBETLS_SERVER_NAME");
  for (const char* name : {"HELM_KUBEASUSER", "HELM_KUBEASGROUPS"})
    if (!of(name).empty()) out.impersonated = name;
  out.insecure = is_true(of("HELM_KUBEINSECURE_SKIP_TLS_VERIFY"));
  out.debug = is_true(of("HELM_DEBUG"));
  return out;
}

void add_cluster_flags(command_flags& f, cluster_flags& into) {
  f.general(true);
  declare(f, into);
  f.unsupported_with_value("kube-as-user", std::string(no_impersonation));
  f.unsupported_with_value("kube-as-group", std::string(no_impersonation));
  f.general(false);
}

void ignore_cluster_flags(command_flags& f) {
  auto unread = std::make_shared<cluster_flags>();
  f.general(true);
  declare(f, *unread);
  f.ignored_with_value({"kube-as-user", "kube-as-group"});
  f.general(false);
  f.hold(std::move(unread));
}

}  // namespace helm
