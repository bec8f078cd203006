#include "simulation/trouble.hpp"

#include <algorithm>

namespace simulation {
namespace {

struct named {
  trouble is;
  std::string_view name;
};
constexpr std::array<named, trouble_count> names{{{trouble::cut, "cut"},
                                                  {trouble::half_open, "half-open"},
                                                  {trouble::split, "split"},
                                                  {trouble::conflict, "409"},
                                                  {trouble::gone, "410"},
                                                  {trouble::throttled, "429"},
                                                  {trouble::failing, "500"},
                                                  {trouble::stale_lists, "stale-lists"},
                                                  {trouble::lost_events, "lost-events"},
                                                  {trouble::restarts, "restarts"},
                                                  {trouble::slow_hosts, "slow-hosts"},
                                                  {trouble::failing_hosts, "failing-hosts"},
                                                  {trouble::bad_images, "bad-images"},
                                                  {trouble::lost_reboots, "lost-reboots"},
                                                  {trouble::lost_nodes, "lost-nodes"},
                                                  {trouble::crashes, "crashes"},
                                                  {trouble::clock_jumps, "clock-jumps"},
                                                  {trouble::policy_swaps, "policy-swaps"},
                                                  {trouble::registries, "registries"},
                                                  {trouble::tag_moves, "tag-moves"},
                                                  {trouble::secret_rotations, "secret-rotations"},
                                                  {trouble::dead_clusters, "dead-clusters"},
                                                  {trouble::departures, "departures"},
                                                  {trouble::credentials, "credentials"},
                                                  {trouble::chart_repository, "chart-repository"},
                                                  {trouble::tenant_changes, "tenant-changes"},
                                                  {trouble::catalogue_swaps, "catalogue-swaps"},
                                                  {trouble::trustee_changes, "trustee-changes"},
                                                  {trouble::release_edits, "release-edits"}}};

}  // namespace

const std::array<trouble, trouble_count>& every_trouble() noexcept {
  static const std::array<trouble, trouble_count> all = [] {
    std::array<trouble, trouble_count> out{};
    std::ranges::transform(names, out.begin(), &named::is);
    return out;
  }();
  return all;
}

troubles all_troubles() {
  return {every_trouble().begin(), every_trouble().end()};
}

std::string_view name_of(trouble t) noexcept {
  const auto found = std::ranges::find(names, t, &named::is);
  return found == names.end() ? std::string_view() : found->name;
}

std::optional<trouble> trouble_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(names, name, &named::name);
  if (found == names.end()) return std::nullopt;
  return found->is;
}

bool with_registry(const troubles& all) {
  return all.contains(trouble::registries) || all.contains(trouble::tag_moves) ||
         all.contains(trouble::secret_rotations);
}

troubles of_tenants() {
  return {trouble::chart_repository, trouble::tenant_changes};
}

troubles of_trustees() {
  return {trouble::catalogue_swaps, trouble::trustee_changes};
}

troubles of_charts() {
  return {trouble::release_edits};
}

std::string names_of(const troubles& all) {
  std::string out;
  for (const trouble t : all) out += (out.empty() ? "" : ",") + std::string(name_of(t));
  return out.empty() ? "none" : out;
}

}  // namespace simulation
