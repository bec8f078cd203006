#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

constexpr std::string_view kCrd = R"({
  "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.conf.example"},
  "spec":{"group":"conf.example","scope":"Namespaced",
    "names":{"plural":"gadgets","kind":"Gadget","shortNames":["gd"]},
    "versions":[
     {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
      "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"},
        {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"}],
      "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
        "spec":{"type":"object","required":["size"],"properties":{
          "size":{"type":"integer","minimum":1,"maximum":9},
          "colour":{"type":"string","enum":["red","blue"],"default":"red"},
          "code":{"type":"string","maxLength":5,"pattern":"^[a-z]*$"},
          "limit":{"x-kubernetes-int-or-string":true},
          "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
          "parts":{"type":"array","maxItems":3,"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer","default":7}}},
                   "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"]},
          "tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}},
        "status":{"type":"object","properties":{"phase":{"type":"string"},
          "conditions":{"type":"array","items":{"type":"object","properties":{"type":{"type":"string"},"status":{"type":"string"}}}}}}}}}},
     {"name":"v1beta1","served":true,"storage":false,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

constexpr std::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// True once `done` is: the real server takes a moment to serve what a definition says.
bool in_time(const std::function<bool()>& done) {
  for (int tries = 0; tries < 100; ++tries) {
    if (done()) return true;
    // A watch that ends by its timeout is a pause of one second.
    endpoint::get().watch(
        "/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=" +
            get("/api/v1/namespaces").at("/metadata/resourceVersion"),
        [](const auto&) { return false; }, std::chrono::seconds(2));
  }
  return false;
}

struct Custom : testing::Test {
  static void SetUpTestSuite() {
    reply made = post(std::string(kCrds), std::string(kCrd));
    ASSERT_TRUE(made.status == 201 || made.status == 409) << made.text;
    ASSERT_TRUE(in_time([] { return get("/apis/conf.example/v1/gadgets").status == 200; }));
  }
  space s;
  std::string at(std::string_view rest = "") const {
    return s.group("conf.example/v1", "gadgets" + std::string(rest));
  }
  static std::string gadget(std::string_view spec, std::string_view name = "g") {
    return R"({"apiVersion":"conf.example/v1","kind":"Gadget","metadata":{"name":")" +
           std::string(name) + R"("},"spec":)" + std::string(spec) + "}";
  }
};

TEST_F(Custom, DefinitionBecomesEstablished) {
  reply r = get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.conf.example");
  EXPECT_NE(r.text.find("\"Established\""), std::string::npos);
  EXPECT_NE(r.text.find("\"NamesAccepted\""), std::string::npos);
  EXPECT_EQ(r.at("/status/acceptedNames/singular"), "gadget");
  EXPECT_EQ(r.at("/status/acceptedNames/listKind"), "GadgetList");
  EXPECT_EQ(r.at("/status/storedVersions/0"), "v1");
  EXPECT_EQ(r.at("/spec/conversion/strategy"), "None");
}

TEST_F(Custom, DefinitionWithAnotherNameIsRefused) {
  std::string wrong(kCrd);
  wrong.replace(wrong.find("gadgets.conf.example"), 7, "widgets");
  reply r = post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", wrong);
  EXPECT_EQ(r.status, 422);
  EXPECT_NE(
      r.at("/message").find("must be spec.names.plural+\\\".\\\"+spec.group") !=
              std::string::npos ||
          r.at("/message").find("must be spec.names.plural+\".\"+spec.group") != std::string::npos,
      false)
      << r.at("/message");
}

TEST_F(Custom, GetsDefaultsAndAGeneration) {
  reply r = post(at(), gadget(R"({"size":1,"parts":[{"id":"a"}]})"));
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/spec/colour"), "red");
  EXPECT_EQ(r.number("/spec/parts/0/n"), 7);
  EXPECT_EQ(r.number("/metadata/generation"), 1);
}

TEST_F(Custom, IsPruned) {
  reply r = post(at(), gadget(R"({"size":1,"odd":1,"free":{"any":{"thing":1}}})"));
  EXPECT_FALSE(r.find("/spec/odd"));
  EXPECT_EQ(r.number("/spec/free/any/thing"), 1);
  EXPECT_EQ(r.fields.get("warning"), "299 - \"unknown field \\\"spec.odd\\\"\"");
}

TEST_F(Custom, StrictlyRefusesUnknownFields) {
  reply r = post(at("?fieldValidation=Strict"), gadget(R"({"size":1,"odd":1})"));
  EXPECT_EQ(r.status, 400);
  EXPECT_EQ(r.at("/message"),
            "Gadget in version \"v1\" cannot be handled as a Gadget: strict decoding error: "
            "unknown field \"spec.odd\"");
}

TEST_F(Custom, NeedsWhatIsRequired) {
  reply r = post(at(), gadget("{}"));
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/message"), "Gadget.conf.example \"g\" is invalid: spec.size: Required value");
  EXPECT_EQ(r.at("/details/causes/0/reason"), "FieldValueRequired");
  EXPECT_EQ(r.at("/details/group"), "conf.example");
  EXPECT_EQ(r.at("/details/kind"), "Gadget");
}

TEST_F(Custom, RefusesWrongTypes) {
  reply r = post(at(), gadget(R"({"size":"big"})"));
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.at("/details/causes/0/reason"), "FieldValueTypeInvalid");
  EXPECT_EQ(r.at("/details/causes/0/message"),
            "Invalid value: \"string\": spec.size in body must be of type integer: \"string\"");
}

TEST_F(Custom, RefusesNumbersOutOfRange) {
  EXPECT_EQ(post(at(), gadget(R"({"size":0})")).at("/details/causes/0/message"),
            "Invalid value: 0: spec.size in body should be greater than or equal to 1");
  EXPECT_EQ(post(at(), gadget(R"({"size":10})")).at("/details/causes/0/message"),
            "Invalid value: 10: spec.size in body should be less than or equal to 9");
}

TEST_F(Custom, RefusesUnlistedValues) {
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"colour":"pink"})")).at("/details/causes/0/message"),
            "Unsupported value: \"pink\": supported values: \"red\", \"blue\"");
}

TEST_F(Custom, RefusesTextsThatDoNotFit) {
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"code":"AB"})")).at("/details/causes/0/message"),
            "Invalid value: \"AB\": spec.code in body should match '^[a-z]*$'");
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"code":"abcdef"})")).at("/details/causes/0/message"),
            "Too long: may not be more than 5 bytes");
}

TEST_F(Custom, RefusesTooManyElementsAndDuplicates) {
  EXPECT_EQ(
      post(at(), gadget(R"({"size":1,"parts":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]})"))
          .at("/details/causes/0/message"),
      "Too many: 4: must have at most 3 items");
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"parts":[{"id":"a"},{"id":"a"}]})"))
                .at("/details/causes/0/message"),
            "Duplicate value: {\"id\":\"a\"}");
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"tags":["a","a"]})")).at("/details/causes/0/message"),
            "Duplicate value: \"a\"");
}

TEST_F(Custom, TakesIntegersAndStringsWhereBothMayBe) {
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"limit":3})", "g1")).status, 201);
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"limit":"3%"})", "g2")).status, 201);
  EXPECT_EQ(post(at(), gadget(R"({"size":1,"limit":true})", "g3")).status, 422);
}

TEST_F(Custom, WhatWasAcceptedOnceIsNotJudgedAgain) {
  const std::string definition = std::string(kCrds) + "/ratchets.conf.example";
  ASSERT_EQ(post(std::string(kCrds), R"({
    "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"ratchets.conf.example"},
    "spec":{"group":"conf.example","scope":"Namespaced",
      "names":{"plural":"ratchets","kind":"Ratchet"},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","properties":{"size":{"type":"integer","maximum":9},
            "note":{"type":"string"},
            "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],
              "items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},
                "n":{"type":"integer","maximum":9},"note":{"type":"string"}}}}}},
          "status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}}]}})")
                .status,
            201);
  const std::string all = s.group("conf.example/v1", "ratchets"), one = all + "/r";
  const auto made = [&](std::string_view target) {
    return post(std::string(target),
                R"({"apiVersion":"conf.example/v1","kind":"Ratchet","metadata":{"name":"r"},
                    "spec":{"size":8,"parts":[{"id":"a","n":8}]}})")
        .status;
  };
  EXPECT_TRUE(in_time([&] { return made(all) == 201; }));
  EXPECT_EQ(json_patch(definition, R"([{"op":"replace","value":5,"path":
                "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"}])")
                .status,
            200);
  EXPECT_TRUE(in_time([&] { return made(all + "?dryRun=All") == 422; }));
  EXPECT_EQ(json_patch(definition, R"([{"op":"replace","value":5,"path":
                "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/parts/items/properties/n/maximum"}])")
                .status,
            200);
  EXPECT_TRUE(in_time([&] {
    return merge(one + "?dryRun=All", R"({"spec":{"parts":[{"id":"b","n":6}]}})").status == 422;
  }));
  EXPECT_EQ(merge(one, R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
  EXPECT_EQ(merge(one + "/status", R"({"status":{"phase":"y"}})").status, 200);
  EXPECT_EQ(merge(one, R"({"spec":{"note":"beside it"}})").status, 200);
  EXPECT_EQ(merge(one, R"({"spec":{"parts":[{"id":"b","n":3},{"id":"a","n":8}]}})").status, 200)
      << "an element is known by its key";
  EXPECT_EQ(merge(one, R"({"spec":{"parts":[{"id":"a","n":8,"note":"in it"}]}})").status, 200);
  EXPECT_EQ(merge(one, R"({"spec":{"parts":[{"id":"c","n":8}]}})").status, 422);
  EXPECT_EQ(merge(one, R"({"spec":{"parts":[{"id":"a","n":9}]}})").status, 422);
  EXPECT_EQ(merge(one, R"({"spec":{"size":9}})").status, 422);
  EXPECT_EQ(remove(definition).status, 200);
}

TEST_F(Custom, KeepsStatusApart) {
  post(
      at(),
      R"({"apiVersion":"conf.example/v1","kind":"Gadget","metadata":{"name":"g"},"spec":{"size":1},"status":{"phase":"x"}})");
  EXPECT_FALSE(get(at("/g")).find("/status"));
  reply r = merge(at("/g/status"),
                  R"({"status":{"phase":"y"},"spec":{"size":5},"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(r.at("/status/phase"), "y");
  EXPECT_EQ(r.number("/spec/size"), 1);
  EXPECT_FALSE(r.find("/metadata/labels"));
  EXPECT_EQ(r.number("/metadata/generation"), 1);
}

TEST_F(Custom, CountsGenerationsOfTheSpec) {
  post(at(), gadget(R"({"size":1})"));
  EXPECT_EQ(merge(at("/g"), R"({"spec":{"size":2}})").number("/metadata/generation"), 2);
  EXPECT_EQ(merge(at("/g"), R"({"metadata":{"labels":{"a":"b"}}})").number("/metadata/generation"),
            2);
}

TEST_F(Custom, NeedsAVersionToBeReplaced) {
  post(at(), gadget(R"({"size":1})"));
  reply r = put(at("/g"), gadget(R"({"size":2})"));
  EXPECT_EQ(r.status, 422);
  EXPECT_NE(
      r.at("/message")
          .find("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
      std::string::npos)
      << r.text;
}

TEST_F(Custom, HasNoStrategicMerge) {
  post(at(), gadget(R"({"size":1})"));
  EXPECT_EQ(strategic(at("/g"), R"({"spec":{"size":2}})").status, 415);
}

TEST_F(Custom, AppliesItsListsByKey) {
  server_apply(at("/g?fieldManager=a"), gadget(R"({"size":1,"parts":[{"id":"x"}],"tags":["p"]})"));
  reply r = server_apply(at("/g?fieldManager=b"),
                         gadget(R"({"size":1,"parts":[{"id":"y","n":2}],"tags":["q"]})"));
  EXPECT_EQ(r.status, 200) << r.text;
  EXPECT_EQ(r.find("/spec/parts")->as_array().size(), 2u);
  EXPECT_EQ(r.find("/spec/tags")->as_array().size(), 2u);
  r = server_apply(at("/g?fieldManager=b"), gadget(R"({"size":1})"));
  EXPECT_EQ(r.find("/spec/parts")->as_array().size(), 1u) << r.text;
  EXPECT_EQ(to_text(*r.find("/spec/tags")), R"(["p"])");
}

TEST_F(Custom, ShowsItsColumns) {
  post(at(), gadget(R"({"size":4})"));
  merge(
      at("/g/status"),
      R"({"status":{"conditions":[{"type":"Other","status":"x"},{"type":"Ready","status":"True"}]}})");
  reply r = table(at());
  EXPECT_EQ(r.at("/columnDefinitions/1/name"), "Size");
  EXPECT_EQ(r.number("/rows/0/cells/1"), 4);
  EXPECT_EQ(r.at("/rows/0/cells/2"), "True");
}

TEST_F(Custom, IsServedInEachVersion) {
  post(at(), gadget(R"({"size":4})"));
  reply r = get(s.group("conf.example/v1beta1", "gadgets/g"));
  EXPECT_EQ(r.at("/apiVersion"), "conf.example/v1beta1");
  EXPECT_EQ(r.number("/spec/size"), 4);
}

TEST_F(Custom, ListElementsCarryTheirKind) {
  post(at(), gadget(R"({"size":4})"));
  reply r = get(at());
  EXPECT_EQ(r.at("/kind"), "GadgetList");
  EXPECT_EQ(r.at("/items/0/kind"), "Gadget");
}

TEST_F(Custom, AppearsInDiscovery) {
  reply r = get("/apis/conf.example/v1");
  EXPECT_EQ(r.at("/resources/0/name"), "gadgets");
  EXPECT_EQ(r.at("/resources/0/shortNames/0"), "gd");
  EXPECT_NE(r.text.find("gadgets/status"), std::string::npos);
}

}  // namespace
}  // namespace conformance
