#include "bench/idle.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/daemon_set.hpp"
#include "k8s/views/lease.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kinds = 5;

/// What an API of the service is on a cluster, as far as watching goes.
class watched_kinds final : public k8s::cluster_controller {
public:
  explicit watched_kinds(k8s::engagement& c)
      : nodes_(c.loop(), c.api(), all_of(k8s::resources::nodes())),
        pods_(c.loop(), c.api(), all_of(k8s::resources::pods())),
        secrets_(c.loop(), c.api(), all_of(k8s::resources::secrets())),
        leases_(c.loop(), c.api(), all_of(k8s::resources::leases())),
        daemon_sets_(c.loop(), c.api(), all_of(k8s::resources::daemon_sets())) {
    for (k8s::informer_base* i : all()) {
      c.follow(*i);
      i->start();
    }
  }
  reactor::awaitable<void> stop() override {
    for (k8s::informer_base* i : all()) co_await i->stop();
  }

private:
  static k8s::informer_options all_of(const k8s::resource& r) {
    k8s::informer_options o;
    o.collection = r;
    o.stream_initial = false;
    return o;
  }
  std::vector<k8s::informer_base*> all() {
    return {&nodes_, &pods_, &secrets_, &leases_, &daemon_sets_};
  }

  k8s::informer<k8s::node> nodes_;
  k8s::informer<k8s::pod> pods_;
  k8s::informer<k8s::secret> secrets_;
  k8s::informer<k8s::lease> leases_;
  k8s::informer<k8s::daemon_set> daemon_sets_;
};

struct idle_figures {
  double cpu_percent = 0, requests = 0, resident_mb = 0, noticed_seconds = 0;
  std::string problem;
};

class idle_fleet {
public:
  idle_fleet(reactor::loop& l, k8s::connection to, std::size_t clusters,
             reactor::nanoseconds window)
      : loop_(l), to_(std::move(to)), size_(clusters), window_(window) {}

  reactor::awaitable<void> measure(idle_figures& out) {
    co_await engage_all();
    if (!all_live()) out.problem = "not every cluster became Live";
    if (out.problem.empty()) co_await observe(out);
    if (out.problem.empty()) co_await fall_silent(out);
    for (const auto& c : fleet_) co_await c->stop();
    fleet_.clear();
    loop_.stop();
  }

private:
  reactor::awaitable<void> engage_all() {
    constexpr std::size_t at_once = 50;  // as a start-up limits it
    const reactor::steady_time give_up = loop_.now() + 5min;
    for (std::size_t i = 0; i < size_; ++i) {
      k8s::connection to = to_;
      to.server += "/c" + std::to_string(i);
      k8s::cluster_options o;
      o.name = "c" + std::to_string(i);
      k8s::cluster_api watch;
      watch.name = "watched";
      watch.start = [](k8s::engagement& on) -> reactor::awaitable<k8s::result<void>> {
        if (!on.part()) on.attach(std::make_unique<watched_kinds>(on));
        co_return k8s::result<void>();
      };
      o.apis.push_back(std::move(watch));
      fleet_.push_back(std::make_unique<k8s::cluster>(loop_, std::move(to), std::move(o)));
      fleet_.back()->start();
      if (i >= at_once)
        while (!fleet_[i - at_once]->is_live() && loop_.now() < give_up)
          co_await loop_.sleep_for(2ms);
    }
    while (!all_live() && loop_.now() < give_up) co_await loop_.sleep_for(100ms);
  }
  bool all_live() const {
    return std::all_of(fleet_.begin(), fleet_.end(), [](const auto& c) { return c->is_live(); });
  }

  /// What has reached the sender so far; this question is not counted.
  reactor::awaitable<double> requests_so_far() {
    auto text = co_await ask("GET", "/requests");
    co_return text.empty() ? 0 : std::stod(text);
  }
  reactor::awaitable<std::string> ask(std::string method, std::string target) {
    reactor::http::client_options o;
    o.origin = *reactor::http::parse_origin(to_.server);
    o.tls.ca_pem = to_.ca.bytes.reveal();
    reactor::http::client c(loop_, std::move(o));
    reactor::http::request r;
    r.method = std::move(method);
    r.target = std::move(target);
    auto got = co_await c.fetch(std::move(r));
    co_await c.stop();
    co_return got ? got->body : std::string();
  }

  reactor::awaitable<void> observe(idle_figures& out) {
    co_await loop_.sleep_for(15s);  // what engaging left behind
    const double requests = co_await requests_so_far();
    const reactor::nanoseconds cpu = process_cpu();
    co_await loop_.sleep_for(window_);
    out.cpu_percent = 100.0 * static_cast<double>((process_cpu() - cpu).count()) /
                      static_cast<double>(window_.count());
    const double minutes = std::chrono::duration<double>(window_).count() / 60;
    const double later = co_await requests_so_far();
    out.requests = (later - requests) / static_cast<double>(size_) / minutes;
    trim_heap();
    out.resident_mb = static_cast<double>(resident_bytes()) / 1e6;
    if (!all_live()) out.problem = "a cluster was not Live at the end";
  }

  reactor::awaitable<void> fall_silent(idle_figures& out) {
    k8s::cluster& silent = *fleet_.front();
    silent.set_freshness(k8s::freshness::close);
    co_await loop_.sleep_for(5s);  // what attending asks first is answered
    (void)co_await ask("POST", "/" + silent.name() + "/deaf");
    const reactor::steady_time since = loop_.now();
    while (silent.is_live() && loop_.now() - since < 5min) co_await loop_.sleep_for(50ms);
    out.noticed_seconds = std::chrono::duration<double>(loop_.now() - since).count();
  }

  reactor::loop& loop_;
  k8s::connection to_;
  std::size_t size_;
  reactor::nanoseconds window_;
  std::vector<std::unique_ptr<k8s::cluster>> fleet_;
};

}  // namespace

boost::json::object measure_idle(std::size_t clusters, std::chrono::seconds window) {
  allow_many_descriptors();
  pin_to_core(0);
  auto process = child::start({"idle", "--sender", "10"});
  if (!process) throw std::runtime_error(process.error().message());
  idle_figures f;
  reactor::loop l;
  idle_fleet fleet(l, sender_connection(*process), clusters, window);
  {
    reactor::task_group tasks(l);
    tasks.start("idle fleet", fleet.measure(f));
    l.run();
  }
  if (!f.problem.empty()) throw std::runtime_error(f.problem);
  boost::json::object o = environment();
  o["clusters"] = clusters;
  o["streams"] = clusters * kinds;
  o["seconds"] = window.count();
  o["cpu_percent"] = rounded(f.cpu_percent);
  o["requests_per_cluster_minute"] = rounded(f.requests);
  o["rss_mb"] = rounded(f.resident_mb, 1);
  o["half_open_noticed_s"] = rounded(f.noticed_seconds);
  return o;
}

}  // namespace bench
