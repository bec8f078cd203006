#include "fleetwide/pool_home.hpp"

#include "fleetwide/api.hpp"
#include "fleetwide/fleet_members.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/holds.hpp"
#include "fleetwide/plan/pool_sight.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {
namespace {

/// Of names with counts, the most frequent one.
std::string most_of(const std::map<std::string, std::size_t>& counted) {
  const auto most =
      std::ranges::max_element(counted, {}, [](const auto& one) { return one.second; });
  return most == counted.end() ? std::string() : most->first;
}

}  // namespace

pool_home::pool_home(k8s::engagement& on, options o)
    : fleet_home_of(on, std::move(o),
                    {.resource = fleet_pools(),
                     .kind = names::fleet_pool,
                     .api = pools_api,
                     .controller = "fleet_pool",
                     .asked_at = {"spec", "image", "ref"},
                     .removes = "delete the pool",
                     .lets_go = "take our marks off the pool",
                     .conditions = fleet_conditions,
                     .holds = hold_code::of_members}) {
  start();
}

void pool_home::describe(boost::json::object& entry) const {
  entry["fleetPools"] = objects_.objects().size();
}

fleet_members* pool_home::pools_on(const std::string& cluster) const {
  return static_cast<fleet_members*>(options_.members(cluster));
}

/// A tag is held at what its newest revision says, until it is followed or a person approves.
revision_content pool_home::content_wanted(const fleet_object& p) const {
  revision_content c;
  c.template_json = p.template_json;
  c.ref = p.ref;
  const fleetwide::revision* now = find_revision(p.status.digest, p);
  if (!c.is_by_tag() || !now || now->content.ref != c.ref) return c;
  c.image_digest = now->content.image_digest;
  const std::string& available = p.status.available_digest;
  const bool is_under_way =
      !p.status.history.empty() && p.status.history.back().outcome == outcome::rolling;
  const bool moves =
      p.follows_tag ? !is_under_way : p.meta.annotations.get(names::approve) == available;
  if (!available.empty() && moves) c.image_digest = available;
  return c;
}

member_sight pool_home::sight_on(fleet_look& at, member m, member_part* part) {
  const bootc::node_pool* pool =
      part ? static_cast<fleet_members*>(part)->pool(at.object.claim) : nullptr;
  const std::string digest(pool ? pool->meta.annotations.get(names::digest) : "");
  const fleetwide::revision* has = find_revision(digest, at.object);
  return sight_of(std::move(m), pool, at.object.mark(), has ? has->content.ref : std::string(),
                  at.world.now);
}

std::string pool_home::digest_on(member_part& part, const fleet_object& p) const {
  const bootc::node_pool* pool = static_cast<fleet_members&>(part).pool(p.claim);
  return pool ? std::string(pool->meta.annotations.get(names::digest)) : std::string();
}

/// What members found the tag to name, and what it names by now.
void pool_home::see_tags(fleet_look& at) const {
  if (!at.wanted.is_by_tag()) return;
  std::map<std::string, std::size_t> held, newer;
  for (const member& m : at.world.members) {
    if (m.has != member::owner::ours || m.digest != at.world.wanted) continue;
    fleet_members* part = pools_on(m.cluster);
    const bootc::node_pool* pool = part ? part->pool(at.object.claim) : nullptr;
    if (!pool || pool->spec.image_ref != at.wanted.ref ||
        pool->status.resolved_ref != at.wanted.ref)
      continue;
    if (!pool->status.target_digest.empty()) ++held[pool->status.target_digest];
    if (!pool->status.available_digest.empty()) ++newer[pool->status.available_digest];
  }
  at.held_at = !at.wanted.image_digest.empty() ? at.wanted.image_digest : most_of(held);
  at.available = most_of(newer);
  if (at.available == at.held_at) at.available.clear();
}

awaitable<void> pool_home::carry_out(deed_order d) {
  fleet_members* part = pools_on(d.where.second);
  const std::string& name = d.of.claim;
  const bootc::node_pool* pool = part ? part->pool(name) : nullptr;
  const std::string version = pool ? pool->meta.resource_version.text() : std::string();
  k8s::result<void> done;
  if (part && d.what.does == deed::write) {
    boost::json::object body = pool_for_member(d.content, name, d.marks);
    done = co_await part->apply(
        name, std::move(body),
        d.what.takes_over ? k8s::apply_conflicts::force : k8s::apply_conflicts::fail);
  } else if (pool && d.what.does == deed::remove) {
    done = co_await part->remove(name, pool->meta.uid.text());
  } else if (pool && d.what.does == deed::let_go) {
    done = co_await part->let_go(name, version);
  }
  deed_done(d, done, version);
}

}  // namespace fleetwide
