#pragma once

#include "app/api/api.hpp"
#include "releases/requested_release.hpp"

#include <string>

namespace releases {

/// What the command line says about it.
struct settings {
  cluster_labels labels;
  // of the ConfigMap with consent: beside the kubeconfig Secrets at home
  std::string ns = "default";
};

/// Releases: objects at home that name versions, and the pools on clusters whose image follows from
/// them.
units::api api(settings s = {});

}  // namespace releases
