#pragma once

#include "formats/plain/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// A version as people write them: leading v, missing parts and leading zeros are tolerated.
struct version {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string prerelease;
  std::string metadata;
  std::string original;

  std::string text() const;
  /// -1, 0 or 1 by SemVer 2 precedence; metadata does not count.
  int compare(const version& other) const;
};

/// As Masterminds' semver takes it, for charts.
/// Errors   "invalid semantic version", "version segment starts with 0", …
outcome<version> parse_lenient_version(std::string_view text);
/// A full SemVer 2.0.0 version without a leading v (view_strict_version); nothing where it is none.
std::optional<version> parse_strict_version(std::string_view text);

/// A parsed constraint: groups joined by ||, each a list of comparators.
class version_constraint {
public:
  /// Errors   "improper constraint: \"…\""
  static outcome<version_constraint> parse(std::string_view text);
  bool check(const version& v) const;

private:
  struct comparator {
    std::string operation;
    version bound;
    bool dirty = false;
    bool minor_dirty = false;
    bool patch_dirty = false;
    bool holds(const version& v) const;
    bool tilde(const version& v) const;
    bool caret(const version& v) const;
  };
  struct group {
    std::vector<comparator> comparators;
    bool prereleases = false;
  };
  static bool parse_one(std::string_view text, comparator& out);
  std::vector<group> groups_;
};

}  // namespace formats
