#include "cli/apis.hpp"
#include "policies/commands/policy_new.hpp"
#include "policies/host/pack.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace cli {
namespace {
using policies::run_task;

std::string source_file(const std::string& path) {
  std::ifstream in(std::string(WINDLASS_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Hooks, StandInTheReferenceAsTheProgramDescribesThem) {
  EXPECT_EQ(source_file("docs/hooks.md"), policies::reference_page(*all_hooks()))
      << "older than the hooks: build/release/windlass policy reference > docs/hooks.md";
  EXPECT_EQ(source_file("policies/types/hooks.lua"), policies::editor_types(*all_hooks()))
      << "older than the hooks: build/release/windlass policy types > policies/types/hooks.lua";
}

TEST(Hooks, SayWhatTheyAreForAndWhatAFailureDoes) {
  for (const policies::hook& h : *all_hooks()) {
    if (!h.is_described()) continue;
    EXPECT_FALSE(h.asked.empty() || h.failure.empty() || h.budget.empty()) << h.name;
    EXPECT_TRUE(h.typical) << h.name;
    EXPECT_EQ(h.answer.is, policies::shape::kind::record) << h.name;
  }
}

TEST(Hooks, ThatNoNamedApiAsksRefuseThePack) {
  const auto problem = [](const std::string& apis, const std::string& family) {
    reactor::temporary_folder folder;
    folder.write("mine/policy.lua", "return { name = 'mine', version = '1', applies = { apis = { " +
                                        apis + " } }, " + family +
                                        " = { plan = function() end } }");
    std::string said;
    reactor::loop l(reactor::loop::mode::simulated, 1);
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto checked = co_await policies::check_packs(l, folder.path(), all_hooks());
      if (checked && checked->front().fault) said = checked->front().fault->message();
    });
    return said;
  };
  EXPECT_EQ(problem("'bootc'", "rollout"), "");
  EXPECT_EQ(problem("'tenants', 'bootc'", "rollout"), "");
  EXPECT_THAT(
      problem("'bootcs'", "rollout"),
      testing::HasSubstr("policy.lua: applies.apis[1]: no API 'bootcs' asks its hooks, is it "
                         "bootc?; known are bootc, tenants"));
  EXPECT_THAT(problem("'bootc', 'compose'", "rollout"),
              testing::HasSubstr("applies.apis[2]: no API 'compose' asks its hooks; known are"));
}

TEST(PolicyNew, MakesAPackForEachHookThatPassesItsCheckAndItsTests) {
  for (const policies::hook& h : *all_hooks()) {
    if (!h.is_described()) continue;
    reactor::temporary_folder folder;
    auto files = new_pack("mine", h.name, *all_hooks());
    ASSERT_TRUE(files) << files.error().message();
    for (const auto& [name, content] : *files) folder.write("mine/" + name, content);
    reactor::loop l(reactor::loop::mode::simulated, 1);
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto checked = co_await policies::check_packs(l, folder.path(), all_hooks());
      auto tested = co_await policies::test_packs(l, folder.path(), all_hooks());
      EXPECT_TRUE(checked.has_value() && tested.has_value()) << h.name;
      if (!checked || !tested) co_return;
      for (const auto& report : {checked->front(), tested->front()}) {
        EXPECT_TRUE(report.passed()) << h.name << (report.fault ? report.fault->message() : "");
        for (const auto& t : report.tests) EXPECT_TRUE(t.passed) << h.name << ": " << t.message;
        for (const auto& t : report.trials)
          EXPECT_FALSE(t.fault) << h.name << ": " << t.fault->message();
        for (const auto& s : report.slips) ADD_FAILURE() << s.message();
      }
      EXPECT_EQ(tested->front().tests.size(), 1u);
    });
  }
}

TEST(PolicyCheck, AsksPacksThatComposeAboutTheirOwnKindWithTheirOwnFiles) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto checked = co_await policies::check_packs(
        l, std::string(WINDLASS_SOURCE_DIR) + "/docs/compose", all_hooks());
    EXPECT_TRUE(checked.has_value());
    if (!checked) co_return;
    EXPECT_EQ(checked->size(), 1u);
    for (const auto& report : *checked) {
      EXPECT_TRUE(report.passed());
      EXPECT_FALSE(report.trials.empty());
      for (const auto& t : report.trials) EXPECT_FALSE(t.fault) << t.hook << t.fault->message();
      for (const auto& s : report.slips) ADD_FAILURE() << s.message();
    }
  });
}

TEST(PolicyNew, NamesTheHooksThereAre) {
  auto wrong = new_pack("mine", "rollout.plam", *all_hooks());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(),
              testing::HasSubstr("there are versions.resolve, rollout.plan"));
  EXPECT_FALSE(new_pack("../mine", "rollout.plan", *all_hooks()));
}

TEST(StockPacks, AreTestedLineByLine) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto reports = co_await policies::test_packs(l, std::string(WINDLASS_SOURCE_DIR) + "/policies",
                                                 all_hooks());
    EXPECT_TRUE(reports.has_value());
    if (!reports) co_return;
    std::size_t lines = 0, ran = 0;
    for (const auto& r : *reports) {
      EXPECT_TRUE(r.passed()) << r.folder << (r.fault ? ": " + r.fault->message() : "");
      for (const auto& t : r.tests)
        EXPECT_TRUE(t.passed) << r.folder << ": " << t.name << ": " << t.message;
      for (const auto& t : r.trials)
        EXPECT_FALSE(t.fault) << r.folder << ": " << t.fault->message();
      // those have their data in tests/releases
      if (r.folder.starts_with("releases") || r.folder.starts_with("trains")) continue;
      for (const auto& f : r.coverage) {
        lines += f.lines;
        ran += f.ran;
      }
    }
    EXPECT_GE(10 * ran, 9 * lines) << ran << " of " << lines << " lines";
  });
}

}  // namespace
}  // namespace cli
