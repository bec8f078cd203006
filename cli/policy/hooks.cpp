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
    const auto asked_by = [&](std::vector<std::string> apis, policies::hook h) {
      h.apis = std::move(apis);
      list.push_back(std::move(h));
    };
    asked_by({"bootc"}, policies::versions_hook());
    asked_by({"bootc", "tenants"}, policies::rollout_hook());
    asked_by({"bootc"}, policies::disruption_hook());
    asked_by({"compose"}, policies::compose::related_hook());
    asked_by({"compose"}, policies::compose::sync_hook());
    asked_by({"compose"}, policies::compose::data_hook());
    // Known by name: their packs load, and nothing is said about fields.
    const auto by_name = [&](std::string_view name, const char* api) {
      policies::hook h;
      h.name = name;
      asked_by({api}, std::move(h));
    };
    for (const std::string_view name : policies::releases::hooks) by_name(name, "releases");
    for (const std::string_view name : policies::trains::hooks) by_name(name, "trains");
    return std::make_shared<const policies::hook_list>(std::move(list));
  }();
  return all;
}

}  // namespace cli
