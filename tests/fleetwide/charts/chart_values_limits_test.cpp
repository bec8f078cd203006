// What the values of a FleetChart may cost, and what is read of a note that a member wrote.
#include "fleetwide/charts/chart_content.hpp"
#include "fleetwide/charts/chart_note.hpp"
#include "fleetwide/charts/values_objects.hpp"
#include "formats/base64.hpp"
#include "formats/plain/deep_stack.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace fleetwide;
namespace json = boost::json;

/// Each level has ten times what the one below it has.
std::string bomb(int levels) {
  std::string out = "l0: &l0 [" + std::string("x,x,x,x,x,x,x,x,x,x") + "]\n";
  for (int i = 1; i < levels; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    out += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) out += (k ? "," : "") + below;
    out += "]\n";
  }
  return out;
}
chart_content content_with(const std::string& values, bool is_secret, object_texts& texts) {
  chart_content c;
  c.spec.sources.push_back({is_secret, "s", "values.yaml", false});
  texts["s"]["values.yaml"] = values;
  if (!is_secret) c.config_maps = texts;
  return c;
}
/// Steps that `work` took.
template <class Work>
std::uint64_t steps_of(Work&& work) {
  constexpr std::uint64_t most = 1'000'000'000;
  const formats::work_limit all(most);
  work();
  return most - formats::steps_left();
}

TEST(FleetChartValues, ThatStandForMillionsAreRefusedAtALittleOfTheWork) {
  for (const bool is_secret : {false, true}) {
    object_texts texts;
    const chart_content c = content_with(bomb(7), is_secret, texts);
    cluster_values has;
    const std::uint64_t steps = steps_of([&] {
      has = is_secret ? with_secrets(values_before_policy(c, {}), nullptr, c, texts, {})
                      : values_before_policy(c, {});
    });
    EXPECT_NE(has.problem, "");
    EXPECT_EQ(has.problem.find("x,x"), std::string::npos) << "no Secret is quoted";
    EXPECT_LE(steps, 5'000'000u);
  }
}

TEST(FleetChartValues, AsLargeAsTheyMayBeArePutTogether) {
  std::string text;
  while (text.size() < values_object::most_bytes - 64)
    text += "key" + std::to_string(text.size()) + ": some words\n";
  object_texts texts;
  chart_content c = content_with(text, false, texts);
  c.spec.values_json = "{\"more\":\"" + std::string(chart_spec::most_bytes - 64, 'x') + "\"}";
  const cluster_values has = values_before_policy(c, {});
  EXPECT_EQ(has.problem, "");
  object_texts secrets;
  const chart_content s = content_with(text, true, secrets);
  EXPECT_EQ(with_secrets(has, nullptr, s, secrets, {}).problem, "");
}

TEST(FleetChartValues, OfASecretThatHasTooMuchNothingIsKept) {
  json::object data;
  data["values.yaml"] = formats::encode_base64(std::string(values_object::most_bytes + 1, 'x'));
  const json::object o{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"type", "Opaque"},
      {"metadata",
       {{"name", "s"}, {"namespace", "default"}, {"uid", "u"}, {"resourceVersion", "1"}}},
      {"data", std::move(data)}};
  const auto read = k8s::parse_view<values_object>(json::serialize(o));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->texts.empty());
  EXPECT_GT(read->bytes, values_object::most_bytes);
}

TEST(ChartNote, OfAMemberIsCutToWhatPeopleRead) {
  const std::string much(500'000, 'x');
  json::object o{{"object", much}, {"digest", much}, {"since", much},   {"state", "failed"},
                 {"record", much}, {"hold", much},   {"content", much}, {"why", much}};
  const auto note = read_note(json::serialize(o));
  ASSERT_TRUE(note);
  for (const std::string* text : {&note->object, &note->digest, &note->since, &note->record,
                                  &note->hold, &note->content, &note->why})
    EXPECT_LE(text->size(), 1'024u);
}

}  // namespace
