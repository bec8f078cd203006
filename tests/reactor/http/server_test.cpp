// One specification of the server: each promise a test, on one fixture.
#include "reactor/http/server.hpp"

#include "tests/reactor/http/http_test.hpp"

namespace reactor::http {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Server : public HttpTest {
protected:
  /// "METHOD target body", slowly for /slow.
  handler echo() {
    return [this](request r, responder& to) -> awaitable<void> {
      if (r.target == "/slow") co_await l.sleep_for(5s);
      if (r.target == "/throw") throw std::runtime_error("bug");
      if (r.target == "/nothing") co_return;
      response out;
      out.body = r.method + " " + r.target + " " + r.body;
      (void)co_await to.send(std::move(out));
    };
  }
  /// Starts a server and gives `body` a raw connection to it.
  void talk(std::function<awaitable<void>(stream&)> body, server_options o = at(80)) {
    run([&]() -> awaitable<void> {
      server s(l, std::move(o), echo());
      EXPECT_TRUE(s.start().has_value());
      endpoint to{"api", 80};
      auto c = co_await l.net().connect(to, never);
      co_await body(**c);
      c->reset();
      co_await s.stop();
    });
  }
  /// Sends everything at once and reads to the end.
  std::string exchange_bytes(std::string bytes, server_options o = at(80)) {
    std::string got;
    const auto body = [&](stream& s) -> awaitable<void> {
      (void)co_await s.write_all(bytes);
      got = co_await read_all(s);
    };
    talk(body, std::move(o));
    return got;
  }
};

TEST_F(Server, AnswersPipelinedRequestsInOrder) {
  const std::string got = exchange_bytes(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
      "PUT http://x/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
      "GET /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(got,
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nPOST /a abc"
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nGET /slow "
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPUT /c de"
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nGET /d ");
}

TEST_F(Server, AnswersHeadWithoutABody) {
  EXPECT_EQ(exchange_bytes("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n");
}

TEST_F(Server, EndsTheConnectionAfterAnHttp10Request) {
  EXPECT_EQ(exchange_bytes("GET /a HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nGET /a ");
}

TEST_F(Server, RefusesWhatItCannotServe) {
  const auto status = [&](std::string bytes) { return exchange_bytes(bytes).substr(0, 12); };
  EXPECT_EQ(status("nonsense\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400");  // no Host
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET x HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n"),
            "HTTP/1.1 413");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n" +
                   std::string(9'000'000, 'x')),
            "HTTP/1.1 413");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(200'000, 'x')), "HTTP/1.1 431");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 1\r\n\r\nx"),
            "HTTP/1.1 417");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"),
            "HTTP/1.1 400");
}

TEST_F(Server, SaysContinueBeforeABodyThatWaitsForIt) {
  talk([](stream& s) -> awaitable<void> {
    (void)co_await s.write_all(std::string_view(
        "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
        "Connection: close\r\n\r\n"));
    const std::string interim = co_await read_head(s);
    EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
    (void)co_await s.write_all(std::string_view("hi"));
    const std::string rest = co_await read_all(s);
    EXPECT_THAT(rest, EndsWith("POST /a hi"));
  });
}

TEST_F(Server, EndsAConnectionThatTricklesItsHeader) {
  talk([&](stream& s) -> awaitable<void> {
    const steady_time start = l.now();
    for (;;) {
      auto sent = co_await s.write_all(std::string_view("G"));
      co_await l.sleep_for(1s);
      char answer[512];
      auto n = s.try_read(answer);
      if (!sent || !n || (*n && **n > 0)) {
        if (n && *n) {
          EXPECT_THAT(std::string(answer, **n), StartsWith("HTTP/1.1 408"));
        }
        break;
      }
    }
    EXPECT_GE(l.now() - start, 10s);
    EXPECT_LE(l.now() - start, 12s);
  });
}

TEST_F(Server, EndsAConnectionThatTricklesItsBody) {
  talk([&](stream& s) -> awaitable<void> {
    (void)co_await s.write_all(
        std::string_view("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"));
    const steady_time start = l.now();
    char answer[512];
    for (;;) {
      (void)co_await s.write_all(std::string_view("x"));
      co_await l.sleep_for(1s);
      auto n = s.try_read(answer);
      if (!n || *n) break;
    }
    EXPECT_LE(l.now() - start, 122s);
  });
}

TEST_F(Server, EndsIdleConnectionsQuietly) {
  talk([&](stream& s) -> awaitable<void> {
    (void)co_await s.write_all(std::string_view("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"));
    const steady_time start = l.now();
    const std::string got = co_await read_all(s);
    EXPECT_THAT(got, EndsWith("GET /a "));
    EXPECT_EQ(l.now() - start, 120s);
  });
}

TEST_F(Server, AnswersForAHandlerThatThrowsOrSaysNothing) {
  EXPECT_THAT(exchange_bytes("GET /throw HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("Connection: close")));
  EXPECT_THAT(exchange_bytes("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                             "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 500"), EndsWith("GET /a ")));
}

TEST_F(Server, CancelsTheHandlerWhenTheClientGoesAway) {
  for (const bool reset : {false, true}) {
    run([&]() -> awaitable<void> {
      bool waiting = false, cancelled = false;
      server s(l, at(80), [&](request, responder& to) -> awaitable<void> {
        response_head head{200, {}};
        (void)co_await to.start(std::move(head));
        (void)co_await to.write("event\n");
        struct guard {
          bool& flag;
          ~guard() { flag = true; }
        } at_end{cancelled};
        waiting = true;
        co_await l.sleep_for(1h);
      });
      EXPECT_TRUE(s.start().has_value());
      endpoint to{"api", 80};
      auto c = co_await l.net().connect(to, never);
      (void)co_await (*c)->write_all(std::string_view("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n"));
      co_await l.sleep_for(1s);
      EXPECT_TRUE(waiting);
      EXPECT_FALSE(cancelled);
      if (reset) {
        net().cut_all("api");
      } else {
        (*c)->close();
      }
      co_await l.sleep_for(1s);
      EXPECT_TRUE(cancelled);
      EXPECT_EQ(s.connections(), 0u);
      co_await s.stop();
    });
  }
}

TEST_F(Server, TellsAHandlerThatAskedForIt) {
  // one rests, the other is in the middle of a write that the client does not read
  for (const bool writing : {false, true}) {
    run([&]() -> awaitable<void> {
      int told = 0;
      bool cancelled = true;
      std::optional<bool> written;
      server s(l, at(80), [&](request, responder& to) -> awaitable<void> {
        event ended(l);
        to.when_gone([&] {
          ++told;
          ended.set();
        });
        response_head head{200, {}};
        (void)co_await to.start(std::move(head));
        if (writing) {
          auto sent = co_await to.write(std::string(200'000, 'x'));
          written = sent.has_value();
        } else {
          const bool heard = co_await ended.wait(l.now() + 1h);
          EXPECT_TRUE(heard);
        }
        co_await l.yield();
        auto more = co_await to.write("more");
        EXPECT_FALSE(more.has_value());
        to.when_gone(nullptr);
        cancelled = false;
      });
      EXPECT_TRUE(s.start().has_value());
      endpoint to{"api", 80};
      auto c = co_await l.net().connect(to, never);
      (void)co_await (*c)->write_all(std::string_view("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n"));
      co_await l.sleep_for(1s);
      EXPECT_EQ(told, 0);
      EXPECT_EQ(s.connections(), 1u);
      (*c)->close();
      co_await l.sleep_for(1s);
      // A write that is under way may hear of it first.
      EXPECT_LE(told, 1);
      EXPECT_TRUE(writing ? written == false : told == 1);
      EXPECT_FALSE(cancelled);
      EXPECT_EQ(s.connections(), 0u);
      co_await s.stop();
    });
  }
}

TEST_F(Server, AWishToBeToldIsOfOneRequest) {
  run([&]() -> awaitable<void> {
    bool told = false, cancelled = false;
    server s(l, at(80), [&](request r, responder& to) -> awaitable<void> {
      if (r.target == "/first") {
        to.when_gone([&] { told = true; });
        response all{200, {}, "first"};
        (void)co_await to.send(std::move(all));
        co_return;
      }
      struct guard {
        bool& flag;
        ~guard() { flag = true; }
      } at_end{cancelled};
      co_await l.sleep_for(1h);
    });
    EXPECT_TRUE(s.start().has_value());
    endpoint to{"api", 80};
    auto c = co_await l.net().connect(to, never);
    (void)co_await (*c)->write_all(
        std::string_view("GET /first HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"));
    co_await l.sleep_for(1s);
    (*c)->close();
    co_await l.sleep_for(1s);
    EXPECT_FALSE(told);
    EXPECT_TRUE(cancelled);
    co_await s.stop();
  });
}

TEST_F(Server, EndsAClientThatDoesNotRead) {
  run([&]() -> awaitable<void> {
    std::optional<result<void>> last;
    steady_time ended{};
    server s(l, at(80), [&](request, responder& to) -> awaitable<void> {
      response_head head{200, {}};
      (void)co_await to.start(std::move(head));
      do {
        std::string bytes(10'000, 'x');
        last = co_await to.write(std::move(bytes));
      } while (last->has_value());
      ended = l.now();
    });
    EXPECT_TRUE(s.start().has_value());
    endpoint to{"api", 80};
    auto c = co_await l.net().connect(to, never);
    const steady_time start = l.now();
    (void)co_await (*c)->write_all(std::string_view("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    co_await l.sleep_for(60s);
    EXPECT_EQ(last->error().code, errc::timed_out);
    EXPECT_EQ(ended - start, 30s);
    c->reset();
    co_await s.stop();
  });
}

TEST_F(Server, KeepsFurtherConnectionsWaitingAtItsLimit) {
  run([&]() -> awaitable<void> {
    server_options o = at(80);
    o.max_connections = 2;
    server s(l, std::move(o), echo());
    EXPECT_TRUE(s.start().has_value());
    task_group tasks(l);
    int answered = 0;
    for (int i = 0; i < 6; ++i) {
      tasks.start("one", [&]() -> awaitable<void> {
        client c(l, options());
        request r = get("/slow");
        auto got = co_await c.fetch(std::move(r));
        answered += got.has_value();
        EXPECT_LE(s.connections(), 2u);
        co_await c.stop();
      });
    }
    co_await l.sleep_for(6s);
    EXPECT_EQ(answered, 2);
    co_await tasks.join();
    EXPECT_EQ(answered, 6);
    co_await s.stop();
  });
}

/// Somebody who connects, sends so much, and then no more.
class reticent {
public:
  awaitable<void> connect(loop& l, std::uint16_t port, std::string_view says) {  // borrowed
    endpoint to{"127.0.0.1", port};
    auto made = co_await l.net().connect(std::move(to), never);
    stream_ = std::move(*made);
    (void)co_await stream_->write_all(says);
  }
  bool ended() {
    char bytes[4096];
    auto n = stream_->try_read(bytes);
    return !n || (*n && **n == 0);
  }
  stream& wire() { return *stream_; }

private:
  std::unique_ptr<stream> stream_;
};

class ServerIsFull : public Server {
protected:
  /// A full server, its callers made a tenth of a second after one another; then one more asks.
  void ask_a_server_of(std::vector<std::string> callers, nanoseconds later) {
    run([&]() -> awaitable<void> {
      server_options o;
      o.at = {"", 80};
      o.max_connections = callers.size();
      o.write_timeout = 60s;
      server s(l, std::move(o), [this](request r, responder& to) -> awaitable<void> {
        if (r.target == "/slow") co_await l.sleep_for(5s);
        response out;
        out.body = r.target == "/large" ? std::string(1 << 20, 'x') : "hello";
        (void)co_await to.send(std::move(out));
      });
      EXPECT_TRUE(s.start().has_value());
      std::vector<reticent> clients(callers.size());
      for (std::size_t i = 0; i < clients.size(); ++i) {
        co_await clients[i].connect(l, 80, callers[i]);
        co_await l.sleep_for(100ms);
      }
      co_await l.sleep_for(later);
      client c(l, options());
      request r = get("/healthz");
      const steady_time asked = l.now();
      auto got = co_await c.fetch(std::move(r));
      EXPECT_EQ(summary(got), "200 hello");
      waited = l.now() - asked;
      for (reticent& one : clients) ended += one.ended() ? 'x' : '.';
      EXPECT_LE(s.connections(), callers.size());
      co_await c.stop();
      clients.clear();
      co_await s.stop();
    });
  }
  static std::string asking(std::string path) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  std::string ended;
  nanoseconds waited{};
};

TEST_F(ServerIsFull, TheOldestSilentCallerMakesRoom) {
  ask_a_server_of({asking("/slow"), "GET / HT", "", asking("/"), ""}, 0s);
  EXPECT_EQ(ended, "..x..");
  EXPECT_EQ(waited, 0s);
}

TEST_F(ServerIsFull, ACallerWhoDripsMakesRoomWhereNobodyIsSilent) {
  ask_a_server_of(
      {asking("/slow"), "GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"}, 2s);
  EXPECT_EQ(ended, ".x.");
  EXPECT_EQ(waited, 0s);
}

TEST_F(ServerIsFull, ACallerWhoDoesNotReadMakesRoom) {
  ask_a_server_of({asking("/slow"), asking("/large"), asking("/large")}, 2s);
  EXPECT_EQ(waited, 0s);
}

TEST_F(ServerIsFull, ACallerWhoIsBeingAnsweredDoesNot) {
  ask_a_server_of({asking("/slow"), asking("/slow")}, 0s);
  EXPECT_EQ(ended, "..");
  EXPECT_EQ(waited, 5050ms);  // the first to be answered, and 250 ms later nobody says more
}

TEST_F(Server, WaitsForTheFirstByteNoLongerThanForAHeader) {
  talk([&](stream& s) -> awaitable<void> {
    const steady_time start = l.now();
    const std::string got = co_await read_all(s);
    EXPECT_EQ(got, "");
    EXPECT_EQ(l.now() - start, 10s);
  });
}

TEST(ServerOnSockets, KeepsAConnectionWhoseAnswerTookLong) {
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    server_options o;
    o.at = {"127.0.0.1", 0};
    server s(l, std::move(o), [&l](request, responder& to) -> awaitable<void> {
      co_await l.sleep_for(5ms);
      response out;
      (void)co_await to.send(std::move(out));
    });
    EXPECT_TRUE(s.start().has_value());
    std::vector<reticent> one(1);
    co_await one[0].connect(l, s.local().port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string first = co_await read_head(one[0].wire());
    EXPECT_THAT(first, StartsWith("HTTP/1.1 200"));
    co_await l.sleep_for(5ms);
    EXPECT_FALSE(one[0].ended());
    one.clear();
    co_await s.stop();
  });
}

TEST(ServerOnSockets, AnswersAProbeBesideSilentConnections) {
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    server_options o;
    o.at = {"127.0.0.1", 0};
    o.max_connections = 200;
    server s(l, std::move(o), [](request, responder& to) -> awaitable<void> {
      response out;
      out.body = "ok";
      (void)co_await to.send(std::move(out));
    });
    EXPECT_TRUE(s.start().has_value());
    const std::uint16_t port = s.local().port;
    std::vector<reticent> silent(200);
    for (reticent& one : silent) co_await one.connect(l, port, "");
    client_options co;
    co.origin = {false, "127.0.0.1", port};
    co.response_timeout = 1s;  // as a liveness probe; those who are silent are given ten
    for (int probes = 0; probes < 20; ++probes) {
      client c(l, co);
      request r;
      auto got = co_await c.fetch(std::move(r));
      EXPECT_EQ(summary(got), "200 ok");
      co_await c.stop();
      std::vector<reticent> again(5);
      for (reticent& one : again) {
        co_await one.connect(l, port, "GET /");
        silent.push_back(std::move(one));
      }
    }
    silent.clear();
    co_await s.stop();
  });
  EXPECT_EQ(l.live(), nothing_live);
}

TEST_F(Server, StopsWithinASecondWhateverItsClientsDo) {
  run([&]() -> awaitable<void> {
    server s(l, at(80), echo());
    EXPECT_TRUE(s.start().has_value());
    EXPECT_EQ(s.local().text(), "api:80");
    std::vector<std::unique_ptr<stream>> clients;
    for (const char* sent : {"", "GET /", "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n",
                             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n",
                             "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "nonsense\r\n\r\n"}) {
      endpoint to{"api", 80};
      auto c = co_await l.net().connect(to, never);
      (void)co_await (*c)->write_all(std::string_view(sent));
      clients.push_back(std::move(*c));
    }
    co_await l.sleep_for(100ms);
    const steady_time start = l.now();
    co_await s.stop();
    EXPECT_LT(l.now() - start, 1s);
    EXPECT_EQ(s.connections(), 0u);
    clients.clear();
  });
}

TEST_F(Server, NamesTheAddressThatIsInUse) {
  run([&]() -> awaitable<void> {
    server a(l, at(80), echo()), b(l, at(80), echo());
    EXPECT_TRUE(a.start().has_value());
    auto second = b.start();
    EXPECT_FALSE(second.has_value());
    EXPECT_THAT(second.error().message(), StartsWith("listen on api:80"));
    co_await a.stop();
    co_await b.stop();
  });
}

}  // namespace
}  // namespace reactor::http
