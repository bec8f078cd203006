#include "releases/rules/hooks.hpp"

#include "host/run.hpp"
#include "policies/disruption.hpp"
#include "policies/hold_text.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"
#include "policies/versions.hpp"
#include "releases/trains/hooks.hpp"
#include "releases/trains/train.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

namespace policies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

hook_list release_and_train_hooks() {
  hook_list all{releases::map_hook(), releases::diff_hook()};
  for (auto more : {releases::planning_hooks(), releases::offering_hooks(), trains::train_hooks()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

shared_hooks three_hooks() {
  hook_list all;
  all.push_back(rollout_hook());
  all.push_back(disruption_hook());
  all.push_back(versions_hook());
  return std::make_shared<const hook_list>(std::move(all));
}

constexpr const char* good_plan =
    "local function plan(units, fleet, now)\n  local start = {}\n  for _, unit in ipairs(units) "
    "do\n"
    "    if unit.state == fleet.startable and #start < fleet.free then start[#start + 1] = "
    "unit.name end\n"
    "  end\n  return { start = start }\nend\nreturn { name = 'p', rollout = { plan = plan } }\n";

/// What `policy test` says of a pack with that one test.
pack_report tested(const std::string& policy, const std::string& body) {
  reactor::temporary_folder folder;
  folder.write("p/policy.lua", policy);
  folder.write("p/policy_test.lua",
               "local policy = require('policy')\ntest('it', function()\n" + body + "\nend)\n");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_report report;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto reports = co_await test_packs(l, folder.path(), three_hooks());
    EXPECT_TRUE(reports.has_value()) << (reports ? "" : reports.error().message());
    if (reports) report = std::move(reports->front());
  });
  return report;
}

std::string message_of(const pack_report& r) {
  return r.fault ? r.fault->message() : r.tests.empty() ? "no test" : r.tests.front().message;
}

pack_report checked(const std::string& policy, shared_hooks hooks = three_hooks()) {
  reactor::temporary_folder folder;
  folder.write("p/policy.lua", policy);
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_report report;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto reports = co_await check_packs(l, folder.path(), hooks);
    EXPECT_TRUE(reports.has_value()) << (reports ? "" : reports.error().message());
    if (reports) report = std::move(reports->front());
  });
  return report;
}

TEST(HookShape, NamesThePlaceOfWhatIsWrong) {
  const shape s =
      record_shape("plan", {{"start", list_shape(text_shape("a unit name")), {}, {}, true, {}},
                            {"by", map_shape(word_shape({"first", "last"})), {}, {}, true, {}},
                            {"wait", number_shape("seconds, 0 or more", 0), {}, {}, false, {}}});
  const auto why = [&](value v) {
    auto fine = check(v, s);
    return fine ? std::string() : fine.error().detail;
  };
  EXPECT_EQ(why(value::object{{"wait", 1}}), "");
  EXPECT_EQ(why(value::object{}), "wait: expected seconds, 0 or more, got nil");
  EXPECT_EQ(why(value::object{{"wait", -1}}), "wait: expected seconds, 0 or more, got a number");
  EXPECT_EQ(why(value::object{{"wait", 1}, {"start", value::array{"a", 2}}}),
            "start[2]: expected a unit name, got a number");
  EXPECT_EQ(why(value::object{{"wait", 1}, {"by", value::object{{"a/b", "frist"}}}}),
            "by[\"a/b\"]: 'frist', is it first?; known are first, last");
  EXPECT_EQ(why(value::object{{"wiat", 1}}),
            "the answer: unknown entry 'wiat', is it wait?; known are start, by, wait");
  EXPECT_EQ(why("x"), "the answer: expected a table, got a string");
}

TEST(HookShape, KnowsASlipOfTheFingersFromAnotherWord) {
  EXPECT_TRUE(is_slip("slottd", "slotted"));
  EXPECT_TRUE(is_slip("lables", "labels"));
  EXPECT_TRUE(is_slip("fre", "free"));
  EXPECT_FALSE(is_slip("free", "free"));
  EXPECT_FALSE(is_slip("pool", "zone"));
  EXPECT_FALSE(is_slip("stage", "image"));
  EXPECT_FALSE(is_slip(std::string(500, 'x'), "zone"));
}

TEST(HookShape, FollowsFromTheTypesThatViewsShow) {
  const hook h = rollout_hook();
  ASSERT_EQ(h.arguments.size(), 3u);
  const shape& unit = h.arguments[0].is.of.front();
  EXPECT_EQ(unit.name, "unit");
  const auto member = [&](const std::string& name) {
    for (const shape_member& m : unit.members)
      if (m.name == name) return m;
    return shape_member();
  };
  EXPECT_EQ(member("labels").is.is, shape::kind::map);
  EXPECT_EQ(member("ready").otherwise, value(true));
  EXPECT_EQ(member("since").unit, "unix seconds");
}

TEST(HookTests, SeeFieldsOfFreshRecords) {
  const pack_report r =
      tested(good_plan,
             "expect_equal(policy.rollout.plan({ { name = 'w1', state = 'Staged' } }, { free = 1, "
             "startable = 'Staged' }, "
             "{}).start, { 'w1' })\nexpect_equal(policy.rollout.plan({}, {}, {}).start, {})");
  EXPECT_EQ(message_of(r), "");
  EXPECT_TRUE(r.passed());
}

TEST(HookTests, RefuseAFieldThatDoesNotExist) {
  EXPECT_THAT(message_of(tested(good_plan, "policy.rollout.plan({ { nmae = 'w1' } }, {}, {})")),
              HasSubstr("p/policy_test.lua:3: units[1]: a unit has no field 'nmae', is it name?"));
  EXPECT_THAT(message_of(tested(good_plan, "policy.rollout.plan({ 'w1' }, {}, {})")),
              HasSubstr("units[1]: expected a table, got a string"));
}

TEST(HookTests, RefuseToReadOrWriteWhatViewsWouldNot) {
  const auto with = [](const std::string& body) {
    return message_of(
        tested("return { name = 'p', rollout = { plan = function(units, fleet, now)\n" + body +
                   "\nreturn {} end } }",
               "policy.rollout.plan({ {} }, {}, {})"));
  };
  EXPECT_THAT(with("local x = fleet.fre"),
              HasSubstr("p/policy.lua:2: a fleet has no field 'fre', is it free?"));
  EXPECT_THAT(with("fleet.mine = 1"), HasSubstr("a fleet is read-only"));
  EXPECT_THAT(with("units[1].zone = 'a'"),
              HasSubstr("rollout.plan: it changed its argument units"));
  EXPECT_EQ(with("local x = units[1].labels.nothing"), "");
}

TEST(HookTests, SkewOfVersionsIsSeenByAPackThatIsStricter) {
  const std::string strict =
      "return { name = 'p', rollout = { plan = function(units, fleet, now)\n"
      "  if fleet.image.kubernetes ~= fleet.kubernetes.oldest or fleet.kubernetes.oldest ~= "
      "fleet.kubernetes.newest then\n"
      "    return { holds = { w1 = 'the versions differ' } }\n  end\n"
      "  return { start = { 'w1' } } end } }";
  const auto asked = [&](const std::string& image, const std::string& answer) {
    return message_of(tested(
        strict, "local fleet = { free = 1, startable = 'Staged', image = { kubernetes = '" + image +
                    "' }, kubernetes = { oldest = 'v1.33.1', newest = 'v1.33.1' } }\n"
                    "expect_equal(policy.rollout.plan({ { name = 'w1', state = 'Staged' } }, "
                    "fleet, {}), " +
                    answer + ")"));
  };
  EXPECT_EQ(asked("v1.33.1", "{ start = { 'w1' } }"), "");
  EXPECT_EQ(asked("v1.32.1", "{ holds = { w1 = 'the versions differ' } }"), "");
  EXPECT_THAT(message_of(tested("return { name = 'p', rollout = { plan = function(units, fleet, "
                                "now)\nlocal x = fleet.image.kubernets\nreturn {} end } }",
                                "policy.rollout.plan({ {} }, {}, {})")),
              HasSubstr("has no field 'kubernets', is it kubernetes?"));
}

TEST(HookTests, CheckTheAnswer) {
  EXPECT_THAT(
      message_of(
          tested("return { name = 'p', rollout = { plan = function() return { strat = {} } end } }",
                 "policy.rollout.plan({}, {}, {})")),
      HasSubstr("rollout.plan: the answer: unknown entry 'strat', is it start?"));
}

TEST(HookTests, CountTheLinesThatRan) {
  const pack_report r = tested(
      "local function never(x)\n  local y = x\n  return y\nend\n\nreturn { name = 'p', rollout = { "
      "plan = function(u, f)\n"
      "  if f.halted then\n    return never({})\n  end\n  return {}\nend } }",
      "policy.rollout.plan({}, {}, {})");
  ASSERT_EQ(r.coverage.size(), 1u);
  EXPECT_EQ(r.coverage[0].file, "policy.lua");
  EXPECT_THAT(r.coverage[0].missed, ElementsAre(2, 3, 8));
  EXPECT_EQ(r.coverage[0].ran + 3, r.coverage[0].lines);
}

TEST(HookCheck, NamesAMisspeltFieldAndTheRightOneWhereNoQuestionLeads) {
  const pack_report r = checked(
      "return { name = 'p', rollout = { plan = function(units, fleet)\n  if fleet.pool == 'never' "
      "then\n"
      "    return { look_again = units[1].slottd and 1 or 2 }\n  end\n  return {}\nend } }");
  ASSERT_EQ(r.slips.size(), 1u);
  EXPECT_EQ(r.slips[0].message(), "policy.lua:3: nothing has a field 'slottd', is it slotted?");
  EXPECT_FALSE(r.passed());
}

TEST(HookCheck, LeavesThePacksOwnNamesAlone) {
  const pack_report r = checked(
      "local zon = { fre = 1 }\nfunction zon.nam() return ('x'):len() end\n-- unit.slottd\nlocal s "
      "= 'unit.slottd' .. zon.fre\n"
      "return { name = 'p', rollout = { plan = function() return { start = { zon.nam() == 9 and s "
      "or nil } } end } }");
  EXPECT_THAT(r.slips, IsEmpty());
  EXPECT_TRUE(r.passed()) << (r.fault ? r.fault->message() : "");
}

TEST(HookCheck, TriesEachHookOnWhatUsuallyComesUp) {
  const pack_report fine = checked(good_plan);
  ASSERT_EQ(fine.trials.size(), 1u);
  EXPECT_FALSE(fine.trials[0].fault);
  EXPECT_GT(fine.trials[0].budget, fine.trials[0].cost.instructions);
  const pack_report bad = checked(
      "return { name = 'p', rollout = { plan = function(u) return { start = u[1].nodes } end } }");
  ASSERT_EQ(bad.trials.size(), 1u);
  ASSERT_TRUE(bad.trials[0].fault);
  EXPECT_THAT(bad.trials[0].fault->message(), HasSubstr("a unit has no field 'nodes'"));
}

TEST(HookReference, NamesEveryFieldForPeopleAndEditors) {
  const shared_hooks all = three_hooks();
  const std::string page = reference_page(*all), types = editor_types(*all);
  for (const hook& h : *all) {
    EXPECT_THAT(page, HasSubstr("## `" + h.name + "("));
    for (const shape_member& m : h.answer.members) {
      EXPECT_THAT(page, HasSubstr("| `" + m.name + "` |"));
      EXPECT_THAT(types, HasSubstr("---@field " + m.name));
    }
  }
  EXPECT_THAT(types, HasSubstr("---@field since number when it became up to date or degraded"));
  EXPECT_THAT(types, HasSubstr("---@field holds? table<string, string|windlass.hold>"));
}

void each_record(const shape& s, const std::function<void(const shape&)>& tell) {
  if (s.is == shape::kind::record) tell(s);
  for (const shape& inner : s.of) each_record(inner, tell);
  for (const shape_member& m : s.members) each_record(m.is, tell);
}

TEST(HookReference, HasEveryFieldThatReleasesAndTrainsShowAndTake) {
  const hook_list all = release_and_train_hooks();
  EXPECT_EQ(all.size(), 15u);
  const std::string page = reference_page(all);
  std::map<std::string, std::string> told;  // fields by the name of their record
  for (const hook& h : all) {
    EXPECT_TRUE(h.is_described()) << h.name;
    EXPECT_THAT(page, HasSubstr("## `" + h.name + "("));
    std::size_t records = 0;
    const auto tell = [&](const shape& record) {
      ++records;
      std::string fields;
      for (const shape_member& m : record.members) {
        fields += m.name + " ";
        EXPECT_THAT(page, HasSubstr("| `" + m.name + "` |")) << h.name << ": " << record.name;
      }
      EXPECT_FALSE(fields.empty()) << record.name;
      // One name means one record, also in the table.
      EXPECT_EQ(told.try_emplace(record.name, fields).first->second, fields) << record.name;
    };
    for (const shape_member& a : h.arguments) each_record(a.is, tell);
    each_record(h.answer, tell);
    EXPECT_GT(records, 1u) << h.name;
  }
  EXPECT_GT(told.size(), 50u);
}

TEST(HookCheck, NamesAFieldThatNoReleaseHas) {
  const auto hooks = std::make_shared<const hook_list>(release_and_train_hooks());
  const pack_report bad = checked(
      "return { name = 'p', release = { map = function(q) return { provider = q.release.provider } "
      "end } }",
      hooks);
  ASSERT_EQ(bad.trials.size(), 1u);
  ASSERT_TRUE(bad.trials[0].fault);
  EXPECT_THAT(bad.trials[0].fault->message(), HasSubstr("a release has no field 'provider'"));
  const pack_report slip = checked(
      "return { name = 'p', train = { plan = function(t) return { next = t.pahse } end } }", hooks);
  ASSERT_EQ(slip.slips.size(), 1u);
  EXPECT_EQ(slip.slips[0].message(), "policy.lua:1: nothing has a field 'pahse', is it phase?");
}

/// A document that has every field of its description once.
value filled(const shape& s) {
  if (s.is == shape::kind::list) return value::array{filled(s.of.front())};
  if (s.is == shape::kind::map) return value::object{{"a", filled(s.of.front())}};
  if (s.is != shape::kind::record) return "1";
  value::object all;
  for (const shape_member& m : s.members) all.emplace(m.name, filled(m.is));
  return all;
}

TEST(HookReference, DescribesTheTrainDocumentAsTheStockPackTakesIt) {
  const hook_list all = release_and_train_hooks();
  const hook& check = *find_hook(all, "train.check");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  run_task(l, [&]() -> reactor::awaitable<void> {
    host packs(l, {});
    EXPECT_TRUE(co_await packs.load());
    value document = filled(check.arguments.front().is);
    subject s;
    s.api = "trains";
    auto said =
        co_await trains::ask_train(packs, std::move(s), trains::hook::check, std::move(document));
    EXPECT_TRUE(said) << said.error().message();
    if (!said) co_return;
    for (const releases::finding& f : said->findings)
      EXPECT_NE(f.id, "train.unknown-field") << f.evidence << ": " << f.why;
  });
}

using answers = std::map<std::string, std::string>;  // by name of the pack: "p" and its order

struct disruption_fixture {
  explicit disruption_fixture(const answers& packs_by_folder) {
    for (const auto& [name, answer] : packs_by_folder)
      folder.write(name + "/policy.lua",
                   "return { name = '" + name + "', order = " + name.substr(1) +
                       ", disruption = { admit = function(unit, peers, fleet, now) " + answer +
                       " end } }");
  }
  disruption_answer ask(bool stock = false, labels pool_labels = {}) {
    host packs(l, {.folders = {folder.path()}, .stock = stock, .limits = {}});
    disruption_answer out;
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
      subject about;
      about.object_labels = std::move(pool_labels);
      auto input = typical_rollouts().front();
      out = co_await admit_disruption(packs, about, input, 2, l.wall());
    });
    return out;
  }
  reactor::loop l{reactor::loop::mode::simulated, 1};
  reactor::temporary_folder folder;
};

TEST(DisruptionAdmit, IsNoAsSoonAsOnePackSaysNo) {
  disruption_fixture f(
      answers{{"p1", "return { admit = true, look_again = 60 }"},
              {"p2", "return { admit = false, code = 'Busy', reason = 'the ' .. unit.name }"},
              {"p3", "error('never asked')"}});
  const disruption_answer a = f.ask();
  EXPECT_FALSE(a.admit);
  EXPECT_EQ(a.code, "Busy");
  EXPECT_EQ(a.reason, "the worker-2");
  EXPECT_EQ(a.pack, "p2");
  EXPECT_EQ(a.look_again, std::chrono::seconds(60));
}

TEST(DisruptionAdmit, IsYesWhenEverybodySaysYes) {
  disruption_fixture f(answers{{"p1", "return { admit = true }"}});
  EXPECT_TRUE(f.ask(true).admit);
  EXPECT_EQ(f.ask(true).pack, "disruption/default");
}

TEST(DisruptionAdmit, IsNoWhenAPackFailsOrAnswersNonsense) {
  disruption_fixture broken(answers{{"p1", "return nil + 1"}});
  EXPECT_FALSE(broken.ask().admit);
  EXPECT_EQ(broken.ask().code, "PolicyFault");
  EXPECT_TRUE(broken.ask().is_fault) << "or nobody can tell it from a no";
  disruption_fixture nonsense(answers{{"p1", "return { admit = 'no' }"}});
  EXPECT_THAT(nonsense.ask().reason, HasSubstr("admit: expected true or false, got a string"));
  disruption_fixture silent(answers{{"p1", "return { admit = false }"}});
  EXPECT_THAT(silent.ask().reason, HasSubstr("reason: expected a sentence"));
}

TEST(DisruptionAdmit, OfTheTimesThatPacksGiveADrainTheShortestCounts) {
  disruption_fixture f(answers{{"p1", "return { admit = true, drain = { timeout = 1800 } }"},
                               {"p2", "return { admit = true, drain = { timeout = 600 } }"},
                               {"p3", "return { admit = true }"}});
  EXPECT_EQ(f.ask().drain.timeout, std::chrono::minutes(10));
  disruption_fixture none(answers{{"p1", "return { admit = true, drain = {} }"}});
  EXPECT_EQ(none.ask().drain.timeout.count(), 0);
  disruption_fixture never(answers{{"p1", "return { admit = true, drain = { timeout = 0 } }"}});
  EXPECT_TRUE(never.ask().is_fault);
  EXPECT_THAT(never.ask().reason, HasSubstr("drain.timeout: expected seconds, 1 or more"));
}

TEST(DisruptionAdmit, StockPacksAreAskedForPoolsThatNameThem) {
  disruption_fixture f(answers{{"p1", "return { admit = true }"}});
  EXPECT_TRUE(f.ask(true).admit);
  const disruption_answer zones = f.ask(true, {{"windlass.dev/max-per-zone", "1"}});
  EXPECT_EQ(zones.pack, "disruption/zones");  // which finds no such label in the question itself
  EXPECT_FALSE(zones.admit);
}

TEST(VersionsResolve, RefusesWhatTheCatalogueDoesNotHave) {
  versions_question q;
  catalogue_entry e;
  e.version = "1.0.0";
  e.reference = "r@sha256:1";
  q.catalogue.push_back(e);
  auto good = read_versions_answer(value::object{{"version", "1.0.0"}, {"reason", "x"}}, q);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->reference, "r@sha256:1");
  auto stays = read_versions_answer(value::object{{"reason", "nothing fits"}}, q);
  ASSERT_TRUE(stays);
  EXPECT_EQ(stays->version, "");
  auto bad = read_versions_answer(value::object{{"version", "2.0.0"}, {"reason", "x"}}, q);
  EXPECT_EQ(bad ? "" : bad.error().detail, "version: '2.0.0' is not in the catalogue");
}

TEST(VersionsResolve, IsAnsweredByTheStockPack) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  host packs(l, {});
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    auto q = std::make_shared<versions_question>();
    q->wanted = "1.0.0";
    catalogue_entry e;
    e.version = "1.0.0";
    q->catalogue.push_back(e);
    subject about;
    auto said = co_await resolve_version(packs, about, q, l.wall());
    EXPECT_TRUE(said.has_value()) << (said ? "" : said.error().message());
    if (!said) co_return;
    EXPECT_EQ(said->version, "1.0.0");
    EXPECT_EQ(said->pack, "versions/pinned");
  });
}

TEST(PolicyLog, IsABurstAndThenALineASecond) {
  reactor::temporary_folder folder;
  folder.write("p/policy.lua",
               "return { name = 'p', rollout = { plan = function() for i = 1, 30 do log('line', i) "
               "end return {} end } }");
  reactor::loop l(reactor::loop::mode::simulated, 1);
  host packs(l, {.folders = {folder.path()}, .stock = false, .limits = {}});
  std::vector<std::string> lines;
  const subject anyone;
  packs.on_log = [&](const std::string&, const std::string& line) { lines.push_back(line); };
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    for (int i = 0; i < 2; ++i) {
      std::vector<argument> none;
      auto said = co_await packs.call("rollout.plan", anyone, std::move(none));
      EXPECT_TRUE(said.has_value());
    }
    EXPECT_EQ(lines.size(), 20u);
    co_await l.sleep_for(std::chrono::seconds(3));
    std::vector<argument> none;
    auto said = co_await packs.call("rollout.plan", anyone, std::move(none));
    EXPECT_TRUE(said.has_value());
  });
  ASSERT_EQ(lines.size(), 24u);
  EXPECT_EQ(lines[20], "(40 lines were kept back)");
  EXPECT_EQ(lines[23], "line 3");
}

}  // namespace
}  // namespace policies
