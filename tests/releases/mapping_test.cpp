#include "releases/rules/mapping.hpp"

#include "asking.hpp"

#include <gmock/gmock.h>

namespace policies::releases {
namespace {

using testing::HasSubstr;

TEST(ReleaseMap, NamesEveryRealImageByteForByte) {
  asking policy;
  std::size_t right = 0;
  const auto rows = read_table("expected.tsv");
  for (const auto& row : rows) {
    const auto release = real_releases().find(row.at("resource"));
    ASSERT_TRUE(release) << row.at("resource");
    const map_answer answer = policy.map(release);
    ASSERT_EQ(answer.images.size(), 1u) << row.at("resource") << " " << ids(answer.findings);
    const pool_image& image = answer.images.front();
    EXPECT_EQ(image.image, row.at("image")) << row.at("resource");
    EXPECT_EQ(image.rule, row.at("rule")) << row.at("resource");
    EXPECT_EQ(answer.chart, row.at("chart_version"));
    right += image.image == row.at("image") && image.rule == row.at("rule");
  }
  EXPECT_EQ(rows.size(), 155u);
  EXPECT_EQ(right, 155u);
  std::printf("## releases: expected.tsv %zu of %zu\n", right, rows.size());
}

TEST(ReleaseMap, TakesEveryRealNameApartAgain) {
  asking policy;
  for (const auto& row : read_table("expected.tsv")) {
    if (row.at("rule") == "S1") continue;  // its name and its Release differ
    pool_facts pool;
    pool.running = row.at("image");
    const map_answer answer = policy.map(real_releases().find(row.at("resource")), {pool});
    EXPECT_THAT(ids(answer.findings), testing::Not(HasSubstr("image.drift"))) << row.at("resource");
  }
}

TEST(ReleaseMap, TellsWhichPartOfWhatRunsDiffers) {
  asking policy;
  pool_facts pool;
  pool.running = "flatcar-stable-4593.2.4-kube-1.34.7-tooling-1.33.1-gs";
  const map_answer answer = policy.map(real_releases().find("aws-34.5.0"), {pool});
  ASSERT_EQ(ids(answer.findings), "image.drift");
  EXPECT_EQ(answer.findings[0].how, severity::warn);
  EXPECT_EQ(answer.findings[0].from, "1.34.7");
  EXPECT_EQ(answer.findings[0].to, "1.34.10");
  EXPECT_EQ(answer.findings[0].evidence, "capa/v34.5.0.yaml: spec.components[kubernetes]");
}

TEST(ReleaseMap, ShowsThatAConstantIsNotWhatTheReleaseSays) {
  asking policy;
  const map_answer answer = policy.map(real_releases().find("vsphere-28.0.0"));
  ASSERT_EQ(answer.images.size(), 1u);
  EXPECT_EQ(answer.images[0].image, "flatcar-stable-3815.2.2-kube-v1.27.14-gs");
  ASSERT_EQ(ids(answer.findings), "image.drift image.drift");
}

TEST(ReleaseMap, NamesTheAzureImage) {
  asking policy;
  const map_answer answer =
      policy.map(release_of("azure-29.0.0", {"cluster-azure 1.0.0", "flatcar 3815.2.5",
                                             "kubernetes 1.29.7", "os-tooling 1.15.0"}));
  ASSERT_EQ(answer.images.size(), 1u);
  EXPECT_EQ(answer.images[0].image, "flatcar-stable-3815.2.5-kube-1.29.7-tooling-1.15.0-gs");
  EXPECT_EQ(answer.images[0].rule, "T1");
  EXPECT_EQ(answer.images[0].image_version, "3815.2.5");
}

TEST(ReleaseMap, CountsRebuildsWhereAVariantIs) {
  asking policy;
  const auto named = [&](std::vector<std::string> components) {
    components.insert(components.end(),
                      {"cluster-aws 1.3.2", "flatcar 3815.2.5", "kubernetes 1.25.16"});
    const map_answer a = policy.map(release_of("aws-25.2.1", components));
    return a.images.empty() ? ids(a.findings) : a.images[0].image;
  };
  EXPECT_EQ(named({"flatcar-variant 1.0.0"}), "flatcar-stable-3815.2.5-kube-v1.25.16-alpha.1");
  EXPECT_EQ(named({}), "flatcar-stable-3815.2.5-kube-v1.25.16-gs");
}

TEST(ReleaseMap, NeverNamesAnImageWithAPartMissing) {
  asking policy;
  const map_answer answer = policy.map(
      release_of("aws-29.0.0", {"cluster-aws 1.3.3", "flatcar 3815.2.5", "kubernetes 1.29.7"}));
  EXPECT_EQ(answer.verdict, decision::deny);
  EXPECT_TRUE(answer.images.empty());
  ASSERT_EQ(ids(answer.findings), "component.missing");
  EXPECT_EQ(answer.findings[0].subject, "component/os-tooling");
  for (const finding& f : answer.findings)
    EXPECT_EQ((f.why + f.from + f.to + f.evidence).find("N/A"), std::string::npos);
}

TEST(ReleaseMap, SaysThatNobodyKnowsTheProvider) {
  asking policy;
  // Names that begin as one that is known, or end so, are none either.
  for (const char* name : {"hetzner-34.5.0", "cloud-34.5.0", "director-34.5.0", "awsx-34.5.0",
                           "my-aws-34.5.0", "cloud-director-eu-34.5.0", "v14.1.0"}) {
    const auto release = release_of(
        name, {"cluster-aws 7.7.3", "flatcar 4593.2.4", "kubernetes 1.34.10", "os-tooling 1.33.1"});
    const map_answer answer = policy.map(release);
    EXPECT_EQ(answer.verdict, decision::deny) << name;
    ASSERT_EQ(ids(answer.findings), "provider.unknown") << name;
    const finding& f = answer.findings[0];
    EXPECT_EQ(f.subject, std::string("release/") + name);
    EXPECT_EQ(f.evidence, std::string(name) + ".yaml: metadata.name");
    EXPECT_THAT(f.why, HasSubstr("known are aks, aws, azure, cloud-director"));
    EXPECT_FALSE(f.clears.empty());
    EXPECT_EQ(ids(policy.diff(nullptr, release).findings), "provider.unknown") << name;
  }
  EXPECT_EQ(policy
                .map(release_of("cloud-director-34.5.0",
                                {"cluster-cloud-director 3.1.0", "flatcar 4593.2.4",
                                 "kubernetes 1.34.10", "os-tooling 1.33.1"}))
                .provider,
            "cloud-director");
}

TEST(ReleaseMap, NamesNothingWithoutTheChartThatDecides) {
  const map_answer answer = asking().map(
      release_of("aws-34.5.0", {"flatcar 4593.2.4", "kubernetes 1.34.10", "os-tooling 1.33.1"}));
  EXPECT_EQ(answer.verdict, decision::deny);
  EXPECT_TRUE(answer.images.empty());
  ASSERT_EQ(ids(answer.findings), "component.missing");
  EXPECT_EQ(answer.findings[0].subject, "component/cluster-aws");
  EXPECT_EQ(answer.findings[0].evidence, "aws-34.5.0.yaml: spec.components");
}

TEST(ReleaseMap, LeavesAStrayVOutAndReportsIt) {
  asking policy;
  const map_answer answer =
      policy.map(release_of("azure-29.0.0", {"cluster-azure v1.0.0", "flatcar 3815.2.5",
                                             "kubernetes v1.29.7", "os-tooling 1.15.0"}));
  EXPECT_EQ(ids(answer.findings), "release.schema release.schema");
  EXPECT_THAT(answer.findings[1].why, HasSubstr("\"v1.29.7\""));
  EXPECT_EQ(answer.findings[1].evidence, "azure-29.0.0.yaml: spec.components[kubernetes].version");
}

TEST(ReleaseMap, KnowsTheArchitectureOfEachPool) {
  asking policy;
  pool_facts intel, arm, old, scaled;
  intel.name = "a";
  arm.name = "b";
  arm.architecture = "arm64";
  scaled.name = "c";
  scaled.architecture = "arm64";
  scaled.kind = "karpenter";
  const auto with_chart = [&](const std::string& chart) {
    return policy.map(release_of("aws-35.0.0", {"cluster-aws " + chart, "flatcar 4593.2.4",
                                                "kubernetes 1.35.1", "os-tooling 1.33.1"}),
                      {intel, arm, scaled});
  };
  const std::string name = "flatcar-stable-4593.2.4-kube-1.35.1-tooling-1.33.1-";
  map_answer answer = with_chart("8.9.0");
  ASSERT_EQ(answer.images.size(), 3u);
  EXPECT_EQ(answer.images[0].image, name + "gs");
  EXPECT_EQ(answer.images[1].image, name + "arm64-gs");
  EXPECT_EQ(answer.images[2].image, name + "arm64-gs");
  EXPECT_EQ(answer.images[1].rule, "T2");
  // Self-scaling pools have images of their own from there on alone.
  answer = with_chart("8.5.0");
  EXPECT_EQ(ids(answer.findings), "pool.architecture");
  EXPECT_EQ(answer.findings[0].subject, "image/aws/c");
  // The rule before names no architecture: an image of another one is none at all.
  answer = with_chart("8.4.9");
  EXPECT_EQ(answer.findings[0].subject, "image/aws/b");
  EXPECT_EQ(answer.findings[0].why, "images of rule T1 are not made for arm64");
  EXPECT_TRUE(answer.images.empty());
  arm.architecture = "riscv64";
  EXPECT_EQ(ids(with_chart("8.9.0").findings), "pool.architecture");
}

/// Rules that no real Release has come to yet; the reason of each row is beside it.
TEST(ReleaseMap, NamesWhatNoRealReleaseHasYet) {
  asking policy;
  std::map<std::string, std::size_t> rules;
  for (const auto& row : read_table("../../releases/more_rules.tsv")) {
    const std::string provider = row.at("provider");
    std::vector<std::string> components = {"cluster-" + provider + " " + row.at("chart_version")};
    for (const auto& [column, name] : {std::pair{"kubernetes", "kubernetes"},
                                       {"flatcar", "flatcar"},
                                       {"os_tooling", "os-tooling"}}) {
      // Of old charts the values say it, not the Release.
      if (!row.at(column).empty() && row.at("rule") != "W1")
        components.push_back(std::string(name) + " " + row.at(column));
    }
    map_question q;
    q.release = release_of(provider + "-35.0.0", components);
    q.pools.resize(1);
    q.pools[0].kind = row.at("kind");
    q.pools[0].architecture = row.at("architecture");
    q.values = {{"kubernetesVersion", row.at("kubernetes")}, {"osImageVariant", row.at("variant")}};
    auto answer = policy.map(q);
    ASSERT_TRUE(answer) << answer.error().message();
    ASSERT_EQ(answer->images.size(), 1u) << row.at("reason") << ": " << ids(answer->findings);
    std::string image = answer->images[0].image;
    for (const std::string& tag : answer->images[0].tags) image += (image.empty() ? "" : ",") + tag;
    EXPECT_EQ(image, row.at("image")) << row.at("reason");
    EXPECT_EQ(answer->images[0].rule, row.at("rule")) << row.at("reason");
    EXPECT_FALSE(row.at("reason").empty());
    ++rules[row.at("rule")];
  }
  for (const char* rule : {"T2", "G1", "N0", "W1"}) EXPECT_GE(rules[rule], 2u) << rule;
}

TEST(ReleaseMap, RefusesANameThatIsTooLong) {
  asking policy;
  pool_facts pool;
  const auto release = real_releases().find("vsphere-34.0.0");
  ASSERT_TRUE(release);
  pool.suffix = std::string(40, 's');
  const map_answer answer = policy.map(release, {pool});
  ASSERT_EQ(ids(answer.findings), "image.too-long");
  EXPECT_EQ(answer.verdict, decision::deny);
  EXPECT_EQ(answer.findings[0].why,
            "the name has 94 characters, the limit of vsphere is 80: 14 too many");
  pool.suffix = std::string(10, 's');
  EXPECT_EQ(policy.map(release, {pool}).verdict, decision::allow);
  EXPECT_THAT(policy.map(release, {pool}).images.at(0).image, testing::EndsWith("-gs-ssssssssss"));
  pool.suffix = "a%b";
  EXPECT_EQ(ids(policy.map(release, {pool}).findings), "image.bad-char");
  pool.suffix = "-b";
  EXPECT_EQ(ids(policy.map(release, {pool}).findings), "image.bad-char");
}

TEST(ReleaseMap, HasTagsOrNothingWhereAProviderHasNoNames) {
  asking policy;
  const map_answer tags =
      policy.map(release_of("proxmox-35.0.0", {"cluster-proxmox 1.0.0", "flatcar 4593.2.4",
                                               "kubernetes 1.35.1", "os-tooling 1.33.1"}));
  ASSERT_EQ(tags.images.size(), 1u);
  EXPECT_EQ(tags.images[0].image, "");
  EXPECT_THAT(tags.images[0].tags,
              testing::ElementsAre("release-channel_stable", "flatcar_4593.2.4",
                                   "kubernetes_1.35.1", "os-tooling_1.33.1"));
  const map_answer none = policy.map(real_releases().find("eks-34.0.1"));
  ASSERT_EQ(none.images.size(), 1u);
  EXPECT_EQ(none.images[0].rule, "N0");
  EXPECT_EQ(none.images[0].image, "");
  EXPECT_EQ(ids(none.findings), "");
}

TEST(ReleaseMap, ReadsTheChartsValuesWhereNoReleaseIs) {
  asking policy;
  map_question q;
  q.release = release_of("aws-24.0.0", {"cluster-aws 0.65.0"});
  q.values = {{"kubernetesVersion", "1.24.16"}};
  auto answer = policy.map(q);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->images.size(), 1u) << ids(answer->findings);
  EXPECT_EQ(answer->images[0].image, "capa-ami-flatcar-stable-v1.24.16-gs");
  EXPECT_EQ(answer->images[0].rule, "W1");
  q.values["osImageVariant"] = "2";
  EXPECT_EQ(policy.map(q)->images.at(0).image, "capa-ami-flatcar-stable-v1.24.16-2-gs");
  q.values.clear();
  EXPECT_EQ(policy.map(q)->findings.at(0).subject, "value/kubernetesVersion");
}

TEST(ReleaseMap, LooksATestBuildOfAChartUpAsWhatItBecomes) {
  asking policy;
  const auto rule = [&](const std::string& chart) {
    const map_answer a =
        policy.map(release_of("aws-29.0.0", {"cluster-aws " + chart, "flatcar 3815.2.5",
                                             "kubernetes 1.29.7", "os-tooling 1.15.0"}));
    return a.images.empty() ? ids(a.findings) : a.images[0].rule;
  };
  EXPECT_EQ(rule("1.3.3-25383e1a"), "T1");
  EXPECT_EQ(rule("8.5.0-a123456"), "T2");
  EXPECT_EQ(rule("0.64.9"), "image.rule-none");
}

TEST(ReleaseMap, SaysWhenAnImageWasNotBuilt) {
  asking policy;
  map_question q;
  q.release = real_releases().find("aws-34.5.0");
  q.catalogue = {"flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs"};
  EXPECT_EQ(ids(policy.map(q)->findings), "");
  q.catalogue = std::vector<std::string>();
  EXPECT_EQ(policy.map(q)->verdict, decision::deny);
  auto draft = std::make_shared<document>(*q.release);
  draft->state = "wip";
  q.release = draft;
  EXPECT_EQ(ids(policy.map(q)->findings), "image.not-built");
  EXPECT_EQ(policy.map(q)->verdict, decision::allow);
}

TEST(ReleaseMap, TakesAPoolsOwnImage) {
  asking policy;
  pool_facts pool;
  pool.image = "ami-0123";
  const map_answer answer = policy.map(release_of("aws-35.0.0", {"kubernetes 1.35.1"}), {pool});
  EXPECT_EQ(ids(answer.findings), "image.override");
  EXPECT_EQ(answer.images.at(0).image, "ami-0123");
}

TEST(ReleaseMap, HasNoTwoComponentsForOneThing) {
  asking policy;
  const auto found = [&](std::vector<std::string> more, const std::string& chart) {
    more.insert(more.end(), {"cluster-" + chart, "flatcar 3815.2.5", "kubernetes 1.29.7"});
    return ids(policy.map(release_of(chart.substr(0, chart.find(' ')) + "-29.0.0", more)).findings);
  };
  EXPECT_EQ(found({"os-tooling 1.15.0", "flatcar-variant 1.0.0"}, "aws 1.3.3"), "variant.conflict");
  EXPECT_EQ(found({"flatcar-variant 1.0.0"}, "aws 1.3.3"), "component.missing variant.obsolete");
  EXPECT_EQ(found({"flatcar-variant 1.0.0"}, "azure 0.18.0"), "variant.ignored");
}

TEST(ReleaseMapAnswer, IsRefusedWithThePlaceNamed) {
  map_question q;
  q.pools.resize(1);
  q.pools[0].name = "a";
  const auto wrong = [&](value answer) {
    auto read = read_map_answer(answer, q);
    return read ? std::string() : read.error().message();
  };
  EXPECT_EQ(wrong("no"), "the answer: expected a table, got a string");
  EXPECT_EQ(wrong(value::object{{"image", "x"}}),
            "the answer: unknown entry 'image'; known are provider, chart, explained, images, "
            "inside, findings");
  EXPECT_EQ(wrong(value::object{{"images", "x"}}), "images: expected a list, got a string");
  EXPECT_EQ(wrong(value::object{}), "images: expected one a pool, 1, got 0");
  EXPECT_EQ(wrong(value::object{{"images", value::array{value::object{{"pool", "b"}}}}}),
            "images[1].pool: expected a, the pool at this place");
  EXPECT_EQ(wrong(value::object{{"images", value::array{value::object{{"limit", "b"}}}}}),
            "images[1].limit: expected a number, got a string");
  const auto with = [&](value::object f) {
    return wrong(value::object{{"findings", value::array{std::move(f)}}});
  };
  EXPECT_EQ(with({{"id", "x"}, {"subject", "y"}, {"why", "z"}, {"severity", "fatal"}}),
            "findings[1].severity: expected error, warn or info, got 'fatal'");
  EXPECT_EQ(with({{"id", "x"}, {"subject", "y"}, {"severity", "info"}}),
            "findings[1].why: expected a sentence");
  EXPECT_EQ(with({{"id", "x"},
                  {"subject", "y"},
                  {"why", "z"},
                  {"severity", "error"},
                  {"blocking", "approval"}}),
            "findings[1].blocking: only a warning blocks, and for approval");
}

TEST(ReleaseMap, CostsFarLessThanItsBudget) {
  asking policy;
  const auto release = real_releases().find("aws-34.5.0");
  const map_answer once = policy.map(release);
  std::printf("## releases: a mapping takes %lld instructions\n",
              static_cast<long long>(once.cost.instructions));
  EXPECT_LT(once.cost.instructions, 20'000);
}

}  // namespace
}  // namespace policies::releases
