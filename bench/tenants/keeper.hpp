#pragma once

#include "helm/tenants/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/host/host.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/metrics.hpp"
#include "units/api.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace helm::tenants {
class tenant_cluster;
}

namespace bench {

/// How many operations at once.
struct pace {
  std::size_t per_cluster = 16, in_all = 16;
};

/// Who keeps one chart on its clusters for each of their Tenants, as the service does it.
/// Lifetime  the loop outlives it; co_await stop() before destruction.
class keeper {
public:
  /// repository: "http://127.0.0.1:1234/c0/charts"
  keeper(reactor::loop& l, const std::string& repository, const std::string& chart, pace p = {});

  /// Another connection of the same name takes the place of the former.
  void add(const std::string& name, k8s::connection to) { fleet_->add(name, std::move(to)); }
  bool is_live(std::string_view name) const;
  /// Tenants of a cluster that are Ready, as far as this process knows.
  std::size_t ready(std::string_view name) const;
  /// Operations that ended well on a cluster: "install", "upgrade", "skip".
  double operations(const std::string& cluster, const std::string& operation);
  std::size_t series() const { return metrics_.series(); }
  reactor::awaitable<void> stop() { return fleet_->stop(); }

private:
  reactor::metrics metrics_;
  policies::host packs_;
  units::api api_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::unique_ptr<units::running_api> works_;
};

}  // namespace bench
