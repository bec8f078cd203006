// What an upgrade would change, object by object, without a cluster.
#include "helm/placed/plan/object_changes.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace helm::placed {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::object read(const char* text) {
  return json::parse(text).as_object();
}

objects::object of(const char* text) {
  objects::object o;
  o.body = read(text);
  o.kind = json::value_to<std::string>(o.body.at("kind"));
  o.name = "web";
  o.ns = "acme";
  const std::string api = json::value_to<std::string>(o.body.at("apiVersion"));
  const auto slash = api.find('/');
  if (slash != std::string::npos) o.resource.group = api.substr(0, slash);
  o.resource.version = api.substr(slash == std::string::npos ? 0 : slash + 1);
  o.resource.kind = o.kind;
  return o;
}

const char* const deployment_1 =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1,
    "template":{"spec":{"containers":[{"name":"a","image":"x:1"},{"name":"b","image":"y:1"}]}}}})";
const char* const deployment_2 =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,
    "template":{"spec":{"containers":[{"name":"a","image":"x:2"},{"name":"c","image":"z:1"}]}}}})";
const char* const deployment_live =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","uid":"u","generation":4},
    "spec":{"replicas":1,"revisionHistoryLimit":10,"template":{"spec":{"containers":[
    {"name":"a","image":"x:1","imagePullPolicy":"Always"},{"name":"b","image":"y:1"}]}}},
    "status":{"replicas":1}})";

TEST(ObjectChanges, AreWhatTheMergeOfAnUpgradeWouldChange) {
  const objects::object target = of(deployment_2), before = of(deployment_1);
  const json::object live = read(deployment_live);
  const auto change = change_of(target, &before, &live);
  ASSERT_TRUE(change && *change);
  EXPECT_EQ((*change)->action, "change");
  EXPECT_EQ((*change)->api_version, "apps/v1");
  EXPECT_THAT((*change)->lines,
              ElementsAre("spec.replicas: 1 → 2",
                          "spec.template.spec.containers[a].image: \"x:1\" → \"x:2\"",
                          "spec.template.spec.containers[b]: {\"name\":\"b\",\"image\":\"y:1\"} → "
                          "nothing",
                          "spec.template.spec.containers[c]: nothing → "
                          "{\"name\":\"c\",\"image\":\"z:1\"}"));
}

TEST(ObjectChanges, WhatTheServerAddedIsNone) {
  const objects::object same = of(deployment_1);
  const json::object live = read(deployment_live);
  const auto change = change_of(same, &same, &live);
  ASSERT_TRUE(change);
  EXPECT_FALSE(*change);
}

TEST(ObjectChanges, WhatIsNotThereIsCreated) {
  const objects::object target = of(deployment_1);
  const auto change = change_of(target, &target, nullptr);
  ASSERT_TRUE(change && *change);
  EXPECT_EQ((*change)->action, "create");
  EXPECT_THAT((*change)->lines, IsEmpty());
}

TEST(ObjectChanges, OfSecretsNoValueIsShown) {
  const objects::object target = of(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"},"stringData":{"a":"new","b":"same"}})");
  const json::object live = read(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"},"data":{"a":"b2xk","b":"c2FtZQ=="}})");
  const auto change = change_of(target, &target, &live);
  ASSERT_TRUE(change && *change);
  EXPECT_THAT((*change)->lines, ElementsAre("data.a: … → …"));
  json::object now = live;
  now.at("data").as_object()["a"] = "bmV3";
  const auto none = change_of(target, &target, &now);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none) << "stringData is data to the server";
}

TEST(ObjectChanges, KindsThatNobodyKnowsAreMergedAsTheServerDoes) {
  const objects::object before = of(
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"web"},"spec":{"a":1,"b":[1,2]}})");
  const objects::object target = of(
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"web"},"spec":{"b":[1,3]}})");
  const json::object live = read(
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"web"},"spec":{"a":1,"b":[1,2],"c":true}})");
  const auto change = change_of(target, &before, &live);
  ASSERT_TRUE(change && *change);
  EXPECT_THAT((*change)->lines, ElementsAre("spec.a: 1 → nothing", "spec.b: [1,2] → [1,3]"));
}

TEST(ObjectChanges, WhatTheChartHasNoLongerIsDeletedUnlessItsPolicyKeepsIt) {
  const objects::object old = of(deployment_1);
  EXPECT_FALSE(removal_of(old, nullptr));
  json::object live = read(deployment_live);
  EXPECT_EQ(removal_of(old, &live)->action, "delete");
  live["metadata"] = read(R"({"annotations":{"helm.sh/resource-policy":"keep"}})");
  EXPECT_EQ(removal_of(old, &live)->action, "keep");
}

TEST(ObjectChanges, ManyLinesAreCutAndControlCharactersAreNotShown) {
  json::object from, to;
  for (int i = 0; i < 60; ++i) to["k" + std::to_string(i)] = i;
  to["a\x1b[31m"] = "red\n";
  const auto lines = lines_between(from, to, "ConfigMap");
  ASSERT_EQ(lines.size(), 41u);
  EXPECT_EQ(lines.back(), "and 21 more");
  for (const std::string& line : lines) EXPECT_EQ(line.find('\x1b'), line.npos) << line;
}

}  // namespace
}  // namespace helm::placed
