// `windlass train` on the trains that come with the program and on extracts of the projects' own
// files.
#include "cli/commands.hpp"
#include "reactor/system/files.hpp"
#include "releases/trains/known.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct answered {
  int code = -1;
  std::string out, err;
};

answered train(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  answered o;
  o.code = cli::dispatch(arguments);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
}

json::object object_in(const answered& o) {
  boost::system::error_code ec;
  json::value v = json::parse(o.out, ec);
  EXPECT_FALSE(ec) << o.out << o.err;
  return v.is_object() ? v.get_object() : json::object();
}

std::string text_of(const std::string& file) {
  auto text = reactor::load_file(file, 1'000'000);
  EXPECT_TRUE(text) << file;
  return text ? std::move(*text) : std::string();
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const std::string& text : policies::trains::known_train_texts()) {
    const std::size_t at = text.find("train: ") + 7;
    names.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return names;
}

/// Folders of extracts as repositories of one commit each.
class clones {
public:
  /// False where there is no git.
  bool make(const std::string& project, const std::string& from) {
    const std::string to = folder_.path() + "/" + project;
    fs::create_directories(to);
    if (!from.empty()) fs::copy(from, to, fs::copy_options::recursive);
    return git(project, "init -q") && git(project, "add -A") &&
           git(project, "commit -q --allow-empty -m one") && git(project, "tag v1.0.0");
  }
  bool git(const std::string& project, const std::string& arguments) const {
    const std::string line = "git -C " + of(project) +
                             " -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false "
                             "-c core.autocrlf=false " +
                             arguments + " >/dev/null 2>&1";
    return std::system(line.c_str()) == 0;
  }
  std::string of(const std::string& project) const { return folder_.path() + "/" + project; }

private:
  reactor::temporary_folder folder_;
};

TEST(KnownTrains, EachAnswersEveryCommandByItsName) {
  const std::vector<std::string> names = known_names();
  ASSERT_EQ(names.size(), 15u);
  reactor::temporary_folder folder;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const int judged = name == "v0.9.0-alpha1" ? 4 : 0;
    EXPECT_EQ(train({"check", name}).code, judged) << name;
    EXPECT_EQ(train({"plan", name}).code, judged) << name;
    EXPECT_EQ(train({"explain", name}).code, 0) << name;
    EXPECT_THAT(train({"notes", name}).out, HasSubstr("# " + name + "\n")) << name;
    EXPECT_THAT(train({"match", "--train", name}).out, HasSubstr("released together")) << name;
    // No image of it is known: nothing could be given a name.
    const answered promoted = train({"promote", name, "--project", "Trustee", "--tag", "v9.9.9"});
    EXPECT_EQ(promoted.code, 4) << name;
    EXPECT_THAT(promoted.out, HasSubstr("train.partial-promotion")) << name;
    if (i == 0) continue;
    const answered diff = train({"diff", names[i - 1], name, "-o", "json"});
    EXPECT_NE(diff.code, 1) << diff.err;
    bool rides = false;
    const json::object answer = object_in(diff);
    for (const json::value& change : answer.at("changes").as_array())
      rides = rides || change.at("what").as_string() == "project/Kata release";
    EXPECT_TRUE(rides) << name;
  }
  EXPECT_THAT(train({"match", "--client", "v0.16.0"}).out, HasSubstr("v0.17.0  3.23.0  v0.16.0"));
  EXPECT_THAT(train({"match", "--server", "v9"}).out, HasSubstr("none of 15 trains has it"));
  EXPECT_EQ(train({"check", "v0.99.0"}).code, 1);
}

TEST(KnownTrains, ADocumentOfTheUserKeepsEveryByteThatIsNoFact) {
  clones repositories;
  if (!repositories.make("Kata", "")) GTEST_SKIP() << "no git here";
  reactor::temporary_folder folder;
  for (const std::string& name : known_names()) {
    const std::string before = "# ours\n" + *policies::trains::known_train(name) + "# the end\n";
    const std::string file = folder.write("train.yaml", before);
    // Tags alone: the clone is empty, so nothing can be read at the train's commit.
    const answered o = train({"facts", file, "--clone", "Kata=" + repositories.of("Kata"), "--at",
                              "Kata=v1.0.0", "--filter", "v1.0.0"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_THAT(o.err, HasSubstr("has Trustee.version"));
    std::istringstream lines(text_of(file));
    std::string kept, line;
    for (bool added = false; std::getline(lines, line);) {
      // The one tag that was found: its entry, and nothing else.
      added = line.starts_with("- at: ") || (added && line.starts_with("  "));
      if (!added) kept += line + "\n";
    }
    EXPECT_EQ(kept, before) << name;
  }
}

TEST(TrainFacts, ReadPinsAndProtocolsFromTheProjectsOwnFiles) {
  const std::string files = WINDLASS_SOURCE_DIR "/tests/data/trains/files/";
  clones repositories;
  const std::vector<std::string> projects = {"Kata",     "guest-components",  "Trustee",
                                             "operator", "cloud-api-adaptor", "enclave-cc"};
  for (const std::string& project : projects)
    if (!repositories.make(project, files + project)) GTEST_SKIP() << "no git here";
  reactor::temporary_folder folder;
  const std::string file = folder.write(
      "train.yaml",
      "train: v0.17.0 # what people typed is in the program\nprojects:\n- name: Kata\n");
  std::vector<std::string> ask = {"facts", file};
  for (const std::string& project : projects)
    ask.insert(ask.end(),
               {"--clone", project + "=" + repositories.of(project), "--at", project + "=v1.0.0"});
  const answered o = train(ask);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "") << "something was not found";
  const auto pins_of = [](const std::string& document) {
    std::map<std::string, std::string> pins;
    const json::object answer = object_in(train({"check", document, "-o", "json"}));
    for (const json::value& pin : answer.at("pins").as_array())
      pins[std::string(pin.at("holder").as_string()) + "/" +
           std::string(pin.at("project").as_string()) + "." +
           std::string(pin.at("field").as_string())] = std::string(pin.at("value").as_string());
    return pins;
  };
  EXPECT_EQ(pins_of(file), pins_of("v0.17.0"));
  const std::string text = text_of(file);
  EXPECT_THAT(
      text,
      HasSubstr("train: v0.17.0 # what people typed is in the program\nprojects:\n- name: Kata\n"));
  EXPECT_THAT(text, HasSubstr("name: guest-components\n  protocol: 0.4.0"));
  EXPECT_THAT(text, HasSubstr("name: Trustee\n  protocol: 0.4.0"));
  EXPECT_THAT(text, HasSubstr("image: ghcr.io/confidential-containers/staged-images/kbs\n"));
  // Read again it is the same but for when; a pin that is another one by now says what it was.
  ASSERT_TRUE(repositories.git("Kata", "rm -q versions.yaml"));
  std::ofstream(repositories.of("Kata") + "/versions.yaml")
      << "externals:\n  coco-trustee:\n    version: v0.17.0 # ours\n";
  ASSERT_TRUE(repositories.git("Kata", "add -A") && repositories.git("Kata", "commit -q -m two"));
  const answered again =
      train({"facts", file, "--clone", "Kata=" + repositories.of("Kata"), "--at", "Kata=HEAD"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(text_of(file), AllOf(HasSubstr("was: 6d1dcfbadad2c67c0972d242156b4d5701a3e4ff"),
                                   HasSubstr("comment: ours")));
  EXPECT_THAT(again.err, HasSubstr("has Kata/Trustee.image_tag, which stays"));
}

TEST(TrainFacts, ReadTheCommitOfTheTrainWhateverIsCheckedOut) {
  clones repositories;
  const std::string files = WINDLASS_SOURCE_DIR "/tests/data/trains/files/charts";
  if (!repositories.make("charts", files)) GTEST_SKIP() << "no git here";
  // Another branch is checked out, and what stands there is not committed.
  ASSERT_TRUE(repositories.git("charts", "checkout -q -b other"));
  std::ofstream(repositories.of("charts") + "/Chart.yaml") << "dependencies: []\n";
  reactor::temporary_folder folder;
  const std::string text = "train: v1\nprojects:\n- {name: charts, release: v1.0.0}\n";
  const std::string file = folder.write("train.yaml", text);
  const std::string clone = "charts=" + repositories.of("charts");
  EXPECT_EQ(train({"facts", file, "--clone", clone}).code, 0);
  EXPECT_THAT(text_of(file),
              AllOf(HasSubstr("field: kata-deploy\n"), HasSubstr("value: 3.22.0\n")));
  // A commit that the clone lacks, and a clone that cannot count: nothing is written.
  folder.write("train.yaml", text);
  const answered lacking = train({"facts", file, "--clone", clone, "--at", "charts=v2.0.0"});
  EXPECT_EQ(lacking.code, 1);
  EXPECT_THAT(lacking.err, HasSubstr("does not have it; fetch it"));
  const std::string shallow = repositories.of("shallow");
  ASSERT_TRUE(repositories.git("charts", "commit -q -a -m two") &&
              repositories.git("charts", "clone -q --depth 1 file://" + repositories.of("charts") +
                                             " " + shallow));
  const answered counted = train({"facts", file, "--clone", "charts=" + shallow, "--range",
                                  "charts=HEAD..HEAD", "--at", "charts=HEAD"});
  EXPECT_EQ(counted.code, 1);
  EXPECT_THAT(counted.err, HasSubstr("git fetch --unshallow"));
  EXPECT_EQ(text_of(file), text);
  EXPECT_EQ(train({"facts", file, "--at", "charts=HEAD", "--clone", "Kata=x"}).code, 1);
  EXPECT_EQ(train({"facts", file, "--clone", clone, "--at", "charts=--all"}).code, 1);
  // A project that no table knows has tags alone, and that is said.
  const answered other = train({"facts", file, "--clone", "mine=" + repositories.of("charts")});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("no table says which files of mine"));
  // One that is nearly called as a known one is no project, unless the document has it.
  folder.write("train.yaml", text);
  const answered near = train({"facts", file, "--clone", "chart=" + repositories.of("charts")});
  EXPECT_EQ(near.code, 1);
  EXPECT_THAT(near.err, HasSubstr("no project is called chart; is it 'charts'?"));
  EXPECT_EQ(text_of(file), text);
  folder.write("train.yaml", text + "- {name: chart, release: v1.0.0}\n");
  EXPECT_EQ(train({"facts", file, "--clone", "chart=" + repositories.of("charts")}).code, 0);
}

TEST(TrainFacts, AreLeftAsTheyAreWhenARegistryIsDown) {
  clones repositories;
  if (!repositories.make("charts", "")) GTEST_SKIP() << "no git here";
  reactor::temporary_folder folder;
  const std::string text = "train: v1 # mine\nprojects:\n- {name: charts, release: v1.0.0}\n";
  const std::string file = folder.write("train.yaml", text);
  // The clone answers, the registry does not: nothing is written of either.
  const answered o = train({"facts", file, "--clone", "charts=" + repositories.of("charts"),
                            "--registry", "127.0.0.1:1/example", "--image", "kbs", "--plain-http"});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("127.0.0.1:1"));
  EXPECT_EQ(text_of(file), text);
}

const std::string a_train =
    "train: v1.0.0\nphase: candidate\nprojects:\n- {name: Kata, release: 3.23.0}\npins:\n"
    "- {holder: Kata, project: guest-components, field: version, value: v0.16.0}\n"
    "- {holder: Kata, project: Trustee, field: version, value: v0.16.0}\n"
    "- {holder: Kata, project: nydus-snapshotter, field: version, value: v0.15.2}\n";

TEST(TrainCommand, NamesTheLineOfWhatIsWrongAndWhatWasMeant) {
  reactor::temporary_folder folder;
  const std::string file = folder.write(
      "train.yaml",
      a_train +
          "freeze:\n  project: Katta\nsteps:\n- {id: notes, needs: [bundel-pr]}\n"
          "- id: gc-tagg\n  stat: done\nsuites:\n- {id: ci, project: Trusteee, result: "
          "passed}\nphaze: candidate\n");
  const std::string facts = folder.write("facts.yaml",
                                         "tags:\n- {project: Kata, tag: 3.23.0}\n- "
                                         "{project: Kata}\n");
  const answered o = train({"check", file, "--facts", facts});
  EXPECT_EQ(o.code, 4);
  const std::vector<std::string> parts = {file + ":10)",        "is it 'Kata'?",  file + ":12)",
                                          "is it 'bundle-pr'?", file + ":13)",    "is it 'gc-tag'?",
                                          file + ":14)",        "is it 'state'?", file + ":16)",
                                          "is it 'Trustee'?",   file + ":17)",    "is it 'phase'?",
                                          facts + ":3)",        "tag is missing"};
  for (const std::string& part : parts) EXPECT_THAT(o.out, HasSubstr(part)) << part;
}

TEST(TrainCommand, PrintsTheSameWhateverTheOrderOfTheDocument) {
  reactor::temporary_folder folder;
  const std::string one = folder.write("train.yaml", a_train);
  const auto printed = [&] {
    return train({"check", one, "-o", "json"}).out + train({"check", one}).out +
           train({"plan", one}).out;
  };
  const std::string first = printed();
  folder.write(
      "train.yaml",
      "pins:\n- {holder: Kata, project: nydus-snapshotter, field: version, value: v0.15.2}\n"
      "- {holder: Kata, project: Trustee, field: version, value: v0.16.0}\n"
      "- {holder: Kata, project: guest-components, field: version, value: v0.16.0}\n"
      "projects:\n- {name: Kata, release: 3.23.0}\nphase: candidate\ntrain: v1.0.0\n");
  EXPECT_EQ(printed(), first);
}

TEST(TrainCommand, PlansAsAListToTickOffAndAsAGraph) {
  reactor::temporary_folder folder;
  const std::string file = folder.write(
      "train.yaml",
      a_train +
          "steps:\n- {id: kata-pick, state: done, evidence: 3.23.0, owner: ana}\n"
          "- {id: bundle-pr, owner: 'bo|<b>', pr: 'https://example.com/pull/7', approval: "
          "needed}\n");
  const std::string list = train({"plan", file, "-o", "markdown"}).out;
  EXPECT_THAT(list, AllOf(HasSubstr("## Release of v1.0.0\n"),
                          HasSubstr("- [x] **kata-pick** choose a Kata release (ana): 3.23.0\n"),
                          HasSubstr("- [ ] **bundle-pr** "), HasSubstr("bo\\|\\<b\\>"),
                          HasSubstr("approval needed")));
  const std::string dot = train({"plan", file, "-o", "dot"}).out;
  EXPECT_THAT(
      dot, AllOf(testing::StartsWith("digraph \"v1.0.0\" {"),
                 HasSubstr("\"step kata-pick\" -> \"step nydus-check\";"),
                 HasSubstr("\"Trustee\" -> \"Kata\" [style=solid"),
                 HasSubstr("\"Trustee\" -> \"guest-components\" [style=dashed, label=\"pair\"")));
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
  EXPECT_THAT(train({"plan", file}).out,
              AllOf(HasSubstr("WHO"), HasSubstr("ana"), HasSubstr("BUILT FROM")));
  const json::object plan = object_in(train({"plan", file, "-o", "json"}));
  EXPECT_EQ(plan.at("steps").at(0).at("owner"), "ana");
  EXPECT_EQ(train({"plan", file, "-o", "svg"}).code, 2);
}

TEST(TrainCommand, ExplainsWhatWasComparedAndWhatProvesAStep) {
  const answered all = train({"explain", "v0.17.0"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("check nydus: equal\n"),
                             HasSubstr("compared  Kata nydus-snapshotter.version v0.15.2\n"),
                             HasSubstr("step kata-pick: ready"), HasSubstr("rule caa_gc")));
  const answered one = train({"explain", "v0.17.0", "caa_gc"});
  EXPECT_THAT(one.out,
              AllOf(HasSubstr("check caa_gc"), HasSubstr("ahead 5"), Not(HasSubstr("nydus"))));
  EXPECT_THAT(train({"explain", "v0.17.0", "gc-tag", "-o", "json"}).out,
              HasSubstr("\"id\": \"gc-tag\""));
  const answered none = train({"explain", "v0.17.0", "gc-tagg"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no check, step, finding or subject is called so"));
}

TEST(TrainCommand, SeesWhatMovedSinceTheTrainBefore) {
  reactor::temporary_folder folder;
  // Trustee alone moved, and no suite tested the two together.
  std::string text = *policies::trains::known_train("v0.17.0");
  const std::string moved(40, 'd'), old = "6d1dcfbadad2c67c0972d242156b4d5701a3e4ff";
  for (std::size_t at = 0; (at = text.find(old, at)) != text.npos;) text.replace(at, 40, moved);
  const std::string file = folder.write("train.yaml", text);
  EXPECT_THAT(train({"check", file}).out, Not(HasSubstr("pair-moved-alone")));
  EXPECT_THAT(train({"check", file, "--former", "v0.17.0"}).out,
              HasSubstr("train.pair-moved-alone"));
  const answered diff = train({"diff", "v0.17.0", file});
  EXPECT_EQ(diff.code, 3) << diff.out;
  EXPECT_THAT(diff.out, AllOf(HasSubstr("pin/Kata/Trustee.version"), HasSubstr("6d1dcfba"),
                              HasSubstr("dddddddd"), HasSubstr("train.pair-moved-alone")));
  EXPECT_THAT(train({"notes", file, "--former", "v0.17.0"}).out,
              HasSubstr("| Kata | Trustee version | " + old + " | " + moved + " |"));
  // What is pinned no more, and what is pinned for the first time.
  const std::string notes = train({"notes", "v0.18.0", "--former", "v0.17.0"}).out;
  EXPECT_THAT(notes, AllOf(HasSubstr("| operator | Kata s390x | 3.23.0 | (gone) |"),
                           HasSubstr("| cloud-api-adaptor | Kata kata-deploy | (new) | 3.25.0 |"),
                           HasSubstr("| Kata | nydus-snapshotter version | v0.15.2 | v0.15.10 |"),
                           Not(HasSubstr("| Trustee | guest-components kms |"))));
  EXPECT_THAT(train({"notes", "v0.18.0"}).out, Not(HasSubstr("## Changes")));
  EXPECT_THAT(train({"diff", "v0.17.0", "v0.17.0"}).out, HasSubstr("nothing changed"));
  EXPECT_THAT(train({"diff", "v0.16.0", "v0.17.0"}).out,
              HasSubstr("project/guest-components candidate"));
}

/// Each line of a page that runs the program.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> all;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("```")) inside = !inside && line == "```sh";
    if (inside && line.starts_with("windlass train ")) all.push_back(line);
  }
  return all;
}

TEST(TrainDocs, EveryCommandOfThePagesRuns) {
  std::vector<std::string> commands =
      commands_of(text_of(WINDLASS_SOURCE_DIR "/docs/migrating/trains.md"));
  ASSERT_GE(commands.size(), 2u);
  for (std::string& command : commands_of(text_of(WINDLASS_SOURCE_DIR "/docs/trains.md")))
    commands.push_back(std::move(command));
  ASSERT_GE(commands.size(), 12u);
  clones repositories;
  if (!repositories.make("clone", WINDLASS_SOURCE_DIR "/tests/data/trains/files/Kata"))
    GTEST_SKIP() << "no git here";
  reactor::temporary_folder folder;
  const std::string file = folder.write("train.yaml", a_train);
  folder.write("facts.yaml", "images: []\n");
  for (const std::string& command : commands) {
    std::istringstream words(command);
    std::vector<std::string> arguments;
    bool network = false;
    for (std::string word; words >> word;) {
      if (word == "|" || word == ">") break;
      network = network || word == "--registry";
      if (word == "train.yaml" || word == "facts.yaml") word = folder.path() + "/" + word;
      if (word.starts_with("Kata=~/")) word = "Kata=" + repositories.of("clone");
      if (word == "Kata=3.23.0") word = "Kata=v1.0.0";
      arguments.push_back(word);
    }
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    if (network) arguments.push_back("--help");  // of those that ask a registry: the flags alone
    const answered o = train(arguments);
    EXPECT_THAT(o.code, testing::AnyOf(0, 3, 4)) << command << "\n" << o.err;
  }
}

}  // namespace
}  // namespace cli
