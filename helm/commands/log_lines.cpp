#include "helm/commands/log_lines.hpp"

#include "helm/go.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace helm {
namespace {

// Of v3.21.4.
constexpr std::pair<std::string_view, std::string_view> places[] = {
    {"warning: skipping globals because destination", "coalesce.go:138"},
    {"warning: skipping globals because source", "coalesce.go:145"},
    {"warning: skipped value for ", "coalesce.go:237"},
    {"warning: cannot overwrite table", "coalesce.go:316"},
    {"warning: destination for ", "coalesce.go:319"},
    {"Warning: Condition path ", "dependencies.go:64"},
    {"Warning: PathValue returned error ", "dependencies.go:67"},
    {"Warning: Tag ", "dependencies.go:95"},
    {"Warning: ImportValues missing table from chart ", "dependencies.go:270"},
    {"Warning: ImportValues missing table: ", "dependencies.go:287"},
    {"Warning: Dependencies are handled in Chart.yaml", "load.go:120"},
    {"Warning: Dependency locking is handled in Chart.lock", "load.go:138"},
    {"info: skipping unknown hook: ", "manifest_sorter.go:199"},
    {"found symbolic link in path: ", "walk.go:75"},
};

}  // namespace

std::string log_line(const std::string& warning) {
  for (const auto& [start, place] : places)
    if (warning.starts_with(start)) return std::string(place) + ": " + warning;
  return warning;
}

std::string warning_line(reactor::wall_time at, int process, const std::string& text) {
  // "2026-11-28T04:39:45.442040Z"
  const std::string when = reactor::format_rfc3339_micro(at);
  std::array<char, 16> id{};
  (void)std::snprintf(id.data(), id.size(), "%7d", process);
  return "I" + when.substr(5, 2) + when.substr(8, 2) + " " + when.substr(11, 15) + " " + id.data() +
         " warnings.go:107] " + quote("Warning: " + text);
}

}  // namespace helm
