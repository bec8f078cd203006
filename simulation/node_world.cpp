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

}  // namespace

node_world::node_world(reactor::loop& l, node_world_options o, reactor::logger log)
    : world(l, o, std::move(log)), stage_time_(o.stage_time), reboot_time_(o.reboot_time) {
  for (std::size_t i = 0; i < o.clusters; ++i) {
    cluster_options c;
    c.name = cluster_name(i);
    c.nodes = o.nodes;
    c.speed = o.speed;
    c.blocked_budget = holding_mishaps() && i == mishap_cluster(blocked_cluster);
    c.crds = crd_manifests();
    // Two nodes may keep a slot for good; the others must still get one.
    const bool narrow = holding_mishaps() && o.nodes < 12;
    auto made = std::make_unique<pool_cluster>(l, std::move(c), narrow ? "3" : "25%");
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
    c.checks().saw_reboot(m.node);
    c.node_down(m.node);
    co_await m.daemon->stop();
    m.daemon.reset();
    co_await loop().sleep_for(m.host->settings().reboot_time);
    while (m.host->come_up() == bootc::simulated_host::boot::lost) co_await loop().sleep_for(1h);
    c.node_up(m.node, m.host->boot_id());
  }
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

std::size_t node_world::hosts_on(std::string_view image) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(machines_, [&](const auto& m) { return m->host->booted() == image; }));
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
  const std::size_t nodes = options().nodes;
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
