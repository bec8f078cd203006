#include "bootc/daemons/wave_plan.hpp"

#include "formats/plain/listed.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bootc {
namespace {

constexpr std::size_t most_named = 3;

}  // namespace

wave_plan plan_wave(const wave_facts& f) {
  wave_plan out;
  std::vector<std::string> unsettled, waiting;
  std::vector<daemon_pod> candidates;
  std::size_t settled = 0;
  std::set<std::string_view> nodes(f.silent.begin(), f.silent.end());  // that lack no daemon
  for (const daemon_pod& pod : f.pods) {
    nodes.insert(pod.node);
    const bool is_new = pod.revision == f.newest && !pod.leaving;
    ++(is_new ? out.updated : out.older);
    if (f.silent.contains(pod.node)) {
      if (!is_new && !pod.leaving) waiting.push_back(pod.node + " is silent");
    } else if (is_new && pod.ready && pod.ready_for >= daemon_settles_in) {
      ++settled;
    } else if (is_new || pod.leaving) {
      if (is_new && !pod.ready && pod.seen_for >= daemon_fails_after && !out.halted) {
        out.halted = true;
        out.waits = "the new daemon on " + pod.node + " (pod " + pod.name + ") is not ready";
      }
      unsettled.push_back(pod.node);
    } else if (const auto busy = f.busy.find(pod.node); busy != f.busy.end()) {
      waiting.push_back(pod.node + " " + busy->second);
    } else {
      candidates.push_back(pod);
    }
  }
  if (out.halted || out.older == 0) return out;
  const std::size_t missing = f.wanted - std::min(f.wanted, nodes.size());
  if (!unsettled.empty() || missing > 0) {
    out.waits = unsettled.empty()
                    ? std::to_string(missing) + " of " + std::to_string(f.wanted) +
                          (missing == 1 ? " nodes has" : " nodes have") + " no daemon yet"
                    : "the wave under way: " + formats::listed(unsettled, most_named);
    return out;
  }
  if (candidates.empty()) {
    out.waits = formats::listed(waiting, most_named);
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
