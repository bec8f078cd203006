#include "tests/simulation/fleet_run.hpp"

#include "bootc/api.hpp"
#include "cli/service/service.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>

#include <memory>

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds disturbed_for = 5min, patience = 1h;

k8s::sim::answer status_answer(int code, std::string_view reason) {
  k8s::sim::answer a;
  a.status = code;
  a.body = boost::json::serialize(boost::json::object{{"kind", "Status"},
                                                      {"apiVersion", "v1"},
                                                      {"status", "Failure"},
                                                      {"message", "simulated"},
                                                      {"reason", reason},
                                                      {"code", code}});
  if (code == 429) a.fields.emplace_back("Retry-After", "1");
  return a;
}

class fleet_run {
public:
  fleet_run(std::uint64_t seed, disturbances how)
      : how_(how),
        loop_(reactor::loop::mode::simulated, seed),
        capture_(std::make_shared<reactor::log_capture>(400)),
        log_([this] { return loop_.wall(); }, capture_, reactor::log_level::info),
        tasks_(loop_) {}

  run_outcome go() {
    node_world_options o;
    o.clusters = 3;
    o.nodes = 5;
    o.mishaps = false;
    o.stage_time = 20s;
    o.reboot_time = 30s;
    world_ = std::make_unique<node_world>(loop_, o);
    tasks_.start("run", run());
    loop_.run();
    outcome_.trace = world_->trace_hash();
    outcome_.writes = world_->writes();
    outcome_.reboots = world_->reboots();
    outcome_.violations = world_->violations();
    outcome_.left_alive = loop_.live().tasks + loop_.live().streams + loop_.live().waits;
    for (const reactor::log_record& r : capture_->records())
      outcome_.log += reactor::format_console(r, false) + "\n";
    return std::move(outcome_);
  }

private:
  reactor::awaitable<void> run() {
    if (auto started = world_->start(); !started) {
      outcome_.violations.push_back(started.error().message());
      co_return;
    }
    for (const auto& c : world_->clusters())
      c->api().before = [this](const k8s::sim::request& r) { return disturb(r); };
    if (how_.streams)
      reactor::memory_network::of(loop_).on_connect =
          [this](const reactor::endpoint&, reactor::link_faults& f) { break_link(f); };
    outcome_.nodes = world_->node_count();
    co_await start_windlass();
    co_await loop_.sleep_for(30s);
    world_->roll_out(simulation::new_image);
    const reactor::steady_time calm = loop_.now() + disturbed_for;
    while (loop_.now() < calm) co_await cause_trouble();
    calm_ = true;
    reactor::memory_network::of(loop_).on_connect = nullptr;
    // What was broken silently is noticed by probes; what is cut is noticed now.
    reactor::memory_network::of(loop_).cut_everything();
    const reactor::steady_time give_up = loop_.now() + patience;
    while (world_->hosts_on(simulation::new_image) < world_->node_count() && loop_.now() < give_up)
      co_await loop_.sleep_for(1s);
    co_await loop_.sleep_for(2min);
    outcome_.updated = world_->hosts_on(simulation::new_image);
    world_->check_at_rest();
    co_await compare_caches();
    co_await windlass_->stop();
    windlass_.reset();
    co_await world_->stop();
  }

  reactor::awaitable<void> start_windlass() {
    for (;;) {
      cli::service_options o;
      o.home = world_->home();
      windlass_ = std::make_unique<cli::service>(loop_, std::move(o), log_);
      auto started = co_await windlass_->start();
      if (started) co_return;
      // As a DaemonSet or a person would: it says why and is started again.
      log_.warning("windlass did not start", {{"error", started.error()}});
      co_await windlass_->stop();
      co_await loop_.sleep_for(2s);
    }
  }

  reactor::awaitable<void> cause_trouble() {
    reactor::entropy& chance = loop_.random();
    co_await loop_.sleep_for(chance.between(2s, 15s));
    const auto& c =
        world_->clusters()[chance.between(std::uint64_t{0}, world_->clusters().size() - 1)];
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    const std::uint64_t what = chance.between(std::uint64_t{0}, std::uint64_t{5});
    if (how_.streams && what == 0) net.cut_all(c->name());
    if (how_.streams && what == 1) {
      net.set_reach(c->name(), chance.between(std::uint64_t{0}, std::uint64_t{1})
                                   ? reactor::memory_network::reach::blackhole
                                   : reactor::memory_network::reach::stalled);
      co_await loop_.sleep_for(chance.between(1s, 40s));
      net.set_reach(c->name(), reactor::memory_network::reach::open);
    }
    if (how_.answers && what == 2) c->api().compact();
    if (how_.answers && what == 3)
      c->api().restart(chance.between(std::uint64_t{0}, std::uint64_t{1})
                           ? k8s::sim::api_server::memory::lost
                           : k8s::sim::api_server::memory::kept);
    if (how_.crashes && what >= 4) {
      ++outcome_.crashes;
      co_await windlass_->stop();
      windlass_.reset();
      co_await loop_.sleep_for(chance.between(100ms, 20s));
      co_await start_windlass();
    }
  }

  std::optional<k8s::sim::answer> disturb(const k8s::sim::request& r) {
    if (!how_.answers || calm_ || loop_.random().fraction() > 0.05) return std::nullopt;
    const bool write = r.method != "GET";
    ++outcome_.disturbed_answers;
    switch (loop_.random().between(std::uint64_t{0}, std::uint64_t{3})) {
      case 0: return status_answer(429, "TooManyRequests");
      case 1: return status_answer(500, "InternalError");
      case 2: return write ? std::optional(status_answer(409, "Conflict")) : std::nullopt;
      default: return write ? std::nullopt : std::optional(status_answer(410, "Expired"));
    }
  }

  void break_link(reactor::link_faults& f) {
    reactor::entropy& chance = loop_.random();
    f.latency = chance.between(1ms, 30ms);
    f.jitter = chance.between(0ms, 30ms);
    if (chance.fraction() < 0.5)
      f.piece_limit_bytes = chance.between(std::uint64_t{1}, std::uint64_t{2'000});
    if (chance.fraction() < 0.3) f.cut_after = chance.between(1s, 90s);
    if (chance.fraction() < 0.1)
      f.lose_to_client_after_bytes = chance.between(std::uint64_t{0}, std::uint64_t{20'000});
    if (chance.fraction() < 0.1)
      f.lose_to_server_after_bytes = chance.between(std::uint64_t{0}, std::uint64_t{5'000});
  }

  reactor::awaitable<void> compare_caches() {
    for (const auto& c : world_->clusters()) {
      k8s::cluster* seen = windlass_->fleet().find(c->name());
      bootc::bootc_cluster* part = seen ? bootc::bootc_part(*seen) : nullptr;
      if (!part) {
        outcome_.cache_differences.push_back(c->name() + " is not engaged");
        continue;
      }
      // A pooled connection that went half-open while it was idle costs the first try its timeout.
      auto differences = co_await part->differences();
      for (int tries = 1; !differences && tries < 3; ++tries)
        differences = co_await part->differences();
      if (!differences) {
        outcome_.cache_differences.push_back(c->name() + ": " + differences.error().message());
        continue;
      }
      for (const std::string& d : *differences)
        outcome_.cache_differences.push_back(c->name() + ": " + d);
    }
  }

  disturbances how_;
  reactor::loop loop_;
  std::shared_ptr<reactor::log_capture> capture_;
  reactor::logger log_;
  std::unique_ptr<node_world> world_;
  std::unique_ptr<cli::service> windlass_;
  run_outcome outcome_;
  bool calm_ = false;
  reactor::task_group tasks_;
};

}  // namespace

run_outcome run_fleet(std::uint64_t seed, disturbances how) {
  return fleet_run(seed, how).go();
}

}  // namespace simulation
