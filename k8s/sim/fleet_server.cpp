#include "k8s/sim/fleet_server.hpp"

#include "formats/base64.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/system/files.hpp"

#include <filesystem>

namespace k8s::sim {

namespace {

using reactor::awaitable;
using reactor::result;

constexpr auto kCertificateLife = std::chrono::hours(24 * 365);

bool is_address(const std::string& host) {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

struct fleet_server::impl {
  impl(reactor::loop& l, fleet_options o) : on(l), options(std::move(o)) {}

  struct cluster {
    std::string name, prefix;
    std::unique_ptr<api_server> api;
    server* front = nullptr;
  };

  result<void> make_certificates();
  std::string config(std::size_t first, std::size_t count) const;

  reactor::loop& on;
  fleet_options options;
  std::vector<cluster> clusters;
  std::vector<std::unique_ptr<server>> fronts;
  std::shared_ptr<reactor::tls_server_settings> tls;
  std::string ca_pem, admin_token;
  reactor::certified_key admin;
};

fleet_server::fleet_server(reactor::loop& l, fleet_options options)
    : impl_(std::make_unique<impl>(l, std::move(options))) {
  const std::size_t n = impl_->options.clusters;
  const std::size_t width = std::max<std::size_t>(3, std::to_string(n).size());
  for (std::size_t i = 0; i < n; ++i) {
    std::string number = std::to_string(i + 1);
    number.insert(0, width - number.size(), '0');
    impl::cluster c;
    c.name = impl_->options.name_prefix + number;
    if (impl_->options.layout == fleet_layout::one_port) c.prefix = "/clusters/" + c.name;
    api_options o = options_on(l);
    o.name = c.name;
    if (impl_->options.judge == authorization::rbac) {
      o.access.judge = authorization::rbac;
      o.access.groups["admin"] = {"system:masters"};
      if (impl_->options.security == transport_security::plain) {
        if (impl_->admin_token.empty()) impl_->admin_token = l.random().uuid() + l.random().uuid();
        o.access.tokens[impl_->admin_token] = "admin";
      }
    }
    if (impl_->options.adjust) impl_->options.adjust(i, o);
    c.api = std::make_unique<api_server>(std::move(o));
    impl_->clusters.push_back(std::move(c));
  }
}

fleet_server::~fleet_server() {
  impl_->fronts.clear();  // they look at the API servers
}

result<void> fleet_server::impl::make_certificates() {
  const reactor::wall_time from = on.wall() - std::chrono::hours(1),
                           to = on.wall() + kCertificateLife;
  auto authority = reactor::make_authority("windlass embedded clusters", from, to);
  if (!authority) return authority.error();
  reactor::certificate_request wanted;
  wanted.common_name = "kube-apiserver";
  wanted.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
  wanted.ip_addresses = {"127.0.0.1", "::1"};
  auto& names = is_address(options.host) ? wanted.ip_addresses : wanted.dns_names;
  if (std::find(names.begin(), names.end(), options.host) == names.end())
    names.push_back(options.host);
  wanted.not_before = from;
  wanted.not_after = to;
  auto serving = reactor::issue_certificate(*authority, wanted);
  if (!serving) return serving.error();
  reactor::certificate_request person;
  person.common_name = "admin";
  person.organizations = {"system:masters"};
  person.not_before = from;
  person.not_after = to;
  auto client = reactor::issue_certificate(*authority, person);
  if (!client) return client.error();
  tls = std::make_shared<reactor::tls_server_settings>();
  tls->certificate_pem = serving->certificate_pem;
  tls->key_pem = serving->key_pem;
  tls->client_ca_pem = authority->certificate_pem;
  ca_pem = authority->certificate_pem;
  admin = std::move(*client);
  return {};
}

result<void> fleet_server::start() {
  impl& i = *impl_;
  if (i.options.security == transport_security::tls && !i.tls) {
    if (auto made = i.make_certificates(); !made) return made.error();
  }
  std::uint16_t port = i.options.port;
  for (impl::cluster& c : i.clusters) {
    if (i.fronts.empty() || i.options.layout == fleet_layout::port_each) {
      server::settings s{{i.options.host, port}, i.tls};
      i.fronts.push_back(std::make_unique<server>(i.on, std::move(s)));
      if (port != 0) ++port;
    }
    c.front = i.fronts.back().get();
    c.front->add(*c.api, c.prefix);
  }
  for (auto& f : i.fronts) {
    if (auto started = f->start(); !started) return started.error();
  }
  return {};
}

awaitable<void> fleet_server::stop() {
  for (std::size_t i = 0; i < impl_->fronts.size(); ++i) co_await impl_->fronts[i]->stop();
}

std::size_t fleet_server::size() const noexcept {
  return impl_->clusters.size();
}
const std::string& fleet_server::name(std::size_t i) const {
  return impl_->clusters.at(i).name;
}
api_server& fleet_server::api(std::size_t i) {
  return *impl_->clusters.at(i).api;
}
std::string fleet_server::url(std::size_t i) const {
  const impl::cluster& c = impl_->clusters.at(i);
  return c.front->url(c.prefix);
}

std::size_t fleet_server::connections() const noexcept {
  std::size_t n = 0;
  for (const auto& f : impl_->fronts) n += f->connections();
  return n;
}

std::string fleet_server::impl::config(std::size_t first, std::size_t count) const {
  std::string clusters_text, contexts_text;
  for (std::size_t i = first; i < first + count && i < clusters.size(); ++i) {
    const cluster& c = clusters[i];
    clusters_text +=
        "- name: " + c.name + "\n  cluster:\n    server: " + c.front->url(c.prefix) + "\n";
    if (tls)
      clusters_text += "    certificate-authority-data: " + formats::encode_base64(ca_pem) + "\n";
    contexts_text +=
        "- name: " + c.name + "\n  context:\n    cluster: " + c.name + "\n    user: admin\n";
  }
  std::string user =
      tls ? "\n    client-certificate-data: " + formats::encode_base64(admin.certificate_pem) +
                "\n    client-key-data: " + formats::encode_base64(admin.key_pem) + "\n"
      : admin_token.empty() ? std::string(" {}\n")
                            : " {token: " + admin_token + "}\n";
  return "apiVersion: v1\nkind: Config\nclusters:\n" + clusters_text +
         "users:\n- name: admin\n  user:" + user + "contexts:\n" + contexts_text +
         "current-context: " +
         (first < clusters.size() ? clusters[first].name : std::string("\"\"")) + "\n";
}

std::string fleet_server::kubeconfig() const {
  return impl_->config(0, impl_->clusters.size());
}
std::string fleet_server::kubeconfig(std::size_t only) const {
  return impl_->config(only, 1);
}

result<std::string> fleet_server::write(std::string directory) const {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    return reactor::make_fault(
        reactor::error_code(failed.value(), boost::system::system_category()),
        "make the directory " + directory);
  }
  if (impl_->tls) {
    if (auto done = reactor::store_file(directory + "/ca.crt", impl_->ca_pem, 0644); !done)
      return done.error();
  }
  const std::string path = directory + "/kubeconfig";
  if (auto done = reactor::store_file(path, kubeconfig(), 0600); !done) return done.error();
  return path;
}

}  // namespace k8s::sim
