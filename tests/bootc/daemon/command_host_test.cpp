// One host's commands from the first to the last: the stand-in for a host, its files and what was
// run on it are shared by all of these, and each test is a few lines of what a node does.
#include "bootc/daemon/command_host.hpp"

#include "reactor/system/files.hpp"
#include "registry/image_ref.hpp"
#include "tests/bootc/daemon/machine.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using testing::digest_of;
using ::testing::HasSubstr;
using testing::image_of;
using testing::machine;

TEST(CommandHost, ReadsTheStatusInBothForms) {
  for (const auto how : {command_form::direct, command_form::nsenter}) {
    machine m(how);
    ::setenv("container", "podman", 1);  // would make bootc report an empty host
    m.run([](machine& on) -> awaitable<void> {
      const auto s = co_await on.status();
      EXPECT_TRUE(s.booted && s.booted->image && s.booted->image->digest == digest_of('a'));
    });
    ::unsetenv("container");
  }
}

TEST(CommandHost, StagesAndLocksWhereSwitchCannotLock) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    auto traits = co_await on.commands.inspect();
    EXPECT_TRUE(traits && !traits->switch_download_only && traits->upgrade_download_only &&
                !traits->boot.id.empty());
    auto staged = co_await on.stage('b');
    EXPECT_TRUE(staged) << (staged ? "" : staged.error().message());
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged && s.staged->download_only && s.staged->image->digest == digest_of('b'));
  });
}

TEST(CommandHost, StagesLockedInOneStepWhereItCan) {
  machine m;
  m.put("switch_options", "--download-only\n--from-downloaded");
  m.run([](machine& on) -> awaitable<void> {
    auto traits = co_await on.commands.inspect();
    EXPECT_TRUE(traits && traits->switch_download_only && traits->switch_from_downloaded);
    auto staged = co_await on.stage('b');
    EXPECT_TRUE(staged);
    EXPECT_EQ(on.log().find("upgrade --download-only"), std::string::npos);
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged && s.staged->download_only);
  });
}

/// As bootc words it, without what it and systemd say before and after.
std::string unknown_manifest(char image) {
  return "Switching: Switching (ostree): Preparing import: Fetching manifest: failed to invoke "
         "method OpenImage: reading manifest " +
         digest_of(image) + " in " + image_of(image).substr(0, image_of(image).find('@')) +
         ": manifest unknown";
}

TEST(CommandHost, AFailedStageSaysWhatTheJournalSays) {
  machine m;
  m.put("unpullable", digest_of('b'));
  m.put("journal", "what somebody else said before");
  m.run([](machine& on) -> awaitable<void> {
    auto staged = co_await on.stage('b');
    EXPECT_FALSE(staged);
    if (!staged) {
      EXPECT_EQ(staged.error().detail, unknown_manifest('b'));
    }
  });
}

TEST(CommandHost, AFullDiskIsNamedInBootcsWordsAndWhatWasThereStays) {
  machine m;
  m.put("too_large", digest_of('b'));
  m.run([](machine& on) -> awaitable<void> {
    auto staged = co_await on.stage('b');
    EXPECT_FALSE(staged);
    if (!staged) {
      EXPECT_THAT(staged.error().detail, HasSubstr("No space left on device"));
    }
    const auto s = co_await on.status();
    EXPECT_FALSE(s.staged);
    EXPECT_TRUE(s.booted && s.booted->image && s.booted->image->digest == digest_of('a'));
    auto smaller = co_await on.stage('c');
    EXPECT_TRUE(smaller) << (smaller ? "" : smaller.error().message());
  });
}

/// As a disk without room: nothing can be written to a file.
class no_room {
public:
  no_room() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~no_room() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  no_room(const no_room&) = delete;
  no_room& operator=(const no_room&) = delete;

private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(CommandHost, APullSecretThatCannotBeWrittenIsAnErrorAndTheOneBeforeStays) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    std::optional<reactor::secret> first(reactor::secret("{\"auths\":{}}")),
        second(reactor::secret("{\"auths\":{\"geheim\":{}}}"));
    (void)co_await on.commands.show_registries(first);
    std::optional<reactor::result<void>> shown;
    {
      const no_room full;
      shown.emplace(co_await on.commands.show_registries(second));
    }
    EXPECT_FALSE(*shown);
    if (!*shown) {
      EXPECT_EQ(shown->error().message().find("geheim"), std::string::npos);
    }
    EXPECT_EQ(on.get("run/ostree/auth.json"), "{\"auths\":{}}");
    std::size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator(on.folder / "run/ostree"))
      files += each.is_regular_file() ? 1 : 0;
    EXPECT_EQ(files, 2u) << "the secret and its mark, and no half of another";
    shown.emplace(co_await on.commands.show_registries(second));
    EXPECT_TRUE(*shown);
    EXPECT_EQ(on.get("run/ostree/auth.json"), "{\"auths\":{\"geheim\":{}}}");
  });
}

TEST(CommandHost, StatusWaitsForAStageAndEndsAtItsDeadline) {
  machine m;
  m.hold();
  m.run([](machine& on) -> awaitable<void> {
    reactor::task_group tasks(on.loop);
    tasks.start("stage", [&]() -> awaitable<void> { (void)co_await on.stage('b'); });
    co_await on.until_held();
    auto options = on.settings(command_form::direct);
    options.status_time = 200ms;
    command_host hasty(on.loop, std::move(options));
    auto text = co_await hasty.status();
    EXPECT_TRUE(!text && text.error().code == reactor::errc::closed)
        << (text ? *text : text.error().message());
    co_await hasty.stop();
    on.let_go();
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged) << "it waited for the sysroot lock";
    co_await tasks.join();
  });
}

TEST(CommandHost, ACancelledStageStopsItsUnit) {
  machine m;
  m.hold();
  m.run([](machine& on) -> awaitable<void> {
    reactor::task_group tasks(on.loop);
    tasks.start("stage", [&]() -> awaitable<void> { (void)co_await on.stage('b'); });
    for (int i = 0; i < 300 && on.get("unit_pid").empty(); ++i) co_await on.loop.sleep_for(10ms);
    co_await tasks.cancel_and_join();
    on.let_go();
    auto next = co_await on.stage('c');
    EXPECT_TRUE(next) << (next ? "" : next.error().message());
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged && s.staged->image->digest == digest_of('c'));
  });
}

TEST(CommandHost, AStageGoesOnWithoutTheProcessAndTheNextOneFindsIt) {
  machine m;
  m.hold();
  m.run([](machine& on) -> awaitable<void> {
    reactor::task_group tasks(on.loop);
    tasks.start("stage", [&]() -> awaitable<void> { (void)co_await on.stage('b'); });
    for (int i = 0; i < 300 && on.get("unit_pid").empty(); ++i) co_await on.loop.sleep_for(10ms);
    on.commands.leave();
    co_await tasks.cancel_and_join();

    command_host next(on.loop, on.settings(command_form::direct));
    auto traits = co_await next.inspect();
    EXPECT_TRUE(traits && traits->staging == image_of('b')) << traits->staging;
    on.let_go();
    host_command adopted;
    adopted.action = host_action::stage;
    adopted.image = image_of('b');
    adopted.adopted = true;
    auto ended = co_await next.run(std::move(adopted));
    EXPECT_TRUE(ended) << (ended ? "" : ended.error().message());
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged && s.staged->image->digest == digest_of('b') && s.staged->download_only)
        << "and locks it";
    auto after = co_await next.inspect();
    EXPECT_TRUE(after && after->staging.empty());
    co_await next.stop();
  });
}

constexpr const char* two_steps =
    R"({"type":"Start","version":"0.1.0"}
{"type":"ProgressBytes","task":"pulling","bytes":500,"bytesTotal":1000,"subtasks":[]})";

TEST(CommandHost, AStageSaysHowFarItIsWhereTheHostOffersIt) {
  for (const command_form how : {command_form::direct, command_form::nsenter}) {
    machine m(how);
    m.put("progress", two_steps);
    m.hold();
    m.run([](machine& on) -> awaitable<void> {
      auto traits = co_await on.commands.inspect();
      EXPECT_TRUE(traits && traits->progress);
      reactor::task_group tasks(on.loop);
      bool staged = false;
      tasks.start("stage", [&]() -> awaitable<void> {
        auto done = co_await on.stage('b');
        staged = done.has_value();
      });
      std::string said;
      for (int i = 0; i < 300 && said.find("pulling") == said.npos; ++i) {
        co_await on.loop.sleep_for(10ms);
        said = co_await on.commands.progress();
      }
      EXPECT_THAT(said, HasSubstr(R"("task":"pulling","bytes":500)"));
      on.let_go();
      co_await tasks.join();
      EXPECT_TRUE(staged);
      said = co_await on.commands.progress();
      EXPECT_EQ(said, "") << "nothing of it stays";
      const auto s = co_await on.status();
      EXPECT_TRUE(s.staged && s.staged->image->digest == digest_of('b') && s.staged->download_only);
    });
  }
}

TEST(CommandHost, AHostWithoutProgressStagesWithoutIt) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    auto traits = co_await on.commands.inspect();
    EXPECT_TRUE(traits && !traits->progress);
    auto staged = co_await on.stage('b');
    EXPECT_TRUE(staged);
    EXPECT_EQ(on.log().find("--progress-fd 3"), std::string::npos);
  });
}

TEST(CommandHost, AStageThatFailsEndsAsBootcDoesAlsoWhereItSaysHowFarItIs) {
  machine m;
  m.put("progress", two_steps);
  m.put("unpullable", digest_of('b'));
  m.run([](machine& on) -> awaitable<void> {
    (void)co_await on.commands.inspect();
    auto staged = co_await on.stage('b');
    EXPECT_FALSE(staged);
    if (!staged) {
      EXPECT_EQ(staged.error().detail, unknown_manifest('b'));
    }
  });
}

TEST(CommandHost, AStageThatSaysHowFarItIsNeedsNobodyWhoReadsIt) {
  machine m;
  // Far more than a pipe holds, and a line longer than anybody reads.
  std::string much;
  for (int i = 0; i < 300; ++i) much += std::string(i == 299 ? 200'000 : 1'000, 'x') + "\n";
  m.put("progress", much);
  m.hold();
  m.run([](machine& on) -> awaitable<void> {
    (void)co_await on.commands.inspect();
    reactor::task_group tasks(on.loop);
    tasks.start("stage", [&]() -> awaitable<void> { (void)co_await on.stage('b'); });
    for (int i = 0; i < 300 && on.get("unit_pid").empty(); ++i) co_await on.loop.sleep_for(10ms);
    on.commands.leave();
    co_await tasks.cancel_and_join();

    command_host next(on.loop, on.settings(command_form::direct));
    auto traits = co_await next.inspect();
    EXPECT_TRUE(traits && traits->staging == image_of('b')) << traits->staging;
    on.let_go();
    host_command adopted;
    adopted.action = host_action::stage;
    adopted.image = image_of('b');
    adopted.adopted = true;
    auto ended = co_await next.run(std::move(adopted));
    EXPECT_TRUE(ended) << (ended ? "" : ended.error().message());
    const auto s = co_await on.status();
    EXPECT_TRUE(s.staged && s.staged->image->digest == digest_of('b'));
    co_await next.stop();
  });
}

TEST(CommandHost, AProgressThatIsNoLineOfTextIsNone) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    std::string said = co_await on.commands.progress();
    EXPECT_EQ(said, "");
    std::filesystem::create_directories(on.folder / "run");
    reactor::put(on.folder / "run/windlass-stage-progress", std::string(1'000'000, '{'));
    said = co_await on.commands.progress();
    EXPECT_EQ(said, "") << "longer than anybody reads";
    std::filesystem::remove(on.folder / "run/windlass-stage-progress");
    std::filesystem::create_symlink("/dev/zero", on.folder / "run/windlass-stage-progress");
    said = co_await on.commands.progress();
    EXPECT_EQ(said, "") << "no regular file";
  });
}

TEST(CommandHost, AnAdoptedStageThatNobodyWantsIsStopped) {
  machine m;
  m.hold();
  m.run([](machine& on) -> awaitable<void> {
    reactor::task_group tasks(on.loop);
    tasks.start("stage", [&]() -> awaitable<void> { (void)co_await on.stage('b'); });
    for (int i = 0; i < 300 && on.get("unit_pid").empty(); ++i) co_await on.loop.sleep_for(10ms);
    on.commands.leave();
    co_await tasks.cancel_and_join();

    command_host next(on.loop, on.settings(command_form::direct));
    (void)co_await next.inspect();
    reactor::task_group waiting(on.loop);
    waiting.start("await", [&]() -> awaitable<void> {
      host_command adopted;
      adopted.action = host_action::stage;
      adopted.image = image_of('b');
      adopted.adopted = true;
      (void)co_await next.run(std::move(adopted));
    });
    co_await on.loop.sleep_for(50ms);
    co_await waiting.cancel_and_join();
    for (int i = 0; i < 300 && !on.get("unit_pid").empty(); ++i) co_await on.loop.sleep_for(10ms);
    EXPECT_EQ(on.get("unit_pid"), "");
    co_await next.stop();
  });
}

TEST(CommandHost, ShowsRegistriesThePullSecretAndTakesAwayOnlyItsOwn) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    const std::string file = on.folder / "run/ostree/auth.json";
    std::optional<reactor::secret> first(reactor::secret("{\"auths\":{}}")), none;
    auto shown = co_await on.commands.show_registries(first);
    EXPECT_TRUE(shown) << (shown ? "" : shown.error().message());
    EXPECT_EQ(on.get("run/ostree/auth.json"), "{\"auths\":{}}");
    struct stat info{};
    EXPECT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    auto away = co_await on.commands.show_registries(none);
    EXPECT_TRUE(away);
    EXPECT_NE(::stat(file.c_str(), &info), 0);

    (void)co_await on.commands.show_registries(first);
    on.put("run/ostree/auth.json", "of the administrator");
    (void)co_await on.commands.show_registries(none);
    EXPECT_EQ(on.get("run/ostree/auth.json"), "of the administrator");
  });
}

TEST(CommandHost, ALinkOfTheHostLeadsToNoFileOfThePod) {
  machine m;
  const reactor::temporary_folder pod;
  reactor::put(pod / "auth.json", "the pod's");
  reactor::put(pod / "token", "canary-8812\n");
  m.run([&](machine& on) -> awaitable<void> {
    namespace fs = std::filesystem;
    fs::create_directories(on.folder / "run/ostree");
    fs::create_symlink(pod / "auth.json", on.folder / "run/ostree/auth.json");
    fs::create_symlink(pod / "token", on.folder / "run/windlass-stage-progress");
    fs::create_symlink(pod / "token", on.folder / "run/windlass-staged");
    std::optional<reactor::secret> config(reactor::secret("{\"auths\":{}}"));
    (void)co_await on.commands.show_registries(config);
    const std::string progress = co_await on.commands.progress();
    EXPECT_EQ(progress, "");
    auto traits = co_await on.commands.inspect();
    EXPECT_TRUE(!traits || traits->staged.empty());
    EXPECT_EQ(*reactor::load_file(pod / "auth.json", 100), "the pod's");
  });
}

TEST(CommandHost, ReadsTheImageOfARunningUnit) {
  const std::string exec =
      "ExecStart={ path=/usr/bin/bootc ; argv[]=bootc switch --download-only q.io/a/b@sha256:1 ; "
      "ignore_errors=no ; start_time=[n/a] ; pid=7 }\n";
  EXPECT_EQ(staged_by_unit("ActiveState=active\n" + exec), "q.io/a/b@sha256:1");
  EXPECT_EQ(staged_by_unit(exec + "ActiveState=deactivating\n"), "q.io/a/b@sha256:1");
  EXPECT_EQ(staged_by_unit("ActiveState=inactive\n" + exec), "");
  // As systemd 252 and 257 show the units that we start.
  const std::string behind =
      " ; ignore_errors=no ; start_time=[Fri 2026-11-27 14:57:20 UTC] ; stop_time=[n/a] ; pid=87 ; "
      "code=(null) ; status=0/0 }\nActiveState=active\n";
  EXPECT_EQ(staged_by_unit("ExecStart={ path=/usr/bin/bootc ; argv[]=/usr/bin/bootc switch "
                           "q.io/a/b@sha256:1" +
                           behind),
            "q.io/a/b@sha256:1");
  EXPECT_EQ(
      staged_by_unit("ExecStart={ path=/usr/bin/sh ; argv[]=/usr/bin/sh -c exec 4>&1; : >\"$0\"; "
                     "code=$( { { bootc switch --progress-fd 3 \"$@\" 3>&1; } } 5>&1 ); exit "
                     "\"$code\" /run/windlass-stage-progress q.io/a/b@sha256:1" +
                     behind),
      "q.io/a/b@sha256:1");
  EXPECT_EQ(staged_by_unit(
                "ExecStart={ path=/usr/bin/env ; argv[]=/usr/bin/env bootc switch q.io/a" + behind),
            "")
      << "no unit of ours";
  EXPECT_EQ(staged_by_unit("ActiveState=active\nExecStart={ path=/bin/true ; argv[]=true ; }"), "");
  for (const char* other : {"", "ActiveState=", "ActiveState=active", "\n\n=", "ExecStart=argv[]="})
    EXPECT_EQ(staged_by_unit(other), "") << other;
}

TEST(CommandHost, RebootsIntoWhatIsStaged) {
  for (const bool locked : {true, false}) {
    machine m;
    if (!locked) m.put("no_lock", "");
    m.run([locked](machine& on) -> awaitable<void> {
      (void)co_await on.commands.inspect();
      auto staged = co_await on.stage('b');
      EXPECT_TRUE(staged);
      reactor::task_group tasks(on.loop);
      tasks.start("reboot", [&on, locked]() -> awaitable<void> {
        host_command c;
        c.action = host_action::reboot;
        c.image = image_of('b');
        c.locked = locked;
        (void)co_await on.commands.run(std::move(c));
      });
      for (int i = 0; i < 300 && on.get("reboots").empty(); ++i) co_await on.loop.sleep_for(10ms);
      EXPECT_EQ(on.get("reboots"), "full");
      co_await tasks.cancel_and_join();
      on.power_on();
      const auto s = co_await on.status();
      EXPECT_EQ(s.booted->image->digest, digest_of('b')) << (locked ? "locked" : "unlocked");
      EXPECT_EQ(s.rollback->image->digest, digest_of('a'));
    });
  }
}

TEST(CommandHost, NamesWhatElseRebootsTheHost) {
  machine m;
  m.put("active_units", "bootc-fetch-apply-updates.timer");
  m.run([](machine& on) -> awaitable<void> {
    auto traits = co_await on.commands.inspect();
    EXPECT_TRUE(traits && traits->uncoordinated ==
                              std::vector<std::string>{"bootc-fetch-apply-updates.timer"});
  });
}

TEST(CommandHost, AStatusWithoutEndThatIsNoTextOrOfNoCommandIsAnErrorAndNothingMore) {
  machine m;
  const std::filesystem::path odd = m.folder / "odd";
  std::filesystem::create_directories(odd);
  const auto says = [&](const std::string& script) {
    reactor::put((odd / "bootc").string(), "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(odd / "bootc", std::filesystem::perms::owner_all);
  };
  ::setenv("PATH", (odd.string() + ":/usr/bin:/bin").c_str(), 1);
  m.run([&](machine& on) -> awaitable<void> {
    auto missing = co_await on.commands.status();
    EXPECT_FALSE(missing);
    says("exec head -c 1000000000 /dev/zero");
    auto endless = co_await on.commands.status();
    EXPECT_FALSE(endless);
    if (!endless) {
      EXPECT_LT(endless.error().message().size(), 4'096u);
    }
    says("printf '{\"status\":\\377\\376}'");
    auto no_text = co_await on.commands.status();
    EXPECT_TRUE(!no_text || !parse_host_status(*no_text));
    says("exec cat " + std::string(on.folder / "there-is-none"));
    auto failing = co_await on.commands.status();
    EXPECT_FALSE(failing);
  });
}

TEST(CommandHost, T100_NoticesADeploymentOfComposefs) {
  machine m;
  std::filesystem::create_directories(m.folder / "sysroot/state/deploy");
  command_host watching(m.loop, m.settings(command_form::direct));
  reactor::run_task(m.loop, [&]() -> awaitable<void> {
    bool changed = false;
    reactor::task_group tasks(m.loop);
    tasks.start("watch", [&]() -> awaitable<void> {
      co_await watching.changed();
      changed = true;
    });
    std::filesystem::create_directory(m.folder / "sysroot/state/deploy/one");
    for (int i = 0; i < 100 && !changed; ++i) co_await m.loop.sleep_for(10ms);
    EXPECT_TRUE(changed);
    co_await tasks.cancel_and_join();
    co_await watching.stop();
    co_await m.commands.stop();
  });
}

TEST(CommandHost, T114_AChangeIsNoticedLongBeforeItWouldBePolled) {
  machine m;
  std::filesystem::create_directories(m.folder / "ostree/bootc");
  command_host_options o = m.settings(command_form::direct);
  o.watch_interval = 1h;
  command_host watching(m.loop, std::move(o));
  reactor::run_task(m.loop, [&]() -> awaitable<void> {
    bool changed = false;
    reactor::task_group tasks(m.loop);
    tasks.start("watch", [&]() -> awaitable<void> {
      co_await watching.changed();
      changed = true;
    });
    co_await m.loop.sleep_for(20ms);
    std::filesystem::create_directory(m.folder / "ostree/bootc/one");
    for (int i = 0; i < 500 && !changed; ++i) co_await m.loop.sleep_for(10ms);
    EXPECT_TRUE(changed);
    co_await tasks.cancel_and_join();
    co_await watching.stop();
    co_await m.commands.stop();
  });
}

TEST(CommandHost, T099_T104_NoticesThatDeploymentsChangedUntilItIsStopped) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    bool changed = false;
    reactor::task_group tasks(on.loop);
    tasks.start("watch", [&]() -> awaitable<void> {
      co_await on.commands.changed();
      changed = true;
    });
    auto staged = co_await on.stage('b');
    EXPECT_TRUE(staged);
    for (int i = 0; i < 100 && !changed; ++i) co_await on.loop.sleep_for(10ms);
    EXPECT_TRUE(changed);
    co_await tasks.cancel_and_join();
  });
}

}  // namespace
}  // namespace bootc
