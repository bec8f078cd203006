#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

TEST(Create, GivesUidVersionAndTime) {
  space s;
  reply r = post(s.core("configmaps"), config_map("a"));
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.at("/metadata/uid").size(), 36u);
  EXPECT_FALSE(r.at("/metadata/resourceVersion").empty());
  EXPECT_EQ(r.at("/metadata/creationTimestamp").size(), 20u);
  EXPECT_EQ(r.at("/metadata/namespace"), s.name());
}

TEST(Create, RefusesANameThatExists) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = post(s.core("configmaps"), config_map("a"));
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.at("/reason"), "AlreadyExists");
  EXPECT_EQ(r.at("/message"), "configmaps \"a\" already exists");
  EXPECT_EQ(r.at("/details/kind"), "configmaps");
}

TEST(Create, NeedsAName) {
  space s;
  reply r = post(s.core("configmaps"), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(
      r.at("/message"),
      "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required");
}

TEST(Create, MakesANameFromAPrefix) {
  space s;
  reply r = post(s.core("configmaps"),
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}})");
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.at("/metadata/name").size(), 7u);
}

TEST(Create, RefusesABadNameWithTheRule) {
  space s;
  reply r = post(s.core("configmaps"), config_map("Bad_Name"));
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/reason"), "Invalid");
  EXPECT_EQ(r.at("/details/causes/0/field"), "metadata.name");
  EXPECT_EQ(r.at("/details/causes/0/reason"), "FieldValueInvalid");
  EXPECT_NE(r.at("/message").find("a lowercase RFC 1123 subdomain must consist of"),
            std::string::npos);
}

TEST(Create, RefusesAVersionInTheBody) {
  space s;
  reply r = post(s.core("configmaps"), config_map("a", "{}", R"("resourceVersion":"5")"));
  EXPECT_EQ(r.status, 500) << "the real server's choice";
  EXPECT_EQ(r.at("/message"), "resourceVersion should not be set on objects to be created");
}

TEST(Create, RefusesAnotherNamespaceInTheBody) {
  space s;
  reply r = post(s.core("configmaps"), config_map("a", "{}", R"("namespace":"other")"));
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(
      r.at("/message"),
      "the namespace of the provided object does not match the namespace sent on the request");
}

TEST(Create, RefusesAnotherApiVersionInTheBody) {
  space s;
  reply r = post(s.core("configmaps"),
                 R"({"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_EQ(r.status, 400);
}

TEST(Create, RefusesAValueOfTheWrongType) {
  space s;
  reply r = post(s.core("configmaps"), config_map("a", R"({"a":1})"));
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/message"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "number into Go struct "
            "field ConfigMap.data of type string");
}

TEST(Create, StrictlyRefusesUnknownFields) {
  space s;
  reply r = post(s.core("configmaps?fieldValidation=Strict"),
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"datum":{}})");
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/message"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"datum\"");
}

TEST(Create, IntoAMissingNamespaceIsNotFound) {
  reply r = post("/api/v1/namespaces/no-such-place/configmaps", config_map("a"));
  EXPECT_EQ(r.status, 404);
  EXPECT_EQ(r.at("/message"), "namespaces \"no-such-place\" not found");
}

TEST(Create, DryRunStoresNothing) {
  space s;
  reply r = post(s.core("configmaps?dryRun=All"), config_map("a"));
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(get(s.core("configmaps/a")).status, 404);
}

TEST(Create, RefusesBytesThatAreNotJson) {
  space s;
  reply r = post(s.core("configmaps"), "{\"apiVersion\":");
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/reason"), "BadRequest");
}

TEST(Create, RefusesALabelThatIsNoLabel) {
  space s;
  reply r = post(s.core("configmaps"), config_map("a", "{}", R"("labels":{"a":"not a label!"})"));
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/field"), "metadata.labels");
}

TEST(Create, GivesAPodItsDefaults) {
  space s;
  reply r = post(s.core("pods"), pod("p"));
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/status/phase"), "Pending");
  EXPECT_EQ(r.at("/spec/restartPolicy"), "Always");
  EXPECT_EQ(r.number("/spec/terminationGracePeriodSeconds"), 30);
  EXPECT_EQ(r.at("/spec/containers/0/imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(r.number("/metadata/generation"), 1);
}

TEST(Create, RefusesAPodWithoutContainers) {
  space s;
  reply r =
      post(s.core("pods"), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/message"), "Pod \"p\" is invalid: spec.containers: Required value");
}

TEST(Create, FoldsStringDataIntoASecret) {
  space s;
  reply r =
      post(s.core("secrets"),
           R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"b"}})");
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.at("/data/a"), "Yg==");
  EXPECT_EQ(r.at("/type"), "Opaque");
  EXPECT_FALSE(r.find("/stringData"));
}

TEST(Create, RecordsWhoOwnsWhichField) {
  space s;
  reply r = post(s.core("configmaps?fieldManager=me"),
                 config_map("a", R"({"k":"v"})", R"("labels":{"l":"1"})"));
  EXPECT_EQ(r.at("/metadata/managedFields/0/manager"), "me");
  EXPECT_EQ(r.at("/metadata/managedFields/0/operation"), "Update");
  ASSERT_TRUE(r.find("/metadata/managedFields/0/fieldsV1"));
  EXPECT_EQ(
      *r.find("/metadata/managedFields/0/fieldsV1"),
      json::parse(R"({"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}})"));
}

TEST(Create, TakesNoManagersFromTheClient) {
  space s;
  for (const char* version : {"v1", "policy/v1beta1"}) {
    const reply r =
        post(s.core("configmaps?fieldManager=me"),
             config_map(version[0] == 'v' ? "a" : "b", R"({"k":"v"})",
                        std::string(R"("managedFields":[{"manager":"other","operation":"Update",
                          "apiVersion":")") +
                            version +
                            R"(","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}])"));
    EXPECT_EQ(r.status, 201) << version;
    EXPECT_EQ(r.at("/metadata/managedFields/0/manager"), "me") << version;
    EXPECT_FALSE(r.find("/metadata/managedFields/1")) << version;
  }
}

TEST(Update, ForgetsManagersThatWroteByAVersionThatIsNotServed) {
  space s;
  post(s.core("configmaps?fieldManager=me"), config_map("a", R"({"k":"v"})"));
  const reply r = put(s.core("configmaps/a?fieldManager=me"),
                      config_map("a", R"({"k":"v"})", R"("managedFields":[
      {"manager":"old","operation":"Update","apiVersion":"policy/v1beta1",
       "fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}},
      {"manager":"new","operation":"Update","apiVersion":"v1",
       "fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}])"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.at("/metadata/managedFields/0/manager"), "new");
  EXPECT_FALSE(r.find("/metadata/managedFields/1"));
}

TEST(Create, NamesTheManagerAfterTheUserAgent) {
  space s;
  reply r = endpoint::get().send("POST", s.core("configmaps"), config_map("a"), "application/json",
                                 "application/json", "tool/2.1 (linux)");
  EXPECT_EQ(r.at("/metadata/managedFields/0/manager"), "tool");
}

TEST(Get, OfAMissingObjectNamesIt) {
  space s;
  reply r = get(s.core("configmaps/none"));
  EXPECT_EQ(r.status, 404);
  EXPECT_EQ(
      to_text(r.body),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"configmaps"},"code":404})");
}

TEST(Get, OfAnUnknownResourceIsNotFound) {
  reply r = get("/api/v1/gizmos");
  EXPECT_EQ(r.status, 404);
  EXPECT_EQ(r.at("/message"), "the server could not find the requested resource");
}

TEST(Update, ReplacesAndRaisesTheVersion) {
  space s;
  reply made = post(s.core("configmaps"), config_map("a"));
  reply r = put(s.core("configmaps/a"), config_map("a", R"({"b":"2"})"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(to_text(*r.find("/data")), R"({"b":"2"})");
  EXPECT_NE(r.at("/metadata/resourceVersion"), made.at("/metadata/resourceVersion"));
  EXPECT_EQ(r.at("/metadata/uid"), made.at("/metadata/uid"));
}

TEST(Update, WithAnOldVersionConflicts) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = put(s.core("configmaps/a"), config_map("a", "{}", R"("resourceVersion":"1")"));
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.at("/reason"), "Conflict");
  EXPECT_EQ(r.at("/message"),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes "
            "to the latest version and try again");
}

TEST(Update, OfAMissingObjectIsNotFound) {
  space s;
  EXPECT_EQ(put(s.core("configmaps/a"), config_map("a")).status, 404);
}

TEST(Update, RefusesAnotherName) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = put(s.core("configmaps/a"), config_map("b"));
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/message"), "the name of the object (b) does not match the name on the URL (a)");
}

TEST(Update, WithoutAChangeKeepsTheVersion) {
  space s;
  reply made = post(s.core("configmaps"), config_map("a"));
  reply r = put(s.core("configmaps/a"), made.text);
  EXPECT_EQ(r.at("/metadata/resourceVersion"), made.at("/metadata/resourceVersion"));
}

TEST(Update, OfALeaseNeedsTheVersion) {
  space s;
  const std::string lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})";
  post(s.group("coordination.k8s.io/v1", "leases"), lease);
  reply r = put(s.group("coordination.k8s.io/v1", "leases/l"), lease);
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/message"),
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0: must be specified "
            "for an update");
}

TEST(Update, OfASecretsTypeIsRefused) {
  space s;
  post(s.core("secrets"), R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})");
  reply r = merge(s.core("secrets/s"), R"({"type":"other"})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/field"), "type");
  EXPECT_EQ(r.at("/details/causes/0/message"), "Invalid value: \"other\": field is immutable");
}

TEST(Update, OfAPodsSpecIsRefused) {
  space s;
  post(s.core("pods"), pod("p"));
  reply r = merge(s.core("pods/p"), R"({"spec":{"nodeName":"elsewhere"}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/reason"), "FieldValueForbidden");
  EXPECT_EQ(r.at("/details/causes/0/field"), "spec");
}

TEST(Update, OfAnImmutableConfigMapIsRefused) {
  space s;
  post(
      s.core("configmaps"),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1"},"immutable":true})");
  reply r = merge(s.core("configmaps/a"), R"({"data":{"a":"2"}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/message"),
            "Forbidden: field is immutable when `immutable` is set");
}

TEST(Status, IsWrittenThroughItsOwnDoorOnly) {
  space s;
  post(s.core("pods"), pod("p"));
  reply r = merge(s.core("pods/p/status"),
                  R"({"status":{"phase":"Running"},"metadata":{"labels":{"x":"1"}}})");
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(r.at("/status/phase"), "Running");
  r = merge(s.core("pods/p"), R"({"status":{"phase":"Failed"}})");
  EXPECT_EQ(r.at("/status/phase"), "Running");
}

TEST(Generation, CountsChangesOfTheSpecOnly) {
  space s;
  const std::string at = s.group("policy/v1", "poddisruptionbudgets");
  post(
      at,
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}})");
  reply r = merge(at + "/b", R"({"metadata":{"labels":{"x":"1"}}})");
  EXPECT_EQ(r.number("/metadata/generation"), 1);
  r = merge(at + "/b", R"({"spec":{"minAvailable":2}})");
  EXPECT_EQ(r.number("/metadata/generation"), 2);
}

TEST(Budget, RefusesBothLimits) {
  space s;
  reply r = post(
      s.group("policy/v1", "poddisruptionbudgets"),
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1,"maxUnavailable":1,"selector":{}}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_NE(r.at("/message").find("minAvailable and maxUnavailable cannot be both set"),
            std::string::npos);
}

TEST(Delete, AnswersWithASuccessThatNamesTheObject) {
  space s;
  reply made = post(s.core("configmaps"), config_map("a"));
  reply r = remove(s.core("configmaps/a"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.at("/kind"), "Status");
  EXPECT_EQ(r.at("/status"), "Success");
  EXPECT_EQ(r.at("/details/name"), "a");
  EXPECT_EQ(r.at("/details/uid"), made.at("/metadata/uid"));
  EXPECT_EQ(get(s.core("configmaps/a")).status, 404);
}

TEST(Delete, WithAnotherUidConflicts) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = remove(s.core("configmaps/a"), R"({"preconditions":{"uid":"1234"}})");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.at("/reason"), "Conflict");
  EXPECT_EQ(r.at("/details/kind"), "ConfigMap")
      << "the kind, where other conflicts name the resource";
  EXPECT_NE(r.at("/message")
                .find("the UID in the precondition (1234) does not match the UID in record ("),
            std::string::npos);
}

TEST(Delete, WithAnOldVersionConflicts) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = remove(s.core("configmaps/a"), R"({"preconditions":{"resourceVersion":"1"}})");
  EXPECT_EQ(r.status, 409);
}

TEST(Delete, WaitsForFinalizers) {
  space s;
  post(s.core("configmaps"), config_map("a", "{}", R"("finalizers":["example.com/hold"])"));
  reply r = remove(s.core("configmaps/a"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.at("/kind"), "ConfigMap");
  EXPECT_FALSE(r.at("/metadata/deletionTimestamp").empty());
  EXPECT_EQ(r.number("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(get(s.core("configmaps/a")).status, 200);
  merge(s.core("configmaps/a"), R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(get(s.core("configmaps/a")).status, 404);
}

TEST(Delete, RefusesNewFinalizersOnADyingObject) {
  space s;
  post(s.core("configmaps"), config_map("a", "{}", R"("finalizers":["example.com/hold"])"));
  remove(s.core("configmaps/a"));
  reply r = merge(s.core("configmaps/a"),
                  R"({"metadata":{"finalizers":["example.com/hold","example.com/more"]}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/field"), "metadata.finalizers");
  merge(s.core("configmaps/a"), R"({"metadata":{"finalizers":null}})");
}

TEST(Delete, OfAPodOnANodeIsGraceful) {
  space s;
  post(s.core("pods"), pod("p"));
  reply r = remove(s.core("pods/p"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.at("/kind"), "Pod");
  EXPECT_EQ(r.number("/metadata/deletionGracePeriodSeconds"), 30);
  EXPECT_EQ(r.number("/metadata/generation"), 2);
  EXPECT_EQ(get(s.core("pods/p")).status, 200);
  remove(s.core("pods/p"), R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(get(s.core("pods/p")).status, 404);
}

TEST(Delete, OfAPodWithoutANodeIsImmediate) {
  space s;
  post(s.core("pods"), pod("p", ""));
  remove(s.core("pods/p"));
  EXPECT_EQ(get(s.core("pods/p")).status, 404);
}

TEST(Delete, OfACollectionFollowsTheSelector) {
  space s;
  post(s.core("configmaps"), config_map("a", "{}", R"("labels":{"x":"1"})"));
  post(s.core("configmaps"), config_map("b", "{}", R"("labels":{"x":"2"})"));
  reply r = remove(s.core("configmaps?labelSelector=x%3D1"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(get(s.core("configmaps/a")).status, 404);
  EXPECT_EQ(get(s.core("configmaps/b")).status, 200);
}

TEST(Bind, PutsAPodOnANodeOnce) {
  space s;
  post(s.core("pods"), pod("p", ""));
  const std::string binding =
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"apiVersion":"v1","kind":"Node","name":"n7"}})";
  EXPECT_EQ(post(s.core("pods/p/binding"), binding).status, 201);
  EXPECT_EQ(get(s.core("pods/p")).at("/spec/nodeName"), "n7");
  EXPECT_EQ(post(s.core("pods/p/binding"), binding).status, 409);
}

TEST(Events, AreOneCollectionInTwoGroups) {
  space s;
  reply r = post(
      s.group("events.k8s.io/v1", "events"),
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"c.example/x","reportingInstance":"i","action":"Did","reason":"Why","type":"Normal","note":"text","regarding":{"kind":"Pod","name":"p","namespace":")" +
          s.name() + "\"}}");
  ASSERT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/note"), "text");
  reply core = get(s.core("events/e"));
  EXPECT_EQ(core.at("/message"), "text");
  EXPECT_EQ(core.at("/involvedObject/name"), "p");
  EXPECT_EQ(core.at("/reportingComponent"), "c.example/x");
  EXPECT_EQ(
      get(s.core("events?fieldSelector=involvedObject.name%3Dp")).find("/items")->as_array().size(),
      1u);
}

}  // namespace
}  // namespace conformance
