// Longer than most files: every way in which a peer may be or not be who it says, one test each.
#include "reactor/net/tls.hpp"

#include "tests/reactor/http/http_test.hpp"
#include "tests/reactor/http/test_certificates.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <thread>

namespace reactor::http {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Tls : public HttpTest {
protected:
  const origin secured{true, "api", 443};

  handler hello() {
    return [](request r, responder& to) -> awaitable<void> {
      response out;
      out.body = "hello " + to.client_name() + r.body;
      (void)co_await to.send(std::move(out));
    };
  }
  /// One fetch from a server with these settings.
  std::string fetch(tls_server_settings theirs, tls_settings ours, origin to) {
    std::string got;
    run([&]() -> awaitable<void> {
      server_options so;
      so.at = {"", to.port};
      so.tls = std::make_unique<tls_server_settings>(theirs);
      server s(l, std::move(so), hello());
      auto started = s.start();
      if (!started) {
        got = "server: " + started.error().message();
        co_return;
      }
      client_options co = options(to);
      co.tls = ours;
      client c(l, co);
      request r = get("/");
      auto answer = co_await c.fetch(std::move(r));
      code = answer ? error_code{} : answer.error().code;
      got = summary(answer);
      co_await c.stop();
      co_await s.stop();
    });
    return got;
  }

  test_authority ca{l};
  error_code code;
};

TEST_F(Tls, CarriesRequestsToNamesAndAddresses) {
  EXPECT_EQ(fetch(ca.server({"api"}), ca.client(), secured), "200 hello ");
  EXPECT_EQ(fetch(ca.server({"10.0.0.1", "::1"}), ca.client(), {true, "10.0.0.1", 443}),
            "200 hello ");
  EXPECT_EQ(fetch(ca.server({"fd00::1"}), ca.client(), {true, "fd00::1", 443}), "200 hello ");
  EXPECT_EQ(fetch(ca.server({"*.svc.example"}), ca.client(), {true, "api.svc.example", 443}),
            "200 hello ");
}

TEST_F(Tls, NamesTheCertificateThatIsForSomebodyElse) {
  EXPECT_THAT(fetch(ca.server({"other", "10.0.0.9"}), ca.client(), secured),
              HasSubstr("the certificate \"other\" is for other, 10.0.0.9, not for api"));
  EXPECT_EQ(code, errc::unverified);
  EXPECT_THAT(fetch(ca.server({"api"}), ca.client(), {true, "10.0.0.1", 443}),
              HasSubstr("is for api, not for 10.0.0.1"));
  EXPECT_EQ(code, errc::unverified);
  EXPECT_THAT(fetch(ca.server({}), ca.client(), secured), HasSubstr("is for no name at all"));
  EXPECT_THAT(fetch(ca.server({"a*.svc.example"}), ca.client(), {true, "api.svc.example", 443}),
              HasSubstr("not for api.svc.example"));
}

TEST_F(Tls, NamesTheAuthorityThatIsNotTrusted) {
  const test_authority other(l, "other CA");
  EXPECT_THAT(
      fetch(other.server({"api"}), ca.client(), secured),
      AllOf(HasSubstr("signed by an authority that is not trusted"), HasSubstr("other CA")));
  EXPECT_EQ(code, errc::unverified);
}

TEST_F(Tls, SaysSinceWhenACertificateIsNotValid) {
  const auto server_with = [&](wall_time from, wall_time until) {
    certified_key made = ca.issue_from({"api"}, from, until);
    tls_server_settings s;
    s.certificate_pem = made.certificate_pem;
    s.key_pem = made.key_pem;
    return s;
  };
  EXPECT_THAT(fetch(server_with(l.wall() - 3h, l.wall() - 1h), ca.client(), secured),
              HasSubstr("the certificate \"api\" expired at 2026-01-01T00:00:00Z"));
  EXPECT_EQ(code, errc::unverified);
  EXPECT_THAT(fetch(server_with(l.wall() + 1h, l.wall() + 3h), ca.client(), secured),
              HasSubstr("is not valid before 2026-01-01T02:00:00Z"));
  EXPECT_EQ(code, errc::unverified);
}

TEST_F(Tls, SkipsVerificationOnlyWhenAsked) {
  tls_settings careless;
  careless.verify = false;
  EXPECT_EQ(fetch(ca.server({"other"}), careless, secured), "200 hello ");
  tls_settings system;  // whose trust store does not know the test's authority
  EXPECT_THAT(fetch(ca.server({"api"}), system, secured), HasSubstr("not trusted"));
}

TEST_F(Tls, AsksForAndVerifiesAnotherServerName) {
  tls_settings renamed = ca.client();
  renamed.server_name = "other";
  EXPECT_EQ(fetch(ca.server({"other"}), renamed, secured), "200 hello ");
  EXPECT_THAT(fetch(ca.server({"api"}), renamed, secured), HasSubstr("not for other"));
}

TEST_F(Tls, TrustsAnIntermediateByItself) {
  // A leaf that is itself in the CA file, as with self-signed servers.
  const certified_key leaf = ca.issue({"api"});
  tls_server_settings theirs;
  theirs.certificate_pem = leaf.certificate_pem;
  theirs.key_pem = leaf.key_pem;
  tls_settings ours;
  ours.ca_pem = leaf.certificate_pem;
  EXPECT_EQ(fetch(theirs, ours, secured), "200 hello ");
}

TEST_F(Tls, ShowsTheClientsCertificate) {
  const test_authority client_ca(l, "client CA");
  tls_server_settings theirs = ca.server({"api"});
  theirs.client_ca_pem = client_ca.pem();
  const certified_key admin = client_ca.issue({"admin"});
  tls_settings ours = ca.client();
  EXPECT_EQ(fetch(theirs, ours, secured), "200 hello ");  // optional
  ours.certificate_pem = admin.certificate_pem;
  ours.key_pem = reactor::secret(admin.key_pem);
  EXPECT_EQ(fetch(theirs, ours, secured), "200 hello admin");
  const certified_key stranger = ca.issue({"admin"});
  ours.certificate_pem = stranger.certificate_pem;
  ours.key_pem = reactor::secret(stranger.key_pem);
  EXPECT_THAT(fetch(theirs, ours, secured), HasSubstr("the peer refused"));
  EXPECT_EQ(code, errc::refused);
}

TEST_F(Tls, NamesPemTextsThatCannotBeUsed) {
  tls_settings ours = ca.client();
  ours.ca_pem = "nonsense";
  EXPECT_THAT(fetch(ca.server({"api"}), ours, secured), HasSubstr("CA holds no certificate"));
  EXPECT_EQ(code, errc::malformed);
  ours = ca.client();
  ours.certificate_pem = ca.issue({"a"}).certificate_pem;
  ours.key_pem = reactor::secret(ca.issue({"a"}).key_pem);
  EXPECT_THAT(fetch(ca.server({"api"}), ours, secured), HasSubstr("do not match"));
  ours.key_pem = reactor::secret("");
  EXPECT_THAT(fetch(ca.server({"api"}), ours, secured),
              HasSubstr("the client certificate's private key"));
  tls_server_settings theirs = ca.server({"api"});
  theirs.certificate_pem = "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(fetch(theirs, ca.client(), secured),
              HasSubstr("server: listen on :443: set up TLS: server certificate"));
}

TEST_F(Tls, SaysThatThePeerDoesNotSpeakTls) {
  run([&]() -> awaitable<void> {
    const script plain = [](stream& s) -> awaitable<void> {
      (void)co_await s.wait_readable();
      (void)co_await s.write_all(
          std::string_view("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
      (void)co_await read_all(s);
    };
    scripted_server peer(l, {"api", 443}, {plain});
    client_options o = options(secured);
    o.tls = ca.client();
    client c(l, o);
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(got.error().code, errc::malformed);
    EXPECT_THAT(got.error().message(), HasSubstr("does not speak TLS"));
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Tls, BoundsTheHandshake) {
  run([&]() -> awaitable<void> {
    const script silent = [](stream& s) -> awaitable<void> { (void)co_await read_all(s); };
    scripted_server peer(l, {"api", 443}, {silent});
    client_options o = options(secured);
    o.tls = ca.client();
    client c(l, o);
    const steady_time start = l.now();
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_EQ(got.error().code, errc::timed_out);
    EXPECT_EQ(l.now() - start, 5s);
    co_await c.stop();
    co_await peer.stop();
  });
}

/// Both ends of a TLS connection over a pipe.
struct secured_pair {
  std::unique_ptr<acceptor> listener;
  std::unique_ptr<tls_stream> client, server;
};

class TlsStream : public Tls {
protected:
  awaitable<secured_pair> connected(task_group& tasks) {  // borrowed
    secured_pair p;
    endpoint at{"api", 443};
    p.listener = *l.net().listen(at);
    tasks.start("server", [&]() -> awaitable<void> {
      auto accepted = co_await p.listener->accept();
      auto with = tls_server_context(ca.server({"api"}));
      auto done = co_await tls_accept(l, std::move(*accepted), *with);
      p.server = std::move(*done);
    });
    auto raw = co_await l.net().connect(at, never);
    auto with = tls_client_context(ca.client());
    auto done = co_await tls_connect(l, std::move(*raw), *with, "api");
    EXPECT_TRUE(done.has_value());
    p.client = std::move(*done);
    co_await tasks.join();
    co_return p;
  }
};

TEST_F(TlsStream, CarriesMuchInBothDirectionsAtOnce) {
  net().faults("api").piece_limit_bytes = 5000;
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    secured_pair p = co_await connected(tasks);
    std::string data;
    for (int i = 0; i < 300'000; ++i) data += static_cast<char>('a' + i % 23);
    std::string at_client, at_server;
    for (auto [from, to, into] : {std::tuple(p.client.get(), p.server.get(), &at_server),
                                  std::tuple(p.server.get(), p.client.get(), &at_client)}) {
      tasks.start("write", [&data, from = from]() -> awaitable<void> {
        auto sent = co_await from->write_all(data);
        EXPECT_TRUE(sent.has_value());
      });
      tasks.start("read", [&data, to = to, into = into]() -> awaitable<void> {
        std::vector<char> piece(100'000);
        while (into->size() < data.size()) {
          auto n = co_await to->read_some(piece);
          EXPECT_TRUE(n.has_value());
          if (!n || *n == 0) co_return;
          into->append(piece.data(), *n);
        }
      });
    }
    co_await tasks.join();
    EXPECT_EQ(at_client, data);
    EXPECT_EQ(at_server, data);
  });
}

TEST_F(TlsStream, TellsAGoodbyeFromACut) {
  for (const bool cut : {false, true}) {
    net().faults("api").cut_as = link_faults::ending::end_of_stream;
    run([&]() -> awaitable<void> {
      task_group tasks(l);
      secured_pair p = co_await connected(tasks);
      (void)co_await p.server->write_all(std::string_view("data"));
      co_await l.yield();
      if (cut) {
        co_await l.sleep_for(1ms);
        net().cut_all("api");
      } else {
        p.server->close();
      }
      char bytes[16];
      auto n = co_await p.client->read_some(bytes);
      EXPECT_EQ(n.value(), 4u);
      n = co_await p.client->read_some(bytes);
      if (cut) {
        EXPECT_EQ(n.error().code, errc::closed);
      } else {
        EXPECT_EQ(n.value(), 0u);
      }
    });
  }
}

TEST_F(TlsStream, ExpiresAndEndsLikeAnyOther) {
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    secured_pair p = co_await connected(tasks);
    char bytes[16];
    p.client->expire_at(l.now() + 1s);
    auto n = co_await p.client->read_some(bytes);
    EXPECT_EQ(n.error().code, errc::timed_out);
    p.client->expire_at(never);
    (void)co_await p.server->write_all(std::string_view("late"));
    n = co_await p.client->read_some(bytes);
    EXPECT_EQ(n.value(), 4u);
    p.client->close();
    n = co_await p.client->read_some(bytes);
    EXPECT_TRUE(is_cancelled(n.error()));
    auto sent = co_await p.client->write_all(std::string_view("x"));
    EXPECT_TRUE(is_cancelled(sent.error()));
  });
}

TEST_F(TlsStream, SharesWhatOpenSslMadeOfEqualSettings) {
  const tls_settings settings = ca.client();
  const auto a = tls_client_context(settings), b = tls_client_context(settings);
  EXPECT_EQ(a.value(), b.value());
  tls_settings other = settings;
  other.verify = false;
  EXPECT_NE(tls_client_context(other).value(), a.value());
}

/// Some connections, one after the other, to a server that counts who came with a session.
class TlsResumption : public TlsStream {
protected:
  awaitable<bool> connect_once(std::shared_ptr<tls_context> with,
                               std::shared_ptr<tls_resumption> session) {
    task_group tasks(l);
    std::unique_ptr<tls_stream> theirs;
    tasks.start("server", [&]() -> awaitable<void> {
      auto accepted = co_await listener->accept();
      auto done = co_await tls_accept(l, std::move(*accepted), server);
      if (!done) co_return;
      theirs = std::move(*done);
      (void)co_await theirs->write_all(std::string_view("hello"));
    });
    endpoint at{"api", 443};
    auto raw = co_await l.net().connect(at, never);
    auto done = co_await tls_connect(l, std::move(*raw), with, "api", session);
    failed = done ? std::string() : done.error().message();
    bool resumed = false;
    if (done) {
      resumed = (*done)->resumed();
      char bytes[16];
      auto n = co_await (*done)->read_some(bytes);
      EXPECT_EQ(n.value(), 5u);
      common_name = (*done)->peer_common_name();
    }
    co_await tasks.join();
    if (cut) net().cut_all("api");
    co_return resumed;
  }
  void listen(const tls_server_settings& settings) {
    endpoint at{"api", 443};
    listener = *l.net().listen(at);
    server = tls_server_context(settings).value();
  }

  std::unique_ptr<acceptor> listener;
  std::shared_ptr<tls_context> server;
  std::string failed, common_name;
  bool cut = false;
};

// Its 140 certificates take twenty milliseconds: when the first connection is made, on a worker.
TEST_F(TlsResumption, TheSystemsTrustStoreIsReadAtTheFirstConnectionAndOnce) {
  const temporary_folder folder;
  const std::string file = folder / "roots.pem";
  ::setenv("SSL_CERT_FILE", file.c_str(), 1);
  // Each thread reads it once: another test may have had this one read it.
  const auto connect_twice = [&]() -> awaitable<void> {
    listen(ca.server({"api"}));
    std::shared_ptr<tls_context> system = tls_client_context(tls_settings{}).value();
    (void)folder.write("roots.pem", ca.client().ca_pem);
    (void)co_await connect_once(system, nullptr);
    EXPECT_EQ(failed, "");
    std::filesystem::remove(file);
    (void)co_await connect_once(system, nullptr);
    EXPECT_EQ(failed, "");
    listener.reset();
    server.reset();
  };
  std::thread([&] { run(connect_twice); }).join();
  ::unsetenv("SSL_CERT_FILE");
}

TEST_F(TlsResumption, NeedsACertificateOnlyTheFirstTime) {
  run([&]() -> awaitable<void> {
    listen(ca.server({"api"}));
    const auto with = tls_client_context(ca.client()).value();
    const auto session = std::make_shared<tls_resumption>();
    int told = 0;
    session->on_ready = [&] { ++told; };
    EXPECT_FALSE(session->ready(l.wall()));
    std::vector<bool> resumed;
    for (int i = 0; i < 3; ++i) {
      const bool one = co_await connect_once(with, session);
      resumed.push_back(one);
      EXPECT_EQ(common_name, "api");
      EXPECT_TRUE(session->ready(l.wall()));
    }
    EXPECT_EQ(resumed, (std::vector<bool>{false, true, true}));
    EXPECT_EQ(told, 3);
    listener.reset();
  });
}

TEST_F(TlsResumption, OutlivesConnectionsThatWereCut) {
  run([&]() -> awaitable<void> {
    listen(ca.server({"api"}));
    const auto with = tls_client_context(ca.client()).value();
    const auto session = std::make_shared<tls_resumption>();
    cut = true;
    (void)co_await connect_once(with, session);
    const bool resumed = co_await connect_once(with, session);
    EXPECT_TRUE(resumed);
    listener.reset();
  });
}

TEST_F(TlsResumption, LooksAtTheCertificateAgainAfterAnHour) {
  run([&]() -> awaitable<void> {
    listen(ca.server({"api"}));
    const auto with = tls_client_context(ca.client()).value();
    const auto session = std::make_shared<tls_resumption>();
    (void)co_await connect_once(with, session);
    co_await l.sleep_for(40min);
    bool resumed = co_await connect_once(with, session);
    EXPECT_TRUE(resumed);
    co_await l.sleep_for(21min);  // what resumed is no younger than what it went on from
    EXPECT_FALSE(session->ready(l.wall()));
    resumed = co_await connect_once(with, session);
    EXPECT_FALSE(resumed);
    EXPECT_TRUE(session->ready(l.wall()));
    listener.reset();
  });
}

TEST_F(TlsResumption, EndsWithTheCertificate) {
  run([&]() -> awaitable<void> {
    const certified_key made = ca.issue_from({"api"}, l.wall() - 1h, l.wall() + 10min);
    tls_server_settings settings;
    settings.certificate_pem = made.certificate_pem;
    settings.key_pem = made.key_pem;
    listen(settings);
    const auto with = tls_client_context(ca.client()).value();
    const auto session = std::make_shared<tls_resumption>();
    (void)co_await connect_once(with, session);
    co_await l.sleep_for(11min);
    (void)co_await connect_once(with, session);
    EXPECT_THAT(failed, HasSubstr("the certificate \"api\" expired"));
    listener.reset();
  });
}

TEST_F(TlsResumption, IsNotOfferedToThoseWhoShowACertificate) {
  run([&]() -> awaitable<void> {
    const test_authority client_ca(l, "client CA");
    tls_server_settings settings = ca.server({"api"});
    settings.client_ca_pem = client_ca.pem();
    listen(settings);
    const certified_key admin = client_ca.issue({"admin"});
    tls_settings ours = ca.client();
    ours.certificate_pem = admin.certificate_pem;
    ours.key_pem = reactor::secret(admin.key_pem);
    const auto with = tls_client_context(ours).value();
    const auto session = std::make_shared<tls_resumption>();
    (void)co_await connect_once(with, session);
    EXPECT_FALSE(session->ready(l.wall()));
    listener.reset();
  });
}

/// A handler that holds its answers back, so that every request needs a connection of its own.
class TlsIntroduction : public Tls {
protected:
  /// Virtual milliseconds after which each of `n` requests that start together arrived at the
  /// server.
  std::vector<std::int64_t> arrivals(int n, bool sessions) {
    std::vector<std::int64_t> at;
    net().faults("api").latency = 1ms;
    run([&]() -> awaitable<void> {
      const test_authority client_ca(l, "client CA");
      const steady_time start = l.now();
      server_options so;
      so.at = {"api", 443};
      so.tls = std::make_unique<tls_server_settings>(ca.server({"api"}));
      if (!sessions) so.tls->client_ca_pem = client_ca.pem();
      server s(l, std::move(so), [&](request, responder& to) -> awaitable<void> {
        at.push_back((l.now() - start) / 1ms);
        co_await l.sleep_for(300ms);
        response empty;
        (void)co_await to.send(std::move(empty));
      });
      EXPECT_TRUE(s.start().has_value());
      client_options o = options(secured);
      o.tls = ca.client();
      client c(l, o);
      task_group tasks(l);
      for (int i = 0; i < n; ++i)
        tasks.start("request", [&]() -> awaitable<void> {
          request r = get("/");
          auto got = co_await c.fetch(std::move(r));
          EXPECT_EQ(summary(got), "200 ");
        });
      co_await tasks.join();
      co_await c.stop();
      co_await s.stop();
    });
    return at;
  }
};

TEST_F(TlsIntroduction, HoldsTheOthersBackUntilTheFirstHasItsSession) {
  const std::vector<std::int64_t> at = arrivals(4, true);
  ASSERT_EQ(at.size(), 4u);
  EXPECT_LT(at[0], 10);
  EXPECT_GT(at[1], at[0]);
  EXPECT_LT(at[3], 20);  // long before the first answer
}

TEST_F(TlsIntroduction, EndsWithTheFirstAnswerWhereThereAreNoSessions) {
  const std::vector<std::int64_t> at = arrivals(3, false);
  ASSERT_EQ(at.size(), 3u);
  EXPECT_LT(at[0], 10);
  EXPECT_GT(at[1], 300);
  EXPECT_LT(at[2], 320);
}

TEST_F(TlsIntroduction, IsNotWaitedForLongerThanASecond) {
  run([&]() -> awaitable<void> {
    const script silent = [](stream& s) -> awaitable<void> { (void)co_await read_all(s); };
    scripted_server peer(l, {"api", 443}, {silent});
    client_options o = options(secured);
    o.tls = ca.client();
    client c(l, o);
    task_group tasks(l);
    const steady_time start = l.now();
    for (int i = 0; i < 3; ++i)
      tasks.start("request", [&]() -> awaitable<void> {
        request r = get("/");
        auto got = co_await c.fetch(std::move(r));
        EXPECT_EQ(got.error().code, errc::timed_out);
      });
    co_await tasks.join();
    EXPECT_LE(l.now() - start, 6s);
    co_await c.stop();
    co_await peer.stop();
  });
}

TEST_F(Tls, NewConnectionsUseNewSettings) {
  run([&]() -> awaitable<void> {
    const test_authority client_ca(l, "client CA");
    server_options so;
    so.at = {"api", 443};
    so.tls = std::make_unique<tls_server_settings>(ca.server({"api"}));
    so.tls->client_ca_pem = client_ca.pem();
    server s(l, std::move(so), hello());
    EXPECT_TRUE(s.start().has_value());
    client_options o = options(secured);
    o.tls = ca.client();
    client c(l, o);
    for (const char* name : {"first", "second"}) {
      const certified_key key = client_ca.issue({name});
      tls_settings with = ca.client();
      with.certificate_pem = key.certificate_pem;
      with.key_pem = reactor::secret(key.key_pem);
      c.set_tls(with);
      EXPECT_EQ(c.connections(), 0u);
      request r = get("/");
      auto got = co_await c.fetch(std::move(r));
      EXPECT_EQ(summary(got), std::string("200 hello ") + name);
    }
    co_await c.stop();
    co_await s.stop();
  });
}

}  // namespace
}  // namespace reactor::http
