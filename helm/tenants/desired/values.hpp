#pragma once

#include "helm/go.hpp"

#include <string>
#include <vector>

namespace helm::tenants {

/// A values file as it was read.
struct values_file {
  std::string path, text;
};

/// The one set of values for all Tenants.
/// Shape    `installCRDs: true` where the flag says so, then the files, a later one wins: maps are
///          merged, everything else is replaced. A null takes the value of an earlier layer away,
///          and the chart's own with it.
/// Errors   "chart values: values.yaml: …": not YAML, or no map.
struct values_layers {
  bool install_crds = false;
  std::vector<values_file> files;
};
outcome<value> desired_values(const values_layers& layers);

}  // namespace helm::tenants
