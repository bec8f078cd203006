#include "bench/tenants.hpp"

#include "bench/child.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/measure.hpp"
#include "bench/peer_program.hpp"
#include "bench/quiet_server.hpp"
#include "bench/tenants/keeper.hpp"
#include "bench/tenants/offer.hpp"
#include "bench/tenants/request_tally.hpp"
#include "helm/release/actions.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr reactor::nanoseconds longest_wait = 15min;
constexpr std::size_t releases = 1'000, helm_installs = 100, peer_workers = 10;

struct tenants_figures : course {
  double install_s = 0, peak_mb = 0;
  json::object asked_for_tenants, asked_by_helm;  // by kind of request
  double confirm_s = 0, confirm_writes = 0, confirm_downloads = 0, confirm_renders = 0;
  double fleet_rss_mb = 0, rotations_rss_kb = 0, rotations_series = 0, rotations_sockets = 0;
  double live_alone_s = 0, live_among_dead_s = 0;
};

/// Where the sender says "writes" other than Events and Leases, "downloads" of charts, and the
/// "requests" by kind.
constexpr const char *own = "tenants", *counts = "/counts";

std::string repository_of(const served_fleet& f) {
  return f.server() + "/" + served_fleet::name_of(0) + "/charts";
}

std::function<bool()> all_ready(const keeper& k, fleet_size s) {
  return [&k, s, at = std::size_t{0}]() mutable {
    while (at < s.clusters && k.ready(served_fleet::name_of(at)) == s.each) ++at;
    return at == s.clusters;
  };
}

reactor::awaitable<json::object> requests_of(const served_fleet& f, reactor::loop& l) {  // borrowed
  json::object all = co_await f.ask(l, counts);
  const json::value* asked = all.if_contains("requests");
  co_return asked && asked->is_object() ? asked->get_object() : json::object();
}

/// What one release takes of each kind of request: of Helm's install here and in the peer, and with
/// all that is done for its Tenant.
json::array points_of(const tenants_figures& f, const json::object& peers) {
  struct counts_of {
    double by_helm = 0, by_peer = 0, for_tenant = 0;
  };
  std::map<std::string, counts_of> by_kind;
  for (const auto& [kind, count] : f.asked_by_helm)
    by_kind[kind].by_helm = count.to_number<double>() / helm_installs;
  for (const auto& [kind, count] : peers)
    by_kind[kind].by_peer = count.to_number<double>() / releases;
  for (const auto& [kind, count] : f.asked_for_tenants)
    by_kind[kind].for_tenant = count.to_number<double>() / releases;
  json::array out;
  for (const auto& [kind, count] : by_kind) {
    json::object point;
    point["request"] = kind;
    point["per_install"] = rounded(count.by_helm);
    point["peer_per_install"] = rounded(count.by_peer);
    point["per_tenant"] = rounded(count.for_tenant);
    out.emplace_back(std::move(point));
  }
  return out;
}

/// Helm's install alone, as the peer does it: no Tenants, each release in a namespace of its own.
void measure_requests(tenants_figures& out) {
  const served_fleet fleet(own, {1, 0});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    k8s::client api(l, fleet.to(0));
    k8s::discovery known(api);
    const auto chart = chart_offer::prepared("ten");
    for (std::size_t i = 0; out.problem.empty() && i < helm_installs; ++i) {
      helm::release::action_settings s;
      s.ns = "t-" + std::to_string(i);
      helm::objects::cluster_objects on(l, api, known);
      helm::release::cluster_records records(l, api, s.ns);
      helm::release::install_request r;
      r.name = "tenant-" + s.ns;
      r.chart = chart;
      r.create_namespace = r.work.wait = true;
      helm::release::release_actions actions(l, api, on, records, std::move(s));
      auto made = co_await actions.install(std::move(r));
      if (!made) out.problem = made.error().text;
    }
    out.asked_by_helm = co_await requests_of(fleet, l);
    co_await api.stop();
  });
}

void measure_install(tenants_figures& out) {
  const served_fleet fleet(own, {1, releases});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, repository_of(fleet), "ten");
    const reactor::nanoseconds began = monotonic();
    co_await k.add_all(fleet);
    std::function<bool()> done = all_ready(k, fleet.size());
    std::function<bool()> watched = [&out, done] {
      out.peak_mb = std::max(out.peak_mb, megabytes(resident_bytes()));
      return done();
    };
    co_await until(l, out, std::move(watched), "1,000 releases on one cluster");
    out.install_s = seconds_of(monotonic() - began);
    out.asked_for_tenants = co_await requests_of(fleet, l);
    co_await k.stop();
  });
}

void measure_confirm(tenants_figures& out) {
  const served_fleet fleet(own, {100, releases / 100});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    {
      keeper first(l, repository_of(fleet), "ten");
      co_await first.add_all(fleet);
      std::function<bool()> done = all_ready(first, fleet.size());
      co_await until(l, out, std::move(done), "1,000 releases on 100 clusters");
      co_await l.sleep_for(10s);  // the last Events
      co_await first.stop();
    }
    const json::object before = co_await fleet.ask(l, counts);
    keeper next(l, repository_of(fleet), "ten");
    const reactor::nanoseconds began = monotonic();
    co_await next.add_all(fleet);
    const auto sum = [&](const char* of) {
      double all = 0;
      for (std::size_t i = 0; i < fleet.size().clusters; ++i)
        all += next.operations(served_fleet::name_of(i), of);
      return all;
    };
    std::function<bool()> done = [&] { return sum("skip") >= static_cast<double>(releases); };
    co_await until(l, out, std::move(done), "1,000 unchanged releases");
    out.confirm_s = seconds_of(monotonic() - began);
    out.confirm_renders = sum("install") + sum("upgrade");
    const json::object after = co_await fleet.ask(l, counts);
    out.confirm_writes = number_in(after, "writes") - number_in(before, "writes");
    out.confirm_downloads = number_in(after, "downloads") - number_in(before, "downloads");
    co_await next.stop();
  });
}

void measure_many(tenants_figures& out) {
  const served_fleet fleet(own, {500, 20});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, repository_of(fleet), "one", {4, 32});
    co_await k.add_all(fleet);
    std::function<bool()> done = all_ready(k, fleet.size());
    co_await until(l, out, std::move(done), "20 releases on each of 500 clusters");
    co_await l.sleep_for(10s);
    std::function<void()> weigh = [&out] { out.fleet_rss_mb = megabytes(trimmed_bytes()); };
    co_await apart(l, out, std::move(weigh));
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
  const served_fleet fleet(own, {clusters, 2});
  run(out, [&](reactor::loop& l) -> reactor::awaitable<void> {
    keeper k(l, repository_of(fleet), "one");
    co_await k.add_all(fleet);
    std::function<bool()> done = all_ready(k, fleet.size());
    co_await until(l, out, std::move(done), "two releases on 50 clusters");
    std::size_t resident = 0, series = 0, sockets = 0;
    const std::function<void()> weigh = [&] {
      const std::size_t now = trimmed_bytes();
      const auto grown = [](std::size_t to, std::size_t from) {
        return static_cast<double>(to) - static_cast<double>(from);
      };
      out.rotations_rss_kb = grown(now, resident) / 1e3;
      out.rotations_series = grown(k.metrics().series(), series);
      out.rotations_sockets = grown(open_sockets(), sockets);
      resident = now;
      series = k.metrics().series();
      sockets = open_sockets();
    };
    for (std::size_t round = 0; out.problem.empty() && round <= warm_up + rounds; ++round) {
      if (round == warm_up || round == warm_up + rounds) co_await apart(l, out, weigh);
      for (std::size_t i = 0; i < clusters; ++i) {
        k8s::connection to = fleet.to(i);
        to.token.bytes = reactor::secret("token-" + std::to_string(round));
        k.add(served_fleet::name_of(i), std::move(to));
        co_await l.yield();
      }
      std::function<bool()> again = all_ready(k, fleet.size());
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
  const peer_program peer = go_peer("helm_peer");
  if (peer.path.empty()) return {{"error", peer.skipped}};
  const served_fleet fleet(own, {1, 0});
  const std::string server = fleet.server() + "/" + served_fleet::name_of(0);
  auto asked = child::start_program({peer.path, "install", server, server + "/charts/ten.tgz",
                                     std::to_string(releases), std::to_string(peer_workers)});
  if (!asked) return {{"error", asked.error().message()}};
  boost::system::error_code bad;
  auto v = json::parse(asked->read_line(), bad);
  if (bad || !v.is_object()) return {{"error", "no answer"}};
  json::object out = v.get_object();
  reactor::loop l;
  run_on(l,
         [&]() -> reactor::awaitable<void> { out["requests"] = co_await requests_of(fleet, l); });
  return out;
}

}  // namespace

json::object measure_tenants() {
  allow_many_descriptors();
  pin_to_core(0);
  tenants_figures f;
  measure_install(f);
  measure_requests(f);
  json::object peer = ask_peer();
  measure_confirm(f);
  measure_rotations(f);
  measure_many(f);
  f.live_alone_s = until_ready_beside(0);
  f.live_among_dead_s = until_ready_beside(50);
  json::object o = environment();
  o["install_1000_s"] = rounded(f.install_s);
  o["rss_mb"] = rounded(f.peak_mb, 1);
  o["requests_per_install"] = rounded(requests_in(f.asked_by_helm) / helm_installs, 1);
  o["requests_per_tenant"] = rounded(requests_in(f.asked_for_tenants) / releases, 1);
  o["peer_install_1000_s"] = o["peer_rss_mb"] = o["peer_requests_per_install"] = nullptr;
  json::object peers;
  if (peer.contains("seconds")) {
    peers = peer["requests"].as_object();
    o["peer_install_1000_s"] = rounded(number_in(peer, "seconds"));
    o["peer_rss_mb"] = rounded(number_in(peer, "rss_mb"), 1);
    o["peer_requests_per_install"] = rounded(requests_in(peers) / releases, 1);
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
  tell_stalls(o, f.held_up);
  o["points"] = points_of(f, peers);
  return o;
}

int run_tenants_sender(const std::string& text) {
  const fleet_size s = fleet_size_of(text);
  const chart_offer charts;
  std::size_t writes = 0, downloads = 0;
  request_tally asked;
  return serve_fleet(s, [&](reactor::loop&, k8s::sim::api_server& api) {
    furnish(api, s.each);
    api.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path == counts) {
        k8s::sim::answer out;
        json::object said{{"writes", writes}, {"downloads", downloads}};
        said["requests"] = asked.by_kind();
        out.body = json::serialize(said);
        return out;
      }
      downloads += r.path.ends_with(".tgz");
      std::optional<k8s::sim::answer> chart = charts.answer(r);
      if (!chart) asked.count(r);
      return chart;
    };
    api.on_write = [&writes](const k8s::sim::written& w) {
      writes += w.plural != "leases" && w.plural != "events";
    };
  });
}

}  // namespace bench
