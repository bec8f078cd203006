#include "tests/reactor/http/http_test.hpp"
#include "tests/reactor/http/test_certificates.hpp"

namespace reactor::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const endpoint proxy_at{"proxy", 3128};

class Proxied : public HttpTest {
protected:
  awaitable<std::string> read_bytes(stream& s, std::size_t n) {
    std::string out(n, '\0');
    for (std::size_t have = 0; have < n;) {
      auto got = co_await s.read_some({out.data() + have, n - have});
      if (!got || *got == 0) break;
      have += *got;
    }
    co_return out;
  }

  awaitable<void> pump_both(stream& s, stream& upstream) {
    task_group both(l);
    stream* const ends[] = {&s, &upstream};
    for (int i : {0, 1}) {
      both.start("pump", [&ends, i]() -> awaitable<void> {
        std::vector<char> piece(16'384);
        for (;;) {
          auto n = co_await ends[i]->read_some(piece);
          if (!n || *n == 0) break;
          auto sent = co_await ends[1 - i]->write_all({piece.data(), *n});
          if (!sent) break;
        }
        for (stream* end : ends) end->close();
      });
    }
    co_await both.join();
  }

  /// A SOCKS5 proxy: wants user and password where `login` is not empty, and answers `reply`.
  script socks(std::string login, char reply = 0) {
    return [this, login, reply](stream& s) -> awaitable<void> {
      const std::string hello = co_await read_bytes(s, 2);
      const std::string methods = co_await read_bytes(s, static_cast<std::size_t>(hello[1]));
      heads.push_back(hello + methods);
      const char method = login.empty() ? 0 : 2;
      const std::string chosen{5, methods.find(method) == methods.npos ? '\xff' : method};
      (void)co_await s.write_all(chosen);
      if (chosen[1] == '\xff') co_return;
      if (method == 2) {
        const std::string words = co_await read_bytes(s, login.size());
        heads.push_back(words);
        const std::string verdict{1, words == login ? '\0' : '\1'};
        (void)co_await s.write_all(verdict);
        if (words != login) co_return;
      }
      const std::string begin = co_await read_bytes(s, 5);
      heads.push_back(begin + co_await read_bytes(s, static_cast<std::size_t>(begin[4]) + 2));
      endpoint to{"api", 443};
      auto upstream = co_await l.net().connect(to, never);
      // The name of the address that it connects from; 3 bytes and a port.
      const std::string answer = std::string{5, reply, 0, 3, 3} + "out" + std::string{0, 80};
      (void)co_await s.write_all(answer);
      if (reply != 0 || !upstream) co_return;
      co_await pump_both(s, **upstream);
    };
  }

  /// A proxy that checks the password and passes bytes on.
  script tunnel(std::string wanted_authorization) {
    return [this, wanted_authorization](stream& s) -> awaitable<void> {
      heads.push_back(co_await read_head(s));
      const std::string& head = heads.back();
      if (!wanted_authorization.empty() &&
          head.find("Proxy-Authorization: " + wanted_authorization + "\r\n") == std::string::npos) {
        (void)co_await s.write_all(std::string_view(
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nnope"));
        co_return;
      }
      endpoint to{"api", 443};
      auto upstream = co_await l.net().connect(to, never);
      if (!upstream) {
        (void)co_await s.write_all(std::string_view("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
        co_return;
      }
      (void)co_await s.write_all(std::string_view("HTTP/1.1 200 Connection established\r\n\r\n"));
      co_await pump_both(s, **upstream);
    };
  }

  result<response> fetch_through(script p, std::string proxy_url, origin to) {
    std::optional<result<response>> got;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, proxy_at, {std::move(p)});
      server_options so;
      so.at = {"api", 443};
      so.tls = std::make_unique<tls_server_settings>(ca.server({"api"}));
      server s(l, std::move(so), [](request r, responder& out) -> awaitable<void> {
        response answer;
        answer.body = r.target;
        (void)co_await out.send(std::move(answer));
      });
      EXPECT_TRUE(s.start().has_value());
      client_options o = options(to);
      o.tls = ca.client();
      o.proxy.url = reactor::secret(std::move(proxy_url));
      client c(l, o);
      request r = get("/x?y");
      const steady_time start = l.now();
      got.emplace(co_await c.fetch(std::move(r)));
      took = l.now() - start;
      co_await c.stop();
      co_await s.stop();
      co_await l.sleep_for(1s);  // the tunnel's pumps end with their connections
      co_await peer.stop();
    });
    return std::move(*got);
  }

  test_authority ca{l};
  const origin secured{true, "api", 443};
  std::vector<std::string> heads;
  nanoseconds took{};
};

TEST_F(Proxied, AsksForATunnelToAnHttpsOrigin) {
  EXPECT_EQ(summary(fetch_through(tunnel(""), "http://proxy:3128", secured)), "200 /x?y");
  EXPECT_EQ(heads.at(0), "CONNECT api:443 HTTP/1.1\r\nHost: api:443\r\n\r\n");
}

TEST_F(Proxied, ShowsUserAndPasswordToTheProxyAlone) {
  EXPECT_EQ(summary(fetch_through(tunnel("Basic dXNlcjpwQHNz"), "http://user:p%40ss@proxy:3128",
                                  secured)),
            "200 /x?y");
  auto refused =
      fetch_through(tunnel("Basic dXNlcjpwQHNz"), "http://user:hunter2@proxy:3128", secured);
  EXPECT_EQ(refused.error().code, errc::refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("407"));
  EXPECT_THAT(refused.error().message(), HasSubstr("connect to api:443 through http://proxy:3128"));
  EXPECT_THAT(refused.error().message(), Not(HasSubstr("hunter2")));
  auto missing = fetch_through(tunnel("Basic dXNlcjpwQHNz"), "http://proxy:3128", secured);
  EXPECT_THAT(missing.error().message(), HasSubstr("needs a user name"));
}

TEST_F(Proxied, SendsTheWholeUrlForAnHttpOrigin) {
  std::string head;
  const script forward = [&](stream& s) -> awaitable<void> {
    head = co_await read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    (void)co_await read_all(s);
  };
  EXPECT_EQ(summary(fetch_through(forward, "user:p@proxy:3128", {false, "api", 8080})), "200 ok");
  EXPECT_THAT(head, StartsWith("GET http://api:8080/x?y HTTP/1.1\r\nHost: api:8080\r\n"
                               "Proxy-Authorization: Basic dXNlcjpw\r\n"));
}

TEST_F(Proxied, TellsTheProxysTroubleFromItsVerdict) {
  const auto with = [&](std::string answer) {
    return fetch_through(answers_once(answer), "http://proxy:3128", secured).error();
  };
  EXPECT_EQ(with("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").code, errc::closed);
  EXPECT_EQ(with("HTTP/1.1 403 Forbidden\r\n\r\n").code, errc::refused);
  EXPECT_EQ(with("garbage\r\n\r\n").code, errc::malformed);
  EXPECT_EQ(with("").code, errc::closed);
  EXPECT_EQ(with("HTTP/1.1 200 OK\r\n\r\nearly").code, errc::malformed);
  EXPECT_EQ(with("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x')).code, errc::limit);
}

TEST_F(Proxied, BoundsTheTunnelByTheConnectTimeout) {
  const script silent = [](stream& s) -> awaitable<void> { (void)co_await read_all(s); };
  EXPECT_EQ(fetch_through(silent, "http://proxy:3128", secured).error().code, errc::timed_out);
  EXPECT_EQ(took, 5s);
}

TEST_F(Proxied, ReachesAServerThroughSocks) {
  EXPECT_EQ(summary(fetch_through(socks(""), "socks5://proxy:3128", secured)), "200 /x?y");
  EXPECT_EQ(heads.at(0), std::string({5, 1, 0}));
  EXPECT_EQ(heads.at(1), std::string({5, 1, 0, 3, 3}) + "api" + std::string({1, '\xbb'}));
}

TEST_F(Proxied, ShowsUserAndPasswordToASocksProxy) {
  const std::string words = "\x01\x04user\x04p@ss";
  EXPECT_EQ(summary(fetch_through(socks(words), "socks5h://user:p%40ss@proxy:3128", secured)),
            "200 /x?y");
  EXPECT_EQ(heads.at(0), std::string({5, 2, 0, 2}));
  EXPECT_EQ(heads.at(1), words);

  const fault wrong = fetch_through(socks("\x01\x04user\x07"
                                          "another"),
                                    "socks5://user:hunter2@proxy:3128", secured)
                          .error();
  EXPECT_EQ(wrong.code, errc::refused);
  EXPECT_EQ(wrong.message(),
            "connect to api:443 through socks5://proxy:3128: the proxy does not accept the user "
            "name and password of its URL");
  const fault none = fetch_through(socks(words), "socks5://proxy:3128", secured).error();
  EXPECT_EQ(none.code, errc::refused);
  EXPECT_THAT(none.message(), HasSubstr("its URL needs a user name and a password"));
}

TEST_F(Proxied, TellsWhatASocksProxyAnswers) {
  const auto answered = [this](char reply) {
    return fetch_through(socks("", reply), "socks5://proxy:3128", secured).error();
  };
  EXPECT_EQ(answered(2).code, errc::refused);
  EXPECT_THAT(answered(2).message(), HasSubstr("its rules do not allow the connection"));
  EXPECT_EQ(answered(4).code, errc::closed);
  EXPECT_THAT(answered(5).message(), HasSubstr("the proxy says that the connection is refused"));
  EXPECT_THAT(answered(77).message(), HasSubstr("it gives an unknown reason"));
  const fault other = fetch_through(tunnel(""), "socks5://proxy:3128", secured).error();
  EXPECT_EQ(other.code, errc::timed_out);  // an HTTP proxy waits for the end of a head
  const script answers_in_text = [this](stream& s) -> awaitable<void> {
    (void)co_await read_bytes(s, 3);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 400 Bad Request\r\n\r\n"));
    s.close();
  };
  const fault text = fetch_through(answers_in_text, "socks5://proxy:3128", secured).error();
  EXPECT_EQ(text.code, errc::malformed);
  EXPECT_THAT(text.message(), HasSubstr("the proxy does not speak SOCKS5"));
}

TEST_F(Proxied, RefusesAProxyUrlThatItCannotUse) {
  auto got = fetch_through(tunnel(""), "socks4://user:hunter2@proxy", secured);
  EXPECT_EQ(got.error().code, errc::malformed);
  EXPECT_THAT(got.error().message(), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace reactor::http
