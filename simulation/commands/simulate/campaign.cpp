#include "simulation/commands/simulate/campaign.hpp"

#include "reactor/net/tls.hpp"
#include "reactor/system/private_folder.hpp"
#include "simulation/commands/simulate/edits.hpp"
#include "simulation/commands/simulate/outcome_text.hpp"
#include "simulation/commands/simulate/workers.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace cli::simulate {
namespace {

constexpr std::uint64_t most_tries = 40;
constexpr std::size_t most_failures = 3;

void mix(std::uint64_t& hash, std::uint64_t with) {
  for (int i = 0; i < 8; ++i) hash = (hash ^ ((with >> (8 * i)) & 0xff)) * 0x100000001b3;
}

void add(policy_summary& to, const trial_outcome& o) {
  ++to.runs;
  to.reboots += o.reboots;
  to.moved_pods += o.moved_pods;
  to.holds += o.holds;
  to.most_disrupted = std::max(to.most_disrupted, o.most_disrupted);
  for (const asked_hook& a : o.asked) count(a, to.asked);
  if (o.took.count() > 0)
    to.seconds.push_back(std::chrono::duration<double>(o.took).count());
  else
    ++to.unfinished;
}

trial made(const campaign& c, const std::string& policies, std::uint64_t seed,
           const reactor::private_folder& editable) {
  trial t{c.fleet, policies, {}, seed, c.apis};
  if (c.fleet.faults.contains(simulation::trouble::policy_swaps)) t.editable = editable.path();
  return t;
}

/// Of a run that is not to be tried again in this process.
failure as_it_is(trial bad, const trial_outcome& was) {
  failure f;
  f.seed = bad.seed;
  f.policies = std::move(bad.policies);
  f.findings = was.findings();
  f.shrunk = std::move(bad.fleet);
  return f;
}

}  // namespace

std::vector<std::string> policy_summary::never_asked() const {
  std::map<std::string, std::uint64_t> times;
  for (const asked_hook& a : asked)
    if (a.stock == 0) times[a.pack] += a.times;
  std::vector<std::string> never;
  for (const auto& [pack, n] : times)
    if (n == 0) never.push_back(pack);
  return never;
}

bool campaign_outcome::is_good() const {
  return failing_seeds.empty() && std::ranges::all_of(policies, [](const policy_summary& p) {
           return p.never_asked().empty();
         });
}

percentiles percentiles_of(std::vector<double> all) {
  percentiles p;
  if (all.empty()) return p;
  std::ranges::sort(all);
  const auto at = [&](double share) {
    return all[std::min(all.size() - 1,
                        static_cast<std::size_t>(share * static_cast<double>(all.size())))];
  };
  p.median = at(0.5);
  p.most_of_them = at(0.95);
  p.longest = all.back();
  return p;
}

campaign_outcome run(const campaign& c) {
  campaign_outcome out;
  // Reading the system's certificates takes a tenth of a trial: all of them share one reading.
  const auto certificates = reactor::tls_client_context({});
  out.trace = 0xcbf29ce484222325;
  const std::size_t jobs = std::max<std::size_t>(1, c.jobs);
  std::deque<reactor::private_folder> editable;  // one that could not be made is not edited
  for (std::size_t i = 0; i < jobs; ++i) editable.emplace_back("simulate");
  const auto trial_at = [&](std::size_t i, std::size_t worker) {
    return made(c, c.policies[i / c.seeds], c.first_seed + i % c.seeds, editable[worker]);
  };
  std::set<std::uint64_t> failing;
  const auto count = [&](std::size_t i, const trial_outcome& o) {
    const std::string& policies = c.policies[i / c.seeds];
    if (i % c.seeds == 0) {
      out.policies.emplace_back();
      out.policies.back().policies = policies;
    }
    ++out.runs;
    out.violations += o.violations.size();
    out.divergent_caches += o.divergent_caches.size();
    out.crashes += o.crashes;
    out.disturbed_answers += o.disturbed_answers;
    out.swaps += o.swaps;
    out.writes += o.writes;
    out.tenants_updated += o.tenants.arrived;
    out.trustees_ready += o.trustees.arrived;
    out.releases_ready += o.releases.arrived;
    out.plans_kept += o.plans_kept;
    out.undone += o.undone;
    out.cpu_seconds += std::chrono::duration<double>(o.cpu).count();
    out.cluster_hours += std::chrono::duration<double>(o.simulated).count() / 3600 *
                         static_cast<double>(c.fleet.clusters.size());
    mix(out.trace, o.trace);
    add(out.policies.back(), o);
    if (!o.is_good()) {
      failing.insert(o.seed);
      if (out.failures.size() < most_failures)
        out.failures.push_back(o.ended_early ? as_it_is(trial_at(i, 0), o)
                                             : shrink(trial_at(i, 0), o));
    }
    if (c.on_outcome) c.on_outcome(policies, o);
  };
  const std::size_t all = c.policies.size() * c.seeds;
  if (jobs == 1) {
    for (std::size_t i = 0; i < all; ++i) count(i, run(trial_at(i, 0)));
  } else {
    workers together;
    together.jobs = jobs;
    together.count = all;
    together.work = [&](std::size_t worker, std::size_t i) {
      return outcome_text(run(trial_at(i, worker)));
    };
    together.done = [&](std::size_t i, std::optional<std::string> text, const std::string& why) {
      trial_outcome o;
      if (text) {
        o = outcome_in(*text);
      } else {
        o.seed = c.first_seed + i % c.seeds;
        o.ended_early = true;
        o.violations.push_back("the process that simulated it " + why);
      }
      count(i, o);
    };
    together.run();
  }
  out.failing_seeds.assign(failing.begin(), failing.end());
  return out;
}

failure shrink(trial bad, const trial_outcome& was) {
  failure f;
  f.seed = bad.seed;
  f.policies = bad.policies;
  f.findings = was.findings();
  f.tail = was.tail;
  const auto still_bad = [&](const simulation::fleet_plan& smaller) {
    if (f.tried >= most_tries) return false;
    ++f.tried;
    trial t = bad;
    t.fleet = smaller;
    const trial_outcome o = run(std::move(t));
    if (o.is_good()) return false;
    bad.fleet = smaller;
    f.findings = o.findings();
    f.tail = o.tail;
    return true;
  };
  for (const simulation::trouble t : simulation::every_trouble()) {
    if (!bad.fleet.faults.contains(t)) continue;
    simulation::fleet_plan smaller = bad.fleet;
    smaller.faults.erase(t);
    (void)still_bad(smaller);
  }
  for (auto lodgers : {&simulation::fleet_cluster::tenants, &simulation::fleet_cluster::trustees}) {
    simulation::fleet_plan without = bad.fleet;
    bool less = false;
    for (simulation::fleet_cluster& c : without.clusters)
      less = std::exchange(c.*lodgers, 0) > 0 || less;
    if (less) (void)still_bad(without);
  }
  for (std::size_t n = 1; n < bad.fleet.clusters.size(); n *= 2) {
    simulation::fleet_plan smaller = bad.fleet;
    smaller.clusters.resize(n);
    if (still_bad(smaller)) break;
  }
  for (std::size_t n = 1; n < bad.fleet.charts; n *= 2) {
    simulation::fleet_plan smaller = bad.fleet;
    smaller.charts = n;
    if (still_bad(smaller)) break;
  }
  for (std::size_t n = 3; n <= 12 && bad.fleet.charts == 0; n *= 2) {
    simulation::fleet_plan smaller = bad.fleet;
    bool less = false;
    for (simulation::fleet_cluster& c : smaller.clusters) {
      less = less || c.nodes > n;
      c.nodes = std::min(c.nodes, n);
    }
    if (!less || still_bad(smaller)) break;
  }
  f.shrunk = bad.fleet;
  return f;
}

}  // namespace cli::simulate
