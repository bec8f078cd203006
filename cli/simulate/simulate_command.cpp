#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/policy/hooks.hpp"
#include "cli/service/run_to_end.hpp"
#include "cli/simulate/campaign.hpp"
#include "cli/simulate/crew.hpp"
#include "cli/simulate/report.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cli {
namespace {

reactor::result<simulation::fleet_plan> fleet_of(const simulate_arguments& a) {
  const simulation::lodgers each{a.tenants.value_or(0), a.trustees.value_or(0)};
  simulation::fleet_plan plan =
      simulation::usual_fleet(a.clusters.value_or(5), a.nodes.value_or(20), each);
  if (!a.fleet.empty()) {
    std::ifstream in(a.fleet, std::ios::binary);
    if (!in)
      return reactor::make_fault(reactor::errc::not_found, "read fleet " + a.fleet,
                                 "cannot open it");
    std::stringstream text;
    text << in.rdbuf();
    auto read = simulation::read_fleet(text.str(), a.fleet);
    if (!read) return read.error();
    plan = std::move(*read);
    // So that a failing seed can be made smaller.
    if (a.clusters && *a.clusters < plan.clusters.size()) plan.clusters.resize(*a.clusters);
    const auto at_most = [&plan](auto amount, const std::optional<std::size_t>& most) {
      if (most)
        for (simulation::fleet_cluster& c : plan.clusters) c.*amount = std::min(c.*amount, *most);
    };
    at_most(&simulation::fleet_cluster::nodes, a.nodes);
    at_most(&simulation::fleet_cluster::tenants, a.tenants);
    at_most(&simulation::fleet_cluster::trustees, a.trustees);
  }
  if (a.faults.empty()) return plan;
  plan.faults.clear();
  std::stringstream names(a.faults);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "none") continue;
    const auto known = simulation::trouble_named(name);
    if (!known)
      return reactor::make_fault(reactor::errc::malformed, "--faults " + a.faults,
                                 "there is no fault '" + name + "'; there are " +
                                     simulation::names_of(simulation::all_troubles()) + ", none");
    plan.faults.insert(*known);
  }
  return plan;
}

/// Packs that are refused say so once, before anything is simulated; their tests run here and not
/// in each trial.
reactor::result<void> try_packs(const std::string& folder) {
  reactor::loop loop;
  policies::host::options options;
  options.folders.push_back(folder);
  options.limits.hooks = all_hooks();
  policies::host packs(loop, std::move(options));
  reactor::result<void> loaded;
  const auto load = [&]() -> reactor::awaitable<void> {
    loaded = co_await packs.load();
    loop.stop();
  };
  run_to_end(loop, "load policies", load());
  return loaded;
}

}  // namespace

int simulate_command(const simulate_arguments& a) {
  auto plan = fleet_of(a);
  if (!plan) return complain(plan.error().message(), wrong_usage);
  simulate::campaign c;
  c.fleet = std::move(*plan);
  c.policies = a.policies;
  if (c.policies.empty()) c.policies.emplace_back();
  for (const std::string& folder : c.policies) {
    if (folder.empty()) continue;
    auto fine = try_packs(folder);
    if (!fine) return complain(fine.error().message());
  }
  c.first_seed = a.seed;
  c.seeds = a.seeds;
  c.jobs = a.jobs > 0 ? a.jobs : simulate::processors();
  const bool progress = is_screen(STDERR_FILENO);
  std::uint64_t done = 0;
  const std::uint64_t all = a.seeds * c.policies.size();
  if (progress)
    c.on_outcome = [&](const std::string&, const simulate::trial_outcome& o) {
      ++done;
      if (!o.is_good() || done % 10 == 0)
        write_out(STDERR_FILENO,
                  page(std::to_string(done)) + " of " + std::to_string(all) + " runs" +
                      (o.is_good() ? page() : page(", seed ") + std::to_string(o.seed) + " fails") +
                      "\n");
    };
  const simulate::campaign_outcome out = simulate::run(c);
  const std::string again = a.fleet.empty() ? std::string() : " --fleet " + a.fleet;
  if (a.html)
    write_bytes(STDOUT_FILENO, simulate::report_html(out, again));
  else if (a.output == output_format::text)
    write_out(STDOUT_FILENO, simulate::report_text(out, again, colours_at(STDOUT_FILENO)));
  else
    write_bytes(STDOUT_FILENO, machine_text(simulate::report_json(out, again), a.output));
  return out.failing_seeds.empty() ? success : failure;
}

}  // namespace cli
