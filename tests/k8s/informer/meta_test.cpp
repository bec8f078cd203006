#include "k8s/informer/meta.hpp"

#include "k8s/informer/view.hpp"
#include "k8s/views/pod.hpp"
#include "tests/k8s/informer/objects.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

TEST(ResourceVersion, ComparesDecimalsOfAnySizeAsNumbers) {
  EXPECT_LT(resource_version("9"), resource_version("10"));
  EXPECT_LT(resource_version("18446744073709551615"), resource_version("18446744073709551616"));
  EXPECT_LT(resource_version("99999999999999999999"), resource_version("100000000000000000000"));
  EXPECT_EQ(resource_version("7"), resource_version("7"));
  EXPECT_LT(resource_version("0"), resource_version("1"));
}

TEST(ResourceVersion, KnowsOnlyEqualityOfOthers) {
  const resource_version a("abc"), b("abd"), padded("007");
  EXPECT_FALSE(a < b);
  EXPECT_FALSE(b < a);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(padded < resource_version("8"));
  EXPECT_EQ(padded.text(), "007");
}

TEST(ResourceVersion, KeepsItsText) {
  for (const char* text : {"", "0", "1", "18446744073709551615", "18446744073709551616", "x1"})
    EXPECT_EQ(resource_version(text).text(), text);
}

TEST(Uid, KeepsItsTextWhateverItIs) {
  for (const char* text :
       {"", "a", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6BA7B810-9DAD-41D1-80B4-00C04FD430C8",
        "00000000-0000-0000-0000-000000000000", "6ba7b810-9dad-41d1-80b4-00c04fd430cx"})
    EXPECT_EQ(uid(text).text(), text);
}

TEST(Uid, IsEqualToItselfOnly) {
  const uid a("6ba7b810-9dad-41d1-80b4-00c04fd430c8"), b("6ba7b810-9dad-41d1-80b4-00c04fd430c9"),
      c("other");
  uid copy = a;
  EXPECT_EQ(copy, a);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == c);
  copy = c;
  EXPECT_EQ(copy.text(), "other");
  copy = uid();
  EXPECT_TRUE(copy.empty());
}

TEST(Interned, EqualStringsAreOne) {
  const auto before = interned::used().strings;
  {
    const interned a("kubernetes.io/hostname"), b(std::string("kubernetes.io/hostname")),
        c("other");
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.view().data(), b.view().data());
    EXPECT_NE(a, c);
    EXPECT_EQ(interned::used().strings, before + 2);
  }
  EXPECT_EQ(interned::used().strings, before);
}

TEST(Interned, SurvivesGrowthAndRemovalInAnyOrder) {
  std::vector<interned> many;
  for (int i = 0; i < 5000; ++i) many.emplace_back("value-" + std::to_string(i));
  for (std::size_t i = 0; i < many.size(); i += 3) many[i] = interned();
  for (int i = 0; i < 5000; ++i) {
    const interned again("value-" + std::to_string(i));
    if (i % 3) {
      EXPECT_EQ(again.view().data(), many[static_cast<std::size_t>(i)].view().data());
    }
  }
}

TEST(StringMap, FindsByKeyAndKeepsOrder) {
  const string_map m{{"b", "2"}, {"a", "1"}, {"c", ""}};
  EXPECT_EQ(m.get("b"), "2");
  EXPECT_TRUE(m.has("c"));
  EXPECT_FALSE(m.has("d"));
  EXPECT_EQ(m.begin()->first, "a");
}

TEST(StringMap, KeepsTheFirstOfOneKeyInMapsOfAnySize) {
  for (const int size : {3, 500}) {
    std::vector<string_map::member> members;
    for (int i = 0; i < size; ++i)
      members.emplace_back("key-" + std::to_string(i * 7 % size), std::to_string(i));
    members.emplace_back("key-0", "late");
    const string_map m(std::move(members));
    EXPECT_EQ(m.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(m.get("key-0"), "0");
    EXPECT_TRUE(std::is_sorted(m.begin(), m.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; }));
  }
}

TEST(ObjectMeta, ReadsWhatViewsNeed) {
  objects::pod_spec spec;
  spec.version = 42;
  spec.deleting = true;
  const auto p = parse_view<pod>(objects::pod_json(spec));
  ASSERT_TRUE(p) << p.error().message();
  EXPECT_EQ(p->meta.key().text(), "default/web-1");
  EXPECT_EQ(p->meta.resource_version, resource_version("42"));
  EXPECT_EQ(p->meta.labels.get("app"), "web");
  EXPECT_EQ(p->meta.owner.kind, "ReplicaSet");
  EXPECT_EQ(p->meta.owner.uid.text(), "11111111-1111-4111-8111-111111111111");
  EXPECT_TRUE(p->meta.deleting());
  EXPECT_EQ(reactor::format_rfc3339(p->meta.deletion_timestamp), "2026-11-21T10:05:00Z");
}

TEST(ObjectMeta, IsEqualWhenOnlyTheVersionDiffers) {
  objects::pod_spec spec;
  const auto a = parse_view<pod>(objects::pod_json(spec));
  spec.version = 2;
  const auto b = parse_view<pod>(objects::pod_json(spec));
  spec.labels = R"("app":"db")";
  const auto c = parse_view<pod>(objects::pod_json(spec));
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(*a, *b);
  EXPECT_FALSE(*a == *c);
}

struct refusal {
  const char* name;
  std::string json;
  const char* reason;
};
class RefusedObject : public testing::TestWithParam<refusal> {};

TEST_P(RefusedObject, NamesTheReason) {
  const auto p = parse_view<pod>(GetParam().json);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, errc::malformed);
  EXPECT_NE(p.error().detail.find(GetParam().reason), std::string::npos) << p.error().detail;
}

std::string with_meta(const std::string& more) {
  return R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1")" + more + "}}";
}

INSTANTIATE_TEST_SUITE_P(
    Objects, RefusedObject,
    testing::Values(
        refusal{"Empty", "", ""}, refusal{"Truncated", R"({"metadata":{"name":"a")", ""},
        refusal{"NotAnObject", "[]", "object"},
        refusal{"NoName", R"({"metadata":{"uid":"u"}})", "name"},
        refusal{"NoUid", R"({"metadata":{"name":"a","resourceVersion":"1"}})", "uid"},
        refusal{"NoVersion", R"({"metadata":{"name":"a","uid":"u"}})", "resourceVersion"},
        refusal{"NameIsANumber", R"({"metadata":{"name":1,"uid":"u","resourceVersion":"1"}})",
                "text"},
        refusal{"LabelTwice", with_meta(R"(,"labels":{"a":"1","b":"2","a":"3"})"), "twice"},
        refusal{"LabelsTwice", with_meta(R"(,"labels":{},"labels":{})"), "twice"},
        refusal{"MetadataTwice",
                R"({"metadata":{},"metadata":{"name":"a","uid":"u","resourceVersion":"1"}})",
                "twice"},
        refusal{"EscapedKeyTwice", with_meta(R"(,"labels":{"a":"1","\u0061":"3"})"), "twice"},
        refusal{
            "SpecTwice",
            R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":{},"spec":{"nodeName":"x"}})",
            "twice"},
        refusal{
            "TwoControllers",
            with_meta(
                R"(,"ownerReferences":[{"uid":"x","controller":true},{"uid":"y","controller":true}])"),
            "two controllers"},
        refusal{"DeletionIsNoTime", with_meta(R"(,"deletionTimestamp":"soon")"), "not a time"},
        refusal{"TrailingGarbage", with_meta("") + "x", ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Wire, ReadsAbsentAndNullAsDefaults) {
  const auto p = parse_view<pod>(
      R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1","labels":null},"spec":null})");
  ASSERT_TRUE(p) << p.error().message();
  EXPECT_TRUE(p->node.empty());
  EXPECT_EQ(p->phase, pod_phase::unknown);
}

TEST(Wire, FindsDuplicatesAtAnyDepth) {
  const auto v = shared_parser().parse(R"({"a":[{"b":1,"c":{"d":1,"d":2}}]})");
  ASSERT_TRUE(v);
  v->refuse_duplicates();
  EXPECT_TRUE(shared_parser().problem());
}

TEST(Wire, RefusesWhatIsNestedTooDeeply) {
  EXPECT_FALSE(shared_parser().parse(std::string(500, '[') + std::string(500, ']')));
}

TEST(Wire, GivesBackWhatABigTextNeeded) {
  wire_parser parser;
  ASSERT_TRUE(parser.parse("\"" + std::string(2'000'000, 'x') + "\""));
  EXPECT_GT(parser.memory_bytes(), 2'000'000u);
  parser.shrink();
  EXPECT_LT(parser.memory_bytes(), 300'000u);
  EXPECT_TRUE(parser.parse("1"));
}

}  // namespace
}  // namespace k8s
