#include "bench/fleet/served_alone.hpp"

#include "bench/quiet_server.hpp"
#include "formats/base64.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/tls.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace bench {

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

std::string kubeconfig_for(const std::string& url, const std::string& authority) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: {server: \"" +
         url + "\", certificate-authority-data: \"" + formats::encode_base64(authority) +
         "\"}}]\nusers: [{name: u, user: {token: bench-token}}]\n";
}

}  // namespace

served_alone::served_alone(reactor::loop& l, k8s::sim::api_server& api,
                           const std::string& address) {
  const auto from = l.wall() - 1h, until = l.wall() + 24h;
  const auto authority = reactor::make_authority("bench " + address, from, until);
  reactor::certificate_request wanted;
  wanted.common_name = address;
  wanted.ip_addresses = {address};
  wanted.not_before = from;
  wanted.not_after = until;
  const auto issued = authority ? reactor::issue_certificate(*authority, wanted) : authority;
  if (!issued) throw std::runtime_error(issued.error().message());
  auto tls = std::make_shared<reactor::tls_server_settings>();
  tls->certificate_pem = issued->certificate_pem;
  tls->key_pem = issued->key_pem;
  front_ = std::make_unique<k8s::sim::server>(
      l, k8s::sim::server::settings{{address, 0}, std::move(tls)});
  front_->add(api);
  if (auto started = front_->start(); !started) throw std::runtime_error(started.error().message());
  kubeconfig = kubeconfig_for(front_->url(), authority->certificate_pem);
}

served_alone::~served_alone() = default;

std::string address_of(std::size_t cluster) {
  return "127.0." + std::to_string(1 + cluster / clusters_in_a_block) + "." +
         std::to_string(1 + cluster % clusters_in_a_block);
}

json::object secret_of(const std::string& name, const served_alone& cluster,
                       const std::map<std::string, std::string>& labels) {
  json::object all{{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}};
  for (const auto& [key, value] : labels) all[key] = value;
  json::object metadata{{"name", name}, {"namespace", "fleet"}};
  metadata["labels"] = std::move(all);
  json::object out{{"apiVersion", "v1"}, {"kind", "Secret"}};
  out["metadata"] = std::move(metadata);
  out["data"] = json::object{{"kubeconfig", formats::encode_base64(cluster.kubeconfig)}};
  return out;
}

void allow_more_descriptors() {
  constexpr rlim_t wanted = 262'144;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit more{std::max(limit.rlim_max, wanted), std::max(limit.rlim_max, wanted)};
  if (::setrlimit(RLIMIT_NOFILE, &more) != 0) allow_many_descriptors();
}

void tell_kubeconfig(const std::string& text) {
  const std::string file = "/tmp/windlass-bench-" + std::to_string(::getpid()) + ".kubeconfig";
  ::umask(077);
  std::ofstream(file) << text;
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
}

}  // namespace bench
