#include "simulation/commands/simulate/trial_tenants.hpp"

#include "formats/yaml/yaml.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/service.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace cli::simulate {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
namespace tenants = helm::tenants;

constexpr const char *first_version = "1.0.0", *next_version = "1.1.0", *home_ns = "default";
/// How long an operation may take to end on a cluster that has gone, and a bit.
constexpr reactor::nanoseconds let_go_within = 10s;
/// So long a service waits for clusters that it cannot reach.
constexpr reactor::nanoseconds heard_within = 55s;

std::vector<simulation::tenant_invariants::place> places(const simulation::fleet_plan& fleet) {
  std::vector<simulation::tenant_invariants::place> out;
  for (const simulation::fleet_cluster& c : fleet.clusters) {
    const auto wave = c.labels.find(std::string(tenants::names::wave));
    out.push_back({c.name, wave == c.labels.end() ? 0 : std::atoi(wave->second.c_str())});
  }
  return out;
}

}  // namespace

trial_tenants::trial_tenants(reactor::loop& l, simulation::node_world& world,
                             const simulation::fleet_plan& fleet)
    : loop_(l),
      world_(world),
      repository_(l, {first_version, next_version}),
      checks_(places(fleet)),
      version_(first_version),
      seen_(fleet.clusters.size()) {
  for (const simulation::fleet_cluster& c : fleet.clusters) counts_.push_back(c.tenants);
}

reactor::result<void> trial_tenants::start() {
  auto started = repository_.start();
  if (!started) return started;
  const auto& clusters = world_.clusters();
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (const std::string& crd : tenants::crd_manifests()) {
      auto read = formats::parse_kubernetes_yaml(crd, "CRD");
      if (!read) return read.error();
      clusters[i]->api().put(read->as_object());
    }
    for (std::size_t n = 0; n < counts_[i]; ++n) put(i, "t-" + std::to_string(++made_));
    const std::size_t other = (i + 1) % clusters.size();
    if (counts_[i] > 0 && other != i) put(i, "guest", clusters[other]->name());
  }
  checks_.ask_for(version_);
  return {};
}

reactor::awaitable<void> trial_tenants::stop() {
  co_await repository_.stop();
}

void trial_tenants::put(std::size_t cluster, const std::string& name, const std::string& target) {
  json::object o{{"apiVersion", tenants::names::api_version},
                 {"kind", tenants::names::tenant_kind}};
  o["metadata"] = json::object{{"name", name}, {"namespace", home_ns}};
  json::object spec;
  if (!target.empty()) spec["clusterRef"] = json::object{{"secretName", target}};
  o["spec"] = std::move(spec);
  world_.clusters()[cluster]->api().put(std::move(o));
}

std::vector<units::api> trial_tenants::with(std::vector<units::api> all) const {
  tenants::settings s = tenants::default_settings();
  s.chart = {repository_.url(), std::string(simulation::chart_repository::chart), version_};
  s.ns = home_ns;
  auto wanted = tenants::load_wanted(std::move(s));
  if (!wanted) throw std::runtime_error(wanted.error().text);
  tenants::api_settings a;
  a.wanted = *wanted;
  units::api& set = units::named(all, "tenants");
  tenants::set_up(set, std::move(a));
  set.where_served = false;  // as --apis does
  return all;
}

workload::known_by trial_tenants::roll_out() {
  version_ = next_version;
  checks_.ask_for(version_);
  return known_by::settings;
}

void trial_tenants::saw(std::size_t cluster, const k8s::sim::written& w) {
  // What is reached may have changed since it was looked at.
  if (w.plural == "secrets" || w.plural == "tenants") look_at(looked_at_);
  checks_.saw(cluster, w);
}

void trial_tenants::look_at(service* windlass) {
  const reactor::steady_time now = loop_.now();
  if (std::exchange(looked_at_, windlass) != windlass) {
    seen_.assign(seen_.size(), sight());
    for (std::size_t i = 0; i < seen_.size(); ++i) checks_.has(i);
  }
  if (!windlass) return;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    sight& at = seen_[i];
    const std::string& name = world_.clusters()[i]->name();
    const k8s::cluster* c = windlass->fleet().find(name);
    tenants::tenant_cluster* part = c ? tenants::tenants_part(*c) : nullptr;
    const bool reached = part && part->progress();
    if (reached)
      at.unreached_since.reset();
    else if (!at.unreached_since)
      at.unreached_since = now;
    const bool is_down = at.unreached_since && now - *at.unreached_since > heard_within;
    const bool was_down = !reached && !at.was_reached && c && k8s::is_failure(c->state());
    if (is_down || was_down || !c) checks_.out_of_reach(i);
    at.was_reached = at.was_reached || reached;
    if (c)
      at.absent_since.reset();
    else if (!at.absent_since)
      at.absent_since = now;
    if (at.was_reached && at.absent_since && now - *at.absent_since > let_go_within)
      checks_.let_go(i);
    else
      checks_.has(i);
  }
}

reactor::awaitable<void> trial_tenants::cause(simulation::trouble t, std::size_t cluster) {
  if (t == simulation::trouble::tenant_changes) change(cluster);
  if (t == simulation::trouble::chart_repository) co_await spoil_repository();
}

reactor::awaitable<k8s::result<std::vector<std::string>>> trial_tenants::differences(
    k8s::cluster& seen) {
  tenants::tenant_cluster* part = tenants::tenants_part(seen);
  if (!part) co_return std::vector<std::string>{"is not engaged"};
  co_return co_await part->differences();
}

void trial_tenants::change(std::size_t cluster) {
  k8s::sim::api_server& api = world_.clusters()[cluster]->api();
  std::vector<std::string> here;
  for (const json::object& o : api.list(tenants::names::group, "tenants")) {
    const json::object& metadata = o.at("metadata").as_object();
    const std::string name(metadata.at("name").as_string());
    if (name != "guest" && !metadata.contains("deletionTimestamp")) here.push_back(name);
  }
  const bool goes = here.size() > 1 && loop_.random().fraction() < 0.5;
  if (!goes) return put(cluster, "t-" + std::to_string(++made_));
  const std::size_t which = loop_.random().between(std::uint64_t{0}, here.size() - 1);
  (void)api.handle(
      k8s::sim::make_request("DELETE", "/apis/" + std::string(tenants::names::api_version) +
                                           "/namespaces/" + home_ns + "/tenants/" + here[which]));
}

reactor::awaitable<void> trial_tenants::spoil_repository() {
  using behaviour = simulation::chart_repository::behaviour;
  using reach = reactor::memory_network::reach;
  reactor::memory_network& net = reactor::memory_network::of(loop_);
  const std::string host(simulation::chart_repository::host);
  switch (loop_.random().between(std::uint64_t{0}, std::uint64_t{4})) {
    case 0: net.set_reach(host, reach::blackhole); break;
    case 1: net.cut_all(host); break;
    case 2: repository_.be(behaviour::failing); break;
    case 3: repository_.be(behaviour::page); break;
    default: repository_.be(behaviour::cut); break;
  }
  co_await loop_.sleep_for(loop_.random().between(5s, 60s));
  net.set_reach(host, reach::open);
  repository_.be(behaviour::well);
}

}  // namespace cli::simulate
