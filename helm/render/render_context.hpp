#pragma once

#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

#include <string>
#include <vector>

namespace helm {

struct kube_version {
  std::string version, major, minor;
};
/// "1.29", "v1.30.1-gke.5" → what `.Capabilities.KubeVersion` holds.
outcome<kube_version> parse_kube_version(const std::string& text);

struct capabilities {
  kube_version kube{"v1.36.0", "1", "36"};
  std::vector<std::string> api_versions;
};
/// The group versions a client knows without asking a cluster.
const std::vector<std::string>& default_api_versions();
capabilities default_capabilities();

struct release_options {
  std::string name = "release-name";
  std::string name_space = "default";
  int revision = 1;
  bool is_install = true;
  bool is_upgrade = false;
};

/// `.Chart` of one chart.
value chart_value(const chart& c, bool is_root);
value files_value(const file_list& files);
value capabilities_value(const capabilities& c);
value release_value(const release_options& r);

}  // namespace helm
