// What the listeners of the service answer, in virtual time.
#include "cli/service.hpp"

#include "reactor/loop.hpp"
#include "reactor/memory_network.hpp"

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
    service_options o;
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

}  // namespace
}  // namespace cli
