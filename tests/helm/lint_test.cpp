#include "helm/commands.hpp"
#include "helm/lint_rules.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace helm {
namespace {

TEST(Lint, FindsWhatTheReferenceFinds) {
  // data/lint.txt is what `helm lint lint --kube-version 1.36` prints in charts/.
  std::ifstream in(WINDLASS_SOURCE_DIR "/tests/helm/data/lint.txt");
  const std::string expected((std::istreambuf_iterator<char>(in)), {});
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(WINDLASS_SOURCE_DIR "/tests/helm/charts");
  const std::vector<std::string> arguments{"lint", "lint", "--kube-version", "1.36"};
  const auto r = run_command(arguments);
  std::filesystem::current_path(before);
  EXPECT_EQ(r.out, expected);
  EXPECT_EQ(r.exit_code, 1);
}

TEST(Lint, KnowsWhichKindsLetWhichNames) {
  EXPECT_EQ(name_problem("Pod", "a.b-1"), "");
  EXPECT_EQ(name_problem("Role", "system:x.Y_z"), "");
  EXPECT_EQ(name_problem("CertificateSigningRequest", "/"), "");
  EXPECT_NE(name_problem("Service", "a.b"), "");
  EXPECT_NE(name_problem("Namespace", std::string(64, 'a')), "");
}

TEST(Lint, WarnsOfWhatAVersionDeprecates) {
  EXPECT_EQ(deprecation_warning("policy/v1beta1", "PodDisruptionBudget", 20), "");
  EXPECT_EQ(deprecation_warning("policy/v1beta1", "PodDisruptionBudgetList", 21),
            "policy/v1beta1 PodDisruptionBudgetList is deprecated in v1.21+, unavailable in "
            "v1.25+; use policy/v1 PodDisruptionBudgetList");
  EXPECT_EQ(deprecation_warning("v1", "Endpoints", 36),
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
  EXPECT_EQ(deprecation_warning("apps/v1", "Deployment", 36), "");
}

}  // namespace
}  // namespace helm
