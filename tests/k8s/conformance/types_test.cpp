// What a server answers to objects of built-in kinds whose fields have other types than the kind
// says: one table for the embedded server and a real one, each row sent to both.
#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

const std::string merging = "application/merge-patch+json", pointed = "application/json-patch+json",
                  strategic_type = "application/strategic-merge-patch+json",
                  applying = "application/apply-patch+yaml", plain = "application/json";

struct request {
  const char* about;
  std::string method, where, body, type;
  int status;
  std::string reason, says;  // says: part of the message
};

/// An object named "a"; `rest` are its members beside metadata.
std::string object(std::string_view api_version, std::string_view kind, std::string_view rest,
                   std::string_view metadata = "") {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"a")" + (metadata.empty() ? "" : ",") + std::string(metadata) +
         "}" + (rest.empty() ? "" : ",") + std::string(rest) + "}";
}

std::string deployment(std::string_view container, std::string_view spec = "") {
  return object(
      "apps/v1", "Deployment",
      R"("spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i")" +
          std::string(container.empty() ? "" : ",") + std::string(container) + "}]}}" +
          std::string(spec.empty() ? "" : ",") + std::string(spec) + "}");
}

std::string core_object(std::string_view kind, std::string_view rest,
                        std::string_view metadata = "") {
  return object("v1", kind, rest, metadata);
}

class Types : public testing::Test {
protected:
  space s;
  std::string deployments() const { return s.group("apps/v1", "deployments"); }

  void expect(const std::vector<request>& all) {
    for (const request& r : all) {
      SCOPED_TRACE(std::string(r.about) + " " + r.method + " " + r.body);
      const reply got =
          endpoint::get().send(r.method, r.where, r.body, r.type.empty() ? plain : r.type);
      EXPECT_EQ(got.status, r.status) << got.text;
      EXPECT_EQ(got.at("/reason"), r.reason) << got.text;
      EXPECT_NE(got.at("/message").find(r.says), std::string::npos) << got.text;
    }
  }
};

TEST_F(Types, OfABodyAreTheKinds) {
  const std::string d = deployments(), c = s.core("configmaps"), secrets = s.core("secrets"),
                    services = s.core("services"), pods = s.core("pods"),
                    claims = s.core("persistentvolumeclaims"),
                    budgets = s.group("policy/v1", "poddisruptionbudgets"),
                    roles = s.group("rbac.authorization.k8s.io/v1", "roles"),
                    bindings = s.group("rbac.authorization.k8s.io/v1", "rolebindings"),
                    leases = s.group("coordination.k8s.io/v1", "leases"),
                    networks = s.group("networking.k8s.io/v1", "networkpolicies"),
                    ingresses = s.group("networking.k8s.io/v1", "ingresses"),
                    jobs = s.group("batch/v1", "jobs"), accounts = s.core("serviceaccounts");
  const auto refused = [](const char* about, std::string where, std::string body,
                          std::string says) {
    return request{about, "POST", std::move(where), std::move(body),
                   plain, 400,    "BadRequest",     std::move(says)};
  };
  const std::string into = "cannot unmarshal ";
  expect({
      refused("a map for a list", d, deployment(R"("env":{})"),
              into + "object into Go struct field Container.spec.template.spec.containers.env of "
                     "type []v1.EnvVar"),
      refused("a text for a list", d, deployment(R"("args":"x")"), into + "string"),
      refused("a list for a map", d, object("apps/v1", "Deployment", R"("spec":[])"),
              into + "array"),
      refused("a text for an integer", d, deployment("", R"("replicas":"2")"),
              into + "string into Go struct field DeploymentSpec.spec.replicas of type int32"),
      refused("a fraction for an integer", d, deployment("", R"("replicas":1.5)"), into + "number"),
      refused("an integer that is too large", d, deployment("", R"("replicas":3000000000)"),
              into + "number 3000000000"),
      refused("a text for a flag", d, deployment("", R"("paused":"yes")"), into + "string"),
      refused("a number for a text", d, deployment(R"("workingDir":1)"), into + "number"),
      refused("a number in a list of texts", d, deployment(R"("args":[1])"),
              into + "number into Go struct field Container.spec.template.spec.containers.args of "
                     "type string"),
      refused("a flag as an environment's value", d,
              deployment(R"("env":[{"name":"A","value":true}])"),
              into + "bool into Go struct field EnvVar.spec.template.spec.containers.env.value of "
                     "type string"),
      refused("a text for a port", d, deployment(R"("ports":[{"containerPort":"80"}])"),
              into + "string"),
      refused("a text for a structure", d, deployment(R"("resources":"much")"), into + "string"),
      refused("what is no quantity", d, deployment(R"("resources":{"limits":{"cpu":"much"}})"),
              "quantities must match the regular expression"),
      refused("a flag for a quantity", d, deployment(R"("resources":{"limits":{"cpu":true}})"),
              "quantities must match the regular expression"),
      refused("a flag for a number or a text", d,
              deployment("", R"("strategy":{"rollingUpdate":{"maxUnavailable":true}})"),
              into + "bool"),
      refused("a flag as a probe's port", d,
              deployment(R"("readinessProbe":{"tcpSocket":{"port":true}})"), into + "bool"),
      refused("a number as a label", c, core_object("ConfigMap", "", R"("labels":{"a":1})"),
              into + "number"),
      refused("a flag as an annotation", c,
              core_object("ConfigMap", "", R"("annotations":{"a":true})"), into + "bool"),
      refused("a text for labels", c, core_object("ConfigMap", "", R"("labels":"x")"),
              into + "string"),
      refused("a map for finalizers", c, core_object("ConfigMap", "", R"("finalizers":{})"),
              into + "object"),
      refused("a text for owners", c, core_object("ConfigMap", "", R"("ownerReferences":"x")"),
              into + "string"),
      refused("a time that is none", c,
              core_object("ConfigMap", "", R"("creationTimestamp":"yesterday")"), "parsing time"),
      refused("a number as a ConfigMap's text", c, core_object("ConfigMap", R"("data":{"a":1})"),
              into + "number into Go struct field ConfigMap.data of type string"),
      refused("a list for a ConfigMap's data", c, core_object("ConfigMap", R"("data":[])"),
              into + "array"),
      refused("a text for a ConfigMap's flag", c, core_object("ConfigMap", R"("immutable":"yes")"),
              into + "string"),
      refused("what is no base64", secrets, core_object("Secret", R"("data":{"a":"not base64!"})"),
              "illegal base64 data at input byte 3"),
      refused("a number as a Secret's bytes", secrets, core_object("Secret", R"("data":{"a":1})"),
              into + "number"),
      refused("a number as a Secret's text", secrets,
              core_object("Secret", R"("stringData":{"a":1})"), into + "number"),
      refused("a map for ports", services, core_object("Service", R"("spec":{"ports":{}})"),
              into + "object"),
      refused("a text for a Service's port", services,
              core_object("Service", R"("spec":{"ports":[{"port":"80"}]})"),
              into + "string into Go struct field ServicePort.spec.ports.port of type int32"),
      refused("a list for a selector", services,
              core_object("Service", R"("spec":{"selector":[],"ports":[{"port":80}]})"),
              into + "array"),
      refused("a map for containers", pods, core_object("Pod", R"("spec":{"containers":{}})"),
              into + "object"),
      refused("a text for tolerations", pods,
              core_object(
                  "Pod", R"("spec":{"containers":[{"name":"c","image":"i"}],"tolerations":"all"})"),
              into + "string"),
      refused(
          "a quantity of a claim that is none", claims,
          core_object(
              "PersistentVolumeClaim",
              R"("spec":{"accessModes":["ReadOnlyMany"],"resources":{"requests":{"storage":"lots"}}})"),
          "quantities must match the regular expression"),
      refused("a map for access modes", claims,
              core_object("PersistentVolumeClaim", R"("spec":{"accessModes":{}})"),
              into + "object"),
      refused("a flag as a budget", budgets,
              object("policy/v1", "PodDisruptionBudget", R"("spec":{"minAvailable":true})"),
              into + "bool"),
      refused("a map for rules", roles,
              object("rbac.authorization.k8s.io/v1", "Role", R"("rules":{})"),
              into + "object into Go struct field Role.rules of type []v1.PolicyRule"),
      refused("a text for verbs", roles,
              object("rbac.authorization.k8s.io/v1", "Role", R"("rules":[{"verbs":"get"}])"),
              into + "string"),
      refused(
          "a map for subjects", bindings,
          object(
              "rbac.authorization.k8s.io/v1", "RoleBinding",
              R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":{})"),
          into + "object"),
      refused("a text for a Lease's seconds", leases,
              object("coordination.k8s.io/v1", "Lease", R"("spec":{"leaseDurationSeconds":"15"})"),
              into + "string"),
      refused("a Lease's time that is none", leases,
              object("coordination.k8s.io/v1", "Lease", R"("spec":{"renewTime":"now"})"),
              "parsing time"),
      refused("a Lease's time without microseconds", leases,
              object("coordination.k8s.io/v1", "Lease",
                     R"("spec":{"renewTime":"2026-01-01T00:00:00Z"})"),
              "parsing time"),
      refused("a map for an ingress of a policy", networks,
              object("networking.k8s.io/v1", "NetworkPolicy",
                     R"("spec":{"podSelector":{},"ingress":{}})"),
              into + "object"),
      refused("a map for an Ingress's rules", ingresses,
              object("networking.k8s.io/v1", "Ingress", R"("spec":{"rules":{}})"), into + "object"),
      refused("a text for a Job's count", jobs,
              object("batch/v1", "Job", R"("spec":{"completions":"1"})"), into + "string"),
      refused("a text for pull secrets", accounts,
              core_object("ServiceAccount", R"("imagePullSecrets":"x")"), into + "string"),
  });
}

TEST_F(Types, OfAPatchOrAReplacementAreTheKinds) {
  ASSERT_EQ(post(deployments(), deployment("")).status, 201);
  ASSERT_EQ(post(s.core("configmaps"), config_map("a")).status, 201);
  const std::string d = deployments() + "/a", c = s.core("configmaps/a");
  expect({
      {"a replacement", "PUT", d, deployment(R"("env":{})"), plain, 400, "BadRequest",
       "cannot unmarshal object"},
      {"a replacement's flag", "PUT", c, core_object("ConfigMap", R"("data":{"a":true})"), plain,
       400, "BadRequest", "cannot unmarshal bool"},
      {"a merge patch", "PATCH", d, R"({"spec":{"replicas":"2"}})", merging, 422, "Invalid",
       "patch: Invalid value: "},
      {"a merge patch of labels", "PATCH", c, R"({"metadata":{"labels":{"a":1}}})", merging, 422,
       "Invalid", "cannot unmarshal number"},
      {"a merge patch that makes a map of a list", "PATCH", d,
       R"({"spec":{"template":{"spec":{"containers":{}}}}})", merging, 422, "Invalid",
       "cannot unmarshal object"},
      {"a JSON patch", "PATCH", c, R"([{"op":"replace","path":"/data/a","value":1}])", pointed, 422,
       "Invalid", "cannot unmarshal number"},
      {"a JSON patch of a status", "PATCH", d + "/status",
       R"([{"op":"add","path":"/status/replicas","value":"x"}])", pointed, 422, "Invalid",
       "cannot unmarshal string"},
      {"a strategic patch", "PATCH", d, R"({"spec":{"replicas":"2"}})", strategic_type, 422,
       "Invalid", "patch: Invalid value: "},
      {"a merge patch of a status", "PATCH", d + "/status", R"({"status":{"replicas":"x"}})",
       merging, 422, "Invalid", "cannot unmarshal string"},
  });
}

TEST_F(Types, OfAnApplyAreTheKinds) {
  const std::string d = deployments() + "/a?fieldManager=me",
                    c = s.core("configmaps/a?fieldManager=me"),
                    secret = s.core("secrets/a?fieldManager=me"),
                    role = s.group("rbac.authorization.k8s.io/v1", "roles/a?fieldManager=me");
  const auto failed = [](const char* about, std::string where, std::string body, std::string says) {
    return request{about, "PATCH", std::move(where), std::move(body), applying,
                   500,   "",      std::move(says)};
  };
  expect({
      failed("a map for a list", d, deployment(R"("env":{})"),
             R"(.spec.template.spec.containers[name="c"].env: expected list, got &{map[]})"),
      failed("a map for rules", role,
             object("rbac.authorization.k8s.io/v1", "Role", R"("rules":{})"),
             ".rules: expected list, got &{map[]}"),
      failed("a list for a map", c, core_object("ConfigMap", R"("data":[])"),
             ".data: expected map, got &{[]}"),
      failed("a number for a text", c, core_object("ConfigMap", R"("data":{"a":1})"),
             ".data.a: expected string, got "),
      failed("a text for a number", d, deployment("", R"("replicas":"2")"),
             ".spec.replicas: expected numeric (int or float), got string"),
      failed("a text for a flag", d, deployment("", R"("paused":"yes")"),
             ".spec.paused: expected boolean, got &{yes}"),
      failed("a number as a label", c, core_object("ConfigMap", "", R"("labels":{"a":1})"),
             ".metadata.labels.a: expected string, got "),
      failed("a field that the kind does not have", d, deployment("", R"("colour":"red")"),
             ".spec.colour: field not declared in schema"),
      failed("what is no base64", secret, core_object("Secret", R"("data":{"a":"not base64!"})"),
             "illegal base64 data at input byte 3"),
  });
}

TEST_F(Types, UnknownFieldsAreTakenOutToldOrRefusedAsIsAskedFor) {
  const std::string odd = deployment(R"("imagee":"x")");
  for (const char* how : {"", "?fieldValidation=Ignore", "?fieldValidation=Warn"}) {
    const reply r = endpoint::get().send("POST", deployments() + how, odd);
    EXPECT_EQ(r.status, 201) << r.text;
    EXPECT_FALSE(r.find("/spec/template/spec/containers/0/imagee")) << how;
    const std::string_view warned = r.fields.get("warning");
    EXPECT_EQ(
        warned.find("unknown field \\\"spec.template.spec.containers[0].imagee\\\"") != warned.npos,
        std::string_view(how) != "?fieldValidation=Ignore")
        << how << " " << warned;
    remove(deployments() + "/a");
  }
  ASSERT_EQ(post(deployments(), deployment("")).status, 201);
  const std::string
      strict = "?fieldValidation=Strict",
      says = R"(strict decoding error: unknown field "spec.template.spec.containers[0].imagee")";
  expect({
      {"a body", "POST", deployments() + strict, odd, plain, 400, "BadRequest", says},
      {"a replacement", "PUT", deployments() + "/a" + strict, odd, plain, 400, "BadRequest", says},
      {"a merge patch", "PATCH", deployments() + "/a" + strict, R"({"spec":{"colour":"red"}})",
       merging, 422, "Invalid", R"(unknown field "spec.colour")"},
      {"a JSON patch", "PATCH", deployments() + "/a" + strict,
       R"([{"op":"add","path":"/spec/colour","value":"red"}])", pointed, 422, "Invalid",
       R"(unknown field "spec.colour")"},
      {"a strategic patch", "PATCH", deployments() + "/a" + strict, R"({"spec":{"colour":"red"}})",
       strategic_type, 422, "Invalid", R"(unknown field "spec.colour")"},
  });
}

TEST_F(Types, WordsThatValidationDoesNotKnowAreUnsupported) {
  const auto refused = [](const char* about, std::string where, std::string body,
                          std::string says) {
    return request{about, "POST", std::move(where), std::move(body),
                   plain, 422,    "Invalid",        std::move(says)};
  };
  expect({
      refused(
          "a Service's type", s.core("services"),
          core_object("Service", R"("spec":{"type":"Public","ports":[{"port":80}]})"),
          R"(spec.type: Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")"),
      refused("a port's protocol", s.core("services"),
              core_object("Service", R"("spec":{"ports":[{"port":80,"protocol":"HTTP"}]})"),
              R"(spec.ports[0].protocol: Unsupported value: "HTTP")"),
      refused(
          "a pull policy", deployments(), deployment(R"("imagePullPolicy":"Sometimes")"),
          R"(spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes")"),
      refused("a strategy", deployments(), deployment("", R"("strategy":{"type":"Slow"})"),
              R"(supported values: "Recreate", "RollingUpdate")"),
      refused(
          "an access mode", s.core("persistentvolumeclaims"),
          core_object(
              "PersistentVolumeClaim",
              R"("spec":{"accessModes":["ReadSome"],"resources":{"requests":{"storage":"1Gi"}}})"),
          R"(Unsupported value: "ReadSome")"),
      refused("a policy's type", s.group("networking.k8s.io/v1", "networkpolicies"),
              object("networking.k8s.io/v1", "NetworkPolicy",
                     R"("spec":{"podSelector":{},"policyTypes":["Sideways"]})"),
              R"(Unsupported value: "Sideways")"),
  });
}

}  // namespace
}  // namespace conformance
