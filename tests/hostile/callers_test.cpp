// Every hostile caller of the table against the listeners of the service, in virtual time; an
// honest one asks beside.
#include "bench/hostile/callers.hpp"

#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/service.hpp"
#include "service/ui/fleet_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace {

using namespace bench::hostile;
using namespace std::chrono_literals;

struct outcome {
  std::string said;
  reactor::nanoseconds took{}, slowest_probe{};
  std::size_t probes = 0, unanswered = 0;
  bool stopped = false;
  reactor::live_counts left;
};

/// The kubelet's liveness probe, once a second.
reactor::awaitable<void> probe(reactor::loop& l, reactor::endpoint at, outcome& out) {
  call c{l, at};
  for (;;) {
    const auto began = l.now();
    const std::string said =
        co_await c.ask("GET /healthz HTTP/1.1\r\nHost: windlass\r\nConnection: close\r\n\r\n", 5s);
    ++out.probes;
    if (!said.starts_with("HTTP/1.1 200") || !said.ends_with("ok\n")) ++out.unanswered;
    out.slowest_probe = std::max(out.slowest_probe, l.now() - began);
    co_await l.sleep_for(1s);
  }
}

k8s::connection nowhere() {
  k8s::connection to;
  to.server = "http://nowhere:6443";
  return to;
}

outcome meet(const caller& who) {
  outcome out;
  const reactor::endpoint health{"windlass", 8081}, metrics{"windlass", 8080},
      page{"windlass", 8090};
  reactor::loop l(reactor::loop::mode::simulated, 7);
  reactor::memory_network::of(l).faults("").latency = 5ms;
  {
    cli::service_options o = cli::with_all_apis();
    o.discover = false;
    o.health_at = health;
    o.metrics_at = metrics;
    // More than the streams to a reader hold.
    for (int i = 0; i < 500 && who.at == caller::listener::page; ++i)
      o.clusters.push_back({"cluster-" + std::to_string(i), nowhere()});
    cli::service service(l, std::move(o), reactor::logger());
    web::site_options at;
    at.at = page;
    cli::ui ui(l, service, std::move(at), reactor::logger());
    reactor::task_group asking(l), stopping(l);
    asking.start("attack", [&]() -> reactor::awaitable<void> {
      auto started = co_await service.start();
      if (started) started = co_await ui.start();
      if (!started) throw std::runtime_error(started.error().message());
      asking.start("probe", probe(l, health, out));
      co_await l.sleep_for(2s);
      call c{l, who.at == caller::listener::metrics ? metrics
                : who.at == caller::listener::page  ? page
                                                    : health};
      const auto began = l.now();
      out.said = co_await who.run(c);
      out.took = l.now() - began;
      co_await l.sleep_for(3s);
      stopping.start("stop", [&]() -> reactor::awaitable<void> {
        co_await asking.cancel_and_join();
        co_await ui.stop();
        co_await service.stop();
        out.stopped = true;
      });
    });
    l.run_until(l.now() + 300s);
    EXPECT_TRUE(out.stopped) << who.name;
  }
  l.run_until(l.now() + 30s);
  out.left = l.live();
  return out;
}

class HostileCaller : public testing::TestWithParam<std::size_t> {};

TEST_P(HostileCaller, IsAnsweredOrShutOutWhileProbesAreAnswered) {
  const caller& who = callers()[GetParam()];
  const outcome o = meet(who);
  EXPECT_TRUE(is_expected(o.said, who.answered))
      << who.name << " was told: " << o.said.substr(0, 300) << "\nnot: " << who.answered;
  EXPECT_LE(o.took, who.within) << who.name;
  EXPECT_GE(o.probes, 4U) << who.name;
  EXPECT_EQ(o.unanswered, 0U) << who.name << ", of " << o.probes;
  EXPECT_LE(o.slowest_probe, 1s) << who.name;
  EXPECT_EQ(o.left, reactor::live_counts()) << who.name;
}

std::string test_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name;
  bool upper = true;
  for (const char c : callers()[info.param].name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u)) name += upper ? static_cast<char>(std::toupper(u)) : c;
    upper = !std::isalnum(u);
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, HostileCaller, testing::Range<std::size_t>(0, callers().size()),
                         test_name);

}  // namespace
