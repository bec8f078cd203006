#include "bench/fleet/api_keeper.hpp"

#include "bench/fleet/served_fleet.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <utility>

namespace bench {

api_keeper::api_keeper(reactor::loop& l, units::api what, policies::host::options packs)
    : loop_(l), packs_(l, std::move(packs)), api_(std::move(what)) {
  k8s::fleet_options f;
  f.metrics = &metrics_;
  f.on_recovered = [](k8s::cluster& c) {
    for (const auto& e : c.engagements())
      if (units::cluster_controller* part = units::part_of(*e)) part->recover();
  };
  fleet_ = std::make_unique<k8s::fleet>(l, std::move(f));
  works_ =
      api_.make(units::api_environment{l, {}, metrics_, packs_, *fleet_, units::mode::act, {}});
  fleet_->engage(units::engaging(api_, api_.kinds,
                                 [this](k8s::engagement& on) { return works_->on_cluster(on); }));
}

reactor::awaitable<void> api_keeper::add_all(const served_fleet& f) {  // borrowed
  for (std::size_t i = 0; i < f.size().clusters; ++i) {
    add(served_fleet::name_of(i), f.to(i));
    co_await loop_.yield();
  }
}

void api_keeper::reconsider() {
  for (k8s::cluster* c : fleet_->clusters())
    for (const auto& e : c->engagements())
      if (units::cluster_controller* part = units::part_of(*e)) part->reconsider();
}

}  // namespace bench
