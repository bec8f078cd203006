// The hook fleet.values: what a pack sees of a chart and a cluster, what it may answer, and that
// the same question has the same answer later.
#include "policies/fleet_values.hpp"

#include "host/run.hpp"
#include "policies/host/record/record.hpp"
#include "reactor/system/files.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace policies {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<chart_values_question> ingress() {
  auto q = std::make_shared<chart_values_question>();
  fleet_chart_facts& c = q->object;
  c.kind = "FleetChart";
  c.ns = "team-a";
  c.name = "ingress";
  c.labels = k8s::string_map{{"team", "edge"}};
  c.annotations = k8s::string_map{{"fleet.windlass.dev/note", "x"}};
  c.chart = {"oci://registry.example.com/charts", "nginx", "4.x"};
  c.release = "web";
  c.target_namespace = "ingress-system";
  c.config["regions"]["eu.yaml"] = "replicas: 3\n";
  c.values = {{"replicas", 2}, {"image", value::object{{"tag", "4.1.0"}}}};
  q->cluster = {"prod-eu", k8s::string_map{{"region", "eu"}}, "v1.34.2"};
  return q;
}

/// A pack whose fleet.values has that body.
struct values_pack {
  explicit values_pack(const std::string& body, std::string record = {})
      : packs(l, options_of(folder, body, std::move(record))) {}
  static host::options options_of(reactor::temporary_folder& in, const std::string& body,
                                  std::string record) {
    in.write("p/policy.lua",
             "return { name = 'p', version = '7', fleet = { values = function(chart, cluster, "
             "now)\n" +
                 body + "\nend } }");
    host::options o;
    o.folders = {in.path()};
    o.stock = false;
    o.record = std::move(record);
    return o;
  }
  reactor::result<chart_values_answer> ask(std::shared_ptr<const chart_values_question> q) {
    reactor::result<chart_values_answer> out{chart_values_answer()};
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
      subject about;
      out = co_await ask_values(packs, about, q, l.wall());
    });
    return out;
  }
  reactor::loop l{reactor::loop::mode::simulated, 1};
  reactor::temporary_folder folder;
  host packs;
};

/// "values as JSON", " hold CODE: reason", or "!" and the fault.
std::string said(const std::string& body, std::shared_ptr<const chart_values_question> q) {
  const auto answer = values_pack(body).ask(std::move(q));
  if (!answer) return "!" + answer.error().message();
  std::string out = to_json_text(answer->values);
  if (answer->hold) out += " hold " + answer->hold->code + ": " + answer->hold->reason;
  return out;
}
std::string said(const std::string& body) {
  return said(body, ingress());
}

TEST(FleetValues, SeesTheChartAndTheClusterFieldByField) {
  EXPECT_EQ(
      said("return { values = { a = { chart.kind, chart.namespace, chart.name, chart.labels.team, "
           "chart.annotations['fleet.windlass.dev/note'] },\n"
           "b = { chart.chart.repository, chart.chart.name, chart.chart.version, chart.release, "
           "chart.target_namespace },\n"
           "c = yaml.decode(chart.config.regions['eu.yaml']), d = copy(chart.values), e = { "
           "cluster.name, cluster.labels.region, cluster.kubernetes }, f = now.weekday } }"),
      R"({"a":["FleetChart","team-a","ingress","edge","x"],)"
      R"("b":["oci://registry.example.com/charts","nginx","4.x","web","ingress-system"],)"
      R"("c":{"replicas":3},"d":{"image":{"tag":"4.1.0"},"replicas":2},)"
      R"("e":["prod-eu","eu","v1.34.2"],"f":"Thursday"})");
  EXPECT_EQ(said("return { values = { none = chart.values.other == nil and chart.config.other == "
                 "nil and cluster.labels.other == nil } }"),
            R"({"none":true})");
  EXPECT_THAT(said("return { values = { a = chart.secrets } }"),
              HasSubstr("a fleet chart has no field 'secrets'"));
  EXPECT_THAT(said("chart.values.replicas = 9 return {}"), StartsWith("!"));
}

TEST(FleetValues, AnswersValuesAHoldBothOrNothing) {
  EXPECT_EQ(said("return nil"), "null");
  EXPECT_EQ(said("return"), "null");
  EXPECT_EQ(said("return {}"), "null");
  EXPECT_EQ(said("return { values = { a = 1 } }"), R"({"a":1})");
  EXPECT_EQ(said("return { hold = 'not yet' }"), "null hold : not yet");
  EXPECT_EQ(said("return { values = { a = 1 }, hold = { code = 'Later', reason = 'at night' } }"),
            R"({"a":1} hold Later: at night)");
  const auto answer = values_pack("return {}").ask(ingress());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->pack + " " + answer->version, "p 7");
}

TEST(FleetValues, AnEmptyTableIsAnObjectAndAnEmptyListOne) {
  EXPECT_EQ(said("return { values = { a = {}, b = list(), c = { {}, list() } } }"),
            R"({"a":{},"b":[],"c":[{},[]]})");
  EXPECT_EQ(said("return { values = {} }"), "{}");
  EXPECT_EQ(said("return { values = list() }"), "{}");
}

TEST(FleetValues, RefusesWhatCannotBeValuesAndNamesThePlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"return 42", "the answer: expected a table with values and hold, or nil, got a number"},
      {"return { values = { 1, 2 } }", "values: expected a table of values by name, got a list"},
      {"return { values = 'x' }", "values: expected a table of values by name, got a string"},
      {"return { vales = {} }", "unknown entry 'vales', is it values?"},
      {"return { values = { a = { b = 0/0 } } }", "values.a.b: is not a finite number"},
      {"return { values = { a = { 1, math.huge } } }", "values.a[2]: is not a finite number"},
      {"return { values = { f = error } }", "values.f: is a function"},
      {"return { values = { a = { 1, 2, x = 3 } } }", "values.a: mixes list entries"},
      {"return { values = { a = { [1.5] = 1 } } }", "values.a: mixes list entries"},
      {"return { values = { a = '\\255' } }", "values.a: is not valid UTF-8"},
      {"return { values = chart.values }", "values: is a read-only view"},
      {"local t = {} for i = 1, 20 do t = { t } end return { values = { a = t } }",
       "is nested more than 16 deep"},
      {"return { hold = '' }", "hold: expected a sentence"},
      {"return { hold = { code = 'a b', reason = 'x' } }", "hold.code: expected one word"},
      {"return { hold = { code = 'A' } }", "hold.reason: expected a sentence, got nil"},
      {"return { hold = true }", "hold: expected a reason or {code = …, reason = …}, got"},
      {"error('broken')", "broken"}};
  for (const auto& [body, why] : rows) {
    EXPECT_THAT(said(body), StartsWith("!")) << body;
    EXPECT_THAT(said(body), HasSubstr(why)) << body;
  }
}

TEST(FleetValues, HaveAQuarterOfAMegabyteAndNoByteMore) {
  const auto of_bytes = [](std::size_t n) {  // {"a":"…"} takes 8 more
    return value::object{{"values", value::object{{"a", std::string(n - 8, 'x')}}}};
  };
  EXPECT_TRUE(read_chart_values(of_bytes(longest_chart_values)));
  const auto larger = read_chart_values(of_bytes(longest_chart_values + 1));
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().detail, "values: 262145 bytes of JSON, more than 262144");
}

TEST(FleetValues, MayTakeMoreWhereTheConfigMapsAreLarge) {
  const std::string decodes =
      "local sum = 0 for key, text in pairs(chart.config.regions) do sum = sum + "
      "#yaml.decode(text).a end return { values = { sum = sum } }";
  auto q = ingress();
  q->object.config["regions"].clear();
  for (int i = 0; i < 10; ++i)
    q->object.config["regions"][std::to_string(i)] = "a: " + std::string(60'000, 'x') + "\n";
  EXPECT_EQ(said(decodes, q), R"({"sum":600000})");
  EXPECT_THAT(said("while true do end"), HasSubstr("instructions"));
}

TEST(FleetValues, AQuestionThatWasRecordedHasTheSameAnswerAgain) {
  reactor::temporary_folder kept;
  const std::string path = kept.path() + "/record";
  const std::string body =
      "local out = {} for k, v in pairs(chart.values) do out[k] = v == 2 and now.unix or copy(v) "
      "end out.labels = copy(cluster.labels) out.region = chart.config.regions['eu.yaml'] return { "
      "values = out, hold = now.text }";
  values_pack p(body, path);
  const auto first = p.ask(ingress());
  ASSERT_TRUE(first);
  const auto text = reactor::load_file(path, 1'000'000);
  ASSERT_TRUE(text);
  const auto record = read_record(*text, "record");
  ASSERT_TRUE(record) << record.error().message();
  ASSERT_EQ(record->questions.size(), 1u);
  const recorded_question& q = record->questions.front();
  EXPECT_EQ(q.hook, "fleet.values");
  std::string again;
  run_task(p.l, [&]() -> reactor::awaitable<void> {
    co_await p.l.sleep_for(std::chrono::hours(1));
    auto whom = p.packs.select(q.hook, q.about);
    EXPECT_TRUE(whom);
    if (!whom) co_return;
    std::vector<argument> arguments(q.arguments.begin(), q.arguments.end());
    std::string hook = q.hook;
    auto answer = co_await p.packs.ask(*whom, std::move(hook), arguments, q.instructions);
    again = answer && answer->answer ? to_text(*answer->answer) : "nothing";
  });
  EXPECT_EQ(again, to_text(q.answer));
  EXPECT_EQ(to_text(*q.answer.find("values")), to_text(first->values));
}

}  // namespace
}  // namespace policies
