// What an overview is made from: every cluster asked, none waited for longer than it deserves.
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"

#include <algorithm>
#include <optional>

namespace cli {
namespace {

using units::plan_row;

/// Why there is nothing to wait for.
struct refusal {
  std::string state, error;
};

/// Waits for what may still come: the cluster, then each API on it until it is Live or was told
/// that it cannot be. A cluster that answered its first call with a refusal, or not at all, is not
/// waited for: what it said is returned.
reactor::awaitable<std::optional<refusal>> until_known(service& s, reactor::loop& l,
                                                       std::string name,  // borrowed
                                                       reactor::steady_time deadline) {
  constexpr reactor::nanoseconds look_again = std::chrono::milliseconds(50);
  for (;;) {
    const k8s::cluster* c = s.cluster_named(name);
    if (!c || l.now() >= deadline) co_return std::nullopt;
    const bool known = c->is_connected() &&
                       std::ranges::all_of(c->engagements(),
                                           [&](const auto& e) { return s.fleet().is_known(*e); });
    if (known) co_return std::nullopt;
    if (!c->is_connected() && k8s::is_failure(c->state())) {
      refusal told{std::string(k8s::name_of(c->state())), c->says()};
      co_return told;
    }
    co_await l.sleep_for(look_again);
  }
}

/// What an API has on the clusters of that name, one after the other: home alone in its fleet is
/// there twice, and one cluster all the same. Null after the last.
const k8s::engagement* engagement_of(const service& s, const std::string& name,
                                     const std::string& api, std::size_t which = 0) {
  for (const k8s::cluster* c : s.clusters())
    if (const k8s::engagement* e = c->name() == name ? c->find(api) : nullptr)
      if (which-- == 0) return e;
  return nullptr;
}

/// Whatever state it is in: a token that ends takes the cluster away.
void say_token_problem(cluster_overview& of, const k8s::cluster& c) {
  if (c.token_problem().empty()) return;
  const auto say = [&](std::string& text) {
    text += (text.empty() ? "" : "; ") + c.token_problem();
  };
  say(of.last_error);
  for (api_overview& a : of.apis) say(a.last_error);
}

/// The names of all clusters, or of that one, once they are known.
reactor::awaitable<std::vector<std::string>> names_of(service& s, std::string only_cluster,
                                                      reactor::steady_time deadline) {
  (void)co_await s.fleet().discovered(deadline);
  std::vector<std::string> names = s.cluster_names();
  if (!only_cluster.empty())
    std::erase_if(names, [&](const std::string& name) { return name != only_cluster; });
  co_return names;
}

/// As until_known(), and what the parts there keep is complete.
reactor::awaitable<std::optional<refusal>> until_complete(service& s, reactor::loop& l,
                                                          std::string name,  // borrowed
                                                          reactor::steady_time deadline) {
  std::optional<refusal> refused = co_await until_known(s, l, name, deadline);
  // Look again after each wait: a cluster or an API may be gone.
  for (const units::api& what : s.apis())
    for (std::size_t i = 0; const k8s::engagement* e = engagement_of(s, name, what.name, i); ++i)
      if (units::cluster_controller* part = units::part_of(*e))
        (void)co_await part->synced(deadline);
  co_return refused;
}

}  // namespace

cluster_overview overview_of(const service& s, const k8s::fleet::unusable& u) {
  cluster_overview one{
      u.name, {}, std::string(k8s::name_of(k8s::cluster_state::invalid)), u.why, {}};
  for (const units::api& a : s.apis()) one.apis.push_back({a.name, a.says, one.state, u.why, {}});
  return one;
}

reactor::awaitable<std::optional<cluster_overview>> look_at_cluster(service& s, std::string name) {
  cluster_overview one;
  for (const units::api& what : s.apis()) {
    // Where the cluster is home as well, both parts may see the same objects.
    std::vector<plan_row> rows;
    for (std::size_t i = 0; rows.empty(); ++i) {
      const k8s::engagement* e = engagement_of(s, name, what.name, i);
      if (!e) break;
      if (units::cluster_controller* part = units::part_of(*e)) rows = co_await part->overview();
    }
    one.apis.push_back({what.name, what.says, {}, {}, std::move(rows)});
  }
  // Only now: a cluster or an API may be gone after each wait.
  k8s::cluster* c = s.cluster_named(name);
  if (!c) co_return std::nullopt;
  one.name = std::move(name);
  one.server = c->api().server();
  for (const auto& [key, value] : c->labels())
    one.labels.emplace_back(std::string(key.str()), std::string(value.str()));
  one.state = std::string(k8s::name_of(c->state()));
  one.last_error = c->says();
  for (api_overview& a : one.apis)
    if (const k8s::engagement* e = engagement_of(s, one.name, a.name)) {
      a.state = std::string(k8s::name_of(e->state()));
      a.last_error = e->says();
    }
  std::erase_if(one.apis, [](const api_overview& a) { return a.state.empty(); });
  say_token_problem(one, *c);
  co_return one;
}

void sum_up(fleet_overview& f) {
  f.held = 0;
  for (auto& [name, sum] : f.apis) {
    sum = {.says = sum.says};
    for (const cluster_overview& c : f.clusters)
      for (const api_overview& a : c.apis) {
        if (a.name != name) continue;
        for (const plan_row& row : a.rows) {
          sum.units += row.units.size();
          sum.updated += row.updated;
          sum.updating += row.updating;
          sum.degraded += row.degraded;
          f.held += row.holds.size();
        }
      }
  }
}

reactor::awaitable<void> until_answered(service& s, reactor::loop& l, std::string only_cluster,
                                        reactor::steady_time deadline) {
  const std::vector<std::string> names = co_await names_of(s, std::move(only_cluster), deadline);
  for (const std::string& name : names) (void)co_await until_complete(s, l, name, deadline);
}

reactor::awaitable<fleet_overview> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                           reactor::steady_time deadline) {
  const std::vector<std::string> names = co_await names_of(s, only_cluster, deadline);
  fleet_overview f;
  for (const units::api& a : s.apis()) f.apis.push_back({a.name, {.says = a.says}});
  for (const std::string& name : names) {
    const std::optional<refusal> refused = co_await until_complete(s, l, name, deadline);
    std::optional<cluster_overview> one = co_await look_at_cluster(s, name);
    if (!one) continue;
    // It is dialled again meanwhile; what it said counts.
    if (refused) {
      one->state = refused->state;
      one->last_error = refused->error;
      for (api_overview& a : one->apis) {
        a.state = refused->state;
        a.last_error = refused->error;
      }
    }
    if (const k8s::cluster* c = refused ? s.fleet().find(name) : nullptr)
      say_token_problem(*one, *c);
    f.clusters.push_back(std::move(*one));
    co_await l.yield();
  }
  for (const k8s::fleet::unusable& u : s.fleet().without_connection())
    if (only_cluster.empty() || u.name == only_cluster) f.clusters.push_back(overview_of(s, u));
  std::ranges::sort(f.clusters, {}, &cluster_overview::name);
  sum_up(f);
  f.packs = s.packs().status();
  f.brake = s.brake().order();
  co_return f;
}

}  // namespace cli
