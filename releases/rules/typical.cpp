#include "releases/rules/typical.hpp"

namespace policies::releases {
namespace {

std::shared_ptr<const document> release_with(const std::string& name, const std::string& flatcar) {
  const auto read = read_document(
      "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nmetadata: {name: " + name +
          "}\nspec:\n  state: active\n  date: \"2026-05-28T12:00:00Z\"\n  apps: []\n"
          "  components:\n  - {name: cluster-aws, version: 7.7.3, catalog: cluster}\n"
          "  - {name: flatcar, version: " +
          flatcar +
          "}\n  - {name: kubernetes, version: 1.34.10}\n  - {name: os-tooling, version: 1.33.1}\n",
      name + ".yaml");
  return std::make_shared<const document>(read ? *read : document());
}

}  // namespace

std::shared_ptr<const document> typical_release() {
  return release_with("aws-34.4.1", "4593.2.3");
}

std::shared_ptr<const document> typical_release_after() {
  return release_with("aws-34.5.0", "4593.2.4");
}

}  // namespace policies::releases
