// Callers of the page that hold something: each thing that they may hold is shown at each place
// that takes it, and no answer tells of the fleet. The right token is shown beside and never waits.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/service.hpp"
#include "service/ui/fleet_page.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using reactor::awaitable;

constexpr const char *token = "correct-horse-battery", *next_token = "another-horse-battery",
                     *canary = "canary-cluster-4410";
const reactor::endpoint where{"windlass", 8090};

std::string request_of(const std::string& method, const std::string& target,
                       const std::string& fields, const std::string& body = "") {
  return method + " " + target + " HTTP/1.1\r\n" +
         (fields.find("Host: ") == fields.npos ? "Host: localhost\r\n" : "") + fields +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
         "Connection: close\r\n\r\n" + body;
}

/// The page of a service that has one cluster, with a token.
struct locked_page {
  reactor::loop l{reactor::loop::mode::simulated, 11};
  reactor::temporary_folder folder;

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
  /// "Cookie: windlass-ui=…" of a session that begins now.
  awaitable<std::string> log_in(std::string with) {
    std::string form = request_of("POST", "/login", "", "token=" + with);
    const std::string said = co_await ask(std::move(form));
    const std::size_t at = said.find("Set-Cookie: ");
    if (at == said.npos) co_return std::string();
    co_return "Cookie: " + said.substr(at + 12, said.find(';', at) - at - 12) + "\r\n";
  }
  void change_token(const char* to) { reactor::put(folder / "token", to); }

  void play(std::function<awaitable<void>()> talk) {
    change_token(token);
    {
      cli::service_options o = cli::with_all_apis();
      o.discover = false;
      k8s::connection nowhere;
      nowhere.server = "http://nowhere:6443";
      o.clusters.push_back({canary, std::move(nowhere)});
      cli::service service(l, std::move(o), reactor::logger());
      web::site_options at;
      at.at = where;
      at.token_file = folder / "token";
      cli::ui ui(l, service, std::move(at), reactor::logger());
      reactor::task_group talking(l), stopping(l);
      bool stopped = false;
      talking.start("talk", [&]() -> awaitable<void> {
        auto started = co_await service.start();
        if (started) started = co_await ui.start();
        if (!started) throw std::runtime_error(started.error().message());
        co_await l.sleep_for(5s);
        co_await talk();
        stopping.start("stop", [&]() -> awaitable<void> {
          co_await talking.join();
          co_await ui.stop();
          co_await service.stop();
          stopped = true;
        });
      });
      l.run_until(l.now() + 24h);
      EXPECT_TRUE(stopped);
    }
    l.run_until(l.now() + 30s);
    EXPECT_EQ(l.live(), reactor::live_counts());
  }
};

/// What an attacker holds: fields of a request.
struct holding {
  std::string what;
  std::function<awaitable<std::string>(locked_page&)> fields;
};

auto always(std::string fields) {
  return [fields](locked_page&) -> awaitable<std::string> { co_return fields; };
}

std::vector<holding> holdings() {
  std::vector<holding> all{
      {"nothing", always("")},
      {"another token", always("Authorization: Bearer wrong-horse-battery\r\n")},
      {"the token without its end", always("Authorization: Bearer correct-horse-batter\r\n")},
      {"the token as a password", always("Authorization: Basic correct-horse-battery\r\n")},
      {"a made-up cookie", always("Cookie: windlass-ui=" + std::string(64, 'a') + "\r\n")},
      {"an empty cookie", always("Cookie: windlass-ui=\r\n")},
      {"a name that was made to resolve here",
       always("Host: rebound.example.com\r\nAuthorization: Bearer correct-horse-battery\r\n")},
  };
  all.push_back({"a session that was logged out", [](locked_page& p) -> awaitable<std::string> {
                   const std::string cookie = co_await p.log_in(token);
                   std::string out = request_of("POST", "/logout", cookie);
                   (void)co_await p.ask(std::move(out));
                   co_return cookie;
                 }});
  all.push_back({"a session of twelve hours ago", [](locked_page& p) -> awaitable<std::string> {
                   const std::string cookie = co_await p.log_in(token);
                   co_await p.l.sleep_for(web::doorkeeper::session_lasts);
                   co_return cookie;
                 }});
  all.push_back({"a session of the token before", [](locked_page& p) -> awaitable<std::string> {
                   const std::string cookie = co_await p.log_in(token);
                   p.change_token(next_token);
                   co_await p.l.sleep_for(2 * web::site::token_is_read_every);
                   p.change_token(token);
                   co_await p.l.sleep_for(2 * web::site::token_is_read_every);
                   co_return cookie;
                 }});
  return all;
}

TEST(HostilePage, TellsNothingOfTheFleetToWhoHoldsNoRightToIt) {
  std::size_t cells = 0, told = 0;
  locked_page p;
  p.play([&]() -> awaitable<void> {
    std::string right =
        request_of("GET", "/events", "Authorization: Bearer correct-horse-battery\r\n");
    const std::string shown = co_await p.ask(std::move(right), 2s);
    EXPECT_NE(shown.find(canary), shown.npos) << "the right one is told";
    for (const holding& h : holdings()) {
      const std::string fields = co_await h.fields(p);
      EXPECT_TRUE(h.what.find("session") == h.what.npos || fields.size() > 60) << h.what;
      for (const char* target :
           {"/", "/index.html", "/events", "/events?since=x-1",
            "/data/cluster?name=canary-cluster-4410", "/data/pool?cluster=canary-cluster-4410",
            "/page.js", "//events", "/login", "/logout", "/%65vents", "/login/../events"})
        for (const char* method : {"GET", "HEAD", "POST", "PUT"}) {
          std::string asks = request_of(method, target, fields);
          const std::string said = co_await p.ask(std::move(asks), 2s);
          ++cells;
          told += said.find(canary) == said.npos ? 0 : 1;
          EXPECT_EQ(said.find(canary), said.npos) << h.what << ": " << method << " " << target;
          EXPECT_EQ(said.find("windlass-ui=0"), said.npos);
          EXPECT_FALSE(said.starts_with("HTTP/1.1 5")) << said.substr(0, 100);
        }
    }
  });
  std::printf("## {\"page\":{\"cells\":%zu,\"told\":%zu}}\n", cells, told);
}

TEST(HostilePage, AnOpenStreamEndsWithTheAccessThatOpenedIt) {
  locked_page p;
  p.play([&]() -> awaitable<void> {
    const std::string cookie = co_await p.log_in(token);
    std::vector<std::string> streams(3);
    std::vector<std::string> fields{cookie, "Authorization: Bearer correct-horse-battery\r\n",
                                    cookie};
    reactor::task_group reading(p.l);
    for (std::size_t i = 0; i < streams.size(); ++i)
      reading.start("read", [&, i]() -> awaitable<void> {
        std::string asks = request_of("GET", "/events", fields[i]);
        streams[i] = co_await p.ask(std::move(asks), 120s);
      });
    co_await p.l.sleep_for(3s);
    p.change_token(next_token);
    const auto began = p.l.now();
    co_await reading.join();
    EXPECT_LE(p.l.now() - began, 2 * web::site::token_is_read_every);
    for (const std::string& s : streams) {
      EXPECT_NE(s.find(canary), s.npos);
      EXPECT_TRUE(s.ends_with("0\r\n\r\n")) << "ended in order";
    }
  });
}

TEST(HostilePage, TheRightTokenIsAnsweredWhileAThousandOthersAreTried) {
  locked_page p;
  p.play([&]() -> awaitable<void> {
    reactor::task_group trying(p.l);
    for (int i = 0; i < 40; ++i)
      trying.start("try", [&, i]() -> awaitable<void> {
        for (int again = 0; again < 25; ++again) {
          std::string asks =
              i % 2 == 0 ? request_of("POST", "/login", "", "token=guess-guess-guess")
                         : request_of("GET", "/", "Authorization: Bearer guess-guess-guess\r\n");
          (void)co_await p.ask(std::move(asks));
        }
      });
    for (int i = 0; i < 10; ++i) {
      co_await p.l.sleep_for(100ms);
      const auto began = p.l.now();
      const std::string cookie = co_await p.log_in(token);
      EXPECT_NE(cookie, "");
      EXPECT_LT(p.l.now() - began, web::wrong_tokens::waits);
    }
    co_await trying.join();
  });
}

TEST(HostilePage, WhatOthersMayReachOrOverhearIsWarnedOf) {
  struct row {
    const char *host, *token_file, *says;
  };
  const row rows[] = {{"127.0.0.1", "", ""},
                      {"127.0.0.1", "file", ""},
                      {"::1", "file", ""},
                      {"localhost", "file", ""},
                      {"0.0.0.0", "", "sees the fleet"},
                      {"", "", "sees the fleet"},
                      {"0.0.0.0", "file", "unprotected"},
                      {"", "file", "unprotected"},
                      {"10.0.0.7", "file", "unprotected"},
                      {"::", "file", "unprotected"}};
  for (const row& r : rows) {
    web::site_options o;
    o.at.host = r.host;
    o.token_file = r.token_file;
    const std::string warning = cli::warning_of(o);
    EXPECT_EQ(warning.empty(), std::string(r.says).empty()) << r.host;
    EXPECT_NE(warning.find(r.says), warning.npos) << r.host << ": " << warning;
  }
}

}  // namespace
