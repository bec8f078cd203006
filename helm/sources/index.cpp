#include "helm/sources/index.hpp"

#include "formats/semver.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <optional>

namespace helm::sources {

void repository_index::sort() {
  struct keyed {
    std::optional<version> v;
    chart_version entry;
  };
  for (auto& [name, versions] : entries) {
    std::vector<keyed> keys;
    keys.reserve(versions.size());
    for (auto& entry : versions) {
      auto v = parse_lenient_version(entry.meta.version);
      keys.push_back({v ? std::optional(std::move(*v)) : std::nullopt, std::move(entry)});
    }
    std::stable_sort(keys.begin(), keys.end(), [](const keyed& a, const keyed& b) {
      if (!a.v || !b.v) return a.v.has_value() && !b.v.has_value();
      return a.v->compare(*b.v) > 0;
    });
    versions.clear();
    for (auto& k : keys) versions.push_back(std::move(k.entry));
  }
}

outcome<const chart_version*> repository_index::find(const std::string& name,
                                                     const std::string& wanted) const {
  const auto found = entries.find(name);
  if (found == entries.end()) return problem{"no chart name found"};
  if (found->second.empty()) return problem{"no chart version found"};
  const auto constraint = version_constraint::parse(wanted.empty() ? "*" : wanted);
  if (!constraint) return constraint.error();
  if (!wanted.empty())
    for (const auto& entry : found->second)
      if (entry.meta.version == wanted) return &entry;
  for (const auto& entry : found->second) {
    const auto v = parse_lenient_version(entry.meta.version);
    if (v && constraint->check(*v)) return &entry;
  }
  return problem{"no chart version found for " + name + "-" + wanted};
}

void repository_index::merge(repository_index other) {
  for (auto& [name, versions] : other.entries)
    for (auto& entry : versions)
      if (!find(entry.meta.name, entry.meta.version))
        entries[entry.meta.name].push_back(std::move(entry));
}

}  // namespace helm::sources
