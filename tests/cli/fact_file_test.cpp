#include "releases/commands/fact_file.hpp"

#include "cli/commands.hpp"
#include "reactor/system/files.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace cli {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

json::object facts(std::string_view text) {
  return json::parse(text).get_object();
}

const std::string_view one_image =
    R"({"images":[{"ref":"kbs:v2","digest":"sha256:2","source":"registry r"}]})";

struct row {
  const char* what;
  std::string before, after;
};

TEST(FactFile, KeepsEveryByteThatIsNoFactThatWasAskedFor) {
  const row rows[] = {
      {"a document without facts",
       "# ours\ntrain: v1  # the next\nprojects:\n- {name: Kata}\n\n# the end\n",
       "# ours\ntrain: v1  # the next\nprojects:\n- {name: Kata}\nimages:\n- digest: sha256:2\n  "
       "ref: "
       "kbs:v2\n  source: registry r\n\n# the end\n"},
      {"another fact of the list",
       "train: v1\nimages:\n  # by hand\n  - {ref: 'kbs:v1', digest: 'sha256:1', was: x}  # "
       "kept\npins: []\n",
       "train: v1\nimages:\n  # by hand\n  - {ref: 'kbs:v1', digest: 'sha256:1', was: x}  # kept\n"
       "  - digest: sha256:2\n    ref: kbs:v2\n    source: registry r\npins: []\n"},
      {"the fact itself",
       "images:\n- ref: kbs:v1\n- ref: kbs:v2\n  digest: sha256:1\n# Büro\ntags: []\n",
       "images:\n- ref: kbs:v1\n- ref: kbs:v2\n  digest: sha256:2\n  source: registry r\n# "
       "Büro\ntags: []\n"},
      {"what the user says of the fact, and comments inside of it",
       "images:\n- ref: kbs:v2 # tested\n  arch: amd64\n  digest: 'sha256:1'  # by hand\n  # the "
       "last\ntrain: v1\n",
       "images:\n- ref: kbs:v2 # tested\n  arch: amd64\n  digest: sha256:2  # by hand\n  source: "
       "registry r\n  # the last\ntrain: v1\n"},
      {"a fact on one line", "{\"images\": [{\"ref\": \"kbs:v2\", \"was\": \"x\"}]}\n",
       "{\"images\": [{\"ref\": \"kbs:v2\", \"was\": '', \"digest\": \"sha256:2\", \"source\": "
       "\"registry r\"}]}\n"},
      {"JSON", "{\"train\": \"v1\", \"images\": []}\n",
       "{\"train\": \"v1\", \"images\": "
       "[{\"ref\":\"kbs:v2\",\"digest\":\"sha256:2\",\"source\":\"registry r\"}]}\n"},
      {"JSON without the list", "{\"train\": \"ü\"}",
       "{\"train\": \"ü\", \"images\": "
       "[{\"ref\":\"kbs:v2\",\"digest\":\"sha256:2\",\"source\":\"registry r\"}]}"},
      {"a list without a value", "train: v1\nimages:\npins: []\n",
       "train: v1\nimages: [{\"ref\":\"kbs:v2\",\"digest\":\"sha256:2\",\"source\":\"registry "
       "r\"}]\npins: []\n"},
      {"what an earlier version wrote when nothing was asked", "{}\n",
       "images:\n- digest: sha256:2\n  ref: kbs:v2\n  source: registry r\n"},
      {"no file", "", "images:\n- digest: sha256:2\n  ref: kbs:v2\n  source: registry r\n"},
      {"no line break at the end", "train: v1",
       "train: v1\nimages:\n- digest: sha256:2\n  ref: kbs:v2\n  source: registry r"},
      {"line breaks of DOS",
       "train: v1 # ours\r\nimages:\r\n- ref: kbs:v2 # x\r\n  digest: a # y\r\npins: []\r\n",
       "train: v1 # ours\r\nimages:\r\n- ref: kbs:v2 # x\r\n  digest: sha256:2 # y\r\n  source: "
       "registry r\r\npins: []\r\n"},
      {"a new list among line breaks of DOS", "train: v1\r\npins: [] # none\r\n",
       "train: v1\r\npins: [] # none\r\nimages:\r\n- digest: sha256:2\r\n  ref: kbs:v2\r\n  "
       "source: registry r\r\n"},
      {"a byte order mark", "\xEF\xBB\xBFtrain: v1\nimages: [{ref: 'kbs:v2', digest: b}]\n",
       "\xEF\xBB\xBFtrain: v1\nimages: [{ref: 'kbs:v2', digest: \"sha256:2\", \"source\": "
       "\"registry r\"}]\n"},
      {"comments inside of brackets",
       "train: v1\nimages: [ # all\n  {ref: 'kbs:v1', digest: a}, # tested\n  # the last\n]\n",
       "train: v1\nimages: [ # all\n  {ref: 'kbs:v1', digest: a}, "
       "{\"ref\":\"kbs:v2\",\"digest\":\"sha256:2\",\"source\":\"registry r\"}, # tested\n  # the "
       "last\n]\n"},
      {"a comment alone inside of brackets", "train: v1\nimages: [ # none yet\n]\n",
       "train: v1\nimages: [{\"ref\":\"kbs:v2\",\"digest\":\"sha256:2\",\"source\":\"registry r\"} "
       "# "
       "none yet\n]\n"},
      {"a document between its marks, with quoted keys and an alias elsewhere",
       "%YAML 1.1\n---\n\"train\": v1\nx: &me ana\nsteps:\n- {id: notes, owner: *me}\n'images':\n- "
       "{\"ref\": \"kbs:v2\", \"digest\": \"a\"} # c\n...\n",
       "%YAML 1.1\n---\n\"train\": v1\nx: &me ana\nsteps:\n- {id: notes, owner: *me}\n'images':\n- "
       "{\"ref\": \"kbs:v2\", \"digest\": \"sha256:2\", \"source\": \"registry r\"} # c\n...\n"},
      {"the same fact twice, and both say the same",
       "images:\n- {ref: 'kbs:v2', digest: a, at: x}\n- {ref: 'kbs:v2', digest: a, at: y}\n",
       "images:\n- {ref: 'kbs:v2', digest: \"sha256:2\", at: x, \"source\": \"registry r\"}\n- "
       "{ref: "
       "'kbs:v2', digest: \"sha256:2\", at: y, \"source\": \"registry r\"}\n"},
  };
  for (const row& r : rows) {
    const auto made = with_facts(r.before, "train.yaml", facts(one_image));
    ASSERT_TRUE(made) << r.what << ": " << made.error().message();
    EXPECT_EQ(*made, r.after) << r.what;
    EXPECT_EQ(*with_facts(*made, "train.yaml", facts(one_image)), *made) << r.what << ", again";
  }
}

TEST(FactFile, IsLeftAloneWhereItIsNoneOrCannotBeChanged) {
  const row rows[] = {
      {"values of a chart", "image: x\nimages: []\n", "neither a train document"},
      {"a list", "- a\n", "expected a mapping"},
      {"a list that is none", "train: v1\nimages: {a: b}\n", "images: expected a list"},
      {"broken text", "train: [\n", "line"},
      {"an image of which two entries differ",
       "images:\n- {ref: 'kbs:v2', digest: a}\n- ref: kbs:v2\n  digest: b\n",
       "images: lines 2 and 3 are about the same and differ"},
      {"an entry that an alias is part of",
       "train: v1\nx: &d a\nimages:\n- {ref: 'kbs:v2', digest: *d}\n", "aliases or tags"},
      {"two documents", "train: v1\n---\ntrain: v2\n", "more than 1 document"},
      {"comments alone", "# nothing yet\n", "no document"},
      {"an alias", "train: v1\npins: &p [{ref: 'kbs:v2'}]\nimages: *p\n", "expected a list"},
  };
  for (const row& r : rows) {
    const auto made = with_facts(r.before, "train.yaml", facts(one_image));
    ASSERT_FALSE(made) << r.what;
    EXPECT_THAT(made.error().message(), HasSubstr(r.after)) << r.what;
    EXPECT_THAT(made.error().message(), HasSubstr("train.yaml")) << r.what;
  }
}

TEST(FactFile, WhereNothingWasFoundADocumentStaysAndANewFileSaysWhatWasAskedFor) {
  const json::object none = facts(R"({"images":[],"tags":[]})");
  for (const std::string text : {"train: v1", "images:\n- ref: a\r\n", "{}\n", "tags:\n"})
    EXPECT_EQ(*with_facts(text, "train.yaml", none), text);
  EXPECT_EQ(*with_facts("", "train.yaml", none), "images: []\ntags: []\n");
}

TEST(FactFile, ATagAndADistanceAreKnownByAllThatTheyAreAbout) {
  const auto made = with_facts(
      "tags:\n- {project: Kata, tag: v1, commit: a}\n- {project: Trustee, tag: v1, commit: "
      "b}\nancestry:\n"
      "- {project: Kata, from: v1, to: v2, ahead: '1'}\n",
      "facts.yaml", facts(R"({"tags":[{"project":"Trustee","tag":"v1","commit":"c"}],
                "ancestry":[{"project":"Kata","from":"v1","to":"v3","ahead":"2"}]})"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(*made, HasSubstr("- {project: Kata, tag: v1, commit: a}"));
  EXPECT_THAT(*made, HasSubstr(R"(- {project: Trustee, tag: v1, commit: "c"})"));
  EXPECT_THAT(*made, testing::Not(HasSubstr("commit: b")));
  EXPECT_THAT(*made, HasSubstr("ahead: '1'"));
  EXPECT_THAT(*made, HasSubstr("to: v3"));
}

TEST(FactFile, APinAndAProjectKeepWhatTheUserSaysOfThem) {
  const auto made = with_facts(
      "train: v1\nprojects:\n- name: Trustee # the server\n  candidate: abc\n  protocol: 0.1.0\n"
      "pins:\n- {holder: Kata, project: Trustee, field: version, value: abc, tested: abc} # kept\n",
      "train.yaml",
      facts(R"({"pins":[{"holder":"Kata","project":"Trustee","field":"version","value":"def"},
                        {"holder":"Kata","project":"Trustee","field":"image_tag","value":"1.0"}],
                "projects":[{"name":"Trustee","protocol":"0.2.0"}]})"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(
      *made,
      "train: v1\nprojects:\n- name: Trustee # the server\n  candidate: abc\n  protocol: 0.2.0\n"
      "pins:\n- {holder: Kata, project: Trustee, field: version, value: \"def\", tested: abc} # "
      "kept\n- field: image_tag\n  holder: Kata\n  project: Trustee\n  value: \"1.0\"\n");
}

TEST(FactFile, ANewListStandsBehindWhatIsAddedToTheLastOne) {
  const auto made = with_facts("train: v1\nprojects:\n- name: Kata\n", "train.yaml",
                               facts(R"({"tags":[{"project":"Kata","tag":"v1","commit":"c"}],
                                         "projects":[{"name":"Trustee","protocol":"0.2.0"}]})"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(*made,
            "train: v1\nprojects:\n- name: Kata\n- name: Trustee\n  protocol: 0.2.0\n"
            "tags:\n- commit: c\n  project: Kata\n  tag: v1\n");
}

TEST(TrainFacts, WriteNothingWhenNothingIsAskedFor) {
  reactor::temporary_folder folder;
  const std::string text = "train: v1 # mine\n";
  const std::string file = folder.write("train.yaml", text);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cli::dispatch(std::vector<std::string>{"train", "facts", file}), wrong_usage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--image, --clone or --range"));
  EXPECT_EQ(*reactor::load_file(file, 10'000), text);
}

}  // namespace
}  // namespace cli
