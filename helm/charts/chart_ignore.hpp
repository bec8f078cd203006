#pragma once

#include "helm/go.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// The rules of a .helmignore file.
class ignore_rules {
public:
  /// Errors   "double-star (**) syntax is not supported", a pattern with a broken bracket.
  static outcome<ignore_rules> parse(std::string_view text);
  /// What Helm ignores without being asked: hidden files in templates/.
  void add_defaults();
  /// True when the file or directory at `path` (relative, with /) is left out.
  bool ignored(std::string_view path, bool is_directory) const;

private:
  struct rule {
    std::string pattern;
    bool negated = false;
    bool directories_only = false;
    enum class against : unsigned char { rooted, path, base } how = against::base;
  };
  outcome<bool> add(std::string_view line);
  std::vector<rule> rules_;
};

/// filepath.Match: * and ? stop at /, [a-z], [^a], \x. Nothing for a broken pattern.
enum class glob_result : unsigned char { no, yes, broken };
glob_result glob_match(std::string_view pattern, std::string_view name);

}  // namespace helm
