#include "simulation/node_world.hpp"

#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"

#include <algorithm>
#include <utility>

namespace simulation {
namespace {

using namespace std::chrono_literals;

// Which clusters the mishaps happen to, where there are that many.
constexpr std::size_t unbootable_cluster = 2, blocked_cluster = 3;
constexpr std::string_view unbootable_node = "node-03";

std::string digest_of(std::string_view image) {
  return std::string(image.substr(image.find('@') + 1));
}

reactor::nanoseconds times(reactor::nanoseconds d, double factor) {
  return reactor::nanoseconds(static_cast<std::int64_t>(static_cast<double>(d.count()) * factor));
}

node_world_options counted(node_world_options o) {
  if (!o.fleet.empty()) o.clusters = o.fleet.size();
  return o;
}

}  // namespace

node_world::node_world(reactor::loop& l, node_world_options o, reactor::logger log)
    : world(l, counted(o), std::move(log)), stage_time_(o.stage_time), reboot_time_(o.reboot_time) {
  for (std::size_t i = 0; i < options().clusters; ++i) {
    cluster_options c;
    c.name = cluster_name(i);
    c.nodes = o.nodes;
    c.speed = o.speed;
    c.managed_fields = o.managed_fields;
    c.blocked_budget = holding_mishaps() && i == mishap_cluster(blocked_cluster);
    c.crds = crd_manifests();
    pool_options pool;
    // Two nodes may keep a slot for good; the others must still get one.
    if (holding_mishaps() && o.nodes < 12) pool.max_unavailable = "3";
    if (!o.fleet.empty()) {
      fleet_cluster& wanted = o.fleet[i];
      c.name = wanted.name;
      c.nodes = wanted.nodes;
      c.labels = std::move(wanted.labels);
      pool.max_unavailable = std::move(wanted.max_unavailable);
      pool.labels = std::move(wanted.pool_labels);
      pool.policy = std::move(wanted.policy);
    }
    planned_ += c.nodes;
    auto made = std::make_unique<pool_cluster>(l, std::move(c), std::move(pool));
    pools_.push_back(made.get());
    add(std::move(made));
  }
}

node_world::~node_world() = default;

void node_world::inhabit(std::size_t i, k8s::connection to) {
  const std::string& name = pools_[i]->name();
  daemon_clients_.push_back(
      std::make_unique<k8s::client>(loop(), std::move(to), "windlass-daemon"));
  for (const std::string& node : pools_[i]->node_names()) {
    auto m = std::make_unique<machine>();
    m->node = node;
    m->cluster = i;
    bootc::simulated_host_settings s;
    s.stage_time = paced(loop().random().jitter(stage_time_, 0.4));
    s.reboot_time = paced(loop().random().jitter(reboot_time_, 0.2));
    if (holding_mishaps() && i == mishap_cluster(unbootable_cluster) && node == unbootable_node)
      s.unbootable.insert(digest_of(new_image));
    m->host = std::make_unique<bootc::simulated_host>(loop(), std::string(old_image), std::move(s));
    machines_.push_back(std::move(m));
    tasks().start("machine " + name + "/" + node, live(*machines_.back()));
  }
}

reactor::awaitable<void> node_world::live(machine& m) {
  pool_cluster& c = *pools_[m.cluster];
  for (;;) {
    bootc::node_daemon_options o;
    o.node = m.node;
    m.daemon = std::make_unique<bootc::node_daemon>(loop(), *daemon_clients_[m.cluster], *m.host,
                                                    std::move(o), log());
    m.daemon->start();
    (void)co_await m.host->going_down().wait();
    const reactor::nanoseconds away = std::exchange(m.away, 0s);
    if (away == 0s) c.checks().saw_reboot(m.node);
    c.node_down(m.node);
    co_await m.daemon->stop();
    m.daemon.reset();
    co_await loop().sleep_for(away > 0s ? away : m.host->settings().reboot_time);
    while (m.host->come_up() == bootc::simulated_host::boot::lost) co_await loop().sleep_for(1h);
    const reactor::nanoseconds ill = std::exchange(m.ill_for, 0s);
    if (ill > 0s)
      tasks().start("illness of " + m.node, get_well(m, ill));
    else
      c.node_up(m.node, m.host->boot_id(), kubernetes_of(m));
  }
}

reactor::awaitable<void> node_world::get_well(machine& m, reactor::nanoseconds after) {
  const std::string boot = m.host->boot_id();
  co_await loop().sleep_for(after);
  // After another boot it is that boot's.
  if (m.host->boot_id() == boot) pools_[m.cluster]->node_up(m.node, boot, kubernetes_of(m));
}

node_world::machine& node_world::at(std::size_t cluster, std::size_t node) {
  for (const auto& m : machines_)
    if (m->cluster == cluster && node-- == 0) return *m;
  return *machines_.back();
}

void node_world::carry(std::string_view image, std::string kubernetes) {
  carried_[digest_of(image)] = std::move(kubernetes);
}

std::string node_world::kubernetes_of(const machine& m) const {
  const auto known = carried_.find(digest_of(m.host->booted()));
  return known == carried_.end() ? std::string() : known->second;
}

void node_world::slow_down(std::size_t cluster, std::size_t node, double factor) {
  stage_slowly(cluster, node, factor);
  reactor::nanoseconds& reboot = at(cluster, node).host->settings().reboot_time;
  reboot = times(reboot, factor);
}

void node_world::stage_slowly(std::size_t cluster, std::size_t node, double factor) {
  reactor::nanoseconds& stage = at(cluster, node).host->settings().stage_time;
  stage = times(stage, factor);
}

void node_world::refuse(std::size_t cluster, std::size_t node, std::string_view image) {
  at(cluster, node).host->settings().unbootable.insert(digest_of(image));
}

void node_world::die_of(std::size_t cluster, std::size_t node, std::string_view image) {
  at(cluster, node).host->settings().never_returns.insert(digest_of(image));
}

bool node_world::survive(std::size_t cluster, std::size_t node, std::string_view image) {
  return at(cluster, node).host->settings().never_returns.erase(digest_of(image)) > 0;
}

void node_world::fall_ill(std::size_t cluster, std::size_t node, reactor::nanoseconds time) {
  at(cluster, node).ill_for = time;
}

void node_world::lose(std::size_t cluster, std::size_t node, reactor::nanoseconds time) {
  machine& m = at(cluster, node);
  if (m.host->going_down().is_set() || pools_[cluster]->says_it_reboots(m.node)) return;
  m.away = time;
  m.host->going_down().set();
}

reactor::awaitable<void> node_world::leave() {
  for (const auto& m : machines_) {
    if (m->daemon) co_await m->daemon->stop();
    m->daemon.reset();
  }
  for (const auto& c : daemon_clients_) co_await c->stop();
  daemon_clients_.clear();
}

void node_world::roll_out(std::string_view image) {
  for (pool_cluster* c : pools_) c->set_image(image);
}

void node_world::require_login(const std::string& docker_config) {
  for (const auto& m : machines_) {
    bootc::simulated_host_settings& s = m->host->settings();
    s.closed.insert("/os/node@");
    s.login = docker_config;
  }
}

std::size_t node_world::hosts_on(std::string_view image) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(machines_, [digest = digest_of(image)](const auto& m) {
        return digest_of(m->host->booted()) == digest;
      }));
}

std::size_t node_world::reboots() const {
  std::size_t n = 0;
  for (const auto& m : machines_) n += m->host->reboots();
  return n;
}

const story& node_world::tells() const noexcept {
  static const story nodes{{"pool", "pools", "node", "nodes"},
                           std::string(new_image.substr(0, new_image.find(':') + 13)),
                           "run the new image",
                           "bnp,bn,nodes"};
  return nodes;
}

world::progress node_world::progress_of(std::size_t i) const {
  const pool_cluster::progress p = pools_[i]->pool_progress();
  const std::size_t nodes = pools_[i]->options().nodes;
  return {nodes, p.updated, p.up_to_date == "AllUpdated" && p.nodes == nodes,
          p.degraded == "Healthy" ? std::string() : p.degraded, p.message};
}

std::size_t node_world::expected_held() const noexcept {
  // The node that falls back to its old image, and the one with the pod that nothing may evict.
  return holding_mishaps() ? 2 : 0;
}

std::vector<std::pair<std::string, std::size_t>> node_world::tallies() const {
  return {{"reboots", reboots()}};
}

std::vector<std::string> node_world::violations() const {
  std::vector<std::string> all;
  for (const pool_cluster* c : pools_)
    all.insert(all.end(), c->checks().violations().begin(), c->checks().violations().end());
  return all;
}

std::size_t node_world::violation_count() const {
  std::size_t n = 0;
  for (const pool_cluster* c : pools_) n += c->checks().violation_count();
  return n;
}

std::size_t node_world::max_disrupted() const {
  std::size_t most = 0;
  for (const pool_cluster* c : pools_) most = std::max(most, c->checks().max_disrupted());
  return most;
}

void node_world::check_at_rest() {
  for (pool_cluster* c : pools_) c->checks().check_at_rest();
}

}  // namespace simulation
