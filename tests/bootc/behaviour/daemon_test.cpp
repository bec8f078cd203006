// Longer than most files: one scenario per behaviour of a node's daemon against an API server, each
// readable alone.
#include "bootc/daemon/node_daemon.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace bootc::behaviour {
namespace {

using testing::digest_of;
using testing::image_of;

std::string entry(char image) {
  if (image == 0) return "null";
  return R"({"image":{"image":{"image":")" + image_of(image) +
         R"(","transport":"registry"},"imageDigest":")" + digest_of(image) +
         R"(","architecture":"amd64","version":"1)" + image +
         R"(","timestamp":"2026-01-02T03:04:05.678Z"},"incompatible":false,"pinned":false,"softRebootCapable":true})";
}

std::string status_of(char booted, char staged = 0, char rollback = 0) {
  return R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","status":{"booted":)" +
         entry(booted) + R"(,"staged":)" + entry(staged) + R"(,"rollback":)" + entry(rollback) +
         R"(,"type":"bootcHost"}})";
}

/// A host that says what the test wrote down and remembers what it was told.
class scripted_host final : public host {
public:
  explicit scripted_host(reactor::loop& l) : loop_(l), changed_(l), off_(l) {}

  std::string shown;           // bootc status
  std::string status_failure;  // or why there is none
  std::string stage_failure;
  reactor::nanoseconds stage_time = 1s;
  std::vector<std::string> commands;  // "stage quay.io/…"
  char booted = 'a';

  std::string inspect_failure;
  std::vector<std::string> uncoordinated;
  std::vector<std::pair<std::string, std::string>> unread;
  std::string progress_line;  // what a stage says of its progress, where the host offers it
  std::string begun;          // a stage that an earlier daemon began
  bool left = false;          // to itself, with what it is doing

  std::vector<std::string> shown_to_registries;  // "-" = taken away
  awaitable<reactor::result<void>> show_registries(std::optional<reactor::secret> config) override {
    shown_to_registries.push_back(config ? std::string(config->reveal()) : "-");
    co_return reactor::result<void>();
  }
  awaitable<std::string> progress() override { co_return progress_line; }
  void leave() override { left = true; }
  awaitable<reactor::result<host_traits>> inspect() override {
    if (!inspect_failure.empty())
      co_return reactor::make_fault(reactor::errc::refused, "", inspect_failure);
    host_traits t;
    t.staging = begun;
    t.uncoordinated = uncoordinated;
    t.unread = unread;
    t.progress = !progress_line.empty();
    t.boot.id = "boot-1";
    co_return t;
  }
  std::size_t looks = 0;  // bootc status so far
  awaitable<reactor::result<std::string>> status() override {
    ++looks;
    if (!begun.empty() && commands.empty()) {  // as the sysroot lock makes it
      (void)co_await off_.wait();
    }
    if (!status_failure.empty())
      co_return reactor::make_fault(reactor::errc::refused, "", status_failure);
    co_return shown;
  }
  awaitable<reactor::result<void>> run(host_command command) override {
    const bool stage = command.action == host_action::stage;
    commands.push_back((command.adopted ? "await " : stage ? "stage " : "reboot ") + command.image);
    if (!stage) (void)co_await off_.wait();
    co_await loop_.sleep_for(stage_time);
    if (!stage_failure.empty())
      co_return reactor::make_fault(reactor::errc::refused, "", stage_failure);
    shown = status_of(booted, command.image == image_of('b') ? 'b' : 'c');
    co_return reactor::result<void>();
  }
  awaitable<void> changed() override { (void)co_await changed_.wait(); }
  void change() { changed_.wake_all(); }

private:
  reactor::loop& loop_;
  reactor::waiters changed_, off_;
};

/// Node w1 on image a with its daemon; the object asks for `desired`.
struct daemon_stage {
  daemon_stage(stage& on)
      : s(on),
        machine(on.loop()),
        daemon(on.loop(), on.api(), machine, {on.named("w1")},
               reactor::logger([&on] { return on.loop().wall(); }, log)) {
    machine.shown = status_of('a');
  }

  awaitable<void> object(char desired, std::string state = "Staged") {
    json::object body =
        json::parse(
            R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNode","metadata":{"name":")" +
            s.named("w1") + R"("},"spec":{"desiredImage":")" + image_of(desired) +
            R"(","desiredImageState":")" + state + R"("}})")
            .as_object();
    auto made = co_await s.api().create(bootc_nodes(), std::string(), std::move(body));
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
  }
  awaitable<void> desire(char desired, std::string state = "Staged") {
    json::object patch = json::parse(R"({"spec":{"desiredImage":")" + image_of(desired) +
                                     R"(","desiredImageState":")" + state + R"("}})")
                             .as_object();
    k8s::object_key key{"", s.named("w1")};
    auto done = co_await s.api().merge_patch(bootc_nodes(), std::move(key), std::move(patch));
    EXPECT_TRUE(done);
  }
  /// Until Idle's reason and Degraded's message are these.
  awaitable<void> until(std::string idle, std::string degraded = {}) {
    std::string what = idle + " " + degraded;
    {
      std::function<bool(const bootc_node&)> holds = [idle, degraded](const bootc_node& b) {
        const auto* i = find_condition(b.status.conditions, "Idle");
        const auto* d = find_condition(b.status.conditions, "Degraded");
        return i && d && i->reason == idle &&
               (degraded.empty() ? d->status == "False" && d->reason == "Healthy"
                                 : d->message == degraded && d->reason == "Error");
      };
      co_await s.until(std::move(what), "w1", std::move(holds));
    }
  }

  /// It has said so, and told the host.
  awaitable<void> until_rebooting() {
    co_await until("Rebooting");
    for (int i = 0; i < 100 && machine.commands.empty(); ++i) co_await s.loop().sleep_for(50ms);
  }

  stage& s;
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();
  scripted_host machine;
  node_daemon daemon;
};

void play_daemon(std::function<awaitable<void>(daemon_stage&)> scenario) {
  play([scenario](stage& s) -> awaitable<void> {
    daemon_stage d(s);
    co_await scenario(d);
    co_await d.daemon.stop();
  });
}

TEST(DaemonBehaviour, T090_ThreeSlotsArePublished) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 0, 'd');
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    auto b = co_await d.s.see("w1");
    EXPECT_TRUE(b && b->status.booted && b->status.rollback && !b->status.staged);
    if (!b || !b->status.booted) co_return;
    EXPECT_EQ(b->status.booted->image, image_of('a'));
    EXPECT_EQ(b->status.booted->digest, digest_of('a'));
    EXPECT_EQ(b->status.booted->version, "1a");
    EXPECT_EQ(b->status.booted->timestamp, "2026-01-02T03:04:05Z");
    EXPECT_EQ(b->status.booted->architecture, "amd64");
    EXPECT_TRUE(b->status.booted->soft_reboot_capable);
    EXPECT_EQ(b->status.rollback->digest, digest_of('d'));
    EXPECT_EQ(b->status.observed_generation, b->meta.generation);
    d.machine.shown = status_of('a', 'a', 'd');
    d.machine.change();
    co_await d.s.until("staged shown", "w1",
                       [](const bootc_node& n) { return n.status.staged.has_value(); });
  });
}

TEST(DaemonBehaviour, T091_AFailingStatusCommandIsReported) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.status_failure = "exit status 1: no booted deployment";
    co_await d.object('a');
    d.daemon.start();
    co_await d.until(
        "Idle",
        "populating bootc fields: getting bootc status: exit status 1: no booted deployment");
    d.machine.status_failure.clear();
    co_await d.until("Idle");
  });
}

TEST(DaemonBehaviour, T092_AnUnreadableStatusIsReported) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = "{\"kind\":";
    co_await d.object('a');
    d.daemon.start();
    co_await d.s.until("parse error", "w1", [](const bootc_node& b) {
      const auto* c = find_condition(b.status.conditions, "Degraded");
      return c && c->status == "True" && c->reason == "Error" &&
             c->message.starts_with("populating bootc fields: parsing bootc status: ");
    });
  });
}

TEST(DaemonBehaviour, T093_AnotherImageIsStaged) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Staged");
    EXPECT_EQ(d.machine.commands, std::vector<std::string>{"stage " + image_of('b')});
  });
}

TEST(DaemonBehaviour, T094_AFailedStageIsReportedAndTriedAgain) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.stage_failure = "manifest unknown";
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Idle", "bootc stage failed: manifest unknown");
    d.machine.stage_failure.clear();
    co_await d.until("Staged");
    EXPECT_EQ(d.machine.commands.size(), 2u);
  });
}

TEST(DaemonBehaviour, AFailedActionIsInTheLogByItsName) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.stage_failure = "manifest unknown";
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Idle", "bootc stage failed: manifest unknown");
    const auto* failed = d.log->last("failed on the host");
    EXPECT_TRUE(failed && failed->field("action") == "stage" &&
                failed->field("image") == image_of('b') &&
                failed->field("why") == "manifest unknown");
    const auto* degraded = d.log->last("the node is degraded");
    EXPECT_TRUE(degraded && degraded->field("why") == "bootc stage failed: manifest unknown");
    d.machine.stage_failure.clear();
    co_await d.until("Staged");
    EXPECT_EQ(d.log->last("done on the host")->field("action"), "stage");
    EXPECT_EQ(d.log->count("the node is healthy again"), 1u);
  });
}

TEST(DaemonBehaviour, WhatTheObjectShowsAsWrongIsInTheLogOnce) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown =
        R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","status":{"booted":null}})";
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle", "bootc status has no booted entry");
    for (int i = 0; i < 3; ++i) {
      d.machine.change();
      co_await d.s.loop().sleep_for(1s);
    }
    EXPECT_EQ(d.log->count("the node is degraded"), 1u);
  });
}

TEST(DaemonBehaviour, AHostThatCannotBeReadIsInTheLogOnceForEachReason) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    const auto looked_at_again = [&d]() -> awaitable<void> {
      for (int i = 0; i < 3; ++i) {
        d.machine.change();
        co_await d.s.loop().sleep_for(1s);
      }
    };
    d.machine.status_failure = "bootc status: exit status 1";
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle",
                     "populating bootc fields: getting bootc status: bootc status: exit status 1");
    co_await looked_at_again();
    EXPECT_EQ(d.log->count("the host cannot be read"), 1u);
    EXPECT_EQ(d.log->last("the host cannot be read")->field("what"), "bootc status");
    EXPECT_EQ(d.log->last("the host cannot be read")->field("why"), "bootc status: exit status 1");
    EXPECT_EQ(d.log->count("the node is degraded"), 0u) << "one cause, one line";
    d.machine.status_failure = "";
    d.machine.shown = "no JSON";
    co_await looked_at_again();
    EXPECT_EQ(d.log->count("the host cannot be read"), 2u) << "another reason";
    EXPECT_EQ(d.log->count("the host can be read again"), 0u);
    d.machine.shown = status_of('a');
    d.machine.change();
    co_await d.until("Idle");
    EXPECT_EQ(d.log->count("the host can be read again"), 1u);
    EXPECT_EQ(d.log->last("the host can be read again")->field("what"), "bootc status");
  });
}

TEST(DaemonBehaviour, WhatAnInspectionLeavesOutIsInTheLogToo) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    if (stage::live()) co_return;
    d.machine.unread = {{"the boot's id", "cat: permission denied"}, {"something else", ""}};
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    EXPECT_EQ(d.log->count("the host cannot be read"), 1u);
    EXPECT_EQ(d.log->last("the host cannot be read")->field("what"), "the boot's id");
    co_await d.s.loop().sleep_for(1h + 5min);  // inspected again
    EXPECT_EQ(d.log->count("the host cannot be read"), 1u);
    d.machine.unread = {{"the boot's id", ""}};
    co_await d.s.loop().sleep_for(1h + 5min);
    EXPECT_EQ(d.log->count("the host can be read again"), 1u);
  });
}

TEST(DaemonBehaviour, AHostThatCannotBeInspectedIsInTheLogOnceForEachReason) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    if (stage::live()) co_return;
    d.machine.inspect_failure = "nsenter: permission denied";
    d.daemon.start();  // there is no object that shows it
    co_await d.s.loop().sleep_for(1h);
    EXPECT_EQ(d.log->count("the host cannot be read"), 1u);
    EXPECT_EQ(d.log->last("the host cannot be read")->field("what"), "what the host can");
    d.machine.inspect_failure = "bootc: no such file";
    co_await d.s.loop().sleep_for(1h);
    EXPECT_EQ(d.log->count("the host cannot be read"), 2u);
    d.machine.inspect_failure.clear();
    co_await d.s.loop().sleep_for(1h);
    EXPECT_EQ(d.log->count("the host can be read again"), 1u);
  });
}

TEST(DaemonBehaviour, T095_WhatIsStagedIsNotStagedAgain) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 'b');
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Staged");
    EXPECT_TRUE(d.machine.commands.empty());
  });
}

TEST(DaemonBehaviour, T096_AnApprovedImageIsBooted) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 'b');
    co_await d.object('b', "Booted");
    d.daemon.start();
    co_await d.until_rebooting();
    EXPECT_EQ(d.machine.commands, std::vector<std::string>{"reboot " + image_of('b')});
    EXPECT_TRUE(d.daemon.reboot_issued());
  });
}

/// Takes the approval back just before the server sees the daemon's next request of that kind.
void take_back_at(daemon_stage& d, std::string method, std::string path_end) {
  d.s.embedded()->before = [&d, method, path_end,
                            done = false](const k8s::sim::request& r) mutable {
    const bool other = r.method != method || !r.path.ends_with(path_end);
    const bool reads = method == "GET" || r.body.find("Rebooting") != std::string::npos;
    if (!done && !other && reads) {
      done = true;
      d.s.embedded()->edit("node.bootc.dev", "bootcnodes", "", d.s.named("w1"),
                           [](json::object& o) {
                             o["spec"].as_object()["desiredImageState"] = "Staged";
                             json::value& generation = o["metadata"].as_object()["generation"];
                             generation = generation.as_int64() + 1;
                           });
    }
    return std::optional<k8s::sim::answer>();
  };
}

TEST(DaemonBehaviour, AnApprovalThatWasTakenBackUnheardRebootsNothing) {
  if (stage::live()) GTEST_SKIP() << "what comes between two requests is arranged in the server";
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 'b');
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Staged");
    take_back_at(d, "PATCH", "/status");
    co_await d.desire('b', "Booted");
    co_await d.s.loop().sleep_for(2min);
    EXPECT_TRUE(d.machine.commands.empty());
    co_await d.until("Staged");
    d.s.embedded()->before = nullptr;
    co_await d.desire('b', "Booted");
    co_await d.until("Rebooting");
  });
}

TEST(DaemonBehaviour, OneThatWasTakenBackWhileTheDaemonWasAwayRebootsNothing) {
  if (stage::live()) GTEST_SKIP() << "what comes between two requests is arranged in the server";
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 'b');
    co_await d.object('b', "Booted");
    d.daemon.start();
    co_await d.until_rebooting();
    EXPECT_EQ(d.machine.commands.size(), 1u);
    co_await d.daemon.stop();
    take_back_at(d, "GET", "/bootcnodes/" + d.s.named("w1"));
    node_daemon next(d.s.loop(), d.s.api(), d.machine, {d.s.named("w1")});
    next.start();
    co_await d.until("Staged");
    EXPECT_EQ(d.machine.commands.size(), 1u);
    d.s.embedded()->before = nullptr;
    co_await next.stop();
  });
}

TEST(DaemonBehaviour, T097_ANewImageReplacesTheStagedOne) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.shown = status_of('a', 'b');
    co_await d.object('c');
    d.daemon.start();
    co_await d.s.until("c staged", "w1", [](const bootc_node& b) {
      return b.status.staged && b.status.staged->digest == digest_of('c');
    });
    co_await d.until("Staged");
    EXPECT_EQ(d.machine.commands, std::vector<std::string>{"stage " + image_of('c')});
  });
}

TEST(DaemonBehaviour, T098_ANewImageWhileStagingIsStagedNext) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.stage_time = 3s;
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Staging");
    co_await d.desire('c');
    co_await d.s.until("c staged", "w1", [](const bootc_node& b) {
      return b.status.staged && b.status.staged->digest == digest_of('c');
    });
    EXPECT_EQ(d.machine.commands,
              (std::vector<std::string>{"stage " + image_of('b'), "stage " + image_of('c')}));
  });
}

TEST(DaemonBehaviour, AStageThatSaysHowFarItIsIsPublishedSaying) {
  for (const bool begun_before : {false, true})
    play_daemon([begun_before](daemon_stage& d) -> awaitable<void> {
      d.machine.progress_line =
          R"({"type":"ProgressBytes","task":"pulling","bytes":3,"bytesTotal":4000000})";
      if (begun_before) d.machine.begun = image_of('b');
      d.machine.stage_time = 25s;
      co_await d.object('b');
      d.daemon.start();
      co_await d.until("Staging");
      co_await d.s.until("how far it is", "w1", [](const bootc_node& b) {
        const auto* idle = find_condition(b.status.conditions, "Idle");
        return idle && idle->reason == "Staging" && idle->message == "pulling: 0 % of 4 MB";
      });
      co_await d.s.until("staged", "w1", [](const bootc_node& b) {
        const auto* idle = find_condition(b.status.conditions, "Idle");
        return b.status.staged && b.status.staged->digest == digest_of('b') &&
               idle->message.find("pulling") == std::string::npos;
      });
    });
}

TEST(DaemonBehaviour, AStageThatBeganBeforeItIsAdopted) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.begun = image_of('b');
    d.machine.stage_time = 300s;
    co_await d.object('b');
    d.daemon.start();
    co_await d.until("Staging");
    co_await d.s.loop().sleep_for(1s);
    EXPECT_EQ(d.machine.commands, std::vector<std::string>{"await " + image_of('b')});
    co_await d.daemon.stop();
    EXPECT_TRUE(d.machine.left) << "whoever ends the daemon does not end the stage";
  });
}

TEST(DaemonBehaviour, AHostThatCannotBeInspectedIsPublished) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.machine.inspect_failure = "nsenter: reassociate to namespaces failed";
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle", "inspecting the host: nsenter: reassociate to namespaces failed");
    EXPECT_EQ(d.daemon.host_problem(),
              "inspecting the host: nsenter: reassociate to namespaces failed")
        << "for /healthz";
    d.machine.inspect_failure.clear();
    co_await d.until("Idle");
    EXPECT_EQ(d.daemon.host_problem(), "");
  });
}

TEST(DaemonBehaviour, TheHostGetsThePullSecretBeforeAnythingIsStaged) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    co_await d.object('b');
    const std::string ref = R"({"spec":{"pullSecretHash":"sha256:1","pullSecretRef":{"name":")" +
                            d.s.named("pull") + R"(","namespace":"default"}}})";
    json::object patch = json::parse(ref).as_object();
    k8s::object_key key{"", d.s.named("w1")};
    (void)co_await d.s.api().merge_patch(bootc_nodes(), key, std::move(patch));
    d.daemon.start();
    co_await d.s.until("says what is missing", "w1", [](const bootc_node& b) {
      const auto* c = find_condition(b.status.conditions, "Degraded");
      return c && c->status == "True" && c->message.starts_with("pull secret default/") &&
             c->message.find("not found") != std::string::npos;
    });
    EXPECT_TRUE(d.machine.commands.empty());
    co_await d.s.pull_secret("pull", R"({"auths":{"a":1}})");
    co_await d.until("Staged");
    EXPECT_EQ(d.machine.shown_to_registries, std::vector<std::string>{R"({"auths":{"a":1}})"});

    co_await d.s.pull_secret("pull", R"({"auths":{"a":2}})");
    json::object rotated = json::parse(R"({"spec":{"pullSecretHash":"sha256:2"}})").as_object();
    (void)co_await d.s.api().merge_patch(bootc_nodes(), key, std::move(rotated));
    for (int i = 0; i < 100 && d.machine.shown_to_registries.size() < 2; ++i)
      co_await d.s.loop().sleep_for(50ms);
    EXPECT_EQ(d.machine.shown_to_registries.back(), R"({"auths":{"a":2}})");
    json::object none =
        json::parse(R"({"spec":{"pullSecretRef":null,"pullSecretHash":null}})").as_object();
    (void)co_await d.s.api().merge_patch(bootc_nodes(), key, std::move(none));
    for (int i = 0; i < 100 && d.machine.shown_to_registries.size() < 3; ++i)
      co_await d.s.loop().sleep_for(50ms);
    EXPECT_EQ(d.machine.shown_to_registries.back(), "-");
    EXPECT_EQ(d.machine.commands.size(), 1u) << "nothing is staged or booted for it";
  });
}

TEST(DaemonBehaviour, T101_AChangeThatNobodySignalsIsFoundByPolling) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    if (stage::live()) co_return;
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    d.machine.shown = status_of('a', 'a', 'd');
    co_await d.s.loop().sleep_for(5min);
    co_await d.s.until("seen", "w1",
                       [](const bootc_node& n) { return n.status.rollback.has_value(); });
  });
}

TEST(DaemonBehaviour, WhatElseRebootsTheHostIsLookedForEachHour) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    if (stage::live()) co_return;
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    d.machine.uncoordinated = {"kured"};
    co_await d.s.loop().sleep_for(66min);
    co_await d.s.until("named", "w1", [](const bootc_node& n) {
      const auto* idle = find_condition(n.status.conditions, "Idle");
      return idle && idle->message == "this host is also rebooted by kured";
    });
  });
}

TEST(DaemonBehaviour, AsksWhetherItMissedSomethingOnlyWhileItIsToldToBoot) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    if (stage::live()) co_return;
    std::size_t questions = 0;  // watches, and lists of one object that tell the server's version
    d.s.embedded()->before = [&](const k8s::sim::request& r) {
      for (const auto& [name, value] : r.query)
        questions += name == "watch" || name == "limit" ? 1 : 0;
      return std::optional<k8s::sim::answer>();
    };
    const auto in_five_minutes = [&]() -> awaitable<std::size_t> {
      questions = 0;
      co_await d.s.loop().sleep_for(5min);
      co_return questions;
    };
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    const std::size_t idle = co_await in_five_minutes();
    EXPECT_LE(idle, 15u) << "twice a minute, and a watch ends now and then";
    co_await d.desire('b');
    co_await d.until("Staged");
    const std::size_t staged = co_await in_five_minutes();
    EXPECT_LE(staged, 15u);
    co_await d.desire('b', "Booted");
    co_await d.until("Rebooting");
    const std::size_t told = co_await in_five_minutes();
    EXPECT_GE(told, 30u) << "who is told to boot must hear soon when that is taken back";
    d.s.embedded()->before = nullptr;
  });
}

TEST(DaemonBehaviour, WhatIsNotedForPeopleCostsTheHostNothing) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    co_await d.object('a');
    d.daemon.start();
    co_await d.until("Idle");
    const auto looks_after = [&](std::string annotation,
                                 std::string value) -> awaitable<std::size_t> {
      const std::size_t before = d.machine.looks;
      json::object annotations, metadata, patch;
      annotations[annotation] = value;
      metadata["annotations"] = std::move(annotations);
      patch["metadata"] = std::move(metadata);
      k8s::object_key key{"", d.s.named("w1")};
      auto done = co_await d.s.api().merge_patch(bootc_nodes(), std::move(key), std::move(patch));
      EXPECT_TRUE(done);
      co_await d.s.loop().sleep_for(1s);
      co_return d.machine.looks - before;
    };
    for (const std::string key : {"windlass.dev/hold", "windlass.dev/hold-reason",
                                  "bootc.dev/last-observed-state", "bootc.dev/in-reboot-slot"}) {
      const std::size_t looks = co_await looks_after(key, "another");
      EXPECT_EQ(looks, 0u) << key;
    }
    const std::size_t asked = co_await looks_after("windlass.dev/stage", "in-slot");
    EXPECT_GE(asked, 1u) << "how it stages is its own business";
  });
}

TEST(DaemonBehaviour, WithoutItsObjectItWaits) {
  play_daemon([](daemon_stage& d) -> awaitable<void> {
    d.daemon.start();
    co_await d.s.loop().sleep_for(3s);
    EXPECT_TRUE(d.machine.commands.empty());
    co_await d.object('b');
    co_await d.until("Staged");
  });
}

}  // namespace
}  // namespace bootc::behaviour
