#include "bootc/daemons/wave_plan.hpp"

#include <algorithm>
#include <utility>

namespace bootc {
namespace {

/// What stands for "a, b and 7 more".
std::string named(const std::vector<std::string>& all) {
  constexpr std::size_t most_named = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i)
    out += (out.empty() ? "" : ", ") + all[i];
  if (all.size() > most_named) out += " and " + std::to_string(all.size() - most_named) + " more";
  return out;
}

}  // namespace

wave_plan plan_wave(const wave_facts& f) {
  wave_plan out;
  std::vector<std::string> unsettled, waiting;
  std::vector<daemon_pod> candidates;
  std::size_t settled = 0, heard = 0;
  for (const daemon_pod& pod : f.pods) {
    const bool silent = f.silent.contains(pod.node);
    if (pod.revision == f.newest && !pod.leaving) {
      ++out.updated;
      ++heard;
      if (silent) continue;
      if (pod.ready && f.now - pod.ready_since >= daemon_settles_in) {
        ++settled;
        continue;
      }
      if (!pod.ready && f.now - pod.made >= daemon_fails_after && !out.halted) {
        out.halted = true;
        out.waits = "the new daemon on " + pod.node + " (pod " + pod.name + ") is not ready";
      }
      out.look_again = std::min(out.look_again, pod.ready ? pod.ready_since + daemon_settles_in
                                                          : pod.made + daemon_fails_after);
      unsettled.push_back(pod.node);
      continue;
    }
    ++out.older;
    if (pod.leaving) {
      if (silent) continue;
      ++heard;
      unsettled.push_back(pod.node);
      continue;
    }
    ++heard;
    const auto busy = f.busy.find(pod.node);
    if (silent)
      waiting.push_back(pod.node + " is silent");
    else if (busy != f.busy.end())
      waiting.push_back(pod.node + " " + busy->second);
    else
      candidates.push_back(pod);
  }
  if (out.halted) return out;
  if (out.older == 0) return out;
  const std::size_t missing =
      f.wanted > heard + f.silent.size() ? f.wanted - heard - f.silent.size() : 0;
  if (!unsettled.empty() || missing > 0) {
    out.waits = unsettled.empty()
                    ? std::to_string(missing) + " of " + std::to_string(f.wanted) +
                          (missing == 1 ? " nodes has" : " nodes have") + " no daemon yet"
                    : "the wave under way: " + named(unsettled);
    return out;
  }
  if (candidates.empty()) {
    out.waits = named(waiting);
    return out;
  }
  const std::size_t tenth = (f.wanted + 9) / 10;
  const std::size_t at_once = std::max<std::size_t>(1, std::min(settled, tenth));
  std::ranges::sort(candidates, {}, [](const daemon_pod& p) {
    return std::pair<bool, const std::string&>(p.ready, p.node);
  });
  candidates.resize(std::min(candidates.size(), at_once));
  out.replace = std::move(candidates);
  return out;
}

}  // namespace bootc
