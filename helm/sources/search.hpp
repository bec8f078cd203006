#pragma once

#include "helm/sources/index.hpp"

#include <memory>
#include <string>
#include <vector>

namespace helm::sources {

/// One line of `search repo`.
struct search_hit {
  std::string name;  // "repository/chart"
  std::string version, app_version, description;
  int score = 0;  // where the term was found: name, repository, description, keywords
};

struct search_options {
  std::string term;     // "" finds everything
  std::string version;  // a constraint; "" = none
  bool regular_expression = false;
  bool all_versions = false;
};

/// Charts of several repositories, looked up by their texts.
class search_index {
public:
  /// Takes the newest version of each chart, or all of them.
  void add(const std::string& repository, const repository_index& index, bool all);
  /// Best first, then by name, newest first; one version of each chart unless all are asked for.
  /// Errors   "error parsing regexp: …", "an invalid version/constraint format: …".
  outcome<std::vector<search_hit>> find(const search_options& o) const;

private:
  struct line {
    search_hit hit;
    std::string text;
  };
  std::vector<line> lines_;
};

}  // namespace helm::sources
