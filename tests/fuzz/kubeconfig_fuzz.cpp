// A kubeconfig from a Secret: accepted or refused, and never a file of this machine in what comes
// out.
#include "k8s/client/kubeconfig.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  k8s::kubeconfig_options options;
  options.source = "fuzz";
  const auto got = k8s::load_kubeconfig(text, options);
  if (!got) return got.error().message().empty() ? (std::abort(), 0) : 0;
  if (got->server.empty()) std::abort();
  for (const k8s::material* m : {&got->ca, &got->certificate, &got->key, &got->token}) {
    if (!m->file.empty()) std::abort();
  }
  return 0;
}
