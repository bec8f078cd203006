// One file although it is long: each promise of the host, on one fixture of packs in a folder.
#include "policies/host/host.hpp"

#include "policies/disruption.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/fleet_values.hpp"
#include "policies/versions.hpp"
#include "reactor/loop_slice.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/trains/hooks.hpp"
#include "run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace policies {
namespace {

namespace fs = std::filesystem;
using reactor::errc;
using testing::HasSubstr;

using reactor::temporary_folder;

/// A pack whose rollout.plan answers `answer`.
std::string pack_text(const std::string& name, const std::string& answer,
                      const std::string& more = "") {
  return "return { name = '" + name + "', version = '1', " + more +
         " rollout = { plan = function() return " + answer + " end } }\n";
}

void add_hook(hook_list& to, std::string_view name) {
  hook h;
  h.name = name;
  to.push_back(std::move(h));
}

void add_release_hooks(hook_list& to) {
  add_hook(to, releases::map_hook().name);
  add_hook(to, releases::diff_hook().name);
  for (const auto& more :
       {releases::planning_hooks(), releases::offering_hooks(), trains::train_hooks()})
    for (const hook& h : more) add_hook(to, h.name);
}

sandbox_limits that_know_hooks() {
  hook_list known;
  for (const char* name : {"versions.resolve", "rollout.plan", "disruption.admit", "compose.sync",
                           "compose.related", "compose.data", "fleet.revision"})
    add_hook(known, name);
  add_release_hooks(known);
  sandbox_limits limits;
  limits.hooks = std::make_shared<const hook_list>(std::move(known));
  return limits;
}

struct fixture {
  explicit fixture(std::vector<std::string> folders, bool stock = false)
      : packs(l, {.folders = std::move(folders), .stock = stock, .limits = that_know_hooks()}) {
    packs.on_event = [this](const pack_event& e) { events.push_back(e); };
  }
  std::string ask(const subject& s = {}) {
    std::string text;
    run_task(l, [&]() -> reactor::awaitable<void> {
      std::vector<argument> none;
      auto made = co_await packs.call("rollout.plan", s, std::move(none));
      text = made ? to_text(*made->answer) : "!" + made.error().message();
    });
    return text;
  }
  std::string load() {
    std::string text;
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      if (!loaded) text = loaded.error().message();
    });
    return text;
  }
  void reload() {
    run_task(l, [&]() -> reactor::awaitable<void> { co_await packs.reload(); });
  }

  reactor::loop l{reactor::loop::mode::simulated, 1};
  std::vector<pack_event> events;
  host packs;
};

TEST(PolicyHost, AsksThePackThatApplies) {
  temporary_folder folder;
  folder.write("b/policy.lua", pack_text("b", "'b'", "order = 10,"));
  folder.write("a/policy.lua", pack_text("a", "'a'", "order = 20,"));
  folder.write(
      "web/policy.lua",
      pack_text("web", "'web'",
                "order = 1, applies = { apis = {'bootc'}, clusters = {env = {'prod', 'dev'}}, "
                "objects = {tier = 'web', frozen = false} },"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), R"("b")");
  EXPECT_EQ(f.ask({"bootc", {{"env", "prod"}}, {{"tier", "web"}}, {}}), R"("web")");
  EXPECT_EQ(f.ask({"bootc", {{"env", "prod"}}, {{"tier", "web"}, {"frozen", "x"}}, {}}), R"("b")");
  EXPECT_EQ(f.ask({"bootc", {{"env", "test"}}, {{"tier", "web"}}, {}}), R"("b")");
  EXPECT_EQ(f.ask({"tenants", {{"env", "prod"}}, {{"tier", "web"}}, {}}), R"("b")");
  EXPECT_EQ(f.ask({"bootc", {}, {}, "a"}), R"("a")");
  EXPECT_EQ(f.ask({"bootc", {}, {}, "nobody"}),
            "!rollout.plan: there is no policy pack named nobody");
}

TEST(PolicyHost, BreaksTiesByName) {
  temporary_folder folder;
  folder.write("x/policy.lua", pack_text("n2", "2"));
  folder.write("y/policy.lua", pack_text("n1", "1"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), "1");
}

TEST(PolicyHost, GivesFoldersPrecedenceOverStockPacks) {
  temporary_folder folder;
  folder.write("mine/policy.lua", pack_text("mine", "'mine'", "order = 5000,"));
  fixture f({folder.path()}, true);
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), R"("mine")");
  EXPECT_EQ(f.packs.status().size(), stock_packs().size() + 1);
}

TEST(PolicyHost, SaysWhatIsWrongWithAFolder) {
  temporary_folder folder;
  EXPECT_THAT(fixture({folder.path() + "/none"}).load(), HasSubstr("no such folder"));
  EXPECT_THAT(fixture({folder.path()}).load(),
              HasSubstr("no pack in it; a pack is a folder with policy.lua"));
  const auto problem = [&](const std::string& source) {
    folder.write("p/policy.lua", source);
    return fixture({folder.path()}).load();
  };
  EXPECT_THAT(problem("return {\n  name = \n"), HasSubstr("p/policy.lua:3: unexpected symbol"));
  EXPECT_THAT(problem("x = 1"), HasSubstr("p/policy.lua:1: policies keep no state"));
  EXPECT_THAT(problem(""), HasSubstr("policy.lua: it must end with `return"));
  EXPECT_THAT(problem("return { version = '1' }"), HasSubstr("policy.lua: name: expected"));
  EXPECT_THAT(problem("return { name = 1 }"),
              HasSubstr("policy.lua: name: expected a string, got a number"));
  EXPECT_EQ(problem("return { name = 'p', api = 2 }"), problem("return { name = 'p' }"));
  EXPECT_THAT(problem("return { name = 'p', api = 1 }"),
              HasSubstr("policy.lua: api: 1 is too old: this program has version 2 of the hooks; "
                        "since 0.2.0 an empty list is written list(), and"));
  EXPECT_THAT(
      problem("return { name = 'p', api = 3 }"),
      HasSubstr("policy.lua: api: 3 is newer than this program: this program has version 2"));
  for (const char* none : {"0", "-1", "1.5", "1e300"})
    EXPECT_THAT(problem("return { name = 'p', api = " + std::string(none) + " }"),
                HasSubstr("policy.lua: api: expected a whole number from 1 on"))
        << none;
  EXPECT_THAT(problem("return { name = 'p', api = '2' }"),
              HasSubstr("policy.lua: api: expected a number, got a string"));
  EXPECT_THAT(problem("return { name = 'p', rolout = {} }"),
              HasSubstr("unknown entry 'rolout', is it rollout?"));
  EXPECT_THAT(problem("return { name = 'p', rollout = { plan = 1 } }"),
              HasSubstr("rollout.plan: expected a function, got a number"));
  EXPECT_THAT(problem("return { name = 'p', rollout = { pln = 1 } }"),
              HasSubstr("rollout.pln: no such hook, is it plan?; rollout has plan"));
  EXPECT_THAT(problem("return { name = 'p', applies = { apis = 'x' } }"),
              HasSubstr("applies.apis: expected a list of strings"));
  EXPECT_THAT(problem("return { name = 'p', applies = { clusters = { a = 1 } } }"),
              HasSubstr("applies.clusters.a: expected"));
  EXPECT_THAT(problem("while true do end"), HasSubstr("gave up after"));
  EXPECT_THAT(problem("return require('other')"), HasSubstr("no file 'other.lua' in this pack"));
  EXPECT_THAT(problem("return require('../../etc/passwd')"), HasSubstr("in this pack"));
  EXPECT_THAT(problem(std::string(70'000, ' ')), HasSubstr("larger than 64 KiB"));
}

TEST(PolicyHost, RefusesLinksOutOfTheFolder) {
  temporary_folder folder, elsewhere;
  elsewhere.write("secret.lua", "return 'secret'");
  folder.write("p/policy.lua", pack_text("p", "1"));
  fs::create_symlink(elsewhere / "secret.lua", folder / "p/stolen.lua");
  EXPECT_THAT(fixture({folder.path()}).load(), HasSubstr("is a link out of the folder of packs"));
}

TEST(PolicyHost, TakesAPackOnceWhatStoodInItsWayIsGone) {
  temporary_folder folder, elsewhere;
  elsewhere.write("more.lua", "return {}");
  folder.write("p/policy.lua", pack_text("p", "'p'"));
  fs::create_symlink(elsewhere / "more.lua", folder / "p/stolen.lua");
  fixture f({folder.path()});
  EXPECT_NE(f.load(), "");
  fs::remove(folder / "p/stolen.lua");
  f.reload();
  EXPECT_EQ(f.ask(), R"("p")");
}

TEST(PolicyHost, KeepsAPackWhoseFolderCannotBeReadNow) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "'p'"));
  folder.write("q/policy.lua", pack_text("q", "'q'"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  // Nobody can ask what is behind a link that leads to itself, root neither; it stands for a disk
  // that does not answer.
  fs::rename(folder / "p/policy.lua", folder / "p/policy.txt");
  fs::create_symlink("policy.lua", folder / "p/policy.lua");
  f.reload();
  EXPECT_EQ(f.ask(), R"("p")");
  EXPECT_EQ(f.events.back().what, pack_event::kind::refused);
}

TEST(PolicyHost, LoadsModulesAndDataOfThePack) {
  temporary_folder folder;
  folder.write("p/policy.lua",
               "local m = require('lib.names') assert(require('lib.names') == m) "
               "return { name = m.name, rollout = { plan = function() return file('data.txt') .. "
               "m.name end } }");
  folder.write("p/lib/names.lua", "return { name = 'p' }");
  folder.write("p/data.txt", "hello ");
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), R"("hello p")");
}

TEST(PolicyHost, TakesAnEditAndReportsIt) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  folder.write("p/policy.lua", pack_text("p", "2"));
  f.reload();
  EXPECT_EQ(f.ask(), "2");
  ASSERT_EQ(f.events.size(), 2u);
  EXPECT_EQ(f.events[1].what, pack_event::kind::reloaded);
  EXPECT_EQ(f.packs.reloads(), 1u);
  f.reload();  // nothing changed
  EXPECT_EQ(f.events.size(), 2u);
}

TEST(PolicyHost, KeepsTheOldPackWhenTheNewOneIsBroken) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  folder.write("p/policy.lua", "return {\n  name = 'p',,\n}");
  f.reload();
  EXPECT_EQ(f.ask(), "1");
  ASSERT_EQ(f.events.size(), 2u);
  EXPECT_EQ(f.events[1].what, pack_event::kind::refused);
  EXPECT_EQ(f.events[1].file, "p/policy.lua");
  EXPECT_EQ(f.events[1].line, 2);
  EXPECT_EQ(f.events[1].message(),
            "policy pack p 1 refused: p/policy.lua:2: unexpected symbol near ','; the loaded "
            "version stays");
  EXPECT_THAT(f.packs.status()[0].refused, HasSubstr("unexpected symbol"));
  folder.write("p/policy.lua", pack_text("p", "3"));
  f.reload();
  EXPECT_EQ(f.ask(), "3");
  EXPECT_EQ(f.packs.status()[0].refused, "");
}

TEST(PolicyHost, KeepsTheOldPackWhenTheTestsOfTheNewOneFail) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  folder.write("p/policy_test.lua",
               "local p = require('policy')\ntest('answers one', function()\n  "
               "expect_equal(p.rollout.plan(), 1)\nend)\n");
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  folder.write("p/policy.lua", pack_text("p", "2"));
  f.reload();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_EQ(f.events.back().message(),
            "policy pack p 1 refused: p/policy_test.lua:3: test \"answers one\" failed: "
            "expected 1, got 2; the loaded version stays");
}

TEST(PolicyHost, KeepsAPackWhoseFolderVanishesUntilSomebodyAsksForAReload) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  folder.write("q/policy.lua", pack_text("q", "2"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  f.packs.start();
  const auto pass = [&] { f.l.run_until(f.l.now() + std::chrono::seconds(10)); };
  fs::rename(folder / "p", folder / ".p");
  pass();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_EQ(f.events.back().message(),
            "policy pack p 1 refused: its folder is gone; a reload (SIGHUP) takes the pack out of "
            "force; the loaded version stays");
  EXPECT_THAT(f.packs.status()[0].refused, HasSubstr("read policy pack p: its folder is gone"));
  EXPECT_EQ(f.packs.refusals(), 1u);
  folder.write("q/policy.lua", pack_text("q", "3"));
  pass();  // said once, however often the rest changes
  EXPECT_EQ(f.packs.refusals(), 1u);
  fs::rename(folder / ".p", folder / "p");
  pass();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_EQ(f.packs.status()[0].refused, "");
  fs::rename(folder / "p", folder / "elsewhere");  // its name is there all the same
  pass();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_EQ(f.packs.status().size(), 2u);
  EXPECT_EQ(f.packs.status()[0].folder, "elsewhere");
  fs::remove_all(folder / "elsewhere");
  pass();
  EXPECT_EQ(f.ask(), "1");
  f.reload();
  EXPECT_EQ(f.ask(), "3");
  EXPECT_EQ(f.events.back().what, pack_event::kind::removed);
  run_task(f.l, [&]() -> reactor::awaitable<void> { co_await f.packs.stop(); });
}

TEST(PolicyHost, ForgetsAPackWhoseFolderIsGone) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  folder.write("q/policy.lua", pack_text("q", "2"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  fs::remove_all(folder / "p");
  f.reload();
  EXPECT_EQ(f.ask(), "2");
  EXPECT_EQ(f.events.back().what, pack_event::kind::removed);
  // All of it gone at once looks like a broken mount: what is loaded stays.
  fs::remove_all(folder / "q");
  f.reload();
  EXPECT_EQ(f.ask(), "2");
  EXPECT_EQ(f.events.back().what, pack_event::kind::refused);
}

TEST(PolicyHost, KnowsAPackWhoseFolderWasRenamed) {
  temporary_folder folder;
  folder.write("b/policy.lua", pack_text("p", "1"));
  folder.write("c/policy.lua", pack_text("q", "2", "order = 200,"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  fs::rename(folder / "b", folder / "a");
  f.reload();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_EQ(f.packs.status()[0].folder, "a");
  EXPECT_EQ(f.packs.status()[0].refused, "");
  EXPECT_EQ(f.packs.status().size(), 2u);
}

TEST(PolicyHost, TakesAPackWhoseNameBecameFree) {
  temporary_folder folder;
  folder.write("a/policy.lua", pack_text("p", "1"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  folder.write("b/policy.lua", pack_text("p", "2"));
  f.reload();
  EXPECT_EQ(f.events.back().message(),
            "policy pack b refused: its name p belongs to the pack in a");
  EXPECT_EQ(f.ask(), "1");
  // Two in one edit: "a" is looked at first, so "b" is tried once more behind it.
  folder.write("a/policy.lua", pack_text("q", "3", "order = 200,"));
  f.reload();
  EXPECT_EQ(f.ask(), "2");
  folder.write("a/policy.lua", pack_text("p", "4"));
  folder.write("b/policy.lua", pack_text("r", "5", "order = 200,"));
  f.reload();
  EXPECT_EQ(f.ask(), "4") << "the name that the later one left";
}

TEST(PolicyHost, SaysOfEachPackThatItsFolderCannotBeReadNow) {
  temporary_folder folder;
  folder.write("all/p/policy.lua", pack_text("p", "1"));
  fixture f({folder / "all"});
  ASSERT_EQ(f.load(), "");
  fs::rename(folder / "all", folder / "away");
  f.reload();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_THAT(f.packs.status()[0].refused, HasSubstr("no such folder"));
  EXPECT_THAT(f.events.back().message(), HasSubstr("no such folder"));
  fs::rename(folder / "away", folder / "all");
  f.reload();
  EXPECT_EQ(f.packs.status()[0].refused, "");
}

TEST(PolicyHost, RefusesATestThatLoops) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "1"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  folder.write("p/policy_test.lua", "test('for ever', function() while true do end end)\n");
  f.reload();
  EXPECT_EQ(f.ask(), "1");
  EXPECT_THAT(f.events.back().message(), HasSubstr("test \"for ever\" failed: "));
  EXPECT_THAT(f.events.back().message(), HasSubstr("the loaded version stays"));
}

TEST(PolicyHost, AsksTheFirstOfSeveralFoldersFirst) {
  temporary_folder first, second;
  first.write("p/policy.lua", pack_text("p", "'first'", "order = 900,"));
  second.write("p/policy.lua", pack_text("p", "'second'", "order = 1,"));
  second.write("q/policy.lua", pack_text("q", "'q'", "order = 2,"));
  fixture f({first.path(), second.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), R"("first")");
  EXPECT_EQ(f.ask({"bootc", {}, {}, "q"}), R"("q")");
  const std::vector<pack_status> all = f.packs.status();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].from, first.path());
  EXPECT_FALSE(all[0].hidden);
  EXPECT_EQ(all[1].from, second.path());
  EXPECT_TRUE(all[1].hidden) << "the first folder has one of its name";
  EXPECT_NE(all[0].digest, all[1].digest);
  EXPECT_TRUE(all[0].digest.starts_with("sha256:"));
}

TEST(PolicyHost, FollowsTheLinksOfAMountedConfigMap) {
  temporary_folder folder;
  folder.write("..1/policy.lua", pack_text("p", "1"));
  folder.write("..2/policy.lua", pack_text("p", "2"));
  fs::create_symlink("..1", folder / "..data");
  fs::create_symlink("..data/policy.lua", folder / "policy.lua");
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), "1");
  f.packs.start();
  f.l.run_until(f.l.now() + std::chrono::seconds(10));
  EXPECT_EQ(f.ask(), "1");
  fs::create_symlink("..2", folder / "..new");
  fs::rename(folder / "..new", folder / "..data");
  f.l.run_until(f.l.now() + std::chrono::seconds(10));
  EXPECT_EQ(f.ask(), "2");
  run_task(f.l, [&]() -> reactor::awaitable<void> { co_await f.packs.stop(); });
}

TEST(PolicyHost, ManyAnswersInARowLetOthersRun) {
  fixture f({}, true);
  ASSERT_EQ(f.load(), "");
  const auto input = std::make_shared<rollout_input>();
  input->units.resize(1);
  input->units.front().name = "w1";
  bool done = false;
  std::size_t turns_of_others = 0;
  reactor::task_group tasks(f.l);
  tasks.start("ask", [&]() -> reactor::awaitable<void> {
    for (int i = 0; i < 3'000; ++i) {
      subject about;
      about.api = "bootc";
      const std::shared_ptr<const rollout_input> same = input;
      (void)co_await admit_disruption(f.packs, std::move(about), same, 0, f.l.wall());
    }
    done = true;
  });
  tasks.start("others", [&]() -> reactor::awaitable<void> {
    while (!done) {
      ++turns_of_others;
      co_await f.l.yield();
    }
  });
  f.l.run();
  EXPECT_GE(turns_of_others, 3'000 / reactor::loop_slice::most_steps);
}

TEST(PolicyHost, FinishesACallOnThePackItBeganWith) {
  temporary_folder folder;
  const std::string slow = "(function() local n = 0 for i = 1, 20000 do n = n + 1 end return ";
  folder.write("p/policy.lua", pack_text("p", slow + "'old' end)()"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  std::string old_answer;
  reactor::task_group tasks(f.l);
  tasks.start("call", [&]() -> reactor::awaitable<void> {
    std::vector<argument> none;
    subject anyone;
    auto made =
        co_await f.packs.call("rollout.plan", std::move(anyone), std::move(none), 1'000'000);
    if (made) old_answer = to_text(*made->answer);
  });
  tasks.start("reload", [&]() -> reactor::awaitable<void> {
    folder.write("p/policy.lua", pack_text("p", slow + "'new' end)()"));
    co_await f.packs.reload();
  });
  f.l.run();
  EXPECT_EQ(old_answer, R"("old")");
  EXPECT_EQ(f.ask(), R"("new")");
}

TEST(PolicyHost, RemembersAPolicyFaultUntilItAnswersAgain) {
  temporary_folder folder;
  folder.write("p/policy.lua",
               "return { name = 'p', rollout = { plan = function(x) if x then return 1 "
               "end\nerror('boom') end } }");
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  EXPECT_EQ(f.ask(), "!policy p: rollout.plan: p/policy.lua:2: boom");
  EXPECT_EQ(f.ask(), "!policy p: rollout.plan: p/policy.lua:2: boom");
  ASSERT_TRUE(f.packs.status()[0].fault);
  EXPECT_EQ(f.packs.status()[0].fault->count, 2u);
  EXPECT_EQ(f.packs.status()[0].fault->hook, "rollout.plan");
  EXPECT_EQ(f.packs.faults(), 2u);
  run_task(f.l, [&]() -> reactor::awaitable<void> {
    std::vector<argument> one{argument(value(true))};
    subject anyone;
    auto made = co_await f.packs.call("rollout.plan", std::move(anyone), std::move(one));
    EXPECT_TRUE(made.has_value());
  });
  EXPECT_FALSE(f.packs.status()[0].fault);
}

TEST(PolicyHost, CountsAnAnswerThatItsCallerRefuses) {
  temporary_folder folder;
  folder.write("p/policy.lua", pack_text("p", "'nonsense'"));
  fixture f({folder.path()});
  ASSERT_EQ(f.load(), "");
  for (std::uint64_t i = 1; i <= 2; ++i) {
    run_task(f.l, [&]() -> reactor::awaitable<void> {
      std::vector<argument> none;
      subject anyone;
      judge refuse = [](const value&) -> reactor::result<void> {
        return reactor::make_fault(errc::malformed, {}, "expected sense");
      };
      auto made = co_await f.packs.call("rollout.plan", std::move(anyone), std::move(none),
                                        unit_instructions, std::move(refuse));
      EXPECT_EQ(made ? "" : made.error().message(), "policy p: rollout.plan: expected sense");
    });
    ASSERT_TRUE(f.packs.status()[0].fault);
    EXPECT_EQ(f.packs.status()[0].fault->count, i);
  }
}

TEST(PolicyHost, ReloadsAgainAfterAReloadWasCancelled) {
  for (int at = 0; at < 8; ++at) {
    temporary_folder folder;
    folder.write("p/policy.lua", pack_text("p", "1"));
    folder.write("p/policy_test.lua", "test('slow', function() for i = 1, 50000 do end end)");
    fixture f({folder.path()});
    ASSERT_EQ(f.load(), "");
    folder.write("p/policy.lua", pack_text("p", "2"));
    reactor::task_group tasks(f.l);
    tasks.start("reload", [&]() -> reactor::awaitable<void> { co_await f.packs.reload(); });
    tasks.start("stop", [&]() -> reactor::awaitable<void> {
      for (int i = 0; i < at; ++i) co_await f.l.yield();
      f.l.post([&] { tasks.cancel(); });
    });
    f.l.run();
    EXPECT_TRUE(tasks.empty());
    EXPECT_THAT(f.ask(), testing::AnyOf("1", "2"));  // all of the change or nothing of it
    f.reload();
    EXPECT_EQ(f.ask(), "2");
  }
}

TEST(PolicyHost, RefusesTwoPacksOfOneName) {
  temporary_folder folder;
  folder.write("a/policy.lua", pack_text("same", "1"));
  folder.write("b/policy.lua", pack_text("same", "2"));
  EXPECT_THAT(fixture({folder.path()}).load(), HasSubstr("its name same belongs to the pack in a"));
}

TEST(PolicyPacks, OfTheProgramAndTheExamplesPassTheirTests) {
  hook_list all{versions_hook(), rollout_hook(), disruption_hook(), fleet_values_hook(),
                fleet_revision_hook()};
  add_release_hooks(all);
  const auto hooks = std::make_shared<const hook_list>(std::move(all));
  reactor::loop l(reactor::loop::mode::simulated, 1);
  for (const std::string root : {"/policies/disruption", "/policies/releases", "/policies/rollout",
                                 "/policies/trains", "/policies/versions", "/policies/examples"}) {
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto reports = co_await test_packs(l, WINDLASS_SOURCE_DIR + root, hooks);
      EXPECT_TRUE(reports.has_value());
      if (!reports) co_return;
      for (const pack_report& r : *reports) {
        EXPECT_TRUE(r.passed()) << r.folder << (r.fault ? r.fault->message() : "");
        EXPECT_GE(r.tests.size(), 2u) << r.folder;
        for (const test_outcome& t : r.tests)
          EXPECT_TRUE(t.passed) << t.file << ": " << t.name << ": " << t.message;
      }
    });
  }
}

TEST(PolicyPacks, AreTestedToTheFirstFailureWithoutCountingLines) {
  temporary_folder folder;
  folder.write("a/policy.lua", pack_text("a", "1"));
  folder.write("a/policy_test.lua",
               "test('one', function() end)\n"
               "test('two', function() error('as it should be') end)\n"
               "test('three', function() end)\n");
  folder.write("b/policy.lua", pack_text("b", "1"));
  folder.write("b/policy_test.lua", "test('fine', function() end)\n");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  const auto tested = [&](run_tests which) {
    std::vector<pack_report> out;
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto reports = co_await test_packs(l, folder.path(), {}, which);
      EXPECT_TRUE(reports.has_value());
      if (reports) out = std::move(*reports);
    });
    return out;
  };
  const std::vector<pack_report> whole = tested(run_tests::all);
  ASSERT_EQ(whole.size(), 2u);
  EXPECT_EQ(whole[0].tests.size(), 3u);
  EXPECT_FALSE(whole[0].coverage.empty());
  const std::vector<pack_report> cut = tested(run_tests::until_one_fails);
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_FALSE(cut[0].passed());
  ASSERT_EQ(cut[0].tests.size(), 2u);
  EXPECT_THAT(cut[0].tests[1].message, HasSubstr("as it should be"));
  EXPECT_TRUE(cut[0].coverage.empty());
}

TEST(PolicyPacks, TestsThatLoopAreCutOffTogether) {
  temporary_folder folder;
  folder.write("a/policy.lua", pack_text("a", "1"));
  folder.write("a/policy_test.lua",
               "for i = 1, 500 do test('loops ' .. i, function() while true do end end) end\n");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  std::vector<pack_report> reports;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto tested = co_await test_packs(l, folder.path(), {}, run_tests::all);
    EXPECT_TRUE(tested.has_value());
    if (tested) reports = std::move(*tested);
  });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].passed());
  ASSERT_EQ(reports[0].tests.size(), 51u) << "50 used up what all 500 may take";
  EXPECT_THAT(reports[0].tests.back().message, HasSubstr("1000000000 instructions together"));
}

TEST(PolicyPacks, AFailedTestCountsForWhatItTook) {
  temporary_folder folder;
  folder.write("a/policy.lua", pack_text("a", "1"));
  folder.write("a/policy_test.lua",
               "for i = 1, 200 do test('fails ' .. i, function() error('no') end) end\n");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  std::vector<pack_report> reports;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto tested = co_await test_packs(l, folder.path(), {}, run_tests::all);
    EXPECT_TRUE(tested.has_value());
    if (tested) reports = std::move(*tested);
  });
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports[0].tests.size(), 200u);
  EXPECT_THAT(reports[0].tests.back().message, HasSubstr("no"));
}

TEST(PolicyPacks, BuiltInEqualTheFiles) {
  std::map<std::string, pack_files> on_disk;
  for (const char* family : {"disruption", "releases", "rollout", "trains", "versions"}) {
    auto read = read_packs(std::string(WINDLASS_SOURCE_DIR) + "/policies/" + family);
    ASSERT_TRUE(read);
    for (pack_source& pack : *read) on_disk[family + ("/" + pack.folder)] = std::move(pack.files);
  }
  auto alone = read_packs(std::string(WINDLASS_SOURCE_DIR) + "/policies/trustee");
  ASSERT_TRUE(alone);
  for (pack_source& pack : *alone) on_disk[pack.folder] = std::move(pack.files);
  std::map<std::string, pack_files> built_in;
  for (pack_source& pack : stock_packs()) built_in[pack.folder] = std::move(pack.files);
  EXPECT_EQ(built_in, on_disk);
}

}  // namespace
}  // namespace policies
