#include "helm/lint/lint_rules.hpp"
#include "helm/removals/removed_apis.hpp"

namespace helm {

std::string deprecation_warning(const std::string& api_version, const std::string& kind,
                                int minor_version) {
  const auto old = removals::find(api_version, kind);
  // As `helm lint`, which knows what the types of k8s.io/api say and nothing else.
  if (!old || old->from != removals::origin::types || minor_version < old->deprecated) return {};
  std::string text =
      api_version + " " + kind + " is deprecated in v1." + std::to_string(old->deprecated) + "+";
  if (old->removed != 0) text += ", unavailable in v1." + std::to_string(old->removed) + "+";
  if (!old->announced.empty()) text += "; use " + old->announced + " " + old->announced_kind;
  return text;
}

}  // namespace helm
