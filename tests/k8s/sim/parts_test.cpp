#include "formats/human_duration.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "k8s/sim/objects/cells.hpp"
#include "k8s/sim/objects/field_set.hpp"
#include "k8s/sim/objects/json_path.hpp"
#include "k8s/sim/objects/patch.hpp"
#include "k8s/sim/objects/schema.hpp"
#include "k8s/sim/objects/shape.hpp"
#include "k8s/sim/protobuf.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

using namespace std::string_literals;

using namespace std::chrono_literals;

TEST(Same, SaysWhatEqualitySays) {
  json::array all;
  for (const char* text :
       {"null", "true", "false", "1", "-1", "1.0", "1.5", "18446744073709551615", R"("")", R"("1")",
        "[]", "[1]", "[1,2]", "[2,1]", "[[1]]", "[null]", "{}", R"({"a":1})", R"({"a":1.0})",
        R"({"b":1})", R"({"a":null})", R"({"a":1,"b":[{"c":"d"}]})", R"({"b":[{"c":"d"}],"a":1})",
        R"({"a":1,"b":[{"c":"e"}]})", R"({"a":1,"b":[{"c":"d","f":{}}]})", R"({"a":{"a":{}}})"})
    all.push_back(json::parse(text));
  all.push_back(std::uint64_t{1});
  for (const json::value& a : all)
    for (const json::value& b : all) EXPECT_EQ(same(a, b), a == b) << a << " and " << b;
}

TEST(Same, TakesNothingOfTheMemoryThatItReads) {
  std::byte room[4096];
  json::static_resource full(room, sizeof room);
  const json::value v = json::parse(R"({"a":{"b":[{"c":"more than fits in a value itself"}]}})",
                                    json::storage_ptr(&full));
  // Copying a member once takes a part of these 4 KiB; a thousand would not fit.
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(same(v, v));
}

std::shared_ptr<schema> schema_of_taints() {
  return schema::read(json::parse(R"({"type":"object","properties":{"spec":{"type":"object",
      "required":["image"],"properties":{
        "image":{"type":"string"},
        "taints":{"type":"array",
          "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["key"],
          "items":{"type":"object","properties":{"key":{"type":"string","maxLength":3}}}},
        "rows":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}}}}})")
                          .as_object());
}

TEST(Schema, SaysWhereSomethingIsUnknown) {
  json::object o = json::parse(R"({"kind":"K","colour":1,"spec":{"image":"i","size":2,
      "taints":[{"key":"a"},{"key":"b","value":"v"}]}})")
                       .as_object();
  std::vector<std::string> unknown;
  schema_of_taints()->prune(o, &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"spec.taints[1].value", "spec.size", "colour"}));
  EXPECT_TRUE(same(json::value(o),
                   json::parse(R"({"kind":"K","spec":{"image":"i",
                       "taints":[{"key":"a"},{"key":"b"}]}})")));
}

TEST(Schema, SaysWhereSomethingIsWrongAndLeavesTheObjectAsItIs) {
  json::object o = json::parse(R"({"spec":{"taints":[{"key":"a"},{"key":"long"},{"key":"a"}],
      "rows":[[1],[2,"3"]]}})")
                       .as_object();
  const json::object as_given = o;
  field_errors errors;
  schema_of_taints()->validate(o, errors);
  std::vector<std::string> where;
  for (const field_error& e : errors) where.push_back(e.field);
  EXPECT_EQ(where, (std::vector<std::string>{"spec.image", "spec.taints[1].key", "spec.taints[2]",
                                             "spec.rows[1][1]"}));
  EXPECT_TRUE(same(o, as_given));
}

TEST(JsonPath, SelectsWhatColumnsName) {
  const json::object o =
      json::parse(R"({"a":{"b":[{"t":"x","v":1},{"t":"y","v":2}]},"m":{"k.e/y":"z"}})").as_object();
  EXPECT_EQ(read_json_path(o, ".a.b[1].v").at(0), json::value(2));
  EXPECT_EQ(read_json_path(o, ".a.b[?(@.t==\"y\")].v").at(0), json::value(2));
  EXPECT_EQ(read_json_path(o, ".a.b[*].t").size(), 2u);
  EXPECT_EQ(read_json_path(o, ".m['k.e/y']").at(0), json::value("z"));
  EXPECT_EQ(read_json_path(o, ".m.k\\.e/y").at(0), json::value("z"));
  EXPECT_TRUE(read_json_path(o, ".none.at.all").empty());
  EXPECT_TRUE(read_json_path(o, "[").empty());
}

TEST(Age, IsPrintedAsKubectlDoes) {
  EXPECT_EQ(formats::human_duration(0s), "0s");
  EXPECT_EQ(formats::human_duration(119s), "119s");
  EXPECT_EQ(formats::human_duration(422s), "7m2s");
  EXPECT_EQ(formats::human_duration(63min), "63m");
  EXPECT_EQ(formats::human_duration(3h + 5min), "3h5m");
  EXPECT_EQ(formats::human_duration(50h), "2d2h");
  EXPECT_EQ(formats::human_duration(24h * 30), "30d");
  EXPECT_EQ(formats::human_duration(24h * 800), "2y70d");
  EXPECT_EQ(formats::human_duration(-5s), "<invalid>");
}

TEST(StrategicPatch, KeepsTheOrderTheClientAsksFor) {
  auto r = strategic_patch(
      json::parse(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"),
      json::parse(
          R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"c","image":"i"},{"name":"b","$patch":"delete"}]}})"),
      *merge_type_of("v1", "Pod"));
  ASSERT_TRUE(r);
  EXPECT_EQ(json::serialize(*r),
            R"({"spec":{"containers":[{"name":"c","image":"i"},{"name":"a"}]}})");
}

TEST(StrategicPatch, NeedsTheMergeKey) {
  auto r = strategic_patch(json::parse(R"({"spec":{"containers":[{"name":"a"}]}})"),
                           json::parse(R"({"spec":{"containers":[{"image":"i"}]}})"),
                           *merge_type_of("v1", "Pod"));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "map: map[image:i] does not contain declared merge key: name");
}

TEST(StrategicPatch, RetainsOnlyTheKeysNamed) {
  auto r = strategic_patch(json::parse(R"({"spec":{"a":1,"b":2}})"),
                           json::parse(R"({"spec":{"$retainKeys":["b","c"],"c":3}})"),
                           *merge_type_of("v1", "Pod"));
  ASSERT_TRUE(r);
  EXPECT_EQ(json::serialize(*r), R"({"spec":{"b":2,"c":3}})");
}

TEST(JsonPatch, MovesAndCopies) {
  auto r = json_patch(
      json::parse(R"({"a":[1,2],"b":{}})"),
      json::parse(
          R"([{"op":"move","from":"/a/0","path":"/b/x"},{"op":"copy","from":"/b/x","path":"/a/-"},{"op":"replace","path":"/a/0","value":9}])")
          .as_array());
  ASSERT_TRUE(r);
  EXPECT_EQ(json::serialize(*r), R"({"a":[9,1],"b":{"x":1}})");
}

TEST(JsonPatch, DecodesPointers) {
  auto r = json_patch(json::parse(R"({"a/b":{"c~d":1}})"),
                      json::parse(R"([{"op":"remove","path":"/a~1b/c~0d"}])").as_array());
  ASSERT_TRUE(r);
  EXPECT_EQ(json::serialize(*r), R"({"a/b":{}})");
}

TEST(FieldSet, SurvivesItsJsonForm) {
  const json::object fields =
      json::parse(
          R"({"f:spec":{".":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}},"f:x":{}})")
          .as_object();
  EXPECT_EQ(json::value(field_set::from_json(fields).to_json()), json::value(fields));
}

TEST(FieldSet, PrintsPathsForPeople) {
  const field_set s = field_set::from_json(
      json::parse(
          R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}},"f:tags":{"v:\"x\"":{}}}})")
          .as_object());
  EXPECT_EQ(s.paths(),
            (std::vector<std::string>{".spec.containers[name=\"a\"].image", ".spec.tags[=\"x\"]"}));
}

TEST(Protobuf, ReadsANamespace) {
  // runtime.Unknown{typeMeta{v1, Namespace}, raw: Namespace{metadata{name: "foo"}}}
  const std::string meta = std::string("\x0a\x03") + "foo";
  const std::string raw = std::string("\x0a\x05") + meta;
  const std::string type = std::string("\x0a\x02") + "v1" + "\x12\x09" + "Namespace";
  const std::string bytes = "k8s\0"s + "\x0a" + static_cast<char>(type.size()) + type + "\x12" +
                            static_cast<char>(raw.size()) + raw;
  auto o = from_protobuf(bytes);
  ASSERT_TRUE(o);
  EXPECT_EQ(text(*o, {"metadata", "name"}), "foo");
  EXPECT_EQ(text(*o, {"kind"}), "Namespace");
  for (std::size_t n = 0; n < bytes.size(); ++n)
    (void)from_protobuf(std::string_view(bytes).substr(0, n));
  EXPECT_FALSE(from_protobuf("k8s"));
}

/// A field of a message that has bytes.
std::string part(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string read_as(const std::string& version, const std::string& kind, const std::string& raw) {
  auto o = from_protobuf("k8s\0"s + part(1, part(1, version) + part(2, kind)) + part(2, raw));
  return o ? json::serialize(*o) : "";
}

TEST(Protobuf, ReadsWhatKubectlCreatesOfRightsAndTokens) {
  const std::string named = part(1, part(1, "r"));
  const std::string rule = part(1, "get") + part(1, "list") + part(2, "") + part(3, "pods");
  for (const char* kind : {"Role", "ClusterRole"})
    EXPECT_EQ(
        json::parse(read_as("rbac.authorization.k8s.io/v1", kind, named + part(2, rule))),
        json::parse(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":")" + std::string(kind) +
                    R"(","metadata":{"name":"r"},"rules":[{"verbs":["get","list"],)"
                    R"("apiGroups":[""],"resources":["pods"]}]})"));
  const std::string subject =
      part(1, "ServiceAccount") + part(2, "") + part(3, "x") + part(4, "default");
  const std::string role = part(1, "rbac.authorization.k8s.io") + part(2, "Role") + part(3, "r");
  for (const char* kind : {"RoleBinding", "ClusterRoleBinding"})
    EXPECT_EQ(
        json::parse(read_as("rbac.authorization.k8s.io/v1", kind,
                            named + part(2, subject) + part(3, role))),
        json::parse(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":")" + std::string(kind) +
                    R"(","metadata":{"name":"r"},"subjects":[{"kind":"ServiceAccount","name":"x",)"
                    R"("namespace":"default"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
                    R"("kind":"Role","name":"r"}})"));
  const std::string spec = part(1, "a") + std::string{4 << 3, 60};
  EXPECT_EQ(json::parse(read_as("authentication.k8s.io/v1", "TokenRequest", part(2, spec))),
            json::parse(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
                        R"("spec":{"audiences":["a"],"expirationSeconds":60}})"));
}

}  // namespace
}  // namespace k8s::sim
