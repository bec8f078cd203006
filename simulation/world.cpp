#include "simulation/world.hpp"

#include "formats/base64.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace simulation {
namespace {

using namespace std::chrono_literals;

// Which cluster it happens to, where there are that many.
constexpr std::size_t unreachable_cluster = 1;

void mix(std::uint64_t& hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

}  // namespace

world::world(reactor::loop& l, world_options options, reactor::logger log)
    : loop_(l), options_(options), log_(std::move(log)), tasks_(l) {
  home_ = std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(loop_));
  home_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
}

void world::add(std::unique_ptr<cluster> c) {
  c->on_write = [this, i = clusters_.size()](const k8s::sim::written& w) { note(i, w); };
  clusters_.push_back(std::move(c));
  tokens_.emplace_back("demo");
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
    bring(i);
    k8s::connection to;
    to.server = url_of(i);
    to.source = "demo";
    inhabit(i, std::move(to));
  }
  if (options_.mishaps && options_.clusters > 1)
    tasks_.start("unreachable cluster", be_unreachable(mishap_cluster(unreachable_cluster)));
  return {};
}

void world::bring(std::size_t i) {
  const cluster& c = *clusters_[i];
  boost::json::object labels{{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}};
  for (const auto& [key, value] : c.options().labels) labels[key] = value;
  home_->put(
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"metadata", {{"name", c.name()}, {"namespace", "default"}, {"labels", std::move(labels)}}},
       {"type", "Opaque"},
       {"data", {{"kubeconfig", formats::encode_base64(kubeconfig_of(i))}}}});
}

void world::take_away(std::size_t i) {
  (void)home_->erase("", "secrets", "default", clusters_[i]->name());
}

void world::give_token(std::size_t i, std::string token) {
  tokens_[i] = std::move(token);
  bring(i);
}

reactor::awaitable<void> world::be_unreachable(std::size_t index) {
  co_await loop_.sleep_for(paced(5s));
  clusters_[index]->api().freeze(true);
  co_await loop_.sleep_for(paced(12s));
  clusters_[index]->api().freeze(false);
}

reactor::awaitable<void> world::stop() {
  co_await tasks_.cancel_and_join();
  co_await leave();
  for (const auto& c : clusters_) {
    c->rest();
    c->api().freeze(false);
  }
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

std::string world::kubeconfig_of(std::size_t i) const {
  const std::string& name = clusters_[i]->name();
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name +
         "\n  cluster: {server: \"" + url_of(i) +
         "\"}\nusers:\n- name: demo\n  user: {token: " + tokens_[i] +
         "}\ncontexts:\n- name: " + name + "\n  context: {cluster: " + name + ", user: demo}\n";
}

std::string world::kubeconfig() const {
  std::string clusters = "- name: home\n  cluster: {server: \"" + home().server + "\"}\n";
  std::string contexts = "- name: home\n  context: {cluster: home, user: demo}\n";
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const std::string& name = clusters_[i]->name();
    clusters += "- name: " + name + "\n  cluster: {server: \"" + url_of(i) + "\"}\n";
    contexts += "- name: " + name + "\n  context: {cluster: " + name + ", user: demo}\n";
  }
  return "apiVersion: v1\nkind: Config\ncurrent-context: home\nclusters:\n" + clusters +
         "users:\n- name: demo\n  user: {token: demo}\ncontexts:\n" + contexts;
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

}  // namespace simulation
