#pragma once

#include "app/api/api.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// The commit that this was configured from, or "unknown".
std::string_view build_commit() noexcept;

/// Every family that the service may emit with these APIs, by name: what is not in it cannot be
/// made.
std::vector<reactor::metric_kind> metric_tables(const std::vector<units::api>& apis);

/// What the service counts of itself, read again at each scrape: loop, process, policies, build.
class own_metrics {
public:
  own_metrics(reactor::loop& l, reactor::metrics& into, const policies::host& packs);
  void refresh();

private:
  void show_faults();

  reactor::loop& loop_;
  reactor::metrics& metrics_;
  const policies::host& packs_;
  reactor::gauge stall_, resident_, open_files_;
  reactor::counter callbacks_, busy_, cpu_, faults_;
  std::map<std::pair<std::string, std::string>, reactor::gauge> failing_;  // by pack and hook
};

}  // namespace cli
