#include "cli/policy/hooks.hpp"

#include "policies/disruption.hpp"
#include "policies/rollout.hpp"
#include "policies/versions.hpp"

namespace cli {

policies::shared_hooks all_hooks() {
  static const policies::shared_hooks all = [] {
    policies::hook_list list;
    list.push_back(policies::versions_hook());
    list.push_back(policies::rollout_hook());
    list.push_back(policies::disruption_hook());
    // Known by name: their packs load, and nothing is said about fields.
    for (const char* name :
         {"compose.sync", "release.map", "release.diff", "release.gate", "release.bump",
          "release.path", "release.lifecycle", "train.check", "train.plan", "train.promote"}) {
      policies::hook h;
      h.name = name;
      list.push_back(std::move(h));
    }
    return std::make_shared<const policies::hook_list>(std::move(list));
  }();
  return all;
}

}  // namespace cli
