#include "helm/sources/chart_versions.hpp"

#include "formats/semver.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <utility>

namespace helm::sources {

std::vector<std::string> versions_of(const std::vector<std::string>& tags) {
  std::vector<version> found;
  for (const auto& tag : tags)
    if (auto v = parse_strict_version(replace_all(tag, "_", "+"))) found.push_back(std::move(*v));
  std::stable_sort(found.begin(), found.end(),
                   [](const version& a, const version& b) { return a.compare(b) > 0; });
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const auto& v : found) out.push_back(v.text());
  return out;
}

outcome<std::string> find_version(const std::vector<std::string>& versions,
                                  const std::string& wanted) {
  if (!wanted.empty() && std::find(versions.begin(), versions.end(), wanted) != versions.end())
    return wanted;
  const auto constraint = version_constraint::parse(wanted.empty() ? "*" : wanted);
  if (!constraint) return constraint.error();
  for (const auto& text : versions) {
    const auto v = parse_lenient_version(text);
    if (v && constraint->check(*v)) return text;
  }
  return problem{"Could not locate a version matching provided version string " + wanted};
}

}  // namespace helm::sources
