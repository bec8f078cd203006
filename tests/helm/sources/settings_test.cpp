#include "helm/sources/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace helm::sources {
namespace {

TEST(Settings, FollowTheEnvironmentAsHelmDoes) {
  std::map<std::string, std::string> variables{{"HOME", "/h"}};
  const auto env = [&](std::string_view name) { return variables[std::string(name)]; };
  auto s = settings_from(env);
  EXPECT_EQ(s.repository_config, "/h/.config/helm/repositories.yaml");
  EXPECT_EQ(s.index_path("x"), "/h/.cache/helm/repository/x-index.yaml");
  EXPECT_EQ(s.registry_config, "/h/.config/helm/registry/config.json");
  EXPECT_EQ(s.keyring, "/h/.gnupg/pubring.gpg");
  variables["XDG_CONFIG_HOME"] = "/xdg";
  variables["HELM_CACHE_HOME"] = "/cache";
  variables["HELM_REGISTRY_CONFIG"] = "/r.json";
  s = settings_from(env);
  EXPECT_EQ(s.repository_config, "/xdg/helm/repositories.yaml");
  EXPECT_EQ(s.charts_path("x"), "/cache/repository/x-charts.txt");
  EXPECT_EQ(s.registry_config, "/r.json");
}

}  // namespace
}  // namespace helm::sources
