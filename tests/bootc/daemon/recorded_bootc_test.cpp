#include "bootc/daemon/host_status.hpp"
#include "bootc/daemon/stage_progress.hpp"
#include "reactor/system/files.hpp"
#include "tests/bootc/daemon/machine.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <regex>
#include <sstream>

namespace bootc {
namespace {

namespace json = boost::json;
using testing::machine;

const std::string repository = "10.0.2.2:5000/host";
const std::string third =
    repository + "@sha256:ac0fdeeb99da5377e0c167bae697636248bb7b36496415a1a9d08f2d7108fd8c";

std::string recorded(const std::string& name) {
  auto text = reactor::load_file(WINDLASS_SOURCE_DIR "/tests/data/bootc-1.16.9/" + name, 1u << 20);
  return text ? *text : std::string();
}

/// Without what depends on the image and on the time, and without what bootc tells of its store.
std::string normal(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("Pruned images")) continue;
    if (line.starts_with("  Version: ")) line = "  Version: N";
    line = std::regex_replace(line, std::regex("sha256:[0-9a-f]{64}"), "DIGEST");
    if (!line.starts_with("{") && !line.starts_with("error: "))
      line = std::regex_replace(line, std::regex("[0-9]+"), "N");
    out += line + "\n";
  }
  return out;
}

/// Keys and types; of the values those that the daemon decides by.
json::value shape(const json::value& v, const std::string& key = {}) {
  static const std::set<std::string> kept{"apiVersion", "kind",         "bootOrder",
                                          "transport",  "downloadOnly", "rollbackQueued",
                                          "readOnly",   "type",         "store"};
  if (v.is_object()) {
    json::object out;
    for (const auto& [name, value] : v.get_object()) out[name] = shape(value, name);
    return out;
  }
  if (v.is_null() || kept.contains(key)) return v;
  // Whether a newer image was seen and which version an image has say nothing of the deployments.
  return json::value(std::string(to_string(v.kind())));
}

json::value status_shape(const std::string& text) {
  json::error_code failed;
  json::value v = json::parse(text, failed);
  EXPECT_FALSE(failed) << text;
  if (failed) return v;
  for (const char* slot : {"booted", "staged", "rollback"})
    if (json::object* entry = v.at("status").at(slot).if_object())
      (*entry)["cachedUpdate"] = nullptr;
  return shape(v);
}

struct run_result {
  int code = -1;
  std::string out, err;
};

struct real_host : machine {
  real_host() {
    put("booted", repository + ":latest");
    put("soft_reboot_capable", "");
    put("progress", "");
    put("stage_seconds", "0");
  }
  run_result run(const std::string& command) {
    const std::string line = "export FAKE_HOST=" + folder.path() + "; { " + command + "\n} >" +
                             folder.path() + "/out 2>" + folder.path() + "/err";
    const int ended = std::system(line.c_str());
    run_result r;
    r.code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    r.out = whole("out");
    r.err = whole("err");
    return r;
  }
  std::string whole(const std::string& name) {
    auto text = reactor::load_file(folder / name, 1u << 20);
    return text ? *text : std::string();
  }
  /// The recorded command, answered as recorded.
  void answers(const std::string& name) {
    SCOPED_TRACE(name);
    const std::string meta = recorded(name + ".meta");
    ASSERT_TRUE(meta.starts_with("$ ")) << "no transcript";
    const run_result r = run(meta.substr(2, meta.find('\n') - 2));
    EXPECT_EQ("rc=" + std::to_string(r.code), meta.substr(meta.find("rc="), 4));
    const std::string out = recorded(name + ".out");
    if (out.starts_with("{\"apiVersion")) {
      EXPECT_EQ(json::serialize(status_shape(r.out)), json::serialize(status_shape(out)));
    } else {
      EXPECT_EQ(normal(r.out), normal(out));
    }
    EXPECT_EQ(normal(r.err), normal(recorded(name + ".err")));
  }
};

TEST(RecordedBootc, ALockedImageAndItsUnlocking) {
  real_host h;
  h.answers("10-status-booted");
  h.answers("14-upgrade-none");
  h.put("staged", repository + ":latest");
  h.put("locked", "");
  h.answers("18-status-download-only");
  h.answers("19-from-downloaded");
  h.answers("20-status-staged");
}

TEST(RecordedBootc, WhatCannotBeStaged) {
  real_host h;
  h.put("unpullable", ":nosuch\n@sha256:0000");
  h.put("unreachable", ":5999/");
  h.answers("30-switch-missing-tag");
  h.answers("31-switch-missing-digest");
  h.answers("32-switch-registry-down");
  h.answers("33-from-downloaded-none");
  h.answers("62-progress-fd-2");
}

TEST(RecordedBootc, ARollbackDropsWhatIsStagedAndALaterStageBootsAllTheSame) {
  real_host h;
  h.put("rollback", repository + ":latest");
  h.answers("34-switch-digest");
  h.answers("36-rollback-while-staged");
  h.answers("37-status-after");
  h.answers("38-switch-digest-again");
  h.answers("39-status");
  h.power_on();
  h.answers("41-status-v3");
  EXPECT_EQ(h.get("booted"), third);
  h.answers("42-rollback");
  h.answers("43-status-rollback-queued");
  h.power_on();
  h.answers("45-status-rolled-back");
  EXPECT_EQ(h.get("booted"), repository + ":latest");
}

TEST(RecordedBootc, AnImageThatDidNotBootStaysTheFirstInTheBootOrder) {
  real_host h;
  const std::string broken =
      repository + "@sha256:3f0cf08288a8f01c4e524637a26644aac855a1cb598b64179f499c2a8e481eed";
  h.put("unbootable", broken);
  h.put("staged", broken);
  h.put("fetched", broken);
  h.power_on();
  h.answers("52-status-fell-back");
  h.answers("53-switch-booted-while-queued");
  h.answers("55-rollback-takes-back");
  h.answers("56-status-kept");
  h.answers("57-switch-failed-again");
}

TEST(RecordedBootc, AStageWithProgressTheLockAndTheSoftReboot) {
  real_host h;
  std::string lines, line;
  std::istringstream in(recorded("71-switch-progress.out"));
  while (std::getline(in, line))
    if (line.starts_with("{")) lines += line + "\n";
  h.put("progress", lines);
  h.put("fetched", third);
  const std::string progress = h.folder / "heard";
  const run_result r = h.run("bootc switch --progress-fd 3 " + third + " 3>" + progress +
                             "; tail -n +1 " + progress);
  EXPECT_EQ(normal(r.out), normal(recorded("71-switch-progress.out")));
  EXPECT_EQ(normal(r.err), normal(recorded("71-switch-progress.err")));
  h.answers("74-lock");
  const run_result apply = h.run(
      "bootc upgrade --from-downloaded --apply --soft-reboot=auto & p=$!; "
      "while [ ! -e $FAKE_HOST/reboots ]; do sleep 0.01; done; kill $p");
  EXPECT_EQ(normal(apply.out), normal(recorded("77-apply-soft.out")));
  h.power_on();
  EXPECT_EQ(h.get("booted"), third);
  EXPECT_EQ(h.get("soft_reboots"), "1");
}

TEST(RecordedBootc, TheDaemonReadsEachRecordedStatusAndStep) {
  for (const char* name :
       {"10-status-booted", "18-status-download-only", "20-status-staged", "37-status-after",
        "39-status", "41-status-v3", "43-status-rollback-queued", "45-status-rolled-back",
        "52-status-fell-back", "56-status-kept"}) {
    auto s = parse_host_status(recorded(std::string(name) + ".out"));
    ASSERT_TRUE(s) << name << ": " << s.error().message();
    EXPECT_TRUE(s->booted && s->booted->image && s->booted->soft_reboot_capable) << name;
  }
  auto locked = parse_host_status(recorded("18-status-download-only.out"));
  EXPECT_TRUE(locked->staged->download_only);
  auto queued = parse_host_status(recorded("37-status-after.out"));
  EXPECT_TRUE(queued->rollback_queued && !queued->staged);
  auto fell_back = parse_host_status(recorded("52-status-fell-back.out"));
  EXPECT_TRUE(fell_back->rollback_queued && !fell_back->staged);
  auto both = parse_host_status(recorded("39-status.out"));
  EXPECT_TRUE(both->rollback_queued && both->staged);
  std::vector<std::string> words;
  std::istringstream in(recorded("71-switch-progress.out"));
  for (std::string line; std::getline(in, line);)
    if (auto w = progress_words(line); !w.empty()) words.push_back(std::move(w));
  EXPECT_THAT(words, ::testing::ElementsAre("staging: step 0 of 3", "staging: step 1 of 3",
                                            "staging: step 1 of 3", "staging: step 2 of 3",
                                            "staging: step 3 of 3"));
}

TEST(RecordedBootc, WhatItDoesNotHaveIsRefused) {
  real_host h;
  for (const char* wrong :
       {"bootc", "bootc stage x", "bootc --json status", "bootc status --yaml", "bootc status now",
        "bootc switch", "bootc switch --download-only x", "bootc switch --from-downloaded",
        "bootc switch x y", "bootc switch --soft-reboot=maybe x", "bootc switch --force x",
        "bootc upgrade x", "bootc upgrade --download-only --apply",
        "bootc upgrade --download-only --from-downloaded", "bootc rollback now"})
    EXPECT_EQ(h.run(wrong).code, 2) << wrong;
  EXPECT_EQ(h.get("reboots"), "");
  EXPECT_EQ(h.run("bootc rollback").code, 1) << "there is none";
}

}  // namespace
}  // namespace bootc
