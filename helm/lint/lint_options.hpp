#pragma once

#include "helm/render/render_context.hpp"
#include "helm/values/value_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace helm {

struct lint_options {
  std::vector<std::string> charts;
  value_options values;
  std::string name_space = "default";
  std::optional<kube_version> kube;  // that templates see and deprecations count for
  bool strict = false;
  bool quiet = false;
  bool with_subcharts = false;
  bool fleet = false;  // ours: the rules of lint_for_fleets as well
  bool skip_schema_validation = false;
};

}  // namespace helm
