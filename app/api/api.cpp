#include "app/api/api.hpp"

#include "app/api/metric_table.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace units {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds sync_timeout = 60s;
constexpr reactor::nanoseconds doubt_interval = 1s;  // a view that does not fit is not waited for

/// What the messages need of an api.
struct wording {
  std::string name, remedy, watches, loads;
};

awaitable<k8s::result<void>> look_for(k8s::engagement& on,  // borrowed
                                      const std::vector<k8s::resource>& kinds,
                                      const std::string& remedy) {
  for (const k8s::resource& r : kinds) {
    k8s::resource wanted = r;
    auto served = co_await on.discovery().serves(std::move(wanted));
    if (!served) co_return served.error();
    if (*served) continue;
    k8s::fault f;
    f.code = k8s::errc::not_found;
    f.doing = "look for " + r.plural + (r.group.empty() ? "" : "." + r.group);
    f.detail = "the kind is not served" + (remedy.empty() ? "" : ": " + remedy);
    co_return f;
  }
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> wait_for(k8s::engagement& on, cluster_controller& made,  // borrowed
                                      const wording& says) {
  const reactor::steady_time until = on.loop().now() + sync_timeout;
  k8s::fault f;
  while (on.loop().now() < until) {
    const bool complete = co_await made.synced(std::min(until, on.loop().now() + doubt_interval));
    if (complete) co_return k8s::result<void>();
    if (auto refused = made.refusal()) co_return *std::move(refused);
    if (auto refused = on.refusal()) co_return *std::move(refused);
    f.detail = made.sync_problem();
    f.code = k8s::errc::over_budget;
    f.doing = "watch " + says.watches;
    if (!f.detail.empty()) co_return f;
  }
  f.code = k8s::errc::unavailable;
  f.doing = "load " + says.loads;
  f.detail = "not complete within a minute";
  co_return f;
}

}  // namespace

awaitable<std::vector<plan_row>> cluster_controller::overview() {
  co_return std::vector<plan_row>();
}
void cluster_controller::describe(boost::json::object&) const {}

std::unique_ptr<cluster_controller> running_api::at_home(k8s::engagement&) {
  return nullptr;
}

awaitable<void> running_api::reload() {
  co_return;
}

k8s::cluster_api engaging(const api& what, std::vector<k8s::resource> kinds, part_maker make) {
  k8s::cluster_api out;
  out.name = what.name;
  out.state_metric = what.state_metric;
  out.acts_under = what.acts_under;
  wording says{what.name, what.remedy, what.watches, what.loads};
  if (says.watches.empty()) says.watches = what.says.rows;
  if (says.loads.empty()) says.loads = says.watches;
  out.start = [says = std::move(says), kinds = std::move(kinds),
               make = std::move(make)](k8s::engagement& on) -> awaitable<k8s::result<void>> {
    cluster_controller* running = part_of(on);
    if (!running) {
      auto served = co_await look_for(on, kinds, says.remedy);
      if (!served) co_return served.error();
      std::unique_ptr<cluster_controller> made = make(on);
      running = made.get();
      on.attach(std::move(made));
    }
    auto complete = co_await wait_for(on, *running, says);
    co_return complete;
  };
  return out;
}

namespace {

stop held_by(const speed_limit::wait& w, reactor::wall_time now) {
  const bool is_fleets = w.by == speed_limit::wait::of::fleet;
  stop h;
  h.code = hold_code::speed_limit.code;
  h.sentence =
      std::string("the speed limit lets ") + std::to_string(w.limit) +
      (w.limit == 1 ? " change" : " changes") + " begin in a minute " +
      (is_fleets ? "in the fleet (--max-changes)" : "on a cluster (--max-changes-per-cluster)");
  h.released_by = "its turn comes";
  h.asked_again = reactor::format_rfc3339(now + w.left);
  h.again_in = w.left;
  return h;
}

std::optional<speed_limit::wait> asked(speed_limit& speed, asking how, const std::string& cluster,
                                       const std::string& unit, reactor::steady_time now) {
  switch (how) {
    case asking::looks: return speed.waits(cluster, unit, now);
    case asking::begins: return speed.begins(cluster, unit, now);
    case asking::overrides: break;
  }
  speed.began(cluster, unit, now);
  return std::nullopt;
}

}  // namespace

brake_question brake_on(const api_environment& h, std::string api, const k8s::engagement& on) {
  return [brake = h.brake, speed = h.speed, &loop = h.loop, &metrics = h.metrics,
          api = std::move(api), &on](std::string_view unit, asking how) -> std::optional<stop> {
    if (brake && how != asking::overrides)
      if (auto held = brake->stops(api, on.on().labels())) return held;
    const std::string& cluster = on.on().name();
    std::optional<speed_limit::wait> wait;
    if (speed) wait = asked(*speed, how, cluster, api + "/" + std::string(unit), loop.now());
    if (how != asking::looks)
      metrics
          .get_counter(wait ? unit_metrics::refused_changes : unit_metrics::changes,
                       {{"api", api}, {"cluster", cluster}})
          .add();
    if (!wait) return std::nullopt;
    return held_by(*wait, loop.wall());
  };
}

cluster_controller* part_of(const k8s::engagement& e) noexcept {
  return dynamic_cast<cluster_controller*>(e.part());
}

policies::shared_hooks hooks_of(const std::vector<api>& all) {
  policies::hook_list out;
  for (const api& a : all)
    for (policies::hook h : a.hooks) {
      if (h.apis.empty()) h.apis = {a.name};
      const auto known = std::ranges::find(out, h.name, &policies::hook::name);
      if (known == out.end())
        out.push_back(std::move(h));
      else
        known->apis.insert(known->apis.end(), h.apis.begin(), h.apis.end());
    }
  return std::make_shared<const policies::hook_list>(std::move(out));
}

api& named(std::vector<api>& all, std::string_view name) {
  return *std::ranges::find(all, name, &api::name);
}

}  // namespace units
