#pragma once

#include "k8s/informer/meta.hpp"
#include "releases/library.hpp"
#include "releases/names.hpp"

#include <string>

namespace releases {

/// Which labels of a cluster's kubeconfig Secret are read.
struct cluster_labels {
  std::string release{names::release_label}, provider{names::provider_label};
};

/// Which Release a cluster is to have, as its labels say.
struct requested_release {
  std::string provider, version;  // empty: not said
  std::string problem;            // why that is no answer; empty: nothing is wrong
  friend bool operator==(const requested_release&, const requested_release&) = default;
};

/// "aws-34.5.0" names a Release; "34.5.0" or "v34.5.0" one of the cluster's provider, or of the
/// only one that has it.
requested_release requested_release_of(const k8s::string_map& labels, const cluster_labels& read,
                                       const library& books);

}  // namespace releases
