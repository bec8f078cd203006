// One judge of what packs answer: over every hook and bad answers, `policy check`, `policy test`
// and the callers of the hook refuse the same, with the same words.
#include "cli/apis.hpp"
#include "compose/rules/answer.hpp"
#include "compose/rules/declaration.hpp"
#include "compose/rules/question.hpp"
#include "policies/disruption.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/fleet_values.hpp"
#include "policies/hold_text.hpp"
#include "policies/host/host.hpp"
#include "policies/versions.hpp"
#include "releases/rules/offering.hpp"
#include "releases/rules/planning.hpp"
#include "releases/rules/typical.hpp"
#include "releases/trains/train.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cli {
namespace {

using policies::host;
using policies::subject;
using policies::value;
using reactor::awaitable;
using namespace policies::releases;
using verdict = reactor::result<void>;
using asker = std::function<awaitable<verdict>(host&)>;

const reactor::wall_time noon{std::chrono::seconds(1'795'428'000)};

/// Asks as the service and the commands do, about the question that checks ask.
template <class Answer, class Question>
asker release_asker(awaitable<reactor::result<Answer>> (*ask)(host&, subject,
                                                              std::shared_ptr<const Question>),
                    std::function<void(Question&)> fill) {
  return [ask, fill](host& packs) -> awaitable<verdict> {
    auto q = std::make_shared<Question>();
    fill(*q);
    subject anyone;
    auto answer = co_await ask(packs, std::move(anyone), q);
    co_return policies::outcome_of(answer);
  };
}

asker train_asker(policies::trains::hook which) {
  return [which](host& packs) -> awaitable<verdict> {
    auto document = policies::trains::read_train("train: v1.0.0\nphase: planning\n", "train.yaml");
    subject anyone;
    value asked = *document;
    auto answer =
        co_await policies::trains::ask_train(packs, std::move(anyone), which, std::move(asked));
    co_return policies::outcome_of(answer);
  };
}

/// The controller's own way: its arguments, its readers.
template <class Answer>
asker compose_asker(std::string hook,
                    reactor::result<Answer> (*read)(const value&,
                                                    const policies::compose::declaration&,
                                                    const policies::compose::object&)) {
  return [hook, read](host& packs) -> awaitable<verdict> {
    auto chosen = packs.select(hook, subject());
    if (!chosen) co_return chosen.error();
    const auto about = policies::compose::read_declaration((*chosen)->about());
    if (!about) co_return about.error();
    auto q = policies::compose::typical_question();
    policies::judge accept = [&about, q, read](const value& v) {
      return policies::outcome_of(read(v, *about, *q->parent));
    };
    auto arguments = hook == "compose.sync" ? policies::compose::sync_arguments(q, noon)
                                            : policies::compose::related_arguments(q);
    auto said =
        co_await packs.ask(*chosen, hook, std::move(arguments), 2'000'000, std::move(accept));
    co_return policies::outcome_of(said);
  };
}

const std::map<std::string, asker>& askers() {
  static const std::map<std::string, asker> all = [] {
    std::map<std::string, asker> m;
    m["rollout.plan"] = [](host& packs) -> awaitable<verdict> {
      subject anyone;
      auto answer = co_await policies::plan_rollout(packs, std::move(anyone),
                                                    policies::typical_rollouts().front(), noon);
      co_return policies::outcome_of(answer);
    };
    m["disruption.admit"] = [](host& packs) -> awaitable<verdict> {
      subject anyone;
      const auto answer = co_await policies::admit_disruption(
          packs, std::move(anyone), policies::typical_rollouts().front(), 2, noon);
      if (answer.is_fault)
        co_return reactor::make_fault(reactor::errc::malformed, {}, answer.reason);
      co_return verdict();
    };
    m["versions.resolve"] = [](host& packs) -> awaitable<verdict> {
      auto q = std::make_shared<policies::versions_question>();
      q->catalogue.push_back({"1.0.0", "r:1.0.0", "stable", 0});
      subject anyone;
      auto answer = co_await policies::resolve_version(packs, std::move(anyone), q, noon);
      co_return policies::outcome_of(answer);
    };
    m["fleet.revision"] = [](host& packs) -> awaitable<verdict> {
      auto q = std::make_shared<policies::fleet_question>();
      subject anyone;
      auto answer = co_await policies::ask_revision(packs, std::move(anyone), q, noon);
      co_return policies::outcome_of(answer);
    };
    m["fleet.values"] = [](host& packs) -> awaitable<verdict> {
      auto q = std::make_shared<policies::chart_values_question>();
      subject anyone;
      auto answer = co_await policies::ask_values(packs, std::move(anyone), q, noon);
      co_return policies::outcome_of(answer);
    };
    m["compose.sync"] = compose_asker("compose.sync", &policies::compose::read_answer);
    m["compose.related"] = compose_asker("compose.related", &policies::compose::read_related);
    m["compose.data"] = [](host& packs) -> awaitable<verdict> {
      auto chosen = packs.select("compose.data", subject());
      policies::judge accept = [](const value& v) {
        return policies::outcome_of(policies::compose::read_verdict(v));
      };
      auto files = std::make_shared<policies::compose::data_files>();
      auto arguments = policies::compose::data_arguments(std::move(files));
      auto said = co_await packs.ask(*chosen, "compose.data", std::move(arguments), 2'000'000,
                                     std::move(accept));
      co_return policies::outcome_of(said);
    };
    m["release.map"] = release_asker<map_answer, map_question>(
        map_release, [](map_question& q) { q.release = typical_release(); });
    const auto step = [](diff_question& q) {
      q.base = typical_release();
      q.release = typical_release_after();
    };
    m["release.diff"] = release_asker<diff_answer, diff_question>(diff_releases, step);
    m["release.gate"] = release_asker<diff_answer, gate_question>(
        may_pass, [step](gate_question& q) { step(q.step); });
    m["release.bump"] =
        release_asker<bump_answer, bump_question>(next_release, [](bump_question& q) {
          q.base = typical_release();
          q.kind = "patch";
        });
    m["release.path"] = release_asker<path_answer, path_question>(
        find_path, [](path_question& q) { q.releases = {typical_release()}; });
    m["release.lifecycle"] = release_asker<lifecycle_answer, lifecycle_question>(
        plan_lifecycle, [](lifecycle_question& q) { q.releases = {typical_release()}; });
    m["release.folder"] = release_asker<folder_answer, folder_question>(
        judge_folder, [](folder_question& q) { q.releases = {typical_release()}; });
    m["release.pin"] = release_asker<pin_answer, pin_question>(plan_pin, [](pin_question&) {});
    m["release.join"] = release_asker<join_answer, join_question>(plan_join, [](join_question&) {});
    m["release.publish"] = release_asker<publish_answer, publish_question>(
        plan_publishing, [](publish_question& q) { q.release = typical_release(); });
    m["train.check"] = train_asker(policies::trains::hook::check);
    m["train.plan"] = train_asker(policies::trains::hook::plan);
    m["train.promote"] = train_asker(policies::trains::hook::promote);
    m["train.match"] = train_asker(policies::trains::hook::match);
    m["train.sources"] = [](host& packs) -> awaitable<verdict> {
      subject anyone;
      std::map<std::string, std::string> files;
      auto answer = co_await policies::trains::ask_sources(packs, std::move(anyone), "Kata",
                                                           std::move(files));
      co_return policies::outcome_of(answer);
    };
    return m;
  }();
  return all;
}

/// A pack whose `hook` answers that, whatever it is asked.
std::string pack_that_answers(const policies::hook& h, const std::string& answer) {
  std::string text = "return { name = 'p', version = '1', ";
  if (h.family() == "compose")
    text +=
        "composes = { parents = {{ apiVersion = 'example.com/v1', kind = 'Shop' }}, children = {{ "
        "apiVersion = 'v1', kind = 'ConfigMap' }}, related = {{ apiVersion = 'v1', kind = 'Secret' "
        "}} }, ";
  text += h.family() + " = { " + h.function() + " = function() return " + answer + " end";
  if (h.family() == "compose" && h.function() != "sync")
    text += ", sync = function() return { children = {} } end";
  return text + " } }\n";
}

struct judgement {
  std::string service, check, test;  // what each says is wrong; empty: nothing
};

/// Behind "policy p: HOOK: ", which only some of them say.
std::string reason_in(std::string text, const std::string& hook) {
  const std::size_t at = text.find(hook + ": ");
  return at == text.npos ? text : text.substr(at + hook.size() + 2);
}

judgement judged(const policies::hook& h, const std::string& answer) {
  reactor::temporary_folder folder;
  const std::string pack = pack_that_answers(h, answer);
  folder.write("p/policy.lua", pack);
  judgement out;
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::run_task(l, [&]() -> awaitable<void> {
    policies::host::options o;
    o.folders = {folder.path()};
    o.stock = false;
    o.limits.hooks = all_hooks();
    host packs(l, std::move(o));
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
    auto asked = co_await askers().at(h.name)(packs);
    if (!asked) out.service = reason_in(asked.error().message(), h.name);
    auto checked = co_await policies::check_packs(l, folder.path(), all_hooks());
    EXPECT_TRUE(checked) << h.name;
    EXPECT_FALSE(checked->front().fault) << checked->front().fault->message();
    bool tried = false;
    for (const policies::hook_trial& t : checked->front().trials) {
      tried = tried || t.hook == h.name;
      if (t.hook == h.name && t.fault) out.check = reason_in(t.fault->message(), h.name);
    }
    EXPECT_TRUE(tried) << "policy check never asks " << h.name;
    EXPECT_EQ(checked->front().passed(), out.check.empty()) << h.name;
    folder.write("p/policy_test.lua",
                 "local policy = require('policy')\ntest('it', function() policy." + h.name +
                     "({}, { { version = '1.0.0' } }) end)\n");
    // Arguments of the others have no lists.
    if (h.name != "versions.resolve")
      folder.write("p/policy_test.lua",
                   "local policy = require('policy')\ntest('it', function() policy." + h.name +
                       "({}, {}) end)\n");
    auto tested = co_await policies::test_packs(l, folder.path(), all_hooks());
    EXPECT_TRUE(tested) << h.name;
    EXPECT_EQ(tested->front().tests.size(), 1u) << h.name;
    for (const policies::test_outcome& t : tested->front().tests)
      if (!t.passed) out.test = reason_in(t.message, h.name);
  });
  return out;
}

struct row {
  std::string hook, answer, why;
};

std::vector<row> bad_answers() {
  std::vector<row> all = {
      {"disruption.admit", "{ admit = false }", "reason: expected a sentence"},
      {"disruption.admit", "{ admit = false, reason = '' }", "reason: expected a sentence"},
      {"disruption.admit", "{ admit = false, reason = 'no', code = 'two words' }",
       "code: expected"},
      {"disruption.admit", "{ admit = false, reason = 'no', code = '' }", "code: expected"},
      {"disruption.admit", "{ admit = true, drain = { timeout = 0 } }", "drain.timeout: expected"},
      {"disruption.admit", "{ admit = true, look_again = 0/0 }", "not a finite number"},
      {"rollout.plan", "{ holds = { w = '' } }", "holds[\"w\"]: expected a sentence"},
      {"rollout.plan", "{ holds = { w = { reason = '' } } }", "reason: expected a sentence"},
      {"rollout.plan", "{ holds = { w = { code = 'a b', reason = 'x' } } }", "code: expected"},
      {"rollout.plan", "{ start = { 1 } }", "start[1]: expected a unit name"},
      {"versions.resolve", "{ version = '9.9.9', reason = 'x' }", "is not in the catalogue"},
      {"versions.resolve", "{ version = '1.0.0' }", "reason: expected"},
      {"fleet.revision", "{ holds = { w = '' } }", "holds[\"w\"]: expected a sentence"},
      {"fleet.revision", "{ holds = { w = { code = 'a b', reason = 'x' } } }", "code: expected"},
      {"fleet.revision", "{ holds = { w = 'not yet' } }", "there is no cluster 'w'"},
      {"fleet.revision", "{ look_again = -1 }", "look_again: expected"},
      {"fleet.values", "{ values = { 1, 2 } }", "values: expected a table of values by name"},
      {"fleet.values", "{ values = { a = { 1, x = 2 } } }", "values.a: mixes list entries"},
      {"fleet.values", "{ values = { a = 1/0 } }", "values.a: is not a finite number"},
      {"fleet.values", "{ values = { a = ('x'):rep(262144) } }", "bytes of JSON, more than 262144"},
      {"fleet.values", "{ hold = '' }", "hold: expected a sentence"},
      {"fleet.values", "{ hold = { code = 'a b', reason = 'x' } }", "hold.code: expected"},
      {"compose.sync",
       "{ children = { { object = { apiVersion = 'v1', kind = 'Pod', metadata = { name = 'a' } } } "
       "} "
       "}",
       "composes.children"},
      {"compose.sync",
       "{ children = { { object = { apiVersion = 'v1', kind = 'ConfigMap', metadata = { name = 'a' "
       "} "
       "} }, { object = { apiVersion = 'v1', kind = 'ConfigMap', metadata = { name = 'a' } } } } }",
       "is there twice"},
      {"compose.sync",
       "{ children = { { object = { apiVersion = 'v1', kind = 'ConfigMap', metadata = { name = "
       "'A_' "
       "} } } } }",
       "name"},
      {"compose.sync", "{ children = {}, status = { conditions = {} } }",
       "they go into conditions"},
      {"compose.related", "{ objects = { { apiVersion = 'v1', kind = 'Pod', name = 'a' } } }",
       "is neither in composes.related"},
      {"compose.related", "{ objects = { { apiVersion = 'v1', kind = 'Secret' } } }",
       "expected either name or labels"},
      {"compose.data", "{ problem = 3 }", "problem: expected"},
      {"release.map",
       "{ provider = 'aws', chart = '1.0.0', explained = '', images = {}, findings = {} }",
       "images: expected one a pool"},
      {"release.diff",
       "{ level = 'huge', rolls = 'no', changes = {}, requests = {}, findings = {} }", "level"},
      {"release.pin",
       "{ pins = { { folder = 'a', file = 'b', range = '', edit = 'maybe', block = 0, "
       "why = '' } }, findings = {} }",
       "edit"},
      {"train.promote", "{ retag = { { from = 'a', to = 'b', arch = '', digest = '' } } }",
       "expected from, to and the digest"},
      {"train.sources", "{ known = 'yes' }", "known"}};
  for (const policies::hook& h : *all_hooks())
    for (const char* answer : {"nil", "42", "'x'", "{ nonsense = 1 }", "{ 1, 2 }", "error"})
      if (h.name != "fleet.values" || answer != std::string_view("nil"))  // which is "nothing"
        all.push_back({h.name, answer, ""});
  return all;
}

TEST(AnswersOfPacks, AreJudgedByOneFunctionInEachPlace) {
  for (const row& r : bad_answers()) {
    const policies::hook* h = policies::find_hook(*all_hooks(), r.hook);
    ASSERT_NE(h, nullptr) << r.hook;
    const judgement said = judged(*h, r.answer);
    EXPECT_NE(said.service, "") << r.hook << " answers " << r.answer;
    EXPECT_NE(said.service.find(r.why), std::string::npos) << r.hook << ": " << said.service;
    EXPECT_EQ(said.check, said.service) << r.hook << " answers " << r.answer;
    EXPECT_EQ(said.test, said.service) << r.hook << " answers " << r.answer;
  }
}

TEST(AnswersOfPacks, ThatAreGoodPassEveryJudge) {
  const std::multimap<std::string, std::string> good = {
      {"rollout.plan", "{ start = {}, holds = { w = { code = 'Later', reason = 'later' } } }"},
      {"disruption.admit", "{ admit = false, reason = 'not now', code = 'Later' }"},
      {"versions.resolve", "{ version = '1.0.0', reason = 'the newest' }"},
      {"fleet.revision", "{ look_again = 60 }"},
      {"fleet.values", "nil"},
      {"fleet.values", "{ values = { a = {} }, hold = 'later' }"},
      {"compose.sync",
       "{ children = { { object = { apiVersion = 'v1', kind = 'ConfigMap', metadata = { name = "
       "'a', "
       "namespace = 'shops' } } } } }"},
      {"compose.related", "{ objects = { { apiVersion = 'v1', kind = 'Secret', name = 'a' } } }"},
      {"compose.data", "{ problem = '' }"}};
  for (const auto& [name, answer] : good) {
    const judgement said = judged(*policies::find_hook(*all_hooks(), name), answer);
    EXPECT_EQ(said.service, "") << name;
    EXPECT_EQ(said.check, "") << name;
    EXPECT_EQ(said.test, "") << name;
  }
}

TEST(AnswersOfPacks, OfEachHookHaveAJudgeAndAQuestionToTry) {
  for (const policies::hook& h : *all_hooks()) {
    EXPECT_TRUE(askers().contains(h.name)) << h.name << ": who asks it is not in this test";
    EXPECT_TRUE(h.takes) << h.name;
    EXPECT_TRUE(h.typical) << h.name;
  }
  EXPECT_EQ(askers().size(), all_hooks()->size());
}

/// What a service that reads this folder says; empty: it takes all of it.
std::string taken(const std::string& folder) {
  std::string said;
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::run_task(l, [&]() -> awaitable<void> {
    policies::host::options o;
    o.folders = {folder};
    o.limits.hooks = all_hooks();
    host packs(l, std::move(o));
    auto loaded = co_await packs.load();
    if (!loaded) said = loaded.error().message();
  });
  return said;
}

TEST(PolicyCheck, RefusesTheFoldersThatAServiceRefuses) {
  const std::string good =
      "return { name = 'NAME', rollout = { plan = function() return {} end } }";
  const auto named = [&](const std::string& name) {
    return std::string(good).replace(good.find("NAME"), 4, name);
  };
  const std::map<std::string, std::string> folders[] = {
      {{"a/policy.lua", named("one")}, {"b/policy.lua", named("one")}},
      {{"a/policy.lua", named("one")},
       {"a/policy_test.lua", "test('never', function() expect_true(false) end)"}},
      {{"a/policy.lua", named("one")}, {"a/policy_test.lua", "test("}},
      {{"a/policy.lua", "return {"}},
      {{"a/policy.lua", named("one")}, {"a/large.txt", std::string(300'000, 'x')}},
      {{"a/policy.lua", named("one")}, {"b/policy.lua", named("two")}}};
  for (const auto& files : folders) {
    reactor::temporary_folder folder;
    for (const auto& [name, text] : files) folder.write(name, text);
    const std::string by_service = taken(folder.path());
    std::string by_check;
    reactor::loop l(reactor::loop::mode::simulated, 1);
    policies::run_task(l, [&]() -> awaitable<void> {
      auto checked = co_await policies::check_packs(l, folder.path(), all_hooks());
      EXPECT_TRUE(checked);
      for (const policies::pack_report& r : *checked)
        if (by_check.empty() && r.fault) by_check = r.fault->message();
    });
    EXPECT_EQ(by_check, by_service) << files.begin()->second;
  }
}

}  // namespace
}  // namespace cli
