#pragma once

#include "helm/charts/chart.hpp"
#include "helm/render/render_context.hpp"
#include "helm/template/executor.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// What a chart must meet before it can become a release, and what belongs to a release besides its
/// manifests.

/// DNS labels joined by dots, lower case, at most 53 characters.
bool valid_release_name(std::string_view name);
/// "no name provided", or that the name is not valid and which rule it breaks.
std::optional<std::string> release_name_problem(const std::string& name);

struct name_choice {
  std::string given;
  std::string name_template;
  bool generate = false;
  std::string chart;  // a generated name begins with its base name
};
/// Errors   those of the template.
outcome<std::string> choose_release_name(const name_choice& c, const render_runtime& runtime);

/// Errors   "library charts are not installable", a dependency that is missing in charts/.
outcome<bool> check_installable(const chart& c);
/// "chart requires kubeVersion: …", when the cluster does not meet it.
std::optional<std::string> kube_version_problem(const chart& c, const capabilities& caps);

struct crd_file {
  std::string path;  // "parent/charts/sub/crds/x.yaml"
  std::string name;  // "crds/x.yaml"
  const std::string* data;
};
/// Manifests below crds/ of a chart and then of its dependencies. Lifetime: they point into the
/// chart.
std::vector<crd_file> crd_files(const chart& c);

}  // namespace helm
