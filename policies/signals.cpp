#include "policies/signals.hpp"

#include <algorithm>

namespace policies {

std::vector<wanted_signal> signals_wanted(const host& packs, const subject& of) {
  const bool is_said_at_home = of.api.starts_with("fleet");
  std::vector<std::shared_ptr<const pack>> asked;
  if (!is_said_at_home) asked = packs.applying("disruption.admit", of);
  if (auto plans = packs.select(is_said_at_home ? "fleet.revision" : "rollout.plan", of))
    asked.push_back(std::move(*plans));
  std::vector<wanted_signal> out;
  for (const std::shared_ptr<const pack>& one : asked) {
    for (const signal_declaration& s : one->about().signals) {
      const auto known =
          std::ranges::find_if(out, [&](const wanted_signal& w) { return w.as.name == s.name; });
      if (known == out.end())
        out.push_back({s, one->about().name, {}});
      else if (known->as != s && known->problem.empty())
        known->problem =
            "the packs " + known->pack + " and " + one->about().name + " declare it differently";
    }
  }
  std::ranges::sort(out, {}, [](const wanted_signal& w) { return w.as.name; });
  return out;
}

signal_facts typical_signals(const std::vector<signal_declaration>& declared,
                             std::optional<double> value) {
  signal_facts out;
  for (const signal_declaration& s : declared) {
    signal_fact& seen = out[s.name];
    seen.value = seen.lowest = seen.highest = value;
    if (!value) seen.unknown = "it has not been asked for yet";
  }
  return out;
}

signal_facts unknown_signals(const std::vector<wanted_signal>& wanted, std::string_view why) {
  signal_facts out;
  for (const wanted_signal& w : wanted)
    out[w.as.name].unknown = w.problem.empty() ? std::string(why) : w.problem;
  return out;
}

}  // namespace policies
