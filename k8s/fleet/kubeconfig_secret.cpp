#include "k8s/fleet/kubeconfig_secret.hpp"

#include "formats/plain/listed.hpp"

#include <algorithm>

namespace k8s {

std::string kubeconfig_source(const std::string& ns, const std::string& secret,
                              const std::string& key) {
  return "Secret " + ns + "/" + secret + ", key " + key;
}

reactor::fault no_kubeconfig(std::string source, const std::string& key,
                             const std::vector<std::string>& keys) {
  constexpr std::size_t most = 5;
  std::string why = "the key is empty";
  if (std::ranges::find(keys, key) == keys.end()) {
    why = keys.empty() ? "the Secret holds no keys" : "the Secret has no such key; it has ";
    why += formats::listed(keys, most);
  }
  return reactor::make_fault(reactor::errc::not_found, std::move(source), std::move(why));
}

}  // namespace k8s
