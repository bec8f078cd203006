#pragma once

#include "reactor/plain/entropy.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/timer_queue.hpp"
#include "simulation/commands/simulate/workload.hpp"
#include "simulation/fleet_file.hpp"
#include "simulation/mounted_catalogue.hpp"
#include "simulation/node_world.hpp"
#include "simulation/trustee_invariants.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}

namespace cli::simulate {

/// The instances of Trustee of a trial's fleet: on each cluster some of several releases, and one
/// that wants the names of another; a player that runs their Deployments, the catalogue of
/// releases, and people who edit what is theirs.
class trial_trustees final : public workload {
public:
  trial_trustees(reactor::loop& l, simulation::node_world& world,
                 const simulation::fleet_plan& fleet);

  reactor::result<void> start() override;
  reactor::awaitable<void> stop() override;
  std::vector<units::api> with(std::vector<units::api> all) const override;
  known_by roll_out() override;
  void saw(std::size_t cluster, const k8s::sim::written& w) override;
  reactor::awaitable<void> cause(simulation::trouble t, std::size_t cluster) override;
  void calm() override;
  /// It keeps no objects that are compared with anything.
  reactor::awaitable<k8s::result<std::vector<std::string>>> differences(
      k8s::cluster& seen) override;
  count counted() const override { return {checks_.instances(), checks_.arrived()}; }
  std::string unfinished() const override { return checks_.unfinished(); }
  void check_at_rest() override { checks_.check_at_rest(); }
  const std::vector<std::string>& violations() const override { return checks_.violations(); }

private:
  k8s::sim::api_server& api(std::size_t cluster);
  void put(std::size_t cluster, const std::string& name, const std::string& instance_name);
  /// As a person with kubectl does it.
  void person_deletes(std::size_t cluster, const std::string& plural, const std::string& name);
  void change(std::size_t cluster);
  void edit_content(std::size_t cluster);
  void edit_settings(std::size_t cluster);
  void renew_certificate(std::size_t cluster);
  void run_pods(std::size_t cluster, const std::string& deployment);
  std::string random_of(const std::vector<std::string>& all);
  std::vector<std::string> instances_of(std::size_t cluster);

  reactor::loop& loop_;
  simulation::node_world& world_;
  std::vector<std::size_t> counts_;  // instances of each cluster at the beginning
  simulation::mounted_catalogue catalogue_;
  simulation::trustee_invariants checks_;
  /// Deployments whose pods come up.
  std::map<std::pair<std::size_t, std::string>, reactor::timer_id> rolling_;
  std::size_t made_ = 0, marks_ = 0;
  bool plays_ = false;
};

}  // namespace cli::simulate
