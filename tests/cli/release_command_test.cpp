#include "cli/commands.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

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
  std::string later = release("34.5.1", "1.34.11");
  later.replace(later.find("2026-07"), 7, "2027-07");
  folder.write("azure/v34.5.1/release.yaml", later);
  EXPECT_EQ(run(step).code, 0);
  folder.write("azure/v34.5.1/release.yaml", release("34.5.1", "1.34.12"));
  const outcome o = run(step);
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.out, HasSubstr("waiver.void"));
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
  EXPECT_EQ(answer.at("releases").get_array().size(), 3u);
  EXPECT_EQ(run({"check", "azure", "34.6.0", "--dir", folder.path()}).code, 0);
}

TEST(ReleaseCommand, ChecksEveryRealReleaseThatIsOffered) {
  const outcome o = run({"check", "--dir", data});
  EXPECT_THAT(o.out, HasSubstr("aws-34.5.0"));
  EXPECT_TRUE(o.code == 0 || o.code == 3 || o.code == 4) << o.err;
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
                              "--pick", "cilium@1.4.4@@coredns"});
  EXPECT_EQ(picked.code, 0) << picked.err;
  EXPECT_THAT(picked.out, HasSubstr("cilium  1.4.3 -> 1.4.4  asked for"));
  EXPECT_EQ(run({"bump", "aws", "34.5.0", "--dir", data, "--pick", "cilium"}).code, 1);
  folder.write("available.yaml", "flatcar: [1.30]\n");
  EXPECT_THAT(run(bump).err, HasSubstr("flatcar[1]: expected a version as a text"));
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

TEST(TrainCommand, ChecksPlansAndPromotes) {
  reactor::temporary_folder folder;
  const std::string commit(40, 'a');
  std::string text = "train: v1.0.0\nprojects:\n- {name: Trustee, candidate: " + commit +
                     "}\nsuites:\n- {id: all, result: passed}\nimages:\n";
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
  const std::vector<std::string> promote = {"promote", file,      "--project", "Trustee",
                                            "--tag",   "v0.17.0", "-o",        "json"};
  outcome o = run(promote, "train");
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_EQ(object_of(o).at("retest"), "skipped");
  EXPECT_EQ(object_of(o).at("retag").get_array().size(), 13u);
  folder.write("train.yaml", text);
  o = run(promote, "train");
  EXPECT_EQ(o.code, 4);
  EXPECT_EQ(object_of(o).at("retest"), "required");
  EXPECT_TRUE(object_of(o).at("retag").get_array().empty());
  const json::object plan = object_of(run({"plan", file, "-o", "json"}, "train"));
  for (const char* field : {"ready", "blocked", "done", "findings"})
    EXPECT_TRUE(plan.contains(field)) << field;
  EXPECT_THAT(run({"check", file}, "train").out, HasSubstr("decision: allow"));
  EXPECT_EQ(run({"check", "/nowhere"}, "train").code, 1);
  EXPECT_EQ(run({"check"}, "train").code, 2);
}

}  // namespace
