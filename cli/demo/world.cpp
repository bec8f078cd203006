#include "cli/demo/world.hpp"

#include "cli/demo/manifests.hpp"
#include "k8s/base64.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli::demo {
namespace {

using namespace std::chrono_literals;

// Which clusters the mishaps happen to, where there are that many.
constexpr std::size_t unreachable_cluster = 1, unbootable_cluster = 2, blocked_cluster = 3;
constexpr std::string_view unbootable_node = "node-03";

void mix(std::uint64_t& hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

std::string digest_of(std::string_view image) {
  return std::string(image.substr(image.find('@') + 1));
}

}  // namespace

world::world(reactor::loop& l, world_options options, reactor::logger log)
    : loop_(l), options_(options), log_(std::move(log)), tasks_(l) {
  home_ = std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(loop_));
  home_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
  for (std::size_t i = 0; i < options_.clusters; ++i) {
    cluster_options c;
    c.name = cluster_name(i);
    c.nodes = options_.nodes;
    c.speed = options_.speed;
    c.blocked_budget = holding_mishaps() && i == mishap_cluster(blocked_cluster);
    // Two nodes may keep a slot for good; the others must still get one.
    if (holding_mishaps() && options_.nodes < 12) c.max_unavailable = "3";
    c.crds = crd_manifests();
    clusters_.push_back(std::make_unique<cluster>(loop_, std::move(c)));
    clusters_.back()->on_write = [this, i](const k8s::sim::written& w) { note(i, w); };
  }
}

world::~world() = default;

std::string world::cluster_name(std::size_t i) {
  const std::string n = std::to_string(i + 1);
  return "cluster-" + std::string(n.size() < 3 ? 3 - n.size() : 0, '0') + n;
}

reactor::result<void> world::start() {
  if (loop_.simulated()) {
    servers_.push_back(std::make_unique<k8s::sim::server>(
        loop_, k8s::sim::server::settings{{"home", 80}, nullptr}));
    servers_.back()->add(*home_);
    for (const auto& c : clusters_) {
      servers_.push_back(std::make_unique<k8s::sim::server>(
          loop_, k8s::sim::server::settings{{c->name(), 80}, nullptr}));
      servers_.back()->add(c->api());
    }
  } else {
    servers_.push_back(std::make_unique<k8s::sim::server>(
        loop_, k8s::sim::server::settings{{"127.0.0.1", 0}, nullptr}));
    servers_.back()->add(*home_, "/home");
    for (const auto& c : clusters_) servers_.back()->add(c->api(), "/" + c->name());
  }
  for (const auto& server : servers_) {
    auto started = server->start();
    if (!started) return started.error();
  }
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const std::string name = clusters_[i]->name();
    home_->put({{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"labels", {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}}},
                {"type", "Opaque"},
                {"data", {{"kubeconfig", k8s::encode_base64(kubeconfig_of(name, url_of(i)))}}}});
    k8s::connection to;
    to.server = url_of(i);
    to.source = "demo";
    daemon_clients_.push_back(std::make_unique<k8s::client>(loop_, to, "windlass-daemon"));
    for (const std::string& node : clusters_[i]->node_names()) {
      auto m = std::make_unique<machine>();
      m->node = node;
      m->cluster = i;
      bootc::simulated_host_settings s;
      s.stage_time = paced(loop_.random().jitter(options_.stage_time, 0.4));
      s.reboot_time = paced(loop_.random().jitter(options_.reboot_time, 0.2));
      if (holding_mishaps() && i == mishap_cluster(unbootable_cluster) && node == unbootable_node)
        s.unbootable.insert(digest_of(new_image));
      m->host =
          std::make_unique<bootc::simulated_host>(loop_, std::string(old_image), std::move(s));
      machines_.push_back(std::move(m));
      tasks_.start("machine " + name + "/" + node, live(*machines_.back()));
    }
  }
  if (options_.mishaps && options_.clusters > 1)
    tasks_.start("unreachable cluster", be_unreachable(mishap_cluster(unreachable_cluster)));
  return {};
}

reactor::awaitable<void> world::live(machine& m) {
  cluster& c = *clusters_[m.cluster];
  for (;;) {
    bootc::node_daemon_options o;
    o.node = m.node;
    m.daemon = std::make_unique<bootc::node_daemon>(loop_, *daemon_clients_[m.cluster], *m.host,
                                                    std::move(o), log_);
    m.daemon->start();
    (void)co_await m.host->going_down().wait();
    c.checks().saw_reboot(m.node);
    c.node_down(m.node);
    co_await m.daemon->stop();
    m.daemon.reset();
    co_await loop_.sleep_for(m.host->settings().reboot_time);
    while (m.host->come_up() == bootc::simulated_host::boot::lost) co_await loop_.sleep_for(1h);
    c.node_up(m.node, m.host->boot_id());
  }
}

reactor::awaitable<void> world::be_unreachable(std::size_t index) {
  co_await loop_.sleep_for(paced(5s));
  clusters_[index]->api().freeze(true);
  co_await loop_.sleep_for(paced(12s));
  clusters_[index]->api().freeze(false);
}

reactor::awaitable<void> world::stop() {
  co_await tasks_.cancel_and_join();
  for (const auto& m : machines_) {
    if (m->daemon) co_await m->daemon->stop();
    m->daemon.reset();
  }
  for (const auto& c : daemon_clients_) co_await c->stop();
  daemon_clients_.clear();
  for (const auto& c : clusters_) c->api().freeze(false);
  for (const auto& server : servers_) co_await server->stop();
  servers_.clear();
}

std::string world::url_of(std::size_t i) const {
  return loop_.simulated() ? servers_[i + 1]->url()
                           : servers_.front()->url("/" + clusters_[i]->name());
}

k8s::connection world::home() const {
  k8s::connection to;
  to.server = loop_.simulated() ? servers_.front()->url() : servers_.front()->url("/home");
  to.context = "home";
  to.source = "the demo";
  return to;
}

std::string world::kubeconfig_of(const std::string& name, const std::string& url) const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name +
         "\n  cluster: {server: \"" + url +
         "\"}\nusers:\n- name: demo\n  user: {token: demo}\ncontexts:\n- name: " + name +
         "\n  context: {cluster: " + name + ", user: demo}\n";
}

std::string world::kubeconfig() const {
  std::string clusters = "- name: home\n  cluster: {server: \"" + home().server + "\"}\n";
  std::string contexts = "- name: home\n  context: {cluster: home, user: demo}\n";
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const std::string& name = clusters_[i]->name();
    clusters += "- name: " + name + "\n  cluster: {server: \"" + url_of(i) + "\"}\n";
    contexts += "- name: " + name + "\n  context: {cluster: " + name + ", user: demo}\n";
  }
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + clusters_.front()->name() +
         "\nclusters:\n" + clusters + "users:\n- name: demo\n  user: {token: demo}\ncontexts:\n" +
         contexts;
}

void world::roll_out(std::string_view image) {
  for (const auto& c : clusters_) c->set_image(image);
}

std::size_t world::hosts_on(std::string_view image) const {
  return static_cast<std::size_t>(
      std::count_if(machines_.begin(), machines_.end(),
                    [&](const auto& m) { return m->host->booted() == image; }));
}

std::size_t world::expected_held() const noexcept {
  // The node that falls back to its old image, and the one with the pod that nothing may evict.
  return holding_mishaps() ? 2 : 0;
}

std::size_t world::violation_count() const {
  std::size_t n = 0;
  for (const auto& c : clusters_) n += c->checks().violation_count();
  return n;
}

std::vector<std::string> world::violations() const {
  std::vector<std::string> all;
  for (const auto& c : clusters_)
    all.insert(all.end(), c->checks().violations().begin(), c->checks().violations().end());
  return all;
}

std::size_t world::max_disrupted() const {
  std::size_t most = 0;
  for (const auto& c : clusters_) most = std::max(most, c->checks().max_disrupted());
  return most;
}

std::size_t world::reboots() const {
  std::size_t n = 0;
  for (const auto& m : machines_) n += m->host->reboots();
  return n;
}

void world::note(std::size_t index, const k8s::sim::written& w) {
  ++writes_;
  mix(trace_, std::to_string(index));
  mix(trace_, w.plural);
  mix(trace_, w.ns);
  mix(trace_, w.name);
  mix(trace_,
      std::to_string(w.revision) + "@" + std::to_string(loop_.now().time_since_epoch().count()));
  if (on_write) on_write(index, w);
}

reactor::nanoseconds world::paced(reactor::nanoseconds d) const {
  return reactor::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(d.count()) / options_.speed));
}

}  // namespace cli::demo
