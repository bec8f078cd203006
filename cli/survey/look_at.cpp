// What a survey is made from: every cluster asked, none waited for longer than it deserves.
#include "cli/survey/survey.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>

namespace cli {
namespace {

namespace json = boost::json;
using units::plan_row;

/// Why there is nothing to wait for.
struct refusal {
  std::string state, error;
};

/// Waits for what may still come: the cluster, then each API on it until it is Live or was told that it cannot be. A cluster
/// that answered its first call with a refusal, or not at all, is not waited for: what it said is returned.
reactor::awaitable<std::optional<refusal>> until_known(service& s, reactor::loop& l,
                                                       std::string name,  // borrowed
                                                       reactor::steady_time deadline) {
  constexpr reactor::nanoseconds look_again = std::chrono::milliseconds(50);
  const auto find = [&]() -> k8s::cluster* {
    for (k8s::cluster* c : s.clusters())
      if (c->name() == name) return c;
    return nullptr;
  };
  for (;;) {
    const k8s::cluster* c = find();
    if (!c || l.now() >= deadline) co_return std::nullopt;
    const bool known =
        c->is_connected() &&
        std::ranges::all_of(c->engagements(), [](const auto& e) { return e->is_settled(); });
    if (known) co_return std::nullopt;
    if (!c->is_connected() && k8s::is_failure(c->state())) {
      refusal told{std::string(k8s::name_of(c->state())), c->last_error()};
      co_return told;
    }
    co_await l.sleep_for(look_again);
  }
}

/// Those of the fleet that there is no connection to: their kubeconfig cannot be used.
std::vector<cluster_survey> unusable(const service& s, const std::string& only_cluster) {
  std::string all;
  k8s::fleet::reading reading(s.fleet());
  while (const auto piece = reading.next()) all += *piece;
  std::vector<cluster_survey> found;
  const json::value entries = json::parse(all);
  for (const json::value& one : entries.as_array()) {
    const json::object& o = one.as_object();
    const auto text = [&](const char* key) {
      const json::value* v = o.if_contains(key);
      return v && v->is_string() ? std::string(v->get_string()) : std::string();
    };
    if (text("state") != k8s::name_of(k8s::cluster_state::invalid)) continue;
    if (only_cluster.empty() || text("name") == only_cluster)
      found.push_back({text("name"), text("server"), text("state"), text("lastError"), {}});
  }
  return found;
}

}  // namespace

reactor::awaitable<fleet_survey> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                         reactor::steady_time deadline) {
  (void)co_await s.fleet().discovered(deadline);
  std::vector<std::string> names;
  for (const k8s::cluster* c : s.clusters())
    if (only_cluster.empty() || c->name() == only_cluster) names.push_back(c->name());
  fleet_survey f;
  for (const units::api& a : s.apis()) f.apis.push_back({a.name, {.says = a.says}});
  for (const std::string& name : names) {
    const std::optional<refusal> refused = co_await until_known(s, l, name, deadline);
    // Look again after each wait: a cluster or an API may be gone.
    const auto find = [&](std::string_view api) -> units::part* {
      for (const k8s::cluster* c : s.clusters())
        if (const k8s::engagement* e = c->name() == name ? c->find(api) : nullptr)
          return units::part_of(*e);
      return nullptr;
    };
    cluster_survey one;
    for (std::size_t i = 0; i < s.apis().size(); ++i) {
      const units::api& what = s.apis()[i];
      if (units::part* part = find(what.name)) (void)co_await part->synced(deadline);
      std::vector<plan_row> rows;
      if (units::part* part = find(what.name)) rows = co_await part->survey();
      api_totals& sum = f.apis[i].second;
      for (const plan_row& r : rows) {
        sum.units += r.units.size();
        sum.updated += r.updated;
        sum.updating += r.updating;
        sum.degraded += r.degraded;
        f.held += r.holds.size();
      }
      one.apis.push_back({what.name, what.says, {}, {}, std::move(rows)});
    }
    for (k8s::cluster* c : s.clusters()) {
      if (c->name() != name) continue;
      one.name = name;
      one.server = c->api().server();
      one.state = std::string(k8s::name_of(c->state()));
      one.last_error = c->last_error();
      for (api_survey& a : one.apis)
        if (const k8s::engagement* e = c->find(a.name)) {
          a.state = std::string(k8s::name_of(e->state()));
          a.last_error = e->last_error();
        }
    }
    // It is dialled again meanwhile; what it said counts.
    if (refused && !one.name.empty()) {
      one.state = refused->state;
      one.last_error = refused->error;
      for (api_survey& a : one.apis) {
        a.state = refused->state;
        a.last_error = refused->error;
      }
    }
    std::erase_if(one.apis, [](const api_survey& a) { return a.state.empty(); });
    if (!one.name.empty()) f.clusters.push_back(std::move(one));
    co_await l.yield();
  }
  for (cluster_survey& c : unusable(s, only_cluster)) {
    for (const units::api& a : s.apis())
      c.apis.push_back({a.name, a.says, c.state, c.last_error, {}});
    f.clusters.push_back(std::move(c));
  }
  std::ranges::sort(f.clusters, {}, &cluster_survey::name);
  co_return f;
}

}  // namespace cli
