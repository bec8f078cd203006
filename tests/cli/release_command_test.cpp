// Longer than most files: every verb of `windlass release` and `train` on one folder of Releases.
#include "cli/commands.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "releases/commands/checking.hpp"
#include "releases/commands/facts.hpp"
#include "releases/trains/train.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace cli {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

struct outcome {
  int code = -1;
  std::string out, err;
};

outcome run(std::vector<std::string> arguments, const std::string& command = "release") {
  arguments.insert(arguments.begin(), command);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  outcome o;
  o.code = cli::dispatch(arguments);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
}

const std::string data = WINDLASS_SOURCE_DIR "/tests/data/releases";

json::object object_of(const outcome& o) {
  boost::system::error_code ec;
  json::value v = json::parse(o.out, ec);
  EXPECT_FALSE(ec) << o.out << o.err;
  return v.is_object() ? v.get_object() : json::object();
}

TEST(ReleaseCommand, MapsAndSaysWhereEachPartComesFrom) {
  const outcome o = run({"map", "aws", "34.5.0", "--dir", data, "-o", "json"});
  EXPECT_EQ(o.code, 0) << o.err;
  const json::object answer = object_of(o);
  EXPECT_EQ(answer.at("image"), "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs");
  EXPECT_EQ(answer.at("rule"), "T1");
  EXPECT_EQ(answer.at("limit"), 128);
  EXPECT_EQ(answer.at("length"), 54);
  EXPECT_EQ(answer.at("segments").at(0).at("source"), "config default");
  EXPECT_EQ(answer.at("segments").at(2).at("source"),
            "capa/v34.5.0.yaml: spec.components[kubernetes]");
  const outcome text = run({"map", "aws", "34.5.0", "--dir", data});
  EXPECT_THAT(text.out, HasSubstr("rule T1 (cluster-aws 7.7.3 in [1.3.3, 8.5.0))"));
  EXPECT_THAT(text.out, HasSubstr("(54/128)"));
}

TEST(ReleaseCommand, ShowsWhatAStepChanges) {
  const outcome o = run({"diff", "aws", "34.4.1", "34.5.0", "--dir", data});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_THAT(o.out,
              HasSubstr("plan aws-34.4.1 -> aws-34.5.0   minor   ROLLS NODES   decision: allow\n"));
  EXPECT_THAT(o.out, HasSubstr("4593.2.2 -> 4593.2.4"));
  EXPECT_THAT(o.out, HasSubstr("apps changed: 0   chart: unchanged"));
  EXPECT_THAT(o.out, HasSubstr("image  flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-gs -> "
                               "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs  (54/128)"));
  const json::object answer =
      object_of(run({"diff", "aws", "34.4.1", "34.5.0", "--dir", data, "-o", "json"}));
  EXPECT_EQ(answer.at("decision"), "allow");
  EXPECT_EQ(answer.at("level"), "minor");
  EXPECT_EQ(answer.at("rolls"), "yes");
  EXPECT_EQ(answer.at("images").at("to"), "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs");
  for (const json::value& f : answer.at("findings").get_array()) {
    for (const char* field :
         {"id", "severity", "blocking", "subject", "from", "to", "rule", "why", "evidence"})
      EXPECT_TRUE(f.get_object().contains(field)) << field;
  }
}

TEST(ReleaseCommand, EndsWithACodeOfItsDecision) {
  EXPECT_EQ(run({"diff", "capa", "v34.4.1", "v34.5.0", "--dir", data}).code, 0);
  EXPECT_EQ(run({"diff", "vsphere", "28.0.0", "28.0.1", "--dir", data}).code, 3);
  EXPECT_EQ(run({"diff", "azure", "32.1.0", "33.0.0", "--dir", data}).code, 4);
  EXPECT_EQ(run({"diff", "aws", "34.4.1", "99.0.0", "--dir", data}).code, 1);
  EXPECT_THAT(run({"diff", "aws", "34.4.1", "99.0.0", "--dir", data}).err,
              HasSubstr("find Release aws 99.0.0"));
  EXPECT_EQ(run({"diff", "aws", "34.4.1", "--dir", data}).code, 2);
  EXPECT_EQ(run({"map", "aws", "34.4.1"}).code, 2);
  EXPECT_EQ(run({"map", "aws", "34.4.1", "--dir", "/nowhere"}).code, 1);
}

std::string release(const std::string& version, const std::string& kubernetes) {
  return "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nmetadata: {name: azure-" +
         version +
         "}\nspec:\n  apps: []\n  components:\n  - {name: cluster-azure, version: 5.4.2}\n"
         "  - {name: flatcar, version: 4593.2.4}\n  - {name: kubernetes, version: " +
         kubernetes +
         "}\n  - {name: os-tooling, version: 1.33.1}\n  date: 2026-07-23T09:17:35Z\n  state: "
         "active\n";
}

TEST(ReleaseCommand, WaitsForConsentToContentAndForNoOther) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v34.5.1/release.yaml", release("34.5.1", "1.34.11"));
  const std::vector<std::string> step = {"diff",   "azure", "34.5.0",
                                         "34.5.1", "--dir", folder.path()};
  EXPECT_EQ(run(step).code, 3);
  const std::string hash(
      object_of(run({"show", "azure", "34.5.1", "--dir", folder.path(), "-o", "json"}))
          .at("hash")
          .as_string());
  EXPECT_EQ(hash.size(), 64u);
  folder.write(
      "waivers.yaml",
      "- rule: nodes.roll-in-patch\n  subject: release/azure-34.5.1\n  release: azure-34.5.1\n"
      "  hash: " +
          hash + "\n  reason: agreed in the meeting\n  by: me\n");
  EXPECT_EQ(run(step).code, 0);
  EXPECT_THAT(run({"check", folder.path()}).out, testing::Not(HasSubstr("waivers.yaml")));
  const std::string good = *reactor::load_file(folder.path() + "/waivers.yaml", 10'000);
  for (const auto& [from, to, says] :
       {std::tuple{"rule: nodes.roll-in-patch", "rule: node.roll-in-patch",
                   "is it 'nodes.roll-in-patch'?"},
        {"release: azure-34.5.1", "release: azure-34.5", "is it 'azure-34.5.0'?"}}) {
    std::string wrong = good;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    folder.write("waivers.yaml", wrong);
    const outcome o = run({"check", folder.path()});
    EXPECT_THAT(o.out, testing::AllOf(HasSubstr("waiver.void"), HasSubstr(says)));
    EXPECT_EQ(run(step).code, 3);
  }
  folder.write("waivers.yaml", good);
  std::string later = release("34.5.1", "1.34.11");
  later.replace(later.find("2026-07"), 7, "2027-07");
  folder.write("azure/v34.5.1/release.yaml", later);
  EXPECT_EQ(run(step).code, 0);
  folder.write("azure/v34.5.1/release.yaml", release("34.5.1", "1.34.12"));
  const outcome o = run(step);
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.out, HasSubstr("waiver.void"));
}

TEST(ReleaseCommand, SaysTheHashThatAWaiverQuotesWhereConsentIsAskedFor) {
  const std::vector<std::string> step = {"diff", "vsphere", "28.0.0", "28.0.1", "--dir", data};
  const outcome o = run(step);
  EXPECT_NE(o.code, 0);
  const std::string hash(object_of(run({"show", "vsphere", "28.0.1", "--dir", data, "-o", "json"}))
                             .at("hash")
                             .as_string());
  EXPECT_THAT(o.out, HasSubstr("a waiver names release: vsphere-28.0.1, hash: " + hash));
  const outcome allowed = run({"diff", "aws", "34.4.1", "34.5.0", "--dir", data});
  EXPECT_THAT(allowed.out, testing::Not(HasSubstr("a waiver names")));
}

TEST(ReleaseCommand, ChecksAFolderOfReleases) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v34.6.0/release.yaml", release("34.6.0", "1.34.11"));
  EXPECT_EQ(run({"check", "--dir", folder.path()}).code, 0);
  folder.write("azure/v34.7.0/release.yaml", "kind: [");
  const outcome o = run({"check", "--dir", folder.path(), "-o", "json"});
  EXPECT_EQ(o.code, 4);
  const json::object answer = object_of(o);
  EXPECT_EQ(answer.at("decision"), "deny");
  // Two of them, one that cannot be read, and what is said of the folder.
  EXPECT_EQ(answer.at("releases").get_array().size(), 4u);
  EXPECT_EQ(run({"check", "azure", "34.6.0", "--dir", folder.path()}).code, 0);
  EXPECT_EQ(run({"check", folder.path(), "azure", "34.6.0"}).code, 0);
  EXPECT_EQ(run({"check", folder.path()}).code, 4);
  EXPECT_EQ(run({"check"}).code, 2);
  EXPECT_EQ(run({"check", folder.path(), "azure", "34.6.0", "x"}).code, 2);
}

/// What concerns a whole folder is said once: each Release has nothing but what is its own.
TEST(ReleaseCommand, ChecksEveryRealReleaseThatIsOffered) {
  const outcome o = run({"check", "--dir", data});
  EXPECT_THAT(o.out, HasSubstr("aws-34.5.0"));
  EXPECT_TRUE(o.code == 0 || o.code == 3 || o.code == 4) << o.err;
  const json::object answer = object_of(run({"check", "--dir", data, "-o", "json"}));
  std::map<std::string, std::size_t> found;
  std::size_t releases = 0, folders = 0;
  for (const json::value& r : answer.at("releases").as_array()) {
    const bool folder = r.at("release").as_string().ends_with("/");
    (folder ? folders : releases) += 1;
    for (const json::value& f : r.at("findings").as_array()) {
      const std::string id(f.at("id").as_string());
      if (id == "check.not-evaluated" || id == "request.dead" || id == "release.unregistered") {
        ++found[id];
        EXPECT_TRUE(folder || f.at("rule") == "component.downgrade") << f;
      }
    }
  }
  std::printf("## releases: %zu offered in %zu folders: %zu times not evaluated, %zu dead rules\n",
              releases, folders, found["check.not-evaluated"], found["request.dead"]);
  EXPECT_LE(found["check.not-evaluated"], 3 * folders);
}

TEST(ReleaseCommand, AsksRenderedChartsWhetherMachinesAreReplaced) {
  reactor::temporary_folder folder;
  const std::string later = release("34.6.0", "1.34.10");
  std::string chart = later;
  chart.replace(chart.find("5.4.2"), 5, "5.5.0");
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v34.6.0/release.yaml", chart);
  const auto machine = [](const std::string& size) {
    return "kind: AzureMachineTemplate\nmetadata: {name: workers}\nspec: {vmSize: " + size + "}\n";
  };
  folder.write("charts/cluster-azure-5.4.2.yaml", machine("D4"));
  const std::vector<std::string> step = {
      "diff",  "azure",       "34.5.0",     "34.6.0",
      "--dir", folder.path(), "--rendered", folder.path() + "/charts"};
  outcome o = run(step);
  EXPECT_THAT(o.out, HasSubstr("nodes.may-roll: of both charts only cluster-azure-5.4.2.yaml"));
  folder.write("charts/cluster-azure-5.5.0.yaml", machine("D4"));
  o = run(step);
  EXPECT_EQ(o.out.find("nodes.may-roll"), o.out.npos) << o.out;
  EXPECT_EQ(o.out.find("ROLLS NODES"), o.out.npos) << o.out;
  folder.write("charts/cluster-azure-5.5.0.yaml", machine("D8"));
  o = run(step);
  EXPECT_THAT(o.out, HasSubstr("ROLLS NODES"));
  EXPECT_THAT(o.out, HasSubstr("differ in AzureMachineTemplate/workers"));
  folder.write("charts/cluster-azure-5.5.0.yaml", "kind: [");
  o = run(step);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("read cluster-azure-5.5.0.yaml"));
}

TEST(ReleaseCommand, ReportsAsTestsAndAsLinesOfAWorkflow) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v34.5.1/release.yaml", release("34.5.1", "1.34.11"));
  folder.write("azure/v34.5.2/release.yaml", "kind: [\n<x>: 50%");
  const outcome junit = run({"check", "--dir", folder.path(), "-o", "junit"});
  EXPECT_EQ(junit.code, 4);
  EXPECT_THAT(junit.out, HasSubstr("<testsuite name=\"azure\" tests=\"4\" failures=\"2\">"));
  EXPECT_THAT(junit.out, HasSubstr("<testcase classname=\"azure\" name=\"azure-34.5.1\">\n      "
                                   "<failure type=\"nodes.roll-in-patch\""));
  EXPECT_THAT(junit.out, testing::Not(HasSubstr("<x>")));
  const outcome lines = run({"check", "--dir", folder.path(), "-o", "github"});
  EXPECT_EQ(lines.code, 4);
  EXPECT_THAT(lines.out,
              HasSubstr("::warning file=" + folder.path() +
                        "/azure/v34.5.1/release.yaml,title=nodes.roll-in-patch "
                        "release/azure-34.5.1::machines are replaced in a patch Release\n"));
  EXPECT_THAT(lines.out,
              HasSubstr("::error file=" + folder.path() + "/azure/v34.5.2/release.yaml,"));
  EXPECT_EQ(run({"diff", "azure", "34.5.0", "34.5.1", "--dir", folder.path(), "-o", "junit"}).code,
            2);
}

/// Tables and Releases may change, vanish and come back while they are watched.
TEST(ReleaseFollower, JudgesAgainAndKeepsTheLastGoodTables) {
  reactor::temporary_folder folder, tables;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  const std::string pack =
      "return { name = 'mine', release = { diff = function() return { level = 'none', rolls = "
      "'no', "
      "image_to = 'WORD' } end } }\n";
  tables.write("mine/policy.lua", pack);
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::host packs(l, {.folders = {tables.path()}, .stock = true, .limits = {}});
  std::vector<std::string> seen, refused;
  packs.on_event = [&](const policies::pack_event& e) {
    if (e.what == policies::pack_event::kind::refused)
      refused.push_back(e.file + ":" + std::to_string(e.line));
  };
  policies::run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
    cli::check_settings settings;
    settings.dir = folder.path();
    cli::release_follower follower(
        l, packs, settings, tables.path(), [&](const reactor::result<cli::check_outcome>& o) {
          std::string text;
          if (!o) text = "!" + o.error().message();
          for (std::size_t i = 0; o && i < o->releases.size(); ++i) {
            if (!o->releases[i].name.ends_with("/"))
              text += o->releases[i].name + " " + o->releases[i].answer.image_to + ";";
          }
          seen.push_back(text);
        });
    follower.start();
    co_await l.sleep_for(std::chrono::seconds(10));
    folder.write("azure/v34.6.0/release.yaml", release("34.6.0", "1.34.11"));
    co_await l.sleep_for(std::chrono::seconds(10));
    tables.write("mine/policy.lua", "return {\n  name = = 'mine' }\n");
    co_await l.sleep_for(std::chrono::seconds(10));
    tables.write("mine/policy.lua", std::string(pack).replace(pack.find("WORD"), 4, "OTHER"));
    co_await l.sleep_for(std::chrono::seconds(10));
    std::filesystem::remove_all(folder.path() + "/azure");
    co_await l.sleep_for(std::chrono::seconds(10));
    folder.write("azure/v34.7.0/release.yaml", release("34.7.0", "1.34.11"));
    co_await l.sleep_for(std::chrono::seconds(10));
    co_await follower.stop();
    co_await packs.stop();
  });
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[0], "azure-34.5.0 WORD;");
  EXPECT_EQ(seen[1], "azure-34.5.0 WORD;azure-34.6.0 WORD;");
  EXPECT_EQ(seen[2], seen[1]);  // what was good is still in force
  EXPECT_THAT(refused, testing::Contains("mine/policy.lua:2"));
  EXPECT_EQ(seen[3], "azure-34.5.0 OTHER;azure-34.6.0 OTHER;");
  EXPECT_THAT(seen[4], HasSubstr("!read Releases in "));
  EXPECT_EQ(seen[5], "azure-34.7.0 OTHER;");
}

TEST(ReleaseCommand, WritesNotesForThoseWhoTakeIt) {
  const outcome o = run({"notes", "aws", "34.4.1", "34.5.0", "--dir", data});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(
      o.out, testing::StartsWith("# aws-34.5.0\n\nA minor Release after aws-34.4.1. **Machines are "
                                 "replaced.**\n\nImage: `flatcar-stable-4593.2.4-kube-1.34.10-"));
  EXPECT_THAT(o.out,
              HasSubstr("## Components\n\n| | before | now | |\n|---|---|---|---|\n| flatcar | "
                        "4593.2.2 | 4593.2.4 | patch |\n"));
  const outcome back = run({"notes", "aws", "32.4.0", "33.1.1", "--dir", data});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_THAT(back.out, HasSubstr(", goes back |"));
}

TEST(ReleaseCommand, PinsByAnEdit) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/requests.yaml", "# ours\nreleases: []\n");
  const std::vector<std::string> pin = {"pin",     "flatcar@4593.2.4", "--release", "34.5.0",
                                        "--until", "35.1.0",           "--dir",     folder.path()};
  const outcome shown = run(pin);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("azure   >= 34.5.0 < 35.1.0  new   on top"));
  EXPECT_EQ(*reactor::load_file(folder.path() + "/azure/requests.yaml", 1000),
            "# ours\nreleases: []\n");
  std::vector<std::string> written = pin;
  written.emplace_back("--write");
  EXPECT_EQ(run(written).code, 0);
  EXPECT_EQ(*reactor::load_file(folder.path() + "/azure/requests.yaml", 1000),
            "# ours\nreleases:\n- name: \">= 34.5.0 < 35.1.0\"\n  requests:\n  - name: "
            "\"flatcar\"\n    version: \"4593.2.4\"\n");
  EXPECT_THAT(run(pin).out, HasSubstr("same  it is asked for already"));
  EXPECT_EQ(run({"pin", "nobody@1.0.0", "--release", "34.5.0", "--dir", folder.path()}).code, 4);
  EXPECT_EQ(run({"pin", "flatcar", "--release", "34.5.0", "--dir", folder.path()}).code, 1);
}

TEST(ReleaseCommand, JoinsProvidersAndRenamesCharts) {
  const json::object joined =
      object_of(run({"join", "--dir", data, "--target", "35.0", "-o", "json"}));
  EXPECT_EQ(joined.at("target"), "35.0");
  EXPECT_GE(joined.at("providers").as_array().size(), 5u);
  EXPECT_EQ(object_of(run({"retag", "aws", "34.5.0", "--dir", data, "-o", "json"}))
                .at("retag")
                .at(0)
                .at("to"),
            "release-aws:34.5.0");
  EXPECT_EQ(run({"retag", "aws", "34.5.0", "--commit", "main", "--dir", data}).code, 4);
  const outcome tried = run({"bump", "aws", "34.5.0", "--release", "test", "--pick", "cilium@1.5.0",
                             "--prefix", "e2e", "--prerelease", "--dir", data});
  EXPECT_EQ(tried.code, 0) << tried.err;
  EXPECT_THAT(tried.out, testing::StartsWith("next 34.6.0-e2e."));
}

TEST(TrainFacts, ComeFromAClone) {
  reactor::temporary_folder folder;
  const std::string clone = folder.path() + "/clone", out = folder.path() + "/facts.yaml";
  const auto git = [&](const std::string& arguments) {
    const std::string line = "git -C " + clone +
                             " -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false "
                             "-c tag.gpgsign=false " +
                             arguments + " >/dev/null 2>&1";
    return std::system(line.c_str());
  };
  std::filesystem::create_directory(clone);
  if (git("init -q") != 0) GTEST_SKIP() << "no git here";
  for (const char* step :
       {"commit -q --allow-empty -m one", "tag v1.0.0", "commit -q --allow-empty -m two",
        "commit -q --allow-empty -m three", "tag -a v1.1.0 -m annotated", "tag other"})
    ASSERT_EQ(git(step), 0) << step;
  const outcome o = run({"facts", out, "--clone", "Kata=" + clone, "--filter", "v*", "--range",
                         "Kata=v1.0.0..v1.1.0"},
                        "train");
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string text = *reactor::load_file(out, 10'000);
  EXPECT_THAT(text, HasSubstr("source: git " + clone));
  EXPECT_THAT(text, testing::Not(HasSubstr("tag: other")));
  EXPECT_THAT(text, HasSubstr("ahead: \"2\""));
  EXPECT_THAT(text, HasSubstr("behind: \"0\""));
  // What it says is part of the train that it is given with.
  const std::string train =
      folder.write("train.yaml",
                   "train: v1\nprojects:\n- {name: Kata, release: 1.0.0}\npins:\n- {holder: "
                   "cloud-api-adaptor, project: Kata, field: reference, value: 1.1.0}\n");
  EXPECT_THAT(run({"check", train}, "train").out, HasSubstr("distance unknown"));
  EXPECT_THAT(run({"facts", out, "--clone", "Kata=/nowhere"}, "train").err,
              HasSubstr("ask git in /nowhere"));
  EXPECT_EQ(run({"facts", out, "--clone", "Kata"}, "train").code, 1);
  EXPECT_EQ(run({"facts", out, "--range", "Kata=--all..x"}, "train").code, 1);
  EXPECT_EQ(run({"check", train, "--facts", "/nowhere"}, "train").code, 1);
  const outcome known = run({"check", train, "--facts", out}, "train");
  EXPECT_EQ(known.code, 0);
  EXPECT_THAT(known.out, HasSubstr("the train 1.0.0: ahead 2"));
  // Collected again, it says of a tag that somebody moved what it was.
  const auto again = [&] {
    EXPECT_EQ(run({"facts", out, "--clone", "Kata=" + clone, "--filter", "v*"}, "train").code, 0);
    return *reactor::load_file(out, 10'000);
  };
  EXPECT_THAT(again(), testing::Not(HasSubstr("was:")));
  ASSERT_EQ(git("tag -f v1.0.0 HEAD"), 0);
  EXPECT_THAT(again(), HasSubstr("was:"));
  EXPECT_THAT(again(), HasSubstr("was:")) << "until somebody takes the note away";
  const outcome moved = run({"check", train, "--facts", out}, "train");
  EXPECT_EQ(moved.code, 4);
  EXPECT_THAT(moved.out, HasSubstr("tag v1.0.0 is another commit than it was"));
  folder.write("facts.yaml", "- no mapping\n");
  EXPECT_THAT(run({"facts", out, "--clone", "Kata=" + clone}, "train").err,
              HasSubstr("expected a mapping"));
}

TEST(TrainFacts, RememberWhatATagWas) {
  auto facts = policies::trains::read_train(
      "images:\n- {ref: 'kbs:v1', digest: 'sha256:1'}\n- {ref: 'kbs:v2', digest: 'sha256:3', was: "
      "'sha256:2'}\n- {ref: 'kbs:gone'}\ntags:\n- {project: Kata, tag: 1.0.0, commit: abc}\n",
      "facts.yaml");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_THAT(cli::known_by(*facts),
              testing::UnorderedElementsAre(testing::Pair("kbs:v1", "sha256:1"),
                                            testing::Pair("kbs:v2", "sha256:2"),
                                            testing::Pair("Kata 1.0.0", "abc")));
}

TEST(ReleaseCommand, TakesValuesOfTheChartWhereARuleReadsNoRelease) {
  reactor::temporary_folder folder;
  std::filesystem::create_directories(folder.path() + "/capa");
  folder.write("capa/v20.0.0.yaml",
               "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nmetadata:\n  name: "
               "aws-20.0.0\nspec:\n  apps: []\n  components:\n  - {name: cluster-aws, version: "
               "0.70.0}\n  date: '2024-01-01T00:00:00Z'\n  state: active\n");
  const auto image = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"map", "aws", "20.0.0", "--dir", folder.path(), "-o", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const outcome o = run(words);
    return o.code == 0 ? object_of(o).at("image") : json::value(o.code);
  };
  EXPECT_EQ(image({}), 4);
  EXPECT_EQ(image({"--value", "kubernetesVersion=1.24.16"}), "capa-ami-flatcar-stable-v1.24.16-gs");
  EXPECT_EQ(image({"--value", "kubernetesVersion=1.24.16", "--value", "osImageVariant=2"}),
            "capa-ami-flatcar-stable-v1.24.16-2-gs");
  EXPECT_EQ(image({"--value", "kubernetesVersion"}), 2);
}

TEST(TrainFacts, AreACatalogueOfImages) {
  reactor::temporary_folder folder;
  const std::string image = "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs";
  const auto built = [&](const std::string& text) {
    return run(
        {"images", "aws", "--dir", data, "--catalogue", folder.write("built", text), "-o", "json"});
  };
  const auto there = [&](const outcome& o) {
    const json::object answer = object_of(o);
    for (const json::value& one : answer.at("images").as_array())
      if (one.at("image").as_string() == image) return one.at("built").as_bool();
    return false;
  };
  EXPECT_TRUE(there(built(image + "\r\n")));
  EXPECT_TRUE(there(built("images:\n- {ref: 'os/node:" + image + "', digest: 'sha256:1'}\n")));
  EXPECT_FALSE(there(built("images:\n- {ref: 'os/node:" + image + "'}\n")));  // listed and gone
  const outcome other = built("pins:\n- {holder: a}\n");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("built: expected the name of an image on each line"));
}

TEST(TrainCommand, ShowsWhoPinsWhatAndWhatIsElsewhere) {
  reactor::temporary_folder folder;
  const std::string a(40, 'a'), b(40, 'b');
  const std::string file = folder.write(
      "train.yaml",
      "train: v1\nprojects:\n- {name: guest-components, candidate: " + a +
          "}\npins:\n- {holder: Kata, project: guest-components, field: version, value: " + a +
          "}\n- {holder: cloud-api-adaptor, project: guest-components, field: reference, value: " +
          b + "}\nancestry:\n- {project: guest-components, from: " + a + ", to: " + b +
          ", ahead: 5, behind: 0}\n");
  const outcome o = run({"check", file}, "train");
  EXPECT_THAT(o.out, HasSubstr("PINNED BY          guest-components\n"));
  EXPECT_THAT(o.out, HasSubstr("Kata               version aaaaaaaa\n"));
  EXPECT_THAT(o.out, HasSubstr("cloud-api-adaptor  reference bbbbbbbb (ahead 5)\n"));
  const json::object answer = object_of(run({"check", file, "-o", "json"}, "train"));
  // In the order of their names, whatever the document's is.
  EXPECT_EQ(answer.at("pins").at(0).at("holder"), "Kata");
  EXPECT_EQ(answer.at("pins").at(1).at("is"), "ahead 5");
}

TEST(TrainCommand, SaysWhichServerFits) {
  reactor::temporary_folder folder;
  const std::string file = folder.write("trains.yaml",
                                        "train: known\ntrains:\n- {train: v0.17.0, bundle: 3.23.0, "
                                        "client: v0.16.0, server: v0.17.0}\n");
  const outcome o = run({"match", file, "--client", "v0.16.0", "-o", "json"}, "train");
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_EQ(object_of(o).at("matches").at(0).at("server"), "v0.17.0");
  EXPECT_THAT(run({"match", file, "--bundle", "3.23.0"}, "train").out,
              HasSubstr("v0.17.0  released together"));
  const outcome none = run({"match", file, "--client", "v9"}, "train");
  EXPECT_EQ(none.code, 4);
  EXPECT_THAT(none.out, HasSubstr("none of 1 trains has it, the last is v0.17.0"));
  EXPECT_EQ(run({"match", file}, "train").code, 4);
  EXPECT_EQ(run({"match"}, "train").code, 2);
  EXPECT_EQ(run({"match", "--client", "v0.16.0", "--bundle", "3.23.0"}, "train").code, 2);
}

TEST(ReleaseCommand, AsksThePackOfAFolderFirst) {
  reactor::temporary_folder folder;
  folder.write("mine/policy.lua",
               "return { name = 'mine', release = { map = function(q) return { provider = 'aws', "
               "images = { { pool = '', image = q.release.name } } } end } }\n");
  EXPECT_EQ(object_of(run({"map", "aws", "34.5.0", "--dir", data, "--policies", folder.path(), "-o",
                           "json"}))
                .at("image"),
            "aws-34.5.0");
}

TEST(ReleaseCommand, LetsAReleaseGoOutWhenItsSuitesPassed) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v34.6.0/release.yaml", release("34.6.0", "1.34.11"));
  const std::vector<std::string> gate = {"gate",   "azure", "34.5.0",
                                         "34.6.0", "--dir", folder.path()};
  const outcome o = run(gate);
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.out, HasSubstr("coverage.missing  suite/standard"));
  const std::string hash(
      object_of(run({"show", "azure", "34.6.0", "--dir", folder.path(), "-o", "json"}))
          .at("hash")
          .as_string());
  std::string suites;
  for (const char* suite : {"standard", "upgrade", "upgrade-major", "private"})
    suites += std::string("- {suite: ") + suite + ", hash: \"" + hash + "\", result: passed}\n";
  folder.write("suites.yaml", suites);
  EXPECT_EQ(run(gate).code, 0);
}

TEST(ReleaseCommand, HoldsAMajorUntilWhatItWaitsForIsReady) {
  reactor::temporary_folder folder;
  folder.write("azure/v34.5.0/release.yaml", release("34.5.0", "1.34.10"));
  folder.write("azure/v35.0.0/release.yaml", release("35.0.0", "1.35.1"));
  const std::vector<std::string> gate = {"gate",   "azure", "34.5.0",
                                         "35.0.0", "--dir", folder.path()};
  EXPECT_THAT(run(gate).out, HasSubstr("readiness.open: there is no readiness.yaml"));
  folder.write("readiness.yaml", "- {item: cloud-provider-azure 1.35, state: open}\n");
  const outcome open = run(gate);
  EXPECT_THAT(open.out, HasSubstr("cloud-provider-azure 1.35 is not done"));
  EXPECT_NE(open.code, 0);
  folder.write("readiness.yaml", "- {item: cloud-provider-azure 1.35, state: closed}\n");
  EXPECT_THAT(run(gate).out, testing::Not(HasSubstr("readiness.open")));
  folder.write("readiness.yaml", "- {item: x, state: maybe}\n");
  EXPECT_EQ(run(gate).code, 1);
  EXPECT_THAT(run(gate).err, HasSubstr("readiness[1].state: state: expected open or closed"));
}

TEST(ReleaseCommand, ShowsTheWayAndWhatIsKept) {
  const json::object way =
      object_of(run({"path", "aws", "v32.4.0", "34.5.0", "--dir", data, "-o", "json"}));
  EXPECT_EQ(way.at("steps").get_array().size(), 2u);
  EXPECT_EQ(run({"path", "aws", "34.5.0", "32.4.0", "--dir", data}).code, 4);
  reactor::temporary_folder folder;
  folder.write("in-use", "aws-33.1.1\naws-34.5.0\n");
  const outcome kept =
      run({"lifecycle", "aws", "--dir", data, "--in-use", folder.path() + "/in-use"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("aws-33.1.1  active  keep       a cluster has it"));
  EXPECT_THAT(run({"lifecycle", "aws", "--dir", data}).out, HasSubstr("usage.unknown"));
  // A label may have the version alone.
  folder.write("in-use", "33.1.1\n34.5.0\n");
  EXPECT_EQ(run({"lifecycle", "aws", "--dir", data, "--in-use", folder.path() + "/in-use"}).out,
            kept.out);
  // So it may with a v, and the provider may be called by its folder.
  folder.write("in-use", "v33.1.1\n34.5.0\n");
  EXPECT_EQ(run({"lifecycle", "capa", "--dir", data, "--in-use", folder.path() + "/in-use"}).out,
            kept.out);
  folder.write("in-use", "33.1.1\n34.5.0\nprod-eu\n");
  EXPECT_THAT(run({"lifecycle", "aws", "--dir", data, "--in-use", folder.path() + "/in-use"}).out,
              HasSubstr("usage.not-found  release/prod-eu"));
  // Where the source of the file was down there is nothing in it, and nothing is archived.
  folder.write("in-use", "\n");
  const outcome down =
      run({"lifecycle", "aws", "--dir", data, "--in-use", folder.path() + "/in-use"});
  EXPECT_THAT(down.out, HasSubstr("usage.unknown"));
  EXPECT_THAT(down.out, testing::Not(HasSubstr("  archive  ")));
}

TEST(ReleaseCommand, ProposesNoWayOfWhichDiffDeniesAStep) {
  // No Release lies between: the only step is shown, and denied as `diff` denies it.
  const outcome blocked = run({"path", "aws", "32.4.0", "33.1.1", "--dir", data, "-o", "json"});
  EXPECT_EQ(blocked.code, 4) << blocked.out;
  const json::object only = object_of(blocked);
  EXPECT_THAT(std::string(only.at("steps").at(0).at("denied").as_string()),
              HasSubstr("component.downgrade component/flatcar"));
  EXPECT_EQ(run({"diff", "aws", "32.4.0", "33.1.1", "--dir", data}).code, 4);
  for (const auto& [provider, from, to] : {std::array<const char*, 3>{"aws", "31.1.1", "34.5.0"},
                                           {"aws", "32.4.0", "34.5.0"},
                                           {"azure", "32.1.0", "34.5.0"},
                                           {"vsphere", "31.1.1", "33.2.0"},
                                           {"cloud-director", "33.1.1", "34.5.0"}}) {
    const json::object way =
        object_of(run({"path", provider, from, to, "--dir", data, "-o", "json"}));
    ASSERT_FALSE(way.at("steps").as_array().empty()) << provider;
    for (const json::value& step : way.at("steps").as_array()) {
      const auto version = [&](const char* key) {
        return std::string(step.at(key).as_string()).substr(std::string(provider).size() + 1);
      };
      const bool denied = step.as_object().contains("denied");
      EXPECT_EQ(run({"diff", provider, version("from"), version("to"), "--dir", data}).code == 4,
                denied)
          << provider << " " << json::serialize(step);
      EXPECT_EQ(way.at("decision") == "deny", denied);
    }
  }
  // A consent to what denies it makes it a step.
  reactor::temporary_folder folder;
  const std::string releases = folder.path() + "/releases";
  std::filesystem::create_directories(releases);
  std::filesystem::copy(data + "/capa", releases + "/capa");
  const std::string hash =
      std::string(object_of(run({"show", "aws", "33.1.1", "--dir", releases, "-o", "json"}))
                      .at("hash")
                      .as_string());
  std::string waivers;
  for (const char* component : {"flatcar", "os-tooling"})
    waivers += std::string("- {rule: component.downgrade, subject: component/") + component +
               ", release: aws-33.1.1, hash: " + hash + ", reason: tried, by: ana}\n";
  folder.write("releases/waivers.yaml", waivers);
  EXPECT_EQ(run({"path", "aws", "32.4.0", "33.1.1", "--dir", releases}).code, 0);
}

TEST(ReleaseCommand, SaysNothingOfAFolderOfWhichAPartCannotBeRead) {
  reactor::temporary_folder folder;
  for (const char* version : {"34.4.1", "34.5.0"}) {
    std::filesystem::create_directories(folder.path() + "/releases/capa");
    std::filesystem::copy(data + "/capa/v" + version + ".yaml",
                          folder.path() + "/releases/capa/v" + version + ".yaml");
  }
  folder.write("built", "x\n");
  const std::string releases = folder.path() + "/releases";
  const std::vector<std::vector<std::string>> verbs = {
      {"diff", "aws", "34.4.1", "34.5.0"},
      {"gate", "aws", "34.4.1", "34.5.0"},
      {"bump", "aws", "34.5.0"},
      {"path", "aws", "34.4.1", "34.5.0"},
      {"lifecycle", "aws"},
      {"lifecycle", "capa"},
      {"notes", "aws", "34.4.1", "34.5.0"},
      {"images", "aws"},
      {"pin", "cilium@1.4.3", "--release", "34.5.0"},
      {"join"},
      {"notes", "aws", "34.5.0", "34.5.0"}};
  const auto each = [&](const std::string& told) {
    for (std::vector<std::string> words : verbs) {
      words.insert(words.end(), {"--dir", releases});
      const outcome o = run(words);
      EXPECT_EQ(o.code == 1, !told.empty()) << words[0] << o.err;
      EXPECT_THAT(o.err, HasSubstr(told)) << words[0];
    }
  };
  each("");
  // `check` has a row for it, by whichever name the provider is called.
  const auto checked = [&] { return run({"check", releases, "aws"}); };
  EXPECT_NE(checked().code, 4);
  folder.write("releases/capa/v34.6.0.yaml", "spec: [\n");
  each("read capa/v34.6.0.yaml");
  EXPECT_EQ(checked().code, 4);
  EXPECT_THAT(checked().out, HasSubstr("capa/v34.6.0.yaml"));
  EXPECT_THAT(run({"check", releases, "aws", "34.6.0"}).err, HasSubstr("read capa/v34.6.0.yaml"));
  // One that can be read is named and shown all the same.
  EXPECT_EQ(run({"map", "aws", "34.5.0", "--dir", releases}).code, 0);
  std::filesystem::remove(releases + "/capa/v34.6.0.yaml");
  folder.write("releases/capa/requests.yaml", "releases: {\n");
  each("read capa/requests.yaml");
  EXPECT_THAT(run({"check", releases, "aws", "34.5.0"}).err, HasSubstr("read capa/requests.yaml"));
  std::filesystem::remove(releases + "/capa/requests.yaml");
  // A Release that is not stored as one is not left out in silence.
  std::filesystem::copy(data + "/capa/v34.3.0.yaml", releases + "/capa/34.6.0.yaml");
  each("a Release is stored as v34.6.0");
  std::filesystem::remove(releases + "/capa/34.6.0.yaml");
  // A pipe of that name is no Release, and nobody waits for its writer.
  ASSERT_EQ(::mkfifo((releases + "/capa/v34.7.0.yaml").c_str(), 0600), 0);
  EXPECT_THAT(checked().out, HasSubstr("it is not a regular file"));
  std::filesystem::remove(releases + "/capa/v34.7.0.yaml");
  // Of another provider's folder nothing is asked here.
  folder.write("releases/azure/v34.6.0.yaml", "spec: [\n");
  std::filesystem::copy(data + "/azure/v34.5.0.yaml", releases + "/azure/v34.5.0.yaml");
  EXPECT_EQ(run({"path", "aws", "34.4.1", "34.5.0", "--dir", releases}).code, 0);
}

TEST(ReleaseCommand, ProposesTheNextRelease) {
  reactor::temporary_folder folder;
  folder.write("available.yaml", "flatcar: [4593.2.4, 4593.2.6]\nkubernetes: [1.34.12, 1.35.1]\n");
  const std::vector<std::string> bump = {
      "bump", "aws", "34.5.0", "--dir", data, "--available", folder.path() + "/available.yaml",
      "-o",   "json"};
  const json::object answer = object_of(run(bump));
  EXPECT_EQ(answer.at("version"), "34.6.0");
  EXPECT_EQ(answer.at("items").get_array().size(), 2u);
  EXPECT_THAT(std::string(answer.at("document").as_string()), HasSubstr("name: aws-34.6.0"));
  EXPECT_EQ(
      run({"bump", "aws", "34.5.0", "--dir", data, "--stage", "freeze", "--action", "refresh"})
          .code,
      4);
  const outcome picked = run({"bump", "aws", "34.5.0", "--dir", data, "--release", "patch",
                              "--pick", "cilium@1.4.4@@kyverno-crds"});
  EXPECT_EQ(picked.code, 0) << picked.out << picked.err;
  EXPECT_THAT(picked.out, HasSubstr("cilium  1.4.3 -> 1.4.4  asked for"));
  EXPECT_EQ(run({"bump", "aws", "34.5.0", "--dir", data, "--pick", "cilium"}).code, 1);
  folder.write("available.yaml", "flatcar: [1.30]\n");
  EXPECT_THAT(run(bump).err, HasSubstr("flatcar[1]: expected a version of three numbers"));
}

TEST(ReleaseCommand, ProposesIntoAFileThatAShellHasMade) {
  reactor::temporary_folder folder;
  const std::string releases = folder.path() + "/releases";
  std::filesystem::create_directories(releases + "/capa/v34.6.0");
  std::filesystem::copy(data + "/capa/v34.5.0.yaml", releases + "/capa/v34.5.0.yaml");
  folder.write("available.yaml", "kubernetes: [1.34.12]\n");
  const std::vector<std::string> bump = {
      "bump", "aws", "34.5.0", "--dir", releases, "--available", folder.path() + "/available.yaml",
      "-o",   "json"};
  for (const char* made : {"releases/capa/v34.6.0/release.yaml", "releases/capa/v34.7.0.yaml"}) {
    folder.write(made, "");
    const outcome o = run(bump);
    EXPECT_EQ(o.code, 0) << made << o.err;
    EXPECT_THAT(o.out, HasSubstr("aws-34.6.0"));
    EXPECT_NE(run({"check", releases}).code, 0) << "an empty file is no Release";
  }
  folder.write("releases/capa/v34.7.0.yaml", "\n");
  EXPECT_EQ(run(bump).code, 1) << "one that says nothing is read as before";
}

TEST(ReleaseCommand, ListsImagesThatNobodyBuilt) {
  reactor::temporary_folder folder;
  folder.write("built", "flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs\n");
  const std::vector<std::string> images = {
      "images", "aws", "--dir", data, "--catalogue", folder.path() + "/built", "--missing"};
  const outcome o = run(images);
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_THAT(o.out, testing::Not(HasSubstr("aws-34.5.0")));
  EXPECT_THAT(o.out, HasSubstr("aws-34.4.1"));
  EXPECT_EQ(run({"images", "aws", "--dir", data}).code, 0);
  EXPECT_EQ(run({"images", "aws", "--dir", data, "--missing"}).code, 1);
}

TEST(ReleaseCommand, ListsEachImageOnceAndThoseThatTheNextReleasesWouldNeed) {
  reactor::temporary_folder folder;
  folder.write("built", "another\n");
  folder.write("available.yaml", "kubernetes: [1.34.12, 1.35.1]\nos-tooling: [1.34.0]\n");
  std::vector<std::string> images = {
      "images", "--dir", data, "--catalogue", folder.path() + "/built", "--missing", "-o", "json"};
  const auto listed = [](const json::object& answer) {
    std::map<std::string, std::string> all;
    for (const json::value& one : answer.at("images").get_array()) {
      std::string names;
      for (const json::value& name : one.at("releases").get_array())
        names += std::string(name.as_string()) + " ";
      const std::string image(one.at("image").as_string());
      EXPECT_TRUE(image.empty() || all.emplace(image, names).second) << image << " is there twice";
    }
    return all;
  };
  const auto now = listed(object_of(run(images)));
  const auto& two = now.at("flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs");
  EXPECT_THAT(two, HasSubstr("aws-34.5.0"));
  EXPECT_THAT(two, HasSubstr("azure-34.5.0"));
  for (const auto& [image, names] : now) EXPECT_THAT(names, testing::Not(HasSubstr("could be")));
  images.insert(images.end(), {"--available", folder.path() + "/available.yaml"});
  const auto later = listed(object_of(run(images)));
  EXPECT_GT(later.size(), now.size());
  EXPECT_THAT(later.at("flatcar-stable-4593.2.4-kube-1.34.12-tooling-1.34.0-gs"),
              HasSubstr("aws-34.6.0 (could be)"));
}

TEST(ReleaseCommand, NamesAReleaseWithoutAnImageAsMissing) {
  reactor::temporary_folder folder;
  folder.write("built", "another\n");
  folder.write(
      "releases/capa/v34.6.0/release.yaml",
      "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\n"
      "metadata: {name: aws-34.6.0}\nspec:\n  date: \"2026-01-01T00:00:00Z\"\n"
      "  state: wip\n  apps: []\n  components:\n  - {name: cluster-aws, version: 7.7.3}\n"
      "  - {name: kubernetes, version: 1.34.10}\n  - {name: flatcar, version: 4593.2.4}\n");
  // Templates are found by their tags, and are built as well.
  folder.write(
      "releases/proxmox/v34.6.0/release.yaml",
      "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\n"
      "metadata: {name: proxmox-34.6.0}\nspec:\n  date: \"2026-01-01T00:00:00Z\"\n"
      "  state: wip\n  apps: []\n  components:\n"
      "  - {name: cluster-proxmox, version: 1.0.0}\n"
      "  - {name: os-tooling, version: 1.33.1}\n"
      "  - {name: kubernetes, version: 1.34.10}\n  - {name: flatcar, version: 4593.2.4}\n");
  const std::vector<std::string> images = {
      "images",   "--dir", folder.path() + "/releases", "--catalogue", folder.path() + "/built",
      "--missing"};
  const outcome o = run(images);
  EXPECT_EQ(o.code, 4);
  const std::string tags =
      "release-channel_stable,flatcar_4593.2.4,kubernetes_1.34.10,os-tooling_1.33.1";
  EXPECT_THAT(o.out, HasSubstr(tags.substr(0, 40)));
  folder.write("built", tags + "\n");
  EXPECT_THAT(run(images).out, testing::Not(HasSubstr("proxmox")));
  EXPECT_THAT(o.out, HasSubstr("none: component.missing"));
  EXPECT_THAT(o.out, HasSubstr("aws-34.6.0"));
}

TEST(ReleaseCommand, WritesADraftWhereCheckFindsIt) {
  reactor::temporary_folder folder;
  std::filesystem::create_directories(folder.path() + "/releases/capa");
  for (const char* version : {"34.4.1", "34.5.0"})
    std::filesystem::copy(data + "/capa/v" + version + ".yaml",
                          folder.path() + "/releases/capa/v" + version + ".yaml");
  folder.write("releases/capa/kustomization.yaml",
               "commonLabels: {a: b}\nresources:\n  - v34.4.1.yaml\n  - v34.5.0.yaml\nx: y\n");
  folder.write("available.yaml", "kubernetes: [v1.34.12]\n");
  const std::string releases = folder.path() + "/releases";
  const std::vector<std::string> bump = {"bump",
                                         "aws",
                                         "34.5.0",
                                         "--dir",
                                         releases,
                                         "--available",
                                         folder.path() + "/available.yaml",
                                         "--write",
                                         releases};
  const outcome o = run(bump);
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const std::string file = releases + "/capa/v34.6.0/release.yaml";
  EXPECT_THAT(o.out, HasSubstr(file));
  const auto written = reactor::load_file(file, 1 << 20);
  ASSERT_TRUE(written);
  EXPECT_THAT(*written, HasSubstr("version: 1.34.12"));
  EXPECT_EQ(*reactor::load_file(releases + "/capa/kustomization.yaml", 1 << 20),
            "commonLabels: {a: b}\nresources:\n  - v34.4.1.yaml\n  - v34.5.0.yaml\n  - v34.6.0\nx: "
            "y\n");
  const outcome checked = run({"check", releases, "aws", "34.6.0"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const outcome again = run(bump);
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("it is there already"));
  EXPECT_EQ(*reactor::load_file(file, 1 << 20), *written);
  EXPECT_EQ(*reactor::load_file(releases + "/capa/v34.6.0/kustomization.yaml", 1 << 20),
            "resources:\n- release.yaml\n");
  // A list that cannot be edited: nothing is written.
  std::filesystem::remove_all(releases + "/capa/v34.6.0");
  folder.write("releases/capa/kustomization.yaml", "resources: [v34.4.1.yaml, v34.5.0.yaml]\n");
  const outcome refused = run(bump);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("its resources stand on one line"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ReleaseCommand, ShowsAReleaseByTheNameOfItsObject) {
  const json::object one = object_of(run({"show", "aws-34.5.0", "--dir", data, "-o", "json"}));
  EXPECT_EQ(one.at("hash"),
            object_of(run({"show", "aws", "34.5.0", "--dir", data, "-o", "json"})).at("hash"));
  const outcome none = run({"show", "aws-99.0.0", "--dir", data});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("find Release aws-99.0.0"));
}

TEST(ReleaseCommand, TellsTheProvidersOfOldReleasesApart) {
  const outcome o = run({"check", data, "azure", "--archived"});
  EXPECT_THAT(o.out, HasSubstr("azure/v11.0.0"));
  EXPECT_THAT(o.out, testing::Not(HasSubstr("\nv11.0.0")));
}

TEST(TrainCommand, IsExcusedByAWaiverBesideIt) {
  reactor::temporary_folder folder;
  std::string pins = "pins:\n";
  for (const char* project : {"guest-components", "Trustee", "nydus-snapshotter"})
    pins += std::string("- {holder: Kata, project: ") + project + ", field: version, value: v1}\n";
  const std::string file = folder.write(
      "train.yaml",
      "train: v1\nphase: released\nprojects: [{name: Kata, candidate: latest-build}]\n" + pins);
  const outcome before = run({"check", file}, "train");
  EXPECT_EQ(before.code, 3) << before.out << before.err;
  EXPECT_THAT(before.out, HasSubstr("train.bundle-kind  project/Kata"));
  const std::string hash(
      object_of(run({"check", file, "-o", "json"}, "train")).at("hash").as_string());
  EXPECT_EQ(object_of(run({"plan", file, "-o", "json"}, "train")).at("hash").as_string(), hash);
  folder.write("waivers.yaml",
               "- {rule: train.bundle-kind, subject: project/Kata, train: v1, hash: \"" + hash +
                   "\", reason: agreed, by: me}\n");
  const outcome excused = run({"check", file}, "train");
  EXPECT_EQ(excused.code, 0) << excused.out << excused.err;
  EXPECT_THAT(excused.out, HasSubstr("waived by me: agreed"));
  folder.write(
      "train.yaml",
      "train: v1\nphase: released\nprojects: [{name: Kata, candidate: another-build}]\n" + pins);
  const outcome other = run({"check", file}, "train");
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.out, HasSubstr("waiver.void"));
  // Consent that names nothing is told, and changes nothing.
  folder.write(
      "waivers.yaml",
      "- {rule: train.bundle-kinds, subject: project/Kata, train: v1, hash: a, reason: b}\n"
      "- {rule: train.bundle-kind, subject: project/Katta, train: v1, hash: a, reason: b}\n"
      "- {rule: train.bundle-kind, subject: project/Kata, train: v2, hash: a, reason: b}\n");
  for (const char* command : {"check", "plan"}) {
    const outcome lost = run({command, file}, "train");
    EXPECT_EQ(lost.code, 3);
    EXPECT_THAT(lost.out, HasSubstr("is it 'train.bundle-kind'?"));
    EXPECT_THAT(lost.out, HasSubstr("which is not found of this"));
    EXPECT_THAT(lost.out, HasSubstr("consent to other trains counts for nothing here: v2"));
  }
  folder.write("waivers.yaml", "- {rule: train.bundle-kind, train: v1}\n");
  const outcome bad = run({"check", file}, "train");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("waivers.yaml: waivers[1].subject: subject is missing"));
}

TEST(TrainCommand, ChecksPlansAndPromotes) {
  reactor::temporary_folder folder;
  const std::string commit(40, 'a');
  std::string text = "train: v1.0.0\nprojects:\n- {name: Trustee, candidate: " + commit +
                     "}\n- {name: Kata, release: 3.23.0}\npins:\n- {holder: Kata, project: "
                     "Trustee, field: version, value: " +
                     commit + "}\nimages:\n";
  for (const char* image : {"kbs:", "kbs-grpc-as:", "kbs-client:sample_only-",
                            "rvps:", "coco-as-grpc:", "coco-as-restful:"}) {
    for (const char* arch : {"x86_64", "s390x"})
      text += std::string("- {ref: \"staged-images/") + image + commit + "-" + arch +
              "\", digest: sha256:1}\n";
  }
  const std::string last =
      "- {ref: \"staged-images/kbs-ita-as:" + commit + "-x86_64\", digest: sha256:1}\n";
  const std::string file = folder.path() + "/train.yaml";
  folder.write("train.yaml", text + last);
  const auto tested = [&] {
    const json::object answer = object_of(run({"check", file, "-o", "json"}, "train"));
    return "suites:\n- {id: all, result: passed, contentHash: '" +
           std::string(answer.at("hash").as_string()) + "'}\n";
  };
  const std::vector<std::string> promote = {"promote", file,      "--project", "Trustee",
                                            "--tag",   "v0.17.0", "-o",        "json"};
  // A second test that is due is no success.
  outcome o = run(promote, "train");
  EXPECT_EQ(o.code, 3) << o.err << o.out;
  EXPECT_EQ(object_of(o).at("retest"), "required");
  folder.write("train.yaml", text + last + tested());
  o = run(promote, "train");
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_EQ(object_of(o).at("retest"), "skipped");
  EXPECT_EQ(object_of(o).at("retag").get_array().size(), 13u);
  EXPECT_FALSE(object_of(o).contains("named"));
  EXPECT_EQ(run({"promote", file, "--project", "Trustee", "--tag", "v1", "--write"}, "train").code,
            2);
  folder.write("train.yaml", text);
  o = run(promote, "train");
  EXPECT_EQ(o.code, 4);
  EXPECT_EQ(object_of(o).at("retest"), "required");
  EXPECT_TRUE(object_of(o).at("retag").get_array().empty());
  const json::object plan = object_of(run({"plan", file, "-o", "json"}, "train"));
  for (const char* field : {"ready", "blocked", "done", "findings"})
    EXPECT_TRUE(plan.contains(field)) << field;
  folder.write("train.yaml",
               text +
                   "now: 2026-11-22\nsteps:\n- {id: kata-pick, state: done, evidence: 3.23.0, "
                   "at: 2026-11-10}\n");
  const json::object aged = object_of(run({"plan", file, "-o", "json"}, "train"));
  EXPECT_EQ(aged.at("steps").at(0).at("ageDays"), 12);
  EXPECT_EQ(aged.at("steps").at(0).at("since"), "2026-11-10");
  EXPECT_THAT(run({"plan", file}, "train").out, HasSubstr("12d"));
  EXPECT_THAT(run({"check", file}, "train").out, HasSubstr("decision: allow"));
  EXPECT_EQ(run({"check", "/nowhere"}, "train").code, 1);
  EXPECT_EQ(run({"check"}, "train").code, 2);
}

}  // namespace
}  // namespace cli
