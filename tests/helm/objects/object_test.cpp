#include "helm/objects/object.hpp"

#include "helm/objects/manifest_reader.hpp"
#include "tests/helm/objects/merge_answers.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace helm::objects {
namespace {

namespace json = boost::json;
using testing::canonical;

object named(std::string kind, std::string name, std::string group = "", std::string version = "v1",
             std::string ns = "shop") {
  object o;
  o.resource = {std::move(group), std::move(version), "", kind, true};
  o.kind = std::move(kind);
  o.ns = std::move(ns);
  o.name = std::move(name);
  return o;
}

TEST(Object, IsTheSameInAnotherVersionOfItsGroup) {
  const object a = named("Ingress", "web", "networking.k8s.io", "v1beta1"),
               b = named("Ingress", "web", "networking.k8s.io", "v1");
  EXPECT_EQ(key_of(a), key_of(b));
  EXPECT_EQ(key_of(a), "networking.k8s.io/Ingress/shop/web");
  EXPECT_NE(find_same({b}, a), nullptr);
  EXPECT_EQ(find_same({named("Ingress", "web", "extensions")}, a), nullptr);
  EXPECT_EQ(find_same({named("Ingress", "web", "networking.k8s.io", "v1", "other")}, a), nullptr);
}

TEST(Object, IsDescribedAsHelmDoes) {
  EXPECT_EQ(describe(named("ConfigMap", "a")), R"(ConfigMap "a" in namespace "shop")");
}

TEST(Object, OfAnIndexIsTheOneThatASearchFinds) {
  const object_list all{named("ConfigMap", "a"), named("ConfigMap", "a"), named("Secret", "a")};
  const object_index index(all);
  for (const object& wanted : {named("ConfigMap", "a"), named("Secret", "a"), named("Secret", "b"),
                               named("Secret", "a", "", "v1", "other")})
    EXPECT_EQ(index.find(wanted), find_same(all, wanted)) << key_of(wanted);
}

TEST(Object, DifferenceKeepsTheOrder) {
  const object_list all{named("ConfigMap", "a"), named("ConfigMap", "b"), named("Secret", "a")};
  const object_list left = difference(all, {named("ConfigMap", "b")});
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(key_of(left[0]), "/ConfigMap/shop/a");
  EXPECT_EQ(key_of(left[1]), "/Secret/shop/a");
}

TEST(Ownership, IsStampedOverWhatTheChartSays) {
  const json::object o =
      json::parse(
          R"({"metadata":{"name":"a","labels":{"app.kubernetes.io/managed-by":"x","l":"1"}}})")
          .as_object();
  EXPECT_EQ(canonical(stamp(o, "web", "shop")),
            R"({"metadata":{"annotations":{"meta.helm.sh/release-name":"web",)"
            R"("meta.helm.sh/release-namespace":"shop"},)"
            R"("labels":{"app.kubernetes.io/managed-by":"Helm","l":"1"},"name":"a"}})");
}

TEST(Ownership, OfAStampedObjectIsNoProblem) {
  const json::object o = stamp({}, "web", "shop");
  EXPECT_EQ(ownership_problem(o, "web", "shop"), std::nullopt);
}

TEST(Ownership, ProblemsNameOnlyWhatIsWrong) {
  json::object o = stamp({}, "other", "shop");
  EXPECT_EQ(ownership_problem(o, "web", "shop"),
            "invalid ownership metadata; annotation validation error: key "
            "\"meta.helm.sh/release-name\" must equal \"web\": current value is \"other\"");
  EXPECT_EQ(ownership_problem({}, "web", "shop"),
            "invalid ownership metadata; label validation error: missing key "
            "\"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation "
            "error: missing key \"meta.helm.sh/release-name\": must be set to \"web\"; annotation "
            "validation error: missing key \"meta.helm.sh/release-namespace\": must be set to "
            "\"shop\"");
}

TEST(KeepPolicy, IsTakenToTheLetter) {
  const auto with = [](std::string_view policy) {
    json::object annotations{{"helm.sh/resource-policy", policy}};
    json::object metadata;
    metadata["annotations"] = annotations;
    json::object o;
    o["metadata"] = metadata;
    return o;
  };
  EXPECT_TRUE(kept_by_policy(with("keep")));
  EXPECT_FALSE(kept_by_policy(with("Keep ")));
  EXPECT_FALSE(kept_by_policy({}));
}

TEST(Manifest, IsCutIntoDocuments) {
  auto all = read_manifest(
      "---\n# Source: c/templates/a.yaml\nkind: A\ncount: 1.0\n---\n# only a comment\n--- # next\n"
      "kind: B\nlist: [1, 2.5, yes, ~]\n");
  ASSERT_TRUE(all) << all.error().text;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(canonical((*all)[0]), R"({"count":1,"kind":"A"})");
  EXPECT_EQ(canonical((*all)[1]), R"({"kind":"B","list":[1,2.5,true,null]})");
}

TEST(Manifest, TakesTheLastOfRepeatedKeys) {
  auto all = read_manifest("kind: A\nkind: B\n");
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(canonical((*all)[0]), R"({"kind":"B"})");
}

TEST(Manifest, ThatIsNoYamlIsAProblem) {
  auto all = read_manifest("kind: A\n---\n\tb\n");
  ASSERT_FALSE(all);
  EXPECT_TRUE(all.error().text.starts_with("error parsing : error converting YAML to JSON: yaml: "))
      << all.error().text;
}

TEST(Manifest, MayNotBeNestedEndlessly) {
  const auto nested = [](int depth) {
    return "kind: A\ndeep: " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_TRUE(read_manifest(nested(150)));
  auto all = read_manifest(nested(5000));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().text, "error parsing : json: exceeded max depth");
}

TEST(Manifest, ListsAreFlattened) {
  auto all = read_manifest(
      "kind: List\nitems:\n- {kind: A}\n- kind: BList\n  items: [{kind: B}]\n- {kind: C}\n");
  ASSERT_TRUE(all);
  const auto flat = flatten((*all)[0]);
  ASSERT_EQ(flat.size(), 3u);
  EXPECT_EQ(canonical(flat[0]), R"({"kind":"A"})");
  EXPECT_EQ(canonical(flat[1]), R"({"kind":"C"})");
  EXPECT_EQ(canonical(flat[2]), R"({"kind":"B"})");
}

}  // namespace
}  // namespace helm::objects
