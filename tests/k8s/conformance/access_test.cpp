#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

std::string token_request(std::string_view spec = R"({"expirationSeconds":3600})") {
  return R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":)" +
         std::string(spec) + "}";
}

std::string review(std::string_view attributes) {
  return R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{)" +
         std::string(attributes) + "}}";
}

constexpr const char* reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

void account(const space& s, const std::string& name) {
  reply made =
      post(s.core("serviceaccounts"),
           R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":")" + name + "\"}}");
  ASSERT_EQ(made.status, 201) << made.text;
}

TEST(TokenRequest, IsAnsweredWithATokenAndWhenItEnds) {
  space s;
  account(s, "a");
  reply r = post(s.core("serviceaccounts/a/token"), token_request());
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/kind"), "TokenRequest");
  EXPECT_EQ(r.at("/apiVersion"), "authentication.k8s.io/v1");
  EXPECT_EQ(r.at("/metadata/name"), "a");
  EXPECT_EQ(r.at("/metadata/namespace"), s.name());
  EXPECT_EQ(r.number("/spec/expirationSeconds"), 3600);
  EXPECT_FALSE(r.at("/status/token").empty());
  EXPECT_FALSE(r.at("/status/expirationTimestamp").empty());
}

TEST(TokenRequest, OfLessThanTenMinutesIsInvalid) {
  space s;
  account(s, "a");
  reply r = post(s.core("serviceaccounts/a/token"), token_request(R"({"expirationSeconds":5})"));
  EXPECT_EQ(r.status, 422) << r.text;
  EXPECT_EQ(r.at("/message"),
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
            "value: 5: may not specify a duration less than 10 minutes");
}

TEST(TokenRequest, OfAMissingAccountIsNotFound) {
  space s;
  reply r = post(s.core("serviceaccounts/none/token"), token_request());
  EXPECT_EQ(r.status, 404);
  EXPECT_EQ(r.at("/message"), "serviceaccounts \"none\" not found");
}

TEST(TokenRequest, IsNothingThatCanBeRead) {
  space s;
  account(s, "a");
  EXPECT_EQ(get(s.core("serviceaccounts/a/token")).status, 405);
}

TEST(AccessReview, SaysWhetherOneMay) {
  reply r = post(reviews, review(R"("resourceAttributes":{"verb":"list","resource":"pods"})"));
  EXPECT_EQ(r.status, 201) << r.text;
  EXPECT_EQ(r.at("/kind"), "SelfSubjectAccessReview");
  EXPECT_EQ(*r.find("/status/allowed"), json::value(true)) << "an administrator may do everything";
  EXPECT_EQ(r.at("/spec/resourceAttributes/verb"), "list");
}

TEST(AccessReview, AsksForOneThing) {
  reply r = post(reviews, review(""));
  EXPECT_EQ(r.status, 422) << r.text;
  EXPECT_NE(r.at("/message")
                .find("exactly one of nonResourceAttributes or resourceAttributes "
                      "must be specified"),
            std::string::npos)
      << r.text;
}

TEST(AccessReview, IsStoredNowhere) {
  EXPECT_EQ(get(reviews).status, 405);
}

TEST(AdmissionPolicy, HasTheServersDefaultsAndIsAppliedAgainWithoutAChange) {
  const std::string at =
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/conformance-policy";
  const std::string body =
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",
          "metadata":{"name":"conformance-policy"},"spec":{"matchConstraints":{"resourceRules":[
          {"apiGroups":["x.example"],"apiVersions":["v1"],"operations":["CREATE"],
           "resources":["as"]}]},"matchConditions":[{"name":"c","expression":"true"}],
          "validations":[{"expression":"true"}]}})";
  reply made = server_apply(at + "?fieldManager=a&force=true", body);
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.at("/spec/failurePolicy"), "Fail");
  EXPECT_EQ(made.at("/spec/matchConstraints/matchPolicy"), "Equivalent");
  EXPECT_EQ(made.at("/spec/matchConstraints/resourceRules/0/scope"), "*");
  reply again = server_apply(at + "?fieldManager=a&force=true", body);
  EXPECT_EQ(again.status, 200) << again.text;
  EXPECT_EQ(again.at("/metadata/resourceVersion"), get(at).at("/metadata/resourceVersion"));
  EXPECT_EQ(again.number("/metadata/generation"), 1);
  EXPECT_EQ(remove(at).status, 200);
}

TEST(Server, SaysWhatTimeItIs) {
  EXPECT_NE(get("/version").fields.get("Date"), "");
}

}  // namespace
}  // namespace conformance
