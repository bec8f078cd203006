#include "helm/commands/verbs.hpp"

#include "helm/commands/about_commands.hpp"
#include "helm/commands/create_command.hpp"
#include "helm/commands/help.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace helm {
namespace {

using words = std::vector<std::string>;

std::string found(const words& arguments) {
  const verb* v = find_verb(arguments);
  return v ? std::string(v->name) : "";
}

TEST(Verbs, AreFoundByAnyOfTheirNames) {
  EXPECT_EQ(found({"ls"}), "list");
  EXPECT_EQ(found({"dep", "up", "x"}), "dependency update");
  EXPECT_EQ(found({"repo", "rm", "a"}), "repo remove");
  EXPECT_EQ(found({"get", "value"}), "get");
  EXPECT_EQ(found({"get"}), "get");
  EXPECT_EQ(found({"inspect", "all"}), "show all");
  EXPECT_EQ(found({"values"}), "");
  EXPECT_EQ(found({}), "");
  EXPECT_EQ(spelled_out(words{"dependencies", "ls", "--x"}), (words{"dependency", "list", "--x"}));
  EXPECT_EQ(spelled_out(words{"nope", "x"}), (words{"nope", "x"}));
}

TEST(Verbs, AreSortedAndEachHasItsGroup) {
  EXPECT_TRUE(std::ranges::is_sorted(verbs(), {}, &verb::name));
  for (const verb& v : verbs()) {
    EXPECT_FALSE(v.about.empty()) << v.name;
    if (words_of(v) == 1) continue;
    EXPECT_EQ(found({std::string(v.name.substr(0, v.name.find(' ')))}),
              v.name.substr(0, v.name.find(' ')));
  }
}

TEST(Help, FitsEightyColumns) {
  std::string all = help_text();
  for (const verb& v : verbs())
    if (is_group(v) && v.family != verb_family::refused) all += help_of(v);
  flag_info wide{"a-flag-with-a-rather-long-name-that-sticks-out",
                 'a',
                 "string",
                 "x",
                 "words that go on and on until the line is full and then go on in the next one",
                 flag_info::use::works,
                 false};
  all += help_of(*find_verb(words{"install"}), {wide});
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    EXPECT_LE(end - at, 82u) << all.substr(at, end - at);  // two signs of three bytes
    at = end + 1;
  }
  EXPECT_NE(all.find("-a, --a-flag-with-a-rather-long-name-that-sticks-out string\n"), all.npos);
}

TEST(CreateCommand, MakesAChartThatLintsCleanAndRenders) {
  reactor::temporary_folder folder;
  const std::string path = std::string(folder / "shop");
  const words arguments{path};
  const command_result made = create_command(arguments);
  EXPECT_EQ(made.out, "Creating " + path + "\n") << made.err;
  const command_result linted = run_command(words{"lint", "--strict", path});
  EXPECT_EQ(linted.exit_code, 0) << linted.out << linted.err;
  const command_result rendered = run_command(words{"template", "web", path});
  EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
  for (const char* part : {"kind: Deployment", "kind: Service", "name: web-shop", "kind: Pod"})
    EXPECT_NE(rendered.out.find(part), std::string::npos) << part;
}

TEST(CreateCommand, MakesAChartThatTakesTheValuesOfTutorials) {
  reactor::temporary_folder folder;
  const std::string path = std::string(folder / "shop");
  ASSERT_EQ(create_command(words{path}).exit_code, 0);
  const std::pair<const char*, const char*> rows[] = {
      {"replicaCount=3", "\n  replicas: 3\n"},
      {"image.tag=9", "image: \"nginx:9\""},
      {"fullnameOverride=f", "\n  name: f\n"},
      {"serviceAccount.create=false", "serviceAccountName: default\n"},
      {"ingress.enabled=true,ingress.className=c", "\n  ingressClassName: c\n"},
      {"httpRoute.enabled=true", "\nkind: HTTPRoute\n"},
      {"autoscaling.enabled=true,autoscaling.targetMemoryUtilizationPercentage=7",
       "name: memory, target: {type: Utilization, averageUtilization: 7}"},
      {"podAnnotations.a=b", "\n      annotations:\n        a: b\n"},
      {"nodeSelector.a=b", "\n      nodeSelector:\n        a: b\n"},
      {"resources.limits.cpu=1", "\n          resources:\n            limits:\n"},
  };
  for (const auto& [set, part] : rows) {
    const auto r = run_command(words{"template", "web", path, "--set", set});
    EXPECT_NE(r.out.find(part), std::string::npos) << set << r.out << r.err;
  }
  // A template of a chart that began as Helm's own calls these.
  reactor::put(
      path + "/templates/more.yaml",
      "a: {{ include \"shop.name\" . }} {{ include \"shop.fullname\" . }} {{ include "
      "\"shop.chart\" . }} {{ include \"shop.serviceAccountName\" . }}\nb:\n  {{- include "
      "\"shop.labels\" . | nindent 2 }}\nc:\n  {{- include \"shop.selectorLabels\" . | nindent "
      "2 }}\n");
  const auto r = run_command(words{"template", "web", path, "-s", "templates/more.yaml"});
  EXPECT_NE(r.out.find("a: shop web-shop shop-0.1.0 web-shop\n"), std::string::npos) << r.err;
}

TEST(CreateCommand, OverwritesWhatIsThereAndSaysSo) {
  reactor::temporary_folder folder;
  const std::string path = std::string(folder / "shop");
  std::filesystem::create_directories(path);
  reactor::put(path + "/values.yaml", "mine");
  reactor::put(path + "/own.txt", "mine");
  const command_result made = create_command(words{path});
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(made.out, "Creating " + path + "\nWARNING: File \"" + path +
                          "/values.yaml\" already exists. Overwriting.\n");
  EXPECT_TRUE(std::filesystem::is_directory(path + "/charts"));
  EXPECT_TRUE(std::filesystem::exists(path + "/own.txt"));
  EXPECT_EQ(run_command(words{"template", "web", path}).exit_code, 0);

  EXPECT_EQ(create_command(words{path + "/own.txt"}).err,
            "Error: file " + path + "/own.txt already exists and is not a directory\n");
  const command_result nowhere = create_command(words{path + "/a/b"});
  EXPECT_EQ(nowhere.err, "Error: stat " + path + "/a: no such file or directory\n");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path + "/a"));
  EXPECT_EQ(create_command(words{std::string(folder / "a b")}).err,
            "Error: chart name must match the regular expression \"^[a-zA-Z0-9._-]+$\"\n");
  EXPECT_EQ(create_command(words{std::string(251, 'a')}).err,
            "Error: chart name must be between 1 and 250 characters\n");
  EXPECT_EQ(create_command(words{"x", "--starter", "y"}).exit_code, 2);
}

TEST(AboutCommands, SayVersionAndSettings) {
  EXPECT_EQ(version_of_helm(words{"version", "--short"}, "1").out, "v3.21.4\n");
  EXPECT_EQ(version_of_helm(words{"version", "--short", "--template", "x"}, "1").out, "x");
  EXPECT_EQ(version_of_helm(words{"version", "--template", "<{{.Version}}>"}, "1").out,
            "<v3.21.4>");
  const variables of = [](const std::string& name) -> std::string {
    return name == "HOME" ? "/h" : name == "HELM_KUBETOKEN" ? "hunter2" : "";
  };
  const auto settings =
      sources::settings_from([&](std::string_view name) { return of(std::string(name)); });
  const std::string text = env_command(words{"env"}, of, settings, "/bin/w", "shops").out;
  EXPECT_EQ(text.find("hunter2"), text.npos);
  EXPECT_NE(text.find("HELM_NAMESPACE=\"shops\"\n"), text.npos);
  EXPECT_NE(text.find("HELM_REPOSITORY_CONFIG=\"/h/.config/helm/repositories.yaml\"\n"), text.npos);
  EXPECT_EQ(env_command(words{"env", "HELM_BIN"}, of, settings, "/bin/w", "").out, "/bin/w\n");
  EXPECT_EQ(env_command(words{"env", "NOPE"}, of, settings, "/bin/w", "").out, "\n");
}

}  // namespace
}  // namespace helm
