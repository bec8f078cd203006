#include "bench/releases/quiet_fleet.hpp"

#include "bootc/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/host/host.hpp"
#include "policies/host/pack.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"
#include "reactor/system/private_folder.hpp"
#include "reactor/task_group.hpp"
#include "releases/api.hpp"
#include "releases/names.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

constexpr std::size_t quiet_clusters = 40;
constexpr auto time_to_move = 3min, quiet_time = 60min;

/// The stock rules with where an image of such a name is fetched, which is what they lack.
void write_rules(const std::string& folder) {
  const std::string place = "name = current", ref = "ref = \"registry.example.com/node:{image}\", ";
  for (policies::pack_source& source : policies::stock_packs()) {
    if (source.folder != "releases/default") continue;
    std::filesystem::create_directories(folder + "/ours");
    for (auto& [name, content] : source.files) {
      if (name.ends_with("_test.lua")) continue;
      for (std::size_t at = 0;
           name == "providers.lua" && (at = content.find(place, at)) != content.npos;
           at += ref.size() + place.size())
        content.insert(at, ref);
      std::ofstream(folder + "/ours/" + name) << content;
    }
  }
}

json::object kind_of_releases() {
  json::object names{{"kind", "Release"}, {"plural", "releases"}, {"singular", "release"}};
  json::object open{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  json::object version{{"name", "v1alpha1"}, {"served", true}, {"storage", true}};
  version["subresources"] = json::object{{"status", json::object()}};
  version["schema"] = json::object{{"openAPIV3Schema", std::move(open)}};
  json::array versions;
  versions.push_back(std::move(version));
  json::object spec{{"group", "release.giantswarm.io"}, {"scope", "Cluster"}};
  spec["names"] = std::move(names);
  spec["versions"] = std::move(versions);
  json::object crd{{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"}};
  crd["metadata"] = json::object{{"name", "releases.release.giantswarm.io"}};
  crd["spec"] = std::move(spec);
  return crd;
}

simulation::node_world_options world_of(const std::vector<release_step>& steps) {
  simulation::node_world_options o;
  o.mishaps = false;
  for (std::size_t i = 0; i < quiet_clusters; ++i) {
    simulation::fleet_cluster c;
    c.name = "cluster-" + std::to_string(i);
    c.nodes = 1;
    c.labels["release.giantswarm.io/version"] = steps[i % steps.size()].release->name;
    o.fleet.push_back(std::move(c));
  }
  return o;
}

policies::host::options rules_in(const std::string& folder) {
  policies::host::options o;
  o.folders.push_back(folder);
  o.run_tests = false;
  return o;
}

/// The fleet, its home and the service of this API alone; pools arrive when somebody says so.
class quiet_fleet {
public:
  quiet_fleet(reactor::loop& l, const std::string& rules, const std::vector<release_step>& steps)
      : loop_(l), world_(l, world_of(steps)), packs_(l, rules_in(rules)), api_(releases::api()) {
    world_.home_api().put(kind_of_releases());
    for (const release_step& s : steps)
      for (const auto& d : {s.base, s.release})
        world_.home_api().put(
            formats::parse_kubernetes_yaml(policies::releases::write_document(*d), "Release")
                ->as_object());
    for (simulation::pool_cluster* c : world_.pools())
      edit(*c, [](json::object& pool) {
        pool["metadata"].as_object()["annotations"] =
            json::object{{std::string(bootc::names::release), "cluster"}};
      });
  }

  awaitable<void> run(json::object& o, std::string& problem) {
    auto up = world_.start();
    if (!up) {
      problem = up.error().message();
      co_return;
    }
    auto loaded = co_await packs_.load();
    if (!loaded) problem = loaded.error().message();
    packs_.start();
    serve();
    (void)co_await fleet_->discovered();
    co_await loop_.sleep_for(time_to_move);
    for (simulation::pool_cluster* c : world_.pools()) arrive(*c, problem);
    co_await loop_.sleep_for(time_to_move);
    o["idle_clusters"] = world_.pools().size();
    o["moving_writes"] = writes_;
    writes_ = 0;
    co_await loop_.sleep_for(quiet_time);
    o["idle_writes"] = writes_;
    co_await fleet_->stop();
    co_await home_->stop();
    co_await packs_.stop();
    co_await world_.stop();
  }

private:
  static void edit(simulation::pool_cluster& c, const std::function<void(json::object&)>& change) {
    c.api().edit("node.bootc.dev", "bootcnodepools", "", "workers", change);
  }
  /// As whoever moves nodes would say it.
  static void arrive(simulation::pool_cluster& c, std::string& problem) {
    edit(c, [&](json::object& pool) {
      if (!pool["metadata"].as_object()["annotations"].as_object().contains(releases::names::at))
        problem = c.name() + " was not told its image";
      json::object condition{{"type", "UpToDate"}, {"status", "True"}, {"reason", "AllUpdated"}};
      condition["message"] = "";
      json::array conditions;
      conditions.push_back(std::move(condition));
      json::object status{{"observedGeneration", pool["metadata"].as_object()["generation"]}};
      status["conditions"] = std::move(conditions);
      pool["status"] = std::move(status);
    });
  }

  void serve() {
    for (simulation::pool_cluster* c : world_.pools())
      c->on_write = [this](const k8s::sim::written&) { ++writes_; };
    world_.home_api().on_write = [this](const k8s::sim::written&) { ++writes_; };
    k8s::fleet_options f;
    f.metrics = &metrics_;
    fleet_ = std::make_unique<k8s::fleet>(loop_, std::move(f), log_);
    k8s::cluster_options h;
    h.name = "home";
    home_ = std::make_unique<k8s::cluster>(loop_, world_.home(), std::move(h), log_);
    works_ = api_.make(
        units::api_environment{loop_, log_, metrics_, packs_, *fleet_, units::mode::act, {}});
    units::running_api* works = works_.get();
    fleet_->engage(units::engaging(api_, api_.kinds,
                                   [works](k8s::engagement& on) { return works->on_cluster(on); }));
    home_->engage(units::engaging(api_, api_.home_kinds,
                                  [works](k8s::engagement& on) { return works->at_home(on); }));
    home_->start();
    fleet_->discover(home_->api(), nullptr);
  }

  reactor::loop& loop_;
  reactor::logger log_;
  reactor::metrics metrics_;
  simulation::node_world world_;
  policies::host packs_;
  units::api api_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::unique_ptr<k8s::cluster> home_;
  std::unique_ptr<units::running_api> works_;
  std::size_t writes_ = 0;
};

}  // namespace

json::object measure_quiet_fleet(const std::vector<release_step>& steps) {
  const reactor::private_folder rules("bench");
  write_rules(rules.path());
  json::object o;
  std::string problem;
  reactor::loop l(reactor::loop::mode::simulated, 15);
  quiet_fleet fleet(l, rules.path(), steps);
  {
    reactor::task_group tasks(l);
    tasks.start("quiet fleet", fleet.run(o, problem));
    l.run();
  }
  if (!problem.empty()) throw std::runtime_error(problem);
  return o;
}

}  // namespace bench
