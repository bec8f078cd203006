#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace simulation {

/// What may go wrong while a fleet is moved, by the names that fleet files and `--faults` use.
enum class trouble {
  cut,          // connections to a cluster end
  half_open,    // bytes vanish silently, for a while or on one connection
  split,        // bytes arrive late and in small pieces
  conflict,     // 409 instead of what was asked
  gone,         // 410, by answers and by servers that forget
  throttled,    // 429
  failing,      // 500
  stale_lists,  // reads that may be old are
  lost_events,  // events happen that no watcher hears, and are forgotten before the next question
  restarts,     // API servers start again, with their history or without
  slow_hosts,   // some take ten times as long
  // some fall back to their old image, some come back and are not Ready for a quarter of an hour
  failing_hosts,
  bad_images,        // an image comes first that two hosts of each cluster do not boot
  lost_reboots,      // one that two of them do not come back from for an hour
  lost_nodes,        // machines lose power and come back
  crashes,           // windlass ends and starts again, at any time and right after a write
  clock_jumps,       // wall clocks are set
  policy_swaps,      // policies are edited
  registries,        // the registry is away, throttles, fails or lies; pools follow its tag
  tag_moves,         // the tag names other images for a while
  secret_rotations,  // the registry's password changes, before or after the Secret does
  dead_clusters,     // a cluster says nothing for minutes
  departures,        // the Secret that names a cluster goes, and comes again
  credentials,       // the token for a cluster changes, before or after its Secret does
  chart_repository,  // it is away, fails, gives pages for an index or half an archive
  tenant_changes,    // Tenants come and go
  catalogue_swaps,   // the releases of Trustee are edited: from another registry, or broken
  trustee_changes,   // instances come, go and change their version; people edit what is theirs
  release_edits,     // people edit, uninstall and forget releases of FleetCharts
};

using troubles = std::set<trouble>;

inline constexpr std::size_t trouble_count = 29;
const std::array<trouble, trouble_count>& every_trouble() noexcept;
troubles all_troubles();
std::string_view name_of(trouble t) noexcept;
std::optional<trouble> trouble_named(std::string_view name) noexcept;
/// Pools follow a tag behind a login, rather than a digest.
bool with_registry(const troubles& all);
/// What only a fleet with Tenants knows, or one with Trustee instances, or with FleetCharts.
troubles of_tenants();
troubles of_trustees();
troubles of_charts();
/// "cut,crashes"; "none" without any.
std::string names_of(const troubles& all);

}  // namespace simulation
