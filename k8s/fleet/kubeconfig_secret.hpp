#pragma once

#include "reactor/plain/result.hpp"

#include <string>
#include <vector>

namespace k8s {

/// "Secret default/prod, key kubeconfig": what an error of a member's kubeconfig begins with.
std::string kubeconfig_source(const std::string& ns, const std::string& secret,
                              const std::string& key);

/// Why a Secret with these keys gives no kubeconfig under `key`, with the keys that it has. The
/// service and every command say it alike.
reactor::fault no_kubeconfig(std::string source, const std::string& key,
                             const std::vector<std::string>& keys);

}  // namespace k8s
