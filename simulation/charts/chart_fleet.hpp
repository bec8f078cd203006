#pragma once

#include "simulation/charts/chart_invariants.hpp"
#include "simulation/charts/chart_shelf.hpp"
#include "simulation/world.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulation {

/// Where FleetCharts go: a home with their kinds, a shelf of charts, and clusters of which each has
/// the labels that it is given. Pods that a chart's tests make end as they say. Its units are
/// clusters, once for each FleetChart.
class chart_fleet final : public world {
public:
  struct place {
    std::string name;
    std::map<std::string, std::string> labels;
  };
  chart_fleet(reactor::loop& l, std::vector<place> places, reactor::logger log = reactor::logger(),
              double speed = 1);
  ~chart_fleet() override;

  chart_shelf& shelf() noexcept { return *shelf_; }
  k8s::sim::api_server& api(std::string_view cluster);
  /// What must never happen, judged at every write from the first call until judge_rests().
  chart_invariants& judge();
  void judge_rests();
  /// What a FleetChart of the namespace "default" says of itself; empty: it is not there.
  struct chart_state {
    std::string version;  // that is asked for
    std::string wave;     // under way
    std::string halted;   // why; empty: it is not
    std::size_t ready = 0, revision = 0;
  };
  chart_state chart(std::string_view name) const;
  /// data.level and data.version of a release's ConfigMap, "1.0.0 info"; "none": it is not there.
  std::string release_on(std::string_view cluster, const std::string& ns,
                         const std::string& release);

  const story& tells() const noexcept override { return story_; }
  void roll_out() override {}
  void roll_out(std::string_view) override {}
  progress progress_of(std::size_t cluster) const override;
  std::size_t unit_count() const noexcept override;
  std::size_t expected_held() const noexcept override { return 0; }
  std::vector<std::pair<std::string, std::size_t>> tallies() const override { return {}; }
  std::vector<std::string> violations() const override;
  std::size_t violation_count() const override { return judge_ ? judge_->violation_count() : 0; }
  std::size_t max_disrupted() const override { return 0; }
  void check_at_rest() override {}

private:
  void inhabit(std::size_t cluster, k8s::connection to) override;
  reactor::awaitable<void> leave() override;

  story story_;
  std::unique_ptr<chart_shelf> shelf_;
  std::unique_ptr<chart_invariants> judge_;
};

}  // namespace simulation
