// Longer than most files: each promise of the client, on one fixture.
#include "reactor/http/client.hpp"

#include "reactor/net/dial_turns.hpp"
#include "reactor/of_loop.hpp"
#include "tests/reactor/http/http_test.hpp"
#include "tests/reactor/http/test_certificates.hpp"

#include <boost/asio/error.hpp>

namespace reactor::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const endpoint server_at{"api", 80};
const std::string hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class Client : public HttpTest {
protected:
  /// Fetches "/" once from a peer that behaves like `s`.
  result<response> fetch_from(script s, request r = {}) {
    std::optional<result<response>> got;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, server_at, {std::move(s)});
      client c(l, options());
      got.emplace(co_await c.fetch(std::move(r)));
      co_await c.stop();
      co_await peer.stop();
    });
    return std::move(*got);
  }
};

TEST_F(Client, SendsARequestAndReadsTheAnswer) {
  std::string seen;
  run([&]() -> awaitable<void> {
    script once = [&](stream& s) -> awaitable<void> {
      seen = co_await read_head(s);
      (void)co_await s.write_all(hello);
      (void)co_await s.wait_readable();
    };
    scripted_server peer(l, server_at, {once});
    client c(l, options());
    request r = get("/v1?x=1");
    r.fields.add("Accept", "text/plain");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(summary(got), "200 hello");
    co_await c.stop();
    co_await peer.stop();
  });
  EXPECT_EQ(seen, "GET /v1?x=1 HTTP/1.1\r\nHost: api\r\nAccept: text/plain\r\n\r\n");
}

TEST_F(Client, ReadsEveryFraming) {
  EXPECT_EQ(summary(fetch_from(answers(hello))), "200 hello");
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                       "2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"))),
            "200 hello");
  EXPECT_EQ(summary(fetch_from(answers_once("HTTP/1.1 200 OK\r\n\r\nhello"))), "200 hello");
  EXPECT_EQ(summary(fetch_from(answers_once("HTTP/1.0 200 OK\r\n\r\nhello"))), "200 hello");
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 204 No Content\r\n\r\n"))), "204 ");
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"))),
            "304 ");
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))), "200 ");
  request head;
  head.method = "HEAD";
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), head)),
            "200 ");
}

TEST_F(Client, SkipsInterimAnswers) {
  EXPECT_EQ(summary(fetch_from(answers("HTTP/1.1 100 Continue\r\n\r\n"
                                       "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
                                       hello))),
            "200 hello");
}

TEST_F(Client, NamesWhatIsMalformed) {
  for (const char* bad :
       {"SSH-2.0-OpenSSH_9\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
        "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n"}) {
    auto got = fetch_from(answers(bad));
    ASSERT_FALSE(got.has_value()) << bad;
    EXPECT_EQ(got.error().code, errc::malformed) << bad;
    EXPECT_THAT(got.error().message(), HasSubstr("not valid HTTP/1.1")) << bad;
  }
}

TEST_F(Client, LimitsTheHeaderAlsoWhenItComesFieldByField) {
  const auto endless = [](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\n"));
    for (;;) {
      auto sent = co_await s.write_all(std::string_view("X-More: and more and more\r\n"));
      if (!sent) co_return;
    }
  };
  EXPECT_EQ(fetch_from(endless).error().code, errc::limit);
  const std::string line = "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x');
  EXPECT_EQ(fetch_from(answers(line)).error().code, errc::limit);
  const std::string chunk =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(200'000, 'x');
  EXPECT_EQ(fetch_from(answers(chunk)).error().code, errc::limit);
}

TEST_F(Client, LimitsTheBody) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at,
                         {answers("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")});
    client c(l, options());
    request r = get("/");
    auto got = co_await c.fetch(std::move(r), 4);
    EXPECT_EQ(got.error().code, errc::limit);
    EXPECT_EQ(c.connections(), 0u);  // the rest of the body is not worth reading
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, ReportsABodyThatIsCutShort) {
  for (const char* cut : {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                          "HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\n"}) {
    auto got = fetch_from(answers_once(cut));
    ASSERT_FALSE(got.has_value()) << cut;
    EXPECT_EQ(got.error().code, errc::closed) << cut;
    EXPECT_THAT(got.error().message(), HasSubstr("cut short"));
  }
}

TEST_F(Client, ReusesConnectionsAndDropsThemWhenIdle) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers(hello)});
    client c(l, options());
    for (int i = 0; i < 5; ++i) {
      request r = get("/");
      auto got = co_await c.fetch(std::move(r));
      EXPECT_EQ(summary(got), "200 hello");
    }
    EXPECT_EQ(peer.accepted(), 1u);
    EXPECT_EQ(c.connections(), 1u);
    co_await l.sleep_for(91s);
    EXPECT_EQ(c.connections(), 0u);
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(summary(got), "200 hello");
    EXPECT_EQ(peer.accepted(), 2u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, DoesNotReuseWhatTheServerWillClose) {
  run([&]() -> awaitable<void> {
    scripted_server peer(
        l, server_at,
        {answers("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")});
    client c(l, options());
    for (int i = 0; i < 2; ++i) {
      request r = get("/");
      auto got = co_await c.fetch(std::move(r));
      EXPECT_EQ(summary(got), "200 hello");
    }
    EXPECT_EQ(peer.accepted(), 2u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, RetriesOnceWhenAPooledConnectionTurnsOutDead) {
  // The first connection dies while the second request is under way: nothing of its answer came.
  const script dies = [](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.write_all(hello);
    (void)co_await read_head(s);
    s.close();
  };
  for (const char* method : {"GET", "POST"}) {
    run([&]() -> awaitable<void> {
      scripted_server peer(l, server_at, {dies, answers(hello)});
      client c(l, options());
      request first = get("/");
      (void)co_await c.fetch(std::move(first));
      request second = get("/");
      second.method = method;
      auto got = co_await c.fetch(std::move(second));
      if (second.method == "POST" || std::string_view(method) == "POST") {
        EXPECT_EQ(got.error().code, errc::closed);  // it may have been carried out
      } else {
        EXPECT_EQ(summary(got), "200 hello");
      }
      co_await c.stop();
      co_await peer.stop();
    });
  }
}

TEST_F(Client, NoticesADeadIdleConnectionBeforeUsingIt) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers_once(hello), answers(hello)});
    client c(l, options());
    request first = get("/");
    (void)co_await c.fetch(std::move(first));
    co_await l.sleep_for(1s);
    request second = get("/");
    second.method = "POST";
    auto got = co_await c.fetch(std::move(second));
    EXPECT_EQ(summary(got), "200 hello");
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, DoesNotRetryOnAFreshConnection) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers_once("")});
    client c(l, options());
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(got.error().code, errc::closed);
    EXPECT_EQ(peer.accepted(), 1u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, BoundsConcurrentRequestsByItsConnections) {
  run([&]() -> awaitable<void> {
    std::size_t now = 0, most = 0, handled = 0;
    server s(l, at(80), [&](request, responder& to) -> awaitable<void> {
      most = std::max(most, ++now);
      co_await l.sleep_for(10ms);
      --now;
      ++handled;
      response r;
      r.body = "ok";
      (void)co_await to.send(std::move(r));
    });
    EXPECT_TRUE(s.start().has_value());
    client_options o = options();
    o.max_connections = 16;
    client c(l, o);
    task_group tasks(l);
    std::size_t answered = 0;
    for (int i = 0; i < 1000; ++i) {
      tasks.start("fetch", [&]() -> awaitable<void> {
        request r = get("/");
        auto got = co_await c.fetch(std::move(r));
        answered += summary(got) == "200 ok";
      });
    }
    co_await tasks.join();
    EXPECT_EQ(answered, 1000u);
    EXPECT_EQ(handled, 1000u);
    EXPECT_EQ(most, 16u);
    EXPECT_LE(c.connections(), 16u);
    co_await l.sleep_for(5s);
    EXPECT_LE(c.connections(), 8u);
    co_await c.stop();
    co_await s.stop();
  });
}

TEST_F(Client, KeepsTheConnectionsOfABurstForAWhileAndEightForLonger) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers(hello)});
    client c(l, options());
    const auto burst = [&]() -> awaitable<void> {
      task_group tasks(l);
      for (int i = 0; i < 20; ++i) {
        tasks.start("fetch", [&]() -> awaitable<void> {
          request r = get("/");
          auto got = co_await c.fetch(std::move(r));
          EXPECT_EQ(summary(got), "200 hello");
        });
      }
      co_await tasks.join();
    };
    for (int second = 0; second < 20; ++second) {
      co_await burst();
      EXPECT_EQ(c.connections(), 20u);
      co_await l.sleep_for(1s);
    }
    EXPECT_EQ(peer.accepted(), 20u);
    co_await l.sleep_for(5s);
    EXPECT_EQ(c.connections(), 8u);
    co_await l.sleep_for(80s);
    EXPECT_EQ(c.connections(), 8u);
    co_await l.sleep_for(10s);
    EXPECT_EQ(c.connections(), 0u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, WaitsForAConnectionNoLongerThanForAnAnswer) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")});
    client_options o = options();
    o.max_connections = 1;
    client c(l, o);
    request first = get("/watch");
    auto held = co_await c.send(std::move(first));
    EXPECT_TRUE(held.has_value());
    const steady_time start = l.now();
    request second = get("/");
    auto got = co_await c.fetch(std::move(second));
    EXPECT_EQ(got.error().code, errc::timed_out);
    EXPECT_EQ(l.now() - start, 30s);
    held->reset();
    EXPECT_EQ(c.connections(), 0u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, NoNumberOfStreamsKeepsARequestWaiting) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx")});
    client_options o = options();
    o.max_connections = 1;
    o.max_streams = 3;
    client c(l, o);
    std::vector<std::unique_ptr<exchange>> held;
    for (int i = 0; i < 3; ++i) {
      request watch = get("/watch");
      watch.answer = request::lasts::as_a_stream;
      auto one = co_await c.send(std::move(watch));
      EXPECT_TRUE(one.has_value());
      if (one) held.push_back(std::move(*one));
    }
    const steady_time start = l.now();
    request moment = get("/");
    auto got = co_await c.send(std::move(moment));
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(l.now(), start);
    request more = get("/watch");
    more.answer = request::lasts::as_a_stream;
    auto refused = co_await c.send(std::move(more));
    EXPECT_EQ(refused.error().code, errc::timed_out);
    EXPECT_NE(refused.error().message().find("all 3 connections"), std::string::npos);
    held.clear();
    got->reset();
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, TimesOutWhenTheAnswerDoesNotCome) {
  const script silent = [](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.wait_readable();
  };
  const steady_time start = l.now();
  auto got = fetch_from(silent);
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_EQ(l.now() - start, 30s);
}

TEST_F(Client, TimesOutOnATrickleOfHeader) {
  const script trickle = [&](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\n"));
    for (;;) {
      co_await l.sleep_for(1s);
      auto sent = co_await s.write_all(std::string_view("x"));
      if (!sent) co_return;
    }
  };
  const steady_time start = l.now();
  EXPECT_EQ(fetch_from(trickle).error().code, errc::timed_out);
  EXPECT_EQ(l.now() - start, 30s);
}

TEST_F(Client, TimesOutConnecting) {
  net().set_reach("api", memory_network::reach::blackhole);
  const steady_time start = l.now();
  auto got = fetch_from(answers(hello));
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_THAT(got.error().message(), StartsWith("connect to api:80"));
  EXPECT_EQ(l.now() - start, 5s);
}

TEST_F(Client, AWholeFetchEndsAtItsDeadline) {
  const script silent = [](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.wait_readable();
  };
  // each byte comes in time, all of them do not
  const script trickle = [&](stream& s) -> awaitable<void> {
    (void)co_await read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
    for (;;) {
      co_await l.sleep_for(300ms);
      auto sent = co_await s.write_all(std::string_view("x"));
      if (!sent) co_return;
    }
  };
  struct {
    std::string name;
    script peer;
    memory_network::reach reach;
    std::size_t connections;  // that may be open at once
  } const table[] = {
      {"no connection", silent, memory_network::reach::blackhole, 2},
      {"no head", silent, memory_network::reach::open, 2},
      {"a trickle of a body", trickle, memory_network::reach::open, 2},
      {"no turn", silent, memory_network::reach::open, 1},
  };
  for (const auto& t : table) {
    net().set_reach("api", t.reach);
    run([&]() -> awaitable<void> {
      std::vector<script> scripts{t.peer};
      scripted_server server(l, {"api", 80}, std::move(scripts));
      client_options options;
      options.origin = api;
      options.max_connections = t.connections;
      client c(l, std::move(options));
      task_group others(l);
      if (t.connections == 1) {
        others.start("other", [&]() -> awaitable<void> {
          request r;
          (void)co_await c.fetch(std::move(r));
        });
        co_await l.sleep_for(100ms);
      }
      const steady_time start = l.now();
      request r;
      auto got = co_await c.fetch(std::move(r), 10'000, start + 2s);
      EXPECT_TRUE(!got && got.error().code == errc::timed_out) << t.name;
      EXPECT_EQ(l.now() - start, 2s) << t.name;
      co_await others.cancel_and_join();
      co_await c.stop();
      co_await server.stop();
    });
  }
}

TEST_F(Client, ReportsWhoRefused) {
  run([&]() -> awaitable<void> {
    client c(l, options());
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(got.error().code, boost::asio::error::connection_refused);
    EXPECT_THAT(got.error().message(), StartsWith("connect to api:80"));
    co_await c.stop();
  });
}

TEST_F(Client, NoticesASilentStreamAfterTheIdleTime) {
  run([&]() -> awaitable<void> {
    net().faults("api").lose_to_client_after_bytes = 70;  // half-open: head and one chunk arrive
    scripted_server peer(
        l, server_at,
        {answers(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n6\r\nsecond\r\n")});
    client c(l, options());
    request r = get("/watch");
    auto got = co_await c.send(std::move(r));
    EXPECT_TRUE(got.has_value());
    exchange& x = **got;
    auto piece = co_await x.read(20s);
    EXPECT_EQ(piece.value(), "first");
    EXPECT_EQ(x.last_byte(), l.now());
    const steady_time start = l.now();
    for (;;) {
      piece = co_await x.read(20s);
      if (!piece) break;
    }
    EXPECT_EQ(piece.error().code, errc::timed_out);
    EXPECT_EQ(l.now() - start, 20s);
    got->reset();
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, KeepsStreamsApartWhileTheyShareABuffer) {
  run([&]() -> awaitable<void> {
    constexpr int streams = 8, pieces = 40;
    server s(l, at(80), [&](request r, responder& to) -> awaitable<void> {
      response_head head{200, {}};
      (void)co_await to.start(std::move(head));
      for (int i = 0; i < pieces; ++i) {
        std::string line = r.target + ":" + std::to_string(i) + "\n";
        (void)co_await to.write(std::move(line));
        const nanoseconds pause = l.random().between(nanoseconds(0), nanoseconds(3ms));
        co_await l.sleep_for(pause);
      }
      (void)co_await to.finish();
    });
    net().faults("api").piece_limit_bytes = 7;
    net().faults("api").jitter = 2ms;
    EXPECT_TRUE(s.start().has_value());
    client c(l, options());
    task_group tasks(l);
    for (int n = 0; n < streams; ++n) {
      tasks.start("read", [&, n]() -> awaitable<void> {
        const std::string target = "/" + std::string(static_cast<std::size_t>(n) + 1, 'a');
        request r = get(target);
        auto got = co_await c.fetch(std::move(r));
        std::string wanted;
        for (int i = 0; i < pieces; ++i) wanted += target + ":" + std::to_string(i) + "\n";
        EXPECT_EQ(got.value().body, wanted);
      });
    }
    co_await tasks.join();
    co_await c.stop();
    co_await s.stop();
  });
}

/// As many connections of others as may be made at once, none of which gets an answer.
awaitable<std::vector<std::unique_ptr<dial_turns::place>>> all_places(loop& l) {
  std::vector<std::unique_ptr<dial_turns::place>> all;
  while (all.size() < dial_turns::most_at_once) {
    auto one = co_await of_loop<dial_turns>(l).begin(&l, precedence::usual, never);
    all.push_back(std::move(one));
  }
  co_return all;
}

TEST_F(Client, TheWaitForATurnToConnectIsNoPartOfADeadline) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers(hello)});
    client c(l, options());
    const auto others = co_await all_places(l);
    const steady_time began = l.now();
    request r = get("/");
    auto got = co_await c.fetch(std::move(r), 1'000, began + 50ms);
    EXPECT_EQ(summary(got), "200 hello");
    EXPECT_GE(l.now() - began, dial_turns::longest_place);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, AnEssentialOneWaitsForNoTurn) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers(hello)});
    client_options o = options();
    o.how = precedence::essential;
    client c(l, o);
    const auto others = co_await all_places(l);
    const steady_time began = l.now();
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(summary(got), "200 hello");
    EXPECT_LT(l.now() - began, dial_turns::longest_place);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, StopEndsThoseThatWaitForATurn) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at, {answers(hello)});
    client c(l, options());
    const auto others = co_await all_places(l);
    task_group tasks(l);
    tasks.start("fetch", [&]() -> awaitable<void> {
      request r = get("/");
      auto got = co_await c.fetch(std::move(r));
      EXPECT_TRUE(is_cancelled(got.error()));
    });
    co_await l.sleep_for(1ms);
    co_await c.stop();
    co_await tasks.join();
    EXPECT_EQ(peer.accepted(), 0u);
    co_await peer.stop();
  });
}

TEST_F(Client, DestroyingAnExchangeEarlyClosesItsConnection) {
  run([&]() -> awaitable<void> {
    scripted_server peer(l, server_at,
                         {answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")});
    client c(l, options());
    request r = get("/");
    auto got = co_await c.send(std::move(r));
    auto piece = co_await (*got)->read(1s);
    EXPECT_EQ(piece.value(), "hello");
    got->reset();
    EXPECT_EQ(c.connections(), 0u);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, SendsALargeBodyAndReadsTheRefusalThatComesEarly) {
  run([&]() -> awaitable<void> {
    const script refuses = [](stream& s) -> awaitable<void> {
      (void)co_await read_head(s);
      (void)co_await s.write_all(std::string_view(
          "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"));
      s.close();
    };
    scripted_server peer(l, server_at, {refuses});
    client c(l, options());
    request r = get("/");
    r.method = "POST";
    r.body = std::string(2'000'000, 'x');
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(summary(got), "413 big");
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Client, RefusesFieldsThatWouldStartANewLine) {
  request r;
  r.fields.add("X-Name", "a\r\nInjected: b");
  auto got = fetch_from(answers(hello), r);
  EXPECT_EQ(got.error().code, errc::refused);
  EXPECT_THAT(got.error().message(), Not(HasSubstr("Injected")));
  request t;
  t.target = "/a b";
  EXPECT_EQ(fetch_from(answers(hello), t).error().code, errc::refused);
}

TEST(ClientOnThisMachine, TalksTlsOverRealSockets) {
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    const test_authority ca(l);
    server_options so;
    so.at = {"127.0.0.1", 0};
    so.tls = std::make_unique<tls_server_settings>(ca.server({"127.0.0.1"}));
    server s(l, std::move(so), [](request r, responder& to) -> awaitable<void> {
      response_head head{200, {}};
      auto sent = co_await to.start(std::move(head));
      for (int n = 0; sent && n < 50; ++n) sent = co_await to.write(std::string(20'000, 'x'));
      sent = co_await to.write(std::move(r.body));
      (void)co_await to.finish();
    });
    EXPECT_TRUE(s.start().has_value());
    client_options o;
    o.origin = {true, "127.0.0.1", s.local().port};
    o.tls = ca.client();
    client c(l, o);
    for (int n = 0; n < 3; ++n) {
      request r;
      r.method = "POST";
      r.body = std::string(500'000, 'y');
      auto got = co_await c.fetch(std::move(r));
      EXPECT_TRUE(got.has_value()) << got.error().message();
      if (got) {
        EXPECT_EQ(got->body, std::string(1'000'000, 'x') + std::string(500'000, 'y'));
      }
    }
    EXPECT_EQ(c.connections(), 1u);
    co_await c.stop();
    co_await s.stop();
  });
  EXPECT_EQ(l.live(), nothing_live);
}

TEST_F(Client, StopEndsWhatIsUnderWayWithinASecond) {
  run([&]() -> awaitable<void> {
    const script silent = [](stream& s) -> awaitable<void> {
      (void)co_await read_head(s);
      (void)co_await s.wait_readable();
    };
    scripted_server peer(l, server_at, {silent});
    net().set_reach("elsewhere", memory_network::reach::stalled);
    client answering(l, options()), connecting(l, options({false, "elsewhere", 80}));
    task_group tasks(l);
    int ended = 0;
    for (client* c : {&answering, &connecting}) {
      tasks.start("fetch", [&ended, c]() -> awaitable<void> {
        request r;
        auto got = co_await c->fetch(std::move(r));
        EXPECT_TRUE(is_cancelled(got.error()));
        ++ended;
      });
    }
    co_await l.sleep_for(1s);
    const steady_time start = l.now();
    co_await answering.stop();
    co_await connecting.stop();
    co_await tasks.join();
    EXPECT_EQ(ended, 2);
    EXPECT_LT(l.now() - start, 1s);
    co_await peer.stop();
  });
}

}  // namespace
}  // namespace reactor::http
