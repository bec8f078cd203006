// The command line: how commands, flags, variables and files are read, by the commands of this
// program.
#include "bootc/daemon/flags.hpp"
#include "cli/commands.hpp"
#include "helm/members/cluster_arguments.hpp"
#include "service/commands/overview_command.hpp"
#include "service/commands/rollout/rollout_arguments.hpp"
#include "service/commands/run_arguments.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace cli {
namespace {

std::vector<units::api> bootc_and_toys() {
  std::vector<units::api> all(2);
  std::vector<units::api> ours = apis();
  all[0] = units::named(ours, "bootc");
  all[1].name = "toys";
  return all;
}

using variables = std::map<std::string, std::string>;

parse_outcome parse_with(const std::vector<units::api>& known,
                         const std::vector<std::string>& arguments, const variables& set) {
  const auto environment = [&set](std::string_view name) {
    const auto found = set.find(std::string(name));
    return found == set.end() ? std::string() : found->second;
  };
  return app::parse(program(), arguments, environment, &known);
}

/// With two APIs, one of which has no settings.
parse_outcome parse(const std::vector<std::string>& arguments, const variables& set = {}) {
  return parse_with(bootc_and_toys(), arguments, set);
}

/// With every API of the program.
parse_outcome parse_all(const std::vector<std::string>& arguments, const variables& set = {}) {
  return parse_with(apis(), arguments, set);
}

std::string origin_of(const parse_outcome& o, const std::string& name) {
  for (const setting& s : o.settings())
    if (s.name == name) return s.value + " (" + s.origin + ")";
  return "absent";
}

TEST(Arguments, ClustersAreAddedWithLabelsAndABoundedToken) {
  const parse_outcome o = parse({"cluster", "add", "prod-eu-1", "--labels", "env=prod,tier=edge",
                                 "--token-ttl", "90d", "--image", "r.example.com/windlass:1"});
  ASSERT_TRUE(o) << o.err;
  const auto& c = (*o.options<cluster_arguments>());
  EXPECT_EQ(c.what, cluster_arguments::command::add);
  EXPECT_EQ(c.subject, "prod-eu-1");
  EXPECT_EQ(c.labels, (std::vector<std::string>{"env=prod", "tier=edge"}));
  EXPECT_EQ(c.token_life, std::chrono::hours(90 * 24));
  EXPECT_FALSE(c.yes);
  for (const char* life : {"9m", "367d", "soon", "d", "-1h", "99999999999h"}) {
    const parse_outcome wrong = parse({"cluster", "add", "a", "--token-ttl", life});
    EXPECT_FALSE(wrong) << life;
    EXPECT_EQ(wrong.exit_code, 2) << life;
    EXPECT_NE(wrong.err.find("--token-ttl"), std::string::npos) << wrong.err;
  }
  EXPECT_FALSE(parse({"cluster", "add"})) << "a context is needed";
}

TEST(Arguments, KindsAreKeptUnlessSomebodyAsksForTheirEnd) {
  const auto removes = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"cluster", "remove", "prod", "ctx"};
    words.insert(words.end(), more.begin(), more.end());
    const parse_outcome o = parse(words);
    return o && o.options<cluster_arguments>()->delete_crds;
  };
  EXPECT_FALSE(removes({}));
  EXPECT_FALSE(removes({"--keep-crds"}));
  EXPECT_TRUE(removes({"--delete-crds"}));
}

TEST(Arguments, AnEnvironmentVariableOverridesItsFlag) {
  const parse_outcome o = parse({"run", "--namespace", "a"}, {{"WATCH_NAMESPACE", "b"}});
  ASSERT_TRUE(o);
  EXPECT_EQ(o.options<run_arguments>()->fleet.ns, "b");
  EXPECT_EQ(origin_of(o, "namespace"), "b (env WATCH_NAMESPACE)");
}

TEST(Arguments, TheFirstOfTwoVariablesCounts) {
  const std::string second = "WATCH_CLUSTER_KUBECONFIG";
  const auto named = [](const parse_outcome& o) { return origin_of(o, "kubeconfig"); };
  EXPECT_EQ(named(parse({"run"}, {{second, "/second"}})), "/second (env " + second + ")");
  EXPECT_EQ(named(parse({"run"}, {{second, "/second"}, {"WATCH_KUBECONFIG", "/first"}})),
            "/first (env WATCH_KUBECONFIG)");
}

TEST(Arguments, SettingsOfTrusteeAreForEveryCommandAboutAFleet) {
  EXPECT_EQ(origin_of(parse_all({"run", "--trustee-namespaces", "a,b"}), "trustee-namespaces"),
            "a,b (flag)");
  EXPECT_EQ(origin_of(parse_all({"plan"}, {{"TRUSTEE_NAMESPACES", "c"}}), "trustee-namespaces"),
            "c (env TRUSTEE_NAMESPACES)");
  EXPECT_EQ(origin_of(parse_all({"run"}), "strict-versions"), "false (default)");
  EXPECT_EQ(origin_of(parse_all({"run", "--strict-versions"}), "strict-versions"), "true (flag)");
}

TEST(Arguments, EachSettingNamesItsOrigin) {
  const parse_outcome o = parse({"run", "--kubeconfig", "f"});
  EXPECT_EQ(origin_of(o, "kubeconfig"), "f (flag)");
  EXPECT_EQ(origin_of(o, "namespace"), "default (default)");
}

TEST(Arguments, AFileHoldsTheSameSettingsAndFlagsWinOverIt) {
  reactor::temporary_folder folder;
  const std::string file = folder / "settings.yaml";
  reactor::put(
      file,
      "namespace: fleet\nlog-format: json\napis: [bootc]\nleader-elect: true\nkubeconfig-key: a\n"
      "policies: [./mine, 'configmap:ops/rules']\n");
  const parse_outcome o =
      parse({"run", "--config", file, "--log-format", "console"}, {{"KUBECONFIG_SECRET_KEY", "b"}});
  ASSERT_TRUE(o) << o.err;
  const auto& run = (*o.options<run_arguments>());
  EXPECT_EQ(run.fleet.ns, "fleet");
  EXPECT_EQ(run.fleet.log_format, "console");
  EXPECT_EQ(run.fleet.kubeconfig_key, "b");
  EXPECT_EQ(run.fleet.policies, (std::vector<std::string>{"./mine", "configmap:ops/rules"}));
  EXPECT_TRUE(run.leader_elect);
  EXPECT_EQ(origin_of(o, "namespace"), "fleet (file " + file + ")");
  EXPECT_EQ(origin_of(o, "log-format"), "console (flag)");
  EXPECT_EQ(origin_of(o, "kubeconfig-key"), "b (env KUBECONFIG_SECRET_KEY)");
}

TEST(Arguments, AFileThatCannotBeUsedIsNamedWithItsEntry) {
  reactor::temporary_folder folder;
  const std::string file = folder / "settings.yaml";
  for (const auto& [text, named] : std::map<std::string, std::string>{
           {"namespaces: x\n", "\"namespaces\" is not a setting of `windlass run`"},
           {"config: other.yaml\n", "\"config\""},
           {"namespace: {a: b}\n", "\"namespace\": expected a text"},
           {"- namespace\n", "expected a mapping"},
           {"apis: [pods]\n", "pods"},
           {"a: [\n", "line"}}) {
    reactor::put(file, text);
    const parse_outcome o = parse({"run", "--config", file});
    EXPECT_EQ(o.exit_code, 2) << text;
    EXPECT_NE(o.err.find(named), std::string::npos) << o.err;
  }
  EXPECT_NE(parse({"run", "--config", folder / "absent"}).err.find("absent"), std::string::npos);
}

TEST(Arguments, OneFileServesRunAndStatusAndWhatNobodyKnowsIsNamed) {
  reactor::temporary_folder folder;
  const std::string file = folder / "settings.yaml";
  reactor::put(file, "namespace: fleet\nleader-elect: true\nmetrics-bind-address: \"0\"\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "--config", file},
        {"status", "--config", file},
        {"rollout", "status", "workers", "--config", file}}) {
    const parse_outcome o = parse(words);
    ASSERT_TRUE(o) << o.err;
    EXPECT_EQ(origin_of(o, "namespace"), "fleet (file " + file + ")");
  }
  reactor::put(file, "namespac: fleet\n");
  EXPECT_NE(parse({"status", "--config", file}).err.find("\"namespac\" is not a setting"),
            std::string::npos);
}

TEST(Arguments, AMistypedCommandIsNamedWithTheNearestOne) {
  EXPECT_EQ(parse({"stauts"}).err,
            "windlass: there is no command \"stauts\"; did you mean \"status\"? `windlass --help` "
            "lists them\n");
  EXPECT_NE(parse({"policy", "tset"})
                .err.find("there is no command \"policy tset\"; did you mean "
                          "\"test\"?"),
            std::string::npos);
  EXPECT_EQ(parse({"frobnicate"}).err.find("did you mean"), std::string::npos);
}

TEST(Arguments, VersionAndHelpAreFoundAsPeopleSpellThem) {
  for (const char* word : {"--version", "-v", "version"}) {
    const parse_outcome o = parse({word});
    ASSERT_TRUE(o) << word << o.err;
    EXPECT_TRUE(o.path == "version") << word;
  }
  EXPECT_EQ(parse({"help"}).out, parse({"--help"}).out);
  EXPECT_EQ(parse({"help", "run"}).out, parse({"run", "--help"}).out);
  EXPECT_EQ(parse({"help", "rollout", "pause"}).out, parse({"rollout", "pause", "--help"}).out);
  EXPECT_NE(parse({"help"}).out.find("helm"), std::string::npos);
}

TEST(Arguments, ARolloutIsChosenByPoolClusterAndLabels) {
  const parse_outcome o = parse({"rollout", "set-image", "workers", "r/os@sha256:1", "--cluster",
                                 "a,b", "-l", "env=prod", "--yes"});
  ASSERT_TRUE(o) << o.err;
  const auto& r = (*o.options<rollout_arguments>());
  EXPECT_EQ(r.what, rollout_arguments::command::set_image);
  EXPECT_EQ(r.pool, "workers");
  EXPECT_EQ(r.image, "r/os@sha256:1");
  EXPECT_EQ(r.list.clusters, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(r.list.selector, "env=prod");
  EXPECT_TRUE(r.yes);
}

TEST(Arguments, WrongUsageExitsWithTwoAndNamesTheArgument) {
  for (const auto& [words, named] : std::map<std::vector<std::string>, std::string>{
           {{"run", "--bogus"}, "--bogus"},
           {{"demo", "--clusters", "many"}, "--clusters"},
           {{"frobnicate"}, "frobnicate"},
           {{"status", "-o", "xml"}, "xml"},
           {{"completion", "tcsh"}, "tcsh"},
           {{"explain"}, "UNIT"},
           {{"--nonsense"}, "windlass: The following argument was not expected: --nonsense"},
           {{"--nonsense=1", "run"}, "--nonsense"},
           {{"status", "--kubecofnig", "f"}, "did you mean \"--kubeconfig\"?"},
           {{"--kubecofnig", "f", "status"}, "did you mean \"--kubeconfig\"?"},
           {{"policy", "--nonsense"},
            "windlass policy: The following argument was not expected"}}) {
    const parse_outcome o = parse(words);
    EXPECT_FALSE(o) << named;
    EXPECT_EQ(o.exit_code, 2) << named;
    EXPECT_NE(o.err.find(named), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "");
  }
}

TEST(Arguments, TheProgramAndItsGroupsAloneAreTheirHelp) {
  EXPECT_EQ(parse({}).out, parse({"--help"}).out);
  EXPECT_EQ(parse({}).exit_code, 0);
  EXPECT_EQ(parse({"rollout"}).out, parse({"rollout", "--help"}).out);
  EXPECT_NE(parse({"rollout"}).out.find("set-image"), std::string::npos);
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    most = std::max(most, page(text.substr(begin, end - begin)).width());
    begin = end + 1;
  }
  return most;
}

TEST(Arguments, TheFirstScreenOfEachHelpFitsAndAllFlagsAreInTheOther) {
  const std::vector<units::api> known = apis();
  for (const completed_command& c : described(program(), &known)) {
    if (c.name.starts_with("helm") || c.name == "bench") continue;
    std::vector<std::string> words;
    for (std::size_t at = 0; at < c.name.size();) {
      const std::size_t end = std::min(c.name.find(' ', at), c.name.size());
      words.push_back(c.name.substr(at, end - at));
      at = end + 1;
    }
    words.emplace_back("--help");
    const std::string first = parse_all(words).out;
    EXPECT_LE(std::ranges::count(first, '\n'), 24) << first;
    EXPECT_LE(widest(first), 80u) << first;
    EXPECT_NE(first.find(c.about.substr(0, 20)), std::string::npos) << first;
    words.back() = "--help-all";
    const std::string all = parse_all(words).out;
    EXPECT_LE(widest(all), 80u) << all;
    for (const auto& flag : c.flags)
      if (flag.name != "help" && flag.name != "help-all") {
        EXPECT_NE(all.find("--" + flag.name), std::string::npos) << c.name;
      }
  }
  EXPECT_EQ(parse_all({"tenant", "list", "--help-all"}).out.find("trustee"), std::string::npos)
      << "a setting of another API";
}

TEST(Arguments, ApisAreChosenByNameAndAllOfThemRunByDefault) {
  for (const char* command : {"run", "status", "plan"}) {
    const auto apis_of = [](const parse_outcome& o) {
      const auto* run = o.options<run_arguments>();
      return run ? run->fleet.apis : o.options<overview_arguments>()->fleet.apis;
    };
    const parse_outcome one = parse({command, "--apis", "toys"}), all = parse({command}),
                        both = parse({command, "--apis", "toys,bootc"}),
                        added = parse({command, "--apis=toys", "--apis=bootc"});
    ASSERT_TRUE(one && all && both) << one.err << all.err << both.err;
    EXPECT_EQ(apis_of(one), std::vector<std::string>{"toys"});
    EXPECT_EQ(apis_of(all), (std::vector<std::string>{"bootc", "toys"}));
    EXPECT_EQ(apis_of(both), (std::vector<std::string>{"toys", "bootc"}));
    const auto named = [](const parse_outcome& o) {
      const auto* run = o.options<run_arguments>();
      return run ? run->fleet.apis_named : o.options<overview_arguments>()->fleet.apis_named;
    };
    EXPECT_TRUE(named(one) && named(both)) << "who names all of them names them";
    EXPECT_FALSE(named(all));
    ASSERT_TRUE(added) << added.err;
    EXPECT_EQ(apis_of(added), apis_of(both)) << "as a component of the kustomization adds one";
    EXPECT_EQ(origin_of(all, "apis"),
              "those that home serves; tenants run where they are named (default)");
    const parse_outcome wrong = parse({command, "--apis", "bootc,pods"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("there is no API \"pods\"; there is: bootc,toys"), std::string::npos)
        << wrong.err;
  }
}

TEST(Arguments, SettingsOfTenantsAreJudgedWhereTheyAreSaid) {
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"run", "--max-failures", "x"},
       "--max-failures: must be a number, or a share such as 10%, is \"x\""},
      {{"run", "--max-failures", "101%"},
       "--max-failures: must be a number, or a share such as 10%, is \"101%\""},
      {{"plan", "--wave-soak", "soon"},
       "--wave-soak: must be a duration such as 30m, a year at most, is \"soon\""},
  };
  for (const auto& [line, why] : table) {
    const parse_outcome wrong = parse_all(line);
    EXPECT_EQ(wrong.exit_code, 2) << line.back();
    EXPECT_NE(wrong.err.find(why), std::string::npos) << wrong.err;
  }
  EXPECT_EQ(parse_all({"run", "--apis", "tenants", "--max-failures", "10%", "--wave-soak", "30m"})
                .exit_code,
            0);
}

TEST(Arguments, HelpGoesToStandardOutputWithExamples) {
  for (const char* command :
       {"run", "daemon", "apiserver", "demo", "status", "plan", "explain", "completion"}) {
    const parse_outcome o = parse({command, "--help"});
    EXPECT_EQ(o.exit_code, 0) << command;
    EXPECT_NE(o.out.find("Example"), std::string::npos) << command;
    EXPECT_EQ(o.err, "") << command;
  }
}

TEST(Arguments, TheDaemonTakesItsNameFromTheFlag) {
  const parse_outcome o =
      parse({"daemon", "--node-name", "w1", "--host", "direct", "--bootc-poll-interval", "2.5"});
  ASSERT_TRUE(o);
  const auto& d = (*o.options<bootc::daemon_arguments>());
  EXPECT_EQ(d.node_name, "w1");
  EXPECT_EQ(d.host, bootc::daemon_arguments::host_form::direct);
  EXPECT_EQ(d.poll_interval.value, std::chrono::milliseconds(2'500));
}

TEST(Arguments, AnIntervalIsADurationOrSeconds) {
  const auto interval = [](const char* text) -> reactor::nanoseconds {
    const parse_outcome o = parse({"daemon", "--node-name", "w1", "--bootc-poll-interval", text});
    return o ? o.options<bootc::daemon_arguments>()->poll_interval.value
             : reactor::nanoseconds::zero();
  };
  EXPECT_EQ(interval("5m"), std::chrono::minutes(5));
  EXPECT_EQ(interval("1h30m"), std::chrono::minutes(90));
  EXPECT_EQ(interval("90"), std::chrono::seconds(90));
  for (const char* wrong : {"0", "-5m", "nan", "1e300", "soon", "9999999h"})
    EXPECT_EQ(interval(wrong), reactor::nanoseconds::zero()) << wrong;
}

TEST(Arguments, ADaemonThatIsNotToldAsksTheOperatorConfig) {
  const parse_outcome o = parse({"daemon", "--node-name", "w1"});
  ASSERT_TRUE(o);
  EXPECT_TRUE(o.options<bootc::daemon_arguments>()->poll_interval.is_default());
}

TEST(Arguments, SayHowRegistriesAreAsked) {
  const parse_outcome o =
      parse({"run", "--tag-resolution-interval", "1m", "--allow-insecure-registry", "lab:5000",
             "--allow-insecure-registry=10.0.0.1:80", "--registry-mirror", "quay.io=mirror:5000",
             "--allow-token-realm", "auth.example.com"});
  ASSERT_TRUE(o) << o.err;
  EXPECT_EQ(origin_of(o, "tag-resolution-interval"), "1m (flag)");
  EXPECT_EQ(origin_of(o, "allow-insecure-registry"), "lab:5000,10.0.0.1:80 (flag)");
  EXPECT_EQ(origin_of(o, "registry-mirror"), "quay.io=mirror:5000 (flag)");
  EXPECT_EQ(origin_of(o, "allow-token-realm"), "auth.example.com (flag)");
  for (const char* wrong : {"quay.io", "=x", "x=", "quay.io=https://m"})
    EXPECT_EQ(parse({"run", "--registry-mirror", wrong}).exit_code, 2) << wrong;
}

TEST(Arguments, PlainHttpIsAllowedToRegistriesThatAreNamed) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--allow-insecure-registry"},
        {"--allow-insecure-registry", "--leader-elect"},
        {"--allow-insecure-registry=true"},
        {"--allow-insecure-registry=false"},
        {"--allow-insecure-registry="},
        {"--allow-insecure-registry=*"},
        {"--allow-insecure-registry=http://lab:5000"}}) {
    std::vector<std::string> all{"run"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(parse(all).exit_code, 2) << wrong.back();
  }
}

TEST(Arguments, AnApprovalNamesAPoolAndPerhapsADigest) {
  const parse_outcome o = parse({"rollout", "approve", "workers", "--digest", "sha256:1", "--yes"});
  ASSERT_TRUE(o) << o.err;
  const auto& a = (*o.options<rollout_arguments>());
  EXPECT_EQ(a.what, rollout_arguments::command::approve);
  EXPECT_EQ(a.digest, "sha256:1");
}

TEST(Completion, KnowsEveryCommandInEveryShell) {
  const std::vector<units::api> known = apis();
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(described(program(), &known), shell);
    for (const completed_command& command : described(program(), &known))
      EXPECT_NE(script.find(command.name), std::string::npos) << shell;
    EXPECT_NE(script.find("kubeconfig"), std::string::npos) << shell;
  }
}

/// What bash offers after these words; the program itself is a script that prints two releases.
std::string offered(const std::string& words, int at) {
  reactor::temporary_folder folder;
  const std::vector<units::api> known = apis();
  const std::string script =
      folder.write("script", completion_script(described(program(), &known), "bash"));
  const std::string program = folder.write(
      "windlass", "#!/bin/sh\necho \"$*\" >> $(dirname $0)/asked\necho web; echo db\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string out = std::string(folder / "out");
  const std::string asks = folder.write(
      "asks", "source " + script + "\nCOMP_WORDS=(" + program + " " + words +
                  ")\nCOMP_CWORD=" + std::to_string(at) + "\n_windlass\necho ${COMPREPLY[@]}\n");
  EXPECT_EQ(std::system(("bash " + asks + " > " + out).c_str()), 0);
  std::ifstream in(out);
  std::string text;
  std::getline(in, text);
  return text;
}

TEST(Completion, OffersVerbsFlagsAndValuesInBash) {
  EXPECT_EQ(offered("helm get val", 3), "values");
  EXPECT_EQ(offered("helm -n shops get met", 5), "metadata");
  EXPECT_EQ(offered("helm upgrade --reset-", 3), "--reset-then-reuse-values --reset-values");
  EXPECT_EQ(offered("helm list -o ''", 4), "table json yaml");
  EXPECT_EQ(offered("helm uninstall --cascade = f", 5), "foreground");
  EXPECT_EQ(offered("helm install web --values ''", 5), "");  // files
  EXPECT_EQ(offered("policy test --allow", 3), "--allow-none");
  EXPECT_EQ(offered("completion z", 2), "zsh");
  EXPECT_EQ(offered("stat", 1), "status");
}

TEST(Completion, AsksTheProgramForReleases) {
  EXPECT_EQ(offered("helm status --namespace shops w", 5), "web");
  EXPECT_EQ(offered("helm repo remove ''", 4), "db");  // behind the headings
}

}  // namespace
}  // namespace cli
