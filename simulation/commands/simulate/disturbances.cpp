#include "simulation/commands/simulate/disturbances.hpp"

#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <string_view>

namespace cli::simulate {
namespace {

using namespace std::chrono_literals;
using simulation::trouble;
using reach = reactor::memory_network::reach;

/// How often a request gets something else than its answer.
constexpr double disturbed_share = 0.05;

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

}  // namespace

bool disturbances::happens(double share) {
  return loop_.random().fraction() < share;
}

std::optional<k8s::sim::answer> disturbances::answer(const k8s::sim::request& r) {
  if (!happens(disturbed_share)) return std::nullopt;
  const bool write = r.method != "GET";
  const auto give = [&](trouble t, int code,
                        std::string_view reason) -> std::optional<k8s::sim::answer> {
    if (!of_.contains(t)) return std::nullopt;
    ++answers_;
    return status_answer(code, reason);
  };
  switch (loop_.random().between(std::uint64_t{0}, std::uint64_t{3})) {
    case 0: return give(trouble::throttled, 429, "TooManyRequests");
    case 1: return give(trouble::failing, 500, "InternalError");
    case 2: return write ? give(trouble::conflict, 409, "Conflict") : std::nullopt;
    default: return write ? std::nullopt : give(trouble::gone, 410, "Expired");
  }
}

void disturbances::spoil(reactor::link_faults& f) {
  reactor::entropy& dice = loop_.random();
  f.latency = dice.between(1ms, 30ms);
  f.jitter = dice.between(0ms, 30ms);
  if (of_.contains(trouble::split) && happens(0.5))
    f.piece_limit_bytes = dice.between(std::uint64_t{100}, std::uint64_t{4'000});
  if (of_.contains(trouble::cut) && happens(0.3)) f.cut_after = dice.between(1s, 90s);
  if (!of_.contains(trouble::half_open)) return;
  if (happens(0.1))
    f.lose_to_client_after_bytes = dice.between(std::uint64_t{0}, std::uint64_t{20'000});
  if (happens(0.1))
    f.lose_to_server_after_bytes = dice.between(std::uint64_t{0}, std::uint64_t{5'000});
}

reactor::awaitable<bool> disturbances::cause(trouble t, simulation::world& w, std::size_t of) {
  reactor::entropy& dice = loop_.random();
  reactor::memory_network& net = reactor::memory_network::of(loop_);
  simulation::cluster& c = *w.clusters()[of];
  switch (t) {
    case trouble::cut: net.cut_all(c.name()); break;
    case trouble::half_open:
      net.set_reach(c.name(), happens(0.5) ? reach::blackhole : reach::stalled);
      co_await loop_.sleep_for(dice.between(1s, 40s));
      net.set_reach(c.name(), reach::open);
      break;
    case trouble::gone: c.api().compact(); break;
    case trouble::stale_lists:
      c.api().serve_stale(dice.between(std::uint64_t{1}, std::uint64_t{50}));
      co_await loop_.sleep_for(dice.between(5s, 30s));
      c.api().serve_stale(0);
      break;
    case trouble::lost_events:
      net.set_reach(c.name(), reach::stalled);
      co_await loop_.sleep_for(dice.between(1s, 15s));
      c.api().compact();
      net.cut_all(c.name());
      net.set_reach(c.name(), reach::open);
      break;
    case trouble::restarts:
      c.api().restart(happens(0.5) ? k8s::sim::api_server::memory::lost
                                   : k8s::sim::api_server::memory::kept);
      break;
    case trouble::clock_jumps: loop_.shift_wall(dice.between(0s, 20min) - 10min); break;
    case trouble::dead_clusters:
      net.set_reach(c.name(), reach::blackhole);
      co_await loop_.sleep_for(dice.between(30s, 2min));
      net.set_reach(c.name(), reach::open);
      break;
    case trouble::departures:
      w.take_away(of);
      co_await loop_.sleep_for(dice.between(1s, 60s));
      w.bring(of);
      break;
    case trouble::credentials: co_await change_token(w, of); break;
    default: co_return false;
  }
  co_return true;
}

/// The server has the new token before the Secret, or the Secret before the server.
reactor::awaitable<void> disturbances::change_token(simulation::world& w, std::size_t of) {
  const std::string token = "token-" + std::to_string(++tokens_);
  std::map<std::string, std::string>& known = w.clusters()[of]->api().access().tokens;
  const bool first = happens(0.5);
  if (first) known = {{token, "windlass"}};
  if (!first) w.give_token(of, token);
  co_await loop_.sleep_for(loop_.random().between(0s, 40s));
  known = {{token, "windlass"}};
  if (first) w.give_token(of, token);
}

}  // namespace cli::simulate
