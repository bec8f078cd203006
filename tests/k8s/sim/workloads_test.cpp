// What the embedded server's controllers make of workloads.
#include "k8s/sim/workloads.hpp"

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace k8s::sim {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class Workloads : public testing::Test {
protected:
  Workloads() : api_(options_on(loop_)), plays_(loop_, api_, 1s) {
    api_.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
  }
  void put(const std::string& manifest) { api_.put(json::parse(manifest).as_object()); }
  void wait(reactor::nanoseconds d = 2s) { loop_.run_until(loop_.now() + d); }
  std::string at(const char* group, const char* plural, const char* name, const char* pointer) {
    const auto o = api_.get(group, plural, "default", name);
    if (!o) return "absent";
    boost::system::error_code none;
    const json::value all(*o);
    const json::value* v = all.find_pointer(pointer, none);
    return !v ? "nothing" : v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
  }
  std::string web(const char* pointer) { return at("apps", "deployments", "web", pointer); }
  void put_web(const std::string& image, const std::string& more = {}) {
    put(R"({"apiVersion":"apps/v1","kind":"Deployment",
      "metadata":{"name":"web","namespace":"default"},"spec":{)" +
        more + R"("replicas":3,"selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"web"}},
        "spec":{"containers":[{"name":"c","image":")" +
        image + R"("}]}}}})");
  }
  void give_image(const std::string& image) {
    api_.edit("apps", "deployments", "default", "web", [&](json::object& o) {
      o["spec"].at("template").at("spec").at("containers").at(0).as_object()["image"] = image;
    });
  }
  /// "1:3" for revision 1 with three pods, in order of revision.
  std::vector<std::string> sets() {
    std::vector<std::string> out;
    for (const json::object& o : api_.list("apps", "replicasets"))
      out.push_back(std::string(o.at("metadata")
                                    .at("annotations")
                                    .at("deployment.kubernetes.io/revision")
                                    .as_string()) +
                    ":" + json::serialize(o.at("spec").at("replicas")));
    std::ranges::sort(out);
    return out;
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 7};
  api_server api_;
  workloads plays_;
};

TEST_F(Workloads, ADeploymentIsReadyAMomentAfterItsLastChange) {
  put_web("web:1");
  wait(500ms);
  EXPECT_EQ(web("/status/readyReplicas"), "nothing");
  wait();
  EXPECT_EQ(web("/status/readyReplicas"), "3");
  EXPECT_EQ(web("/status/observedGeneration"), web("/metadata/generation"));
  EXPECT_EQ(web("/status/conditions/0/type"), "Available");
  EXPECT_THAT(sets(), ElementsAre("1:3"));
  const auto settled = api_.revision();
  wait(1min);
  EXPECT_EQ(api_.revision(), settled) << "its own writes are no reason to write";
}

TEST_F(Workloads, ANewTemplateIsANewReplicaSetAndTheOldOneIsEmpty) {
  put_web("web:1");
  wait();
  give_image("web:2");
  wait();
  EXPECT_THAT(sets(), ElementsAre("1:0", "2:3"));
  EXPECT_EQ(web("/metadata/annotations/deployment.kubernetes.io~1revision"), "2");
  give_image("web:1");
  wait();
  EXPECT_THAT(sets(), ElementsAre("2:0", "3:3")) << "a return is a revision of the old set";
}

TEST_F(Workloads, FormerReplicaSetsAreKeptUpToTheLimit) {
  put_web("web:1", R"("revisionHistoryLimit":1,)");
  for (const char* image : {"web:1", "web:2", "web:3"}) {
    give_image(image);
    wait();
  }
  EXPECT_THAT(sets(), ElementsAre("2:0", "3:3"));
}

TEST_F(Workloads, APausedDeploymentRollsNothingOut) {
  put_web("web:1", R"("paused":true,)");
  wait();
  EXPECT_EQ(web("/status/observedGeneration"), web("/metadata/generation"));
  EXPECT_EQ(web("/status/readyReplicas"), "nothing");
  EXPECT_THAT(sets(), IsEmpty());
}

TEST_F(Workloads, ANameThatIsAsLongAsNamesMayBeHasAReplicaSetToo) {
  put_web("web:1");
  json::object longest = *api_.get("apps", "deployments", "default", "web");
  longest["metadata"] = json::object{{"name", std::string(253, 'w')}, {"namespace", "default"}};
  api_.put(std::move(longest));
  wait();
  EXPECT_THAT(sets(), ElementsAre("1:3", "1:3"));
}

TEST_F(Workloads, WhatADeletedDeploymentOwnedGoesWithIt) {
  put_web("web:1");
  wait();
  (void)api_.handle(make_request("DELETE", "/apis/apps/v1/namespaces/default/deployments/web"));
  wait();
  EXPECT_EQ(web("/metadata/name"), "absent");
  EXPECT_THAT(sets(), IsEmpty());
}

TEST_F(Workloads, OthersAreReadyByTheirOwnStatus) {
  api_.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n"}}}});
  const std::string pods =
      R"("selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}})";
  put(R"({"apiVersion":"apps/v1","kind":"StatefulSet",
    "metadata":{"name":"db","namespace":"default"},"spec":{"replicas":2,"serviceName":"db",)" +
      pods + "}}");
  put(R"({"apiVersion":"apps/v1","kind":"DaemonSet",
    "metadata":{"name":"agent","namespace":"default"},"spec":{)" +
      pods + "}}");
  for (const char* suspended : {"false", "true"})
    put(std::string(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"suspended-)") +
        suspended + R"(","namespace":"default"},"spec":{"completions":2,"suspend":)" + suspended +
        R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  put(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",
    "metadata":{"name":"data","namespace":"default"},
    "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  for (const char* type : {"ClusterIP", "LoadBalancer"})
    put(std::string(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")") +
        (type[0] == 'C' ? "inside" : "outside") + R"(","namespace":"default"},
        "spec":{"type":")" +
        type + R"(","ports":[{"port":80}]}})");
  wait();
  EXPECT_EQ(at("apps", "statefulsets", "db", "/status/readyReplicas"), "2");
  EXPECT_EQ(at("apps", "statefulsets", "db", "/status/currentRevision"),
            at("apps", "statefulsets", "db", "/status/updateRevision"));
  EXPECT_EQ(at("apps", "daemonsets", "agent", "/status/numberReady"), "1");
  EXPECT_EQ(at("batch", "jobs", "suspended-false", "/status/succeeded"), "2");
  EXPECT_EQ(at("batch", "jobs", "suspended-false", "/status/conditions/1/type"), "Complete");
  EXPECT_EQ(at("batch", "jobs", "suspended-true", "/status/succeeded"), "nothing");
  EXPECT_EQ(at("", "persistentvolumeclaims", "data", "/status/phase"), "Bound");
  EXPECT_EQ(at("", "services", "inside", "/status/loadBalancer/ingress"), "nothing");
  EXPECT_THAT(at("", "services", "outside", "/status/loadBalancer/ingress/0/ip"),
              StartsWith("192.0.2."));
}

}  // namespace
}  // namespace k8s::sim
