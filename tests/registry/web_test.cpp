#include "registry/web.hpp"

#include "reactor/http/authorization.hpp"
#include "tests/reactor/http/http_test.hpp"
#include "tests/registry/fixture.hpp"

namespace registry {

namespace {

using namespace std::chrono_literals;
using reactor::errc;
using reactor::http::request;
using reactor::http::scripted_server;
using testing::HasSubstr;

class Web : public WebFixture {
protected:
  /// Asks a peer that behaves like `s` once.
  result<web_answer> from(reactor::http::script s, std::size_t limit = 1000) {
    std::optional<result<web_answer>> out;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, {"shop", 80}, {std::move(s)});
      web w(l, env());
      web_request r;
      r.url = "http://shop/index.yaml";
      r.limit_bytes = limit;
      out.emplace(co_await w.ask(std::move(r)));
      co_await w.stop();
      co_await peer.stop();
    });
    return std::move(*out);
  }
};

TEST_F(Web, RefusesABodyThatIsAnnouncedTooBigWithoutReadingIt) {
  auto got =
      from(reactor::http::answers_once("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\nx"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::limit);
  EXPECT_THAT(got.error().message(), HasSubstr("larger than 1000 bytes"));
}

TEST_F(Web, StopsReadingABodyThatNeverEnds) {
  auto got = from([](reactor::stream& s) -> awaitable<void> {
    (void)co_await reactor::http::read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\n\r\n"));
    const std::string piece(500, 'x');
    for (;;) {
      auto sent = co_await s.write_all(piece);
      if (!sent) co_return;
    }
  });
  EXPECT_EQ(got.error().code, errc::limit);
}

TEST_F(Web, GivesUpOnAServerThatHangs) {
  const auto before = l.now();
  auto got = from([](reactor::stream& s) -> awaitable<void> {
    (void)co_await reactor::http::read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"));
    (void)co_await s.wait_readable();
  });
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_LE(l.now() - before, download_timeout);
}

TEST_F(Web, GivesUpOnAServerThatDrips) {
  const auto before = l.now();
  auto got = from([this](reactor::stream& s) -> awaitable<void> {
    (void)co_await reactor::http::read_head(s);
    (void)co_await s.write_all(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"));
    for (;;) {
      co_await l.sleep_for(5s);
      auto sent = co_await s.write_all(std::string_view("x"));
      if (!sent) co_return;
    }
  });
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_LE(l.now() - before, download_timeout + 1s);
}

TEST_F(Web, NoticesABodyThatIsCutShort) {
  auto got = from(reactor::http::answers_once("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"));
  ASSERT_FALSE(got);
}

TEST_F(Web, RemembersFewOfTheServersThatItIsSentTo) {
  run([&]() -> awaitable<void> {
    int n = 0;
    told_server shop(l, "shop", 80, [&](const request&) {
      return respond(302, "", {{"Location", "http://cdn-" + std::to_string(n++) + "/x"}});
    });
    web w(l, env());
    for (int i = 0; i < 300; ++i) {
      web_request r;
      r.url = "http://shop/a";
      auto got = co_await w.ask(std::move(r));
      EXPECT_FALSE(got);
    }
    EXPECT_EQ(n, 300);
    EXPECT_LE(w.servers(), 64u);
    co_await w.stop();
    co_await shop.stop();
  });
}

TEST_F(Web, FollowsRedirectsWithoutTakingCredentialsElsewhere) {
  run([&]() -> awaitable<void> {
    told_server shop(l, "shop", 80, [](const request& r) {
      if (r.target == "/a") return respond(302, "", {{"Location", "/b"}});
      return respond(302, "", {{"Location", "http://cdn/x"}});
    });
    told_server cdn(l, "cdn", 80, [](const request&) { return respond(200, "chart"); });
    web w(l, env());
    web_request r;
    r.url = "http://shop/a";
    r.with = credentials(r.url, reactor::http::basic_authorization("me", "pw"), {});
    auto got = co_await w.ask(std::move(r));
    EXPECT_TRUE(got && got->body == "chart");
    EXPECT_EQ(got->url, "http://cdn/x");
    EXPECT_EQ(shop.seen.size(), 2u);
    EXPECT_EQ(shop.seen[1].fields.get("Authorization"), "Basic bWU6cHc=");
    EXPECT_FALSE(cdn.asked_with_authorization());
    co_await w.stop();
    co_await shop.stop();
    co_await cdn.stop();
  });
}

TEST_F(Web, StopsAfterTenRedirects) {
  run([&]() -> awaitable<void> {
    told_server shop(l, "shop", 80,
                     [](const request&) { return respond(302, "", {{"Location", "/again"}}); });
    web w(l, env());
    web_request r;
    r.url = "http://shop/a";
    auto got = co_await w.ask(std::move(r));
    EXPECT_THAT(got.error().message(), HasSubstr("stopped after 10 redirects"));
    EXPECT_EQ(shop.seen.size(), 11u);
    co_await w.stop();
    co_await shop.stop();
  });
}

TEST_F(Web, SpeaksNothingButHttp) {
  web_request r;
  r.url = "file:///etc/passwd";
  auto got = ask(std::move(r));
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message(), HasSubstr("unsupported protocol scheme \"file\""));
}

}  // namespace
}  // namespace registry
