// What the service notes of what it placed, and which object may use what: the plain functions.
#include "helm/placed/noted_release.hpp"
#include "helm/placed/plan/workspace.hpp"
#include "helm/release/record.hpp"
#include "helm/tenants/home/remembered_places.hpp"
#include "helm/tenants/kinds/krypton_deployment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace helm::tenants {
namespace {

TEST(NotedRelease, IsWhatWasWrittenAndNothingElse) {
  const noted_facts all{"Tenant/default/acme", {{3, "u3", "d3"}, {4, "u4", "d4"}}};
  EXPECT_EQ(read_noted(write_noted(all)), all);
  for (const char* text : {"", "x", "[]", "{}", R"({"records":1})", R"({"records":[1]})"})
    EXPECT_TRUE(read_noted(text).records.empty()) << text;
}

TEST(NotedRelease, KeepsTheNewestAndWhatItCameAfter) {
  const noted_record one{1, "u1", "d1"}, two{2, "u2", "d2"}, three{3, "u3", "d3"};
  noted_facts facts = noted_after({}, one, std::nullopt);
  EXPECT_EQ(facts.records, std::vector{one});
  facts = noted_after(facts, two, one);
  EXPECT_EQ(facts.records, (std::vector{one, two}));
  // The second failed: the third comes after the first again.
  facts = noted_after(facts, three, one);
  EXPECT_EQ(facts.records, (std::vector{one, three}));
  // What was never noted does not become believed by being upgraded from.
  const noted_record forged{1, "u1", "other"};
  EXPECT_EQ(noted_after(noted_after({}, one, std::nullopt), two, forged).records, std::vector{two});
  // A later revision is another writer's, and stays.
  EXPECT_EQ(noted_after(facts, two, one).records, (std::vector{one, three, two}));
  EXPECT_EQ(noted_after(facts, two, std::nullopt).records, (std::vector{three, two}));
}

TEST(NotedRelease, IsOfManifestAndHooksAndNotOfHowTheyWent) {
  release::record r;
  r.name = "web";
  r.ns = "shop";
  r.revision = 2;
  r.manifest = "kind: A\n";
  release::recorded_hook h;
  h.what.name = "h";
  h.what.content = "kind: B\n";
  h.what.events = {"pre-delete"};
  r.hooks.push_back(h);
  const std::string was = release::content_of(r);
  release::record same = r;
  same.state = release::status::failed;
  same.description = "failed";
  same.labels["a"] = "b";
  same.hooks[0].last_run.phase = "Succeeded";
  same.hooks[0].what.delete_policies = {"before-hook-creation"};  // as when it ran
  EXPECT_EQ(release::content_of(same), was);
  const std::vector<void (*)(release::record&)> forgeries = {
      [](release::record& o) { o.manifest += "kind: C\n"; },
      [](release::record& o) { o.ns = "kube-system"; },
      [](release::record& o) { o.name = "other"; },
      [](release::record& o) { o.revision = 3; },
      [](release::record& o) { o.apply_method = "ssa"; },
      [](release::record& o) { o.hooks.clear(); },
      [](release::record& o) { o.hooks[0].what.content += "x: y\n"; },
      [](release::record& o) { o.hooks[0].what.events = {"post-delete"}; },
      [](release::record& o) { o.hooks[0].what.delete_policies = {"hook-failed"}; },
      [](release::record& o) { o.hooks.push_back(o.hooks[0]); },
      // One text cannot pass for the end of another.
      [](release::record& o) {
        o.ns += o.manifest;
        o.manifest.clear();
      },
  };
  for (std::size_t i = 0; i < forgeries.size(); ++i) {
    release::record other = r;
    forgeries[i](other);
    EXPECT_NE(release::content_of(other), was) << i;
  }
}

TEST(NotedRelease, ARevisionIsInTheNameOfItsRecord) {
  EXPECT_EQ(release::revision_in("sh.helm.release.v1.web.v12", "web"), 12);
  for (const char* name : {"sh.helm.release.v1.web.v0", "sh.helm.release.v1.web.v-1",
                           "sh.helm.release.v1.web.v2147483647", "sh.helm.release.v1.web.v1x",
                           "sh.helm.release.v1.web.v", "sh.helm.release.v1.webs.v1", "web.v1", ""})
    EXPECT_EQ(release::revision_in(name, "web"), std::nullopt) << name;
}

TEST(RememberedPlaces, AreWhatWasWrittenAndNothingElse) {
  const object_places all{"uid", {{"default", "eu-kubeconfig"}, {"vault", "named"}}};
  EXPECT_EQ(read_places(write_places(all)), all);
  for (const char* text : {"", "x", "[]", "{}", R"({"uid":1,"targets":[]})",
                           R"({"uid":"u","targets":["no slash",1]})"})
    EXPECT_TRUE(read_places(text).targets.empty()) << text;
}

TEST(RememberedPlaces, OfAnotherWriterAreKept) {
  const k8s::object_key a{"n", "a"}, b{"n", "b"}, c{"n", "c"};
  using places = object_places;
  EXPECT_EQ(places_after({}, {"u", {a}}, {}), (places{"u", {a}}));
  EXPECT_EQ(places_after({"u", {b}}, {"u", {a}}, {}), (places{"u", {b, a}}));
  EXPECT_EQ(places_after({"u", {a, b}}, {"u", {}}, a), (places{"u", {b}})) << "one is left";
  EXPECT_EQ(places_after({"u", {a}}, {"u", {c}}, a), (places{"u", {c}}));
  EXPECT_EQ(places_after({"old", {a}}, {"u", {b}}, {}), (places{"u", {b}})) << "another object";
  EXPECT_EQ(places_after({"new", {a}}, {"u", {}}, b), (places{"new", {a}}));
}

TEST(RegionRules, WhoMayGoWhere) {
  struct row {
    const char *secret_ns, *granted, *object_ns;
    std::vector<std::string> allowed;
    bool may;
  };
  const std::vector<row> rows = {
      {"fleet", "", "team", {}, true},           {"fleet", "team", "team", {}, true},
      {"fleet", "a, team ,b", "team", {}, true}, {"fleet", "*", "team", {}, true},
      {"fleet", "other", "team", {}, false},     {"fleet", "teams", "team", {}, false},
      {"fleet", "other", "fleet", {}, true},     {"team", "", "team", {}, false},
      {"team", "*", "team", {}, false},          {"team", "", "team", {"team"}, true},
      {"team", "", "other", {"team"}, false},    {"team", "other", "other", {"team"}, true},
      {"team", "", "team", {"*"}, true},         {"team", "", "other", {"*"}, false},
      {"team", "*", "other", {"*"}, true},       {"team", "*", "other", {"elsewhere"}, false},
  };
  for (const row& r : rows) {
    const region_rules rules{"fleet", r.allowed};
    EXPECT_EQ(rules.problem_with({r.secret_ns, "s"}, r.granted, r.object_ns).empty(), r.may)
        << r.secret_ns << " '" << r.granted << "' " << r.object_ns;
  }
}

TEST(ReservedNamespaces, AreOfTheSystemTheFleetAndTheService) {
  reserved_namespaces of{{"fleet", "regions"}, {"notes", "records"}, {"nodes"}};
  for (const char* name :
       {"default", "kube-system", "kube-x", "openshift-y", "fleet", "notes", "records", "nodes"})
    EXPECT_NE(of.reason(name), "") << name;
  for (const char* name : {"acme", "kubernetes", "my-kube-system", "openshift", "fleet-2"})
    EXPECT_EQ(of.reason(name), "") << name;
  of.system_allowed = true;
  for (const char* name : {"default", "kube-system", "fleet"}) EXPECT_EQ(of.reason(name), "");
  for (const char* name : {"notes", "records", "nodes"}) EXPECT_NE(of.reason(name), "") << name;
}

}  // namespace
}  // namespace helm::tenants
