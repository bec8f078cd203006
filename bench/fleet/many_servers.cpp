#include "bench/fleet/many_servers.hpp"

#include "bench/fleet/puppets.hpp"
#include "bench/fleet/served_alone.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bootc/kinds/names.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "simulation/manifests.hpp"
#include "simulation/pool_cluster.hpp"

#include <arpa/inet.h>
#include <boost/json.hpp>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::size_t moved_nodes = 3, images_of_node = 50, kinds_watched = 3;
constexpr const char *moved_pool = "workers", *other_pool = "others";
constexpr reactor::nanoseconds beat_every = 5min, edit_every = 20ms;

/// None: it is home's.
std::optional<std::size_t> cluster_at(const sockaddr_in& address) {
  const std::uint32_t ip = ntohl(address.sin_addr.s_addr);
  const std::size_t block = (ip >> 8) & 0xff, place = ip & 0xff;
  if (block == 0 || place == 0) return std::nullopt;
  return (block - 1) * clusters_in_a_block + place - 1;
}

json::object of_kind(const char* api_version, const char* kind, const std::string& name) {
  json::object o{{"apiVersion", api_version}, {"kind", kind}};
  o["metadata"] = json::object{{"name", name}};
  return o;
}

json::array kubelet_images() {
  json::array all;
  for (std::size_t i = 0; i < images_of_node; ++i) {
    const std::string n = std::to_string(i);
    json::array names;
    names.emplace_back("registry.example.com/apps/service-" + n + ":1.2." + n);
    all.push_back(json::object{{"names", std::move(names)}, {"sizeBytes", 100'000'000 + i}});
  }
  return all;
}

/// A node of the pool that is not moved, with what a kubelet says of it.
json::object resting_node(reactor::loop& l, const std::string& name) {
  json::object o = of_kind("v1", "Node", name);
  o["metadata"].as_object()["labels"] = json::object{{"kubernetes.io/hostname", name},
                                                     {"bench.windlass.dev/pool", other_pool},
                                                     {bootc::names::managed, ""}};
  o["spec"] = json::object();
  json::array conditions;
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    const bool is_ready = std::string_view(type) == "Ready";
    conditions.push_back(json::object{{"type", type},
                                      {"status", is_ready ? "True" : "False"},
                                      {"reason", is_ready ? "KubeletReady" : "KubeletHasEnough"},
                                      {"message", "kubelet says that this is as it should be"},
                                      {"lastHeartbeatTime", reactor::format_rfc3339(l.wall())},
                                      {"lastTransitionTime", reactor::format_rfc3339(l.wall())}});
  }
  json::object status{{"nodeInfo",
                       {{"bootID", l.random().uuid()},
                        {"kubeProxyVersion", ""},
                        {"kubeletVersion", "v1.36.0"},
                        {"osImage", "Bench OS 1"}}}};
  status["conditions"] = std::move(conditions);
  status["images"] = kubelet_images();
  o["status"] = std::move(status);
  return o;
}

/// What the service has made of such a node long ago, and what its daemon reports.
json::object resting_bootc_node(reactor::loop& l, const std::string& name,
                                const json::object& pool) {
  json::object o = of_kind(bootc::names::api_version.data(), "BootcNode", name);
  json::object owner{{"apiVersion", bootc::names::api_version},
                     {"kind", "BootcNodePool"},
                     {"name", other_pool},
                     {"uid", pool.at("metadata").at("uid")},
                     {"controller", true},
                     {"blockOwnerDeletion", true}};
  json::array owners;
  owners.push_back(std::move(owner));
  o["metadata"].as_object()["ownerReferences"] = std::move(owners);
  o["spec"] =
      json::object{{"desiredImage", simulation::old_image}, {"desiredImageState", "Staged"}};
  o["status"] = reported_status(l.wall(), std::string(simulation::old_image), "True", "Idle", {});
  o["status"].as_object()["observedGeneration"] = 1;
  return o;
}

struct served_cluster {
  std::unique_ptr<simulation::pool_cluster> cluster;
  std::unique_ptr<puppets> hosts;
  std::unique_ptr<served_alone> served;
  std::size_t watches = 0;  // begun since the last cut
  std::int64_t edited = 0;  // the pool's generation, while its status is waited for
  reactor::steady_time edited_at{};
  std::size_t beats = 0;
  bool has_arrived = false;  // its first pool runs what it asks for
};

class many_servers {
public:
  many_servers(reactor::loop& l, cluster_load load)
      : loop_(l), load_(load), home_(k8s::sim::options_on(l)), tasks_(l) {
    for (const char* ns : {"fleet", "bootc-operator"}) home_.put(of_kind("v1", "Namespace", ns));
    home_.before = [this](const k8s::sim::request& r) { return control(r); };
    home_served_ = std::make_unique<served_alone>(l, home_, "127.0.0.1");
    for (std::size_t i = 0; i < load.clusters; ++i) add_cluster(i);
    tasks_.start("beats", beat());
  }

  const std::string& kubeconfig() const { return home_served_->kubeconfig; }

private:
  void add_cluster(std::size_t i) {
    clusters_.push_back(std::make_unique<served_cluster>());
    served_cluster& c = *clusters_.back();
    simulation::cluster_options o;
    o.name = served_fleet::name_of(i);
    o.nodes = moved_nodes;
    o.managed_fields = false;
    o.keep_parsed = false;
    o.crds = simulation::crd_manifests();
    simulation::pool_options of_pool;
    of_pool.max_unavailable = "1";
    c.cluster = std::make_unique<simulation::pool_cluster>(loop_, std::move(o), std::move(of_pool));
    k8s::sim::api_server& api = c.cluster->api();
    json::object pool = of_kind(bootc::names::api_version.data(), "BootcNodePool", other_pool);
    pool["spec"] =
        json::object{{"nodeSelector", {{"matchLabels", {{"bench.windlass.dev/pool", other_pool}}}}},
                     {"image", {{"ref", simulation::old_image}}},
                     {"rollout", {{"maxUnavailable", 1}}}};
    pool = api.put(std::move(pool));
    for (std::size_t n = moved_nodes; n < load_.objects; ++n) {
      const std::string name = "other-" + std::to_string(n);
      api.put(resting_node(loop_, name));
      api.put(resting_bootc_node(loop_, name, pool));
    }
    c.hosts = std::make_unique<puppets>(loop_, *c.cluster);
    const auto report = std::move(c.cluster->on_write);
    c.cluster->on_write = [this, &c, report](const k8s::sim::written& w) {
      if (report) report(w);
      saw(c, w);
    };
    api.before = [this, &c](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      ++requests_;
      if (r.method != "GET") ++writes_;
      const bool watches =
          std::ranges::any_of(r.query, [](const auto& q) { return q.first == "watch"; });
      if (watches && ++c.watches == kinds_watched) {
        ++watched_;
        last_watched_ = loop_.now();
      }
      return std::nullopt;
    };
    api.compact();
    c.served = std::make_unique<served_alone>(loop_, api, address_of(i));
    home_.put(secret_of(served_fleet::name_of(i), *c.served, {}));
  }

  void saw(served_cluster& c, const k8s::sim::written& w) {
    if (w.plural != "bootcnodepools" || w.name != moved_pool || !w.after) return;
    const json::value* status = w.after->if_contains("status");
    if (!status || !status->is_object()) return;
    const json::object& says = status->get_object();
    const std::string_view wanted = rolled_ ? simulation::new_image : simulation::old_image;
    const json::value *target = says.if_contains("targetDigest"),
                      *updated = says.if_contains("updatedCount"),
                      *seen = says.if_contains("observedGeneration");
    if (!c.has_arrived && target && target->is_string() && updated && updated->is_int64() &&
        std::string_view(target->get_string()) == wanted.substr(wanted.find('@') + 1) &&
        updated->get_int64() == static_cast<std::int64_t>(moved_nodes)) {
      c.has_arrived = true;
      ++arrived_;
    }
    if (c.edited == 0) return;
    if (!seen || !seen->is_int64() || seen->get_int64() < c.edited) return;
    delays_ms_.push_back(seconds_of(loop_.now() - c.edited_at) * 1e3);
    c.edited = 0;
  }

  /// Each kubelet reports once in five minutes, one cluster's nodes one after the other.
  reactor::awaitable<void> beat() {
    const std::size_t each = load_.objects > moved_nodes ? load_.objects - moved_nodes : 0;
    if (each == 0) co_return;
    const auto total = static_cast<std::int64_t>(each * clusters_.size());
    const reactor::steady_time began = loop_.now();
    for (std::int64_t n = 0;; ++n) {
      co_await loop_.sleep_until(began + n * beat_every / total);
      served_cluster& c = *clusters_[static_cast<std::size_t>(n) % clusters_.size()];
      const std::string name = "other-" + std::to_string(moved_nodes + c.beats++ % each);
      const std::string at = reactor::format_rfc3339(loop_.wall());
      c.cluster->api().edit("", "nodes", "", name, [&at](json::object& o) {
        for (json::value& one : o["status"].as_object()["conditions"].as_array())
          one.as_object()["lastHeartbeatTime"] = at;
      });
    }
  }

  std::optional<k8s::sim::answer> control(const k8s::sim::request& r) {
    if (!r.path.starts_with("/bench/")) {
      ++home_requests_;
      return std::nullopt;
    }
    std::size_t percent = 100;
    for (const auto& [name, value] : r.query)
      if (name == "percent") percent = std::strtoul(value.c_str(), nullptr, 10);
    if (r.path == fleet_control::cut) {
      watched_ = 0;
      // Behind this answer.
      loop_.timers().arm(loop_.now() + 20ms, [this, percent] { cut(percent); });
    } else if (r.path == fleet_control::roll) {
      tasks_.start("roll", roll());
    } else if (r.path == fleet_control::edit) {
      edits_from_ = clusters_.size() * percent / 100;
      if (percent < 100) {
        delays_ms_.clear();
        ++edit_round_;
        tasks_.start("edit", edit(edit_round_));
      }
    }
    k8s::sim::answer out;
    out.body = json::serialize(told());
    return out;
  }

  /// By the kernel, as a router that forgets its connections: neither side knows before.
  void cut(std::size_t percent) {
    const std::size_t first_kept = clusters_.size() * percent / 100;
    watched_ = clusters_.size() - first_kept;
    for (std::size_t i = 0; i < first_kept; ++i) clusters_[i]->watches = 0;
    cut_at_ = last_watched_ = loop_.now();
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = 3; fd < static_cast<int>(limit.rlim_cur); ++fd) {
      sockaddr_in peer{}, own{};
      socklen_t size = sizeof peer, own_size = sizeof own;
      if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
          peer.sin_family != AF_INET ||
          ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) != 0)
        continue;
      const auto cluster = cluster_at(own);
      if (cluster ? *cluster < first_kept : percent >= 100) ::shutdown(fd, SHUT_RDWR);
    }
  }

  reactor::awaitable<void> roll() {
    rolled_ = true;
    arrived_ = 0;
    for (const auto& c : clusters_) {
      c->has_arrived = false;
      c->cluster->set_image(simulation::new_image);
      co_await loop_.yield();
    }
  }

  reactor::awaitable<void> edit(std::size_t round) {
    for (std::size_t n = 0; round == edit_round_ && edits_from_ < clusters_.size(); ++n) {
      served_cluster& c = *clusters_[edits_from_ + n % (clusters_.size() - edits_from_)];
      if (c.edited == 0) edit_pool(c, n);
      co_await loop_.sleep_for(edit_every);
    }
  }

  void edit_pool(served_cluster& c, std::size_t n) {
    json::object rollout{{"rebootTimeoutSeconds", 1'800 + n % 60}}, spec, patch;
    spec["rollout"] = std::move(rollout);
    patch["spec"] = std::move(spec);
    c.edited_at = loop_.now();
    const k8s::sim::answer said = c.cluster->api().handle(k8s::sim::make_request(
        "PATCH", "/apis/node.bootc.dev/v1alpha1/bootcnodepools/" + std::string(moved_pool),
        json::serialize(patch), "application/merge-patch+json"));
    if (said.status != 200) return;
    const json::value pool = json::parse(said.body);
    c.edited = pool.at("metadata").at("generation").to_number<std::int64_t>();
  }

  json::object told() {
    std::size_t violations = 0;
    std::string first;
    for (const auto& c : clusters_) {
      violations += c->cluster->checks().violation_count();
      if (first.empty() && !c->cluster->checks().violations().empty())
        first = c->cluster->checks().violations().front();
    }
    std::size_t unanswered = 0;
    for (const auto& c : clusters_) unanswered += c->edited != 0;
    json::array delays;
    for (const double d : delays_ms_) delays.push_back(d);
    json::object out{{"clusters", clusters_.size()},
                     {"watched", watched_},
                     {"watched_s", seconds_of(last_watched_ - cut_at_)},
                     {"requests", requests_},
                     {"home_requests", home_requests_},
                     {"writes", writes_},
                     {"arrived", arrived_},
                     {"rolled", rolled_},
                     {"violations", violations},
                     {"violation", first},
                     {"unanswered", unanswered}};
    out["delays_ms"] = std::move(delays);
    return out;
  }

  reactor::loop& loop_;
  const cluster_load load_;
  k8s::sim::api_server home_;
  std::unique_ptr<served_alone> home_served_;
  std::vector<std::unique_ptr<served_cluster>> clusters_;
  std::uint64_t requests_ = 0, home_requests_ = 0, writes_ = 0;
  std::size_t watched_ = 0, arrived_ = 0, edits_from_ = 0, edit_round_ = 0;
  bool rolled_ = false;
  reactor::steady_time cut_at_{}, last_watched_{};
  std::vector<double> delays_ms_;
  reactor::task_group tasks_;
};

}  // namespace

int run_many_servers(const std::string& size) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  allow_more_descriptors();
  pin_to_core(1);
  const fleet_size s = fleet_size_of(size);
  try {
    reactor::loop l;
    many_servers all(l, {s.clusters, s.each});
    tell_kubeconfig(all.kubeconfig());
    l.run();
  } catch (const std::runtime_error& e) {
    std::fprintf(stderr, "bench: %s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace bench
