#include "helm/commands/log_lines.hpp"

#include "formats/go/time.hpp"
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

constexpr std::pair<std::string_view, std::string_view> debug_places[] = {
    {"Original chart version: ", "install.go:225"},
    {"CHART PATH: ", "install.go:242"},
    {"Install failed and atomic is set", "install.go:511"},
    {"preparing upgrade for ", "upgrade.go:164"},
    {"performing update for ", "upgrade.go:172"},
    {"updating status for upgraded release for ", "upgrade.go:180"},
    {"creating upgraded release for ", "upgrade.go:375"},
    {"waiting for release ", "upgrade.go:447"},
    {"Upgrade failed and atomic is set", "upgrade.go:505"},
    {"preparing rollback of ", "rollback.go:66"},
    {"creating rolled back release for ", "rollback.go:73"},
    {"performing rollback of ", "rollback.go:79"},
    {"updating status for rolled back release for ", "rollback.go:85"},
    {"rolling back ", "rollback.go:132"},
    {"superseding previous deployment ", "rollback.go:258"},
    {"uninstall: Deleting ", "uninstall.go:103"},
    {"purge requested for ", "uninstall.go:156"},
    {"getting history for release ", "history.go:56"},
    {"creating ", "client.go:144"},
    {"checking ", "client.go:388"},
    {"Created a new ", "client.go:409"},
    {"error updating the resource ", "client.go:420"},
    {"Deleting ", "client.go:437"},
    {"Unable to get obj ", "client.go:440"},
    {"Skipping delete of ", "client.go:448"},
    {"Failed to delete ", "client.go:452"},
    {"Starting delete for ", "client.go:506"},
    {"Replaced ", "client.go:717"},
    {"Looks like there are no changes for ", "client.go:725"},
    {"Patch ", "client.go:734"},
    {"beginning wait for ", "wait.go:50"},
};

std::string_view debug_place(std::string_view text) {
  if (text.starts_with("creating release record ")) return {};
  for (const auto& [start, place] : debug_places)
    if (text.starts_with(start)) return place;
  return {};
}

}  // namespace

std::string log_line(const std::string& warning) {
  std::string line = warning;
  for (const auto& [start, place] : places)
    if (warning.starts_with(start)) {
      line = std::string(place) + ": " + warning;
      break;
    }
  if (!line.ends_with('\n')) line += '\n';
  return line;
}

std::string debug_line(const std::string& text, reactor::wall_time at,
                       std::chrono::nanoseconds running) {
  const auto wall = std::chrono::time_point_cast<std::chrono::system_clock::duration>(at);
  std::array<char, 32> since{};
  (void)std::snprintf(since.data(), since.size(), " m=+%.9f",
                      std::chrono::duration<double>(running).count());
  const std::string_view place = debug_place(text);
  return std::string(place) + (place.empty() ? "" : ": ") + time_text(time_of(wall)) +
         since.data() + " [debug] " + text + "\n";
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
