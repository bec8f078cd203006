#include "helm/placed/plan/chart_version.hpp"

#include "formats/semver.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>

namespace helm::placed {

std::string version_problem(std::string_view asked) {
  if (asked.empty()) return {};
  const auto read = parse_lenient_version(asked);
  if (read) return {};
  return "chart version \"" + reactor::printable(asked, 128) +
         "\" is no version (such as 1.19.1): ranges and words are not followed";
}

bool same_version(std::string_view asked, std::string_view offered) {
  if (asked == offered) return true;
  const auto a = parse_lenient_version(asked), b = parse_lenient_version(offered);
  if (!a || !b || a->compare(*b) != 0) return false;
  return a->metadata.empty() || a->metadata == b->metadata;
}

std::optional<std::string> choose_version(const std::vector<std::string>& offered,
                                          std::string_view asked) {
  if (!asked.empty()) {
    if (std::ranges::find(offered, asked) != offered.end()) return std::string(asked);
    const auto same = std::ranges::find_if(
        offered, [&](const std::string& one) { return same_version(asked, one); });
    if (same != offered.end()) return *same;
    // A version that is not there is no range of those that are.
    if (parse_lenient_version(asked)) return std::nullopt;
  }
  const auto range = version_constraint::parse(asked.empty() ? std::string_view("*") : asked);
  if (!range) return std::nullopt;
  std::optional<version> best;
  for (const std::string& one : offered) {
    auto read = parse_lenient_version(one);
    if (!read || !range->check(*read) || (asked.empty() && !read->prerelease.empty())) continue;
    if (!best || best->compare(*read) < 0) best = *std::move(read);
  }
  return best ? std::optional(best->original) : std::nullopt;
}

}  // namespace helm::placed
