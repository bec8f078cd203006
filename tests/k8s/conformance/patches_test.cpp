#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

TEST(MergePatch, SetsAndRemoves) {
  space s;
  post(s.core("configmaps"), config_map("a", R"({"a":"1","b":"2"})"));
  reply r = merge(s.core("configmaps/a"), R"({"data":{"a":null,"c":"3"}})");
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(*r.find("/data"), json::parse(R"({"b":"2","c":"3"})"));
}

TEST(MergePatch, OfAMissingObjectIsNotFound) {
  space s;
  EXPECT_EQ(merge(s.core("configmaps/none"), R"({"data":{}})").status, 404);
}

TEST(MergePatch, WithAnOldVersionConflicts) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  EXPECT_EQ(
      merge(s.core("configmaps/a"), R"({"metadata":{"resourceVersion":"1"},"data":{"z":"1"}})")
          .status,
      409);
}

TEST(JsonPatch, AppliesInOrder) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = json_patch(
      s.core("configmaps/a"),
      R"([{"op":"test","path":"/data/a","value":"1"},{"op":"add","path":"/data/b","value":"2"},{"op":"remove","path":"/data/a"}])");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(to_text(*r.find("/data")), R"({"b":"2"})");
}

TEST(JsonPatch, WithAFailingTestIsUnprocessable) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = json_patch(s.core("configmaps/a"), R"([{"op":"test","path":"/data/a","value":"2"}])");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/reason"), "Invalid");
  EXPECT_NE(r.at("/message").find("the server rejected our request due to an error in our request"),
            std::string::npos)
      << r.text;
}

TEST(JsonPatch, OfAMissingPathIsUnprocessable) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  EXPECT_EQ(json_patch(s.core("configmaps/a"), R"([{"op":"remove","path":"/data/zzz"}])").status,
            422);
}

TEST(StrategicPatch, MergesContainersByName) {
  space s;
  post(s.core("pods"), pod("p"));
  reply r =
      strategic(s.core("pods/p"), R"({"spec":{"containers":[{"name":"c","image":"nginx:2"}]}})");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(r.at("/spec/containers/0/image"), "nginx:2");
  EXPECT_EQ(r.at("/spec/containers/0/imagePullPolicy"), "IfNotPresent");
}

TEST(StrategicPatch, MergesConditionsByType) {
  space s;
  post(s.core("pods"), pod("p"));
  strategic(s.core("pods/p/status"),
            R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  reply r = strategic(s.core("pods/p/status"),
                      R"({"status":{"conditions":[{"type":"Other","status":"False"}]}})");
  EXPECT_EQ(r.find("/status/conditions")->as_array().size(), 2u) << r.text;
  r = strategic(s.core("pods/p/status"),
                R"({"status":{"conditions":[{"type":"Ready","$patch":"delete"}]}})");
  EXPECT_EQ(r.find("/status/conditions")->as_array().size(), 1u);
  EXPECT_EQ(r.at("/status/conditions/0/type"), "Other");
}

TEST(StrategicPatch, GrowsAndShrinksFinalizers) {
  space s;
  post(s.core("configmaps"), config_map("a", "{}", R"("finalizers":["e.com/a"])"));
  reply r = strategic(s.core("configmaps/a"), R"({"metadata":{"finalizers":["e.com/b"]}})");
  EXPECT_EQ(r.find("/metadata/finalizers")->as_array().size(), 2u);
  r = strategic(s.core("configmaps/a"),
                R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["e.com/a"]}})");
  EXPECT_EQ(to_text(*r.find("/metadata/finalizers")), R"(["e.com/b"])");
  strategic(s.core("configmaps/a"),
            R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["e.com/b"]}})");
}

TEST(StrategicPatch, ReplacesOnDemand) {
  space s;
  post(s.core("configmaps"), config_map("a", R"({"a":"1","b":"2"})"));
  reply r = strategic(s.core("configmaps/a"), R"({"data":{"$patch":"replace","z":"1"}})");
  EXPECT_EQ(to_text(*r.find("/data")), R"({"z":"1"})");
}

std::string deployment(std::string_view strategy) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":0,"strategy":)" +
         std::string(strategy) +
         R"(,"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},
         "spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"i:1"}],
         "volumes":[{"name":"v","emptyDir":{}}]}}}})";
}

TEST(StrategicPatch, RetainsTheKeysItNames) {
  space s;
  post(s.group("apps/v1", "deployments"), deployment(R"({"type":"RollingUpdate"})"));
  reply r = strategic(s.group("apps/v1", "deployments/d"),
                      R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"},
      "template":{"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}}}})");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(to_text(*r.find("/spec/strategy")), R"({"type":"Recreate"})");
  EXPECT_EQ(*r.find("/spec/template/spec/volumes"),
            json::parse(R"([{"name":"v","configMap":{"name":"c","defaultMode":420}}])"));
}

TEST(StrategicPatch, ThatRetainsOtherKeysThanItSetsIsRefused) {
  space s;
  post(s.group("apps/v1", "deployments"), deployment(R"({"type":"RollingUpdate"})"));
  reply r = strategic(s.group("apps/v1", "deployments/d"),
                      R"({"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":{}}}})");
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/message"), "invalid patch format of retainKeys");
}

TEST(StrategicPatch, PutsElementsInTheOrderItNames) {
  space s;
  post(s.group("apps/v1", "deployments"), deployment("{}"));
  reply r = strategic(
      s.group("apps/v1", "deployments/d"),
      R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"},{"name":"a"}],
      "containers":[{"name":"c","image":"i:2"}]}}}})");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(r.at("/spec/template/spec/containers/0/name"), "c");
  EXPECT_EQ(r.at("/spec/template/spec/containers/1/name"), "b");
  EXPECT_EQ(r.at("/spec/template/spec/containers/2/name"), "a");
}

TEST(StrategicPatch, NeedsTheMergeKey) {
  space s;
  post(s.group("apps/v1", "deployments"), deployment("{}"));
  reply r = strategic(s.group("apps/v1", "deployments/d"),
                      R"({"spec":{"template":{"spec":{"containers":[{"image":"i:2"}]}}}})");
  EXPECT_EQ(r.status, 500);
  EXPECT_EQ(r.at("/message"), "map: map[image:i:2] does not contain declared merge key: name");
}

TEST(StrategicPatch, RefusesAnUnknownDirective) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = strategic(s.core("configmaps/a"), R"({"data":{"$patch":"other"}})");
  EXPECT_EQ(r.status, 500);
  EXPECT_EQ(r.at("/message"), "unknown patch type: other in map: map[$patch:other]");
}

TEST(StrategicPatch, RefusesFieldsItDoesNotKnow) {
  space s;
  post(s.core("configmaps"), config_map("a", R"({"a":"1"})"));
  reply r = strategic(s.core("configmaps/a"), R"({"data":{"a":{"b":{}}}})");
  EXPECT_GE(r.status, 400) << r.text;
}

TEST(Patch, OfAnUnknownTypeIsRefused) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  EXPECT_EQ(endpoint::get().send("PATCH", s.core("configmaps/a"), "{}", "application/json").status,
            415);
}

TEST(Apply, CreatesAndThenOwns) {
  space s;
  reply r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/metadata/managedFields/0/operation"), "Apply");
  EXPECT_EQ(*r.find("/metadata/managedFields/0/fieldsV1"), json::parse(R"({"f:data":{"f:a":{}}})"));
  r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  EXPECT_EQ(r.status, 200);
}

TEST(Apply, OfAVersionThatNoObjectHasMakesAndNeverChanges) {
  space s;
  const std::string mine =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"1"},"data":{"a":"1"}})";
  EXPECT_EQ(server_apply(s.core("configmaps/a?fieldManager=me"), mine).status, 201);
  const reply r = server_apply(s.core("configmaps/a?fieldManager=me&force=true"), mine);
  EXPECT_EQ(r.status, 409) << r.text;
  EXPECT_EQ(r.at("/reason"), "Conflict");
}

TEST(Apply, NeedsAManager) {
  space s;
  reply r = server_apply(s.core("configmaps/a"), config_map("a"));
  EXPECT_EQ(r.status, 422);
  EXPECT_NE(r.at("/message").find("fieldManager: Required value: is required for apply patch"),
            std::string::npos)
      << r.text;
}

TEST(Apply, RemovesWhatIsNotAppliedAnyMore) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a", R"({"a":"1","b":"2"})"));
  reply r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a", R"({"a":"1"})"));
  EXPECT_EQ(to_text(*r.find("/data")), R"({"a":"1"})");
}

TEST(Apply, KeepsWhatSomeoneElseHasToo) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a", R"({"a":"1","b":"2"})"));
  server_apply(s.core("configmaps/a?fieldManager=you"), config_map("a", R"({"b":"2"})"));
  reply r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a", R"({"a":"1"})"));
  EXPECT_EQ(*r.find("/data"), json::parse(R"({"a":"1","b":"2"})"));
}

TEST(Apply, ConflictsWithAnotherApplier) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  reply r = server_apply(s.core("configmaps/a?fieldManager=you"), config_map("a", R"({"a":"2"})"));
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.at("/reason"), "Conflict");
  EXPECT_EQ(r.at("/message"), "Apply failed with 1 conflict: conflict with \"me\": .data.a");
  EXPECT_EQ(r.at("/details/causes/0/reason"), "FieldManagerConflict");
  EXPECT_EQ(r.at("/details/causes/0/message"), "conflict with \"me\"");
  EXPECT_EQ(r.at("/details/causes/0/field"), ".data.a");
}

TEST(Apply, ConflictsWithAnUpdaterByName) {
  space s;
  post(s.core("configmaps?fieldManager=creator"), config_map("a", R"({"a":"1","b":"1"})"));
  reply r = server_apply(s.core("configmaps/a?fieldManager=you"),
                         config_map("a", R"({"a":"2","b":"2"})"));
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(
      r.at("/message"),
      "Apply failed with 2 conflicts: conflicts with \"creator\" using v1:\n- .data.a\n- .data.b");
}

TEST(Apply, TakesOverByForce) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  reply r = server_apply(s.core("configmaps/a?fieldManager=you&force=true"),
                         config_map("a", R"({"a":"2"})"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.at("/data/a"), "2");
  r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a", R"({"z":"1"})"));
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(*r.find("/data"), json::parse(R"({"a":"2","z":"1"})"));
}

TEST(Apply, OfTheSameValueIsShared) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  EXPECT_EQ(server_apply(s.core("configmaps/a?fieldManager=you"), config_map("a")).status, 200);
}

TEST(Apply, WithoutAChangeKeepsTheVersion) {
  space s;
  reply first = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  reply again = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  EXPECT_EQ(first.at("/metadata/resourceVersion"), again.at("/metadata/resourceVersion"));
}

TEST(Apply, MergesListsByTheirKeys) {
  space s;
  const auto service = [](std::string ports) {
    return R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"selector":{"a":"b"},"ports":)" +
           ports + "}}";
  };
  server_apply(s.core("services/s?fieldManager=me"), service(R"([{"name":"a","port":80}])"));
  reply r = server_apply(
      s.core("services/s?fieldManager=you"),
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"name":"b","port":81}]}})");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(r.find("/spec/ports")->as_array().size(), 2u);
  r = server_apply(s.core("services/s?fieldManager=you"),
                   R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{}})");
  EXPECT_EQ(r.find("/spec/ports")->as_array().size(), 1u) << r.text;
}

TEST(Apply, OwnsConditionsOneByOne) {
  space s;
  post(s.core("pods"), pod("p"));
  auto condition = [&](std::string_view type) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"status":{"conditions":[{"type":")" +
           std::string(type) + R"(","status":"True"}]}})";
  };
  EXPECT_EQ(server_apply(s.core("pods/p/status?fieldManager=a"), condition("e.com/A")).status, 200);
  reply r = server_apply(s.core("pods/p/status?fieldManager=b"), condition("e.com/B"));
  EXPECT_EQ(r.find("/status/conditions")->as_array().size(), 2u) << r.text;
  r = server_apply(s.core("pods/p/status?fieldManager=b"),
                   R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"status":{}})");
  EXPECT_EQ(r.find("/status/conditions")->as_array().size(), 1u) << r.text;
  EXPECT_EQ(r.at("/status/conditions/0/type"), "e.com/A");
}

TEST(Apply, ReadsYaml) {
  space s;
  reply r =
      server_apply(s.core("configmaps/a?fieldManager=me"),
                   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n");
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/data/k"), "1");
}

TEST(Apply, RefusesManagedFieldsInTheBody) {
  space s;
  reply r = server_apply(
      s.core("configmaps/a?fieldManager=me"),
      config_map("a", "{}", R"("managedFields":[{"manager":"x","operation":"Apply"}])"));
  EXPECT_EQ(r.status, 400);
  EXPECT_NE(r.at("/message").find("metadata.managedFields must be nil"), std::string::npos)
      << r.text;
}

TEST(Update, TakesTheFieldFromItsApplier) {
  space s;
  server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  merge(s.core("configmaps/a?fieldManager=other"), R"({"data":{"a":"2"}})");
  reply r = server_apply(s.core("configmaps/a?fieldManager=me"), config_map("a"));
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.at("/message"),
            "Apply failed with 1 conflict: conflict with \"other\" using v1: .data.a");
}

TEST(DryRun, OfAnApplyStoresNothing) {
  space s;
  EXPECT_EQ(server_apply(s.core("configmaps/a?fieldManager=me&dryRun=All"), config_map("a")).status,
            201);
  EXPECT_EQ(get(s.core("configmaps/a")).status, 404);
}

}  // namespace
}  // namespace conformance
