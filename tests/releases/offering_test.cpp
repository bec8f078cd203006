#include "releases/rules/offering.hpp"

#include "asking.hpp"

#include <gmock/gmock.h>

namespace policies::releases {
namespace {

using testing::HasSubstr;

TEST(ReleaseFolder, SaysWhatIsNotKnownOnceForAll) {
  asking policy;
  const auto& capa = real_releases().folders.at("capa");
  const auto a = asked<folder_answer, folder_question>(policy, judge_folder,
                                                       question_about(real_releases(), capa));
  std::string rules;
  for (const finding& f : a.findings) {
    if (f.id == "check.not-evaluated") rules += f.rule + " ";
  }
  EXPECT_EQ(rules, "app.kube-version release.unregistered ");
  // And nothing of it again with each Release.
  auto q = question_about(real_releases(), nullptr, capa.releases.back());
  q.within = "folder";
  auto d = policy.diff(q);
  ASSERT_TRUE(d);
  for (const finding& f : d->findings) {
    EXPECT_TRUE(f.id != "check.not-evaluated" || f.rule == "component.downgrade") << f.rule;
  }
}

TEST(ReleaseFolder, CallsNoRuleOfTheRealOnesDeadThatMayStillBeNeeded) {
  asking policy;
  std::size_t dead = 0, rules = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    if (folder.requests) rules += folder.requests->blocks.size();
    for (const finding& f : asked<folder_answer, folder_question>(
                                policy, judge_folder, question_about(real_releases(), folder))
                                .findings) {
      if (f.id != "request.dead") continue;
      ++dead;
      EXPECT_THAT(f.why, HasSubstr("the lowest Release that is offered"));
    }
  }
  std::printf("## releases: %zu of %zu rules are dead\n", dead, rules);
  EXPECT_LT(dead, rules / 2);
}

TEST(ReleaseFolder, KnowsWhatIsListedAndNotThere) {
  asking policy;
  folder_question q;
  q.folder = "capa";
  q.registered = {"v34.0.0/release.yaml"};
  const auto a = asked<folder_answer, folder_question>(policy, judge_folder, q);
  EXPECT_EQ(a.verdict, decision::deny);
  EXPECT_EQ(a.findings.at(0).subject, "release/capa/v34.0.0");
}

struct ReleasePin : testing::Test {
  pin_answer plan(const std::string& up_to) {
    auto rules = read_requests(text, "capa/requests.yaml");
    EXPECT_TRUE(rules);
    pin_question q{
        "34.2.0", "cilium", "1.4.2", up_to, {{"capa", "capa/requests.yaml", rules->blocks, true}}};
    return asked<pin_answer, pin_question>(policy, plan_pin, q);
  }
  std::string edited(const std::string& up_to) {
    const pin_answer a = plan(up_to);
    if (a.pins.empty()) return ids(a.findings);
    auto made = edited_requests(text, a.pins[0], "cilium", "1.4.2");
    return made ? *made : made.error().message();
  }
  asking policy;
  std::string text =
      "# rules\nreleases:\n- name: \">= 34.2.0 < 35.1.0\"  # until the next\n"
      "  requests:\n  - name: coredns\n    version: \">= 1.0.0\"\n";
};

TEST_F(ReleasePin, IsAnEditOfTheFileThatLeavesTheRest) {
  EXPECT_EQ(edited(""),
            "# rules\nreleases:\n- name: \"34.2.0\"\n  requests:\n  - name: \"cilium\"\n    "
            "version: \"1.4.2\"\n- name: \">= 34.2.0 < 35.1.0\"  # until the next\n  "
            "requests:\n  - name: coredns\n    version: \">= 1.0.0\"\n");
  EXPECT_EQ(edited("v35.1.0"),
            "# rules\nreleases:\n- name: \">= 34.2.0 < 35.1.0\"  # until the next\n  requests:\n"
            "  - name: \"cilium\"\n    version: \"1.4.2\"\n  - name: coredns\n    version: \">= "
            "1.0.0\"\n");
  text = "releases: []\n";
  EXPECT_EQ(edited(""),
            "releases:\n- name: \"34.2.0\"\n  requests:\n  - name: \"cilium\"\n    "
            "version: \"1.4.2\"\n");
  text = "releases:\n  - name: '> 1.0.0'\n    requests:\n      - {name: a, version: '> 1.0.0'}\n";
  EXPECT_THAT(edited(""),
              HasSubstr("releases:\n  - name: \"34.2.0\"\n    requests:\n    - name: "));
}

/// `text` with a byte order mark and line breaks of DOS.
std::string from_dos(const std::string& text) {
  std::string out = "\xef\xbb\xbf";
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

TEST_F(ReleasePin, LeavesLineBreaksOfDosAsTheyAre) {
  for (const char* up_to : {"", "v35.1.0"}) {
    const std::string plain = edited(up_to), before = text;
    text = from_dos(before);
    EXPECT_EQ(edited(up_to), from_dos(plain));
    text = before;
  }
}

TEST(ReleaseResources, GetOneMoreBehindThoseThatAreListed) {
  const auto edited = [](const std::string& text) {
    const auto made = edited_resources(text, "capa/kustomization.yaml", "v34.6.0");
    return made ? *made : made.error().message();
  };
  const std::string list = "a: b\nresources: # each\n  - v34.4.1\n  # the last\n  - ./v34.5.0/\n";
  EXPECT_EQ(edited(list + "x: y\n"), list + "  - v34.6.0\nx: y\n");
  EXPECT_EQ(edited(list), list + "  - v34.6.0\n");
  EXPECT_EQ(edited(from_dos(list + "x: y\n")), from_dos(list + "  - v34.6.0\nx: y\n"));
  EXPECT_EQ(edited("resources:\n- v34.5.0"), "resources:\n- v34.5.0\n- v34.6.0\n");
  EXPECT_EQ(edited("resources:\n- 'v34.6.0'\n"), "resources:\n- 'v34.6.0'\n");
  EXPECT_EQ(edited("a: b\n"), "a: b\nresources:\n- v34.6.0\n");
  EXPECT_EQ(edited(""), "resources:\n- v34.6.0\n");
  // What would be read as another list is not written.
  EXPECT_THAT(edited("resources: [v34.5.0]\n"), HasSubstr("stand on one line"));
  EXPECT_THAT(edited("\"resources\":\n- v34.5.0\n"), HasSubstr("is not edited here"));
  EXPECT_THAT(edited("resources: {\n"), HasSubstr("it cannot be read"));
}

TEST_F(ReleasePin, RefusesWhatItCannotEdit) {
  EXPECT_EQ(edited("34.2.0"), "pin.bad-until");
  text = "releases: [{name: '>= 34.2.0 < 36.0.0', requests: []}]\n";
  EXPECT_THAT(edited("36.0.0"),
              HasSubstr("edit capa/requests.yaml: its list is written on one line"));
  EXPECT_THAT(edited(""), HasSubstr("its list is written on one line"));
  text = "releases:\n- {name: '>= 34.2.0 < 36.0.0', requests: []}\n";
  EXPECT_THAT(edited("36.0.0"), HasSubstr("no place was found for it"));
}

TEST(ReleaseJoin, NamesWhoIsLeftBehind) {
  asking policy;
  join_question q{"major", "", {{"capa", {"34.1.0"}}, {"azure", {"34.0.0"}}, {"eks", {"33.0.0"}}}};
  const join_answer a = asked<join_answer, join_question>(policy, plan_join, q);
  EXPECT_EQ(a.target, "35.0");
  q.target = "34.3";
  q.providers[1].versions = {"33.0.0"};
  const join_answer b = asked<join_answer, join_question>(policy, plan_join, q);
  EXPECT_EQ(b.rows.at(1).why, "needs 34.0.0 first");
  EXPECT_FALSE(b.rows[1].joins);
}

TEST(ReleasePublish, GivesTheChartTheVersionOfItsRelease) {
  asking policy;
  publish_question q{real_releases().find("aws-34.5.0"), ""};
  const publish_answer a = asked<publish_answer, publish_question>(policy, plan_publishing, q);
  ASSERT_EQ(a.charts.size(), 1u);
  EXPECT_EQ(a.charts[0].from, "cluster-aws:7.7.3");
  EXPECT_EQ(a.charts[0].to, "release-aws:34.5.0");
  EXPECT_EQ(a.charts[0].text, "34.5.0");
  q.commit = "main";
  EXPECT_TRUE((asked<publish_answer, publish_question>(policy, plan_publishing, q).charts.empty()));
}

}  // namespace
}  // namespace policies::releases
