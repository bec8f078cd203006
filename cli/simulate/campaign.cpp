#include "cli/simulate/campaign.hpp"

#include "bench/measure.hpp"
#include "cli/simulate/edits.hpp"
#include "reactor/system/private_folder.hpp"

#include <algorithm>
#include <set>

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
  if (o.took.count() > 0)
    to.seconds.push_back(std::chrono::duration<double>(o.took).count());
  else
    ++to.unfinished;
}

trial made(const campaign& c, const std::string& policies, std::uint64_t seed,
           const reactor::private_folder& editable) {
  trial t{c.fleet, policies, {}, seed};
  if (c.fleet.faults.contains(simulation::trouble::policy_swaps)) t.editable = editable.path();
  return t;
}

}  // namespace

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
  out.trace = 0xcbf29ce484222325;
  const reactor::private_folder editable("simulate");  // without one nobody edits
  const auto began = bench::process_cpu();
  std::set<std::uint64_t> failing;
  for (const std::string& policies : c.policies) {
    policy_summary summary;
    summary.policies = policies;
    for (std::uint64_t seed = c.first_seed; seed < c.first_seed + c.seeds; ++seed) {
      trial t = made(c, policies, seed, editable);
      const trial_outcome o = run(t);
      ++out.runs;
      out.violations += o.violations.size();
      out.divergent_caches += o.divergent_caches.size();
      out.crashes += o.crashes;
      out.disturbed_answers += o.disturbed_answers;
      out.swaps += o.swaps;
      out.writes += o.writes;
      out.cluster_hours += std::chrono::duration<double>(o.simulated).count() / 3600 *
                           static_cast<double>(c.fleet.clusters.size());
      mix(out.trace, o.trace);
      add(summary, o);
      if (!o.is_good()) {
        failing.insert(seed);
        if (out.failures.size() < most_failures) out.failures.push_back(shrink(std::move(t), o));
      }
      if (c.on_outcome) c.on_outcome(policies, o);
    }
    out.policies.push_back(std::move(summary));
  }
  out.failing_seeds.assign(failing.begin(), failing.end());
  out.cpu_seconds = std::chrono::duration<double>(bench::process_cpu() - began).count();
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
  for (std::size_t n = 1; n < bad.fleet.clusters.size(); n *= 2) {
    simulation::fleet_plan smaller = bad.fleet;
    smaller.clusters.resize(n);
    if (still_bad(smaller)) break;
  }
  for (std::size_t n = 3; n <= 12; n *= 2) {
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
