#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace formats {

/// A version taken apart without a copy; the texts borrow from what was read.
struct version_view {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::string_view prerelease, build;
};

/// A full SemVer 2.0.0 version; one leading v is passed over. Nothing: it is none, a number does
/// not fit 64 bits, or it is longer than 256 bytes.
std::optional<version_view> view_strict_version(std::string_view text) noexcept;

/// -1, 0 or 1 by SemVer 2 precedence, numbers of any length; build metadata does not count.
int compare_versions(const version_view& a, const version_view& b) noexcept;
/// The same of two pre-releases alone: "rc.2" is below "rc.10", and "" above both.
int compare_prereleases(std::string_view a, std::string_view b) noexcept;

/// Whether a version is in a range, or where the range cannot be read.
/// Shape    comparators (= == != > >= < <=, or none: exactly) of full versions or wildcards (12.*,
///          1.x, 1.2.X, *), joined by blanks or commas; || between alternatives. Everything is
///          compared plainly: 1.0.0-rc is below 1.0.0 and in "< 1.0.0". A wildcard stands for the
///          versions from its first to before its next: "> 1.x" is ">= 2.0.0".
/// Units    position: bytes from the start of the range. At most 512 bytes and 64 comparators.
struct range_answer {
  bool holds = false;
  const char* wrong = nullptr;  // why it is no range; nullptr: it is one
  std::size_t position = 0;
};
range_answer range_holds(std::string_view range, const version_view& version) noexcept;
/// Only whether it is a range.
range_answer read_range(std::string_view range) noexcept;

/// Whether some version is in both. Both must be ranges; false when one is not.
bool ranges_overlap(std::string_view a, std::string_view b) noexcept;

}  // namespace formats
