#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace std::chrono_literals;

auto count(std::size_t n) {
  return [n](const std::vector<event>& seen) { return seen.size() >= n; };
}

std::string version_of(const space& s) {
  return get(s.core("configmaps")).at("/metadata/resourceVersion");
}

std::string keys_of(const json::value* of) {
  std::string out;
  if (of && of->is_object())
    for (const auto& [key, value] : of->get_object())
      if (value.is_string()) out += (out.empty() ? "" : " ") + std::string(key);
  return out;
}

TEST(Version, SkewIsJudgedByTheFieldsThatAServerOf136Says) {
  const reply r = endpoint::get().send("GET", "/version");
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(keys_of(&r.body),
            "major minor emulationMajor emulationMinor minCompatibilityMajor minCompatibilityMinor "
            "gitVersion gitCommit gitTreeState buildDate goVersion compiler platform");
  EXPECT_EQ(r.at("/gitVersion").substr(0, 6), "v1.36.");
  EXPECT_EQ(r.at("/minor") + r.at("/emulationMinor") + r.at("/minCompatibilityMinor"), "363635");
}

TEST(Version, SkewIsJudgedByANodeThatSaysAllOfItsInfo) {
  const std::string name = "skew-node", at = "/api/v1/nodes/" + name;
  (void)endpoint::get().send("DELETE", at);
  const reply made =
      endpoint::get().send("POST", "/api/v1/nodes",
                           R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                               R"("},"status":{"nodeInfo":{"kubeletVersion":"v1.33.1+k3s1"}}})");
  EXPECT_EQ(made.status, 201) << made.text;
  const reply r = endpoint::get().send("GET", at);
  EXPECT_EQ(keys_of(r.find("/status/nodeInfo")).size(),
            std::string("machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion "
                        "kubeletVersion kubeProxyVersion operatingSystem architecture")
                .size());
  EXPECT_EQ(r.at("/status/nodeInfo/kubeletVersion"), "v1.33.1+k3s1");
  EXPECT_TRUE(r.find("/status/nodeInfo/kubeProxyVersion")) << "and empty";
  EXPECT_EQ(r.number("/status/daemonEndpoints/kubeletEndpoint/Port"), 0);
  (void)endpoint::get().send("DELETE", at);
}

TEST(List, HasItsKindAndVersion) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r = get(s.core("configmaps"));
  EXPECT_EQ(r.at("/kind"), "ConfigMapList");
  EXPECT_EQ(r.at("/apiVersion"), "v1");
  EXPECT_FALSE(r.at("/metadata/resourceVersion").empty());
  EXPECT_FALSE(r.find("/items/0/kind")) << "elements of built-in lists carry no kind";
}

TEST(List, SelectsByLabels) {
  space s;
  for (int i = 0; i < 4; ++i) {
    post(s.core("configmaps"), config_map("m" + std::to_string(i), "{}",
                                          R"("labels":{"n":")" + std::to_string(i) + "\"}"));
  }
  auto names = [&](std::string selector) {
    return get(s.core("configmaps?labelSelector=" + selector)).find("/items")->as_array().size();
  };
  EXPECT_EQ(names("n%3D1"), 1u);
  EXPECT_EQ(names("n!%3D1"), 3u);
  EXPECT_EQ(names("n%20in%20(1,2)"), 2u);
  EXPECT_EQ(names("n%20notin%20(1,2)"), 2u);
  EXPECT_EQ(names("n"), 4u);
  EXPECT_EQ(names("!n"), 0u);
  EXPECT_EQ(names("n%3E2"), 1u);
}

TEST(List, RefusesASelectorItCannotRead) {
  space s;
  EXPECT_EQ(get(s.core("configmaps?labelSelector=%3D%3Dx(")).status, 400);
  EXPECT_EQ(get(s.core("configmaps?fieldSelector=spec.colour%3Dred")).status, 400);
}

TEST(List, SelectsByFields) {
  space s;
  post(s.core("pods"), pod("p1", "n1"));
  post(s.core("pods"), pod("p2", "n2"));
  auto items = [&](std::string selector) {
    return get(s.core("pods?fieldSelector=" + selector)).find("/items")->as_array().size();
  };
  EXPECT_EQ(items("spec.nodeName%3Dn1"), 1u);
  EXPECT_EQ(items("metadata.name%3Dp2"), 1u);
  EXPECT_EQ(items("status.phase!%3DPending"), 0u);
  EXPECT_EQ(items("spec.nodeName%3Dn1,metadata.name%3Dp2"), 0u);
}

TEST(List, ComesInPagesThatShowOneMoment) {
  space s;
  for (char c = 'a'; c < 'f'; ++c) post(s.core("configmaps"), config_map(std::string(1, c)));
  reply first = get(s.core("configmaps?limit=2"));
  EXPECT_EQ(first.find("/items")->as_array().size(), 2u);
  EXPECT_EQ(first.number("/metadata/remainingItemCount"), 3);
  post(s.core("configmaps"), config_map("bb"));
  reply second = get(s.core("configmaps?limit=2&continue=" + first.at("/metadata/continue")));
  EXPECT_EQ(second.at("/items/0/metadata/name"), "c");
  EXPECT_EQ(second.at("/metadata/resourceVersion"), first.at("/metadata/resourceVersion"));
  reply third = get(s.core("configmaps?limit=2&continue=" + second.at("/metadata/continue")));
  EXPECT_EQ(third.find("/items")->as_array().size(), 1u);
  EXPECT_EQ(third.at("/metadata/continue"), "");
}

TEST(List, RefusesATokenItDidNotGive) {
  space s;
  EXPECT_EQ(get(s.core("configmaps?limit=2&continue=nonsense")).status, 400);
}

TEST(List, AtAnExactVersionShowsThePast) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  const std::string then = version_of(s);
  post(s.core("configmaps"), config_map("b"));
  reply r = get(s.core("configmaps?resourceVersionMatch=Exact&resourceVersion=" + then));
  EXPECT_EQ(r.find("/items")->as_array().size(), 1u);
  EXPECT_EQ(r.at("/metadata/resourceVersion"), then);
}

TEST(List, OfTheFutureTimesOut) {
  space s;
  reply r = get(s.core("configmaps?resourceVersion=999999999"));
  EXPECT_EQ(r.status, 504);
  EXPECT_EQ(r.at("/reason"), "Timeout");
  EXPECT_EQ(r.at("/details/causes/0/reason"), "ResourceVersionTooLarge");
  EXPECT_EQ(r.at("/details/causes/0/message"), "Too large resource version");
  EXPECT_EQ(r.number("/details/retryAfterSeconds"), 1);
  EXPECT_EQ(r.at("/message").substr(0, 53),
            "Timeout: Too large resource version: 999999999, curre");
}

TEST(List, RefusesAVersionThatIsNoNumber) {
  space s;
  EXPECT_EQ(get(s.core("configmaps?resourceVersion=abc")).status, 400);
}

TEST(List, RefusesAMatchWithoutAVersion) {
  space s;
  reply r = get(s.core("configmaps?resourceVersionMatch=Exact"));
  EXPECT_EQ(r.status, 422) << r.text;
  EXPECT_NE(
      r.at("/message").find("resourceVersionMatch is forbidden unless resourceVersion is provided"),
      std::string::npos);
}

TEST(List, AsPartialMetadataHasNothingElse) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  reply r =
      endpoint::get().send("GET", s.core("configmaps"), {}, "",
                           "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_EQ(r.at("/kind"), "PartialObjectMetadataList");
  EXPECT_EQ(r.at("/apiVersion"), "meta.k8s.io/v1");
  EXPECT_FALSE(r.find("/items/0/data"));
  EXPECT_EQ(r.at("/items/0/metadata/name"), "a");
}

TEST(List, WithoutItemsSaysNullAsPartialMetadataAndAnEmptyListAsItself) {
  space s;
  for (const char* selected : {"", "&fieldSelector=spec.nodeName%3Dn1"}) {
    const std::string pods = s.core("pods?limit=0" + std::string(selected));
    reply whole = endpoint::get().send("GET", pods);
    ASSERT_TRUE(whole.find("/items")) << whole.text;
    EXPECT_TRUE(whole.find("/items")->is_array()) << whole.text;
    reply partial = endpoint::get().send(
        "GET", pods, {}, "", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    ASSERT_TRUE(partial.find("/items")) << partial.text;
    EXPECT_TRUE(partial.find("/items")->is_null()) << partial.text;
  }
  reply rows = table(s.core("pods"));
  ASSERT_TRUE(rows.find("/rows")) << rows.text;
  EXPECT_TRUE(rows.find("/rows")->is_array()) << rows.text;
}

TEST(Table, ShowsPodsAsKubectlDoes) {
  space s;
  post(s.core("pods"), pod("p"));
  reply r = table(s.core("pods"));
  EXPECT_EQ(r.at("/kind"), "Table");
  EXPECT_EQ(r.at("/columnDefinitions/0/name"), "Name");
  EXPECT_EQ(r.at("/columnDefinitions/2/name"), "Status");
  EXPECT_EQ(r.at("/rows/0/cells/0"), "p");
  EXPECT_EQ(r.at("/rows/0/cells/1"), "0/1");
  EXPECT_EQ(r.at("/rows/0/cells/2"), "Pending");
  EXPECT_EQ(r.at("/rows/0/cells/6"), "n1");
  EXPECT_EQ(r.at("/rows/0/object/kind"), "PartialObjectMetadata");
}

TEST(Table, SaysWhereAServiceIsReachedFromOutside) {
  space s;
  const auto service = [](std::string name, std::string spec) {
    return R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name +
           R"("},"spec":{"ports":[{"port":80}],)" + spec + "}}";
  };
  post(s.core("services"), service("a", R"("type":"ClusterIP")"));
  post(s.core("services"), service("b", R"("type":"LoadBalancer")"));
  post(s.core("services"), service("c", R"("type":"LoadBalancer")"));
  merge(
      s.core("services/c/status"),
      R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"},{"hostname":"lb.example"}]}}})");
  post(s.core("services"), service("d", R"("type":"ExternalName","externalName":"away.example")"));
  post(s.core("services"), service("e", R"("externalIPs":["192.0.2.8"])"));
  reply r = table(s.core("services"));
  EXPECT_EQ(r.at("/columnDefinitions/3/name"), "External-IP");
  EXPECT_EQ(r.at("/rows/0/cells/3"), "<none>");
  EXPECT_EQ(r.at("/rows/1/cells/3"), "<pending>");
  EXPECT_EQ(r.at("/rows/2/cells/3"), "192.0.2.7,lb.example");
  EXPECT_EQ(r.at("/rows/3/cells/3"), "away.example");
  EXPECT_EQ(r.at("/rows/4/cells/3"), "192.0.2.8");
}

TEST(Accept, OfNothingWeSpeakIsRefused) {
  EXPECT_EQ(endpoint::get().send("GET", "/api/v1/namespaces", {}, "", "text/html").status, 406);
}

TEST(Watch, ShowsWhatHappensAfterTheVersion) {
  space s;
  const std::string from = version_of(s);
  auto seen = endpoint::get().watch(s.core("configmaps?watch=1&resourceVersion=" + from), count(3),
                                    10s, [&](endpoint&) {
                                      post(s.core("configmaps"), config_map("a"));
                                      merge(s.core("configmaps/a"), R"({"data":{"b":"2"}})");
                                      remove(s.core("configmaps/a"));
                                    });
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].type, "ADDED");
  EXPECT_EQ(seen[0].at("/kind"), "ConfigMap");
  EXPECT_EQ(seen[1].type, "MODIFIED");
  EXPECT_EQ(seen[2].type, "DELETED");
  EXPECT_EQ(seen[2].at("/data/b"), "2");
  EXPECT_GT(std::stoull(seen[2].at("/metadata/resourceVersion")),
            std::stoull(seen[1].at("/metadata/resourceVersion")));
}

TEST(Watch, ReplaysFromTheVersion) {
  space s;
  const std::string from = version_of(s);
  post(s.core("configmaps"), config_map("a"));
  post(s.core("configmaps"), config_map("b"));
  auto seen = endpoint::get().watch(s.core("configmaps?watch=1&resourceVersion=" + from), count(2));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].at("/metadata/name"), "b");
}

TEST(Watch, WithoutAVersionBeginsWithTheState) {
  space s;
  post(s.core("configmaps"), config_map("a"));
  auto seen = endpoint::get().watch(s.core("configmaps?watch=1"), count(1));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].type, "ADDED");
}

TEST(Watch, TurnsChangesOfASelectionIntoArrivalsAndDepartures) {
  space s;
  const std::string from = version_of(s);
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&labelSelector=x%3D1&resourceVersion=" + from), count(2), 10s,
      [&](endpoint&) {
        post(s.core("configmaps"), config_map("a"));
        merge(s.core("configmaps/a"), R"({"metadata":{"labels":{"x":"1"}}})");
        merge(s.core("configmaps/a"), R"({"metadata":{"labels":{"x":"2"}}})");
      });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].type, "ADDED");
  EXPECT_EQ(seen[1].type, "DELETED");
  EXPECT_EQ(seen[1].at("/metadata/labels/x"), "1") << "a departure shows the object as it was";
}

TEST(Watch, OfOneNameSeesOnlyIt) {
  space s;
  const std::string from = version_of(s);
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&fieldSelector=metadata.name%3Db&resourceVersion=" + from),
      count(1), 10s, [&](endpoint&) {
        post(s.core("configmaps"), config_map("a"));
        post(s.core("configmaps"), config_map("b"));
      });
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].at("/metadata/name"), "b");
}

TEST(Watch, EndsAtItsTimeout) {
  space s;
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&timeoutSeconds=1&resourceVersion=" + version_of(s)),
      [](const auto&) { return false; }, 20s);
  EXPECT_TRUE(seen.empty());
}

TEST(Watch, SendsABookmarkBeforeItsTimeout) {
  space s, elsewhere;
  const std::string from = version_of(s);
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&timeoutSeconds=6&allowWatchBookmarks=true&resourceVersion=" +
             from),
      [](const auto& all) { return !all.empty(); }, 20s,
      [&](endpoint&) { post(elsewhere.core("configmaps"), config_map("a")); });
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen[0].type, "BOOKMARK");
  EXPECT_GT(std::stoull(seen[0].at("/metadata/resourceVersion")), std::stoull(from));
}

constexpr const char* no_streams =
    "the storage of this server (an etcd before 3.4.25) offers no streamed lists";

/// A real server on such a storage says so in each of them; the embedded one has no storage that
/// could.
bool offers_streamed_lists(const space& s) {
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
             "resourceVersionMatch=NotOlderThan"),
      count(1));
  return seen.empty() || seen[0].type != "ERROR" ||
         seen[0].at("/message").find("RequestWatchProgress is disabled") == std::string::npos;
}

TEST(Watch, FromZeroMarksTheEndOfTheState) {
  space s;
  if (!offers_streamed_lists(s)) GTEST_SKIP() << no_streams;
  post(s.core("configmaps"), config_map("a"));
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=0"), count(2));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].type, "BOOKMARK");
  EXPECT_EQ(seen[1].at("/metadata/annotations/k8s.io~1initial-events-end"), "true");
}

TEST(WatchList, SendsTheStateAndThenSaysSo) {
  space s;
  if (!offers_streamed_lists(s)) GTEST_SKIP() << no_streams;
  post(s.core("configmaps"), config_map("a"));
  post(s.core("configmaps"), config_map("b"));
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
             "resourceVersionMatch=NotOlderThan"),
      [](const auto& all) { return !all.empty() && all.back().type == "BOOKMARK"; }, 20s);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].type, "ADDED");
  EXPECT_EQ(seen[2].type, "BOOKMARK");
  EXPECT_EQ(to_text(seen[2].object).find("initial-events-end") != std::string::npos, true);
  EXPECT_EQ(seen[2].at("/metadata/annotations/k8s.io~1initial-events-end"), "true");
}

TEST(WatchList, NeedsTheMatch) {
  space s;
  int status = 0;
  auto seen = endpoint::get().watch(
      s.core("configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"),
      [](const auto&) { return false; }, 5s, {}, &status);
  EXPECT_EQ(status, 422);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_NE(seen[0]
                .at("/message")
                .find("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
            std::string::npos)
      << seen[0].at("/message");
}

TEST(Discovery, ListsTheResourcesOfAVersion) {
  reply r = get("/api/v1");
  EXPECT_EQ(r.at("/kind"), "APIResourceList");
  EXPECT_NE(r.text.find("\"pods/eviction\""), std::string::npos);
  EXPECT_NE(r.text.find("\"nodes/status\""), std::string::npos);
  r = get("/apis/policy/v1");
  EXPECT_EQ(r.at("/groupVersion"), "policy/v1");
}

TEST(Discovery, ListsTheGroups) {
  reply r = get("/apis");
  EXPECT_EQ(r.at("/kind"), "APIGroupList");
  EXPECT_NE(r.text.find("\"coordination.k8s.io/v1\""), std::string::npos);
  EXPECT_EQ(get("/apis/apps").at("/preferredVersion/groupVersion"), "apps/v1");
  EXPECT_EQ(get("/apis/no.such.group").status, 404);
}

TEST(Discovery, ComesAggregatedOnDemand) {
  reply r = endpoint::get().send(
      "GET", "/apis", {}, "",
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json");
  EXPECT_EQ(r.at("/kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(r.at("/apiVersion"), "apidiscovery.k8s.io/v2");
}

/// What kubectl asks for a kind that nobody serves: field 1 of the document, "swagger", is "2.0".
TEST(OpenApi, OfVersion2ComesAsProtobufOnDemand) {
  reply r = endpoint::get().send("GET", "/openapi/v2", {}, "",
                                 "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.text.substr(0, 5),
            "\x0a\x03"
            "2.0");
}

TEST(Server, SaysItsVersionAndHealth) {
  EXPECT_EQ(get("/version").at("/major"), "1");
  EXPECT_EQ(get("/healthz").text, "ok");
  EXPECT_EQ(get("/readyz").text, "ok");
  EXPECT_EQ(get("/livez").text, "ok");
}

TEST(Verb, ThatAResourceDoesNotHaveIsRefused) {
  space s;
  EXPECT_EQ(endpoint::get().send("POST", s.core("configmaps/a"), "{}").status, 405);
  EXPECT_EQ(endpoint::get().send("PUT", s.core("configmaps"), "{}").status, 405);
}

}  // namespace
}  // namespace conformance
