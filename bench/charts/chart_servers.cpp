#include "bench/charts/chart_servers.hpp"

#include "bench/charts/chart_copies.hpp"
#include "bench/fleet/served_alone.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/measure.hpp"
#include "bench/tenants/request_tally.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "simulation/charts/chart_shelf.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

namespace json = boost::json;

json::object of_kind(const char* api_version, const char* kind, const std::string& ns,
                     const std::string& name) {
  json::object metadata{{"name", name}}, out{{"apiVersion", api_version}, {"kind", kind}};
  if (!ns.empty()) metadata["namespace"] = ns;
  out["metadata"] = std::move(metadata);
  return out;
}

chart_load load_of(const std::string& text) {
  chart_load out;
  char x = 0;
  std::istringstream(text) >> out.clusters >> x >> out.charts >> x >> out.installed;
  return out;
}

bool is_watch(const k8s::sim::request& r) {
  return std::ranges::any_of(r.query, [](const auto& q) { return q.first == "watch"; });
}

struct served_member {
  std::unique_ptr<k8s::sim::api_server> api;
  std::unique_ptr<served_alone> front;
  bool is_watched = false;
};

class chart_servers {
public:
  chart_servers(reactor::loop& l, chart_load load)
      : loop_(l),
        load_(load),
        home_(k8s::sim::options_on(l)),
        shelf_(l),
        peer_(k8s::sim::options_on(l)),
        peer_front_(l, {{"127.0.0.1", 0}, nullptr}),
        tasks_(l) {
    for (std::size_t i = 0; i < load.charts; ++i)
      for (const char* version : {first_version, second_version})
        shelf_.put(chart_name(i), version, simulation::chart_kind::several);
    if (auto started = shelf_.start(); !started)
      throw std::runtime_error(started.error().message());
    furnish_home();
    for (std::size_t i = 0; i < load.clusters; ++i) add_member(i);
    for (std::size_t i = 0; i < std::min(load.installed, load.clusters); ++i) join(i);
    home_.before = [this](const k8s::sim::request& r) { return control(r); };
    home_.on_write = [this](const k8s::sim::written& w) { home_writes_ += counts(w); };
    home_front_ = std::make_unique<served_alone>(l, home_, "127.0.0.1");
    peer_.before = [this](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
      ++peer_requests_;
      return std::nullopt;
    };
    peer_front_.add(peer_);
    if (auto started = peer_front_.start(); !started)
      throw std::runtime_error(started.error().message());
  }
  const std::string& kubeconfig() const { return home_front_->kubeconfig; }

private:
  static bool counts(const k8s::sim::written& w) {
    return w.plural != "events" && w.plural != "leases";
  }

  void furnish_home() {
    for (const char* ns : {"fleet", "bootc-operator"})
      home_.put(of_kind("v1", "Namespace", "", ns));
    for (const std::string& crd : simulation::fleet_manifests())
      home_.put(formats::parse_kubernetes_yaml(crd, "fleet")->as_object());
    for (std::size_t i = 0; i < load_.charts; ++i) {
      const std::string values = "values-of-" + chart_name(i);
      json::object data;
      for (std::size_t g = 0; g < groups; ++g)
        data[group_of(g) + ".yaml"] = "level: " + group_of(g) + "\n";
      json::object config = of_kind("v1", "ConfigMap", "fleet", values);
      config["data"] = std::move(data);
      home_.put(std::move(config));
      json::object from{{"kind", "ConfigMap"}, {"name", values}};
      from["key"] = "{" + std::string(group_label) + "}.yaml";
      json::object chart{{"repository", shelf_.url()}, {"name", chart_name(i)}};
      chart["version"] = first_version;
      json::object rollout{{"maxClusters", "100%"}}, spec;
      spec["clusters"] = json::object{{"selector", json::object()}};
      spec["chart"] = std::move(chart);
      spec["namespace"] = "apps";
      json::array sources;
      sources.push_back(std::move(from));
      spec["valuesFrom"] = std::move(sources);
      spec["rollout"] = std::move(rollout);
      json::object o = of_kind("fleet.windlass.dev/v1alpha1", "FleetChart", "fleet", chart_name(i));
      o["spec"] = std::move(spec);
      home_.put(std::move(o));
    }
  }

  void add_member(std::size_t i) {
    members_.push_back(std::make_unique<served_member>());
    served_member& m = *members_.back();
    k8s::sim::api_options o = k8s::sim::options_on(loop_);
    o.managed_fields = false;
    m.api = std::make_unique<k8s::sim::api_server>(std::move(o));
    for (const char* ns : {"default", "kube-system"})
      m.api->put(of_kind("v1", "Namespace", "", ns));
    m.api->before = [this, &m](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      ++requests_;
      asked_.count(r);
      if (is_watch(r) && r.path.ends_with("/secrets") && !std::exchange(m.is_watched, true))
        ++watched_;
      return std::nullopt;
    };
    m.api->on_write = [this, group = group_of(i)](const k8s::sim::written& w) {
      if (!counts(w)) return;
      ++writes_by_group_[group];
      records_ += w.plural == "secrets" && w.type == k8s::sim::write_type::added;
    };
    m.front = std::make_unique<served_alone>(loop_, *m.api, address_of(i));
  }

  void join(std::size_t i) {
    home_.put(secret_of(served_fleet::name_of(i), *members_[i]->front,
                        {{std::string(group_label), group_of(i)}}));
  }

  reactor::awaitable<void> copy() {
    for (std::size_t i = load_.installed; i < load_.clusters; ++i) {
      copy_releases(*members_[i % load_.installed]->api, *members_[i]->api);
      members_[i]->api->compact();
      join(i);
      co_await loop_.yield();
    }
    mark();
    copied_ = true;
  }

  void mark() {
    requests_ = home_requests_ = home_writes_ = records_ = watched_ = 0;
    downloaded_ = shelf_.given();
    writes_by_group_.clear();
    asked_ = request_tally();
    for (const auto& m : members_) m->is_watched = false;
  }

  std::optional<k8s::sim::answer> control(const k8s::sim::request& r) {
    if (!r.path.starts_with("/bench/")) {
      ++home_requests_;
      return std::nullopt;
    }
    if (r.path == chart_control::mark) mark();
    if (r.path == chart_control::copy) tasks_.start("copy", copy());
    k8s::sim::answer out;
    out.body = json::serialize(told());
    return out;
  }

  json::object told() const {
    std::size_t writes = 0;
    json::object by_group;
    for (const auto& [group, n] : writes_by_group_) {
      by_group[group] = n;
      writes += n;
    }
    json::object out{{"clusters", load_.clusters},
                     {"watched", watched_},
                     {"requests", requests_},
                     {"home_requests", home_requests_},
                     {"writes", writes},
                     {"home_writes", home_writes_},
                     {"downloads", shelf_.given() - downloaded_},
                     {"records", records_},
                     {"copied", copied_},
                     {"shelf", shelf_.url()},
                     {"peer_server", peer_front_.url()},
                     {"peer_requests", peer_requests_}};
    out["writes_by_group"] = std::move(by_group);
    out["asked"] = asked_.by_kind();
    return out;
  }

  reactor::loop& loop_;
  const chart_load load_;
  k8s::sim::api_server home_;
  simulation::chart_shelf shelf_;
  std::vector<std::unique_ptr<served_member>> members_;
  std::unique_ptr<served_alone> home_front_;
  k8s::sim::api_server peer_;  // for the peer, which knows no such certificates
  k8s::sim::server peer_front_;
  std::size_t peer_requests_ = 0;
  std::size_t requests_ = 0, home_requests_ = 0, home_writes_ = 0, records_ = 0, watched_ = 0,
              downloaded_ = 0;
  std::map<std::string, std::size_t> writes_by_group_;
  request_tally asked_;
  bool copied_ = false;
  reactor::task_group tasks_;
};

}  // namespace

std::string chart_name(std::size_t chart) {
  return "app-" + std::to_string(chart);
}

std::string group_of(std::size_t cluster) {
  return "g" + std::to_string(cluster % groups);
}

std::string chart_load::text() const {
  return std::to_string(clusters) + "x" + std::to_string(charts) + "x" + std::to_string(installed);
}

int run_chart_servers(const std::string& load) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  allow_more_descriptors();
  pin_to_core(1);
  try {
    reactor::loop l;
    const chart_servers all(l, load_of(load));
    tell_kubeconfig(all.kubeconfig());
    l.run();
  } catch (const std::runtime_error& e) {
    std::fprintf(stderr, "bench: %s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace bench
