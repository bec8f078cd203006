#include "policies/host/hooks/hook_version.hpp"

#include <cmath>

namespace policies {

std::string version_problem(double number) {
  const int newest = hook_versions.back().number;
  const std::string has = "this program has version " + std::to_string(newest) + " of the hooks";
  if (number != std::floor(number) || number < 1 || number > 1e6)
    return "expected a whole number from 1 on; " + has;
  if (number > newest)
    return std::to_string(static_cast<int>(number)) + " is newer than this program: " + has +
           "; upgrade it, or write the pack for that";
  if (number >= oldest_hook_version) return {};
  std::string out = std::to_string(static_cast<int>(number)) + " is too old: " + has;
  for (const hook_version& v : hook_versions)
    if (v.number > number) out += "; since " + std::string(v.since) + " " + std::string(v.changed);
  return out + "; change the pack and say api = " + std::to_string(newest);
}

}  // namespace policies
