#include "releases/api.hpp"

#include "app/api/setup.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/host/host.hpp"
#include "releases/conditions.hpp"
#include "releases/events.hpp"
#include "releases/hold.hpp"
#include "releases/home_releases.hpp"
#include "releases/release_pools.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/trains/hooks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace releases {
namespace {

constexpr std::string_view api_name = "releases";

/// Home's library and the clusters' parts, which hear of each other here.
class running final : public units::running_api {
public:
  running(const units::api_environment& h, settings s)
      : environment_(h), settings_(std::move(s)), rows_(h.metrics, std::string(api_name)) {}

  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    auto books = std::make_shared<library>(environment_.loop, environment_.packs);
    home_releases::options o;
    o.does = environment_.does;
    o.ns = settings_.ns;
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.in_use = [this](const std::string& release) { return in_use(release); };
    o.on_stop = [this] {
      home_ = nullptr;
      books_.reset();
    };
    auto made = std::make_unique<home_releases>(on, books, std::move(o));
    home_ = made.get();
    books_ = std::move(books);
    books_->on_change = [this] {
      if (home_) home_->judge_again();
      for (release_pools* p : parts_) p->reconsider();
    };
    return made;
  }

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    release_pools::options o;
    o.does = environment_.does;
    o.labels = settings_.labels;
    o.home = [this] { return releases_at_home{books_, home_ && home_->is_live()}; };
    o.limits = environment_.limits;
    o.metrics = &environment_.metrics;
    o.rows = &rows_;
    o.brake = units::brake_on(environment_, "releases", on);
    o.digest_of = [this](const std::string& ref) { return digest_of(ref); };
    o.on_request = [this] {
      if (home_) home_->judge_again();
    };
    o.on_stop = [this](release_pools* p) { parts_.erase(p); };
    auto made = std::make_unique<release_pools>(on, environment_.packs, std::move(o));
    parts_.insert(made.get());
    return made;
  }

private:
  /// What most pools of the fleet have of it: a name that is pushed again while a Release goes
  /// through the fleet is still one image.
  std::string digest_of(const std::string& ref) const {
    std::map<std::string, std::size_t> found;
    for (const release_pools* p : parts_) p->count_digests(ref, found);
    const auto most =
        std::ranges::max_element(found, {}, [](const auto& digest) { return digest.second; });
    return most == found.end() ? std::string() : most->first;
  }

  /// Whether a cluster's labels name it; not known while one of the fleet may be missing.
  std::optional<bool> in_use(const std::string& release) const {
    for (const k8s::cluster* c : environment_.fleet.clusters()) {
      const requested_release w = requested_release_of(c->labels(), settings_.labels, *books_);
      if (w.problem.empty() && !w.version.empty() && w.provider + "-" + w.version == release)
        return true;
    }
    if (!environment_.fleet.is_discovered() || !environment_.fleet.without_connection().empty())
      return std::nullopt;
    return false;
  }

  units::api_environment environment_;
  settings settings_;
  units::row_budget rows_;
  home_releases* home_ = nullptr;
  std::shared_ptr<library> books_;
  std::set<release_pools*> parts_;
};

auto making(settings s) {
  return
      [s = std::move(s)](const units::api_environment& h) -> std::unique_ptr<units::running_api> {
        return std::make_unique<running>(h, s);
      };
}

}  // namespace

units::api api(settings s) {
  units::api a;
  a.name = api_name;
  a.says = {"release", "releases", "pool", "pools"};
  a.kinds = {bootc::node_pools()};
  a.unit_kind = bootc::node_pools();
  a.home_kinds = {collection()};
  a.remedy = "kubectl apply --server-side -f deploy/crds";
  a.watches = "Releases";
  a.loads = "Releases and pools";
  a.runs_on = units::api::place::both;
  a.where_served = true;
  a.lease = "windlass-releases.windlass.dev";
  a.lease_ns = "bootc-operator";
  a.holds.assign(hold_code::of_pools.begin(), hold_code::of_pools.end());
  a.events.assign(release_event::table.begin(), release_event::table.end());
  a.conditions.assign(release_conditions.begin(), release_conditions.end());
  a.make = making(std::move(s));
  a.hooks = {policies::releases::map_hook(), policies::releases::diff_hook()};
  for (std::vector<policies::hook> more :
       {policies::releases::planning_hooks(), policies::releases::offering_hooks(),
        policies::trains::train_hooks()})
    a.hooks.insert(a.hooks.end(), more.begin(), more.end());
  a.settings = [](app::flags&) {
    return [](units::api& to, const units::process_facts& p) -> reactor::result<void> {
      to.make = making({{p.release_label, p.provider_label}, p.ns});
      return {};
    };
  };
  return a;
}

}  // namespace releases
