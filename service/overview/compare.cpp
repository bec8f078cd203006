// Two sets of policies on one fleet that does not stand still.
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "service/overview/changes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace cli {
namespace {

using units::plan_row;

/// What is told to one service a moment before the other is known to both after so long.
constexpr reactor::nanoseconds between_looks = std::chrono::milliseconds(300);

/// API and name of a row on one cluster.
using row_name = std::pair<std::string, std::string>;

plan_row* row_of(cluster_overview& c, const row_name& wanted) {
  for (api_overview& a : c.apis)
    for (plan_row& r : a.rows)
      if (a.name == wanted.first && r.name == wanted.second) return &r;
  return nullptr;
}
plan_row* row_of(std::optional<cluster_overview>& c, const row_name& wanted) {
  return c ? row_of(*c, wanted) : nullptr;
}

/// Why nothing can be compared there; empty when it can.
std::string unanswered(const cluster_overview& c) {
  const auto is_told = [](const api_overview& a) {
    return a.state == k8s::name_of(k8s::cluster_state::live) || has_nothing(a.state);
  };
  const auto silent = std::ranges::find_if_not(c.apis, is_told);
  if (silent == c.apis.end()) return {};
  return "it is " + silent->state + (silent->last_error.empty() ? "" : ": " + silent->last_error);
}

struct both {
  std::optional<cluster_overview> before, after;
};

}  // namespace

reactor::awaitable<comparison> compare(service& before, service& after, reactor::loop& l,
                                       fleet_overview& f, reactor::steady_time deadline) {
  comparison out;
  std::map<std::string, std::vector<row_name>> open;  // by cluster: what is to be compared
  for (const cluster_overview& c : f.clusters) {
    if (std::string why = unanswered(c); !why.empty()) {
      out.uncompared.push_back({c.name, {}, std::move(why)});
      continue;
    }
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows) open[c.name].emplace_back(a.name, r.name);
  }
  const auto look = [&](std::map<std::string, both>& into) -> reactor::awaitable<void> {
    for (const auto& [name, rows] : open) {
      both seen;
      seen.before = co_await look_at_cluster(before, name);
      seen.after = co_await look_at_cluster(after, name);
      into.insert_or_assign(name, std::move(seen));
      co_await l.yield();
    }
  };
  std::map<std::string, both> earlier, later;
  if (!open.empty()) co_await look(earlier);
  while (!open.empty()) {
    co_await l.sleep_for(between_looks);
    co_await look(later);
    for (auto c = open.begin(); c != open.end();) {
      both &first = earlier.at(c->first), &second = later.at(c->first);
      cluster_overview& shown =
          *std::ranges::lower_bound(f.clusters, c->first, {}, &cluster_overview::name);
      std::erase_if(c->second, [&](const row_name& name) {
        const plan_row *was = row_of(first.before, name), *still = row_of(second.before, name);
        const plan_row *is = row_of(first.after, name), *yet = row_of(second.after, name);
        if (!was || !still || !is || !yet) return false;
        if (!is_at_rest(*was, *still) || !is_at_rest(*is, *yet)) return false;
        std::ranges::move(changes_between(c->first, *still, *yet), std::back_inserter(out.changes));
        *row_of(shown, name) = std::move(*yet);
        return true;
      });
      c = c->second.empty() ? open.erase(c) : std::next(c);
    }
    if (l.now() >= deadline) break;
    std::swap(earlier, later);
  }
  for (const auto& [cluster, rows] : open)
    for (const auto& [api, row] : rows)
      out.uncompared.push_back({cluster, row, "it moves while it is looked at; ask again"});
  sum_up(f);
  std::ranges::stable_sort(out.changes, {}, &verdict_change::cluster);
  co_return out;
}

}  // namespace cli
