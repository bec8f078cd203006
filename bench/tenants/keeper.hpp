#pragma once

#include "bench/fleet/api_keeper.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// How many operations at once.
struct pace {
  std::size_t per_cluster = 16, in_all = 16;
};

/// Who keeps one chart on its clusters for each of their Tenants, as the service does it.
class keeper : public api_keeper {
public:
  /// repository: "http://127.0.0.1:1234/c0/charts"
  keeper(reactor::loop& l, const std::string& repository, const std::string& chart, pace p = {});

  /// Tenants of a cluster that are Ready, as far as this process knows.
  std::size_t ready(std::string_view name) const;
  /// Operations that ended well on a cluster: "install", "upgrade", "skip".
  double operations(const std::string& cluster, const std::string& operation);
};

}  // namespace bench
