#include "releases/rules/document.hpp"

#include "asking.hpp"
#include "releases/rules/planning.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

namespace policies::releases {
namespace {

using reactor::errc;
using testing::ElementsAre;
using testing::HasSubstr;

/// A Release whose spec is `spec`, each line indented by two.
std::string text_of_release(const std::string& spec, const std::string& name = "aws-34.5.0") {
  return "# left by a generator\napiVersion: release.giantswarm.io/v1alpha1\nkind: "
         "Release\nmetadata:\n"
         "  creationTimestamp: null\n  name: " +
         name + "\nspec:\n" + spec;
}

const std::string good_spec =
    "  state: active\n  date: 2026-07-23T09:17:35Z\n  apps: []\n  components:\n"
    "  - name: kubernetes\n    version: 1.34.10\n";

std::vector<std::string> problems_of(const std::string& text) {
  auto read = read_document(text, "r.yaml");
  if (!read) return {"!" + read.error().message()};
  std::vector<std::string> all;
  for (const problem& p : read->problems)
    all.push_back(p.id + " " + p.subject + " " + p.evidence + ": " + p.why);
  return all;
}

TEST(ReleaseDocument, ReadsEveryRealOneWithoutAProblem) {
  std::size_t count = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    for (const auto& d : folder.releases) {
      ++count;
      for (const problem& p : d->problems)
        ADD_FAILURE() << p.evidence << ": " << p.id << ": " << p.why;
      EXPECT_FALSE(d->components.empty()) << d->file;
    }
  }
  for (const unreadable_file& f : real_releases().unreadable) ADD_FAILURE() << f.why.message();
  EXPECT_EQ(count, 216u);
}

TEST(ReleaseDocument, IsWrittenAndReadBackTheSame) {
  for (const auto& [name, folder] : real_releases().folders) {
    for (const auto& d : folder.releases) {
      auto again = read_document(write_document(*d), d->file);
      ASSERT_TRUE(again) << again.error().message();
      EXPECT_EQ(again->components, d->components) << d->file;
      EXPECT_EQ(again->apps, d->apps) << d->file;
      EXPECT_EQ(again->hash, d->hash) << d->file;
      EXPECT_EQ(again->date, d->date);
    }
  }
}

TEST(ReleaseDocument, KeepsWhatNobodyKnows) {
  auto read = read_document(
      text_of_release(good_spec + "    flavour: 7\n  workloads:\n  - {a: 1.5}\n"), "r.yaml");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(
      problems_of(write_document(*read)),
      ElementsAre("release.unknown-field component/kubernetes r.yaml: "
                  "spec.components[kubernetes].flavour: line 10: no field \"flavour\" is known",
                  "release.unknown-field release/aws-34.5.0 r.yaml: spec.workloads: line "
                  "13: no field \"workloads\" is known"));
  EXPECT_THAT(write_document(*read), HasSubstr("flavour: 7"));
  EXPECT_THAT(write_document(*read), HasSubstr("a: 1.5"));
}

TEST(ReleaseDocument, NamesTheFieldThatAnUnknownOneMayBe) {
  EXPECT_THAT(
      problems_of("apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nstatu: {}\n"
                  "metadata: {name: aws-34.5.0}\nspec:\n  date: \"2026-07-23T09:17:35Z\"\n"
                  "  state: active\n  stat: x\n  apps:\n  - name: a\n    version: 1.2.3\n"
                  "    dependOn: [b]\n  components:\n  - {name: kubernetes, version: 1.34.10}\n"),
      ElementsAre("release.unknown-field app/a r.yaml: spec.apps[a].dependOn: line 12: no field "
                  "\"dependOn\" is known; is it dependsOn?",
                  "release.unknown-field release/aws-34.5.0 r.yaml: spec.stat: line 8: no field "
                  "\"stat\" is known; is it state?",
                  "release.unknown-field release/aws-34.5.0 r.yaml: statu: line 3: no field "
                  "\"statu\" is known; is it status?"));
}

TEST(ReleaseDocuments, BesideAReleaseTheirUnknownFieldsAreNamedToo) {
  const auto why = [](const auto& read) { return read ? std::string() : read.error().message(); };
  EXPECT_THAT(why(read_waivers("- {rule: a, subject: b, release: c, hash: d}\n"
                               "- rule: a\n  subject: b\n  release: c\n  hash: d\n  untill: e\n",
                               "waivers.yaml")),
              HasSubstr("waivers[2].untill: line 6: no field \"untill\" is known; is it until?"));
  EXPECT_THAT(why(read_suites("- {suite: a, hash: b, result: passed, at: 1}\n", "suites.yaml")),
              HasSubstr("suites[1].at: line 1: no field \"at\" is known"));
  EXPECT_THAT(why(read_readiness("readiness:\n- {item: a, state: open, stat: 1}\n", "r.yaml")),
              HasSubstr("line 2: no field \"stat\" is known; is it state?"));
  auto requests = read_requests(
      "releases:\n- name: \">= 1.0.0\"\n  requests:\n  - name: a\n    version: \"1\"\n"
      "    exept: [{releaseVersion: 1.0.0, reason: x}]\n",
      "requests.yaml");
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->problems.size(), 1u);
  EXPECT_EQ(requests->problems[0].why, "line 6: no field \"exept\" is known; is it except?");
}

TEST(ReleaseDocument, KeepsTheValueOfANumberThatNobodyKnows) {
  auto read = read_document(text_of_release(good_spec + "  odd: 2538e31\n"), "r.yaml");
  ASSERT_TRUE(read) << read.error().message();
  auto again = read_document(write_document(*read), "r.yaml");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->hash, read->hash) << write_document(*read);
}

TEST(ReleaseDocument, SaysWhatYamlMadeOfAVersion) {
  EXPECT_THAT(
      problems_of(text_of_release(
          "  state: active\n  date: \"2026-07-23T09:17:35Z\"\n  apps:\n"
          "  - {name: a, version: 25383e1}\n  - {name: b, version: 1234567}\n"
          "  - {name: c, version: 1.30}\n  components: [{name: kubernetes, version: 1.34.10}]\n")),
      ElementsAre(
          "release.version-not-string app/a r.yaml: spec.apps[a].version: version 25383e1 is no "
          "text: "
          "YAML reads it as a float, 253830; a version has three numbers, such as 1.2.3",
          "release.version-not-string app/b r.yaml: spec.apps[b].version: version 1234567 is no "
          "text: "
          "YAML reads it as an integer, 1234567; a version has three numbers, such as 1.2.3",
          "release.version-not-string app/c r.yaml: spec.apps[c].version: version 1.30 is no text: "
          "YAML reads it as a float, 1.3; a version has three numbers, such as 1.2.3"));
}

TEST(ReleaseDocument, NamesThePlaceOfEachProblem) {
  EXPECT_THAT(
      problems_of(
          text_of_release("  state: retired\n  date: yesterday\n  components:\n  - name: etcd\n"
                          "  - version: 1.2.3\n  - {name: etcd, version: 1.2}\n  - 7\n",
                          "aws_34")),
      ElementsAre(
          "release.schema release/aws_34 r.yaml: metadata.name: metadata.name: expected "
          "<provider>-1.2.3 or v1.2.3, got \"aws_34\"",
          "release.schema component/etcd r.yaml: spec.components[etcd].version: version is missing",
          "release.schema component/2 r.yaml: spec.components[2].name: name is missing",
          "release.version-not-string component/etcd r.yaml: spec.components[etcd].version: "
          "version 1.2 is no text: YAML reads it as a float, 1.2; a version has three numbers, "
          "such as 1.2.3",
          "component.duplicate component/etcd r.yaml: spec.components[etcd]: etcd is there twice, "
          "and only one can count",
          "release.schema release/aws_34 r.yaml: spec.components[4]: expected a mapping, got an "
          "integer",
          "release.schema release/aws_34 r.yaml: spec.apps: apps is missing",
          "release.schema release/aws_34 r.yaml: spec.state: state: expected active, deprecated, "
          "wip or preview, got 'retired'",
          "release.schema release/aws_34 r.yaml: spec.date: date: expected a time such as "
          "2026-07-23T09:17:35Z, got \"yesterday\""));
}

TEST(ReleaseDocument, AnAppIsThereOnce) {
  EXPECT_THAT(problems_of(text_of_release(
                  "  state: active\n  date: 2026-07-23T09:17:35Z\n  apps:\n"
                  "  - {name: cilium, version: 1.4.2}\n  - {name: cilium, version: 1.4.3}\n"
                  "  components:\n  - {name: cilium, version: 1.4.2}\n")),
              ElementsAre("app.duplicate app/cilium r.yaml: spec.apps[cilium]: cilium is there "
                          "twice, and only one can count"));
}

TEST(ReleaseDocument, TakesOnlyTheNamesOfReleases) {
  for (const char* good :
       {"aws-34.5.0", "v14.1.0", "cloud-director-34.0.0", "aws-34.0.0-e2e.h92f8", "v17.0.0-alpha1"})
    EXPECT_THAT(problems_of(text_of_release(good_spec, good)), ElementsAre()) << good;
  for (const char* bad : {"34.5.0", "aws-34.5", "aws-v34.5.0", "-34.5.0", "aws-34.5.0-a-b",
                          "aws-34.5.0+b", "AWS-34.5.0", "aws-034.5.0"})
    EXPECT_EQ(problems_of(text_of_release(good_spec, bad)).size(), 1u) << bad;
}

TEST(ReleaseDocument, IsRefusedInOneSentence) {
  const auto refused = [](const std::string& text) {
    auto read = read_document(text, "r.yaml");
    return read ? std::string("read") : read.error().message();
  };
  EXPECT_EQ(refused("a: [1"), "read r.yaml: did not find expected ',' or ']' at line 2, column 1");
  EXPECT_EQ(refused("- 1"), "read r.yaml: expected a mapping, got a list");
  EXPECT_EQ(refused("kind: Pod"), "read r.yaml: kind: expected Release, got \"Pod\"");
  EXPECT_EQ(refused("kind: Release"),
            "read r.yaml: apiVersion: expected release.giantswarm.io/v1alpha1, got nothing");
  EXPECT_EQ(refused(""), "read r.yaml: holds no document");
  std::string many = text_of_release("  state: active\n  apps:\n");
  for (int i = 0; i < 100'000; ++i) many += "  - {}\n";
  EXPECT_EQ(refused(many), "read r.yaml: more than 50000 values");
  many = text_of_release("  state: active\n  apps:\n");
  for (int i = 0; i < 2'001; ++i) many += "  - {}\n";
  EXPECT_EQ(refused(many), "read r.yaml: spec.apps has more than 2000 entries");
  EXPECT_EQ(refused(std::string(2'000'000, ' ')), "read r.yaml: larger than 1048576 bytes");
  EXPECT_EQ(refused(text_of_release(good_spec + "  notice: " + std::string(5'000, 'x') + "\n")),
            "read r.yaml: spec.notice is longer than 4 KiB");
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i)
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            ", *a" + std::to_string(i - 1) + "]\n";
  EXPECT_EQ(refused(bomb), "read r.yaml: more than 50000 values");
}

TEST(ReleaseDocument, HasAHashOfWhatItConsistsOf) {
  const auto hash = [](const std::string& spec, const std::string& name = "aws-34.5.0") {
    auto read = read_document(text_of_release(spec, name), "r.yaml");
    return read ? read->hash : read.error().message();
  };
  const std::string base = hash(
      "  state: active\n  date: 2026-07-23T09:17:35Z\n  apps:\n  - {name: a, version: 1.0.0, "
      "dependsOn: [x, y]}\n"
      "  - {name: b, version: 1.0.0}\n  components: [{name: kubernetes, version: 1.34.10}]\n");
  EXPECT_EQ(hash("  state: deprecated\n  date: 2027-07-23T09:17:35Z\n  components: [{name: "
                 "kubernetes, version: 1.34.10}]\n"
                 "  apps:\n  - {name: b, catalog: default, version: 1.0.0}\n  - {dependsOn: [y, "
                 "x], name: a, version: 1.0.0}\n",
                 "aws-34.6.0"),
            base);
  EXPECT_NE(
      hash("  state: active\n  date: 2026-07-23T09:17:35Z\n  apps:\n  - {name: a, version: 1.0.1, "
           "dependsOn: [x, y]}\n"
           "  - {name: b, version: 1.0.0}\n  components: [{name: kubernetes, version: 1.34.10}]\n"),
      base);
  EXPECT_EQ(base.size(), 64u);
}

TEST(ReleaseRepository, ReadsBothFormsOfAFolder) {
  reactor::temporary_folder folder;
  folder.write("capa/v34.5.0/release.yaml", text_of_release(good_spec));
  folder.write("capa/v34.10.0/release.yaml", text_of_release(good_spec, "aws-34.10.0"));
  folder.write("capa/archived/v33.0.0/release.yaml", text_of_release(good_spec, "aws-33.0.0"));
  folder.write("capa/kustomization.yaml", "resources: [v34.5.0]\n");
  folder.write("capa/README.md", "no Release");
  folder.write("azure/v14.1.0.yaml", text_of_release(good_spec, "v14.1.0"));
  folder.write("azure/v14.2.0.yaml", "kind: [");
  folder.write("index.tsv", "file\tarchived\nazure/v14.1.0.yaml\tyes\n");
  auto read = read_repository(folder.path());
  ASSERT_TRUE(read) << read.error().message();
  std::vector<std::string> seen;
  for (const auto& [name, f] : read->folders) {
    for (const auto& d : f.releases)
      seen.push_back(d->file + (d->archived ? " archived " : " ") + d->folder + " " + d->stored_as);
  }
  EXPECT_THAT(seen, ElementsAre("azure/v14.1.0.yaml archived azure v14.1.0",
                                "capa/archived/v33.0.0/release.yaml archived capa v33.0.0",
                                "capa/v34.5.0/release.yaml capa v34.5.0",
                                "capa/v34.10.0/release.yaml capa v34.10.0"));
  ASSERT_EQ(read->unreadable.size(), 1u);
  EXPECT_EQ(read->unreadable[0].file, "azure/v14.2.0.yaml");
  EXPECT_EQ(read->find("aws", "v34.5.0")->name, "aws-34.5.0");
  EXPECT_EQ(read->find("capa", "34.5.0")->name, "aws-34.5.0");
  EXPECT_EQ(read->find("azure", "14.1.0")->name, "v14.1.0");
  EXPECT_FALSE(read->find("azure", "99.0.0"));
}

TEST(ReleaseRepository, KnowsWhatAReleaseWasMadeFrom) {
  // A minor of the old major comes out after the new major.
  provider_folder folder;
  const auto add = [&](const char* version, const char* date) {
    auto d = std::make_shared<document>();
    d->name = std::string("aws-") + version;
    d->date = date;
    folder.releases.push_back(std::move(d));
  };
  add("33.1.0", "2025-12-01T00:00:00Z");
  add("33.4.0", "2026-06-01T00:00:00Z");
  add("34.0.0", "2026-01-15T00:00:00+01:00");
  add("34.1.0", "2026-07-01T00:00:00Z");
  add("34.2.0", "someday");
  std::string bases;
  for (std::size_t i = 0; i < folder.releases.size(); ++i) {
    const auto base = base_of(folder, i);
    bases += (base ? base->name : "none") + " ";
  }
  EXPECT_EQ(bases, "none aws-33.1.0 aws-33.1.0 aws-34.0.0 aws-34.1.0 ");
  folder.releases.erase(folder.releases.begin());
  EXPECT_EQ(base_of(folder, 1)->name, "aws-33.4.0") << "where none was there by then";
}

TEST(ReleaseRepository, SaysWhenThereIsNone) {
  reactor::temporary_folder folder;
  auto read = read_repository(folder.path() + "/nowhere");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, make_error_code(errc::not_found));
  EXPECT_THAT(read.error().message(), HasSubstr("no such folder"));
  EXPECT_THAT(read_repository(folder.path()).error().message(), HasSubstr("there is none"));
}

TEST(ReleaseRequests, AreReadWithTheirOwnTexts) {
  auto rules = read_requests(
      "releases:\n- name: 12.*\n  requests:\n  - name: etcd\n    version: 1.30\n    except:\n"
      "    - {releaseVersion: 12.1.1, reason: apps only}\n",
      "requests.yaml");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->blocks.size(), 1u);
  EXPECT_EQ(rules->blocks[0].range, "12.*");
  EXPECT_EQ(rules->blocks[0].requests[0].version, "1.30");
  EXPECT_EQ(rules->blocks[0].requests[0].except[0].release, "12.1.1");
  ASSERT_EQ(rules->problems.size(), 1u);
  EXPECT_EQ(rules->problems[0].evidence, "requests.yaml: releases[1].requests[1].version");
}

TEST(ReleaseRendered, CountsWhatAnObjectSaysAndNotWhoMadeIt) {
  const auto read = [](const std::string& labels, const std::string& type) {
    auto chart = read_rendered("---\nkind: AWSMachineTemplate\nmetadata: {name: a, labels: {" +
                                   labels + "}}\nspec: {type: " + type + "}\n---\n# nothing\n",
                               "cluster-aws-7.7.3.yaml");
    EXPECT_TRUE(chart) << (chart ? "" : chart.error().message());
    return chart ? chart->objects : std::vector<rendered_object>();
  };
  const auto one = read("chart: 7.7.3", "m5.large");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].kind + "/" + one[0].name, "AWSMachineTemplate/a");
  EXPECT_EQ(read("chart: 7.7.4", "m5.large")[0].digest, one[0].digest);
  EXPECT_NE(read("chart: 7.7.3", "m6.large")[0].digest, one[0].digest);
  EXPECT_EQ(read_rendered("kind: A\nmetadata: {name: a}\n---\n- 1\n", "c.yaml").error().message(),
            "read c.yaml: document 2: expected an object of Kubernetes");
  EXPECT_EQ(read_rendered("kind: A\n", "c.yaml").error().message(),
            "read c.yaml: document 1: metadata.name is missing");
}

TEST(ReleaseRequests, AreNoMoreThanTheirLimit) {
  std::string many = "releases:\n- name: '*'\n  requests:\n";
  for (int i = 0; i < 100'000; ++i) many += "  - 1\n";
  EXPECT_EQ(read_requests(many, "r.yaml").error().message(), "read r.yaml: more than 50000 values");
  EXPECT_EQ(read_waivers(many, "w.yaml").error().code, make_error_code(errc::limit));
}

TEST(ReleaseWaivers, AreReadAllOrNone) {
  auto waivers = read_waivers(
      "- rule: level.too-high\n  subject: component/os-tooling\n  release: vsphere-27.0.1\n"
      "  hash: abc\n  reason: agreed\n  by: me\n",
      "waivers.yaml");
  ASSERT_TRUE(waivers) << waivers.error().message();
  ASSERT_EQ(waivers->size(), 1u);
  EXPECT_EQ(waivers->front().reason, "agreed");
  EXPECT_EQ(read_waivers("- rule: x\n", "waivers.yaml").error().message(),
            "read waivers: waivers.yaml: waivers[1].subject: subject is missing");
}

}  // namespace
}  // namespace policies::releases
