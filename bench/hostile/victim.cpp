#include "bench/hostile/victim.hpp"

#include "bench/hostile/attackers.hpp"
#include "bench/hostile/callers.hpp"
#include "bench/hostile/charts.hpp"
#include "bench/hostile/kubeconfigs.hpp"
#include "bench/hostile/neighbours.hpp"
#include "bench/hostile/other_core.hpp"
#include "bench/hostile/packs.hpp"
#include "bench/hostile/servers.hpp"
#include "bench/measure.hpp"
#include "bootc/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/lease.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"

#include <boost/json/serialize.hpp>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

namespace bench::hostile {
namespace {

using reactor::nanoseconds;

constexpr std::size_t fleet_size = 500;  // and one of them is not what it seems
constexpr nanoseconds between_beats = 60ms;
constexpr std::size_t beats_a_look = 3;

double ms(nanoseconds d) {
  return std::chrono::duration<double, std::milli>(d).count();
}
double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Follows a neighbour's Lease and says how late its events were.
class lease_part final : public k8s::cluster_controller {
public:
  lease_part(k8s::engagement& c, std::vector<double>& late_ms)
      : leases_(c.loop(), c.api(), options()) {
    leases_.on_change([&late_ms](const k8s::lease* before, const k8s::lease* now) {
      if (!before || !now) return;
      const std::int64_t stamp = std::strtoll(std::string(now->holder.view()).c_str(), nullptr, 10);
      late_ms.push_back(static_cast<double>(thread_clock() - stamp) / 1e6);
    });
    leases_.start();
  }
  awaitable<void> stop() override { return leases_.stop(); }

private:
  static k8s::informer_options options() {
    k8s::informer_options o;
    o.collection = k8s::resources::leases();
    o.stream_initial = false;
    return o;
  }
  k8s::informer<k8s::lease> leases_;
};

k8s::cluster_api follow_lease(std::vector<double>& late_ms) {
  k8s::cluster_api api;
  api.name = "lease";
  api.start = [&late_ms](k8s::engagement& on) -> awaitable<k8s::result<void>> {
    if (!on.part()) on.attach(std::make_unique<lease_part>(on, late_ms));
    co_return k8s::result<void>();
  };
  return api;
}

class victim {
public:
  victim(reactor::loop& l, attackers_at attackers, std::size_t rounds)
      : loop_(l),
        attackers_(std::move(attackers)),
        rounds_(rounds),
        capture_(std::make_shared<reactor::log_capture>()),
        log_([&l] { return l.wall(); }, capture_, reactor::log_level::info),
        good_(fleet_size - 1) {
    std::ifstream in(attackers_.ca_file);
    ca_.assign(std::istreambuf_iterator<char>(in), {});
  }

  /// Packs, kubeconfigs and charts bring a loop of their own, so they come before this one runs;
  /// what is left is networked.
  static std::vector<std::size_t> undergo_alone(const std::vector<std::size_t>& wanted) {
    std::vector<std::size_t> networked;
    for (const std::size_t n : wanted) {
      const attack a = attacks()[n];
      if (a.what == attack::kind::server || a.what == attack::kind::caller)
        networked.push_back(n);
      else
        say(try_alone(n));
    }
    return networked;
  }

  awaitable<void> undergo(std::vector<std::size_t> networked) {
    if (!networked.empty()) co_await with_neighbours(std::move(networked));
    loop_.timers().arm(loop_.now() + 10ms, [this] { loop_.stop(); });  // once this has ended
  }

private:
  static void say(const reading& r) {
    std::printf("%s\n", to_text(r).c_str());
    std::fflush(stdout);
  }

  static reading try_alone(std::size_t n) {
    alarm(60);
    const attack a = attacks()[n];
    reading r;
    r.attack = n;
    if (a.what == attack::kind::chart) {
      const chart_outcome o = try_chart(charts()[a.index]);
      r.stall_ms = ms(o.worst_stall);
      r.escaped = !o.neighbour || o.ours == 0;
      for (const std::string& why : o.children_ended)
        r.children_ended += (r.children_ended.empty() ? "" : ",") + why;
    } else if (a.what == attack::kind::pack) {
      const pack_outcome o = try_pack(packs()[a.index]);
      r.stall_ms = ms(o.worst_stall);
      r.escaped = o.escaped;
    } else {
      const kubeconfig_outcome o = try_kubeconfig(kubeconfigs()[a.index]);
      r.stall_ms = ms(o.took);
      r.canary_hits = o.leaked ? 1 : 0;
    }
    return r;
  }

  awaitable<void> with_neighbours(std::vector<std::size_t> wanted) {
    std::vector<std::unique_ptr<k8s::cluster>> fleet;
    for (std::size_t i = 0; i < good_.count(); ++i) {
      k8s::connection to;
      to.server = good_.url(i);
      to.source = "bench";
      fleet.push_back(make_cluster("neighbour-" + std::to_string(i), std::move(to),
                                   reactor::logger(), neighbour_metrics_));
      fleet.back()->start();
    }
    const auto give_up = loop_.now() + 100s;
    for (const auto& c : fleet) {
      const auto complete = [&] {
        return std::ranges::all_of(c->engagements(), [](const auto& e) { return e->is_live(); });
      };
      const bool engaged = co_await c->engaged(give_up);
      while (engaged && !complete() && loop_.now() < give_up) co_await loop_.sleep_for(10ms);
      if (!complete()) throw std::runtime_error("the neighbours did not come up");
    }
    co_await start_listener();
    // The first event of each pays for what is made once.
    co_await beats(2);
    std::size_t seen = 0;
    double quiet = 0;
    for (const std::size_t n : wanted) {
      reading r;
      r.attack = n;
      std::vector<double> noisy_all, quiet_all, stalls;
      for (std::size_t round = 0; round < rounds_; ++round) {
        if (rounds_ > 1 || seen++ % 8 == 0) quiet = co_await look();
        quiet_all.push_back(quiet);
        reading one = co_await one_round(n);
        noisy_all.push_back(one.p99_ms);
        stalls.push_back(one.stall_ms);
        one.rss_mb = std::max(one.rss_mb, r.rss_mb);
        one.canary_hits += r.canary_hits;
        r = one;
      }
      // The machine adds, it never takes away.
      r.p99_ms = quantile(noisy_all, 0.25);
      r.quiet_p99_ms = quantile(quiet_all, 0.25);
      r.ratio = r.quiet_p99_ms > 0 ? r.p99_ms / r.quiet_p99_ms : 0;
      r.stall_ms = *std::min_element(stalls.begin(), stalls.end());
      say(r);
    }
    alarm(0);
    co_await listener_->stop();
    for (const auto& c : fleet) co_await c->stop();
  }

  std::unique_ptr<k8s::cluster> make_cluster(std::string name, k8s::connection to,
                                             const reactor::logger& log,
                                             reactor::metrics& metrics) {
    k8s::cluster_options o;
    o.name = name;
    o.metrics = &metrics;
    bootc::bootc_cluster::options b;
    b.name = std::move(name);
    b.metrics = &metrics;
    b.log = log;
    o.apis.push_back(bootc::engage_bootc(std::move(b)));
    if (&metrics == &neighbour_metrics_) o.apis.push_back(follow_lease(late_ms_));
    return std::make_unique<k8s::cluster>(loop_, std::move(to), std::move(o), log);
  }

  /// The neighbours' events, some times, and all of them read.
  awaitable<void> beats(std::size_t n) {
    const other_core busy;
    late_ms_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      good_.beat();
      co_await loop_.sleep_for(between_beats);
    }
    const auto give_up = loop_.now() + 2s;
    while (late_ms_.size() < n * good_.count() && loop_.now() < give_up)
      co_await loop_.sleep_for(5ms);
  }
  awaitable<double> look() {
    co_await beats(beats_a_look);
    co_return quantile(late_ms_, 0.99);
  }

  awaitable<reading> one_round(std::size_t n) {
    alarm(60);  // who hangs has crashed
    const attack a = attacks()[n];
    reading r;
    r.attack = n;
    capture_->clear();
    trim_heap();
    const std::size_t before = resident_bytes();
    (void)loop_.take_health();
    const auto grown = [before] {
      const std::size_t now = resident_bytes();
      return now > before ? static_cast<double>(now - before) / 1e6 : 0;
    };
    if (a.what == attack::kind::server) {
      reactor::metrics metrics;
      k8s::connection to;
      to.server = "https://127.0.0.1:" + std::to_string(attackers_.servers[a.index]);
      to.source = "bench";
      to.ca.bytes = reactor::secret(ca_);
      to.token.bytes = reactor::secret(std::string(canary) + "-token");
      auto bad = make_cluster("hostile", std::move(to), log_, metrics);
      bad->start();
      r.p99_ms = co_await look();
      r.rss_mb = grown();
      // What grows is looked at until it stops.
      for (int i = 0; r.rss_mb > 32 && i < 30; ++i) {
        co_await loop_.sleep_for(100ms);
        const double now = grown();
        if (now <= r.rss_mb) break;
        r.rss_mb = now;
      }
      r.connections = bad->api().connections();
      r.series = metrics.series();
      std::string said = boost::json::serialize(bad->to_json()) + metrics.text();
      co_await bad->stop();
      bad.reset();
      for (const reactor::log_record& record : capture_->records())
        said += reactor::format_json(record);
      r.log_lines = capture_->records().size();
      r.canary_hits = said.find(canary) == said.npos ? 0 : 1;
    } else {
      co_await control("/call?n=" + std::to_string(a.index) +
                       "&port=" + std::to_string(listener_->local().port));
      r.p99_ms = co_await look();
      r.rss_mb = grown();
      r.connections = listener_->connections();
      co_await control("/stop");
    }
    co_await loop_.sleep_for(10ms);
    r.stall_ms = ms(loop_.take_health().longest_stall);
    co_return r;
  }

  /// As the service listens (cli/service/service.cpp).
  awaitable<void> start_listener() {
    reactor::http::server_options o;
    o.at = {"127.0.0.1", 0};
    o.max_connections = 200;
    o.header_timeout = 5s;
    o.write_timeout = 10s;
    o.header_limit_bytes = 16 * 1024;
    o.body_limit_bytes = 16 * 1024;
    listener_ = std::make_unique<reactor::http::server>(
        loop_, std::move(o), [this](reactor::http::request r, reactor::http::responder& to) {
          return answer(std::move(r), to);
        });
    if (auto started = listener_->start(); !started)
      throw std::runtime_error(started.error().message());
    co_return;
  }

  awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    if (r.target != "/metrics") {
      reactor::http::response whole;
      whole.status = r.target == "/healthz" ? 200 : 404;
      whole.body = "ok\n";
      (void)co_await to.send(std::move(whole));
      co_return;
    }
    reactor::http::response_head head{200, {}};
    auto sent = co_await to.start(std::move(head));
    reactor::metrics::reading all(neighbour_metrics_);
    while (sent) {
      std::optional<std::string> piece = all.next();
      if (!piece) break;
      sent = co_await to.write(std::move(*piece));
      co_await loop_.yield();
    }
    if (sent) (void)co_await to.finish();
  }

  awaitable<void> control(std::string target) {
    reactor::http::client_options o;
    o.origin = {false, "127.0.0.1", attackers_.control};
    reactor::http::client asking(loop_, std::move(o));
    reactor::http::request r;
    r.method = "GET";
    r.target = std::move(target);
    (void)co_await asking.fetch(std::move(r));
    co_await asking.stop();
  }

  reactor::loop& loop_;
  attackers_at attackers_;
  std::size_t rounds_;
  std::string ca_;
  std::shared_ptr<reactor::log_capture> capture_;
  reactor::logger log_;
  reactor::metrics neighbour_metrics_;
  std::vector<double> late_ms_;
  neighbours good_;
  std::unique_ptr<reactor::http::server> listener_;
};

}  // namespace

std::string attack::name() const {
  switch (what) {
    case kind::server: return servers()[index].name;
    case kind::caller: return "caller: " + callers()[index].name;
    case kind::pack: return "pack: " + packs()[index].name;
    case kind::kubeconfig: return "kubeconfig: " + kubeconfigs()[index].name;
    case kind::chart: return "chart: " + charts()[index].name;
  }
  return {};
}

const std::vector<attack>& attacks() {
  static const std::vector<attack> all = [] {
    std::vector<attack> made;
    const auto add = [&made](attack::kind k, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) made.push_back({k, i});
    };
    add(attack::kind::server, servers().size());
    add(attack::kind::caller, callers().size());
    add(attack::kind::pack, packs().size());
    add(attack::kind::kubeconfig, kubeconfigs().size());
    add(attack::kind::chart, charts().size());
    return made;
  }();
  return all;
}

std::string to_text(const reading& r) {
  char line[384];
  std::snprintf(line, sizeof line, "attack %zu %.4f %.3f %.4f %.4f %.3f %zu %zu %zu %d %zu %.99s",
                r.attack, r.stall_ms, r.rss_mb, r.p99_ms, r.quiet_p99_ms, r.ratio, r.log_lines,
                r.series, r.connections, r.escaped ? 1 : 0, r.canary_hits,
                r.children_ended.empty() ? "-" : r.children_ended.c_str());
  return line;
}

bool parse_reading(const std::string& line, reading& r) {
  int escaped = 0;
  char ended[100] = {};
  const int n =
      std::sscanf(line.c_str(), "attack %zu %lf %lf %lf %lf %lf %zu %zu %zu %d %zu %99s", &r.attack,
                  &r.stall_ms, &r.rss_mb, &r.p99_ms, &r.quiet_p99_ms, &r.ratio, &r.log_lines,
                  &r.series, &r.connections, &escaped, &r.canary_hits, ended);
  r.escaped = escaped != 0;
  r.children_ended = std::string_view(ended) == "-" ? "" : ended;
  return n == 12;
}

int run_victim(const std::string& attackers, const std::vector<std::size_t>& wanted,
               std::size_t rounds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  reactor::loop l;
  victim v(l, parse_attackers(attackers), rounds);
  reactor::task_group tasks(l);
  tasks.start("undergo", v.undergo(victim::undergo_alone(wanted)));
  l.run();
  return 0;
}

}  // namespace bench::hostile
