// Servers of signals that answer, lie, hang, flood and lead elsewhere; and who is shown a login.
#include "signals/keeper.hpp"

#include "formats/base64.hpp"
#include "tests/reactor/http/http_test.hpp"
#include "tests/registry/fixture.hpp"

#include <boost/json.hpp>

namespace signals {
namespace {

using namespace std::chrono_literals;
using policies::signal_declaration;
using policies::signal_fact;
using reactor::awaitable;
using reactor::http::request;
using reactor::http::scripted_server;
using registry::respond;
using registry::told_server;
using ::testing::HasSubstr;

class SignalKeeper : public registry::WebFixture {
protected:
  keeper::options options() {
    keeper::options o;
    o.origins = {"http://prom:9090", "http://other:80"};
    o.read_secret = [this](std::string name) -> awaitable<reactor::result<boost::json::object>> {
      ++secrets_read;
      const auto found = secrets.find(name);
      if (found == secrets.end())
        co_return reactor::make_fault(reactor::errc::not_found, {}, "it is not there");
      boost::json::object data;
      for (const auto& [key, text] : found->second) data[key] = formats::encode_base64(text);
      co_return boost::json::object{{"data", std::move(data)}};
    };
    return o;
  }
  static policies::wanted_signal wanted(std::string url = "http://prom:9090") {
    policies::wanted_signal w;
    w.as.name = "errors";
    w.as.url = std::move(url);
    w.as.query = "up{cluster=\"${cluster}\"}";
    w.as.every = 15s;
    w.as.window = 600s;
    w.as.stale_after = 60s;
    w.pack = "p";
    return w;
  }
  std::string scalar(const std::string& n) {
    return R"({"status":"success","data":{"resultType":"scalar","result":[)" +
           std::to_string(std::chrono::duration<double>(l.wall().time_since_epoch()).count()) +
           ",\"" + n + "\"]}}";
  }
  /// What is known after `later`, of a server that behaves like that.
  signal_fact seen_of(reactor::http::script s, reactor::nanoseconds later = 12s) {
    signal_fact out;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, {"prom", 9090}, {std::move(s)});
      keeper k(l, env(), metrics, {}, options());
      (void)k.facts({wanted()}, "blue", {});
      co_await l.sleep_for(later);
      out = k.facts({wanted()}, "blue", {}).at("errors");
      co_await k.stop();
      co_await peer.stop();
    });
    return out;
  }
  static reactor::http::script says(std::string head, std::string body) {
    return reactor::http::answers_once("HTTP/1.1 " + head + "\r\nContent-Length: " +
                                       std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  reactor::metrics metrics;
  std::map<std::string, std::map<std::string, std::string>> secrets;
  int secrets_read = 0;
};

TEST_F(SignalKeeper, AsksTheServerEachTimeThatItIsDueAndTellsTheAge) {
  run([&]() -> awaitable<void> {
    told_server prom(l, "prom", 9090, [&](const request&) { return respond(200, scalar("0.5")); });
    keeper k(l, env(), metrics, {}, options());
    const signal_fact first = k.facts({wanted()}, "blue", {}).at("errors");
    EXPECT_EQ(first.unknown, "it has not been asked for yet");
    EXPECT_FALSE(first.value);
    co_await l.sleep_for(1s);
    const signal_fact seen = k.facts({wanted()}, "blue", {}).at("errors");
    EXPECT_EQ(seen.value, 0.5);
    EXPECT_GT(seen.age, 0.5);
    EXPECT_LE(seen.age, 1);
    EXPECT_EQ(prom.seen.size(), 1u);
    EXPECT_EQ(prom.seen[0].target, "/api/v1/query?query=up%7Bcluster%3D%22blue%22%7D");
    co_await l.sleep_for(150s);
    EXPECT_GE(prom.seen.size(), 9u);
    EXPECT_LE(prom.seen.size(), 12u);
    k.refresh();
    EXPECT_THAT(metrics.text(), HasSubstr("windlass_signals{state=\"known\"} 1"));
    EXPECT_THAT(metrics.text(), HasSubstr("windlass_signal_fetches_total{result=\"value\"}"));
    co_await k.stop();
    co_await prom.stop();
  });
}

TEST_F(SignalKeeper, AsksOnceWhatSeveralPoolsWantAndForEachClusterByItself) {
  run([&]() -> awaitable<void> {
    told_server prom(l, "prom", 9090, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    for (int pools = 0; pools < 5; ++pools) {
      (void)k.facts({wanted()}, "blue", {});
      (void)k.facts({wanted()}, "green", {});
    }
    co_await l.sleep_for(5s);
    EXPECT_EQ(prom.seen.size(), 2u);
    EXPECT_EQ(k.series(), 2u);
    co_await k.stop();
    co_await prom.stop();
  });
}

TEST_F(SignalKeeper, StopsWhenNothingHasAskedForHalfAnHour) {
  run([&]() -> awaitable<void> {
    told_server prom(l, "prom", 9090, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    (void)k.facts({wanted()}, "blue", {});
    co_await l.sleep_for(32min);
    EXPECT_EQ(k.series(), 0u);
    const std::size_t asked = prom.seen.size();
    co_await l.sleep_for(10min);
    EXPECT_EQ(prom.seen.size(), asked);
    co_await k.stop();
    co_await prom.stop();
  });
}

TEST_F(SignalKeeper, LetsNoServerPassThatLiesHangsOrFloods) {
  struct row {
    const char* about;
    reactor::http::script does;
    const char* says;
  };
  const auto endless = [](std::string head) {
    return [head](reactor::stream& s) -> awaitable<void> {
      (void)co_await reactor::http::read_head(s);
      (void)co_await s.write_all(head);
      const std::string piece(4'000, '1');
      for (;;) {
        auto sent = co_await s.write_all(piece);
        if (!sent) co_return;
      }
    };
  };
  const row rows[] = {
      {"HTML", says("200 OK", "<html>"), "no JSON"},
      {"NaN", says("200 OK", scalar("NaN")), "NaN"},
      {"nothing", says("200 OK", ""), "no JSON"},
      {"an error", says("503 Unavailable", "{}"), "503"},
      {"a clock that is ahead",
       says("200 OK", R"({"status":"success","data":{"resultType":"scalar","result":[9e9,"1"]}})"),
       "ahead of our clock"},
      {"10 MB that are announced",
       reactor::http::answers_once("HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n1"),
       "larger than 65536 bytes"},
      {"a flood", endless("HTTP/1.1 200 OK\r\n\r\n"), "larger than 65536 bytes"},
      {"a flood of fields", endless("HTTP/1.1 200 OK\r\nX: "), ""},
      {"no HTTP", reactor::http::answers_once("SSH-2.0-OpenSSH\r\n"), ""},
      {"a body that is cut short",
       reactor::http::answers_once("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"), ""},
      {"silence",
       [](reactor::stream& s) -> awaitable<void> {
         (void)co_await reactor::http::read_head(s);
         (void)co_await s.wait_readable();
       },
       ""},
      {"a redirect", says("302 Found\r\nLocation: http://other/x", ""), "follows no redirect"},
  };
  for (const row& r : rows) {
    const signal_fact seen = seen_of(r.does);
    EXPECT_FALSE(seen.value) << r.about;
    EXPECT_NE(seen.unknown, "") << r.about;
    EXPECT_NE(seen.unknown, "it has not been asked for yet") << r.about << ": it waits for ever";
    EXPECT_THAT(seen.unknown, HasSubstr(r.says)) << r.about;
  }
}

TEST_F(SignalKeeper, AServerThatGivesNothingIsAskedEverMoreSeldom) {
  run([&]() -> awaitable<void> {
    bool well = false;
    told_server prom(l, "prom", 9090, [&](const request&) {
      return well ? respond(200, scalar("1")) : respond(500, "");
    });
    keeper k(l, env(), metrics, {}, options());
    (void)k.facts({wanted()}, "blue", {});
    co_await l.sleep_for(20min);
    EXPECT_GE(prom.seen.size(), 9u);
    EXPECT_LE(prom.seen.size(), 16u) << "15 s would be 80";
    well = true;
    co_await l.sleep_for(3min);
    EXPECT_TRUE(k.facts({wanted()}, "blue", {}).at("errors").value);
    co_await k.stop();
    co_await prom.stop();
  });
}

TEST_F(SignalKeeper, OneServerThatHangsKeepsNoOtherWaitingForLong) {
  run([&]() -> awaitable<void> {
    scripted_server hangs(l, {"prom", 9090}, {[](reactor::stream& s) -> awaitable<void> {
                            (void)co_await reactor::http::read_head(s);
                            (void)co_await s.wait_readable();
                          }});
    told_server other(l, "other", 80, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    for (int i = 0; i < 20; ++i) (void)k.facts({wanted()}, "c" + std::to_string(i), {});
    (void)k.facts({wanted("http://other")}, "blue", {});
    co_await l.sleep_for(45s);
    EXPECT_TRUE(k.facts({wanted("http://other")}, "blue", {}).at("errors").value);
    co_await k.stop();
    co_await hangs.stop();
    co_await other.stop();
  });
}

TEST_F(SignalKeeper, AsksNoHostThatIsNotAllowed) {
  run([&]() -> awaitable<void> {
    told_server evil(l, "evil", 80, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    const std::map<std::string, std::string> labels{{"host", "evil"}};
    for (const char* url : {"http://evil", "https://prom:9090", "http://prom", "http://${cluster}",
                            "http://${label:host}", "http://169.254.169.254"}) {
      const signal_fact seen = k.facts({wanted(url)}, "evil", labels).at("errors");
      EXPECT_THAT(seen.unknown, HasSubstr("no --allow-signal-host names")) << url;
    }
    EXPECT_THAT(k.facts({wanted("http://${label:none}")}, "evil", labels).at("errors").unknown,
                HasSubstr("no label none"));
    co_await l.sleep_for(60s);
    EXPECT_TRUE(evil.seen.empty());
    EXPECT_EQ(k.series(), 0u);
    co_await k.stop();
    co_await evil.stop();
  });
}

TEST_F(SignalKeeper, ANameOfAnAddressWhereCloudsKeepCredentialsIsAskedNothing) {
  run([&]() -> awaitable<void> {
    keeper::options o = options();
    o.origins = {"http://169.254.169.254:80"};  // however it came there
    told_server cloud(l, "169.254.169.254", 80, [&](const request&) { return respond(200, "1"); });
    keeper k(l, env(), metrics, {}, std::move(o));
    (void)k.facts({wanted("http://169.254.169.254")}, "blue", {});
    co_await l.sleep_for(20s);
    EXPECT_FALSE(k.facts({wanted("http://169.254.169.254")}, "blue", {}).at("errors").value);
    EXPECT_TRUE(cloud.seen.empty());
    co_await k.stop();
    co_await cloud.stop();
  });
}

TEST_F(SignalKeeper, ShowsALoginToItsOriginAloneAndFollowsNoRedirect) {
  secrets["prom-login"] = {{"origin", "http://prom:9090"}, {"token", "hidden"}};
  secrets["kubeconfig"] = {{"kubeconfig", "hidden"}, {"token", "hidden"}};
  run([&]() -> awaitable<void> {
    bool leads_away = false;
    told_server prom(l, "prom", 9090, [&](const request&) {
      return leads_away ? respond(307, "", {{"Location", "http://other/api"}})
                        : respond(200, scalar("1"));
    });
    told_server other(l, "other", 80, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    const auto with = [&](std::string url, std::string secret) {
      auto w = wanted(std::move(url));
      w.as.secret = std::move(secret);
      return k.facts({w}, "blue", {}).at("errors");
    };
    (void)with("http://prom:9090", "prom-login");
    (void)with("http://other", "prom-login");
    (void)with("http://other", "kubeconfig");
    (void)with("http://other", "absent");
    co_await l.sleep_for(5s);
    EXPECT_EQ(with("http://prom:9090", "prom-login").value, 1);
    EXPECT_EQ(prom.seen.size(), 1u);
    if (prom.seen.empty()) co_return;
    EXPECT_EQ(prom.seen[0].fields.get("Authorization"), "Bearer hidden");
    EXPECT_THAT(with("http://other", "prom-login").unknown,
                HasSubstr("Secret prom-login: it is for http://prom:9090"));
    EXPECT_THAT(with("http://other", "kubeconfig").unknown, HasSubstr("no key origin"));
    EXPECT_THAT(with("http://other", "absent").unknown,
                HasSubstr("Secret absent: it is not there"));
    leads_away = true;
    co_await l.sleep_for(30s);
    EXPECT_THAT(with("http://prom:9090", "prom-login").unknown, HasSubstr("follows no redirect"));
    EXPECT_TRUE(other.seen.empty()) << "the second host gets nothing at all";
    EXPECT_LE(secrets_read, 6) << "a Secret is not read for each question";
    co_await k.stop();
    co_await prom.stop();
    co_await other.stop();
  });
}

TEST_F(SignalKeeper, HoldsNoMoreThanItsLimit) {
  run([&]() -> awaitable<void> {
    told_server prom(l, "prom", 9090, [&](const request&) { return respond(200, scalar("1")); });
    keeper k(l, env(), metrics, {}, options());
    signal_fact last;
    for (std::size_t i = 0; i <= most_series; ++i)
      last = k.facts({wanted()}, "c" + std::to_string(i), {}).at("errors");
    EXPECT_EQ(last.unknown, "more than 1000 signals are fetched already");
    EXPECT_EQ(k.series(), most_series);
    co_await k.stop();
    co_await prom.stop();
  });
}

}  // namespace
}  // namespace signals
