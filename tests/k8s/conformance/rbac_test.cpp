// What Roles and bindings allow, and what is answered where they do not.
#include "endpoint.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace conformance {
namespace {

using namespace std::chrono_literals;

const std::string rbac_api = "rbac.authorization.k8s.io/v1";

/// A ServiceAccount that has no rights of its own, in a namespace of its own.
class Rbac : public testing::Test {
protected:
  void SetUp() override {
    reply made = post(mine.core("serviceaccounts"),
                      R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}})");
    ASSERT_EQ(made.status, 201) << made.text;
    reply token = post(mine.core("serviceaccounts/a/token"),
                       R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})");
    ASSERT_EQ(token.status, 201) << token.text;
    token_ = token.at("/status/token");
  }
  void TearDown() override {
    for (const std::string& target : of_cluster_) remove(target);
  }
  std::string user() const { return "system:serviceaccount:" + mine.name() + ":a"; }

  reply as(std::string method, std::string target, std::string body = {},
           std::string type = "application/json", reactor::http::headers more = {}) {
    return endpoint::get().send_as(token_, std::move(method), std::move(target), std::move(body),
                                   std::move(type), std::move(more));
  }
  /// The real server learns of new Roles a moment later, so a question is repeated until its answer
  /// has this status.
  reply settled(int status, const std::function<reply()>& ask) {
    reply r = ask();
    for (int i = 0; i < 100 && r.status != status && !endpoint::get().embedded(); ++i) {
      std::this_thread::sleep_for(50ms);
      r = ask();
    }
    EXPECT_EQ(r.status, status) << r.text;
    return r;
  }
  reply becomes(int status, const std::string& target) {
    return settled(status, [&] { return as("GET", target); });
  }

  static std::string rules(const std::string& list) { return R"(,"rules":[)" + list + "]"; }
  static std::string rule(const std::string& group, const std::string& resource,
                          const std::string& verbs, const std::string& names = {}) {
    return R"({"apiGroups":[")" + group + R"("],"resources":[")" + resource + R"("],"verbs":[)" +
           verbs + (names.empty() ? "]" : R"(],"resourceNames":[)" + names + "]") + "}";
  }
  static std::string object(const std::string& kind, const std::string& name,
                            const std::string& rest) {
    return R"({"apiVersion":")" + rbac_api + R"(","kind":")" + kind + R"(","metadata":{"name":")" +
           name + "\"}" + rest + "}";
  }
  std::string binding_to(const std::string& kind, const std::string& role) const {
    return R"(,"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" + kind +
           R"(","name":")" + role + R"("},"subjects":[{"kind":"ServiceAccount","name":"a",)" +
           R"("namespace":")" + mine.name() + "\"}]";
  }
  static std::string roles(const space& in, const std::string& rest = {}) {
    return in.group(rbac_api, "roles" + rest);
  }
  static std::string bindings(const space& in, const std::string& rest = {}) {
    return in.group(rbac_api, "rolebindings" + rest);
  }
  /// The account may do this in `in`.
  void grant(const space& in, const std::string& name, const std::string& list) {
    reply role = post(roles(in), object("Role", name, rules(list)));
    ASSERT_EQ(role.status, 201) << role.text;
    reply bound = post(bindings(in), object("RoleBinding", name, binding_to("Role", name)));
    ASSERT_EQ(bound.status, 201) << bound.text;
  }
  void of_cluster(const std::string& plural, const std::string& kind, const std::string& name,
                  const std::string& rest) {
    const std::string at = "/apis/" + rbac_api + "/" + plural;
    of_cluster_.push_back(at + "/" + name);
    reply made = post(at, object(kind, name, rest));
    ASSERT_EQ(made.status, 201) << made.text;
  }

  space mine, other;
  std::string token_;
  std::vector<std::string> of_cluster_;
};

TEST_F(Rbac, WithoutRightsNothingIsReadAndTheAnswerSaysWhat) {
  reply r = as("GET", mine.core("pods"));
  EXPECT_EQ(r.status, 403);
  EXPECT_EQ(r.at("/reason"), "Forbidden");
  EXPECT_EQ(r.at("/message"), "pods is forbidden: User \"" + user() +
                                  "\" cannot list resource \"pods\" in API group \"\" in the "
                                  "namespace \"" +
                                  mine.name() + "\"");
  EXPECT_EQ(to_text(*r.find("/details")), R"({"kind":"pods"})");
  r = as("GET", mine.group("coordination.k8s.io/v1", "leases/x"));
  EXPECT_EQ(r.at("/message"), "leases.coordination.k8s.io \"x\" is forbidden: User \"" + user() +
                                  "\" cannot get resource \"leases\" in API group "
                                  "\"coordination.k8s.io\" in the namespace \"" +
                                  mine.name() + "\"");
  EXPECT_EQ(to_text(*r.find("/details")),
            R"({"name":"x","group":"coordination.k8s.io","kind":"leases"})");
  r = as("GET", "/api/v1/nodes");
  EXPECT_EQ(r.at("/message"), "nodes is forbidden: User \"" + user() +
                                  "\" cannot list resource \"nodes\" in API group \"\" at the "
                                  "cluster scope");
  r = as("POST", mine.core("pods/x/eviction"), "{}");
  EXPECT_EQ(r.at("/message"), "pods \"x\" is forbidden: User \"" + user() +
                                  "\" cannot create resource \"pods/eviction\" in API group \"\" "
                                  "in the namespace \"" +
                                  mine.name() + "\"");
}

TEST_F(Rbac, KindsThatAreNotServedAreForbiddenBeforeTheyAreNotFound) {
  EXPECT_EQ(as("GET", "/apis/no.example/v1/things").status, 403);
  EXPECT_EQ(as("GET", mine.core("nothings")).status, 403);
}

TEST_F(Rbac, PathsAreOpenThatEveryUserMayAsk) {
  for (const char* open : {"/version", "/healthz", "/api", "/apis", "/api/v1"})
    EXPECT_EQ(as("GET", open).status, 200) << open;
  const reply r = as("GET", "/metrics");
  EXPECT_EQ(r.status, 403);
  EXPECT_EQ(r.at("/message"), "forbidden: User \"" + user() + "\" cannot get path \"/metrics\"");
  EXPECT_EQ(to_text(*r.find("/details")), "{}");
}

TEST_F(Rbac, ARoleHoldsInItsNamespaceAndForItsVerbs) {
  grant(mine, "r", rule("", "configmaps", R"("list","create")"));
  becomes(200, mine.core("configmaps"));
  EXPECT_EQ(as("GET", other.core("configmaps")).status, 403);
  EXPECT_EQ(as("GET", "/api/v1/configmaps").status, 403) << "all namespaces";
  EXPECT_EQ(as("POST", mine.core("configmaps"), config_map("c")).status, 201);
  EXPECT_EQ(as("GET", mine.core("configmaps/c")).status, 403);
  EXPECT_EQ(as("GET", mine.core("configmaps?watch=1")).status, 403);
  EXPECT_EQ(as("GET", "/api/v1/watch/namespaces/" + mine.name() + "/configmaps").status, 403);
  EXPECT_EQ(as("DELETE", mine.core("configmaps/c")).status, 403);
  EXPECT_EQ(as("DELETE", mine.core("configmaps")).status, 403);
  EXPECT_EQ(as("PUT", mine.core("configmaps/c"), config_map("c")).status, 403);
  EXPECT_EQ(as("GET", mine.core("secrets")).status, 403);
}

TEST_F(Rbac, ANamedObjectIsReadAloneAndListedByItsName) {
  post(mine.core("configmaps"), config_map("yes"));
  post(mine.core("configmaps"), config_map("no"));
  grant(mine, "r", rule("", "configmaps", R"("get","list","watch")", R"("yes")"));
  becomes(200, mine.core("configmaps/yes"));
  EXPECT_EQ(as("GET", mine.core("configmaps/no")).status, 403);
  EXPECT_EQ(as("GET", mine.core("configmaps")).status, 403);
  EXPECT_EQ(as("GET", mine.core("configmaps?fieldSelector=metadata.name%3Dyes")).status, 200);
  EXPECT_EQ(as("GET", mine.core("configmaps?fieldSelector=metadata.name%3Dno")).status, 403);
  EXPECT_EQ(as("GET", mine.core("configmaps?fieldSelector=metadata.name%21%3Dno")).status, 403);
}

TEST_F(Rbac, TheNamespaceInAPathIsReadDecoded) {
  grant(mine, "r", rule("", "configmaps", R"("list")"));
  becomes(200, mine.core("configmaps"));
  std::string hidden = other.name();
  hidden.replace(hidden.find('-'), 1, "%2D");
  EXPECT_EQ(as("GET", "/api/v1/namespaces/" + hidden + "/configmaps").status, 403);
  hidden = mine.name();
  hidden.replace(hidden.find('-'), 1, "%2D");
  EXPECT_EQ(as("GET", "/api/v1/namespaces/" + hidden + "/configmaps").status, 200);
}

TEST_F(Rbac, ASubresourceIsAResourceOfItsOwn) {
  post(mine.core("serviceaccounts"),
       R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"b"}})");
  grant(mine, "r", rule("", "serviceaccounts", R"("*")"));
  becomes(200, mine.core("serviceaccounts/b"));
  const std::string asked = R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})";
  EXPECT_EQ(as("POST", mine.core("serviceaccounts/b/token"), asked).status, 403);
  grant(mine, "t", rule("", "serviceaccounts/token", R"("create")", R"("b")"));
  settled(201, [&] { return as("POST", mine.core("serviceaccounts/b/token"), asked); });
  EXPECT_EQ(as("POST", mine.core("serviceaccounts/a/token"), asked).status, 403);
}

TEST_F(Rbac, AClusterRoleHoldsWhereItsBindingIs) {
  const std::string name = "conformance-" + mine.name();
  of_cluster("clusterroles", "ClusterRole", name, rules(rule("", "configmaps", R"("list")")));
  post(bindings(mine), object("RoleBinding", "b", binding_to("ClusterRole", name)));
  becomes(200, mine.core("configmaps"));
  EXPECT_EQ(as("GET", other.core("configmaps")).status, 403);
  of_cluster("clusterrolebindings", "ClusterRoleBinding", name, binding_to("ClusterRole", name));
  becomes(200, other.core("configmaps"));
  EXPECT_EQ(as("GET", "/api/v1/configmaps").status, 200);
}

TEST_F(Rbac, ARoleThatIsNotThereIsNamed) {
  post(bindings(mine), object("RoleBinding", "b", binding_to("Role", "gone")));
  const std::string ends = ": RBAC: role.rbac.authorization.k8s.io \"gone\" not found";
  reply r = as("GET", mine.core("pods"));
  for (int i = 0; i < 100 && !r.at("/message").ends_with(ends) && !endpoint::get().embedded();
       ++i) {
    std::this_thread::sleep_for(50ms);
    r = as("GET", mine.core("pods"));
  }
  EXPECT_TRUE(r.at("/message").ends_with(ends)) << r.at("/message");
}

TEST_F(Rbac, AReviewSaysWhatTheRequestWouldBeAnswered) {
  grant(mine, "r", rule("", "configmaps", R"("list")"));
  becomes(200, mine.core("configmaps"));
  const auto allowed = [&](const std::string& ns, const std::string& verb) {
    reply r = as("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                 R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
                 R"("spec":{"resourceAttributes":{"resource":"configmaps","verb":")" +
                     verb + R"(","namespace":")" + ns + "\"}}}");
    EXPECT_EQ(r.status, 201) << r.text;
    return *r.find("/status/allowed") == json::value(true);
  };
  EXPECT_TRUE(allowed(mine.name(), "list"));
  EXPECT_FALSE(allowed(mine.name(), "get"));
  EXPECT_FALSE(allowed(other.name(), "list"));
  EXPECT_FALSE(allowed("", "list")) << "in all namespaces";
}

TEST_F(Rbac, ARoleGivesNoMoreThanItsAuthorHas) {
  grant(mine, "r",
        rule("rbac.authorization.k8s.io", "roles", R"("*")", "") + "," +
            rule("", "configmaps", R"("get","list")"));
  const auto make = [&](const std::string& name, const std::string& list) {
    return as("POST", roles(mine), object("Role", name, rules(list)));
  };
  // `*` on roles has the verb escalate with it, so the right is narrowed to what people have.
  settled(201, [&] { return make("with-star", rule("", "secrets", R"("get")")); });
  merge(roles(mine, "/r"),
        R"({"rules":[)" +
            rule("rbac.authorization.k8s.io", "roles",
                 R"("get","list","create","update","patch","delete")") +
            "," + rule("", "configmaps", R"("get","list")") + "]}");
  int made = 0;
  reply r = settled(403, [&] {
    return make("more-" + std::to_string(made++), rule("", "secrets", R"("get")"));
  });
  const std::string refused = "more-" + std::to_string(made - 1);
  const std::string begins = "roles.rbac.authorization.k8s.io \"" + refused +
                             "\" is forbidden: user \"" + user() +
                             "\" (groups=[\"system:serviceaccounts\" \"system:serviceaccounts:" +
                             mine.name() +
                             "\" \"system:authenticated\"]) is attempting to grant RBAC "
                             "permissions not currently held:\n{APIGroups:[\"\"], "
                             "Resources:[\"secrets\"], Verbs:[\"get\"]}";
  EXPECT_TRUE(r.at("/message").starts_with(begins)) << r.at("/message");
  EXPECT_EQ(make("same", rule("", "configmaps", R"("get")")).status, 201);
  EXPECT_EQ(make("name", rule("", "configmaps", R"("get")", R"("x")")).status, 201);
  EXPECT_EQ(make("verbs", rule("", "configmaps", R"("*")")).status, 403);
  EXPECT_EQ(make("all", rule("*", "*", R"("get")")).status, 403);
  EXPECT_EQ(as("PATCH", roles(mine, "/same"),
               R"({"rules":[)" + rule("", "secrets", R"("get")") + "]}",
               "application/merge-patch+json")
                .status,
            403);
  EXPECT_EQ(as("PATCH", roles(mine, "/same"), R"({"metadata":{"labels":{"a":"b"}}})",
               "application/merge-patch+json")
                .status,
            200);
}

TEST_F(Rbac, ABindingGivesNoMoreThanItsAuthorHas) {
  const std::string name = "conformance-" + mine.name();
  of_cluster("clusterroles", "ClusterRole", name, rules(rule("", "secrets", R"("get")")));
  grant(mine, "r",
        rule("rbac.authorization.k8s.io", "rolebindings", R"("create","get","list")"));
  becomes(200, bindings(mine));
  const auto bind = [&](const std::string& as_name, const std::string& role) {
    return as("POST", bindings(mine),
              object("RoleBinding", as_name, binding_to("ClusterRole", role)));
  };
  EXPECT_EQ(bind("more", name).status, 403);
  EXPECT_EQ(bind("admin", "cluster-admin").status, 403);
  grant(mine, "bind",
        rule("rbac.authorization.k8s.io", "clusterroles", R"("bind")", "\"" + name + "\""));
  settled(201, [&] { return bind("granted", name); });
  EXPECT_EQ(bind("admin", "cluster-admin").status, 403);
}

TEST_F(Rbac, AnApplyOrReplaceThatMakesAnObjectNeedsTheRightToMakeIt) {
  grant(mine, "r",
        rule("", "configmaps", R"("get","patch","update")") + "," +
            rule("coordination.k8s.io", "leases", R"("get","update")"));
  becomes(404, mine.core("configmaps/c"));
  const std::string at = mine.core("configmaps/c?fieldManager=a");
  EXPECT_EQ(as("PATCH", at, config_map("c"), "application/apply-patch+yaml").status, 403);
  const std::string lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}})";
  EXPECT_EQ(as("PUT", mine.group("coordination.k8s.io/v1", "leases/l"), lease).status, 403);
  post(mine.core("configmaps"), config_map("c"));
  EXPECT_EQ(as("PATCH", at + "&force=true", config_map("c", R"({"a":"2"})"),
               "application/apply-patch+yaml")
                .status,
            200);
}

TEST_F(Rbac, AnotherNameNeedsTheRightToIt) {
  reactor::http::headers other_name;
  other_name.set("Impersonate-User", "somebody");
  reply r = as("GET", mine.core("pods"), {}, "application/json", other_name);
  EXPECT_EQ(r.status, 403);
  EXPECT_NE(r.at("/message").find("User \"" + user() + "\" cannot impersonate"), std::string::npos)
      << "the words differ between versions: " << r.at("/message");
  reply admin = endpoint::get().send_as({}, "GET", mine.core("pods"), {}, "application/json",
                                        other_name);
  EXPECT_EQ(admin.status, 403) << "the administrator as a user without rights";
  EXPECT_NE(admin.at("/message").find("User \"somebody\" cannot list"), std::string::npos);
}

TEST_F(Rbac, NamesOfRolesMayHaveColonsAndNoSlashes) {
  EXPECT_EQ(post(roles(mine), object("Role", "team:reader", rules(""))).status, 201);
  EXPECT_EQ(get(roles(mine, "/team:reader")).status, 200);
  const reply r = post(roles(mine), object("Role", "team/reader", rules("")));
  EXPECT_EQ(r.status, 422);
  EXPECT_NE(r.at("/message").find("may not contain '/'"), std::string::npos) << r.text;
}

TEST_F(Rbac, AnAggregationNeedsAllRights) {
  const std::string name = "conformance-" + mine.name();
  of_cluster("clusterroles", "ClusterRole", name,
             rules(rule("rbac.authorization.k8s.io", "clusterroles", R"("create","list")")));
  of_cluster("clusterrolebindings", "ClusterRoleBinding", name, binding_to("ClusterRole", name));
  const std::string at = "/apis/" + rbac_api + "/clusterroles";
  becomes(200, at);
  const reply r = as("POST", at,
                     object("ClusterRole", name + "-sum",
                            R"(,"rules":[],"aggregationRule":{"clusterRoleSelectors":[)"
                            R"({"matchLabels":{"a":"b"}}]})"));
  EXPECT_EQ(r.status, 403) << r.text;
}

}  // namespace
}  // namespace conformance
