#include "app/progress.hpp"
#include "app/run_to_end.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "simulation/commands/commands.hpp"
#include "simulation/commands/simulate/campaign.hpp"
#include "simulation/commands/simulate/report.hpp"
#include "simulation/commands/simulate/workers.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cli {

using namespace app;

namespace {

/// Fleets that exist nowhere, moved in virtual time while things go wrong.
struct simulate_arguments {
  std::vector<std::string> policies;  // folders that are compared; none: the stock packs
  std::string fleet;                  // file; empty: `clusters` × `nodes`
  std::optional<std::size_t> clusters, nodes, tenants, trustees;  // with a file: at most so many
  std::size_t charts = 0;  // FleetCharts at home, instead of nodes
  std::string faults;      // "cut,crashes", "none"; empty: the file's, or all
  std::uint64_t seed = 1, seeds = 10;
  std::size_t jobs = 0;  // processes side by side; 0: as many as there are processors
  bool html = false;     // a report that `output` does not know
  output_choice output;
};

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
  plan.charts = a.charts;
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
reactor::result<void> try_packs(const std::string& folder, policies::shared_hooks hooks) {
  reactor::loop loop;
  policies::host::options options;
  options.folders.push_back(folder);
  options.limits.hooks = std::move(hooks);
  policies::host packs(loop, std::move(options));
  reactor::result<void> loaded;
  const auto load = [&]() -> reactor::awaitable<void> {
    loaded = co_await packs.load();
    loop.stop();
  };
  run_to_end(loop, "load policies", load());
  return loaded;
}

int simulate_command(const simulate_arguments& a, const invocation& i) {
  if (a.charts > 0 && (a.nodes || a.tenants || a.trustees))
    return complain(
        "--charts: FleetCharts are simulated on clusters without nodes: leave out "
        "--nodes, --tenants and --trustees",
        wrong_usage);
  auto plan = fleet_of(a);
  if (!plan) return complain(plan.error().message(), wrong_usage);
  simulate::campaign c;
  c.apis = i.apis();
  c.fleet = std::move(*plan);
  c.policies = a.policies;
  if (c.policies.empty()) c.policies.emplace_back();
  for (const std::string& folder : c.policies) {
    if (folder.empty()) continue;
    auto fine = try_packs(folder, units::hooks_of(i.apis()));
    if (!fine) return complain(fine.error().message());
  }
  c.first_seed = a.seed;
  c.seeds = a.seeds;
  c.jobs = a.jobs > 0 ? a.jobs : simulate::processors();
  std::optional<progress> shown(std::in_place, progress::standard_error(progress::reader::person),
                                "simulating", "runs", a.seeds * c.policies.size());
  c.on_outcome = [&](const std::string&, const simulate::trial_outcome& o) {
    if (!o.is_good()) shown->tell(page("seed ") + std::to_string(o.seed) + " fails");
    shown->next();
  };
  const simulate::campaign_outcome out = simulate::run(c);
  shown.reset();
  const std::string again = a.fleet.empty() ? std::string() : " --fleet " + a.fleet;
  if (a.html)
    write_bytes(STDOUT_FILENO, simulate::report_html(out, again));
  else if (a.output == output_format::text)
    write_out(STDOUT_FILENO, simulate::report_text(out, again, colours_at(STDOUT_FILENO)));
  else
    (void)write_document(simulate::report_json(out, again), a.output);
  return out.is_good() ? success : failure;
}

/// "a,b" as "a, b": a page has to break it between words.
std::string spaced(const std::string& list) {
  std::string out;
  for (const char c : list) out += c == ',' ? std::string(", ") : std::string(1, c);
  return out;
}

void declare_simulate(flags& f, simulate_arguments& to) {
  f.value("--policies", to.policies,
          "folder of policy packs; given again, they are compared side by side")
      .repeated()
      .takes("DIR");
  f.value("--fleet", to.fleet, "YAML file of clusters, labels and faults: docs/simulating.md")
      .takes("FILE");
  f.value("--clusters", to.clusters, "clusters (default: 5; with --fleet only its first ones)")
      .from_to(1, 100);
  f.value("--nodes", to.nodes, "nodes in each cluster (default: 20; with --fleet at most so many)")
      .from_to(3, 200);
  f.value("--tenants", to.tenants,
          "Tenants on each cluster, whose chart moves to another version meanwhile (default: 0; "
          "with --fleet at most so many)")
      .from_to(0, 20);
  f.value("--trustees", to.trustees,
          "instances of Trustee on each cluster, which move to another release meanwhile (default: "
          "0; with --fleet at most so many)")
      .from_to(0, 20);
  f.value(
       "--charts", to.charts,
       "FleetCharts at home over clusters without nodes, instead of pools: new versions, bad ones, "
       "values, plans, undo (default: 0)")
      .from_to(0, 50);
  f.value("--faults", to.faults,
          "what goes wrong, of " + spaced(simulation::names_of(simulation::all_troubles())) +
              ", or none (default: all)")
      .takes("NAME,…");
  f.value("--seeds", to.seeds, "how many runs for each policy")
      .from_to(1, 1'000'000)
      .shows_default();
  f.value("--seed", to.seed, "the first one").shows_default();
  f.value("--jobs", to.jobs,
          "runs side by side, each in a process of its own; the outcome is the same for any number "
          "(default: one for each processor)")
      .from_to(1, 256);
  f.output(to.output, {"html"}, "text, json, yaml or html",
           [&to](const std::string&) { to.html = true; });
  f.footer(
      "Examples:\n  windlass simulate --policies ./mine --seeds 100\n  windlass simulate "
      "--policies ./mine --policies ./other --fleet fleet.yaml -o html");
}

}  // namespace

std::vector<app::command> simulate_commands() {
  return {command_of<simulate_arguments>(
      "simulate", "Let policies loose on fleets in virtual time while everything goes wrong",
      declare_simulate, simulate_command)};
}

}  // namespace cli
