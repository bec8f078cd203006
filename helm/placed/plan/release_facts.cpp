#include "helm/placed/plan/release_facts.hpp"

#include "helm/placed/plan/chart_version.hpp"

#include <algorithm>

namespace helm::placed {
namespace {

reactor::wall_time time_of_record(const go_time& t) {
  if (release::is_zero(t)) return {};
  return reactor::wall_time(std::chrono::seconds(t.seconds) +
                            std::chrono::nanoseconds(t.nanoseconds));
}

}  // namespace

std::optional<release_facts> newest_of(std::span<const release::record> history) {
  const auto newest = std::ranges::max_element(history, {}, &release::record::revision);
  if (newest == history.end()) return std::nullopt;
  release_facts out;
  out.state = newest->state;
  out.revision = newest->revision;
  out.last_deployed = time_of_record(newest->last_deployed);
  if (newest->origin) {
    out.chart_name = newest->origin->meta.name;
    out.chart_version = newest->origin->meta.version;
  }
  out.values = values_digest(newest->config);
  return out;
}

std::string moved_away(const release_facts& is, const chart_coordinates& wanted,
                       const std::string& wanted_values) {
  const std::string name = wanted.name.substr(wanted.name.rfind('/') + 1);  // of a registry's path
  if (is.chart_name != name)
    return "the release has chart " + is.chart_name + " instead of " + name;
  if (!wanted.version.empty() && !same_version(wanted.version, is.chart_version))
    return "the release has version " + is.chart_version + " instead of " + wanted.version;
  if (is.values != wanted_values) return "the release has other values";
  return {};
}

reactor::nanoseconds until_next_revision(const release_facts& is, reactor::wall_time now) {
  const auto age = now - is.last_deployed;
  const bool is_recent =
      age >= age.zero() && age < operation_floor;  // not of a clock ahead of ours
  return is.state == release::status::failed && is_recent ? operation_floor - age : age.zero();
}

reactor::nanoseconds until_abandoned(const release_facts& pending, reactor::wall_time now,
                                     std::optional<reactor::wall_time> first_seen,
                                     reactor::nanoseconds timeout) {
  const reactor::nanoseconds limit = timeout + abandoned_grace;
  const auto left = [&](reactor::wall_time since) {
    const auto age = now - since;
    return age >= limit ? reactor::nanoseconds(0) : limit - age;
  };
  if (!first_seen) first_seen = now;
  return std::min(left(pending.last_deployed), left(*first_seen));
}

}  // namespace helm::placed
