#include "cli/policy/hooks.hpp"

#include "policies/compose/question.hpp"
#include "policies/disruption.hpp"
#include "policies/releases/hooks.hpp"
#include "policies/rollout.hpp"
#include "policies/trains/hooks.hpp"
#include "policies/versions.hpp"

namespace cli {

policies::shared_hooks all_hooks() {
  static const policies::shared_hooks all = [] {
    policies::hook_list list;
    list.push_back(policies::versions_hook());
    list.push_back(policies::rollout_hook());
    list.push_back(policies::disruption_hook());
    list.push_back(policies::compose::related_hook());
    list.push_back(policies::compose::sync_hook());
    list.push_back(policies::compose::data_hook());
    // Known by name: their packs load, and nothing is said about fields.
    const auto by_name = [&](std::string_view name) {
      policies::hook h;
      h.name = name;
      list.push_back(std::move(h));
    };
    for (const std::string_view name : policies::releases::hooks) by_name(name);
    for (const std::string_view name : policies::trains::hooks) by_name(name);
    return std::make_shared<const policies::hook_list>(std::move(list));
  }();
  return all;
}

}  // namespace cli
