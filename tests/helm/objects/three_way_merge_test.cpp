#include "helm/objects/three_way_merge.hpp"

#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_merge.hpp"
#include "tests/helm/in_child.hpp"
#include "tests/helm/objects/merge_answers.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <string>

namespace helm::objects {
namespace {

namespace json = boost::json;
using testing::canonical;
using testing::parse;

/// Before, after and live of one object, and what becomes of it.
struct merge {
  json::object before, after, live;
  std::string api_version = "apps/v1", kind = "Deployment";

  merge(std::string_view b, std::string_view a, std::string_view l)
      : before(parse(b)), after(parse(a)), live(parse(l)) {}
  merge& of(std::string api, std::string k) {
    api_version = std::move(api);
    kind = std::move(k);
    return *this;
  }
  std::string patch() const {
    auto made = strategic_three_way_patch({before, after, live}, type());
    return made ? canonical(*made) : made.error().text;
  }
  std::string applied() const {
    auto made = strategic_three_way_patch({before, after, live}, type());
    if (!made) return made.error().text;
    auto done = k8s::apply_strategic_patch(live, *made, type());
    return done ? canonical(*done) : done.error().text;
  }
  const k8s::merge_type& type() const { return *k8s::merge_type_of(api_version, kind); }
};

std::string in_pod(std::string_view spec) {
  return R"({"spec":{"template":{"spec":)" + std::string(spec) + "}}}";
}

TEST(ThreeWayMerge, OfNoChangeIsEmpty) {
  const std::string same = in_pod(R"({"containers":[{"name":"a","image":"i:1"}]})");
  EXPECT_EQ(merge(same, same, same).patch(), "{}");
}

TEST(ThreeWayMerge, LeavesAloneWhatOthersSet) {
  merge m(in_pod(R"({"containers":[{"name":"a","image":"i:1"}]})"),
          in_pod(R"({"containers":[{"name":"a","image":"i:2"}]})"),
          in_pod(R"({"containers":[{"name":"a","image":"i:1","imagePullPolicy":"Always"},)"
                 R"({"name":"sidecar","image":"s"}],"priority":3})"));
  EXPECT_EQ(m.applied(),
            in_pod(R"({"containers":[{"image":"i:2","imagePullPolicy":"Always","name":"a"},)"
                   R"({"image":"s","name":"sidecar"}],"priority":3})"));
}

TEST(ThreeWayMerge, TakesAwayWhatTheChartNoLongerHas) {
  merge m(in_pod(R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y"}]}]})"),
          in_pod(R"({"containers":[{"name":"a","env":[{"name":"Y"}]}]})"),
          in_pod(R"({"containers":[{"name":"a","env":[{"name":"X","value":"9"},{"name":"Y"}]}]})"));
  EXPECT_EQ(m.applied(), in_pod(R"({"containers":[{"env":[{"name":"Y"}],"name":"a"}]})"));
}

TEST(ThreeWayMerge, RepairsDrift) {
  merge m(R"({"spec":{"replicas":2}})", R"({"spec":{"replicas":2}})", R"({"spec":{"replicas":5}})");
  EXPECT_EQ(m.patch(), R"({"spec":{"replicas":2}})");
}

TEST(ThreeWayMerge, ReplacesTheSourceOfAVolumeThatChangesKind) {
  merge m(in_pod(R"({"volumes":[{"name":"v","configMap":{"name":"c"}}]})"),
          in_pod(R"({"volumes":[{"name":"v","secret":{"secretName":"s"}}]})"),
          in_pod(R"({"volumes":[{"name":"v","configMap":{"name":"c","defaultMode":420}}]})"));
  EXPECT_EQ(m.applied(), in_pod(R"({"volumes":[{"name":"v","secret":{"secretName":"s"}}]})"));
}

TEST(ThreeWayMerge, DropsRollingParametersWhenTheStrategyChanges) {
  merge m(R"({"spec":{"strategy":{"type":"RollingUpdate"}}})",
          R"({"spec":{"strategy":{"type":"Recreate"}}})",
          R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}}}})");
  EXPECT_EQ(m.applied(), R"({"spec":{"strategy":{"type":"Recreate"}}})");
}

TEST(ThreeWayMerge, ReplacesABudgetsSelectorWhole) {
  merge m(R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})",
          R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
          R"({"spec":{"selector":{"matchLabels":{"a":"1","c":"3"}}}})");
  EXPECT_EQ(m.of("policy/v1", "PodDisruptionBudget").applied(),
            R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})");
}

TEST(ThreeWayMerge, KeepsFinalizersThatOthersAdded) {
  merge m(R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["b"]}})",
          R"({"metadata":{"finalizers":["a","b","c"]}})");
  EXPECT_EQ(m.of("v1", "ConfigMap").applied(), R"({"metadata":{"finalizers":["b","c"]}})");
}

TEST(ThreeWayMerge, ReplacesListsWithoutAKey) {
  merge m(R"({"rules":[{"verbs":["get"]},{"verbs":["list"]}]})", R"({"rules":[{"verbs":["get"]}]})",
          R"({"rules":[{"verbs":["get"]},{"verbs":["list"]},{"verbs":["watch"]}]})");
  EXPECT_EQ(m.of("rbac.authorization.k8s.io/v1", "Role").applied(),
            R"({"rules":[{"verbs":["get"]}]})");
}

TEST(ThreeWayMerge, PutsElementsInTheChartsOrder) {
  merge m(in_pod(R"({"initContainers":[{"name":"a"},{"name":"b"}]})"),
          in_pod(R"({"initContainers":[{"name":"b"},{"name":"a"}]})"),
          in_pod(R"({"initContainers":[{"name":"a"},{"name":"b"}]})"));
  EXPECT_EQ(m.applied(), in_pod(R"({"initContainers":[{"name":"b"},{"name":"a"}]})"));
}

TEST(ThreeWayMerge, NamesTheFieldThatTheTypeDoesNotHave) {
  merge m(R"({"spec":{"podTemplate":{"a":1}}})", R"({"spec":{"podTemplate":{"a":2}}})",
          R"({"spec":{"podTemplate":{"a":1}}})");
  EXPECT_EQ(
      m.patch(),
      R"(unable to find api field in struct DeploymentSpec for the json field "podTemplate")");
}

TEST(ThreeWayMerge, ReachesTemplatesWithinTemplates) {
  const auto job = [](std::string_view image) {
    return R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","image":")" +
           std::string(image) + R"("}]}}}}}})";
  };
  merge m(job("1"), job("2"), job("1"));
  EXPECT_EQ(
      m.of("batch/v1", "CronJob").patch(),
      R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"a"}],)"
      R"("containers":[{"image":"2","name":"a"}]}}}}}})");
}

TEST(MergeTypes, AreThoseOfTheBuiltInApi) {
  EXPECT_NE(k8s::merge_type_of("apiextensions.k8s.io/v1", "CustomResourceDefinition"), nullptr);
  EXPECT_NE(k8s::merge_type_of("v1", "ReplicationController"), nullptr);
  EXPECT_EQ(k8s::merge_type_of("apiregistration.k8s.io/v1", "APIService"), nullptr);
  EXPECT_EQ(k8s::merge_type_of("example.com/v1", "Widget"), nullptr);
  EXPECT_EQ(k8s::merge_type_of("v1", "Deployment"), nullptr);
}

TEST(JsonMerge, GoesFromOneManifestToTheNext) {
  EXPECT_EQ(canonical(merge_patch(parse(R"({"a":1,"b":{"c":1,"d":2},"l":[1,2]})"),
                                  parse(R"({"a":1.0,"b":{"c":3},"l":[2]})"))),
            R"({"b":{"c":3,"d":null},"l":[2]})");
}

TEST(JsonMerge, OfThreeStatesRepairsDriftAndKeepsTheRest) {
  const json::object before = parse(R"({"spec":{"a":1,"b":2}})"),
                     after = parse(R"({"spec":{"a":1}})"),
                     live = parse(R"({"spec":{"a":7,"b":2,"c":3},"status":{}})");
  EXPECT_EQ(canonical(json_three_way_patch({before, after, live})), R"({"spec":{"a":1,"b":null}})");
}

/// What users of a namespace have put into a release's object, and into its record: the limit of
/// processor time ends what looks through a list for each of its elements.
TEST(ThreeWayMerge, OfListsThatStrangersMadeLongComesToAnEnd) {
  constexpr int many = 100'000;
  constexpr std::size_t memory_bytes = 1u << 30;
  const auto end = [&](const merge& m) {
    return helm::testing::in_child([&] { return m.patch().empty() ? "nothing" : ""; }, memory_bytes);
  };
  std::string variables, volumes, finalizers;
  for (int i = many; i > 0; --i) {
    const std::string name = std::to_string(1'000'000 + i);
    variables += (variables.empty() ? "" : ",") + ("{\"name\":\"" + name + "\"}");
    volumes += (volumes.empty() ? "" : ",") + ("{\"name\":\"v" + name + "\"}");
    finalizers += (finalizers.empty() ? "\"" : ",\"") + std::to_string(i) + "\"";
  }
  const std::string few =
      in_pod(R"({"containers":[{"name":"a","env":[{"name":"A","value":"1"}]}]})");
  const std::string long_list = in_pod("{\"containers\":[{\"name\":\"a\",\"env\":[" + variables +
                                       "]}],\"volumes\":[" + volumes + "]}");
  EXPECT_EQ(end(merge(few, few, long_list)), "");
  EXPECT_EQ(end(merge(long_list, few, few)), "");
  EXPECT_EQ(end(merge(long_list, long_list, few)), "");
  EXPECT_EQ(end(merge(few, long_list, long_list)), "");
  const auto with = [](const std::string& all) {
    return R"({"metadata":{"finalizers":[)" + all + "]}}";
  };
  EXPECT_EQ(end(merge(with(finalizers), with("\"1\""), with(finalizers))), "");
  EXPECT_EQ(end(merge(with(finalizers + "," + finalizers), with("\"1\""), with("\"1\""))), "");
}

}  // namespace
}  // namespace helm::objects
