#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

std::string named(std::string_view kind, std::string_view rest, std::string_view group = "v1") {
  return R"({"apiVersion":")" + std::string(group) + R"(","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"a"},)" + std::string(rest) + "}";
}

json::value without(const json::value& v, std::initializer_list<std::string_view> names) {
  json::object o = v.as_object();
  for (const std::string_view name : names) o.erase(name);
  return o;
}

constexpr std::string_view job_spec =
    R"("spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})";

TEST(Service, GetsAnAddressAndKeepsIt) {
  space s;
  const std::string body =
      named("Service", R"("spec":{"selector":{"a":"b"},"ports":[{"port":80}]})");
  reply made = post(s.core("services"), body);
  EXPECT_EQ(made.status, 201) << made.text;
  const std::string address = made.at("/spec/clusterIP");
  EXPECT_TRUE(address.starts_with("10.0.")) << address;
  EXPECT_EQ(made.at("/spec/clusterIPs/0"), address);
  EXPECT_EQ(without(*made.find("/spec"), {"clusterIP", "clusterIPs"}), json::parse(R"({
    "internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",
    "ports":[{"port":80,"protocol":"TCP","targetPort":80}],"selector":{"a":"b"},
    "sessionAffinity":"None","type":"ClusterIP"})"));
  reply replaced = put(s.core("services/a"), body);
  EXPECT_EQ(replaced.status, 200) << replaced.text;
  EXPECT_EQ(replaced.at("/spec/clusterIP"), address);
}

TEST(Service, OfTypeLoadBalancerGetsNodePortsAndKeepsThem) {
  space s;
  const std::string body =
      named("Service", R"("spec":{"type":"LoadBalancer","ports":[{"port":80}]})");
  reply made = post(s.core("services"), body);
  EXPECT_EQ(made.status, 201) << made.text;
  const std::int64_t port = made.number("/spec/ports/0/nodePort");
  EXPECT_GE(port, 30'000);
  EXPECT_EQ(made.at("/spec/externalTrafficPolicy"), "Cluster");
  EXPECT_EQ(put(s.core("services/a"), body).number("/spec/ports/0/nodePort"), port);
}

TEST(Service, IsRefusedANodePortThatAnotherHas) {
  space s;
  const std::string ports = R"("spec":{"type":"NodePort","ports":[{"port":80}]})";
  const std::int64_t port =
      post(s.core("services"), named("Service", ports)).number("/spec/ports/0/nodePort");
  std::string other = named("Service", ports);
  other.replace(other.find("\"a\""), 3, "\"b\"");
  EXPECT_EQ(post(s.core("services"), other).status, 201);
  other.replace(other.find("\"port\":80"), 9, "\"port\":80,\"nodePort\":" + std::to_string(port));
  const reply changed = put(s.core("services/b"), other);
  EXPECT_EQ(changed.status, 422);
  EXPECT_EQ(changed.at("/message"),
            "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: " +
                std::to_string(port) + ": provided port is already allocated");
  other.replace(other.find("\"b\""), 3, "\"c\"");
  EXPECT_EQ(post(s.core("services"), other).status, 422);
}

TEST(Service, OfTypeExternalNameGetsNone) {
  space s;
  reply made =
      post(s.core("services"),
           named("Service", R"("spec":{"type":"ExternalName","externalName":"a.example"})"));
  EXPECT_EQ(*made.find("/spec"),
            json::parse(
                R"({"externalName":"a.example","sessionAffinity":"None","type":"ExternalName"})"));
}

TEST(Service, WithoutPortsIsInvalid) {
  space s;
  reply made = post(s.core("services"), named("Service", R"("spec":{"selector":{"a":"b"}})"));
  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.at("/message"), "Service \"a\" is invalid: spec.ports: Required value");
}

TEST(Job, SelectsItsOwnPods) {
  space s;
  reply made = post(s.group("batch/v1", "jobs"), named("Job", job_spec, "batch/v1"));
  EXPECT_EQ(made.status, 201) << made.text;
  const std::string uid = made.at("/metadata/uid");
  const json::value labels{{"batch.kubernetes.io/controller-uid", uid},
                           {"batch.kubernetes.io/job-name", "a"},
                           {"controller-uid", uid},
                           {"job-name", "a"}};
  EXPECT_EQ(*made.find("/spec/template/metadata/labels"), labels);
  const json::value selected{{"batch.kubernetes.io/controller-uid", uid}};
  EXPECT_EQ(*made.find("/spec/selector/matchLabels"), selected);
  EXPECT_EQ(without(*made.find("/spec"), {"selector", "template"}), json::parse(R"({
    "backoffLimit":6,"completionMode":"NonIndexed","completions":1,"manualSelector":false,
    "parallelism":1,"podReplacementPolicy":"TerminatingOrFailed","suspend":false})"));
  EXPECT_EQ(made.number("/metadata/generation"), 1);
  EXPECT_EQ(*get(s.group("batch/v1", "jobs/a")).find("/metadata/labels"), labels);
}

TEST(Job, CannotChangeItsTemplate) {
  space s;
  post(s.group("batch/v1", "jobs"), named("Job", job_spec, "batch/v1"));
  reply r = merge(s.group("batch/v1", "jobs/a"),
                  R"({"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}})");
  EXPECT_EQ(r.status, 422);
  const std::string why = r.at("/message");
  EXPECT_TRUE(why.starts_with("Job.batch \"a\" is invalid: spec.template: Invalid value: ")) << why;
  EXPECT_TRUE(why.ends_with(": field is immutable")) << why;
  EXPECT_EQ(merge(s.group("batch/v1", "jobs/a"), R"({"spec":{"parallelism":2}})").status, 200);
}

TEST(Job, DoesNotRestartForEver) {
  space s;
  reply r =
      post(s.group("batch/v1", "jobs"),
           named("Job", R"("spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})",
                 "batch/v1"));
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/message"),
            "Job.batch \"a\" is invalid: spec.template.spec.restartPolicy: Required value: valid "
            "values: \"OnFailure\", \"Never\"");
}

TEST(CronJob, HasDefaults) {
  space s;
  reply made =
      post(s.group("batch/v1", "cronjobs"),
           named("CronJob",
                 R"("spec":{"schedule":"* * * * *","jobTemplate":{)" + std::string(job_spec) + "}}",
                 "batch/v1"));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(without(*made.find("/spec"), {"jobTemplate"}), json::parse(R"({
    "concurrencyPolicy":"Allow","failedJobsHistoryLimit":1,"schedule":"* * * * *",
    "successfulJobsHistoryLimit":3,"suspend":false})"));
  EXPECT_EQ(made.at("/spec/jobTemplate/spec/template/spec/dnsPolicy"), "ClusterFirst");
}

TEST(ReplicationController, SelectsTheLabelsOfItsTemplate) {
  space s;
  reply made = post(
      s.core("replicationcontrollers"),
      named(
          "ReplicationController",
          R"("spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}})"));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(to_text(*made.find("/spec/selector")), R"({"a":"b"})");
  EXPECT_EQ(made.number("/spec/replicas"), 1);
  EXPECT_EQ(to_text(*get(s.core("replicationcontrollers/a")).find("/metadata/labels")),
            R"({"a":"b"})");
}

TEST(VolumeClaim, IsPending) {
  space s;
  reply made = post(
      s.core("persistentvolumeclaims"),
      named(
          "PersistentVolumeClaim",
          R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}})"));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.at("/status/phase"), "Pending");
  EXPECT_EQ(made.at("/spec/volumeMode"), "Filesystem");
  merge(s.core("persistentvolumeclaims/a"), R"({"metadata":{"finalizers":null}})");
}

TEST(RoleBinding, CannotChangeItsRole) {
  space s;
  const std::string_view body =
      R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"x","namespace":"d"}])";
  reply made = post(s.group("rbac.authorization.k8s.io/v1", "rolebindings"),
                    named("RoleBinding", body, "rbac.authorization.k8s.io/v1"));
  EXPECT_EQ(made.status, 201) << made.text;
  reply r = merge(s.group("rbac.authorization.k8s.io/v1", "rolebindings/a"),
                  R"({"roleRef":{"name":"z"}})");
  EXPECT_EQ(r.status, 422);
  const std::string why = r.at("/message");
  EXPECT_TRUE(why.starts_with(
      "RoleBinding.rbac.authorization.k8s.io \"a\" is invalid: roleRef: Invalid value: "))
      << why;
  EXPECT_TRUE(why.ends_with(": cannot change roleRef")) << why;
}

TEST(Autoscaler, HasDefaults) {
  space s;
  reply made = post(
      s.group("autoscaling/v2", "horizontalpodautoscalers"),
      named(
          "HorizontalPodAutoscaler",
          R"("spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3})",
          "autoscaling/v2"));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.number("/spec/minReplicas"), 1);
  EXPECT_EQ(made.at("/spec/metrics/0/resource/name"), "cpu");
}

TEST(NetworkPolicy, SaysWhichDirectionsItIsFor) {
  space s;
  reply made = post(
      s.group("networking.k8s.io/v1", "networkpolicies"),
      named("NetworkPolicy", R"("spec":{"podSelector":{},"egress":[{}]})", "networking.k8s.io/v1"));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(to_text(*made.find("/spec/policyTypes")), R"(["Ingress","Egress"])");
}

}  // namespace
}  // namespace conformance
