// Every hostile API server of the table against a real cluster with bootc on it, in virtual time, a
// good neighbour beside.
#include "bench/hostile/servers.hpp"

#include "bench/hostile/server_host.hpp"
#include "bootc/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"
#include "reactor/net/memory_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace bench::hostile;
using namespace std::chrono_literals;

// What travels; also a token that must be seen nowhere.
constexpr reactor::nanoseconds latency = 10ms;
// 64 KiB under way at once: what comes for ever comes with 160 KB a second.
constexpr reactor::nanoseconds slow_line = 400ms;
/// The neighbour changes an object each second; this long after a change it must have been heard.
constexpr reactor::nanoseconds neighbour_patience = 3s;
constexpr const char* token = "c4n4ry-token";

struct outcome {
  std::string state, why, said;
  std::size_t log_lines = 0, most_connections = 0, series = 0, visits = 0;
  std::string neighbour_state;
  bool neighbour_was_heard = false;
  bool stopped = false;
  reactor::live_counts left;
};

/// A cluster of the product and the server it talks to.
class side {
public:
  side(reactor::loop& l, const server* behaviour, const std::string& host,
       reactor::metrics& metrics, const reactor::logger& log)
      : host_(l, behaviour, behaviour ? server_host::security::plain : server_host::security::tls,
              1s) {
    if (auto started = host_.start({host, 6443}); !started)
      throw std::runtime_error(started.error().message());
    k8s::connection to;
    const bool tls = !behaviour || behaviour->over != server::wire::any;
    to.server = (tls ? "https://" : "http://") + host + ":6443";
    to.source = "test";
    to.ca.bytes = reactor::secret(authority().certificate_pem);
    to.token.bytes = reactor::secret(token);
    k8s::cluster_options options;
    options.name = host;
    options.metrics = &metrics;
    bootc::bootc_cluster::options b;
    b.name = host;
    b.metrics = &metrics;
    b.log = log;
    options.apis.push_back(bootc::engage_bootc(b));
    cluster_ = std::make_unique<k8s::cluster>(l, std::move(to), std::move(options), log);
    cluster_->start();
  }
  k8s::cluster& cluster() { return *cluster_; }
  server_host& host() { return host_; }
  bootc::bootc_cluster* part() { return bootc::bootc_part(*cluster_); }
  reactor::awaitable<void> stop() {
    co_await cluster_->stop();
    co_await host_.stop();
  }

private:
  server_host host_;
  std::unique_ptr<k8s::cluster> cluster_;
};

outcome meet(const server& behaviour) {
  outcome out;
  reactor::loop l(reactor::loop::mode::simulated, 7);
  auto& net = reactor::memory_network::of(l);
  net.faults("").latency = latency;
  const bool endless = behaviour.name.find("for ever") != std::string::npos;
  net.faults("hostile").latency = endless ? slow_line : latency;
  auto capture = std::make_shared<reactor::log_capture>();
  const reactor::logger log([&l] { return l.wall(); }, capture, reactor::log_level::info);
  const reactor::logger quiet;
  reactor::metrics metrics, others;
  {
    side bad(l, &behaviour, "hostile", metrics, log);
    side good(l, nullptr, "good", others, quiet);
    const auto heard = [&good] {
      auto* part = good.part();
      return part ? part->node_informer().counters().events : 0;
    };
    l.run_until(l.now() + behaviour.look - neighbour_patience);
    const auto before = heard();
    l.run_until(l.now() + neighbour_patience);
    out.neighbour_was_heard = heard() > before;
    out.state = k8s::name_of(bad.cluster().state());
    out.why = bad.cluster().last_error();
    out.said = boost::json::serialize(bad.cluster().to_json());
    if (bootc::bootc_cluster* part = bad.part())
      for (k8s::informer_base* i :
           {&part->node_informer(), &part->pool_informer(), &part->bootc_node_informer()})
        if (i->last_error()) {
          if (out.why.empty()) out.why = i->last_error()->message();
          out.said += "\n" + i->last_error()->message();
        }
    for (const reactor::log_record& r : capture->records())
      out.said += "\n" + reactor::format_json(r);
    out.log_lines = capture->records().size();
    out.series = metrics.series();
    out.most_connections = bad.host().most_connections();
    out.visits = bad.host().visits();
    out.neighbour_state = k8s::name_of(good.cluster().state());
    reactor::task_group stopping(l);
    stopping.start("stop", [&]() -> reactor::awaitable<void> {
      co_await bad.stop();
      co_await good.stop();
      out.stopped = true;
    });
    l.run_until(l.now() + 30s);
  }
  l.run_until(l.now() + 30s);
  out.left = l.live();
  return out;
}

class HostileServer : public testing::TestWithParam<std::size_t> {};

TEST_P(HostileServer, ReachesItsStateAndNothingElse) {
  const server& s = servers()[GetParam()];
  const outcome o = meet(s);
  EXPECT_EQ(o.state, s.state) << s.name;
  if (o.state != "Live") {
    EXPECT_NE(o.why, "") << s.name << " does not say why";
  }
  EXPECT_NE(o.said.find(s.says), o.said.npos) << s.name << " does not say: " << s.says;
  EXPECT_LE(o.log_lines, 60U) << s.name;
  EXPECT_LE(o.most_connections, 16U) << s.name;
  EXPECT_LE(o.series, 60U) << s.name;
  EXPECT_EQ(o.said.find(token), o.said.npos) << s.name << " made us say the token";
  EXPECT_EQ(o.neighbour_state, "Live") << s.name;
  EXPECT_TRUE(o.neighbour_was_heard) << s.name;
  EXPECT_TRUE(o.stopped) << s.name;
  EXPECT_EQ(o.left, reactor::live_counts()) << s.name;
  if (HasFailure() || std::getenv("WINDLASS_SHOW"))
    std::cout << s.name << ": " << o.state << " connections " << o.most_connections << " visits "
              << o.visits << " log lines " << o.log_lines << " series " << o.series << "\n"
              << o.said.substr(0, 3'000) << "\n";
}

std::string test_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name;
  bool upper = true;
  for (const char c : servers()[info.param].name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u)) name += upper ? static_cast<char>(std::toupper(u)) : c;
    upper = !std::isalnum(u);
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, HostileServer, testing::Range<std::size_t>(0, servers().size()),
                         test_name);

}  // namespace
