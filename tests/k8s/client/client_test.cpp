// Everything the typed client promises, one test each: they belong together as one specification.
#include "k8s/client/client.hpp"

#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/server.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/side_by_side.hpp"
#include "tests/gzip.hpp"
#include "tests/k8s/client/pems.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::loop;
using reactor::memory_network;

// Named, because GCC 12 destroys aggregates made inside a co_await expression twice.
const object_key pod_a{"ns", "a"}, node_n{"", "n"}, daemon_set_d{"ns", "d"}, lease_l{"ns", "l"};
const watch_options any_watch;

const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})";

class Client : public testing::Test {
protected:
  using body = std::function<awaitable<void>(scripted_server& server, client& api)>;
  /// Runs `f` against a scripted server with the connection that `adjust` made of the plain one.
  void run(body f, std::function<void(connection&)> adjust = {}) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      connection to = server.to();
      if (adjust) adjust(to);
      client api(l, to);
      co_await f(server, api);
      co_await api.stop();
      co_await server.stop();
    });
  }
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  memory_network& net() { return memory_network::of(l); }
  loop l{loop::mode::simulated, 11};
};

TEST_F(Client, AsksForAnObjectAsJson) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.on("GET", "/api/v1/namespaces/kube-system/pods/a%3Ab", answer::json(200, pod));
    const object_key odd{"kube-system", "a:b"};
    auto got = co_await api.get(resources::pods(), odd);
    EXPECT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->at("kind"), "Pod");
    const auto& sent = server.requests().at(0);
    EXPECT_EQ(sent.fields.get("Accept"), "application/json");
    EXPECT_TRUE(sent.fields.get("User-Agent").starts_with("windlass/"));
    EXPECT_FALSE(sent.fields.has("Authorization"));
    EXPECT_EQ(api.server(), "http://api:6443");
  });
}

/// How each request of a client asks for JSON, as the server hears it.
std::vector<std::string> accepted(const scripted_server& server) {
  std::vector<std::string> all;
  for (const auto& r : server.requests()) all.emplace_back(r.fields.get("Accept"));
  return all;
}

TEST_F(Client, AsksForObjectsWithoutTheirManagersButWhereTheyAreWanted) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string list = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})";
    server.always("GET", "/api/v1/namespaces/ns/pods/a", answer::json(200, pod));
    server.always("GET", "/api/v1/pods", answer::json(200, list));
    server.always("POST", "/", answer::json(201, pod));
    server.always("PATCH", "/", answer::json(200, pod));
    server.always("PUT", "/", answer::json(200, pod));
    (void)co_await api.get(resources::pods(), pod_a);
    list_options options;
    (void)co_await api.list(resources::pods(), options);
    options.metadata_only = true;
    (void)co_await api.list(resources::pods(), options);
    options.managed_fields = true;
    (void)co_await api.list(resources::pods(), options);
    (void)co_await api.open_watch(resources::pods(), any_watch);
    watch_options metadata = any_watch;
    metadata.metadata_only = true;
    (void)co_await api.open_watch(resources::pods(), metadata);
    (void)co_await api.create(resources::pods(), "ns", json::object{});
    (void)co_await api.apply(resources::pods(), pod_a, json::object{});
    (void)co_await api.merge_patch_text(resources::pods(), pod_a, json::object{});
    (void)co_await api.replace(resources::pods(), pod_a, json::object{});
    const std::string whole = "application/json", drop = ";drop=metadata.managedFields",
                      lists = whole + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                      one = whole + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const std::vector<std::string> expected{whole,        whole + drop, lists + drop, lists,
                                            whole + drop, one + drop,   whole + drop, whole + drop,
                                            whole + drop, whole + drop};
    EXPECT_EQ(accepted(server), expected);
  });
}

TEST_F(Client, AsksForWholeObjectsWhereAServerRefusesToLeaveOutTheirManagers) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string list = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})";
    server.on("GET", "/", answer::text(406, "text/html", "<html>not acceptable</html>"));
    server.always("GET", "/", answer::json(200, list));
    server.always("PATCH", "/", answer::json(200, pod));
    std::vector<errc> told;
    api.on_outcome([&](const fault* why) {
      if (why) told.push_back(why->code);
    });
    auto stream = co_await api.open_watch(resources::pods(), any_watch);
    EXPECT_TRUE(stream) << stream.error().message();
    const list_options all;
    auto page = co_await api.list(resources::pods(), all);
    EXPECT_TRUE(page) << page.error().message();
    (void)co_await api.merge_patch(resources::pods(), pod_a, json::object{});
    const std::string whole = "application/json";
    EXPECT_EQ(accepted(server), (std::vector<std::string>{whole + ";drop=metadata.managedFields",
                                                          whole, whole, whole}));
    EXPECT_TRUE(told.empty());
    server.on("GET", "/", answer::failure(406, "NotAcceptable", "no"));
    auto refused = co_await api.list(resources::pods(), all);
    EXPECT_FALSE(refused);
    EXPECT_EQ(server.requests().size(), 5u) << "what is refused without it as well is not repeated";
  });
}

TEST_F(Client, KeepsTheServersPathPrefix) {
  run(
      [](scripted_server& server, client& api) -> awaitable<void> {
        server.on("GET", "/clusters/7/version", answer::json(200, R"({"gitVersion":"v1"})"));
        auto got = co_await api.get_path("/version");
        EXPECT_TRUE(got);
      },
      [](connection& to) { to.server += "/clusters/7"; });
}

TEST_F(Client, SendsTheTokenOrTheBasicCredentials) {
  run(
      [](scripted_server& server, client& api) -> awaitable<void> {
        server.always("GET", "/", answer::json(200, pod));
        (void)co_await api.get_path("/version");
        EXPECT_EQ(server.requests().at(0).fields.get("Authorization"), "Bearer sesame");
      },
      [](connection& to) { to.token.bytes = reactor::secret("sesame"); });
  run(
      [](scripted_server& server, client& api) -> awaitable<void> {
        server.always("GET", "/", answer::json(200, pod));
        (void)co_await api.get_path("/version");
        EXPECT_EQ(server.requests().at(0).fields.get("Authorization"), "Basic am9lOnB3");
      },
      [](connection& to) {
        to.username = "joe";
        to.password = reactor::secret("pw");
      });
}

TEST_F(Client, NamesEachRefusalAfterWhatTheCallerDoesNext) {
  struct row {
    int status;
    const char* reason;
    errc expected;
  };
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const row table[] = {
        {400, "BadRequest", errc::invalid},
        {401, "Unauthorized", errc::unauthorized},
        {403, "Forbidden", errc::forbidden},
        {404, "NotFound", errc::not_found},
        {405, "MethodNotAllowed", errc::invalid},
        {409, "Conflict", errc::conflict},
        {409, "AlreadyExists", errc::exists},
        {410, "Expired", errc::gone},
        {413, "RequestEntityTooLarge", errc::invalid},
        {415, "UnsupportedMediaType", errc::invalid},
        {422, "Invalid", errc::invalid},
        {429, "TooManyRequests", errc::throttled},
        {500, "InternalError", errc::unavailable},
        {503, "ServiceUnavailable", errc::unavailable},
        {504, "Timeout", errc::unavailable},
    };
    for (const row& r : table) {
      server.on("GET", "/", answer::failure(r.status, r.reason, "because of \"this\""));
      auto got = co_await api.get(resources::pods(), pod_a);
      EXPECT_FALSE(got);
      EXPECT_EQ(got.error().code, r.expected) << r.status;
      EXPECT_EQ(got.error().http_status, r.status);
      EXPECT_EQ(got.error().reason, r.reason);
      EXPECT_EQ(got.error().message(), "get pods ns/a: because of \"this\"");
    }
  });
}

TEST_F(Client, ShowsNothingOfAnAnswerRaw) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string raw = "\x1b]0;owned\x07\r\nnext \u009b31m\u202e\x7f";
    server.on("GET", "/",
              answer::json(403, json::serialize(
                                    json::value{{"kind", "Status"},
                                                {"status", "Failure"},
                                                {"reason", raw},
                                                {"message", raw},
                                                {"details", {{"causes", {{{"message", raw}}}}}}})));
    auto got = co_await api.get(resources::pods(), pod_a);
    const std::string fit = "\\u001b]0;owned\\u0007  next \\u009b31m\\u202e\\u007f";
    EXPECT_EQ(got.error().detail, fit);
    EXPECT_EQ(got.error().reason, fit);
    EXPECT_EQ(got.error().causes.at(0).message, fit);
  });
}

TEST_F(Client, ReadsCausesAndHowLongToWait) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.on("POST", "/",
              answer::failure(422, "Invalid", "no",
                              R"({"causes":[{"reason":"FieldValueRequired",)"
                              R"("message":"Required value","field":"spec.x"}]})"));
    auto made = co_await api.create(resources::pods(), "ns", json::object{});
    EXPECT_EQ(made.error().causes.at(0).field, "spec.x");
    EXPECT_EQ(made.error().causes.at(0).reason, "FieldValueRequired");
    server.on("GET", "/",
              answer::failure(429, "TooManyRequests", "busy", R"({"retryAfterSeconds":3})"));
    auto got = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(got.error().retry_after, 3s);
    answer busy = answer::text(503, "text/plain", "starting up");
    busy.header("Retry-After", "7");
    server.on("GET", "/", busy);
    got = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(got.error().retry_after, 7s);
    EXPECT_EQ(got.error().message(), "get pods ns/a: the server answered 503");
  });
}

TEST_F(Client, QuotesNothingOfAFailureThatIsNoStatus) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    for (const int status : {400, 401, 403, 404, 409, 422, 429, 500, 503})
      for (const answer& of_a_stranger :
           {answer::text(status, "text/plain", "canary-5521"),
            answer::json(status, R"({"message":"canary-5521","kind":"Error"})"),
            answer::json(status, R"(["canary-5521"])"),
            answer::text(status, "text/html", "<html>canary-5521</html>")}) {
        server.on("GET", "/", of_a_stranger);
        auto got = co_await api.get(resources::pods(), pod_a);
        EXPECT_FALSE(got);
        if (got) continue;
        EXPECT_EQ(got.error().message().find("canary"), std::string::npos) << got.error().message();
      }
  });
}

TEST_F(Client, SaysThatAStrangerIsNoKubernetesServer) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string begin =
        "get /version: the server does not speak the Kubernetes API: it answered ";
    const std::pair<answer, std::string> table[] = {
        {answer::text(200, "text/html", "<html>hello</html>"),
         begin + "200 with a web page; is the server's address right?"},
        {answer::text(404, "text/html", "<html>nginx</html>"),
         begin + "404 with a web page; is the server's address right?"},
        {answer::text(302, "text/html", ""),
         begin + "302 with a redirect; is the server's address right?"},
        {answer::text(200, "text/plain", "SSH-2.0"), begin + "200 with something that is not JSON"},
        {answer::json(200, "{\"a\":1"), begin + "200 with something that is not JSON"},
    };
    for (const auto& [said, sentence] : table) {
      server.on("GET", "/", said);
      auto got = co_await api.get_path("/version");
      EXPECT_FALSE(got);
      EXPECT_EQ(got.error().code, errc::malformed);
      EXPECT_EQ(got.error().message(), sentence);
    }
    server.on("GET", "/", answer::raw("SSH-2.0-OpenSSH_9.2\r\n"));
    auto got = co_await api.get_path("/version");
    EXPECT_EQ(got.error().code, errc::malformed) << got.error().message();
    server.on("GET", "/", answer::json(200, R"({"hello":"world"})"));
    auto object = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(object.error().code, errc::malformed);
  });
}

TEST_F(Client, TakesNoPageForAWriteThatWentWell) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const answer strangers[] = {answer::text(200, "text/html", "<html>log in</html>"),
                                answer::text(200, "application/json", " <html>"),
                                answer::text(200, "text/plain", "OK"),
                                answer::text(200, "application/json", "")};
    for (const answer& a : strangers) {
      server.on("POST", "/", a);
      auto evicted = co_await api.evict(pod_a);
      EXPECT_EQ(evicted.error().code, errc::malformed);
      server.on("POST", "/", a);
      json::object body{{"spec", {{"x", 1}}}};
      auto created = co_await api.create_text(resources::pods(), "ns", body);
      EXPECT_EQ(created.error().code, errc::malformed);
      server.on("PATCH", "/", a);
      auto patched = co_await api.merge_patch_text(resources::pods(), pod_a, body);
      EXPECT_EQ(patched.error().code, errc::malformed);
      EXPECT_THAT(patched.error().message(),
                  testing::HasSubstr("does not speak the Kubernetes API"));
      server.on("DELETE", "/", a);
      auto gone = co_await api.remove(resources::pods(), pod_a);
      EXPECT_EQ(gone.error().code, errc::malformed);
    }
    // What failed has failed, whatever the status line says; a refusal is read as ever.
    server.on("POST", "/",
              answer::json(200, R"({"kind": "Status", "status": "Failure",)"
                                R"("message": "no", "code": 500})"));
    auto failed = co_await api.evict(pod_a);
    EXPECT_EQ(failed.error().code, errc::unavailable);
    server.on("PATCH", "/", answer::failure(409, "Conflict", "it has changed"));
    json::object body{{"spec", {{"x", 1}}}};
    auto refused = co_await api.merge_patch_text(resources::pods(), pod_a, body);
    EXPECT_EQ(refused.error().code, errc::conflict);
    server.on("PATCH", "/", answer::json(200, pod));
    auto good = co_await api.merge_patch_text(resources::pods(), pod_a, body,
                                              request_options().at("status").by("somebody"));
    EXPECT_EQ(*good, pod);
    EXPECT_EQ(server.requests().back().target,
              "/api/v1/namespaces/ns/pods/a/status?fieldManager=somebody");
  });
}

TEST_F(Client, TakesABalancersPageForWeather) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.on("GET", "/", answer::text(502, "text/html", "<html>Bad Gateway</html>"));
    auto got = co_await api.get_path("/version");
    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_EQ(got.error().message(), "get /version: the server answered 502");
    server.on("GET", "/", answer::text(404, "text/plain", "404 page not found\n"));
    got = co_await api.get_path("/apis/none/v1");
    EXPECT_EQ(got.error().code, errc::not_found);
  });
}

TEST_F(Client, WritesWithTheFieldManagerAndTheRightContentType) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("POST", "/", answer::json(201, pod));
    server.always("PATCH", "/", answer::json(200, pod));
    server.always("PUT", "/", answer::json(200, pod));
    const auto last = [&]() -> const scripted_server::received& {
      return server.requests().back();
    };

    json::object body{{"spec", {{"x", 1}}}};
    auto done1 = co_await api.create(resources::pods(), "ns", body);
    EXPECT_TRUE(done1);
    EXPECT_EQ(last().target, "/api/v1/namespaces/ns/pods?fieldManager=windlass");
    EXPECT_EQ(last().fields.get("Content-Type"), "application/json");
    EXPECT_EQ(last().body, R"({"spec":{"x":1},"apiVersion":"v1","kind":"Pod"})");

    auto done2 = co_await api.apply(resources::daemon_sets(), daemon_set_d, body);
    EXPECT_TRUE(done2);
    EXPECT_EQ(last().method, "PATCH");
    EXPECT_EQ(last().target,
              "/apis/apps/v1/namespaces/ns/daemonsets/d?fieldManager=windlass&force=true");
    EXPECT_EQ(last().fields.get("Content-Type"), "application/apply-patch+yaml");
    EXPECT_EQ(last().body, R"({"spec":{"x":1},"apiVersion":"apps/v1","kind":"DaemonSet",)"
                           R"("metadata":{"name":"d","namespace":"ns"}})");
    auto done3 =
        co_await api.apply(resources::nodes(), node_n, body,
                           request_options().at("status").on_conflict(apply_conflicts::fail));
    EXPECT_TRUE(done3);
    EXPECT_EQ(last().target, "/api/v1/nodes/n/status?fieldManager=windlass");

    json::object patch{{"status", {{"phase", "Ready"}}}};
    auto done4 =
        co_await api.merge_patch(resources::nodes(), node_n, patch, request_options().at("status"));
    EXPECT_TRUE(done4);
    EXPECT_EQ(last().target, "/api/v1/nodes/n/status?fieldManager=windlass");
    EXPECT_EQ(last().fields.get("Content-Type"), "application/merge-patch+json");
    EXPECT_EQ(last().body, R"({"status":{"phase":"Ready"}})");

    auto done5 = co_await api.replace(resources::leases(), lease_l, body);
    EXPECT_TRUE(done5);
    EXPECT_EQ(last().method, "PUT");
    EXPECT_EQ(last().target,
              "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l?fieldManager=windlass");
  });
}

TEST_F(Client, DeletesWithPreconditions) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("DELETE", "/", answer::json(200, R"({"kind":"Status","status":"Success"})"));
    delete_options options;
    options.uid = "u1";
    options.resource_version = "7";
    options.grace_period_seconds = 0;
    options.propagation = "Foreground";
    auto gone = co_await api.remove(resources::pods(), pod_a, options);
    EXPECT_TRUE(gone);
    EXPECT_EQ(server.requests().at(0).body,
              R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1",)"
              R"("resourceVersion":"7"},"gracePeriodSeconds":0,"propagationPolicy":"Foreground"})");
    gone = co_await api.remove(resources::pods(), pod_a);
    EXPECT_TRUE(gone);
    EXPECT_EQ(server.requests().at(1).body, R"({"kind":"DeleteOptions","apiVersion":"v1"})");
  });
}

TEST_F(Client, EvictsAndKeepsGoingWhenABudgetForbids) {
  run([this](scripted_server& server, client& api) -> awaitable<void> {
    server.on("POST", "/api/v1/namespaces/ns/pods/a/eviction",
              answer::json(201, R"({"kind":"Status","status":"Success"})"));
    auto done = co_await api.evict(pod_a, "u1");
    EXPECT_TRUE(done);
    EXPECT_EQ(
        server.requests().at(0).body,
        R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a","namespace":"ns"},)"
        R"("deleteOptions":{"preconditions":{"uid":"u1"}}})");
    server.on("POST", "/",
              answer::failure(429, "TooManyRequests", "budget",
                              R"({"causes":[{"reason":"DisruptionBudget"}]})"));
    done = co_await api.evict(pod_a);
    EXPECT_EQ(done.error().code, errc::throttled);
    EXPECT_EQ(done.error().causes.at(0).reason, "DisruptionBudget");
    const auto before = l.now();
    server.on("GET", "/", answer::json(200, pod));
    auto done6 = co_await api.get(resources::pods(), pod_a);
    EXPECT_TRUE(done6);
    EXPECT_LT(l.now() - before, 100ms);
  });
}

TEST_F(Client, WaitsAsLongAsAThrottlingServerAsks) {
  run([this](scripted_server& server, client& api) -> awaitable<void> {
    server.on("GET", "/",
              answer::failure(429, "TooManyRequests", "busy", R"({"retryAfterSeconds":4})"));
    server.always("GET", "/", answer::json(200, pod));
    const double pace = api.rate();
    auto done7 = co_await api.get(resources::pods(), pod_a);
    EXPECT_FALSE(done7);
    const auto before = l.now();
    auto done8 = co_await api.get(resources::pods(), pod_a);
    EXPECT_TRUE(done8);
    EXPECT_GE(l.now() - before, 4s);
    EXPECT_LT(l.now() - before, 6s);
    EXPECT_LT(api.rate(), pace);
  });
}

TEST_F(Client, AsksFasterWhileTheServerAnswersWellAndSlowerAfterA429) {
  run([this](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/",
                  answer::json(200, pod).header("X-Kubernetes-PF-PriorityLevel-UID", "u"));
    const auto before = l.now();
    std::function<awaitable<void>(std::size_t)> ask = [&](std::size_t) -> awaitable<void> {
      auto got = co_await api.get(resources::pods(), pod_a);
      EXPECT_TRUE(got);
    };
    co_await reactor::side_by_side(4'000, ask, 50);
    EXPECT_LT(l.now() - before, 4s) << "at 400 a second it were nine";
    const double grown = api.rate();
    EXPECT_GE(grown, 1'600);
    server.on("GET", "/",
              answer::failure(429, "TooManyRequests", "busy", R"({"retryAfterSeconds":2})"));
    auto busy = co_await api.get(resources::pods(), pod_a);
    EXPECT_FALSE(busy);
    EXPECT_EQ(api.rate(), grown / 2);
    EXPECT_EQ(api.paused_until() - l.now(), 2s);
  });
}

TEST_F(Client, AsksForPagesAndWatches) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, R"({"kind":"PodList","items":[]})"));
    list_options list;
    list.ns = "ns";
    list.label_selector = "a=b,c in (d)";
    list.field_selector = "spec.nodeName=n";
    list.resource_version = "5";
    list.resource_version_match = "NotOlderThan";
    auto done9 = co_await api.list(resources::pods(), list);
    EXPECT_TRUE(done9);
    EXPECT_EQ(
        server.requests().back().target,
        "/api/v1/namespaces/ns/pods?limit=500&labelSelector=a%3Db%2Cc%20in%20%28d%29&"
        "fieldSelector=spec.nodeName%3Dn&resourceVersion=5&resourceVersionMatch=NotOlderThan");
    list.continue_token = "t/1";
    auto done10 = co_await api.open_list(resources::pods(), list);
    EXPECT_TRUE(done10);
    EXPECT_EQ(server.requests().back().target,
              "/api/v1/namespaces/ns/"
              "pods?limit=500&continue=t%2F1&labelSelector=a%3Db%2Cc%20in%20%28d%29&"
              "fieldSelector=spec.nodeName%3Dn");
    watch_options watch;
    watch.resource_version = "9";
    watch.timeout = 300s;
    auto done11 = co_await api.open_watch(resources::nodes(), watch);
    EXPECT_TRUE(done11);
    EXPECT_EQ(
        server.requests().back().target,
        "/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=300");
    watch.send_initial_events = true;
    watch.bookmarks = false;
    auto done12 = co_await api.open_watch(resources::nodes(), watch);
    EXPECT_TRUE(done12);
    EXPECT_EQ(server.requests().back().target,
              "/api/v1/nodes?watch=true&resourceVersion=9&sendInitialEvents=true&"
              "resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
  });
}

TEST_F(Client, AsksForCompressedListsAndNothingElse) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string list =
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]})";
    server.always("GET", "/api/v1/pods?limit",
                  answer::json(200, tests::gzip(list)).header("Content-Encoding", "gzip"));
    server.always("GET", "/api/v1/pods?watch", answer::stream());
    server.always("GET", "/version", answer::json(200, pod));
    list_options all;
    auto whole = co_await api.list(resources::pods(), all);
    EXPECT_TRUE(whole) << whole.error().message();
    EXPECT_EQ(whole->at("kind"), "PodList");
    list_options options;
    auto opened = co_await api.open_list(resources::pods(), options);
    EXPECT_TRUE(opened);
    auto text = co_await reactor::http::read_body(*opened, 1'000, 1s);
    EXPECT_EQ(*text, list);
    watch_options watch;
    (void)co_await api.open_watch(resources::pods(), watch);
    (void)co_await api.get_path("/version");
    std::vector<std::string> asked;
    for (const auto& r : server.requests()) asked.emplace_back(r.fields.get("Accept-Encoding"));
    EXPECT_EQ(asked, (std::vector<std::string>{"gzip", "gzip", "", ""}));
  });
}

TEST_F(Client, RefusesACompressedAnswerThatIsBroken) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/",
                  answer::json(200, "no gzip at all").header("Content-Encoding", "gzip"));
    list_options all;
    auto whole = co_await api.list(resources::pods(), all);
    EXPECT_EQ(whole.error().code, errc::malformed);
    EXPECT_NE(whole.error().message().find("decompress"), std::string::npos)
        << whole.error().message();
  });
}

TEST_F(Client, HandsOutAWatchPieceByPiece) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.on("GET", "/api/v1/pods?watch",
              answer::stream().piece("one\n").piece("two\n", 3s).stay_open());
    auto opened = co_await api.open_watch(resources::pods(), any_watch);
    EXPECT_TRUE(opened);
    std::string all;
    while (all.size() < 8) {
      auto piece = co_await (*opened)->read(10s);
      EXPECT_TRUE(piece);
      if (!piece) co_return;
      all += *piece;
    }
    EXPECT_EQ(server.open_streams(), 1u);
    server.push("/api/v1/pods", "three\n");
    server.end("/api/v1/pods");
    for (;;) {
      auto piece = co_await (*opened)->read(10s);
      EXPECT_TRUE(piece) << piece.error().message();
      if (!piece || piece->empty()) break;
      all += *piece;
    }
    EXPECT_EQ(all, "one\ntwo\nthree\n");
    opened->reset();
  });
}

TEST_F(Client, ReadsWhyAWatchWasRefused) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.on("GET", "/", answer::failure(410, "Expired", "too old resource version"));
    auto opened = co_await api.open_watch(resources::pods(), any_watch);
    EXPECT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::gone);
    EXPECT_EQ(opened.error().message(), "watch pods: too old resource version");
    server.on("GET", "/", answer::text(200, "text/html", "<html>"));
    opened = co_await api.open_watch(resources::pods(), any_watch);
    EXPECT_EQ(opened.error().code, errc::malformed);
    server.on("GET", "/", answer::text(200, "text/plain", "1"));
    opened = co_await api.open_watch(resources::pods(), any_watch);
    EXPECT_EQ(opened.error().code, errc::malformed);
  });
}

TEST_F(Client, GivesUpOnASilentServerAfterThirtySeconds) {
  run([this](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/", answer::silence());
    const auto before = l.now();
    auto got = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_NE(got.error().message().find("timed out"), std::string::npos) << got.error().message();
    EXPECT_NEAR(std::chrono::duration<double>(l.now() - before).count(), 30, 0.1);
    auto quick = co_await api.get_path("/version", 5s);
    EXPECT_FALSE(quick);
    EXPECT_NEAR(std::chrono::duration<double>(l.now() - before).count(), 35, 0.2);
  });
}

TEST_F(Client, GivesUpConnectingAfterFiveSeconds) {
  run([this](scripted_server&, client& api) -> awaitable<void> {
    net().set_reach("api", memory_network::reach::blackhole);
    const auto before = l.now();
    auto got = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(got.error().code, errc::unavailable) << got.error().message();
    EXPECT_NEAR(std::chrono::duration<double>(l.now() - before).count(), 5, 0.1);
    net().set_reach("api", memory_network::reach::refused);
    got = co_await api.get(resources::pods(), pod_a);
    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_NE(got.error().message().find("api:6443"), std::string::npos) << got.error().message();
    net().set_reach("api", memory_network::reach::open);
  });
}

TEST_F(Client, ReadsARotatedTokenAgain) {
  reactor::temporary_folder dir;
  const std::string path = dir.write("token", "old");
  run(
      [&](scripted_server& server, client& api) -> awaitable<void> {
        server.otherwise([](const scripted_server::received& r) {
          return r.fields.get("Authorization") == "Bearer new"
                     ? answer::json(200, pod)
                     : answer::failure(401, "Unauthorized", "Unauthorized");
        });
        auto got = co_await api.get(resources::pods(), pod_a);
        EXPECT_EQ(got.error().code, errc::unauthorized);
        EXPECT_EQ(server.requests().size(), 1u);  // nothing changed: no second attempt
        dir.write("token", "new\n");
        got = co_await api.get(resources::pods(), pod_a);  // 401 makes it look at once
        EXPECT_TRUE(got) << got.error().message();
        EXPECT_EQ(server.requests().size(), 3u);
        dir.write("token", "newest\n");
        co_await l.sleep_for(11s);
        got = co_await api.get(resources::pods(), pod_a);  // due: read before it is sent
        EXPECT_EQ(server.requests().back().fields.get("Authorization"), "Bearer newest");
        dir.write("token", "");
        co_await l.sleep_for(11s);
        got = co_await api.get(resources::pods(), pod_a);  // an empty file changes nothing
        EXPECT_EQ(server.requests().back().fields.get("Authorization"), "Bearer newest");
      },
      [&](connection& to) { to.token = {reactor::secret("old"), path}; });
}

TEST_F(Client, NamesAnExpiredCertificateWhenItIsRefused) {
  const long now =
      std::chrono::duration_cast<std::chrono::seconds>(l.wall().time_since_epoch()).count();
  const pem_pair expired = make_pem_pair("a", now, -10, -1);
  run(
      [](scripted_server& server, client& api) -> awaitable<void> {
        server.on("GET", "/", answer::failure(401, "Unauthorized", "Unauthorized"));
        auto got = co_await api.get(resources::pods(), pod_a);
        EXPECT_NE(got.error().message().find("; the client certificate expired at "),
                  std::string::npos)
            << got.error().message();
      },
      [&](connection& to) {
        to.certificate.bytes = reactor::secret(expired.certificate);
        to.key.bytes = reactor::secret(expired.key);
      });
}

TEST_F(Client, TellsTheWarningsOfTheServer) {
  std::vector<std::string> told;
  reactor::run_task(l, [&]() -> awaitable<void> {
    scripted_server server(l);
    server.always("GET", "/version",
                  answer::json(200, R"({"major":"1"})").header("Warning", "299 - \"deprecated\""));
    server.always("GET", "/api",
                  answer::failure(404, "NotFound", "none").header("Warning", "299 - \"refused\""));
    client api(l, server.to());
    (void)co_await api.get_path("/version");
    api.on_warning([&](const std::string& text) { told.push_back(text); });
    (void)co_await api.get_path("/version");
    (void)co_await api.get_path("/api");
    co_await api.stop();
    co_await server.stop();
  });
  EXPECT_EQ(told, (std::vector<std::string>{"deprecated", "refused"}));
}

TEST_F(Client, GoesThroughTheProxyOfTheKubeconfig) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    scripted_server proxy(l, {"proxy", 3128});
    proxy.always("GET", "http://api:6443/version", answer::json(200, R"({"major":"1"})"));
    connection to;
    to.server = "http://api:6443";
    to.proxy_url = reactor::secret("http://joe:pw@proxy:3128");
    client api(l, to);
    auto got = co_await api.get_path("/version");
    EXPECT_TRUE(got) << got.error().message();
    EXPECT_EQ(proxy.requests().at(0).fields.get("Proxy-Authorization"), "Basic am9lOnB3");
    co_await api.stop();
    co_await proxy.stop();
    client late(l, to);
    got = co_await late.get_path("/version");
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error().message().find("pw@"), std::string::npos) << got.error().message();
    co_await late.stop();
  });
}

/// Reads, writes and watches: a conversation to be broken anywhere.
awaitable<void> talk(client& api, std::vector<fault>& failures) {  // borrowed
  const auto keep = [&](const auto& r) {
    if (!r) failures.push_back(r.error());
  };
  auto got = co_await api.get(resources::pods(), pod_a);
  keep(got);
  json::object body{{"spec", {{"x", 1}}}};
  auto made = co_await api.create(resources::pods(), "ns", std::move(body));
  keep(made);
  auto opened = co_await api.open_watch(resources::pods(), any_watch);
  keep(opened);
  if (!opened) co_return;
  for (;;) {
    auto piece = co_await (*opened)->read(10s);
    if (!piece) failures.push_back(from_transport(piece.error(), "read"));
    if (!piece || piece->empty()) co_return;
  }
}

void script(scripted_server& server) {
  server.always("GET", "/api/v1/namespaces", answer::json(200, pod));
  server.always("POST", "/", answer::json(201, pod));
  server.always("GET", "/api/v1/pods?watch", answer::stream().piece("one\n").piece("two\n"));
}

TEST_F(Client, SurvivesAServerThatClosesAtAnyByte) {
  std::size_t broken = 0, whole = 0;
  for (const auto ending :
       {reactor::link_faults::ending::reset, reactor::link_faults::ending::end_of_stream}) {
    whole = 0;
    for (std::size_t cut = 0; whole < 3; ++cut) {
      net().faults("api").cut_as = ending;
      net().faults("api").cut_to_client_after_bytes = cut;
      std::vector<fault> failures;
      run([&](scripted_server& server, client& api) -> awaitable<void> {
        script(server);
        co_await talk(api, failures);
      });
      for (const fault& f : failures) {
        EXPECT_TRUE(f.code == errc::unavailable || f.code == errc::malformed) << f.message();
        EXPECT_FALSE(f.cancelled);
      }
      EXPECT_EQ(l.live(), reactor::nothing_live) << cut;
      failures.empty() ? ++whole : ++broken;
      ASSERT_LT(cut, 4'000u);
    }
  }
  EXPECT_GT(broken, 300u);
}

TEST_F(Client, EndsCleanlyWhereverItIsCancelled) {
  net().faults("api").latency = 1ms;
  bool ended = false;
  int cancelled = 0;
  for (int step = 0; !ended; ++step) {
    run([&](scripted_server& server, client& api) -> awaitable<void> {
      script(server);
      reactor::task_group tasks(l);
      std::vector<fault> failures;
      tasks.start("talk", [&]() -> awaitable<void> {
        co_await talk(api, failures);
        ended = true;
      });
      co_await l.sleep_for(step * 250us);
      cancelled += !ended;
      co_await tasks.cancel_and_join();
      for (const fault& f : failures) EXPECT_TRUE(f.cancelled) << f.message();
    });
    ASSERT_EQ(l.live(), reactor::nothing_live) << step;
    ASSERT_LT(step, 1'000);
  }
  EXPECT_GT(cancelled, 20);
}

TEST_F(Client, VerifiesTheServersCertificate) {
  const long now =
      std::chrono::duration_cast<std::chrono::seconds>(l.wall().time_since_epoch()).count();
  const pem_pair right = make_pem_pair("api", now, -1, 1), wrong = make_pem_pair("api", now, -1, 1);
  reactor::run_task(l, [&]() -> awaitable<void> {
    reactor::http::server_options options;
    options.at = {"api", 6443};
    options.tls = std::make_unique<reactor::http::server_tls>();
    options.tls->certificate_pem = right.certificate;
    options.tls->key_pem = right.key;
    reactor::http::server server(
        l, std::move(options),
        [](reactor::http::request, reactor::http::responder& to) -> awaitable<void> {
          reactor::http::response r;
          r.fields.add("Content-Type", "application/json");
          r.body = R"({"major":"1"})";
          (void)co_await to.send(std::move(r));
        });
    EXPECT_TRUE(server.start());
    connection to;
    to.server = "https://api:6443";
    to.ca.bytes = reactor::secret(wrong.certificate);
    {
      client api(l, to);
      auto got = co_await api.get_path("/version");
      EXPECT_FALSE(got);
      EXPECT_EQ(got.error().code, errc::unavailable);
      EXPECT_NE(got.error().message().find("certificate"), std::string::npos)
          << got.error().message();
      co_await api.stop();
    }
    to.ca.bytes = reactor::secret(right.certificate);
    {
      client api(l, to);
      auto got = co_await api.get_path("/version");
      EXPECT_TRUE(got) << got.error().message();
      co_await api.stop();
    }
    to.ca = {};
    to.insecure = true;
    {
      client api(l, to);
      auto got = co_await api.get_path("/version");
      EXPECT_TRUE(got) << got.error().message();
      co_await api.stop();
    }
    co_await server.stop();
  });
}

}  // namespace
}  // namespace k8s
