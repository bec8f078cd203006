#include "fleetwide/plan/pool_sight.hpp"

#include "bootc/kinds/conditions.hpp"
#include "bootc/pool/hold.hpp"
#include "fleetwide/kinds/names.hpp"

#include <algorithm>
#include <span>

namespace fleetwide {
namespace {

const units::hold_kind* trouble_in(std::span<const units::hold_kind> table, std::string_view code) {
  const auto found = std::ranges::find(table, code, &units::hold_kind::code);
  const bool is = found != table.end() && found->nature == units::hold_nature::trouble;
  return is ? &*found : nullptr;
}

/// What most of the pool's nodes wait for until a person acts; none where they wait for nothing of
/// that kind.
std::optional<units::hold> trouble_of(const std::string& cluster, const bootc::node_pool& pool) {
  const units::hold_kind* most = nullptr;
  std::int64_t nodes = 0;
  for (const auto& [code, n] : pool.status.held) {
    const std::string_view kind = units::kind_in(code);
    const units::hold_kind* row = trouble_in(bootc::hold_code::of_nodes, kind);
    if (!row) row = trouble_in(units::hold_code::of_every_api, kind);
    if (!row || n <= nodes) continue;
    most = row;
    nodes = n;
  }
  if (!most) return std::nullopt;
  return units::held(*most, cluster,
                     std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") + " of its pool " +
                         (nodes == 1 ? "waits" : "wait") + "; `windlass plan --cluster " + cluster +
                         "` says why");
}

}  // namespace

member_sight sight_of(member is, const bootc::node_pool* pool, const std::string& mark,
                      const std::string& ref_of_its_revision, reactor::wall_time now) {
  member_sight out;
  out.is = std::move(is);
  member& m = out.is;
  m.has = member::owner::none;
  if (!pool) return out;
  const k8s::string_map& notes = pool->meta.annotations;
  out.version = pool->meta.resource_version.text();
  out.since = notes.get(names::since);
  const std::string_view whose = notes.get(names::object);
  m.is_going = pool->meta.deleting();
  if (whose != mark) {
    m.has = member::owner::other;
    m.holder = whose.empty()
                   ? "a pool " + pool->meta.name.str() + " is there that no FleetPool made"
                   : "the pool comes from " + std::string(whose);
    return out;
  }
  m.digest = notes.get(names::digest);
  if (!ref_of_its_revision.empty() && pool->spec.image_ref != ref_of_its_revision && !m.is_going) {
    m.has = member::owner::other;
    m.holder = "spec.image.ref was changed to " + pool->spec.image_ref + " by another writer";
    return out;
  }
  m.has = member::owner::ours;
  const auto written = reactor::parse_rfc3339(notes.get(names::since));
  const reactor::wall_time since = written ? *written : reactor::wall_time{};
  m.is = member::progress::moving;
  if (pool->status.observed_generation < pool->meta.generation) return out;
  m.waits = trouble_of(m.cluster, *pool);
  const k8s::condition* bad =
      k8s::find_condition(pool->status.conditions, bootc::pool_condition::degraded);
  if (bad && bad->is_true()) {
    const auto began = reactor::parse_rfc3339(bad->last_transition_time);
    const bool is_new = began && *began >= since;
    if (!is_new && now < since + old_trouble_counts_after) {
      out.look_again = since + old_trouble_counts_after;
      return out;
    }
    m.is = member::progress::failed;
    m.message = bad->reason + (bad->message.empty() ? "" : ": " + bad->message);
    m.since = began ? std::max(*began, since) : since;
    return out;
  }
  const k8s::condition* done =
      k8s::find_condition(pool->status.conditions, bootc::pool_condition::up_to_date);
  if (!done || !done->is_true()) return out;
  const auto at = reactor::parse_rfc3339(done->last_transition_time);
  m.is = member::progress::ready;
  m.since = at ? std::max(*at, since) : since;
  return out;
}

}  // namespace fleetwide
