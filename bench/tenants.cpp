#include "bench/tenants.hpp"

#include "bench/child.hpp"
#include "bench/go_peer.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "bench/tenants/keeper.hpp"
#include "bench/tenants/offer.hpp"
#include "k8s/client/client.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr reactor::nanoseconds longest_wait = 15min, often = 50ms;
constexpr std::size_t releases = 1'000, peer_workers = 10;

struct size {
  std::size_t clusters = 0, tenants = 0;
  std::string text() const { return std::to_string(clusters) + "x" + std::to_string(tenants); }
};

size fleet_size(const std::string& text) {
  size out;
  const auto x = text.find('x');
  const char* const end = text.data() + text.size();
  std::from_chars(text.data(), end, out.clusters);
  if (x != text.npos) std::from_chars(text.data() + x + 1, end, out.tenants);
  return out;
}

std::string name_of(std::size_t cluster) {
  return "c" + std::to_string(cluster);
}

double seconds_of(reactor::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

struct tenants_figures {
  double install_s = 0, peak_mb = 0;
  double confirm_s = 0, confirm_writes = 0, confirm_downloads = 0, confirm_renders = 0;
  double fleet_rss_mb = 0, rotations_rss_kb = 0, rotations_series = 0, rotations_sockets = 0;
  double live_alone_s = 0, live_among_dead_s = 0;
  reactor::nanoseconds stall{};
  std::string problem;  // what did not happen in time
};

/// API servers in another process, and this one's way to them.
class served_fleet {
public:
  explicit served_fleet(size s)
      : size_(s), process_(started(s)), to_(sender_connection(process_)) {}

  std::string repository() const { return to_.server + "/c0/charts"; }
  const std::string& server() const { return to_.server; }
  k8s::connection to(std::size_t cluster) const {
    k8s::connection out = to_;
    out.server += "/" + name_of(cluster);
    return out;
  }
  const size& how_large() const { return size_; }
  void add_all(keeper& k) const {
    for (std::size_t i = 0; i < size_.clusters; ++i) k.add(name_of(i), to(i));
  }

  /// So far: "writes" other than Events and Leases, and "downloads" of charts.
  reactor::awaitable<json::object> counts(reactor::loop& l) const {
    k8s::client asking(l, to(0));
    auto said = co_await asking.get_path("/counts");
    co_await asking.stop();
    co_return said && said->is_object() ? said->get_object() : json::object();
  }

private:
  static child started(size s) {
    auto process = child::start({"bench", "tenants", "--sender", s.text()});
    if (!process) throw std::runtime_error(process.error().message());
    return std::move(*process);
  }
  size size_;
  child process_;
  k8s::connection to_;
};

double number_in(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v ? v->to_number<double>() : 0;
}

/// Until the body has ended.
void run_on(reactor::loop& l, const std::function<reactor::awaitable<void>()>& body) {
  reactor::task_group tasks(l);
  const auto whole = [&]() -> reactor::awaitable<void> {
    co_await body();
    l.stop();
  };
  tasks.start("tenants", whole());
  l.run();
}

/// Runs one measurement on a loop of its own.
void run(tenants_figures& out,
         const std::function<reactor::awaitable<void>(reactor::loop&)>& body) {
  reactor::loop l;
  run_on(l, [&]() -> reactor::awaitable<void> {
    co_await body(l);
    out.stall = std::max(out.stall, l.take_health().longest_stall);
  });
  if (!out.problem.empty()) throw std::runtime_error(out.problem);
}

/// Nothing more is waited for once something did not happen.
reactor::awaitable<void> until(reactor::loop& l, tenants_figures& out, std::function<bool()> is,
                               const char* what) {
  const reactor::steady_time end = l.now() + longest_wait;
  while (out.problem.empty() && !is()) {
    if (l.now() > end) out.problem = std::string(what) + ": not in time";
    co_await l.sleep_for(often);
  }
}

std::function<bool()> all_ready(const keeper& k, size s) {
  return [&k, s, at = std::size_t{0}]() mutable {
    while (at < s.clusters && k.ready(name_of(at)) == s.tenants) ++at;
    return at == s.clusters;
  };
}

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

void measure_install(tenants_figures& out) {
  const served_fleet fleet({1, releases});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, fleet.repository(), "ten");
    const reactor::nanoseconds began = monotonic();
    fleet.add_all(k);
    std::function<bool()> done = all_ready(k, fleet.how_large());
    std::function<bool()> watched = [&out, done] {
      out.peak_mb = std::max(out.peak_mb, megabytes(resident_bytes()));
      return done();
    };
    co_await until(l, out, std::move(watched), "1,000 releases on one cluster");
    out.install_s = seconds_of(monotonic() - began);
    co_await k.stop();
  });
}

void measure_confirm(tenants_figures& out) {
  const served_fleet fleet({100, releases / 100});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    {
      keeper first(l, fleet.repository(), "ten");
      fleet.add_all(first);
      std::function<bool()> done = all_ready(first, fleet.how_large());
      co_await until(l, out, std::move(done), "1,000 releases on 100 clusters");
      co_await l.sleep_for(10s);  // the last Events
      co_await first.stop();
    }
    const json::object before = co_await fleet.counts(l);
    (void)l.take_health();
    keeper next(l, fleet.repository(), "ten");
    const reactor::nanoseconds began = monotonic();
    fleet.add_all(next);
    const auto sum = [&](const char* of) {
      double all = 0;
      for (std::size_t i = 0; i < fleet.how_large().clusters; ++i)
        all += next.operations(name_of(i), of);
      return all;
    };
    std::function<bool()> done = [&] { return sum("skip") >= static_cast<double>(releases); };
    co_await until(l, out, std::move(done), "1,000 unchanged releases");
    out.confirm_s = seconds_of(monotonic() - began);
    out.confirm_renders = sum("install") + sum("upgrade");
    const json::object after = co_await fleet.counts(l);
    out.confirm_writes = number_in(after, "writes") - number_in(before, "writes");
    out.confirm_downloads = number_in(after, "downloads") - number_in(before, "downloads");
    co_await next.stop();
  });
}

void measure_many(tenants_figures& out) {
  const served_fleet fleet({500, 20});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, fleet.repository(), "one", {4, 32});
    fleet.add_all(k);
    std::function<bool()> done = all_ready(k, fleet.how_large());
    co_await until(l, out, std::move(done), "20 releases on each of 500 clusters");
    co_await l.sleep_for(10s);
    trim_heap();
    out.fleet_rss_mb = megabytes(resident_bytes());
    co_await k.stop();
  });
}

std::size_t open_sockets() {
  std::size_t out = 0;
  std::error_code none;
  for (const auto& e : std::filesystem::directory_iterator("/proc/self/fd"))
    out += std::filesystem::read_symlink(e, none).string().starts_with("socket:");
  return out;
}

void measure_rotations(tenants_figures& out) {
  constexpr std::size_t clusters = 50, warm_up = 5, rounds = releases / clusters;
  const served_fleet fleet({clusters, 2});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, fleet.repository(), "one");
    fleet.add_all(k);
    std::function<bool()> done = all_ready(k, fleet.how_large());
    co_await until(l, out, std::move(done), "two releases on 50 clusters");
    std::size_t resident = 0, series = 0, sockets = 0;
    for (std::size_t round = 0; out.problem.empty() && round <= warm_up + rounds; ++round) {
      if (round == warm_up || round == warm_up + rounds) {
        trim_heap();
        const auto grown = [](std::size_t now, std::size_t before) {
          return static_cast<double>(now) - static_cast<double>(before);
        };
        out.rotations_rss_kb = grown(resident_bytes(), resident) / 1e3;
        out.rotations_series = grown(k.series(), series);
        out.rotations_sockets = grown(open_sockets(), sockets);
        resident = resident_bytes();
        series = k.series();
        sockets = open_sockets();
      }
      for (std::size_t i = 0; i < clusters; ++i) {
        k8s::connection to = fleet.to(i);
        to.token.bytes = reactor::secret("token-" + std::to_string(round));
        k.add(name_of(i), std::move(to));
      }
      std::function<bool()> again = all_ready(k, fleet.how_large());
      co_await until(l, out, std::move(again), "clusters after a rotation");
    }
    co_await k.stop();
  });
}

/// Seconds of virtual time until the Tenants of a live cluster are Ready beside `dead` ones that
/// take connections and say nothing.
double until_ready_beside(std::size_t dead) {
  constexpr std::size_t tenants = 20;
  double out = 0;
  reactor::loop l(reactor::loop::mode::simulated, 7);
  const chart_offer charts;
  run_on(l, [&]() -> reactor::awaitable<void> {
    k8s::sim::api_server alive(k8s::sim::options_on(l)), silent(k8s::sim::options_on(l));
    furnish(alive, tenants);
    furnish(silent, tenants);
    silent.freeze(true);
    alive.before = [&](const k8s::sim::request& r) { return charts.answer(r); };
    k8s::sim::server front(l, k8s::sim::server::settings{{"live", 6443}, nullptr});
    k8s::sim::server back(l, k8s::sim::server::settings{{"dead", 6443}, nullptr});
    front.add(alive);
    back.add(silent);
    for (const char* host : {"live", "dead"})
      reactor::memory_network::of(l).faults(host).latency = 1ms;
    (void)front.start();
    (void)back.start();
    keeper k(l, "http://live:6443/charts", "ten", {4, 16});
    const auto add = [&](const std::string& name, const char* host) {
      k8s::connection to;
      to.server = std::string("http://") + host + ":6443";
      k.add(name, std::move(to));
    };
    for (std::size_t i = 0; i < dead; ++i) add("dead-" + std::to_string(i), "dead");
    const reactor::steady_time began = l.now();
    add("live", "live");
    const reactor::steady_time end = began + longest_wait;
    while (k.ready("live") < tenants && l.now() < end) co_await l.sleep_for(1ms);
    if (k.ready("live") == tenants) out = seconds_of(l.now() - began);
    co_await k.stop();
    co_await front.stop();
    co_await back.stop();
  });
  if (out == 0) throw std::runtime_error("a live cluster beside dead ones: not in time");
  return out;
}

/// What Helm's own packages need for as many releases on such a server.
json::object ask_peer() {
  const std::string peer = go_peer("helm_peer");
  if (peer.empty()) return {{"error", "Go is not installed: nothing to compare with"}};
  const served_fleet fleet({1, 0});
  const std::string server = fleet.server() + "/" + name_of(0);
  auto asked = child::start_program({peer, "install", server, server + "/charts/ten.tgz",
                                     std::to_string(releases), std::to_string(peer_workers)});
  if (!asked) return {{"error", asked.error().message()}};
  boost::system::error_code bad;
  auto v = json::parse(asked->read_line(), bad);
  return bad || !v.is_object() ? json::object{{"error", "no answer"}} : v.get_object();
}

}  // namespace

json::object measure_tenants() {
  allow_many_descriptors();
  pin_to_core(0);
  tenants_figures f;
  measure_install(f);
  json::object peer = ask_peer();
  measure_confirm(f);
  measure_rotations(f);
  measure_many(f);
  f.live_alone_s = until_ready_beside(0);
  f.live_among_dead_s = until_ready_beside(50);
  json::object o = environment();
  o["install_1000_s"] = rounded(f.install_s);
  o["rss_mb"] = rounded(f.peak_mb, 1);
  o["peer_install_1000_s"] = o["peer_rss_mb"] = nullptr;
  if (peer.contains("seconds")) {
    o["peer_install_1000_s"] = rounded(number_in(peer, "seconds"));
    o["peer_rss_mb"] = rounded(number_in(peer, "rss_mb"), 1);
  } else {
    o["peer_error"] = peer["error"];
  }
  o["confirm_s"] = rounded(f.confirm_s);
  o["confirm_writes"] = f.confirm_writes;
  o["confirm_downloads"] = f.confirm_downloads;
  o["confirm_renders"] = f.confirm_renders;
  o["clusters_500_rss_mb"] = rounded(f.fleet_rss_mb, 1);
  o["dead_50_ready_ratio"] = rounded(f.live_among_dead_s / f.live_alone_s, 4);
  o["rotations_rss_kb_per_1000"] = rounded(f.rotations_rss_kb, 1);
  o["rotations_series_delta"] = f.rotations_series;
  o["rotations_sockets_delta"] = f.rotations_sockets;
  o["worst_stall_us"] = rounded(static_cast<double>(f.stall.count()) / 1e3, 0);
  return o;
}

int run_tenants_sender(const std::string& text) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  allow_many_descriptors();
  pin_to_core(1);
  const size s = fleet_size(text);
  reactor::loop l;
  const chart_offer charts;
  k8s::sim::server front(l, k8s::sim::server::settings{{"127.0.0.1", 0}, nullptr});
  std::vector<std::unique_ptr<k8s::sim::api_server>> clusters;
  std::size_t writes = 0, downloads = 0;
  for (std::size_t i = 0; i < s.clusters; ++i) {
    clusters.push_back(std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(l)));
    k8s::sim::api_server& api = *clusters.back();
    furnish(api, s.tenants);
    api.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path == "/counts") {
        k8s::sim::answer out;
        out.body = json::serialize(json::object{{"writes", writes}, {"downloads", downloads}});
        return out;
      }
      downloads += r.path.ends_with(".tgz");
      return charts.answer(r);
    };
    api.on_write = [&writes](const k8s::sim::written& w) {
      writes += w.plural != "leases" && w.plural != "events";
    };
    front.add(api, "/" + name_of(i));
  }
  if (auto started = front.start(); !started) {
    std::fprintf(stderr, "bench: %s\n", started.error().message().c_str());
    return 1;
  }
  std::printf("%s \n", front.url().c_str());
  std::fflush(stdout);
  l.run();
  return 0;
}

}  // namespace bench
