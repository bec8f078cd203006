#include "helm/commands/commands.hpp"
#include "helm/lint/lint_rules.hpp"

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

TEST(LintForFleets, SaysWhatChangesFromRunToRunAndFromClusterToCluster) {
  chart sub;
  sub.meta.name = "sub";
  sub.templates = {{"templates/_h.tpl", "{{ define \"h\" }}\n{{ uuidv4 }}{{ end }}"}};
  chart c;
  c.meta.name = "c";
  c.templates = {{"templates/a.yaml",
                  "a: {{ .Values.now }}\n{{- if not (lookup \"v1\" \"Pod\" \"\" \"\") }}\n"
                  "b: {{ \"x\" | cat (randInt 1 2 | quote) }}{{ end }}\n"},
                 {"templates/broken.yaml", "{{ now"}};
  c.dependencies = {std::make_shared<chart>(sub)};
  std::vector<std::string> said;
  lint_for_fleets(
      c,
      {{"c/templates/a.yaml", "a: 1.234e+07\nb: \"1e+06\"\nc: [1e-05, x]\nd: v1e+06\ne: 100000\n"}},
      [&](severity, const std::string& where, const std::string& text) {
        said.push_back(where + ", " + text);
      });
  for (auto& s : said) s = s.substr(0, s.find(' ', s.find(": ") + 2));
  EXPECT_EQ(said, (std::vector<std::string>{"templates/a.yaml, line 2: lookup",
                                            "templates/a.yaml, line 3: randInt",
                                            "charts/sub/templates/_h.tpl, line 2: uuidv4",
                                            "templates/a.yaml, line 1 of the output: 1.234e+07",
                                            "templates/a.yaml, line 3 of the output: 1e-05"}));
}

}  // namespace
}  // namespace helm
