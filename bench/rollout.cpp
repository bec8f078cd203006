#include "bench/rollout.hpp"

#include "bench/child.hpp"
#include "bench/fleet/puppets.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "bootc/api.hpp"
#include "bootc/pool/pack_rollout_policy.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/sim/server.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "simulation/manifests.hpp"
#include "simulation/pool_cluster.hpp"

#include <boost/json.hpp>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::string_view pool_name = "workers";
/// A cluster is told five Events a second.
constexpr reactor::nanoseconds patience = 15min, patience_for_node = 500ms, quiet = 10s;
constexpr std::chrono::seconds idle_window{30};

std::string digest_in(std::string_view image) {
  return std::string(image.substr(image.find('@') + 1));
}

/// As many nodes have apps and budgets of their own, also where there are 10,000.
constexpr std::size_t nodes_of_apps = 100;
/// How much of an app may be away: what is measured is the work, so the budgets of the apps stop
/// few evictions.
constexpr const char* away_at_once = "20%";

/// A cluster with a pool of all its nodes, whose apps let go of many pods at once.
std::unique_ptr<simulation::pool_cluster> moved_cluster(reactor::loop& l,
                                                        simulation::cluster_options o) {
  simulation::pool_options unjudged;
  unjudged.judged = simulation::pool_options::judge::none;
  auto out = std::make_unique<simulation::pool_cluster>(l, std::move(o), std::move(unjudged));
  const std::size_t nodes = out->options().nodes;
  for (std::size_t set = 1; set <= (nodes + nodes_of_apps - 1) / nodes_of_apps; ++set) {
    const std::string number = set == 1 ? std::string() : "-" + std::to_string(set);
    out->api().edit(
        "policy", "poddisruptionbudgets", set == 1 ? "default" : "apps" + number, "api" + number,
        [](json::object& o) { o["spec"].as_object()["maxUnavailable"] = away_at_once; });
  }
  return out;
}

struct rollout_figures {
  double cpu_ms_per_node = 0, writes_per_node = 0, seconds = 0, idle_cpu_percent = 0;
  double reads_per_node = 0, idle_writes = 0, passes = 0;
  json::object writes_by, reads_by;  // kind, for each node
  stalls held_up;
  std::string problem;
};

/// Who moves the fleet.
class mover {
public:
  mover(reactor::loop& l, const k8s::connection& to, fleet_size p)
      : loop_(l),
        size_(p),
        packs_(l,
               [] {
                 policies::host::options o;
                 o.run_tests = false;
                 return o;
               }()),
        policy_(l, packs_) {
    for (std::size_t i = 0; i < p.clusters; ++i) {
      k8s::connection one = to;
      one.server += "/c" + std::to_string(i);
      bootc::bootc_cluster::options part;
      part.policy = &policy_;
      part.on_plan = [this](const std::string&, const bootc::rollout_plan&) { ++passes_; };
      k8s::cluster_options o;
      o.name = "c" + std::to_string(i);
      o.apis.push_back(bootc::engage_bootc(std::move(part)));
      fleet_.push_back(std::make_unique<k8s::cluster>(l, std::move(one), std::move(o)));
    }
  }

  reactor::awaitable<void> measure(rollout_figures& out) {
    auto loaded = co_await packs_.load();
    if (!loaded) out.problem = loaded.error().message();
    if (out.problem.empty()) co_await roll(out);
    for (const auto& c : fleet_) co_await c->stop();
    loop_.stop();
  }

private:
  reactor::awaitable<void> roll(rollout_figures& out) {
    for (const auto& c : fleet_) c->start();
    const bool settled = co_await until_all_run(simulation::old_image);
    if (!settled) out.problem = "the fleet did not settle on its first image";
    if (!settled) co_return;
    const json::object before = co_await counts();
    const std::size_t passes = passes_;
    (void)loop_.take_health();
    const reactor::nanoseconds cpu = process_cpu(), began = monotonic();
    for (const auto& c : fleet_) {
      json::object image{{"ref", simulation::new_image}};
      json::object spec;
      spec["image"] = std::move(image);
      json::object patch;
      patch["spec"] = std::move(spec);
      k8s::object_key key{"", std::string(pool_name)};
      auto done =
          co_await c->api().merge_patch(bootc::node_pools(), std::move(key), std::move(patch));
      if (!done) out.problem = done.error().message();
    }
    const bool arrived = co_await until_all_run(simulation::new_image);
    if (!arrived) out.problem = "the fleet did not arrive";
    const double nodes = static_cast<double>(size_.clusters * size_.each);
    out.seconds = std::chrono::duration<double>(monotonic() - began).count();
    out.cpu_ms_per_node =
        std::chrono::duration<double, std::milli>(process_cpu() - cpu).count() / nodes;
    out.passes = static_cast<double>(passes_ - passes) / static_cast<double>(size_.clusters);
    const json::object at_rest = co_await counts_at_rest();
    for (const auto& [what, n] : at_rest) {
      const double more = number(n) - number_in(before, what);
      if (more > 0) (is_read(what) ? out.reads_by : out.writes_by)[what] = rounded(more / nodes);
      if (is_read(what)) out.reads_per_node += more / nodes;
    }
    // The pools' new image is what the benchmark itself has written.
    out.writes_per_node =
        (sum(at_rest) - sum(before) - static_cast<double>(size_.clusters)) / nodes;
    const reactor::nanoseconds resting = process_cpu();
    co_await loop_.sleep_for(idle_window);
    out.idle_cpu_percent = 100 * std::chrono::duration<double>(process_cpu() - resting).count() /
                           std::chrono::duration<double>(idle_window).count();
    const json::object later = co_await counts();
    out.idle_writes = sum(later) - sum(at_rest);
    out.held_up.add(loop_.take_health());
  }

  bool runs(const k8s::cluster& c, const std::string& digest) const {
    const bootc::bootc_cluster* part = bootc::bootc_part(c);
    const bootc::node_pool* p = part ? part->pool(std::string(pool_name)) : nullptr;
    return p && p->status.deployed_digest == digest && p->status.target_digest == digest &&
           static_cast<std::size_t>(p->status.updated_count) == size_.each;
  }

  reactor::awaitable<bool> until_all_run(std::string_view image) {
    const std::string digest = digest_in(image);
    const reactor::steady_time until = loop_.now() + patience_of_all();
    std::size_t first = 0;
    while (loop_.now() < until) {
      while (first < fleet_.size() && runs(*fleet_[first], digest)) ++first;
      if (first == fleet_.size()) co_return true;
      co_await loop_.sleep_for(200ms);
    }
    co_return false;
  }

  reactor::nanoseconds patience_of_all() const {
    return patience + patience_for_node * static_cast<std::int64_t>(size_.each);
  }

  /// Once the last slots are free and the last Events are told.
  reactor::awaitable<json::object> counts_at_rest() {
    const reactor::steady_time until = loop_.now() + patience_of_all();
    json::object before = co_await counts();
    while (loop_.now() < until) {
      co_await loop_.sleep_for(quiet);
      json::object now = co_await counts();
      if (sum(now) == sum(before)) co_return now;
      before = std::move(now);
    }
    co_return before;
  }

  /// Requests of all clusters by what they read or wrote, as the other process counts them.
  reactor::awaitable<json::object> counts() {
    auto said = co_await fleet_.front()->api().get_path("/counts");
    json::object out;
    if (said && said->is_object()) out = said->get_object();
    co_return out;
  }
  static double number(const json::value& v) {
    return v.is_int64() ? static_cast<double>(v.get_int64()) : 0;
  }
  static double number_in(const json::object& all, std::string_view what) {
    const json::value* v = all.if_contains(what);
    return v ? number(*v) : 0;
  }
  static bool is_read(std::string_view what) { return what.starts_with("GET "); }
  /// Of the writes.
  static double sum(const json::object& all) {
    double out = 0;
    for (const auto& [what, n] : all)
      if (!is_read(what) && !what.starts_with("refused ")) out += number(n);
    return out;
  }

  reactor::loop& loop_;
  fleet_size size_;
  policies::host packs_;
  bootc::pack_rollout_policy policy_;
  std::size_t passes_ = 0;  // of all pools
  std::vector<std::unique_ptr<k8s::cluster>> fleet_;
};

json::object measure(fleet_size p) {
  auto process = child::start(
      {"rollout", "--sender", std::to_string(p.clusters) + "x" + std::to_string(p.each)});
  if (!process) throw std::runtime_error(process.error().message());
  const k8s::connection to = sender_connection(*process);
  rollout_figures f;
  reactor::loop l;
  mover all(l, to, p);
  reactor::task_group tasks(l);
  tasks.start("rollout", all.measure(f));
  l.run();
  if (!f.problem.empty()) throw std::runtime_error(f.problem);
  json::object o{{"clusters", p.clusters},
                 {"nodes", p.each},
                 {"cpu_ms_per_node", rounded(f.cpu_ms_per_node)},
                 {"writes_per_node", rounded(f.writes_per_node)},
                 {"writes_by_kind", std::move(f.writes_by)},
                 {"reads_per_node", rounded(f.reads_per_node)},
                 {"reads_by_kind", std::move(f.reads_by)},
                 {"passes_per_pool", rounded(f.passes)},
                 {"seconds", rounded(f.seconds)},
                 {"idle_writes", f.idle_writes},
                 {"idle_cpu_percent", rounded(f.idle_cpu_percent)},
                 {"longest_stall_ms", rounded(seconds_of(f.held_up.longest) * 1e3)}};
  tell_stalls(o, f.held_up);
  return o;
}

/// "PATCH bootcnodes", "POST pods/eviction", "GET pods".
std::string kind_of(const k8s::sim::request& r) {
  static const std::set<std::string_view> kinds{
      "bootcnodes", "bootcnodepools", "events", "leases", "nodes", "pods",
  };
  std::string out = r.method;
  std::string_view rest = r.path;
  bool found = false;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (found && (word == "status" || word == "eviction")) out += "/" + std::string(word);
    if (!found && kinds.contains(word)) out += " " + std::string(word);
    found = found || kinds.contains(word);
  }
  return found ? out : out + " " + r.path;
}

}  // namespace

json::object measure_rollout(std::size_t clusters, std::size_t nodes) {
  allow_many_descriptors();
  pin_to_core(0);
  json::object out = environment();
  json::array points;
  if (clusters > 0 || nodes > 0) {
    points.push_back(measure({clusters > 0 ? clusters : 1, nodes > 0 ? nodes : 100}));
  } else {
    points.push_back(measure({100, 100}));
    points.push_back(measure({1, 10'000}));
  }
  out["points"] = std::move(points);
  return out;
}

int run_rollout_sender(const std::string& size) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  allow_many_descriptors();
  pin_to_core(1);
  const fleet_size p = fleet_size_of(size);
  reactor::loop l;
  k8s::sim::server front(l, k8s::sim::server::settings{{"127.0.0.1", 0}, nullptr});
  std::vector<std::unique_ptr<simulation::pool_cluster>> clusters;
  std::vector<std::unique_ptr<puppets>> hosts;
  std::map<std::string, std::int64_t> requests;
  for (std::size_t i = 0; i < p.clusters; ++i) {
    simulation::cluster_options o;
    o.name = "c" + std::to_string(i);
    o.nodes = p.each;
    o.managed_fields = false;
    o.crds = simulation::crd_manifests();
    o.nodes_of_apps = nodes_of_apps;
    clusters.push_back(moved_cluster(l, std::move(o)));
    clusters.back()->api().before =
        [&requests](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path == "/counts") {
        k8s::sim::answer out;
        out.body = json::serialize(json::value_from(requests));
        return out;
      }
      return std::nullopt;
    };
    // What a disruption budget refuses has written nothing.
    clusters.back()->api().after = [&requests](const k8s::sim::request& r, k8s::sim::answer& a) {
      ++requests[(a.status < 400 || r.method == "GET" ? "" : "refused ") + kind_of(r)];
    };
    hosts.push_back(std::make_unique<puppets>(l, *clusters.back()));
    front.add(clusters.back()->api(), "/c" + std::to_string(i));
  }
  return serve_to_end(l, front);
}

}  // namespace bench
