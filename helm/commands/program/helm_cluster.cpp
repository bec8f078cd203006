#include "helm/commands/program/helm_cluster.hpp"

#include "formats/go/function_error.hpp"
#include "formats/json/json.hpp"
#include "helm/commands/program/helm_sources.hpp"
#include "helm/release/lookups.hpp"
#include "k8s/client/certificates.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/loop.hpp"

#include <memory>

namespace cli {

reactor::result<k8s::connection> connection_of(const helm::cluster_flags& f) {
  if (!f.impersonated.empty())
    return reactor::make_fault(reactor::errc::refused, f.impersonated,
                               std::string(helm::no_impersonation));
  auto to = k8s::load_default(f.kubeconfig, f.context, k8s::environment::of_process());
  const bool without = !f.server.empty() && f.kubeconfig.empty() && f.context.empty() && !to &&
                       to.error().code == make_error_code(reactor::errc::not_found);
  if (!to && !without) return to;
  k8s::connection c = to ? std::move(*to) : k8s::connection();
  if (!f.server.empty()) c.server = f.server;
  if (!f.token.empty()) {
    c.token = {};
    c.login = {};
    c.token.bytes = reactor::secret(f.token);
  }
  if (!f.ca_file.empty() && f.insecure)
    return reactor::make_fault(
        reactor::errc::refused, "connect",
        "specifying a root certificates file with the insecure flag is not allowed");
  if (!f.ca_file.empty()) {
    auto pem = k8s::read_small_file(f.ca_file);
    if (!pem) return while_doing("--kube-ca-file", pem.error());
    if (const auto ok = k8s::check_ca(pem->reveal()); !ok)
      return reactor::make_fault(reactor::errc::malformed, "--kube-ca-file " + f.ca_file,
                                 ok.error().detail);
    c.ca = {std::move(*pem), f.ca_file};
    c.insecure = false;
  }
  if (f.insecure) {
    c.ca = {};
    c.insecure = true;
  }
  if (!f.tls_server_name.empty()) c.tls_server_name = f.tls_server_name;
  return c;
}

namespace {

/// A client that lives as long as one render asks through it.
class cluster_of_render {
public:
  cluster_of_render(reactor::loop& l, const k8s::connection& to)
      : loop_(l),
        api_(l, to, "helm"),
        kinds_(api_),
        lookups_(api_, kinds_, {}, helm::release::lookup_bytes_of_a_person) {}
  cluster_of_render(const cluster_of_render&) = delete;
  cluster_of_render& operator=(const cluster_of_render&) = delete;
  ~cluster_of_render() {
    run_to_the_end(loop_, [this]() -> reactor::awaitable<void> { co_await api_.stop(); });
  }

  helm::value find(helm::release::lookup_key key) {
    helm::release::lookup_answer answer;
    run_to_the_end(loop_, [&]() -> reactor::awaitable<void> {
      helm::release::lookup_key wanted = key;
      answer = co_await lookups_.find(std::move(wanted));
    });
    if (!answer.error.empty()) throw formats::function_error(answer.error);
    if (answer.json.empty()) return {};
    auto v = helm::read_json(answer.json);
    if (!v) throw formats::function_error(v.error().text);
    return *v;
  }

private:
  reactor::loop& loop_;
  k8s::client api_;
  k8s::discovery kinds_;
  helm::release::cluster_lookups lookups_;
};

}  // namespace

decltype(helm::render_runtime::lookup) lookups_on(reactor::loop& l, const helm::cluster_flags& f) {
  auto to = connection_of(f);
  if (!to) {
    const std::string why = "Kubernetes cluster unreachable: " + to.error().message();
    return [why](const std::string&, const std::string&, const std::string&,
                 const std::string&) -> helm::value { throw formats::function_error(why); };
  }
  auto cluster = std::make_shared<cluster_of_render>(l, *to);
  return
      [cluster](const std::string& api_version, const std::string& kind, const std::string& ns,
                const std::string& name) { return cluster->find({api_version, kind, ns, name}); };
}

}  // namespace cli
