// The programs that play a host's beside those of this machine: the same arguments, equal answers.
// bootc is compared with what was recorded: recorded_bootc_test.cpp.
#include "reactor/system/files.hpp"
#include "reactor/system/process.hpp"
#include "tests/bootc/daemon/machine.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <regex>
#include <set>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using ::testing::HasSubstr;
using testing::machine;

using arguments = std::vector<std::string>;

std::string found_in(const std::string& program) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/sbin/"})
    if (::access((folder + program).c_str(), X_OK) == 0) return folder + program;
  return {};
}

struct said {
  int code = -1;
  std::string out, err;
};

said run(machine& m, const std::string& program, const arguments& args) {
  said r;
  m.run([&](machine& on) -> awaitable<void> {
    reactor::command c;
    c.argv = {program};
    c.argv.insert(c.argv.end(), args.begin(), args.end());
    c.environment["FAKE_HOST"] = on.folder.path();
    c.environment["LC_ALL"] = "C";
    c.environment["PAGER"] = "cat";
    auto ended = co_await reactor::run_process(on.loop, std::move(c), on.loop.now() + 20s);
    EXPECT_TRUE(ended) << (ended ? "" : ended.error().message());
    if (ended) r = said{ended->status, ended->out, ended->err};
  });
  return r;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Each command line to both: the same exit code, and the stand-in's first line of errors is among
/// the machine's. False where the machine has no such program.
bool answers_alike(const std::string& program, const std::vector<arguments>& lines) {
  const std::string real = found_in(program);
  if (real.empty()) return false;
  machine m;
  const std::string ours = std::string(WINDLASS_BINARY_DIR) + "/fake_host_bin/" + program;
  for (const arguments& line : lines) {
    std::string shown = program;
    for (const std::string& a : line) shown += " " + a;
    SCOPED_TRACE(shown);
    const said theirs = run(m, real, line), fake = run(m, ours, line);
    EXPECT_EQ(fake.code, theirs.code) << theirs.err;
    EXPECT_THAT(theirs.err, HasSubstr(first_line(fake.err)));
    EXPECT_EQ(fake.out.empty(), theirs.out.empty()) << theirs.out;
  }
  return true;
}

TEST(HostFakes, NsenterAnswersAsTheMachines) {
  if (!answers_alike("nsenter", {{"--foo", "true"},
                                 {"--target"},
                                 {"--target", "x", "--mount", "--", "true"},
                                 {"--target", "999999999", "--mount", "--", "true"},
                                 {"--mount", "--", "true"},
                                 {"--pid", "true"},
                                 {"--setuid", "x", "--", "true"},
                                 {"--setgid", "x", "--", "true"},
                                 {"--", "windlass-no-such-program"},
                                 {"windlass-no-such-program"}}))
    GTEST_SKIP() << "no nsenter on this machine";
}

TEST(HostFakes, NsenterKnowsNoOptionThatUtilLinux234Lacks) {
  machine m;
  const std::string ours = std::string(WINDLASS_BINARY_DIR) + "/fake_host_bin/nsenter";
  for (const char* younger : {"--env", "--user-parent", "--net-socket", "--join-cgroup",
                              "--keep-caps", "--time", "--wdns"}) {
    const said fake = run(m, ours, {"--target", "1", "--mount", "--pid", younger, "--", "true"});
    EXPECT_EQ(fake.code, 1) << younger;
    EXPECT_EQ(first_line(fake.err), "nsenter: unrecognized option '" + std::string(younger) + "'");
  }
  EXPECT_EQ(run(m, ours, {"--target", "1", "--mount", "--pid", "--", "true"}).code, 0);
  EXPECT_EQ(run(m, ours, {"--target", "1", "--pid", "--", "bootc", "--version"}).code, 127)
      << "the image has no bootc";
}

TEST(HostFakes, SystemdRunAnswersAsTheMachines) {
  if (!answers_alike("systemd-run",
                     {{},
                      {"--foo", "true"},
                      {"--wait", "--unit"},
                      {"--wait", "--collect", "--unit", "x.service", "/windlass-no-such-program"}}))
    GTEST_SKIP() << "no systemd-run on this machine";
}

TEST(HostFakes, SystemctlAnswersAsTheMachines) {
  if (!answers_alike(
          "systemctl",
          {{"--foo"}, {"show", "--foo"}, {"show", "--property"}, {"stop"}, {"is-active"}}))
    GTEST_SKIP() << "no systemctl on this machine";
}

TEST(HostFakes, JournalctlAnswersAsTheMachines) {
  if (!answers_alike("journalctl", {{"--foo"},
                                    {"--after-cursor"},
                                    {"--no-pager", "--after-cursor=none", "-n", "1"},
                                    {"--no-pager", "-o", "cat", "no-match"}}))
    GTEST_SKIP() << "no journalctl on this machine";
}

TEST(HostFakes, PgrepAndCatAnswerAsTheMachines) {
  const bool pgrep = answers_alike("pgrep", {{"-x", "windlass-none"}, {"-x"}, {"--foo"}});
  const bool cat = answers_alike("cat", {{"/windlass-no-such-file"}, {"--foo"}});
  if (!pgrep || !cat) GTEST_SKIP() << "no pgrep or no cat on this machine";
}

TEST(HostFakes, AUnitIsNotStartedTwiceNorStoppedWhenItDoesNotRun) {
  machine m;
  const std::string bin = std::string(WINDLASS_BINARY_DIR) + "/fake_host_bin/";
  const said stopped = run(m, bin + "systemctl", {"stop", "x.service"});
  EXPECT_EQ(stopped.code, 5);
  EXPECT_THAT(stopped.err, HasSubstr("Unit x.service not loaded."));
  m.put("unit_name", "x.service");
  m.put("unit_pid", std::to_string(::getpid()));
  const said again =
      run(m, bin + "systemd-run", {"--wait", "--unit", "x.service", "bootc", "status"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("x.service was already loaded"));
}

TEST(HostFakes, EachComparisonIsListedAndEachListedOneExists) {
  auto page = reactor::load_file(WINDLASS_SOURCE_DIR "/docs/internals/fakes.md", 1u << 20);
  ASSERT_TRUE(page) << page.error().message();
  std::set<std::string> here, listed;
  const auto* all = ::testing::UnitTest::GetInstance();
  for (int s = 0; s < all->total_test_suite_count(); ++s) {
    const auto* suite = all->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t)
      here.insert(std::string(suite->name()) + "." + suite->GetTestInfo(t)->name());
  }
  const std::regex name("`(HostFakes\\.[A-Za-z0-9]+)`");
  for (std::sregex_iterator it(page->begin(), page->end(), name), end; it != end; ++it) {
    listed.insert((*it)[1]);
    EXPECT_TRUE(here.contains((*it)[1])) << (*it)[1];
  }
  for (const std::string& each : here)
    if (each.starts_with("HostFakes.") && each.find("TheMachines") != std::string::npos) {
      EXPECT_TRUE(listed.contains(each)) << each << " is not in docs/internals/fakes.md";
    }
}

}  // namespace
}  // namespace bootc
