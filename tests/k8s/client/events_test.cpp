#include "k8s/client/events.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/condition.hpp"
#include "k8s/client/discovery.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::loop;

class Events : public testing::Test {
protected:
  using body =
      std::function<awaitable<void>(scripted_server& server, client& api, event_recorder& events)>;
  void run(body f, event_options options = {}) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      server.always("POST", "/apis/events.k8s.io/v1/", answer::json(201, R"({"kind":"Event"})"));
      server.always("PATCH", "/apis/events.k8s.io/v1/", answer::json(200, R"({"kind":"Event"})"));
      client api(l, server.to());
      auto sink = std::make_shared<reactor::log_capture>();
      log = sink;
      event_recorder events(l, api, options, reactor::logger([this] { return l.wall(); }, sink));
      co_await f(server, api, events);
      co_await events.stop();
      co_await api.stop();
      co_await server.stop();
    });
  }
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  static event_note note(std::string text, event_severity type = event_severity::normal) {
    event_note n;
    n.regarding = {"v1", "Secret", "ns", "a", "u1"};
    n.type = type;
    n.reason = "ClusterEngaged";
    n.note = std::move(text);
    return n;
  }
  static json::object sent(const scripted_server& server, std::size_t i) {
    return json::parse(server.requests().at(i).body).as_object();
  }
  loop l{loop::mode::simulated, 3};
  std::shared_ptr<reactor::log_capture> log;
};

TEST_F(Events, WritesWhatTheApiAsksFor) {
  run([&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
    events.record(note("hello"));
    const bool done = co_await events.flush(l.now() + 5s);
    EXPECT_TRUE(done);
    EXPECT_TRUE(
        server.requests().at(0).target.starts_with("/apis/events.k8s.io/v1/namespaces/ns/events?"));
    const json::object e = sent(server, 0);
    EXPECT_EQ(e.at("kind"), "Event");
    EXPECT_EQ(e.at("apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(e.at("reason"), "ClusterEngaged");
    EXPECT_EQ(e.at("action"), "ClusterEngaged");
    EXPECT_EQ(e.at("type"), "Normal");
    EXPECT_EQ(e.at("note"), "hello");
    EXPECT_EQ(e.at("reportingController"), "windlass");
    EXPECT_FALSE(e.at("reportingInstance").as_string().empty());
    EXPECT_EQ(json::serialize(e.at("regarding")),
              R"({"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"a","uid":"u1"})");
    EXPECT_FALSE(e.contains("series"));
    event_note cluster_scoped = note("x");
    cluster_scoped.regarding = {"v1", "Node", "", "n", "u2"};
    events.record(cluster_scoped);
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(sent(server, 1).at("metadata").at("namespace"), "default");
  });
}

TEST_F(Events, CountsRepetitionsInsteadOfWritingThemAgain) {
  run([&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
    events.record(note("again"));
    (void)co_await events.flush(l.now() + 5s);
    for (int i = 0; i < 9; ++i) events.record(note("again"));
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(server.count("POST", "/"), 1u);
    EXPECT_EQ(server.count("PATCH", "/"), 1u);
    EXPECT_EQ(sent(server, 1).at("series").at("count"), 10);
    co_await l.sleep_for(11min);
    events.record(note("again"));
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(server.count("POST", "/"), 2u);
    server.on("PATCH", "/", answer::failure(404, "NotFound", "expired"));
    events.record(note("again"));
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(server.count("POST", "/"), 3u);
  });
}

TEST_F(Events, AreWrittenInTheFormOfTheCoreApiToo) {
  run([&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
    server.always("POST", "/api/v1/", answer::json(201, R"({"kind":"Event"})"));
    server.always("PATCH", "/api/v1/", answer::json(200, R"({"kind":"Event"})"));
    event_note n = note("hello");
    n.form = event_form::core_v1;
    n.reporter = "example.com/toys";
    n.component = "toys";
    events.record(n);
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_TRUE(server.requests().at(0).target.starts_with("/api/v1/namespaces/ns/events?"));
    const json::object e = sent(server, 0);
    EXPECT_EQ(e.at("apiVersion"), "v1");
    EXPECT_EQ(e.at("message"), "hello");
    EXPECT_EQ(e.at("involvedObject").at("uid"), "u1");
    EXPECT_EQ(e.at("source").at("component"), "toys");
    EXPECT_EQ(e.at("reportingComponent"), "example.com/toys");
    EXPECT_EQ(e.at("count"), 1);
    EXPECT_FALSE(e.contains("note") || e.contains("regarding") || e.contains("series"));
    EXPECT_EQ(e.at("metadata").at("name").as_string().find("a."), 0u);
    events.record(n);
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(server.count("POST", "/"), 1u);
    EXPECT_EQ(sent(server, 1).at("count"), 2);
    EXPECT_TRUE(sent(server, 1).contains("lastTimestamp"));
  });
}

TEST_F(Events, AreForgottenWhenNothingCanRepeatThemAnyMore) {
  run([&](scripted_server&, client&, event_recorder& events) -> awaitable<void> {
    for (int i = 0; i < 1'000; ++i) {
      events.record(note("credentials " + std::to_string(i)));
      co_await l.sleep_for(1min);
    }
    EXPECT_LE(events.remembered(), 22u);  // of two windows
  });
}

TEST_F(Events, KeepsTheRateAndTheWarnings) {
  event_options options;
  options.queue_limit = 20;
  run(
      [&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
        for (int i = 0; i < 10; ++i)
          events.record(note("w" + std::to_string(i), event_severity::warning));
        for (int i = 0; i < 200; ++i) events.record(note("n" + std::to_string(i)));
        EXPECT_EQ(events.queued(), 20u);
        EXPECT_EQ(events.dropped(), 190u);
        (void)co_await events.flush(l.now() + 60s);
        int warnings = 0;
        for (std::size_t i = 0; i < server.requests().size(); ++i) {
          warnings += sent(server, i).at("type") == "Warning";
        }
        EXPECT_EQ(warnings, 10);
        EXPECT_EQ(server.requests().size(), 20u);
      },
      options);
  options.queue_limit = 1'000;
  run(
      [&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
        for (int i = 0; i < 100; ++i) events.record(note(std::to_string(i)));
        co_await l.sleep_for(1s);
        EXPECT_NEAR(static_cast<double>(server.requests().size()), 55, 2);
        (void)co_await events.flush(l.now() + 60s);
        EXPECT_EQ(server.requests().size(), 100u);
      },
      options);
}

TEST_F(Events, OnlyLogsWhatFails) {
  run([&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
    server.on("POST", "/", answer::failure(403, "Forbidden", "events is forbidden"));
    events.record(note("x"));
    (void)co_await events.flush(l.now() + 5s);
    EXPECT_EQ(server.requests().size(), 1u);
    EXPECT_EQ(log->count("event create failed"), 1u);
    server.on("POST", "/", answer::failure(503, "ServiceUnavailable", "soon"));
    events.record(note("y"));
    (void)co_await events.flush(l.now() + 30s);
    EXPECT_EQ(server.requests().size(), 3u);
    EXPECT_EQ(log->count("event create failed"), 1u);
  });
}

TEST_F(Events, ShowNothingRawAndNoCredential) {
  run([&](scripted_server& server, client&, event_recorder& events) -> awaitable<void> {
    event_note n = note("it said\n\x1b]0;owned\x07 \u202ex https://u:hunter22@proxy");
    n.reason = "A\x1b[2J";
    events.record(n);
    const bool done = co_await events.flush(l.now() + 5s);
    EXPECT_TRUE(done);
    const json::object e = sent(server, 0);
    EXPECT_EQ(e.at("note"), "it said \\u001b]0;owned\\u0007 \\u202ex https://***@proxy");
    EXPECT_EQ(e.at("reason"), "A\\u001b[2J");
    EXPECT_EQ(e.at("action"), "A\\u001b[2J");
  });
}

TEST(Conditions, QuoteNothingRaw) {
  std::vector<condition> all;
  condition c;
  c.type = "Degraded";
  c.message = "line\nnext\x1b[2J\u009b";
  EXPECT_TRUE(set_condition(all, c, {}));
  EXPECT_EQ(all[0].message, "line\nnext\\u001b[2J\\u009b");
}

TEST(CutUtf8, NeverCutsACharacter) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abcdef", 5), "ab...");
  EXPECT_EQ(cut_utf8("a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 7), "a\xc3\xa9...");
  EXPECT_EQ(cut_utf8("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 6), "...");
  const std::string cut = cut_utf8(std::string(3'000, 'x'), 1'024);
  EXPECT_EQ(cut.size(), 1'024u);
  EXPECT_TRUE(cut.ends_with("..."));
}

TEST(Conditions, MoveTheTimeOnlyWithTheStatus) {
  const auto at = [](int s) { return reactor::wall_time(std::chrono::seconds(s)); };
  std::vector<condition> all;
  condition c;
  c.type = "Ready";
  c.status = "False";
  c.reason = "Waiting";
  EXPECT_TRUE(set_condition(all, c, at(10)));
  EXPECT_FALSE(set_condition(all, c, at(20)));
  EXPECT_EQ(all[0].last_transition_time, "1970-01-01T00:00:10Z");
  c.message = "for nodes";
  EXPECT_TRUE(set_condition(all, c, at(30)));
  EXPECT_EQ(all[0].last_transition_time, "1970-01-01T00:00:10Z");
  c.status = "True";
  EXPECT_TRUE(set_condition(all, c, at(40)));
  EXPECT_EQ(all[0].last_transition_time, "1970-01-01T00:00:40Z");
  EXPECT_TRUE(find_condition(all, "Ready")->is_true());
  const auto text = json::serialize(conditions_to_json(all));
  EXPECT_EQ(text, R"([{"type":"Ready","status":"True","reason":"Waiting","message":"for nodes",)"
                  R"("lastTransitionTime":"1970-01-01T00:00:40Z"}])");
  auto back = conditions_from_json(json::parse(text));
  EXPECT_EQ(back, all);
  const auto parsed = shared_parser().parse(text);
  EXPECT_EQ(parse_conditions(*parsed), all);
  EXPECT_TRUE(conditions_from_json(json::parse(R"([1,{"status":"True"},{"type":"A"}])")).size() ==
              1);
  EXPECT_TRUE(conditions_from_json(json::value(5)).empty());
}

TEST(Conditions, CutMessagesOnACharacter) {
  std::vector<condition> all;
  condition c;
  c.type = "Ready";
  c.message = std::string(32'766, 'x') + "äöü";
  set_condition(all, c, {});
  EXPECT_LE(all[0].message.size(), 32'768u);
  EXPECT_TRUE(all[0].message.ends_with("x..."));
  EXPECT_FALSE(set_condition(all, c, {})) << "the same long message again is no change";
}

TEST(Discovery, KnowsWhichResourcesAServerHas) {
  loop l{loop::mode::simulated, 3};
  reactor::run_task(l, [&]() -> awaitable<void> {
    scripted_server server(l);
    server.always("GET", "/version",
                  answer::json(200, R"({"major":"1","minor":"31+","gitVersion":"v1.31.2"})"));
    server.always("GET", "/api", answer::json(200, R"({"kind":"APIVersions","versions":["v1"]})"));
    server.always(
        "GET", "/apis",
        answer::json(200, R"({"kind":"APIGroupList","groups":[{"name":"bootc.dev",)"
                          R"("versions":[{"groupVersion":"bootc.dev/v1alpha1"}],)"
                          R"("preferredVersion":{"groupVersion":"bootc.dev/v1alpha1"}}]})"));
    server.always(
        "GET", "/apis/bootc.dev/v1alpha1",
        answer::json(
            200,
            R"({"kind":"APIResourceList","resources":[{"name":"bootcnodes","kind":"BootcNode",)"
            R"("namespaced":false},{"name":"bootcnodes/status","kind":"BootcNode"}]})"));
    client api(l, server.to());
    discovery d(api);
    auto version = co_await d.read_version(5s);
    EXPECT_TRUE(version);
    EXPECT_TRUE(version->at_least(1, 31));
    auto read = co_await d.refresh();
    EXPECT_TRUE(read) << read.error().message();
    const resource nodes{"bootc.dev", "v1alpha1", "bootcnodes", "BootcNode", false};
    const resource pools{"bootc.dev", "v1alpha1", "bootcnodepools", "BootcNodePool", false};
    const resource tenants{"mesh.openkcm.io", "v1alpha1", "tenants", "Tenant", true};
    auto has = co_await d.serves(nodes);
    EXPECT_TRUE(has && *has);
    has = co_await d.serves(pools);
    EXPECT_TRUE(has && !*has);
    has = co_await d.serves(tenants);
    EXPECT_TRUE(has && !*has);
    EXPECT_EQ(server.count("GET", "/apis/bootc.dev"), 1u);
    EXPECT_EQ(server.count("GET", "/apis/mesh"), 0u);
    auto all = co_await d.resources_of("bootc.dev/v1alpha1");
    EXPECT_EQ(all->size(), 1u);
    EXPECT_EQ(all->at(0), nodes);
    server.forget_rules();
    server.always("GET", "/", answer::json(200, R"({"hello":1})"));
    version = co_await d.read_version(5s);
    EXPECT_EQ(version.error().code, errc::malformed);
    co_await api.stop();
    co_await server.stop();
  });
}

}  // namespace
}  // namespace k8s
