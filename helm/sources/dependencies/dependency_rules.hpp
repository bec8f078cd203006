#pragma once

#include "helm/charts/chart.hpp"
#include "helm/sources/index.hpp"
#include "helm/sources/lock.hpp"
#include "helm/sources/repositories_file.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

/// A copy whose entries can be changed without changing the chart's.
dependency_list copy_of(const dependency_list& dependencies);

/// The folder that "file://…" or a path below the chart means; it must exist.
/// Errors   "directory %s not found"
outcome<std::string> local_path(std::string_view repository, const std::string& chart_path);

/// Which cached index serves each dependency, by the dependency's name; aliases in `dependencies`
/// become URLs.
/// Errors   "no repository definition for %s. Please add them via 'helm repo add'" and its hint;
///          local_path's.
outcome<std::map<std::string, std::string>> repository_names(
    dependency_list& dependencies, const std::vector<repository_entry>& known,
    const std::string& chart_path);

/// The cache's name for a repository that was not added: "helm-manager-" and a digest of its URL.
std::string unmanaged_name(std::string_view repository_url);
bool is_unmanaged(std::string_view name);

/// The repositories of these dependencies that are not among the known ones.
std::vector<std::string> missing_repositories(const std::vector<locked_dependency>& dependencies,
                                              const std::vector<repository_entry>& known);

/// What is on offer for one dependency: versions newest first.
struct offer {
  std::vector<std::string> versions;
  bool needs_choice = true;  // false: taken as it is asked for when nothing fits
};
/// The version to lock, or nothing when none satisfies the constraint.
/// Errors   "dependency %q has an invalid version/constraint format: …"
outcome<std::optional<std::string>> choose_version(const dependency& wanted, const offer& on_offer);

/// "can't get a valid version for %d subchart(s): …"
problem no_valid_version(const std::vector<std::string>& missing);
/// `"name" (repository "…", version "…")`
std::string described(const dependency& d);

/// The entry of exactly this version that can be downloaded.
/// Errors   "entry not found", "no matching version".
outcome<const chart_version*> find_exact(const repository_index& index, const std::string& name,
                                         const std::string& version);

/// What `dependency list` says of one: "ok", "unpacked", "missing", "wrong version", …
std::string dependency_status(const std::string& chart_path, const dependency& d,
                              const chart& parent);
/// "WARNING: %q is not in Chart.yaml.", for what lies in charts/ unasked.
std::vector<std::string> unasked_charts(const std::string& chart_path, const chart& parent);

}  // namespace helm::sources
