#pragma once

#include "cli/arguments.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/result.hpp"

#include <vector>

namespace reactor {
class loop;
}

namespace cli {

/// How registries are asked: where the command line says nothing, as the BootcOperatorConfig at
/// home does. A home without its kind has none, and needs none. Runs the loop; for the start of the
/// process.
/// Errors: one sentence for a person: there are two of them.
reactor::result<registry_arguments> registries_of(reactor::loop& l, const k8s::connection& home,
                                                  const registry_arguments& said,
                                                  const std::vector<setting>& settings,
                                                  const reactor::logger& log);

}  // namespace cli
