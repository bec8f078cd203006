#include "releases/rules/planning.hpp"

#include "asking.hpp"

#include <gmock/gmock.h>

namespace policies::releases {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> found(const std::vector<finding>& findings, const std::string& id) {
  std::vector<std::string> all;
  for (const finding& f : findings) {
    if (f.id == id) all.push_back(f.subject);
  }
  return all;
}

// ---------------------------------------------------------------- the gate

struct ReleaseGate : testing::Test {
  diff_answer ask() { return asked<diff_answer, gate_question>(policy, may_pass, q); }
  void pass_all(const std::string& hash) {
    q.suites.emplace();
    for (const char* suite : {"standard", "upgrade", "upgrade-major", "private"})
      q.suites->push_back({suite, hash, "passed"});
  }
  ReleaseGate() {
    base = release_of(
        "azure-34.4.0",
        {"cluster-azure 5.4.2", "flatcar 4593.2.2", "kubernetes 1.34.7", "os-tooling 1.31.0"},
        {"cilium 1.4.2"});
    release = release_of(
        "azure-34.5.0",
        {"cluster-azure 5.4.2", "flatcar 4593.2.4", "kubernetes 1.34.10", "os-tooling 1.31.1"},
        {"cilium 1.4.3"});
    q.step.base = base;
    q.step.release = release;
  }
  asking policy;
  gate_question q;
  std::shared_ptr<document> base, release;
};

TEST_F(ReleaseGate, WaitsForEverySuiteOnThisContent) {
  diff_answer a = ask();
  EXPECT_EQ(a.verdict, decision::needs_approval);
  EXPECT_THAT(
      found(a.findings, "coverage.missing"),
      ElementsAre("suite/private", "suite/standard", "suite/upgrade", "suite/upgrade-major"));
  pass_all(release->hash);
  EXPECT_EQ(ask().verdict, decision::allow);
}

TEST_F(ReleaseGate, KeepsWhatPassedWhenOnlyDateAndStateChange) {
  pass_all(release->hash);
  auto later = std::make_shared<document>(*release);
  later->date = "2027-01-01T00:00:00Z";
  later->state = "deprecated";
  renew_hash(*later);
  q.step.release = later;
  EXPECT_THAT(found(ask().findings, "coverage.missing"), ElementsAre());
  later = std::make_shared<document>(*release);
  later->apps[0].version = "1.4.4";
  renew_hash(*later);
  q.step.release = later;
  EXPECT_EQ(found(ask().findings, "coverage.missing").size(), 4u);
}

TEST_F(ReleaseGate, ShowsALaterFailureAndKeepsThePass) {
  pass_all(release->hash);
  q.suites->push_back({"upgrade", release->hash, "failed"});
  const diff_answer a = ask();
  EXPECT_THAT(found(a.findings, "coverage.rerun-failed"), ElementsAre("suite/upgrade"));
  EXPECT_EQ(a.verdict, decision::allow);
}

TEST_F(ReleaseGate, GoesOneStageAtATime) {
  pass_all(release->hash);
  const auto verdict = [&](const std::string& is, const std::string& to) {
    q.stage.is = is;
    q.stage.to = to;
    return ask().verdict;
  };
  EXPECT_EQ(verdict("development", "active"), decision::allow);
  EXPECT_EQ(verdict("active", "freeze"), decision::allow);
  EXPECT_EQ(verdict("", "active"), decision::allow);
  EXPECT_EQ(verdict("development", "freeze"), decision::deny);
  EXPECT_EQ(verdict("freeze", "active"), decision::deny);
  EXPECT_EQ(verdict("", "merged"), decision::deny);
  EXPECT_EQ(verdict("active", "somewhere"), decision::deny);
}

TEST_F(ReleaseGate, AsksWhetherAMajorsControllersAreReady) {
  release = release_of("azure-35.0.0", {"cluster-azure 6.0.0", "flatcar 4593.2.4",
                                        "kubernetes 1.35.1", "os-tooling 1.31.1"});
  q.step.release = release;
  pass_all(release->hash);
  q.readiness.emplace();
  q.readiness->push_back({"cloud-provider-azure 1.35", false});
  EXPECT_THAT(found(ask().findings, "readiness.open"), ElementsAre("release/azure-35.0.0"));
  q.readiness->front().closed = true;
  EXPECT_THAT(found(ask().findings, "readiness.open"), ElementsAre());
}

// ---------------------------------------------------------------- the next one

struct ReleaseBump : testing::Test {
  bump_answer ask() { return asked<bump_answer, bump_question>(policy, next_release, q); }
  std::string items(const bump_answer& a) {
    std::string text;
    for (const bump_item& i : a.items) text += i.name + " " + i.from + ">" + i.to + ";";
    return text;
  }
  ReleaseBump() {
    q.base = release_of(
        "aws-34.4.1",
        {"cluster-aws 7.7.3", "flatcar 4593.2.2", "kubernetes 1.34.7", "os-tooling 1.31.0"},
        {"cilium 1.4.2", "cluster-autoscaler 1.34.3-gs1"});
    q.kind = "minor";
    q.available = {{"flatcar", {"4593.2.2", "4593.2.4"}},
                   {"kubernetes", {"1.34.10", "1.35.1", "1.34.7"}}};
  }
  asking policy;
  bump_question q;
};

TEST_F(ReleaseBump, TakesTheNewestThatFits) {
  q.available["cilium"] = {"1.4.1", "1.4.3", "2.0.0-rc1"};
  q.available["cluster-autoscaler"] = {"1.34.3-gs2"};
  q.available["os-tooling"] = {"1.33.1", "2.0.0"};
  const bump_answer a = ask();
  EXPECT_EQ(a.version, "34.5.0");
  EXPECT_EQ(items(a),
            "flatcar 4593.2.2>4593.2.4;kubernetes 1.34.7>1.34.10;os-tooling 1.31.0>1.33.1;"
            "cilium 1.4.2>1.4.3;cluster-autoscaler 1.34.3-gs1>1.34.3-gs2;");
  EXPECT_EQ(ids(a.findings), "check.not-evaluated") << "which images there are was not said";
  const document d = draft_of(q, a, "2026-11-22T00:00:00Z");
  EXPECT_EQ(d.name, "aws-34.5.0");
  EXPECT_EQ(d.state, "wip");
  EXPECT_NE(d.hash, q.base->hash);
  EXPECT_EQ(d.components[1].version, "4593.2.4");
}

TEST_F(ReleaseBump, KeepsWhatWasBuiltAndNamesWhatWasNot) {
  q.catalogue = {"flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-gs"};
  bump_answer a = ask();
  EXPECT_EQ(items(a), "");
  ASSERT_EQ(ids(a.findings), "bump.held-back bump.nothing");
  EXPECT_EQ(a.findings[0].to, "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.31.0-gs");
  q.catalogue->push_back("flatcar-stable-4593.2.2-kube-1.34.10-tooling-1.31.0-gs");
  a = ask();
  EXPECT_EQ(items(a), "kubernetes 1.34.7>1.34.10;");
  EXPECT_THAT(a.items[0].why, HasSubstr("held back"));
  q.catalogue->push_back(a.findings[0].to);
  EXPECT_EQ(ids(ask().findings), "");
}

TEST_F(ReleaseBump, IsBoundedByTheFirstRuleAndRefusesTwoThatExcludeEachOther) {
  q.available["cilium"] = {"1.4.3", "1.5.0"};
  const auto with = [&](const std::string& text) {
    auto read = read_requests(text, "capa/requests.yaml");
    EXPECT_TRUE(read);
    q.requests = std::make_shared<request_file>(std::move(*read));
    return ask();
  };
  bump_answer a =
      with("releases:\n- name: '>= 34.0.0'\n  requests: [{name: cilium, version: '< 1.5.0'}]\n");
  EXPECT_THAT(items(a), HasSubstr("cilium 1.4.2>1.4.3;"));
  a = with(
      "releases:\n- name: '>= 34.0.0'\n  requests: [{name: cilium, version: '>= 1.3.0'}]\n"
      "- name: '>= 34.5.0'\n  requests: [{name: cilium, version: '< 1.3.0'}]\n");
  EXPECT_EQ(a.verdict, decision::deny);
  ASSERT_EQ(ids(a.findings), "request.conflict check.not-evaluated request.violated");
  EXPECT_THAT(a.findings[0].why, HasSubstr("releases[1].requests[1]"));
  EXPECT_THAT(a.findings[0].why, HasSubstr("releases[2].requests[1]"));
}

TEST_F(ReleaseBump, IsNotDoneAutomaticallyInAFreeze) {
  q.stage = {"freeze", "", "refresh", "somebody"};
  EXPECT_EQ(ask().verdict, decision::deny);
  EXPECT_EQ(ids(ask().findings), "stage.denied check.not-evaluated");
  q.stage = {"freeze", "", "pin", "release-team"};
  EXPECT_EQ(ask().verdict, decision::allow);
  q.stage = {"freeze", "", "version", "somebody"};
  EXPECT_EQ(ask().verdict, decision::deny);
  q.stage = {"freeze", "", "version", "release-team"};
  EXPECT_EQ(ask().verdict, decision::allow);
  q.kind = "major";
  q.stage = {"development", "", "refresh", ""};
  EXPECT_EQ(ask().verdict, decision::deny);
}

TEST_F(ReleaseBump, MovesOnlyWhatIsAskedForInAPatch) {
  q.kind = "patch";
  bump_answer a = ask();
  EXPECT_EQ(a.version, "34.4.2");
  EXPECT_EQ(items(a), "");
  q.picks.push_back({"cilium", "1.4.3", {"coredns"}});
  q.picks.push_back({"ciliun", "1.4.3", {}});
  a = ask();
  EXPECT_EQ(items(a), "cilium 1.4.2>1.4.3;");
  EXPECT_EQ(ids(a.findings), "pin.unknown-item check.not-evaluated depends.unknown");
  EXPECT_THAT(draft_of(q, a, "").apps[0].depends_on, ElementsAre("coredns"));
}

// ---------------------------------------------------------------- ways and lives

std::vector<std::shared_ptr<const document>> of_folder(const std::string& name) {
  return real_releases().folders.at(name).releases;
}

std::string steps(const path_answer& a) {
  std::string text;
  for (const path_step& s : a.steps) text += (text.empty() ? s.from : "") + ">" + s.to;
  return text;
}

TEST(ReleasePath, GoesOneMajorAtATime) {
  asking policy;
  path_question q{of_folder("capa"), "32.4.0", "34.5.0"};
  const path_answer a = asked<path_answer, path_question>(policy, find_path, q);
  EXPECT_EQ(steps(a), "aws-32.4.0>aws-33.4.0>aws-34.5.0");
  std::printf("## releases: a path takes %lld instructions\n",
              static_cast<long long>(a.cost.instructions));
  q.to = "33.1.1";
  const path_answer back = asked<path_answer, path_question>(policy, find_path, q);
  EXPECT_EQ(steps(back), "aws-32.4.0>aws-33.1.1");
  EXPECT_THAT(found(back.findings, "path.downgrade"),
              testing::IsSupersetOf({"component/flatcar", "component/os-tooling"}));
}

TEST(ReleasePath, SaysWhyThereIsNone) {
  asking policy;
  const auto why = [&](const std::string& from, const std::string& to) {
    const path_answer a = asked<path_answer, path_question>(
        policy, find_path, path_question{of_folder("capa"), from, to});
    EXPECT_EQ(a.verdict, decision::deny);
    return a.findings.empty() ? std::string() : a.findings[0].why;
  };
  EXPECT_EQ(why("34.5.0", "33.4.0"), "aws-33.4.0 does not come after aws-34.5.0");
  EXPECT_EQ(why("34.5.0", "99.0.0"), "there is no Release 99.0.0");
  EXPECT_EQ(why("30.0.0", "33.4.0"),
            "no way leads there one major, and one minor of Kubernetes, at a time: nothing is "
            "offered of 31.x.y");
  EXPECT_EQ(why("32.4.0", "33.1.0"), "aws-33.1.0 is archived: no cluster is moved to it");
}

struct ReleaseLife : testing::Test {
  std::string actions() {
    const lifecycle_answer a =
        asked<lifecycle_answer, lifecycle_question>(policy, plan_lifecycle, q);
    std::string text;
    for (const lifecycle_row& r : a.releases) text += r.name.substr(4) + " " + r.action + ";";
    return text;
  }
  void add(const std::string& version, const std::string& state) {
    auto d = std::make_shared<document>(*release_of("aws-" + version, {"kubernetes 1.33.1"}));
    d->state = state;
    q.releases.push_back(d);
  }
  asking policy;
  lifecycle_question q;
};

TEST_F(ReleaseLife, KeepsADeprecatedOneThatSomebodyMayStepOn) {
  add("33.1.1", "active");
  add("33.2.0", "deprecated");
  add("33.4.0", "active");
  add("32.0.0", "deprecated");
  q.in_use = {"aws-33.1.1", "aws-33.4.0"};
  EXPECT_EQ(actions(), "32.0.0 archive;33.1.1 keep;33.2.0 keep;33.4.0 keep;");
  q.in_use = {"aws-33.4.0", "aws-32.0.0"};
  EXPECT_EQ(actions(), "32.0.0 keep;33.1.1 deprecate;33.2.0 keep;33.4.0 keep;");
  q.in_use.reset();
  EXPECT_EQ(actions(), "32.0.0 keep;33.1.1 deprecate;33.2.0 keep;33.4.0 keep;");
}

TEST_F(ReleaseLife, KeepsTheWayOfTheOldestInUse) {
  for (const char* v : {"30.1.0", "31.1.0", "31.2.0", "32.0.0", "33.0.0", "34.0.0"})
    add(v, "active");
  q.in_use = {"aws-31.1.0"};
  EXPECT_EQ(actions(),
            "30.1.0 deprecate;31.1.0 keep;31.2.0 keep;32.0.0 keep;33.0.0 keep;34.0.0 keep;");
  q.in_use = std::vector<std::string>();
  EXPECT_EQ(
      actions(),
      "30.1.0 deprecate;31.1.0 deprecate;31.2.0 deprecate;32.0.0 keep;33.0.0 keep;34.0.0 keep;");
}

TEST(ReleaseSuites, AreReadAllOrNone) {
  auto runs = read_suites("- {suite: standard, hash: abc, result: passed}\n", "suites.yaml");
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->at(0).suite, "standard");
  EXPECT_EQ(read_suites("- {suite: standard, hash: 25383e1, result: passed}\n", "suites.yaml")
                .error()
                .message(),
            "read suites: suites.yaml: suites[1].hash: hash 25383e1 is no text: YAML reads it as a "
            "float, 253830; put it in quotes");
}

TEST(ReleaseReadiness, IsReadAllOrNone) {
  auto read = read_readiness(
      "- {item: cloud-provider-azure 1.35, state: closed}\n- {item: csi, state: open}\n",
      "readiness.yaml");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_TRUE(read->front().closed);
  EXPECT_FALSE(read->back().closed);
  EXPECT_EQ(read_readiness("- {item: a, state: done}\n", "readiness.yaml").error().message(),
            "read readiness: readiness.yaml: readiness[1].state: state: expected open or closed, "
            "got 'done'");
  EXPECT_FALSE(read_readiness("- {item: a, state: true}\n", "readiness.yaml"));
}

}  // namespace
}  // namespace policies::releases
