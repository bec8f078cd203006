// The one place where the commands name what they move: an API is plugged in by its line here (ARCHITECTURE.md, "Add an API").
#include "cli/service/apis.hpp"

#include "bootc/api.hpp"
#include "simulation/node_world.hpp"

#include <algorithm>

namespace cli {

std::vector<units::api> apis() {
  return {
      bootc::api(),
  };
}

std::vector<std::string> names_of(const std::vector<units::api>& all) {
  std::vector<std::string> names;
  for (const units::api& a : all) names.push_back(a.name);
  return names;
}

std::vector<units::api> chosen_of(const std::vector<units::api>& all,
                                  const std::vector<std::string>& names) {
  std::vector<units::api> out;
  for (const units::api& a : all)
    if (std::ranges::find(names, a.name) != names.end()) out.push_back(a);
  return out;
}

std::unique_ptr<simulation::world> demo_world(reactor::loop& l,
                                              const simulation::world_options& o) {
  return std::make_unique<simulation::node_world>(l, o);
}

}  // namespace cli
