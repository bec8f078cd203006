#pragma once

#include "app/api/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simulation {

/// The APIs on a fleet and its home, without commands around them. Without a folder of policies the
/// stock packs answer.
class fleet_service {
public:
  fleet_service(reactor::loop& l, k8s::connection home, std::vector<units::api> apis,
                units::mode does, std::string policies, reactor::logger log,
                const units::brake& brake)
      : loop_(l), apis_(std::move(apis)), packs_(l, options_of(std::move(policies))) {
    k8s::fleet_options f;
    f.metrics = &metrics_;
    f.on_labels = [](k8s::cluster& c) {
      for (const auto& e : c.engagements())
        if (units::cluster_controller* p = units::part_of(*e)) p->reconsider();
    };
    fleet_ = std::make_unique<k8s::fleet>(l, std::move(f), log);
    k8s::cluster_options h;
    h.name = "home";
    home_ = std::make_unique<k8s::cluster>(l, std::move(home), std::move(h), log);
    for (const units::api& a : apis_) {
      units::api_environment environment{l, log, metrics_, packs_, *fleet_, does, {}};
      environment.brake = &brake;
      works_.push_back(a.make(environment));
    }
  }
  reactor::awaitable<void> start() {
    auto loaded = co_await packs_.load();
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
    packs_.start();
    for (std::size_t i = 0; i < apis_.size(); ++i) {
      units::running_api* works = works_[i].get();
      fleet_->engage(units::engaging(apis_[i], apis_[i].kinds, [works](k8s::engagement& on) {
        return works->on_cluster(on);
      }));
      if (apis_[i].runs_on == units::api::place::clusters) continue;
      home_->engage(units::engaging(apis_[i], apis_[i].home_kinds,
                                    [works](k8s::engagement& on) { return works->at_home(on); }));
    }
    home_->start();
    fleet_->discover(home_->api(), nullptr);
    (void)co_await fleet_->discovered();
  }
  reactor::awaitable<void> stop() {
    co_await fleet_->stop();
    co_await home_->stop();
    co_await packs_.stop();
  }
  /// What `plan` and `status` show of the API, by cluster.
  reactor::awaitable<std::map<std::string, std::vector<units::plan_row>>> overview(
      std::string api) {
    std::map<std::string, std::vector<units::plan_row>> all;
    for (k8s::cluster* c : fleet_->clusters()) {
      for (int i = 0; i < 100 && !(c->find(api) && c->find(api)->is_live()); ++i)
        co_await loop_.sleep_for(std::chrono::milliseconds(200));
      units::cluster_controller* part = c->find(api) ? units::part_of(*c->find(api)) : nullptr;
      EXPECT_TRUE(part) << c->name();
      if (part) all[c->name()] = co_await part->overview();
    }
    co_return all;
  }

  /// What the API has at home, once that is Live.
  reactor::awaitable<units::cluster_controller*> part_at_home(std::string api) {
    for (int i = 0; i < 100 && !home_->find(api)->is_live(); ++i)
      co_await loop_.sleep_for(std::chrono::milliseconds(200));
    units::cluster_controller* part = units::part_of(*home_->find(api));
    EXPECT_TRUE(part);
    co_return part;
  }
  /// What is said of the API's objects at home.
  reactor::awaitable<std::vector<units::plan_row>> overview_of_home(std::string api) {
    units::cluster_controller* part = co_await part_at_home(std::move(api));
    if (!part) co_return std::vector<units::plan_row>();
    co_return co_await part->overview();
  }

private:
  static policies::host::options options_of(std::string folder) {
    policies::host::options o;
    if (!folder.empty()) o.folders.push_back(std::move(folder));
    o.run_tests = false;
    return o;
  }
  reactor::loop& loop_;
  std::vector<units::api> apis_;
  reactor::metrics metrics_;
  policies::host packs_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::unique_ptr<k8s::cluster> home_;
  std::vector<std::unique_ptr<units::running_api>> works_;
};

}  // namespace simulation
