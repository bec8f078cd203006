// The listener of the page in virtual time: what it answers to whom, its stream of changes, its
// bounds.
#include "service/page/site.hpp"

#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace web;
using reactor::awaitable;
namespace json = boost::json;

constexpr const char* token = "correct-horse-battery";

/// A site, what it is asked, and what is left when all has stopped.
class served : public testing::Test {
protected:
  reactor::loop l{reactor::loop::mode::simulated, 5};
  board b{l};
  std::unique_ptr<site> s;
  const reactor::endpoint where{"page", 8090};
  std::size_t documents = 0;
  reactor::nanoseconds document_takes{}, patience = 600s;
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();

  /// Runs `talk` against a started site.
  void with_site(site_options o, std::function<awaitable<void>()> talk) {
    o.at = where;
    s = std::make_unique<site>(
        l, std::move(o), b,
        [this](std::string name,
               reactor::http::target_parts asked) -> awaitable<reactor::result<site::text>> {
          ++documents;
          co_await l.sleep_for(document_takes);
          if (name == "place" && asked.path == "/cluster/there/api/row/ns/a%20b")
            co_return std::make_shared<const std::string>("#/cluster/there/api/row/ns%2Fa%20b");
          if (name == "none" || name == "place")
            co_return reactor::make_fault(reactor::errc::not_found, "", "none <script> here");
          co_return std::make_shared<const std::string>("{\"name\":\"" + name + "\",\"of\":\"" +
                                                        asked.get("name").value_or("") + "\"}");
        },
        reactor::logger([this] { return l.wall(); }, log));
    bool stopped = false;
    reactor::task_group tasks(l);
    tasks.start("talk", [&, talk = std::move(talk)]() -> awaitable<void> {
      auto started = co_await s->start();
      if (!started) throw std::runtime_error(started.error().message());
      co_await talk();
      co_await s->stop();
      stopped = true;
    });
    l.run_until(l.now() + patience);
    EXPECT_TRUE(stopped);
    s.reset();
    EXPECT_EQ(l.live(), reactor::live_counts());
  }
  site_options with_token() {
    reactor::put(folder / "token", std::string(token) + "\n");
    site_options o;
    o.token_file = folder / "token";
    return o;
  }

  /// What comes back until the end, or `patience`.
  awaitable<std::string> ask(std::string bytes, reactor::nanoseconds patience = 5s) {
    auto to = co_await l.net().connect(where, l.now() + 5s);
    if (!to) co_return "refused";
    (void)co_await (*to)->write_all(bytes);
    std::string all;
    std::array<char, 4'096> some;
    (*to)->expire_at(l.now() + patience);
    for (;;) {
      const auto n = co_await (*to)->read_some(some);
      if (!n || *n == 0) co_return all;
      all.append(some.data(), *n);
    }
  }
  awaitable<std::string> get(std::string target, std::string fields = "",
                             reactor::nanoseconds patience = 5s) {
    std::string bytes = "GET " + target + " HTTP/1.1\r\nHost: localhost:8090\r\n" + fields +
                        "Connection: close\r\n\r\n";
    std::string said = co_await ask(std::move(bytes), patience);
    co_return said;
  }
  awaitable<std::string> post(std::string target, std::string body, std::string fields = "") {
    std::string bytes = "POST " + target + " HTTP/1.1\r\nHost: localhost:8090\r\n" + fields +
                        "Content-Length: " + std::to_string(body.size()) +
                        "\r\nConnection: close\r\n\r\n" + body;
    std::string said = co_await ask(std::move(bytes));
    co_return said;
  }
  reactor::temporary_folder folder;
};

/// "HTTP/1.1 200 …" → 200
int status(const std::string& said) {
  return said.size() > 12 ? std::atoi(said.c_str() + 9) : 0;
}
std::string field(const std::string& said, const std::string& name) {
  const std::size_t at = said.find("\r\n" + name + ": ");
  if (at == said.npos) return "";
  const std::size_t begin = at + name.size() + 4;
  return said.substr(begin, said.find("\r\n", begin) - begin);
}

// GCC 12 takes no texts that are put together where a coroutine waits.
std::string asking(const std::string& target, const std::string& host) {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}
std::string bearer(const std::string& shown) {
  return "Authorization: Bearer " + shown + "\r\n";
}
std::string cookie_of(const std::string& said) {
  const std::string set = field(said, "Set-Cookie");
  return "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
}

struct told {
  std::string id;
  json::value data;
};
/// The events of a chunked stream, as far as they are whole.
std::vector<told> events(const std::string& said) {
  std::string body;
  for (std::size_t at = said.find("\r\n\r\n") + 4; at < said.size();) {
    const std::size_t size = std::strtoul(said.c_str() + at, nullptr, 16);
    at = said.find("\r\n", at) + 2;
    if (size == 0) break;
    body += said.substr(at, size);
    at += size + 2;
  }
  std::vector<told> all;
  for (std::size_t at = 0;;) {
    const std::size_t end = body.find("\n\n", at);
    if (end == body.npos) return all;
    const std::string one = body.substr(at, end - at);
    const std::size_t data = one.find("\ndata: ");
    all.push_back({one.substr(4, data - 4), json::parse(one.substr(data + 7))});
    at = end + 2;
  }
}

TEST_F(served, EveryAnswerHoldsTheBrowserToOurFiles) {
  with_site({}, [&]() -> awaitable<void> {
    for (const char* target : {"/", "/page.js", "/data/x", "/data/none", "/nothing", "/../x"}) {
      const std::string said = co_await get(target);
      const std::string rules = field(said, "Content-Security-Policy");
      EXPECT_TRUE(rules.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"))
          << target;
      EXPECT_NE(rules.find("frame-ancestors 'none'"), rules.npos) << target;
      EXPECT_NE(rules.find("require-trusted-types-for 'script'"), rules.npos) << target;
      EXPECT_EQ(rules.find("unsafe"), rules.npos) << target;
      EXPECT_EQ(field(said, "X-Content-Type-Options"), "nosniff") << target;
      EXPECT_EQ(field(said, "Referrer-Policy"), "same-origin") << target;
      EXPECT_EQ(field(said, "Access-Control-Allow-Origin"), "") << target;
    }
  });
}

TEST_F(served, FilesHaveTypesAndAreNotSentAgainWhenTheyAreKnown) {
  with_site({}, [&]() -> awaitable<void> {
    const std::string page = co_await get("/");
    EXPECT_EQ(status(page), 200);
    EXPECT_EQ(field(page, "Content-Type"), "text/html; charset=utf-8");
    const std::string script = co_await get("/page.js");
    EXPECT_EQ(field(script, "Content-Type"), "text/javascript; charset=utf-8");
    std::string known = "If-None-Match: " + field(script, "ETag") + "\r\n";
    const std::string again = co_await get("/page.js", std::move(known));
    EXPECT_EQ(status(again), 304);
    EXPECT_LT(again.size(), 1'500u);
    for (const char* absent :
         {"/login.html", "/page.css/", "/%70age.js", "//page.js", "/texts.cpp"}) {
      const std::string said = co_await get(absent);
      EXPECT_EQ(status(said), 404) << absent;
    }
    const std::string other =
        co_await ask("DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(status(other), 405);
  });
}

TEST_F(served, AnAddressThatLeadsNowhereIsA404ThatABrowserCanRead) {
  with_site({}, [&]() -> awaitable<void> {
    for (const char* absent :
         {"/nothing", "/missing.html", "/a/b/%3Cscript%3Ealert(1)%3C/script%3E", "/cluster/away",
          "/cluster/there/api/gone"}) {
      const std::string seen = co_await get(absent, "Accept: text/html,*/*;q=0.8\r\n");
      EXPECT_EQ(status(seen), 404) << absent;
      EXPECT_EQ(field(seen, "Content-Type"), "text/html; charset=utf-8") << absent;
      EXPECT_NE(seen.find("Not found</h1>"), seen.npos) << absent;
      EXPECT_EQ(seen.find("<script"), seen.npos) << absent;
      EXPECT_EQ(seen.find('{'), seen.npos) << absent;
      const std::string by_program = co_await get(absent, "Accept: */*\r\n");
      EXPECT_EQ(status(by_program), 404) << absent;
      EXPECT_EQ(field(by_program, "Content-Type"), "text/plain; charset=utf-8") << absent;
    }
    const std::string deep = co_await get("/a/b/c", "Accept: text/html\r\n");
    EXPECT_NE(deep.find("href=\"../../page.css\""), deep.npos) << "behind any path of a proxy";
    const std::string sentence = co_await get("/cluster/away", "Accept: text/html\r\n");
    EXPECT_NE(sentence.find("none &lt;script&gt; here"), sentence.npos);
    const std::string place = co_await get("/cluster/there/api/row/ns/a%20b");
    EXPECT_EQ(status(place), 303);
    EXPECT_EQ(field(place, "Location"), "../../../../../#/cluster/there/api/row/ns%2Fa%20b");
  });
}

TEST_F(served, AnotherHostsNameIsToldNothing) {
  site_options o;
  o.hosts = {"windlass.example.com"};
  with_site(std::move(o), [&]() -> awaitable<void> {
    for (const char* target : {"/", "/events", "/data/x", "/page.js"}) {
      std::string theirs = asking(target, "rebound.evil.example.com:8090");
      const std::string said = co_await ask(std::move(theirs), 1s);
      EXPECT_EQ(status(said), 421) << target;
      std::string by_name = asking(target, "windlass.example.com");
      const std::string ours = co_await ask(std::move(by_name), 1s);
      EXPECT_EQ(status(ours), 200) << target;
    }
  });
  EXPECT_EQ(documents, 1u);
}

TEST_F(served, WithoutTheTokenOnlyTheFormIsSeen) {
  with_site(with_token(), [&]() -> awaitable<void> {
    const std::string page = co_await get("/");
    EXPECT_EQ(status(page), 401);
    EXPECT_NE(page.find("<form method=\"post\" action=\"login\">"), page.npos);
    EXPECT_EQ(page.find("page.js"), page.npos);
    for (const char* closed :
         {"/events", "/data/cluster?name=a", "/data/timeline", "/cluster/there", "/nothing",
          "/missing.html", "/page.js", "/index.html", "/live.js"}) {
      const std::string said = co_await get(closed);
      EXPECT_EQ(status(said), 401) << closed;
      const std::string shown =
          co_await get(closed, "Authorization: Bearer wrong-horse-battery\r\n");
      EXPECT_EQ(status(shown), 401) << closed;
    }
    for (const char* open : {"/page.css", "/login.js", "/icon.svg"}) {
      const std::string said = co_await get(open);
      EXPECT_EQ(status(said), 200) << open;
    }
    std::string right = bearer(token);
    const std::string shown = co_await get("/data/x", std::move(right));
    EXPECT_EQ(status(shown), 200);
    EXPECT_EQ(documents, 1u);
  });
}

TEST_F(served, TheFormGivesACookieThatOpensThePageUntilLogout) {
  with_site(with_token(), [&]() -> awaitable<void> {
    std::string form = std::string("other=1&token=") + token;
    const std::string in = co_await post("/login", std::move(form));
    EXPECT_EQ(status(in), 303);
    EXPECT_EQ(field(in, "Location"), "/");
    const std::string cookie = cookie_of(in);
    const std::string page = co_await get("/", cookie);
    EXPECT_EQ(status(page), 200);
    std::string foreign_fields = cookie + "Origin: http://evil\r\n";
    const std::string foreign = co_await post("/logout", "", std::move(foreign_fields));
    EXPECT_EQ(status(foreign), 403);
    std::string fields = cookie + "Origin: http://localhost:8090\r\n";
    const std::string out = co_await post("/logout", "", std::move(fields));
    EXPECT_EQ(status(out), 303);
    const std::string after = co_await get("/", cookie);
    EXPECT_EQ(status(after), 401);
  });
}

TEST_F(served, AWrongTokenTakesItsTimeAndFewTryAtOnce) {
  with_site(with_token(), [&]() -> awaitable<void> {
    const auto began = l.now();
    const std::string wrong = co_await post("/login", "token=wrong-horse-battery");
    EXPECT_EQ(field(wrong, "Location"), "/?refused");
    EXPECT_EQ(field(wrong, "Set-Cookie"), "");
    EXPECT_GE(l.now() - began, wrong_tokens::waits);
    std::size_t refused = 0, tried = 0;
    reactor::task_group many(l);
    for (int i = 0; i < 50; ++i)
      many.start("guess", [&]() -> awaitable<void> {
        const std::string said = co_await post("/login", "token=guess-guess-guess-guess");
        ++(status(said) == 429 ? refused : tried);
      });
    co_await many.join();
    EXPECT_LE(tried, wrong_tokens::most_waiting);
    EXPECT_EQ(refused + tried, 50u);
  });
}

TEST_F(served, TheRightTokenWaitsForNoWrongOne) {
  with_site(with_token(), [&]() -> awaitable<void> {
    reactor::task_group many(l);
    for (int i = 0; i < 100; ++i)
      many.start("guess", [&, i]() -> awaitable<void> {
        for (int again = 0; again < 3; ++again) {
          if (i % 2 == 0)
            (void)co_await post("/login", "token=guess-guess-guess-guess");
          else
            (void)co_await get("/data/x", "Authorization: Bearer guess-guess-guess-guess\r\n");
        }
      });
    for (int i = 0; i < 20; ++i) {
      co_await l.sleep_for(50ms);
      const auto began = l.now();
      std::string form = std::string("token=") + token, right = bearer(token);
      const std::string in = co_await post("/login", std::move(form));
      EXPECT_EQ(status(in), 303);
      EXPECT_NE(field(in, "Set-Cookie"), "");
      const std::string shown = co_await get("/data/x", std::move(right));
      EXPECT_EQ(status(shown), 200);
      EXPECT_LT(l.now() - began, wrong_tokens::waits);
    }
    co_await many.join();
  });
}

TEST_F(served, AWrongBearerIsAnsweredLateAndLogged) {
  with_site(with_token(), [&]() -> awaitable<void> {
    for (const char* target : {"/events", "/data/x", "/", "/page.js", "/page.css"}) {
      const auto began = l.now();
      (void)co_await get(target, "Authorization: Bearer wrong-horse-battery\r\n");
      EXPECT_GE(l.now() - began, wrong_tokens::waits) << target;
      co_await l.sleep_for(wrong_tokens::are_told_every);
    }
  });
  EXPECT_EQ(log->count("another token was shown to the page"), 5u);
  EXPECT_EQ(documents, 0u);
}

TEST_F(served, AStreamEndsWithWhatLetItIn) {
  enum class ends { token_changes, logout, session, never };
  for (const ends how : {ends::token_changes, ends::logout, ends::session, ends::never})
    for (const bool by_cookie : {true, false}) {
      const bool ended = how == ends::token_changes || (how != ends::never && by_cookie);
      const auto after =
          how == ends::session ? doorkeeper::session_lasts : 2 * site::token_is_read_every;
      patience = after + 600s;
      b.put("fleet", "{\"n\":\"before\"}");
      with_site(with_token(), [&]() -> awaitable<void> {
        std::string form = std::string("token=") + token;
        const std::string in = co_await post("/login", std::move(form));
        const std::string cookie = cookie_of(in);
        reactor::task_group meanwhile(l);
        std::string said;
        meanwhile.start("read", [&]() -> awaitable<void> {
          std::string shown = by_cookie ? cookie : bearer(token);
          said = co_await get("/events", std::move(shown), after + 60s);
        });
        co_await l.sleep_for(1s);
        if (how == ends::token_changes) reactor::put(folder / "token", "another-horse-battery");
        if (how == ends::logout) (void)co_await post("/logout", "", cookie);
        co_await l.sleep_for(after + 1s);
        const std::size_t readers = s->readers();
        b.put("fleet", "{\"n\":\"after\"}");
        co_await meanwhile.join();
        const std::string what =
            std::to_string(static_cast<int>(how)) + (by_cookie ? " by cookie" : " by bearer");
        EXPECT_EQ(readers, ended ? 0u : 1u) << what;
        EXPECT_NE(said.find("before"), said.npos) << what;
        EXPECT_EQ(said.find("after") == said.npos, ended) << what;
        EXPECT_EQ(said.ends_with("0\r\n\r\n"), ended) << what << ": ended in order";
      });
    }
}

TEST_F(served, ADocumentIsNotSentToAReaderWhoseAccessEndedMeanwhile) {
  document_takes = 3 * site::token_is_read_every;
  with_site(with_token(), [&]() -> awaitable<void> {
    reactor::task_group meanwhile(l);
    std::string said;
    meanwhile.start("read", [&]() -> awaitable<void> {
      std::string right = bearer(token);
      said = co_await get("/data/x", std::move(right), 300s);
    });
    co_await l.sleep_for(1s);
    reactor::put(folder / "token", "another-horse-battery");
    co_await meanwhile.join();
    EXPECT_EQ(status(said), 401);
    EXPECT_EQ(said.find("\"name\""), said.npos);
  });
}

TEST_F(served, AnotherTokenInTheFileEndsSessionsAndABrokenFileDoesNot) {
  with_site(with_token(), [&]() -> awaitable<void> {
    std::string form = std::string("token=") + token;
    const std::string in = co_await post("/login", std::move(form));
    const std::string cookie = cookie_of(in);
    reactor::put(folder / "token", "short");
    co_await l.sleep_for(2 * site::token_is_read_every);
    const std::string still = co_await get("/", cookie);
    EXPECT_EQ(status(still), 200);
    EXPECT_EQ(
        log->count("the token of the page cannot be read again, the former one still opens it"),
        1u);
    reactor::put(folder / "token", "another-horse-battery");
    co_await l.sleep_for(2 * site::token_is_read_every);
    const std::string ended = co_await get("/", cookie);
    EXPECT_EQ(status(ended), 401);
  });
}

TEST_F(served, AReaderGetsEverythingThenWhatChangesThenHeartbeats) {
  b.put("cluster/a", "{\"n\":1}");
  b.put("cluster/b", "{\"n\":1}");
  with_site({}, [&]() -> awaitable<void> {
    reactor::task_group changing(l);
    changing.start("change", [&]() -> awaitable<void> {
      co_await l.sleep_for(3s);
      b.put("cluster/a", "{\"n\":2}");
      b.put("cluster/a", "{\"n\":3}");
      b.erase("cluster/b");
    });
    const std::string said = co_await get("/events", "", 40s);
    co_await changing.join();
    EXPECT_EQ(field(said, "Content-Type"), "text/event-stream");
    const auto all = events(said);
    EXPECT_EQ(all.size(), 4u) << "two and two heartbeats";
    if (all.size() != 4) co_return;
    EXPECT_EQ(all[0].data.at("kind").as_string(), "FleetChange");
    EXPECT_TRUE(all[0].data.at("full").as_bool());
    EXPECT_EQ(all[0].data.at("set").as_object().size(), 2u);
    EXPECT_FALSE(all[1].data.as_object().contains("full"));
    EXPECT_EQ(all[1].data.at("set").at("cluster/a").at("n").as_int64(), 3) << "coalesced";
    EXPECT_EQ(all[1].data.at("gone").as_array().size(), 1u);
    EXPECT_FALSE(all[2].data.as_object().contains("set"));
    EXPECT_EQ(all[2].id, all[1].id);
    co_await l.sleep_for(1s);
    EXPECT_EQ(s->readers(), 0u);
  });
}

TEST_F(served, AReaderThatComesBackGetsWhatItMissed) {
  b.put("a", "1");
  b.put("b", "1");
  with_site({}, [&]() -> awaitable<void> {
    const std::string first = co_await get("/events", "", 1s);
    const std::string id = events(first).back().id;
    b.put("b", "2");
    std::string last = "Last-Event-ID: " + id + "\r\n", since = "/events?since=" + id;
    const std::string by_field = co_await get("/events", std::move(last), 1s);
    const std::string by_query = co_await get(std::move(since), "", 1s);
    for (int i = 0; i < 2; ++i) {
      const told one = events(i == 0 ? by_field : by_query).front();
      EXPECT_FALSE(one.data.as_object().contains("full"));
      EXPECT_EQ(json::serialize(one.data.at("set")), "{\"b\":2}");
    }
    const std::string unknown = co_await get("/events", "Last-Event-ID: somebody-elses-7\r\n", 1s);
    EXPECT_TRUE(events(unknown).front().data.as_object().contains("full"));
  });
}

TEST_F(served, AsManyReadersAsMayBeAndNoMore) {
  b.put("a", "1");
  with_site({}, [&]() -> awaitable<void> {
    std::size_t told = 0, refused = 0;
    reactor::task_group many(l);
    for (std::size_t i = 0; i < site::most_readers + 10; ++i)
      many.start("reader", [&]() -> awaitable<void> {
        const std::string said = co_await get("/events", "", 3s);
        ++(status(said) == 503 ? refused : told);
      });
    co_await l.sleep_for(1s);
    const std::string page = co_await get("/");
    EXPECT_EQ(status(page), 200) << "who only looks is answered beside them";
    co_await many.join();
    EXPECT_EQ(told, site::most_readers);
    EXPECT_EQ(refused, 10u);
    co_await l.sleep_for(1s);
    EXPECT_EQ(s->readers(), 0u);
    const std::string after = co_await get("/events", "", 1s);
    EXPECT_EQ(status(after), 200);
  });
}

TEST_F(served, AReaderThatDoesNotReadIsDroppedAndCostsNothingMeanwhile) {
  const std::string line = "\"" + std::string(1'000, 'x') + "\"";
  for (int i = 0; i < 1'000; ++i) b.put("cluster/" + std::to_string(i), line);
  with_site({}, [&]() -> awaitable<void> {
    auto deaf = co_await l.net().connect(where, l.now() + 5s);
    EXPECT_TRUE(deaf);
    if (!deaf) co_return;
    std::string asks = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    (void)co_await (*deaf)->write_all(asks);
    co_await l.sleep_for(5s);
    EXPECT_EQ(s->readers(), 1u);
    const std::string good = co_await get("/events", "", 1s);
    std::size_t clusters = 0;
    for (const told& t : events(good))
      if (t.data.as_object().contains("set")) clusters += t.data.at("set").as_object().size();
    EXPECT_EQ(clusters, 1'000u) << "another one is told everything meanwhile";
    co_await l.sleep_for(10s);
    EXPECT_EQ(s->readers(), 0u);
  });
}

TEST_F(served, ReadersThatLeaveInTheMiddleLeaveNothingBehind) {
  for (int i = 0; i < 500; ++i)
    b.put("cluster/" + std::to_string(i), "\"" + std::string(500, 'x') + "\"");
  with_site({}, [&]() -> awaitable<void> {
    for (int i = 0; i < 100; ++i) {
      auto to = co_await l.net().connect(where, l.now() + 5s);
      if (!to) continue;
      std::string asks = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
      (void)co_await (*to)->write_all(asks);
      std::array<char, 64> some;
      (void)co_await (*to)->read_some(some);
      (*to)->close();
    }
    co_await l.sleep_for(1s);
    EXPECT_EQ(s->readers(), 0u);
  });
}

TEST_F(served, DocumentsAreMadeForSoManyAtOnceAndFaultsArePlainText) {
  document_takes = 2s;
  with_site({}, [&]() -> awaitable<void> {
    std::size_t made = 0, refused = 0;
    reactor::task_group many(l);
    for (std::size_t i = 0; i < site::most_documents + 20; ++i)
      many.start("ask", [&]() -> awaitable<void> {
        const std::string said = co_await get("/data/cluster?name=a%20b");
        ++(status(said) == 200 ? made : refused);
        if (status(said) == 200) {
          EXPECT_NE(said.find("{\"name\":\"cluster\",\"of\":\"a b\"}"), said.npos);
        }
      });
    co_await many.join();
    EXPECT_EQ(made, site::most_documents);
    EXPECT_EQ(refused, 20u);
    const std::string none = co_await get("/data/none");
    EXPECT_EQ(status(none), 404);
    EXPECT_EQ(field(none, "Content-Type"), "text/plain; charset=utf-8");
  });
}

TEST_F(served, ATokenThatCannotBeUsedIsSaidAtTheStart) {
  reactor::put(folder / "token", "short");
  site_options o;
  o.at = {"page", 8090};
  o.token_file = folder / "token";
  site broken(l, std::move(o), b, {}, reactor::logger());
  std::string why;
  reactor::task_group tasks(l);
  tasks.start("start", [&]() -> awaitable<void> {
    auto started = co_await broken.start();
    why = started ? "" : started.error().message();
    co_await broken.stop();
  });
  l.run_until(l.now() + 10s);
  EXPECT_NE(why.find("fewer than 16 characters"), why.npos) << why;
  EXPECT_NE(why.find("token"), why.npos) << why;
  EXPECT_EQ(why.find("short"), why.npos) << why;
}

}  // namespace
