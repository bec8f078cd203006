#pragma once

#include "releases/rules/mapping.hpp"
#include "releases/rules/rendered.hpp"
#include "releases/rules/repository.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policies::releases {

/// `release.diff`: what does the step from one Release to another change, and is anything wrong
/// with it?
/// Asked    by `windlass release diff` and `check`, and before a fleet moves.
/// Failure  nothing moves. What is not known here is said (`check.not-evaluated`), never passed
///          over.
struct diff_question {
  std::shared_ptr<const document> base;  // none: the Release is judged alone
  std::shared_ptr<const document> release;
  std::vector<pool_facts> pools;
  std::optional<std::vector<std::string>> catalogue;
  std::map<std::string, std::string> values;
  std::optional<std::vector<std::shared_ptr<const document>>> others;  // all of the provider
  std::shared_ptr<const request_file> requests;
  std::optional<std::vector<std::string>> registered;  // resources of the kustomization.yaml
  std::optional<std::map<std::string, std::string>> app_ranges;  // of Kubernetes, by app
  std::string within;  // "folder": what concerns all of a provider is said by release.folder
  // what the chart of each of both renders, where it was rendered
  std::optional<rendered_chart> rendered_from, rendered_to;
};

struct diff_change {
  std::string kind, name;  // "component", "app", or "binary": inside of a component
  std::string what;        // added, removed, changed, moved, catalog, reference, depends
  std::string from, to;
  std::string level;              // of a version that changed
  std::string direction, strict;  // up, down, same; as configured, and by SemVer alone
  std::string rolls;              // yes, chart, no
};

/// One thing that requests.yaml asks of this Release.
struct request_verdict {
  std::string range, item, version_range, actual;
  std::string result;  // satisfied, violated, missing
};

struct diff_answer {
  std::string pack;
  std::string provider, version;     // of the Release
  std::string level;                 // of the step: major, minor, patch, prerelease, none
  std::string rolls;                 // yes, chart, no, or - where there are no images
  std::string image_from, image_to;  // of the first pool; tags are joined by commas
  double length = 0, limit = 0;      // of image_to
  std::vector<diff_change> changes;  // components first, each by name
  std::vector<request_verdict> requests;
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};

/// Errors   as map_release.
reactor::awaitable<reactor::result<diff_answer>> diff_releases(
    host& packs, subject s, std::shared_ptr<const diff_question> question);

reactor::result<diff_answer> read_diff_answer(const value& answer);

/// How much there is to look at, for the budget.
std::size_t entries_of(const document& d);
std::size_t entries_of(const diff_question& question);

/// What is known of a Release from the folder it lies in; `base` may be null.
diff_question question_about(const repository& all, std::shared_ptr<const document> base,
                             std::shared_ptr<const document> release);

}  // namespace policies::releases
