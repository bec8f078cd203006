// What the listeners of the service answer, in virtual time.
#include "service/service.hpp"

#include "cli/apis.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace cli {
namespace {

using namespace std::chrono_literals;

struct chunked_answer {
  std::string head, body;
  std::size_t chunks = 0, largest = 0;
};

reactor::awaitable<std::string> ask(reactor::loop& l, reactor::endpoint at, std::string bytes) {
  auto to = co_await l.net().connect(std::move(at), l.now() + 5s);
  if (!to) co_return "refused";
  (void)co_await (*to)->write_all(bytes);
  std::string all;
  std::array<char, 4'096> some;
  for (;;) {
    const auto n = co_await (*to)->read_some(some);
    if (!n || *n == 0) co_return all;
    all.append(some.data(), *n);
  }
}

/// An answer whose body came in chunks; the head alone when it did not.
chunked_answer read_chunks(const std::string& said) {
  chunked_answer out;
  std::size_t at = said.find("\r\n\r\n");
  out.head = said.substr(0, at);
  if (out.head.find("chunked") == std::string::npos) return out;
  for (at += 4; at < said.size();) {
    const std::size_t size = std::strtoul(said.c_str() + at, nullptr, 16);
    at = said.find("\r\n", at) + 2;
    if (size == 0) break;
    out.body += said.substr(at, size);
    out.largest = std::max(out.largest, size);
    ++out.chunks;
    at += size + 2;
  }
  return out;
}

TEST(Service, AnswersWhatThousandsOfClustersAreInSmallPieces) {
  const reactor::endpoint health{"windlass", 8081};
  reactor::loop l(reactor::loop::mode::simulated, 7);
  {
    service_options o = with_all_apis();
    o.discover = false;
    o.health_at = health;
    for (int i = 0; i < 2'000; ++i) {
      k8s::connection to;
      to.server = "http://nowhere:6443";
      o.clusters.push_back({"cluster-" + std::to_string(i), std::move(to)});
    }
    service s(l, std::move(o), reactor::logger());
    std::string said;
    bool stopped = false;
    reactor::task_group tasks(l);
    tasks.start("ask", [&]() -> reactor::awaitable<void> {
      auto started = co_await s.start();
      if (!started) throw std::runtime_error(started.error().message());
      co_await l.sleep_for(1s);
      said =
          co_await ask(l, health, "GET /clusters HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      co_await s.stop();
      stopped = true;
    });
    l.run_until(l.now() + 60s);
    EXPECT_TRUE(stopped);
    const chunked_answer answer = read_chunks(said);
    EXPECT_TRUE(said.starts_with("HTTP/1.1 200")) << answer.head;
    EXPECT_NE(answer.head.find("Content-Type: application/json"), std::string::npos) << answer.head;
    EXPECT_GE(answer.chunks, 20u) << answer.head;
    EXPECT_LE(answer.largest, 24u * 1024) << "16 KiB and the last entry of it";
    boost::system::error_code wrong;
    const auto all = boost::json::parse(answer.body, wrong);
    ASSERT_FALSE(wrong) << answer.body.substr(0, 200);
    EXPECT_EQ(all.as_array().size(), 2'000u);
  }
  EXPECT_EQ(l.live(), reactor::live_counts());
}

TEST(Service, TellsAPageOfAStrangerNothingOfTheFleet) {
  const reactor::endpoint health{"windlass", 8081}, metrics{"windlass", 8080};
  reactor::loop l(reactor::loop::mode::simulated, 7);
  {
    service_options o = with_all_apis();
    o.discover = false;
    o.health_at = health;
    o.metrics_at = metrics;
    o.hosts = {"windlass.example.com"};
    k8s::connection to;
    to.server = "http://nowhere:6443";
    o.clusters.push_back({"canary-cluster", std::move(to)});
    service s(l, std::move(o), reactor::logger());
    bool stopped = false;
    reactor::task_group tasks(l);
    tasks.start("ask", [&]() -> reactor::awaitable<void> {
      auto started = co_await s.start();
      if (!started) throw std::runtime_error(started.error().message());
      co_await l.sleep_for(1s);
      struct row {
        const char *host, *begins;
      };
      const row rows[] = {{"rebound.evil.example.com:8081", "HTTP/1.1 421"},
                          {"evil.svc.example.com", "HTTP/1.1 421"},
                          {"windlass.example.com.evil.com", "HTTP/1.1 421"},
                          {"", "HTTP/1.1 4"},
                          {"10.0.0.7:8081", "HTTP/1.1 200"},
                          {"[::1]:8081", "HTTP/1.1 200"},
                          {"localhost:8081", "HTTP/1.1 200"},
                          {"windlass", "HTTP/1.1 200"},
                          {"windlass.ops.svc:8081", "HTTP/1.1 200"},
                          {"windlass.ops.svc.cluster.local", "HTTP/1.1 200"},
                          {"windlass.example.com", "HTTP/1.1 200"}};
      for (const row& r : rows)
        for (const bool counts : {true, false}) {
          std::string asks = std::string("GET ") + (counts ? "/metrics" : "/clusters") +
                             " HTTP/1.1\r\nHost: " + r.host + "\r\nConnection: close\r\n\r\n";
          const std::string said = co_await ask(l, counts ? metrics : health, std::move(asks));
          EXPECT_TRUE(said.starts_with(r.begins)) << r.host << ": " << said.substr(0, 80);
          const bool told = said.starts_with("HTTP/1.1 200");
          EXPECT_TRUE(told || said.find("canary-cluster") == said.npos) << r.host;
        }
      const std::string probe = co_await ask(
          l, health, "GET /healthz HTTP/1.1\r\nHost: any.example.com\r\nConnection: close\r\n\r\n");
      EXPECT_TRUE(probe.starts_with("HTTP/1.1 200")) << "a probe is told nothing of the fleet";
      co_await s.stop();
      stopped = true;
    });
    l.run_until(l.now() + 60s);
    EXPECT_TRUE(stopped);
  }
}

TEST(Service, ShowsMetricsToWhoHasTheTokenOfTheFileAsItIsNow) {
  const reactor::temporary_folder folder;
  const reactor::endpoint metrics{"windlass", 8080}, health{"windlass", 8081};
  reactor::loop l(reactor::loop::mode::simulated, 7);
  bool stopped = false;
  const auto log = std::make_shared<reactor::log_capture>();
  {
    const auto with = [&](const std::string& file) {
      service_options o;
      o.discover = false;
      o.metrics_at = metrics;
      o.health_at = health;
      o.metrics_token_file = file;
      k8s::connection to;
      to.server = "http://nowhere:6443";
      o.clusters.push_back({"canary-cluster", std::move(to)});
      return o;
    };
    reactor::put(folder / "token", "correct-horse-battery\n");
    service s(l, with(folder / "token"), reactor::logger([&l] { return l.wall(); }, log));
    service without(l, with(folder / "none"), reactor::logger());
    reactor::task_group tasks(l);
    tasks.start("ask", [&]() -> reactor::awaitable<void> {
      auto refused = co_await without.start();
      EXPECT_FALSE(refused) << "a file that is not there";
      co_await without.stop();
      auto started = co_await s.start();
      if (!started) throw std::runtime_error(started.error().message());
      const auto answered = [&](std::string shown) -> reactor::awaitable<int> {
        std::string rest = " HTTP/1.1\r\nHost: windlass\r\nConnection: close\r\n" + shown + "\r\n";
        std::string asks = "GET /metrics" + rest, others = "GET /clusters" + rest;
        const std::string said = co_await ask(l, metrics, std::move(asks));
        const std::string listed = co_await ask(l, health, std::move(others));
        for (const std::string& one : {said, listed})
          EXPECT_TRUE(one.starts_with("HTTP/1.1 200") || one.find("canary-cluster") == one.npos);
        const int status = std::atoi(said.substr(9, 3).c_str());
        EXPECT_EQ(std::atoi(listed.substr(9, 3).c_str()), status);
        co_return status;
      };
      const int none = co_await answered("");
      EXPECT_EQ(none, 401);
      const auto began = l.now();
      const int wrong = co_await answered("Authorization: Bearer wrong-horse-battery\r\n");
      EXPECT_EQ(wrong, 401);
      EXPECT_GE(l.now() - began, 2 * web::wrong_tokens::waits);
      EXPECT_EQ(log->count("another token was shown to /metrics or /clusters"), 1u);
      const std::string probe = co_await ask(
          l, health, "GET /healthz HTTP/1.1\r\nHost: windlass\r\nConnection: close\r\n\r\n");
      EXPECT_TRUE(probe.starts_with("HTTP/1.1 200")) << "a probe has no token";
      const int right = co_await answered("Authorization: Bearer correct-horse-battery\r\n");
      EXPECT_EQ(right, 200);
      reactor::put(folder / "token", "another-horse-battery");
      const int former = co_await answered("Authorization: Bearer correct-horse-battery\r\n");
      EXPECT_EQ(former, 401);
      const int next = co_await answered("Authorization: Bearer another-horse-battery\r\n");
      EXPECT_EQ(next, 200);
      reactor::put(folder / "token", "");
      const int empty = co_await answered("Authorization: Bearer \r\n");
      EXPECT_EQ(empty, 401);
      co_await s.stop();
      stopped = true;
    });
    l.run_until(l.now() + 60s);
  }
  EXPECT_TRUE(stopped);
}

/// A home whose administrator granted everything but Secrets, and what a service makes of it.
struct without_secrets {
  explicit without_secrets(bool home_alone_is_a_fleet) {
    reactor::loop l(reactor::loop::mode::simulated, 7);
    {
      k8s::sim::api_options as = k8s::sim::options_on(l);
      as.access.authorize = [this](const std::string&, const k8s::sim::request& r) {
        const bool secrets = r.path.find("/secrets") != std::string::npos;
        asked += secrets ? 1 : 0;
        return !secrets;
      };
      k8s::sim::api_server api(std::move(as));
      k8s::sim::server home(l, {.at = {"home", 6443}, .tls = nullptr});
      home.add(api);
      if (!home.start()) throw std::runtime_error("no home");
      service_options o = with_all_apis();
      o.home.server = home.url();
      o.home_alone_is_a_fleet = home_alone_is_a_fleet;
      o.ns = "fleet";
      o.health_at = reactor::endpoint{"windlass", 8081};
      const auto lines = std::make_shared<reactor::log_capture>();
      service s(l, std::move(o), reactor::logger([&l] { return l.wall(); }, lines));
      reactor::task_group tasks(l);
      tasks.start("look", [&]() -> reactor::awaitable<void> {
        auto started = co_await s.start();
        if (!started) error = started.error().message();
        co_await l.sleep_for(90s);
        for (const k8s::cluster* c : s.clusters()) clusters.push_back(c->name());
        const reactor::endpoint health{"windlass", 8081};
        const std::string probe = "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        ready = co_await ask(l, health, probe);
        co_await s.stop();
        co_await home.stop();
      });
      l.run_until(l.now() + 120s);
      told = lines->count("kubeconfig Secrets may not be listed: home itself is the fleet");
    }
    EXPECT_EQ(l.live(), reactor::live_counts());
  }
  int asked = 0;
  std::size_t told = 0;
  std::string error, ready;
  std::vector<std::string> clusters;
};

TEST(Service, TakesHomeAloneForTheFleetWhereSecretsAreForbidden) {
  const without_secrets seen(true);
  EXPECT_EQ(seen.error, "");
  EXPECT_EQ(seen.clusters, std::vector<std::string>{"home"});
  EXPECT_TRUE(seen.ready.starts_with("HTTP/1.1 200")) << seen.ready;
  EXPECT_EQ(seen.asked, 1) << "what was refused is not asked for again";
  EXPECT_EQ(seen.told, 1u);
}

TEST(Service, NamesTheRoleThatIsMissingWhereAFleetOfSecretsIsWanted) {
  const without_secrets seen(false);
  EXPECT_TRUE(seen.clusters.empty());
  EXPECT_NE(seen.error.find("cannot look for kubeconfig Secrets at home"), std::string::npos)
      << seen.error;
  EXPECT_NE(seen.error.find("a Role in namespace fleet"), std::string::npos) << seen.error;
}

}  // namespace
}  // namespace cli
