#include "releases/trains/train.hpp"

#include "asking.hpp"
#include "releases/trains/known.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace policies::trains {
namespace {

using releases::decision;
using releases::finding;
using testing::ElementsAre;
using testing::HasSubstr;
using row = std::map<std::string, std::string>;

struct Train : testing::Test {
  train_answer ask(hook which, value document) {
    reactor::result<train_answer> out = reactor::make_fault(reactor::errc::closed, {});
    run_task(policy.loop, [&]() -> reactor::awaitable<void> {
      subject anyone;
      out = co_await ask_train(policy.packs, std::move(anyone), which, document);
    });
    EXPECT_TRUE(out) << (out ? "" : out.error().message());
    return out ? std::move(*out) : train_answer();
  }
  train_answer ask_text(hook which, const std::string& text) {
    auto document = read_train(text, "train.yaml");
    EXPECT_TRUE(document) << (document ? "" : document.error().message());
    return document ? ask(which, *document) : train_answer();
  }
  releases::asking policy;
};

value object(value::object o) {
  return o;
}

/// What trains.tsv knows of a train, as its document would say it.
value document_of(const row& r) {
  const auto cell = [&](const std::string& name) {
    const auto found = r.find(name);
    return found == r.end() || found->second == "-" ? std::string() : found->second;
  };
  value::array pins, tags, ancestry;
  const auto pin = [&](const char* holder, const char* project, const char* field,
                       const std::string& v) {
    if (!v.empty())
      pins.push_back(
          object({{"holder", holder}, {"project", project}, {"field", field}, {"value", v}}));
  };
  pin("Kata", "guest-components", "version", cell("gc_pin"));
  pin("Kata", "Trustee", "version", cell("trustee_pin"));
  pin("Kata", "Trustee", "image_tag", cell("trustee_image_tag"));
  pin("Kata", "Trustee", "ita_image_tag", cell("ita_image_tag"));
  pin("Kata", "nydus-snapshotter", "version", cell("nydus_kata"));
  pin("operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", cell("nydus_operator"));
  pin("operator", "Kata", "default", cell("op_kata_default"));
  pin("operator", "Kata", "peer-pods", cell("op_kata_peerpods"));
  pin("operator", "Kata", "s390x", cell("op_kata_s390x"));
  pin("cloud-api-adaptor", "guest-components", "reference", cell("caa_gc"));
  pin("cloud-api-adaptor", "Trustee", "reference", cell("caa_kbs"));
  pin("cloud-api-adaptor", "Kata", "reference", cell("caa_kata"));
  const auto tag = [&](const char* project, const std::string& name, const std::string& commit) {
    if (!name.empty() && name.find("-g") == std::string::npos)
      tags.push_back(object({{"project", project}, {"tag", name}, {"commit", commit}}));
  };
  tag("guest-components", cell("gc_nearest_tag"), cell("gc_commit"));
  tag("Trustee", cell("trustee_nearest_tag"), cell("trustee_commit"));
  // Commits of three tags of Kata, and how far pins are from the train's: facts that the table has
  // in words only.
  tag("Kata", "3.25.0", "17472f3f10c83a8626ea2bde8c4d4868f6ee95b4");
  tag("Kata", "3.28.0", "660e3bb6535b141c84430acb25b159857278d596");
  tag("Kata", "3.29.0", "8dccf4cf37aeea4b6c2caacf3e61510d6eef2f71");
  const auto ahead = [&](const char* project, const std::string& from, const std::string& to,
                         const char* by) {
    ancestry.push_back(
        object({{"project", project}, {"from", from}, {"to", to}, {"ahead", by}, {"behind", "0"}}));
  };
  const std::map<std::string, const char*> known = {
      {"v0.10.0", "8"}, {"v0.11.0", "29"}, {"v0.17.0", "5"}, {"v0.18.0", "1"}};
  if (const auto k = known.find(r.at("train")); k != known.end())
    ahead("guest-components", cell("gc_commit"), cell("caa_gc"), k->second);
  if (r.at("train") == "v0.21.0") ahead("Kata", "3.31.0", cell("caa_kata"), "6");
  value::array projects = {object({{"name", "Kata"}, {"release", cell("kata")}}),
                           object({{"name", "guest-components"},
                                   {"candidate", cell("gc_commit")},
                                   {"protocol", cell("gc_protocol")}}),
                           object({{"name", "Trustee"},
                                   {"candidate", cell("trustee_commit")},
                                   {"protocol", cell("trustee_protocol")}})};
  value::array suites = {object({{"id", "pair:guest-components+Trustee"}, {"result", "passed"}})};
  return object({{"train", r.at("train")},
                 {"phase", "released"},
                 {"file", "trains.tsv"},
                 {"projects", std::move(projects)},
                 {"pins", std::move(pins)},
                 {"tags", std::move(tags)},
                 {"ancestry", std::move(ancestry)},
                 {"suites", std::move(suites)}});
}

std::vector<row> real_trains() {
  return releases::read_table("../trains/trains.tsv");
}

TEST_F(Train, ChecksOfEveryRealOneComeOutByteForByte) {
  std::size_t right = 0;
  const auto rows = real_trains();
  for (const row& r : rows) {
    const train_answer a = ask(hook::check, document_of(r));
    std::string text;
    for (const check_row& c : a.checks) text += (text.empty() ? "" : " ") + c.name + "=" + c.result;
    EXPECT_EQ(text, r.at("checks")) << r.at("train");
    right += text == r.at("checks");
  }
  EXPECT_EQ(rows.size(), 15u);
  std::printf("## releases: checks of trains %zu of %zu\n", right, rows.size());
}

TEST_F(Train, TellsHowFarPeerPodsAreAhead) {
  for (const row& r : real_trains()) {
    if (r.at("train") != "v0.17.0") continue;
    const train_answer a = ask(hook::check, document_of(r));
    ASSERT_EQ(releases::ids(a.findings), "train.pin-mismatch");
    EXPECT_EQ(a.findings[0].how, releases::severity::warn);
    EXPECT_EQ(a.findings[0].subject, "pin/cloud-api-adaptor/guest-components.reference");
    EXPECT_THAT(a.findings[0].why, HasSubstr("ahead 5"));
    EXPECT_EQ(a.verdict, decision::allow);
  }
}

const std::string commit_a(40, 'a'), commit_b(40, 'b');

std::string fitting(const std::string& more = "") {
  return "train: v1.0.0\nphase: candidate\nprojects:\n- {name: Kata, release: 3.23.0}\n- {name: "
         "guest-components, candidate: " +
         commit_a + ", protocol: 0.2.0}\n- {name: Trustee, candidate: " + commit_b +
         ", protocol: 0.2.0}\npins:\n- {holder: Kata, project: guest-components, field: version, "
         "value: " +
         commit_a + "}\n- {holder: Kata, project: Trustee, field: version, value: " + commit_b +
         "}\n- {holder: Kata, project: nydus-snapshotter, field: version, value: v0.15.2}\n" + more;
}

TEST_F(Train, IsDeniedWhenProtocolsDiffer) {
  std::string text = fitting();
  text.replace(text.find("0.2.0"), 5, "0.4.0");
  const train_answer a = ask_text(hook::check, text);
  EXPECT_EQ(a.verdict, decision::deny);
  EXPECT_EQ(a.findings[0].id, "train.skew");
  EXPECT_THAT(a.findings[0].why, testing::AllOf(HasSubstr("0.4.0"), HasSubstr("0.2.0"),
                                                HasSubstr(commit_a), HasSubstr(commit_b)));
}

TEST_F(Train, WarnsOfEvidenceThatNobodyNames) {
  EXPECT_EQ(releases::ids(ask_text(hook::check, fitting()).findings), "train.evidence-skew");
  EXPECT_EQ(
      releases::ids(
          ask_text(hook::check,
                   fitting("suites:\n- {id: pair:guest-components+Trustee, result: passed}\n"))
              .findings),
      "");
}

TEST_F(Train, SaysWhatIsReadyAndWhatBlocks) {
  const train_answer a =
      ask_text(hook::plan,
               "train: v1\nprojects:\n- {name: Kata, release: 3.23.0}\nsteps:\n- {id: kata-pick, "
               "state: done, evidence: 3.23.0}\npins:\n"
               "- {holder: Kata, project: nydus-snapshotter, field: version, value: v0.15.2}\n"
               "- {holder: operator, project: nydus-snapshotter, field: NYDUS_SNAPSHOTTER_VERSION, "
               "value: v0.13.14}\n");
  std::string states;
  for (const step_row& s : a.steps) states += s.id + "=" + s.state + " ";
  EXPECT_THAT(states, testing::StartsWith("kata-pick=done nydus-check=blocked bundle-pr=blocked "
                                          "bundle-release=blocked peerpods=ready"));
  const auto same = std::find_if(a.findings.begin(), a.findings.end(),
                                 [](const finding& f) { return f.id == "train.same-version"; });
  ASSERT_NE(same, a.findings.end());
  EXPECT_THAT(same->why, HasSubstr("Makefile"));
}

TEST_F(Train, KeepsTheTextOfACommitThatLooksLikeANumber) {
  auto read = read_train("train: v1\npins:\n- {holder: a, project: b, field: c, value: 25383e1}\n",
                         "t.yaml");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->find("pins")->if_array()->at(0).find("value")->if_string(), "25383e1");
}

TEST_F(Train, IsRefusedInOneSentence) {
  EXPECT_EQ(read_train("- 1", "t.yaml").error().message(),
            "read t.yaml: expected a mapping with train, projects, pins");
  EXPECT_THAT(read_train("a: [", "t.yaml").error().message(), HasSubstr("read t.yaml: "));
  const train_answer a = ask_text(hook::check, "projects:\n- {candidate: x}\n- 7\n");
  EXPECT_EQ(a.verdict, decision::deny);
  std::vector<std::string> places;
  for (const finding& f : a.findings)
    if (f.id == "train.schema") places.push_back(f.evidence);
  EXPECT_THAT(places,
              testing::UnorderedElementsAre("train.yaml: projects[1].name",
                                            "train.yaml: projects[2]", "train.yaml: train"));
}

TEST_F(Train, APinWithoutATargetIsNamed) {
  const train_answer a = ask_text(
      hook::check, fitting("- {holder: cloud-api-adaptor, project: Kata, field: reference}\n"
                           "- {holder: cloud-api-adaptor, project: Trustee, field: reference, "
                           "value: \"\"}\n"));
  EXPECT_EQ(a.verdict, decision::deny);
  std::vector<std::string> said;
  for (const finding& f : a.findings)
    if (f.id == "train.schema") said.push_back(f.evidence + ": " + f.why);
  EXPECT_THAT(said, testing::UnorderedElementsAre("train.yaml: pins[4].value: value is missing",
                                                  "train.yaml: pins[5].value: value is missing"));
}

TEST_F(Train, IsNoLongerThanItsLimit) {
  std::string many = "train: v1\npins:\n";
  for (int i = 0; i < 100'000; ++i) many += "- 1\n";
  EXPECT_EQ(read_train(many, "t.yaml").error().message(), "read t.yaml: more than 20000 values");
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [*" + before + ", *" + before + ", *" + before +
            ", *" + before + ", *" + before + ", *" + before + ", *" + before + ", *" + before +
            "]\n";
  }
  EXPECT_EQ(read_train(bomb, "t.yaml").error().message(), "read t.yaml: more than 20000 values");
}

// ------------------------------------------------- the trains that come with the program

/// "DECISION id subject, …" of what is no info.
std::string said(const train_answer& a) {
  std::string text(releases::to_string(a.verdict));
  for (const finding& f : a.findings)
    if (f.how == releases::severity::error ||
        (f.how == releases::severity::warn && f.id != "train.evidence-skew"))
      text += " " + f.id + " " + f.subject;
  return text;
}

TEST_F(Train, ThoseThatWereReleasedSayWhatTheTableOfTheProjectSays) {
  const auto rows = real_trains();
  ASSERT_EQ(known_train_texts().size(), rows.size());
  for (const row& r : rows) {
    const std::string* text = known_train(r.at("train"));
    ASSERT_NE(text, nullptr) << r.at("train");
    const train_answer a = ask_text(hook::check, *text);
    std::string checks;
    for (const check_row& c : a.checks) {
      EXPECT_GE(c.saw.size(), 1u) << c.name;
      // Pins that the table has no comparison of.
      if (r.at("checks").find(c.name + "=") != std::string::npos)
        checks += (checks.empty() ? "" : " ") + c.name + "=" + c.result;
    }
    EXPECT_EQ(checks, r.at("checks")) << r.at("train");
  }
}

TEST_F(Train, ThoseThatWereReleasedAreJudgedAsTheyWere) {
  const std::string gc = " train.pin-mismatch pin/cloud-api-adaptor/guest-components.reference";
  // All fifteen were released. In one peer pods had a Trustee seven commits behind the train's.
  const std::map<std::string, std::string> expected = {
      {"v0.9.0-alpha1", "deny train.pin-mismatch pin/cloud-api-adaptor/Trustee.reference" + gc},
      {"v0.10.0", "allow" + gc},
      {"v0.11.0", "allow" + gc},
      {"v0.17.0", "allow" + gc},
      {"v0.18.0", "allow train.pin-mismatch pin/cloud-api-adaptor/Kata.go.mod" + gc},
      {"v0.21.0", "allow train.pin-mismatch pin/cloud-api-adaptor/Kata.reference"}};
  for (const row& r : real_trains()) {
    const auto e = expected.find(r.at("train"));
    EXPECT_EQ(said(ask_text(hook::check, *known_train(r.at("train")))),
              e == expected.end() ? "allow" : e->second)
        << r.at("train");
  }
}

TEST_F(Train, ThoseThatWereReleasedAnswerWhichServerFits) {
  for (const row& r : real_trains()) {
    value document = object({{"train", "known"}, {"trains", known_train_rows()}});
    std::get<value::object>(document.data)["match"] = object({{"bundle", r.at("kata")}});
    const train_answer a = ask(hook::match, document);
    ASSERT_EQ(a.matches.size(), 1u) << r.at("train");
    EXPECT_EQ(a.matches[0].train, r.at("train"));
    std::get<value::object>(document.data)["match"] =
        object({{"server", r.at("trustee_commit").substr(0, 10)}});
    EXPECT_GE(ask(hook::match, document).matches.size(), 1u) << r.at("train");
  }
  EXPECT_EQ(known_train("v9.9.9"), nullptr);
  EXPECT_NE(known_train("0.17.0"), nullptr);
}

TEST(TrainAnswer, IsExcusedByConsentToItsContent) {
  const value::object answer{
      {"hash", "abc"},
      {"retag", value::array{value::object{{"from", "a"}, {"to", "b"}, {"digest", "c"}}}},
      {"findings", value::array{value::object{
                       {"id", "x"}, {"severity", "error"}, {"subject", "y"}, {"why", "z"}}}}};
  train_consent agreed;
  agreed.train = "v1";
  agreed.waivers = {{"x", "y", "v1", "abc", "it is known", "somebody", ""}};
  auto read = read_train_answer(answer, agreed);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->verdict, releases::decision::allow);
  EXPECT_EQ(read->findings[0].why, "z; waived by somebody: it is known");
  EXPECT_EQ(read->retags.size(), 1u);
  agreed.waivers[0].hash = "abd";
  read = read_train_answer(answer, agreed);
  EXPECT_EQ(read->verdict, releases::decision::deny);
  EXPECT_TRUE(read->retags.empty());
  agreed.waivers[0].hash = "abc";
  agreed.train = "v2";
  EXPECT_EQ(read_train_answer(answer, agreed)->verdict, releases::decision::deny);
}

TEST(TrainAnswer, PromotesNothingWhenItIsDenied) {
  value::object answer{
      {"retest", "required"},
      {"retag", value::array{value::object{{"from", "a"}, {"to", "b"}, {"digest", "c"}}}},
      {"findings", value::array{value::object{
                       {"id", "x"}, {"severity", "error"}, {"subject", "y"}, {"why", "z"}}}}};
  auto read = read_train_answer(answer);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(read->retags.empty());
  answer["retest"] = "perhaps";
  EXPECT_EQ(read_train_answer(answer).error().message(),
            "retest: expected skipped or required, got 'perhaps'");
}

}  // namespace
}  // namespace policies::trains
