#include "reactor/system/process.hpp"

#include "reactor/system/file_limit.hpp"
#include "reactor/system/signals.hpp"
#include "tests/reactor/low_file_limit.hpp"
#include "tests/reactor/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

namespace reactor {
namespace {

/// Programs of this machine on real time; each is as short as it can be.
class Process : public testing::Test {
protected:
  /// Runs a shell text, because it is the shortest program; the class itself never uses a shell.
  result<process_exit> run(const std::string& script, std::function<void(command&)> change = {},
                           nanoseconds patience = 60s) {
    command c;
    c.argv = {"/bin/sh", "-c", script};
    c.grace = 50ms;
    if (change) change(c);
    result<process_exit> outcome = make_fault(errc::closed, "not run");
    run_task(
        l, [&]() -> awaitable<void> { outcome = co_await run_process(l, c, l.now() + patience); });
    EXPECT_EQ(l.live(), nothing_live);
    return outcome;
  }
  loop l;
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

TEST_F(Process, ReportsOutputAndStatus) {
  auto ended = run("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ended.value().out, "out\n");
  EXPECT_EQ(ended->err, "err\n");
  EXPECT_EQ(ended->status, 3);
  EXPECT_FALSE(ended->succeeded());
  EXPECT_EQ(ended->text(), "exit status 3");
  EXPECT_TRUE(run("exit 0").value().succeeded());
  EXPECT_EQ(run("kill -9 $$").value().text(), "killed by signal 9");
}

TEST_F(Process, GetsItsArgumentsUnchanged) {
  auto ended = run("", [](command& c) { c.argv = {"printf", "%s|", "a b", "$HOME", "*", "'\""}; });
  EXPECT_EQ(ended.value().out, "a b|$HOME|*|'\"|");
}

TEST_F(Process, GetsTheEnvironmentWithAdditionsAndRemovals) {
  ::setenv("WINDLASS_TEST_GONE", "x", 1);
  ::setenv("WINDLASS_TEST_KEPT", "kept", 1);
  auto ended = run("echo $A-$WINDLASS_TEST_GONE-$WINDLASS_TEST_KEPT", [](command& c) {
    c.environment["A"] = "added";
    c.environment["WINDLASS_TEST_GONE"] = std::nullopt;
  });
  EXPECT_EQ(ended.value().out, "added--kept\n");
  EXPECT_EQ(run("pwd", [](command& c) { c.folder = "/usr"; }).value().out, "/usr\n");
}

TEST_F(Process, SeesNothingOfOurDescriptorsAndNoInput) {
  // without close-on-exec, as a careless library opens it
  const int leak = ::open("/dev/null", O_RDONLY);
  // The redirections keep ls from seeing the pipe of its own output as a leak.
  auto ended = run("ls /proc/self/fd | wc -l; cat");
  ::close(leak);
  EXPECT_EQ(ended.value().out, "4\n");  // 0, 1, 2 and the folder that ls reads
}

TEST_F(Process, ReadsItsInputAndThenItsEnd) {
  auto ended =
      run("cat; echo .", [](command& c) { c.input = std::string(input_limit_bytes, 'x'); });
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->out, std::string(input_limit_bytes, 'x') + ".\n");
  auto larger = run("cat", [](command& c) { c.input = std::string(input_limit_bytes + 1, 'x'); });
  EXPECT_EQ(larger.error().code, errc::limit);
}

TEST_F(Process, IsTheOpenFileWhateverItsNameLeadsToByNow) {
  const int file = ::open("/bin/sh", O_RDONLY | O_CLOEXEC);
  auto ended = run("echo \"$0\"", [&](command& c) {
    c.argv[0] = "/no/such/program";
    c.argv.insert(c.argv.end(), "zero");
    c.program = file;
  });
  ::close(file);
  EXPECT_EQ(ended.value().out, "zero\n");
}

TEST_F(Process, ShowsItsStandardErrorAsItIsWrittenAndKeepsItsLastWords) {
  std::string shown;
  auto ended = run("echo one >&2; echo two >&2; printf '\\033[1m\\n\\n' >&2",
                   [&](command& c) { c.on_err = [&](std::string_view piece) { shown += piece; }; });
  EXPECT_EQ(shown, "one\ntwo\n\033[1m\n\n");
  EXPECT_EQ(ended.value().err, shown);
  EXPECT_EQ(ended.value().last_words(), "\\u001b[1m");
  const std::string said =
      run("echo first >&2; echo 'sent Bearer abcdefghijklmnop' >&2").value().last_words();
  EXPECT_TRUE(said.starts_with("sent ")) << said;
  EXPECT_EQ(said.find("abcdefghijklmnop"), said.npos) << said;
  EXPECT_EQ(run("exit 1").value().last_words(), "");
}

TEST_F(Process, LeavesNoDescriptorOfItsOwnBehind) {
  (void)run("exit 0");
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 3; ++i) (void)run("echo x; echo y >&2");
  (void)run("", [](command& c) { c.argv = {"/no/such/program"}; });
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Process, SaysWhenThereIsNoSuchProgram) {
  auto ended = run("", [](command& c) { c.argv = {"no-such-program-here"}; });
  EXPECT_EQ(ended.error().code, errc::not_found);
  EXPECT_EQ(ended.error().doing, "run no-such-program-here");
  EXPECT_EQ(run("", [](command& c) { c.argv.clear(); }).error().code, errc::malformed);
}

TEST_F(Process, IsStoppedAtItsDeadlineWithItsLastWords) {
  auto ended = run("echo first >&2; echo pulling layer 3 >&2; sleep 60", {}, 1s);
  EXPECT_EQ(ended.error().code, errc::timed_out);
  EXPECT_NE(ended.error().detail.find("pulling layer 3"), std::string::npos)
      << ended.error().detail;
}

TEST_F(Process, IsKilledWhenItIgnoresTheFirstSignal) {
  auto ended = run("trap '' TERM; while :; do sleep 0.05; done", {}, 100ms);
  EXPECT_EQ(ended.error().code, errc::timed_out);
}

TEST_F(Process, IsGoneWhenTheCancelledCallerIsJoined) {
  std::string pid_text;
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    const std::string file = "/tmp/windlass-test-pid-" + std::to_string(::getpid());
    command c;
    c.argv = {"/bin/sh", "-c", "echo $$ > " + file + "; exec sleep 60"};
    tasks.start("child", [&]() -> awaitable<void> {
      auto ended = co_await run_process(l, c, never);
      EXPECT_TRUE(is_cancelled(ended.error()));
      co_await l.yield();
      ADD_FAILURE() << "a cancelled caller went on";
    });
    while (!std::filesystem::exists(file) || std::filesystem::file_size(file) == 0)
      co_await l.sleep_for(2ms);
    pid_t pid = 0;
    if (FILE* f = std::fopen(file.c_str(), "r")) {
      if (std::fscanf(f, "%d", &pid) != 1) pid = 0;
      std::fclose(f);
    }
    std::filesystem::remove(file);
    EXPECT_EQ(::kill(pid, 0), 0);
    co_await tasks.cancel_and_join();
    EXPECT_EQ(::kill(pid, 0), -1);
  });
  EXPECT_EQ(l.live(), nothing_live);
}

TEST_F(Process, IsStoppedWhenItWritesTooMuchAndKeepsOnlyTheEndOfItsErrors) {
  auto flood =
      run("while :; do echo 0123456789; done", [](command& c) { c.out_limit_bytes = 10'000; });
  EXPECT_EQ(flood.error().code, errc::limit);
  auto talk = run("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done",
                  [](command& c) { c.err_limit_bytes = 100; });
  EXPECT_EQ(talk.value().err.size(), 100u);
  EXPECT_TRUE(talk->err.ends_with("line 2999\n"));
}

TEST_F(Process, DoesNotWaitForAGrandchildThatHoldsItsOutput) {
  auto ended = run("sleep 600 & echo $!; exit 0");
  const pid_t grandchild = std::stoi(ended.value().out);
  EXPECT_EQ(::kill(grandchild, SIGKILL), 0) << "it is still there";
}

TEST(ProcessSimulated, IsRefused) {
  loop l(loop::mode::simulated);
  run_task(l, [&]() -> awaitable<void> {
    command c;
    c.argv = {"true"};
    auto ended = co_await run_process(l, c, never);
    EXPECT_EQ(ended.error().code, errc::refused);
  });
}

TEST(Signals, StopFirstThenExitAndReloadInBetween) {
  loop l;
  int stops = 0, reloads = 0, code = 0;
  {
    signals s(l, {.stop = [&] { ++stops; },
                  .reload = [&] { ++reloads; },
                  .exit_now = [&](int c) { code = c; }});
    run_task(l, [&]() -> awaitable<void> {
      ::raise(SIGHUP);
      while (reloads == 0) co_await l.sleep_for(1ms);
      ::raise(SIGPIPE);
      ::raise(SIGTERM);
      while (stops == 0) co_await l.sleep_for(1ms);
      EXPECT_EQ(code, 0);
      ::raise(SIGINT);
      while (code == 0) co_await l.sleep_for(1ms);
    });
    EXPECT_EQ(s.stopped_by(), SIGINT);
  }
  EXPECT_EQ(stops, 1);
  EXPECT_EQ(reloads, 1);
  EXPECT_EQ(code, 128 + SIGINT);
  l.run();  // nothing keeps it
}

TEST(Signals, AClosedTerminalStopsWhatDoesNotReload) {
  loop l;
  bool stopped = false;
  signals s(l, {.stop = [&] { stopped = true; }, .reload = {}});
  run_task(l, [&]() -> awaitable<void> {
    ::raise(SIGHUP);
    while (!stopped) co_await l.sleep_for(1ms);
  });
  EXPECT_EQ(s.stopped_by(), SIGHUP);
}

TEST(Signals, WhatWasStartedToOutliveItsTerminalDoes) {
  const auto former = ::signal(SIGHUP, SIG_IGN);
  bool stopped = false;
  {
    loop l;
    signals s(l, {.stop = [&] { stopped = true; }, .reload = {}});
    run_task(l, [&]() -> awaitable<void> {
      ::raise(SIGHUP);
      ::raise(SIGTERM);
      while (!stopped) co_await l.sleep_for(1ms);
    });
    EXPECT_EQ(s.stopped_by(), SIGTERM);
  }
  EXPECT_EQ(::signal(SIGHUP, former), SIG_IGN);
}

TEST(FileLimit, IsRaisedToTheHardOne) {
  const low_file_limit low(100);
  EXPECT_EQ(raise_file_limit(), low.before.rlim_max);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, low.before.rlim_max);
}

}  // namespace
}  // namespace reactor
