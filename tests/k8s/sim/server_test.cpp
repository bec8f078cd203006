#include "k8s/sim/server.hpp"

#include "k8s/sim/subscription.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

using reactor::awaitable;
using namespace std::chrono_literals;

struct world {
  reactor::loop loop{reactor::loop::mode::simulated, 1};
  api_server api{options_on(loop)};
  server front{loop, {{"api", 6443}, nullptr}};

  /// Runs `body` with a client of the server and stops everything after it.
  void run(std::function<awaitable<void>(reactor::http::client&)> body) {
    front.add(api);
    ASSERT_TRUE(front.start().has_value());
    reactor::http::client_options o;
    o.origin = {false, "api", 6443};
    reactor::http::client client(loop, std::move(o));
    reactor::task_group tasks(loop);
    bool finished = false;
    auto all = [&]() -> awaitable<void> {
      co_await body(client);
      co_await client.stop();
      co_await front.stop();
      finished = true;
    };
    tasks.start("test", std::function<awaitable<void>()>(all));
    loop.run();
    EXPECT_TRUE(finished);
  }
};

reactor::http::request make(std::string method, std::string target, std::string body = {}) {
  reactor::http::request r;
  r.method = std::move(method);
  r.target = std::move(target);
  if (!body.empty()) r.fields.add("Content-Type", "application/json");
  r.body = std::move(body);
  return r;
}

constexpr std::string_view kConfigMap =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})";

TEST(SimServer, AnswersOverTheInMemoryNetwork) {
  world w;
  w.run([](reactor::http::client& client) -> awaitable<void> {
    auto request = make("POST", "/api/v1/namespaces/default/configmaps", std::string(kConfigMap));
    auto created = co_await client.fetch(std::move(request));
    EXPECT_TRUE(created && created->status == 201);
    auto again = make("GET", "/api/v1/namespaces/default/configmaps/a");
    auto read = co_await client.fetch(std::move(again));
    EXPECT_TRUE(read && read->body.find("\"k\":\"v\"") != std::string::npos);
  });
}

TEST(SimServer, StreamsAWatchUntilItsTimeout) {
  world w;
  w.run([&w](reactor::http::client& client) -> awaitable<void> {
    auto request = make(
        "GET", "/api/v1/configmaps?watch=1&resourceVersion=" + std::to_string(w.api.revision()) +
                   "&timeoutSeconds=5&allowWatchBookmarks=true");
    auto opened = co_await client.send(std::move(request));
    EXPECT_TRUE(opened.has_value());
    if (!opened) co_return;
    w.api.put(
        boost::json::parse(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}})")
            .as_object());
    auto body = co_await reactor::http::read_body(*opened, 100'000, 60s);
    EXPECT_TRUE(body.has_value());
    if (!body) co_return;
    EXPECT_NE(body->find("ADDED"), std::string::npos);
    EXPECT_NE(body->find("BOOKMARK"), std::string::npos);
  });
}

TEST(SimServer, ServesSeveralClustersBehindPrefixes) {
  world w;
  api_server other(options_on(w.loop));
  w.front.add(other, "/clusters/b");
  w.run([&](reactor::http::client& client) -> awaitable<void> {
    auto request =
        make("POST", "/clusters/b/api/v1/namespaces/default/configmaps", std::string(kConfigMap));
    auto created = co_await client.fetch(std::move(request));
    EXPECT_TRUE(created && created->status == 201);
  });
  w.front.remove("/clusters/b");
  EXPECT_TRUE(other.get("", "configmaps", "default", "a"));
  EXPECT_FALSE(w.api.get("", "configmaps", "default", "a"));
}

TEST(SimServer, LosesAnswersOnDemand) {
  world w;
  w.run([&](reactor::http::client& client) -> awaitable<void> {
    w.api.after = [](const request& r, answer& a) { a.drop = r.method == "POST"; };
    auto request = make("POST", "/api/v1/namespaces/default/configmaps", std::string(kConfigMap));
    auto created = co_await client.fetch(std::move(request));
    EXPECT_FALSE(created.has_value()) << "the connection ends without an answer";
    EXPECT_TRUE(w.api.get("", "configmaps", "default", "a")) << "but the write happened";
    auto again = make("GET", "/api/v1/namespaces/default/configmaps/a");
    auto read = co_await client.fetch(std::move(again));
    EXPECT_TRUE(read && read->status == 200);
  });
}

TEST(SimServer, AnswersLateOnDemand) {
  world w;
  w.run([&](reactor::http::client& client) -> awaitable<void> {
    w.api.after = [](const request&, answer& a) { a.delay = 7s; };
    auto request = make("GET", "/version");
    auto read = co_await client.fetch(std::move(request));
    EXPECT_TRUE(read && read->status == 200);
    EXPECT_GE(w.loop.now().time_since_epoch(), 7s);
  });
}

TEST(SimServer, HoldsRequestsWhileFrozen) {
  world w;
  w.run([&](reactor::http::client& client) -> awaitable<void> {
    w.api.freeze(true);
    w.loop.timers().arm(w.loop.now() + 3s, [&] { w.api.freeze(false); });
    auto request = make("GET", "/version");
    auto read = co_await client.fetch(std::move(request));
    EXPECT_TRUE(read && read->status == 200);
    EXPECT_GE(w.loop.now().time_since_epoch(), 3s);
  });
}

TEST(SimServer, EndsTerminatingPodsInTime) {
  world w;
  api_options o = options_on(w.loop);
  o.pod_termination = 2s;
  api_server api(std::move(o));
  w.front.add(api, "/x");
  w.run([&](reactor::http::client& client) -> awaitable<void> {
    api.put(
        boost::json::parse(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})")
            .as_object());
    auto request = make("DELETE", "/x/api/v1/namespaces/default/pods/p");
    auto deleted = co_await client.fetch(std::move(request));
    EXPECT_TRUE(deleted && deleted->status == 200);
    EXPECT_TRUE(api.get("", "pods", "default", "p"));
    co_await w.loop.sleep_for(3s);
    EXPECT_FALSE(api.get("", "pods", "default", "p"));
  });
  w.front.remove("/x");
}

}  // namespace
}  // namespace k8s::sim
