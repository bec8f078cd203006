// What an operator edits: tables, never C++. And what goes wrong when a rule is taken out:
// something here notices each.
#include "asking.hpp"
#include "policies/host/pack.hpp"
#include "releases/trains/train.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace policies::releases {
namespace {

using testing::HasSubstr;

std::shared_ptr<document> of_provider(const std::string& provider, const std::string& chart) {
  return release_of(provider + "-35.0.0", {"cluster-" + provider + " " + chart, "flatcar 4593.2.4",
                                           "kubernetes 1.35.1", "os-tooling 1.33.1"});
}

TEST(ReleaseData, AProviderIsALine) {
  const edited_pack pack("releases/default", "providers.lua", "  eks = {",
                         "  nutanix = { limit = 40, allowed = '%w.-', rules = { { id = 'X1', "
                         "name = 'nx-{flatcar}-{kubernetes}[-{suffix}]' } } },\n  eks = {");
  asking policy({pack.folder.path()});
  pool_facts pool;
  pool.suffix = "a";
  EXPECT_EQ(policy.map(of_provider("nutanix", "1.0.0"), {pool}).images.at(0).image,
            "nx-4593.2.4-1.35.1-a");
  pool.running = "nx-4593.2.4-1.35.0-a";
  EXPECT_EQ(ids(policy.map(of_provider("nutanix", "1.0.0"), {pool}).findings), "image.drift");
  pool.running = "";
  pool.suffix = std::string(30, 'a');
  EXPECT_EQ(ids(policy.map(of_provider("nutanix", "1.0.0"), {pool}).findings), "image.too-long");
  EXPECT_EQ(ids(asking().map(of_provider("nutanix", "1.0.0")).findings), "provider.unknown");
}

TEST(ReleaseData, ANewRuleIsALineAndTakesOverFromItsVersionOn) {
  const edited_pack pack("releases/default", "providers.lua",
                         "id = \"T1\", from = \"0.63.0\", name = current },",
                         "id = \"T1\", from = \"0.63.0\", name = current },\n"
                         "{ id = \"T9\", from = \"9.0.0\", name = \"nine-{kubernetes}\", ref = "
                         "\"registry.example.com/os/node:{image}\" },");
  asking policy({pack.folder.path()});
  EXPECT_EQ(policy.map(of_provider("cloud-director", "8.9.9")).images.at(0).rule, "T1");
  const map_answer nine = policy.map(of_provider("cloud-director", "9.0.0"));
  EXPECT_EQ(nine.images.at(0).image, "nine-1.35.1");
  EXPECT_EQ(nine.images.at(0).ref, "registry.example.com/os/node:nine-1.35.1");
}

TEST(ReleaseData, ANameMayCarryAHashOfTheTools) {
  const edited_pack pack(
      "releases/default", "providers.lua", "eks = { rules = { { id = \"N0\", none = true } } },",
      "eks = { rules = { { id = \"H1\", name = \"os-{kubernetes}-{hash}\" } } },");
  asking policy({pack.folder.path()});
  map_question q;
  q.release = of_provider("eks", "1.0.0");
  const auto named = [&](std::vector<baked_tool> tools) {
    q.tools = std::move(tools);
    auto a = policy.map(q);
    EXPECT_TRUE(a) << (a ? "" : a.error().message());
    return !a ? std::string() : a->images.empty() ? ids(a->findings) : a->images[0].image;
  };
  const std::string one = named({{"image-builder", "1.0.0"}, {"containerd", "v1.7.0"}});
  EXPECT_EQ(one.size(), std::string_view("os-1.35.1-h0123456789").size());
  EXPECT_EQ(named({{"containerd", "1.7.0"}, {"image-builder", "1.0.0"}}), one);
  EXPECT_NE(named({{"containerd", "1.7.1"}, {"image-builder", "1.0.0"}}), one);
  EXPECT_NE(named({}), one) << "without a list: the components that are baked in";
  EXPECT_EQ(named({{"a", "1.0.0"}, {"a", "1.0.0"}}), "image.hash-invalid");
  q.tools = {{"containerd", "1.7.0"}};
  EXPECT_EQ(ids(policy.map(q)->findings), "image.hash-incomplete");
}

TEST(ReleaseData, AHashThatOtherToolsHaveIsRefused) {
  const edited_pack pack(
      "releases/default", "providers.lua", "eks = { rules = { { id = \"N0\", none = true } } },",
      "eks = { rules = { { id = \"H1\", name = \"os-{kubernetes}-{hash}\" } } },");
  const std::string file = pack.folder.path() + "/mine/tables.lua";
  std::string tables = read_text(file);
  const std::size_t at = tables.find("hash_digits = 10");
  ASSERT_NE(at, tables.npos);
  tables.replace(at, 16, "hash_digits = 1");  // sixteen hashes, so that two lists share one
  std::ofstream(file) << tables;
  asking policy({pack.folder.path()});
  map_question q;
  q.release = of_provider("eks", "1.0.0");
  q.tools = {{"image-builder", "1.0.0"}};
  q.known_tools = {{"the-same", q.tools}};
  EXPECT_EQ(ids(policy.map(q)->findings), "");
  for (int patch = 1; patch <= 64; ++patch)
    q.known_tools.push_back(
        {"other-" + std::to_string(patch), {{"image-builder", "1.0." + std::to_string(patch)}}});
  auto a = policy.map(q);
  ASSERT_TRUE(a) << a.error().message();
  EXPECT_EQ(ids(a->findings), "image.hash-collision");
  EXPECT_EQ(a->verdict, decision::deny);
  EXPECT_THAT(a->findings[0].from, testing::StartsWith("other-"));
}

TEST(ReleaseData, TheToolsOfAHashAreLinesOfATable) {
  const edited_pack pack(
      "releases/default", "providers.lua", "eks = { rules = { { id = \"N0\", none = true } } },",
      "eks = { rules = { { id = \"H1\", name = \"os-{kubernetes}-{hash}\" } } },");
  const std::string file = pack.folder.path() + "/mine/tables.lua", from = "binaries = {},";
  std::string tables = read_text(file);
  const std::size_t at = tables.find(from);
  ASSERT_NE(at, tables.npos);
  tables.replace(at, from.size(),
                 "binaries = { [\"1.33.1\"] = { [\"image-builder\"] = \"1.0.0\", containerd = "
                 "\"1.7.0\" }, [\"1.33.2\"] = { containerd = \"1.7.1\" } },");
  std::ofstream(file) << tables;
  asking policy({pack.folder.path()});
  map_question q;
  q.release = of_provider("eks", "1.0.0");
  const auto by_table = policy.map(q);
  ASSERT_TRUE(by_table) << by_table.error().message();
  EXPECT_EQ(ids(by_table->findings), "");
  q.tools = {{"containerd", "1.7.0"}, {"image-builder", "1.0.0"}};
  EXPECT_NE(by_table->images[0].image, policy.map(q)->images[0].image)
      << "a list that is given is all there is";
  ASSERT_EQ(by_table->inside.size(), 2u);
  EXPECT_EQ(by_table->inside[0].name + by_table->inside[0].version, "containerd1.7.0");
  // Of a version that the table does not know its components alone are known.
  q.tools = {};
  q.release =
      release_of("eks-35.0.0", {"cluster-eks 1.0.0", "kubernetes 1.35.1", "os-tooling 9.9.9"});
  EXPECT_EQ(ids(policy.map(q)->findings), "");
  EXPECT_TRUE(policy.map(q)->inside.empty());
  q.release = release_of("eks-35.0.0", {"cluster-eks 1.0.0", "kubernetes 1.35.1"});
  EXPECT_EQ(ids(policy.map(q)->findings), "image.hash-incomplete");
}

TEST(ReleaseData, TwoRulesForOneVersionAreAFinding) {
  const edited_pack pack("releases/default", "providers.lua",
                         "id = \"T1\", from = \"0.63.0\", name = current },",
                         "id = \"T1\", from = \"0.63.0\", name = current },\n{ id = \"T9\", from = "
                         "\"0.63.0\", name = current },");
  EXPECT_EQ(ids(asking({pack.folder.path()}).map(of_provider("cloud-director", "9.0.0")).findings),
            "image.rule-ambiguous");
}

TEST(ReleaseData, ABrokenTableIsRefusedWithItsPlace) {
  const auto refused = [](const std::string& from, const std::string& to,
                          const std::string& file = "providers.lua") {
    const edited_pack pack("releases/default", file, from, to);
    reactor::loop l(reactor::loop::mode::simulated, 1);
    host packs(l, {.folders = {pack.folder.path()}, .stock = false, .limits = {}});
    std::string why;
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      if (!loaded) why = loaded.error().message();
    });
    return why;
  };
  EXPECT_THAT(refused("from = \"1.0.0\", to = \"1.3.3\"", "from = \"1.3.3\", to = \"1.0.0\""),
              HasSubstr("providers.lua: aws.rules[2]: from is not below to"));
  EXPECT_THAT(refused("from = \"1.0.0\", to = \"1.3.3\"", "from = \"1.0\""),
              HasSubstr("providers.lua: aws.rules[2].from: expected a version"));
  EXPECT_THAT(refused("limit = 128, least", "limmit = 128, least"),
              HasSubstr("providers.lua: aws: unknown entry 'limmit'"));
  EXPECT_THAT(refused("id = \"N0\", none = true", "id = \"N0\""),
              HasSubstr("expected name, tags, none or constant"));
  EXPECT_THAT(refused("eks = {", "eks = = {"), HasSubstr("providers.lua:"));
  EXPECT_THAT(refused("id = \"N0\", none = true", "id = \"N0\", name = \"a-{b\""),
              HasSubstr("rules[1].name: character 3: expected {name}"));
  EXPECT_THAT(refused("id = \"N0\", none = true", "id = \"N0\", name = \"{x}\", ref = \"node\""),
              HasSubstr("rules[1].ref: expected a reference"));
  EXPECT_THAT(refused("{ \"flatcar-stable-3602.2.1-kube-v1.25.16\", \"0.50.0\" }",
                      "{ \"flatcar-stable-3602.2.1-kube-v1.25.16\", \"0.50\" }"),
              HasSubstr("cloud-director.rules[1].constant[1][2]: expected a version"));
  for (const char* inside : {"teleport = 17", "teleport = { awz = \"17.0.0\" }", "teleport = {}"})
    EXPECT_THAT(
        refused("binaries = {},", "binaries = { [\"1.0.0\"] = { " + std::string(inside) + " } },",
                "tables.lua"),
        HasSubstr("tables.lua: binaries[1.0.0].teleport: expected a version"))
        << inside;
}

std::string judged(asking& policy, std::shared_ptr<const document> from,
                   std::shared_ptr<const document> to) {
  return ids(policy.diff(std::move(from), std::move(to)).findings);
}

TEST(ReleaseData, EachClauseTakenOutIsMissed) {
  const auto base = release_of(
      "aws-34.1.0",
      {"cluster-aws 7.7.3", "flatcar 4593.2.4", "kubernetes 1.34.10", "os-tooling 1.26.4"},
      {"cluster-autoscaler 1.27.3-gs9"});
  const auto next = release_of(
      "aws-34.1.1",
      {"cluster-aws 7.7.3", "flatcar 4593.2.4", "kubernetes 1.34.10", "os-tooling 1.27.0"},
      {"cluster-autoscaler 1.27.3-gs10"});
  asking stock;
  EXPECT_EQ(judged(stock, base, next), "level.too-high nodes.roll-in-patch nodes.roll");
  {
    const edited_pack levels(
        "releases/default", "tables.lua",
        "{ name = \"os-tooling\", major = \"major\", minor = \"minor\", severity = \"error\" },",
        "{ name = \"os-tooling\" },");
    asking policy({levels.folder.path()});
    EXPECT_EQ(judged(policy, base, next), "nodes.roll-in-patch nodes.roll");
  }
  {
    const edited_pack strict("releases/default", "tables.lua", "{ suffix = \"gs\" },", "");
    asking policy({strict.folder.path()});
    EXPECT_EQ(judged(policy, base, next),
              "level.too-high app.downgrade nodes.roll-in-patch nodes.roll");
  }
  {
    const edited_pack plain("releases/default", "tables.lua", "prereleases = \"base\"",
                            "prereleases = \"strict\"");
    asking policy({plain.folder.path()});
    auto rules = read_requests(
        "releases:\n- name: '< 34.0.0'\n  requests:\n  - {name: cluster-aws, version: '< 7.0.0'}\n",
        "r.yaml");
    ASSERT_TRUE(rules);
    diff_question q;
    q.release = release_of("aws-34.0.0-e2e.h1", {"cluster-aws 7.1.0", "flatcar 4593.2.4",
                                                 "kubernetes 1.34.10", "os-tooling 1.26.4"});
    q.requests = std::make_shared<request_file>(*rules);
    EXPECT_THAT(ids(policy.diff(q)->findings), HasSubstr("request.violated"));
    EXPECT_THAT(ids(stock.diff(q)->findings), testing::Not(HasSubstr("request.violated")));
  }
}

/// The verdict of a request on this Release by a pack.
std::string asked_of(asking& policy, const std::string& version, const std::string& rules) {
  auto read = read_requests(rules, "r.yaml");
  EXPECT_TRUE(read);
  auto release =
      std::make_shared<document>(*release_of("v" + version, {"containerlinux 2345.3.0"}));
  release->folder = "azure";
  release->stored_as = release->name;
  diff_question q;
  q.release = release;
  q.requests = std::make_shared<request_file>(std::move(*read));
  auto a = policy.diff(std::move(q));
  EXPECT_TRUE(a);
  std::string results;
  if (a) {
    for (const request_verdict& v : a->requests) results += v.result;
  }
  return results;
}

TEST(ReleaseData, AnExceptionForOneExcusesNoOther) {
  const std::string rules =
      "releases:\n- name: '> 12.1.0, < 13.0.0'\n  requests:\n  - name: containerlinux\n    "
      "version: '>= 2512.4.0'\n    except: [{releaseVersion: 12.1.1, reason: apps only}]\n";
  asking stock;
  EXPECT_EQ(asked_of(stock, "12.1.1", rules), "");
  EXPECT_EQ(asked_of(stock, "12.1.2", rules), "violated");
  const edited_pack wide("releases/default", "requests.lua",
                         "if image.without_v(exception.release) == version then excused = true end",
                         "excused = true");
  asking policy({wide.folder.path()});
  EXPECT_EQ(asked_of(policy, "12.1.2", rules), "");
}

trains::train_answer about_train(asking& policy, trains::hook which, const std::string& text) {
  trains::train_answer out;
  run_task(policy.loop, [&]() -> reactor::awaitable<void> {
    subject anyone;
    auto document = trains::read_train(text, "t.yaml");
    EXPECT_TRUE(document) << (document ? "" : document.error().message());
    if (!document) co_return;
    auto a = co_await trains::ask_train(policy.packs, std::move(anyone), which, *document);
    EXPECT_TRUE(a) << (a ? "" : a.error().message());
    if (a) out = std::move(*a);
  });
  return out;
}

TEST(TrainData, EqualDigestsAreWhatSkipsASecondTest) {
  const std::string commit(40, 'a');
  std::string text = "train: v1\nprojects:\n- {name: Trustee, candidate: " + commit +
                     "}\npromote: {project: Trustee, tag: v1.0.0}\nimages:\n"
                     "- {ref: 'kbs-client:v1.0.0-x86_64', digest: 'sha256:2'}\n";
  for (const char* image : {"kbs:", "kbs-grpc-as:", "kbs-client:sample_only-",
                            "rvps:", "coco-as-grpc:", "coco-as-restful:", "kbs-ita-as:"}) {
    for (const char* arch : {"x86_64", "s390x"})
      text += std::string("- {ref: 'staged-images/") + image + commit + "-" + arch +
              "', digest: 'sha256:1'}\n";
  }
  asking stock;
  text += "suites:\n- {id: all, result: passed, contentHash: " +
          about_train(stock, trains::hook::check, text).hash + "}\n";
  const trains::train_answer a = about_train(stock, trains::hook::promote, text);
  EXPECT_EQ(a.retest, "required");
  EXPECT_THAT(ids(a.findings), HasSubstr("train.retest-required"));
  const edited_pack blind("trains/default", "promote.lua",
                          "there and there ~= \"\" and there ~= tested", "false");
  asking policy({blind.folder.path()});
  EXPECT_EQ(about_train(policy, trains::hook::promote, text).retest, "skipped");
}

TEST(TrainData, AnImageOfAnotherProjectIsALine) {
  const edited_pack rows(
      "trains/default", "tables.lua", "promote = {\n",
      "promote = {\n"
      "{ project = \"Kata\", from = \"kata-deploy-ci:kata-containers-{}\", to = "
      "\"kata-deploy:{}\", "
      "arches = { \"amd64\", \"ppc64le\" } },\n"
      "{ project = \"guest-components\", from = \"gc/attestation-agent:{}-none\", to = "
      "\"gc/attestation-agent:{}-none\", arches = { \"x86_64\", \"aarch64\" } },\n");
  asking stock, policy({rows.folder.path()});
  const struct {
    const char *project, *tag, *from, *to;
    std::vector<std::string> arches, called;
  } cases[] = {
      {"Kata",
       "3.32.0",
       "kata-deploy-ci:kata-containers-",
       "kata-deploy:3.32.0",
       {"amd64", "ppc64le"},
       {"amd64", "ppc64le"}},
      {"guest-components",
       "v0.22.0",
       "gc/attestation-agent:",
       "gc/attestation-agent:v0.22.0-none",
       {"x86_64", "aarch64"},
       {"amd64", "arm64"}},
  };
  for (const auto& c : cases) {
    const std::string commit(40, 'a'), middle = std::string(c.project) == "Kata" ? "-" : "-none-";
    std::string text = "train: v1\nprojects:\n- {name: " + std::string(c.project) +
                       ", candidate: " + commit + "}\npins:\n";
    for (const char* pinned : {"guest-components", "Trustee", "nydus-snapshotter"})
      text += std::string("- {holder: Kata, project: ") + pinned +
              ", field: version, value: " + commit + "}\n";
    text += "promote: {project: " + std::string(c.project) + ", tag: " + c.tag + "}\nimages:\n";
    for (const std::string& arch : c.arches)
      text += "- {ref: '" + (c.from + commit) + middle + arch + "', digest: 'sha256:1'}\n";
    text += "suites:\n- {id: all, result: passed, contentHash: " +
            about_train(policy, trains::hook::check, text).hash + "}\n";
    const trains::train_answer a = about_train(policy, trains::hook::promote, text);
    EXPECT_EQ(a.retest, "skipped") << c.project << ids(a.findings);
    ASSERT_EQ(a.retags.size(), 2u) << c.project << ids(a.findings);
    ASSERT_EQ(a.indexes.size(), 1u) << c.project;
    EXPECT_EQ(a.indexes[0].to, c.to);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(a.retags[i].to, c.to + ("-" + c.arches[i]));
      EXPECT_EQ(a.indexes[0].parts[i].architecture, c.called[i]);
    }
    const trains::train_answer none = about_train(stock, trains::hook::promote, text);
    EXPECT_EQ(none.verdict, decision::deny) << c.project;
    EXPECT_THAT(none.findings[0].why, HasSubstr("tables.lua promotes no image of it"));
  }
}

TEST(TrainData, WeakEdgesAreDroppedBeforeThereIsAnOrder) {
  const std::string text =
      "train: v1\nedges:\n- {from: a, to: b, kind: strong}\n- {from: b, to: a, kind: weak}\n";
  asking stock;
  EXPECT_THAT(ids(about_train(stock, trains::hook::check, text).findings),
              testing::Not(HasSubstr("train.cycle")));
  const edited_pack strong("trains/default", "consistency.lua",
                           "if edge.kind == \"strong\" then\n      local list",
                           "do\n      local list");
  asking policy({strong.folder.path()});
  EXPECT_THAT(ids(about_train(policy, trains::hook::check, text).findings),
              HasSubstr("train.cycle"));
}

/// A weight that nothing is found for is a check that somebody forgot, or forgot to take out.
TEST(ReleaseData, EveryWeightHasItsFinding) {
  std::string ours;
  for (const char* file : {"document", "repository", "consent", "fields", "planning"})
    ours += read_text(std::string(WINDLASS_SOURCE_DIR "/releases/rules/") + file + ".cpp");
  std::size_t seen = 0;
  for (const pack_source& source : stock_packs()) {
    if (source.folder != "releases/default" && source.folder != "trains/default") continue;
    std::string text = ours, tables;
    for (const auto& [name, content] : source.files) {
      if (name == "tables.lua") tables = content;
      if (name != "tables.lua" && !name.ends_with("_test.lua")) text += content;
    }
    for (std::size_t at = tables.find("severities = {");
         (at = tables.find("[\"", at)) != tables.npos; ++at) {
      const std::string id = tables.substr(at + 2, tables.find('"', at + 2) - at - 2);
      // Whole, or put together from what it is about: kind .. ".downgrade".
      const std::string tail = id.substr(id.find('.'));
      EXPECT_TRUE(text.find('"' + id + '"') != text.npos ||
                  text.find('"' + tail + '"') != text.npos)
          << source.folder << ": " << id;
      ++seen;
    }
  }
  EXPECT_GT(seen, 80u);
}

/// Who is held up reads what would let them go.
TEST(ReleaseData, WhateverBlocksSaysWhatClearsIt) {
  std::size_t seen = 0;
  for (const pack_source& source : stock_packs()) {
    if (source.folder != "releases/default" && source.folder != "trains/default") continue;
    const std::string& tables = source.files.at("tables.lua");
    const std::string& clears = source.files.at("clears.lua");
    std::istringstream lines(tables.substr(tables.find("severities = {")));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find("[\""), end = line.find("\"]");
      if (begin == line.npos || end == line.npos) continue;
      const std::string id = line.substr(begin, end + 2 - begin);
      const bool blocks =
          line.find("\"error\"") != line.npos || line.find("\"approval\"") != line.npos;
      EXPECT_TRUE(!blocks || clears.find(id) != clears.npos) << source.folder << " " << id;
      seen += blocks;
    }
    for (std::size_t at = 0; (at = clears.find("[\"", at)) != clears.npos; ++at) {
      const std::string id = clears.substr(at, clears.find("\"]", at) + 2 - at);
      EXPECT_NE(tables.find(id), tables.npos) << source.folder << " " << id;
    }
  }
  EXPECT_GT(seen, 50u);
  EXPECT_THAT(asking()
                  .map(release_of("azure-34.5.0", {"cluster-azure 5.4.2", "flatcar 4593.2.4",
                                                   "kubernetes 1.34.10"}))
                  .findings.at(0)
                  .clears,
              "add os-tooling to spec.components");
}

TEST(TrainData, ASixthProjectIsComparedByALine) {
  const edited_pack pack(
      "trains/default", "tables.lua", "  mirrors = {",
      "  mirrors = {\n    { name = \"caa_attester\", holder = \"cloud-api-adaptor\", project = "
      "\"attester\" },");
  asking policy({pack.folder.path()});
  const std::string text =
      "train: v1\nprojects:\n- {name: attester, candidate: " + std::string(40, 'a') +
      "}\npins:\n- {holder: Kata, project: attester, field: version, value: " +
      std::string(40, 'a') +
      "}\n- {holder: cloud-api-adaptor, project: attester, field: reference, value: " +
      std::string(40, 'b') + "}\n";
  const trains::train_answer a = about_train(policy, trains::hook::check, text);
  ASSERT_EQ(a.checks.size(), 1u);
  EXPECT_EQ(a.checks[0].name + "=" + a.checks[0].result, "caa_attester=MISMATCH");
  EXPECT_THAT(ids(a.findings), HasSubstr("train.pin-mismatch"));
}

TEST(TrainData, AProjectAndAnEdgeAreLines) {
  const std::string text =
      "train: v1\nprojects:\n- {name: attester, candidate: " + std::string(40, 'a') + "}\n";
  const auto order = [&](asking& policy) {
    std::string names;
    run_task(policy.loop, [&]() -> reactor::awaitable<void> {
      subject anyone;
      auto document = trains::read_train(text, "t.yaml");
      auto a = co_await trains::ask_train(policy.packs, std::move(anyone), trains::hook::plan,
                                          *document);
      EXPECT_TRUE(a) << (a ? "" : a.error().message());
      if (!a) co_return;
      for (const std::string& n : a->order) names += n + " ";
    });
    return names;
  };
  asking stock;
  EXPECT_THAT(order(stock), testing::Not(HasSubstr("attester")));
  const edited_pack pack(
      "trains/default", "tables.lua", "  edges = {",
      "  edges = {\n    { from = \"attester\", to = \"guest-components\", kind = \"strong\" },");
  asking policy({pack.folder.path()});
  const std::string names = order(policy);
  EXPECT_LT(names.find("attester "), names.find("guest-components "));
}

}  // namespace
}  // namespace policies::releases
