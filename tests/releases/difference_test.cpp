#include "releases/rules/difference.hpp"

#include "asking.hpp"

#include <gmock/gmock.h>

#include <set>

namespace policies::releases {
namespace {

using testing::HasSubstr;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : ";") + p;
  return text.empty() ? "-" : text;
}

TEST(ReleaseDiff, IsThatOfEveryRealPairByteForByte) {
  asking policy;
  std::size_t right = 0;
  std::int64_t most = 0;
  const auto rows = read_table("pairs.tsv");
  for (const auto& row : rows) {
    const auto from = real_releases().find(row.at("provider"), row.at("from")),
               to = real_releases().find(row.at("provider"), row.at("to"));
    ASSERT_TRUE(from && to) << row.at("provider") << row.at("from");
    auto answer = policy.diff(question_about(real_releases(), from, to));
    ASSERT_TRUE(answer) << answer.error().message();
    most = std::max(most, answer->cost.instructions);
    std::vector<std::string> components, downgrades;
    std::set<std::string> added, removed;
    std::size_t apps = 0;
    for (const diff_change& c : answer->changes) {
      const std::string step = c.name + ":" + c.from + ">" + c.to;
      if (c.what == "changed") {
        if (c.kind == "component") components.push_back(step);
        apps += c.kind == "app";
        if (c.strict == "down") downgrades.push_back(step);
      }
      if (c.what == "added") added.insert(c.name);
      if (c.what == "removed") removed.insert(c.name);
    }
    const std::map<std::string, std::string> got = {
        {"provider", row.at("provider")},
        {"from", row.at("from")},
        {"to", row.at("to")},
        {"level", answer->level},
        {"rolls_nodes", answer->rolls},
        {"component_changes", joined(components)},
        {"apps_changed", std::to_string(apps)},
        {"downgrades", joined(downgrades)},
        {"added", joined({added.begin(), added.end()})},
        {"removed", joined({removed.begin(), removed.end()})}};
    EXPECT_EQ(got, row);
    right += got == row;
  }
  EXPECT_EQ(rows.size(), 119u);
  EXPECT_EQ(right, 119u);
  std::printf("## releases: pairs.tsv %zu of %zu, the largest takes %lld instructions\n", right,
              rows.size(), static_cast<long long>(most));
}

TEST(ReleaseDiff, JudgesEveryRequestToEveryRealRelease) {
  asking policy;
  std::vector<std::vector<std::string>> got, expected;
  for (const auto& row : read_table("requests-expected.tsv"))
    expected.push_back({row.at("provider"), row.at("release"), row.at("state"), row.at("archived"),
                        row.at("name_range"), row.at("item"), row.at("version_range"),
                        row.at("actual"), row.at("result")});
  std::size_t active_errors = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    for (const auto& d : folder.releases) {
      auto answer = policy.diff(question_about(real_releases(), nullptr, d));
      ASSERT_TRUE(answer) << answer.error().message();
      for (const request_verdict& v : answer->requests)
        got.push_back({name, d->stored_as, d->state, d->archived ? "yes" : "no", v.range, v.item,
                       v.version_range, v.actual.empty() ? "-" : v.actual, v.result});
      for (const finding& f : answer->findings)
        active_errors +=
            d->state == "active" && f.id.starts_with("request.") && f.how == severity::error;
    }
  }
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
  EXPECT_EQ(expected.size(), 434u);
  EXPECT_EQ(active_errors, 0u);
  std::vector<std::vector<std::string>> same;
  std::set_intersection(got.begin(), got.end(), expected.begin(), expected.end(),
                        std::back_inserter(same));
  std::printf("## releases: requests-expected.tsv %zu of %zu\n", same.size(), expected.size());
}

/// A Release of AWS with these components changed, and these apps.
std::shared_ptr<document> aws(const std::string& version,
                              std::map<std::string, std::string> components = {},
                              std::vector<std::string> apps = {"cilium 1.4.3"}) {
  std::map<std::string, std::string> all = {{"cluster-aws", "7.7.3"},
                                            {"flatcar", "4593.2.4"},
                                            {"kubernetes", "1.34.10"},
                                            {"os-tooling", "1.26.4"}};
  for (auto& [name, v] : components) all[name] = v;
  std::vector<std::string> list;
  for (const auto& [name, v] : all) {
    if (!v.empty()) list.push_back(name + " " + v);
  }
  return release_of("aws-" + version, list, apps);
}

const finding* find(const diff_answer& a, const std::string& id) {
  for (const finding& f : a.findings) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

TEST(ReleaseDiff, WantsAMajorForANewMajorOfTheTooling) {
  asking policy;
  const auto step = [&](const std::string& version, const std::string& kubernetes,
                        const std::string& tooling) {
    return policy.diff(aws("34.1.0"),
                       aws(version, {{"os-tooling", tooling}, {"kubernetes", kubernetes}}));
  };
  EXPECT_EQ(step("34.1.1", "1.34.10", "2.0.0").verdict, decision::deny);
  EXPECT_EQ(find(step("34.1.1", "1.34.10", "2.0.0"), "level.too-high")->why,
            "a new major of os-tooling needs a major Release, this is a patch");
  EXPECT_EQ(step("34.2.0", "1.34.10", "2.0.0").verdict, decision::deny);
  const diff_answer major = step("35.0.0", "1.35.1", "2.0.0");
  EXPECT_EQ(ids(major.findings), "nodes.roll");
  EXPECT_EQ(major.verdict, decision::allow);
  EXPECT_EQ(step("34.1.1", "1.34.10", "1.27.0").verdict, decision::deny);
  EXPECT_EQ(step("34.2.0", "1.34.10", "1.27.0").verdict, decision::allow);
}

TEST(ReleaseDiff, LetsAppsMoveInAPatch) {
  asking policy;
  const diff_answer a = policy.diff(aws("34.1.0"), aws("34.1.1", {}, {"cilium 1.4.4"}));
  EXPECT_EQ(a.verdict, decision::allow);
  EXPECT_EQ(a.rolls, "no");
  EXPECT_EQ(a.image_from, a.image_to);
  EXPECT_EQ(ids(a.findings), "");
}

TEST(ReleaseDiff, WaitsForConsentWhenAPatchReplacesMachines) {
  asking policy;
  const diff_answer a = policy.diff(aws("34.1.0"), aws("34.1.1", {{"kubernetes", "1.34.11"}}));
  EXPECT_EQ(ids(a.findings), "nodes.roll-in-patch nodes.roll");
  EXPECT_EQ(a.verdict, decision::needs_approval);
  EXPECT_EQ(a.findings[0].blocking, "approval");
  auto real = policy.diff(question_about(real_releases(), real_releases().find("vsphere-28.0.0"),
                                         real_releases().find("vsphere-28.0.1")));
  ASSERT_TRUE(real);
  EXPECT_TRUE(find(*real, "nodes.roll-in-patch"));
}

TEST(ReleaseDiff, TiesKubernetesToTheMajor) {
  asking policy;
  EXPECT_EQ(ids(policy.diff(nullptr, aws("34.2.0", {{"kubernetes", "1.35.1"}})).findings),
            "k8s.minor-mismatch");
  const diff_answer far = policy.diff(aws("33.0.0", {{"kubernetes", "1.33.1"}}),
                                      aws("35.0.0", {{"kubernetes", "1.35.1"}}));
  EXPECT_TRUE(find(far, "k8s.minor-skip"));
  EXPECT_EQ(far.verdict, decision::deny);
}

TEST(ReleaseDiff, WarnsOfAStepThatGoesBackLater) {
  asking policy;
  auto answer =
      policy.diff(question_about(real_releases(), nullptr, real_releases().find("aws-32.4.0")));
  ASSERT_TRUE(answer);
  std::vector<std::string> nodes;
  for (const finding& f : answer->findings) {
    if (f.id == "path.downgrade" && f.subject.starts_with("component/"))
      nodes.push_back(f.subject + " " + f.from + " " + f.to + " " + f.rule);
  }
  EXPECT_THAT(nodes, testing::ElementsAre("component/flatcar 4593.2.2 4459.2.1 aws-33.1.1",
                                          "component/os-tooling 1.31.0 1.26.2 aws-33.1.1"));
}

TEST(ReleaseDiff, TakesRevisionsForWhatTheyMean) {
  asking policy;
  const diff_answer a = policy.diff(aws("34.1.0", {}, {"cluster-autoscaler 1.27.3-gs9"}),
                                    aws("34.1.1", {}, {"cluster-autoscaler 1.27.3-gs10"}));
  ASSERT_EQ(a.changes.size(), 1u);
  EXPECT_EQ(a.changes[0].direction, "up");
  EXPECT_EQ(a.changes[0].strict, "down");
  EXPECT_EQ(a.changes[0].level, "prerelease");
  EXPECT_EQ(ids(a.findings), "");
  const diff_answer b = policy.diff(aws("34.1.0", {}, {"cluster-autoscaler 1.34.3"}),
                                    aws("34.1.1", {}, {"cluster-autoscaler 1.34.3-2"}));
  EXPECT_EQ(ids(b.findings), "app.downgrade");  // bare numbers are revisions of etcd alone
}

TEST(ReleaseDiff, AsksWhetherANameIsMisspelt) {
  asking policy;
  const diff_answer a =
      policy.diff(nullptr, aws("34.2.0", {{"os-tooling", ""}, {"os-toling", "1.26.4"}}));
  EXPECT_EQ(ids(a.findings), "component.missing component.unknown");
  EXPECT_EQ(a.findings[1].how, severity::error);
  EXPECT_EQ(a.findings[1].to, "os-tooling");
  EXPECT_EQ(a.findings[1].why, "no component os-toling is known; is it os-tooling?");
  const diff_answer b = policy.diff(nullptr, aws("34.2.0", {{"something-else", "1.26.4"}}));
  EXPECT_EQ(ids(b.findings), "component.unknown");
  EXPECT_EQ(b.verdict, decision::allow);
}

TEST(ReleaseDiff, FindsAppsThatWaitForEachOther) {
  asking policy;
  auto d =
      std::make_shared<document>(*aws("34.2.0", {}, {"a 1.0.0", "b 1.0.0", "c 1.0.0", "d 1.0.0"}));
  d->apps[0].depends_on = {"b"};
  d->apps[1].depends_on = {"c"};
  d->apps[2].depends_on = {"a"};
  d->apps[3].depends_on = {"nobody", "kyverno-crds"};
  const diff_answer a = policy.diff(nullptr, d);
  ASSERT_EQ(ids(a.findings), "depends.cycle depends.unknown");
  EXPECT_EQ(a.findings[0].why, "apps wait for each other: a -> b -> c -> a");
  EXPECT_EQ(a.findings[1].to, "nobody");
}

TEST(ReleaseDiff, WarnsOfAnotherOfTheSameContent) {
  asking policy;
  diff_question q;
  q.release = aws("34.2.0");
  q.others = std::vector<std::shared_ptr<const document>>{aws("34.1.0"), q.release};
  auto a = policy.diff(q);
  ASSERT_TRUE(a);
  ASSERT_TRUE(find(*a, "release.duplicate-content"));
  EXPECT_EQ(find(*a, "release.duplicate-content")->to, "aws-34.1.0");
}

request_file rules(const std::string& text) {
  auto read = read_requests(text, "capa/requests.yaml");
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? std::move(*read) : request_file();
}

diff_answer judged(asking& policy, std::shared_ptr<const document> d, const std::string& text) {
  diff_question q;
  q.release = std::move(d);
  q.requests = std::make_shared<request_file>(rules(text));
  auto a = policy.diff(std::move(q));
  EXPECT_TRUE(a) << (a ? "" : a.error().message());
  if (!a) return {};
  std::erase_if(a->findings, [](const finding& f) { return !f.id.starts_with("request."); });
  return std::move(*a);
}

TEST(ReleaseRequests, JudgeAPreReleaseByItsBaseVersion) {
  asking policy;
  const std::string below =
      "releases:\n- name: '< 34.0.0'\n  requests:\n  - {name: cluster-aws, version: '< 7.0.0'}\n";
  EXPECT_EQ(ids(judged(policy, aws("34.0.0-e2e.h1", {{"cluster-aws", "7.1.0"}}), below).findings),
            "");
  EXPECT_EQ(ids(judged(policy, aws("33.9.0", {{"cluster-aws", "7.1.0"}}), below).findings),
            "request.violated");
}

TEST(ReleaseRequests, ExcuseTheReleaseThatIsNamedAndNoOther) {
  asking policy;
  const std::string text =
      "releases:\n- name: '> 12.1.0, < 13.0.0'\n  requests:\n  - name: containerlinux\n    "
      "version: '>= 2512.4.0'\n"
      "    except:\n    - {releaseVersion: 12.1.1, reason: only app changes are required}\n";
  const auto old = [](const std::string& version) {
    auto d = std::make_shared<document>(*release_of("v" + version, {"containerlinux 2345.3.0"}));
    d->folder = "azure";
    d->stored_as = d->name;
    return d;
  };
  EXPECT_EQ(ids(judged(policy, old("12.1.1"), text).findings), "");
  EXPECT_EQ(ids(judged(policy, old("12.1.2"), text).findings), "request.violated");
  EXPECT_EQ(ids(judged(policy, old("12.1.1"),
                       "releases:\n- name: 12.*\n  requests:\n  - {name: x, version: '> 1.0.0', "
                       "except: [{releaseVersion: 12.1.1}]}\n")
                    .findings),
            "request.no-reason");
}

TEST(ReleaseRequests, SayWhereARangeCannotBeRead) {
  asking policy;
  const diff_answer a =
      judged(policy, aws("34.1.0"),
             "releases:\n- name: ~34.1.0\n  requests: []\n- name: '>= 34.0.0'\n  requests:\n"
             "  - {name: cilium, version: '>= 1.0'}\n");
  ASSERT_EQ(ids(a.findings), "request.syntax request.syntax");
  EXPECT_THAT(a.findings[0].why, HasSubstr("'>= 1.0', character 4"));
  EXPECT_EQ(a.findings[0].evidence, "capa/requests.yaml: releases[2].requests[1].version");
  EXPECT_THAT(a.findings[1].why, HasSubstr("'~34.1.0', character 1"));
}

TEST(ReleaseRequests, AreOnlySaidOfReleasesThatAreNotActive) {
  asking policy;
  const std::string text =
      "releases:\n- name: '>= 34.0.0'\n  requests:\n  - {name: nothing, version: '> 1.0.0'}\n";
  EXPECT_EQ(judged(policy, aws("34.1.0"), text).findings.at(0).how, severity::error);
  auto draft = std::make_shared<document>(*aws("34.1.0"));
  draft->state = "wip";
  EXPECT_EQ(judged(policy, draft, text).findings.at(0).how, severity::info);
}

TEST(ReleaseDiff, HoldsAnActiveReleaseToReleasedBuilds) {
  asking policy;
  EXPECT_EQ(ids(policy.diff(nullptr, aws("34.1.0", {}, {"cilium 1.4.3-25383e1a"})).findings),
            "prerelease.in-stable");
  EXPECT_EQ(
      ids(policy.diff(nullptr, aws("34.1.0", {}, {"cilium 1.4.3-rc1", "a 1.34.3-2"})).findings),
      "");
}

TEST(ReleaseDiff, KnowsTheVersionsOfEachChannel) {
  asking policy;
  EXPECT_EQ(ids(policy.diff(nullptr, aws("34.1.0", {{"flatcar", "4593.1.0"}})).findings),
            "channel.mismatch");
}

TEST(ReleaseDiff, SaysWhereAReleaseIsNotWhatItsPlaceSays) {
  asking policy;
  auto d = std::make_shared<document>(*aws("34.1.0"));
  d->folder = "azure";
  d->stored_as = "v34.1.1";
  diff_question q;
  q.release = d;
  q.registered = {"v34.1.0"};
  auto a = policy.diff(q);
  ASSERT_TRUE(a);
  std::erase_if(a->findings, [](const finding& f) { return f.how != severity::error; });
  EXPECT_EQ(ids(a->findings), "release.name-mismatch release.name-mismatch release.unregistered");
}

TEST(ReleaseDiff, SaysWhatItCouldNotCheck) {
  asking policy;
  diff_question q;
  q.release = aws("34.1.0");
  auto a = policy.diff(q);
  ASSERT_TRUE(a);
  std::string rules;
  for (const finding& f : a->findings) {
    if (f.id == "check.not-evaluated") rules += f.rule + " ";
  }
  EXPECT_EQ(rules,
            "app.kube-version component.downgrade path.downgrade release.duplicate-content "
            "request.violated ");
  q.app_ranges = std::map<std::string, std::string>{{"cilium", ">= 1.35.0"}};
  EXPECT_TRUE(find(*policy.diff(q), "app.kube-version"));
}

TEST(ReleaseDiff, IsTheSameWhateverTheOrder) {
  asking policy;
  const auto text = [](const diff_answer& a) {
    std::string out = a.level + a.rolls + a.image_from + a.image_to;
    for (const diff_change& c : a.changes)
      out += c.kind + c.name + c.what + c.from + c.to + c.level + "\n";
    for (const finding& f : a.findings)
      out += f.id + f.subject + f.from + f.to + f.why + f.evidence + "\n";
    return out;
  };
  for (const auto& [from, to] : {std::pair{"aws-34.4.1", "aws-34.5.0"},
                                 {"azure-32.1.0", "azure-33.0.0"},
                                 {"vsphere-33.2.0", "vsphere-34.0.0"}}) {
    const auto base = real_releases().find(from);
    auto turned = std::make_shared<document>(*real_releases().find(to));
    const diff_answer straight = policy.diff(base, turned);
    turned = std::make_shared<document>(*turned);
    std::reverse(turned->components.begin(), turned->components.end());
    std::rotate(turned->apps.begin(), turned->apps.begin() + 7, turned->apps.end());
    for (entry& e : turned->apps) std::reverse(e.depends_on.begin(), e.depends_on.end());
    EXPECT_EQ(text(policy.diff(base, turned)), text(straight)) << to;
    EXPECT_EQ(text(policy.diff(base, turned)), text(policy.diff(base, turned)));
  }
}

TEST(ReleaseDiffAnswer, IsRefusedWithThePlaceNamed) {
  const auto wrong = [](value::object answer) {
    auto read = read_diff_answer(answer);
    return read ? std::string() : read.error().message();
  };
  EXPECT_EQ(wrong({{"level", "huge"}, {"rolls", "no"}}),
            "level: expected major, minor, patch, prerelease or none, got 'huge'");
  EXPECT_EQ(wrong({{"level", "none"}, {"rolls", true}}), "rolls: expected a text, got a boolean");
  EXPECT_EQ(wrong({{"level", "none"},
                   {"rolls", "no"},
                   {"changes", value::array{value::object{{"kind", "app"}, {"too", "x"}}}}}),
            "changes[1]: unknown entry 'too'; known are kind, name, what, from, to, level, "
            "direction, strict, rolls");
}

}  // namespace
}  // namespace policies::releases
