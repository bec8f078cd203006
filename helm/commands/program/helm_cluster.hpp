#pragma once

#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/template/executor.hpp"
#include "k8s/client/kubeconfig.hpp"

namespace reactor {
class loop;
}

namespace cli {

/// Where Helm's flags and variables lead: the kubeconfig's context with what they replace of it.
/// Shape    as client-go's overrides: a CA takes back that verification is skipped, and skipping
///          it takes back the kubeconfig's CA.
reactor::result<k8s::connection> connection_of(const helm::cluster_flags& f);

/// `lookup` on that cluster, for a render outside of a loop. Each call runs `l`, which must not run
/// yet and outlives it.
decltype(helm::render_runtime::lookup) lookups_on(reactor::loop& l, const helm::cluster_flags& f);

}  // namespace cli
