#include "tests/bootc/daemon/machine.hpp"

#include <gmock/gmock.h>

namespace bootc {
namespace {

using namespace std::string_view_literals;
using reactor::awaitable;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::image_of;
using testing::machine;
using ::testing::Not;

TEST(EnteringTheHost, TheLineHasNoOptionThatUtilLinux234LacksOrRunsDirectly) {
  EXPECT_EQ(host_command_line(command_form::direct, {"bootc", "status"}),
            (std::vector<std::string>{"bootc", "status"}));
  EXPECT_EQ(host_command_line(command_form::nsenter, {"bootc", "status"}),
            (std::vector<std::string>{"nsenter", "--target", "1", "--mount", "--pid", "--cgroup",
                                      "--setuid", "0", "--setgid", "0", "--", "bootc", "status"}));
}

TEST(EnteringTheHost, TheEnvironmentIsThatOfTheHostsFirstProcessWithoutContainer) {
  using map = std::map<std::string, std::optional<std::string>>;
  const std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const auto block = [](std::initializer_list<const char*> entries) {
    std::string out;
    for (const char* e : entries) out += std::string(e) + '\0';
    return out;
  };
  EXPECT_EQ(host_environment(""), (map{{"PATH", path}}));
  EXPECT_EQ(host_environment(block({"HOME=/", "TERM=linux"})),
            (map{{"HOME", "/"}, {"PATH", path}, {"TERM", "linux"}}));
  EXPECT_EQ(host_environment(block({"container=lxc", "PATH=/bin", "A=b=c", "E="})),
            (map{{"A", "b=c"}, {"E", ""}, {"PATH", "/bin"}}));
  EXPECT_EQ(host_environment("=x\0\0novalue\0A=1"), (map{{"PATH", path}}))
      << "ends at the literal's NUL";
  EXPECT_EQ(host_environment("=x\0\0novalue\0A=1"sv), (map{{"A", "1"}, {"PATH", path}}))
      << "what is no variable is left out";
}

TEST(EnteringTheHost, NothingOfOurOwnEnvironmentGoesAlong) {
  machine m(command_form::nsenter);
  ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  m.put("fetch", "#!/bin/sh\nenv >" + (m.folder / "seen"));
  std::filesystem::permissions(m.folder / "fetch", std::filesystem::perms::owner_all);
  m.run([](machine& on) -> awaitable<void> {
    (void)co_await on.commands.inspect();
    auto staged = co_await on.stage('b');
    EXPECT_TRUE(staged) << (staged ? "" : staged.error().message());
    std::ifstream in(on.folder / "seen");
    const std::string seen((std::istreambuf_iterator<char>(in)), {});
    EXPECT_THAT(seen, HasSubstr("FAKE_HOST=" + on.folder.path()));
    EXPECT_THAT(seen, Not(HasSubstr("KUBERNETES_SERVICE_HOST")));
    EXPECT_THAT(seen, Not(HasSubstr("container=")));
  });
  ::unsetenv("KUBERNETES_SERVICE_HOST");
}

/// What inspect() says of a host.
std::string inspected(machine& m) {
  std::string said = "all is well";
  m.run([&said](machine& on) -> awaitable<void> {
    auto traits = co_await on.commands.inspect();
    if (!traits) said = traits.error().message();
  });
  return said;
}

TEST(EnteringTheHost, WhyItCannotBeDoneNamesTheProgram) {
  machine plain(command_form::nsenter);
  EXPECT_EQ(inspected(plain), "all is well");
  const std::string path = std::getenv("PATH");

  machine refusing(command_form::nsenter);
  reactor::put(refusing.folder / "nsenter",
               "#!/bin/sh\necho \"nsenter: unrecognized option '--mount'\" >&2\nexit 1\n");
  std::filesystem::permissions(refusing.folder / "nsenter", std::filesystem::perms::owner_all);
  ::setenv("PATH", (refusing.folder.path() + ":" + path).c_str(), 1);
  EXPECT_EQ(inspected(refusing),
            "nsenter cannot enter the host: nsenter: unrecognized option '--mount'");

  ::setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(inspected(plain), "nsenter cannot enter the host: there is no program \"nsenter\"");
  ::setenv("PATH", path.c_str(), 1);

  machine hidden(command_form::nsenter);
  std::filesystem::remove(hidden.folder / "proc/1/environ");
  EXPECT_THAT(inspected(hidden), HasSubstr("proc/1/environ: there is no such file"));
}

TEST(EnteringTheHost, AHostWithoutBootcIsToldApart) {
  machine m;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(inspected(m), "bootc switch --help: there is no program \"bootc\"");
  ::setenv("PATH", path.c_str(), 1);
}

TEST(CommandHost, AnImageThatDidNotBootIsTakenOutOfTheBootOrder) {
  machine m;
  m.put("unbootable", image_of('b'));
  m.put("staged", image_of('b'));
  m.power_on();
  m.run([](machine& on) -> awaitable<void> {
    auto fell_back = co_await on.status();
    EXPECT_EQ(fell_back.booted->image->digest, digest_of('a'));
    EXPECT_TRUE(fell_back.rollback_queued) << "the fake is kinder than a host";
    host_command c;
    c.action = host_action::stay;
    auto stays = co_await on.commands.run(c);
    EXPECT_TRUE(stays) << (stays ? "" : stays.error().message());
    auto after = co_await on.status();
    EXPECT_FALSE(after.rollback_queued);
    EXPECT_EQ(after.rollback->image->digest, digest_of('b'));
  });
}

TEST(CommandHost, WhatFailedOnTheHostIsNamed) {
  machine m;
  m.put("reboot_fails", "Failed to set wall message: Connection refused");
  m.run([](machine& on) -> awaitable<void> {
    host_command c;
    c.action = host_action::roll_back;
    auto back = co_await on.commands.run(c);
    EXPECT_FALSE(back);
    if (!back) {
      EXPECT_EQ(back.error().detail, "bootc rollback: Rolling back: No rollback available");
    }
    on.put("rollback", image_of('b'));
    auto down = co_await on.commands.run(c);
    EXPECT_FALSE(down);
    if (!down) {
      EXPECT_EQ(down.error().detail,
                "systemctl reboot: Failed to set wall message: Connection refused");
    }
    c.queued = true;  // as the status says now
    std::filesystem::remove(on.folder / "reboot_fails");
    auto again = co_await on.commands.run(c);
    EXPECT_TRUE(again) << (again ? "" : again.error().message());
    on.power_on();
    EXPECT_EQ(on.get("booted"), image_of('b')) << "the rollback was not taken back";
  });
}

TEST(CommandHost, ARebootThatEndsItsCommandHasNotFailedYet) {
  machine m;
  m.put("reboot_fails", "Call to Reboot failed: Connection reset by peer");
  command_host_options o = m.settings(command_form::direct);
  o.going_down_time = 1h;
  command_host going_down(m.loop, std::move(o));
  reactor::run_task(m.loop, [&]() -> awaitable<void> {
    std::optional<reactor::result<void>> ended;
    reactor::task_group tasks(m.loop);
    tasks.start("reboot", [&]() -> awaitable<void> {
      host_command c;
      c.action = host_action::reboot;
      ended.emplace(co_await going_down.run(std::move(c)));
    });
    for (int i = 0; i < 500 && m.log().find("systemctl reboot") == std::string::npos; ++i)
      co_await m.loop.sleep_for(10ms);
    co_await m.loop.sleep_for(200ms);
    EXPECT_FALSE(ended) << "the host may be going down";
    co_await tasks.cancel_and_join();
    co_await going_down.stop();
    co_await m.commands.stop();
  });
}

TEST(CommandHost, TheNextProcessKnowsWhatWasStagedForAPool) {
  machine m;
  m.run([](machine& on) -> awaitable<void> {
    auto before = co_await on.commands.inspect();
    EXPECT_TRUE(before && before->staged.empty());
    (void)co_await on.stage('b');
    command_host next(on.loop, on.settings(command_form::direct));
    auto traits = co_await next.inspect();
    EXPECT_TRUE(traits && traits->staged == image_of('b'));
    co_await next.stop();
    on.power_on();
    auto after = co_await on.commands.inspect();
    EXPECT_TRUE(after && after->staged.empty()) << "gone with what was staged";
  });
}

}  // namespace
}  // namespace bootc
