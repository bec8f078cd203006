#pragma once

#include "fleetwide/api.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/simulation/braked_rollout.hpp"

#include <boost/json.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace simulation {

namespace json = boost::json;

inline json::object object_in(const std::string& file) {
  std::ifstream in(WINDLASS_SOURCE_DIR + std::string("/") + file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return formats::parse_kubernetes_yaml(text, file)->as_object();
}

/// One canary and two others, whose pools a FleetPool asks for.
inline home_rollout fleet_pool_rollout() {
  home_rollout out;
  for (const char* name : {"c1", "c2", "c3"}) {
    fleet_cluster c;
    c.name = name;
    c.nodes = 2;
    c.max_unavailable = "1";
    if (out.fleet.empty()) c.labels["ring"] = "canary";
    out.fleet.push_back(std::move(c));
  }
  out.settles = std::chrono::minutes(5);
  out.prepare = [](node_world& world) {
    for (const char* crd : {"fleetpools", "fleetgrants"})
      world.home_api().put(object_in("deploy/crds/fleet/" + std::string(crd) + ".yaml"));
    json::object spec;
    for (pool_cluster* c : world.pools()) {
      const auto pool = c->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      spec = pool->at("spec").as_object();
      c->api().erase("node.bootc.dev", "bootcnodepools", "", "workers");
    }
    spec.erase("image");
    json::object o = json::parse(R"({"apiVersion": "fleet.windlass.dev/v1alpha1",
      "kind": "FleetPool", "metadata": {"name": "workers", "namespace": "default"},
      "spec": {"clusters": {"selector": {}}, "rollout": {"maxClusters": 1, "soak": "30s",
               "waves": {"label": "ring", "values": ["canary"]}}}})")
                         .as_object();
    json::object& asked = o["spec"].as_object();
    asked["image"] = {{"ref", old_image}};
    asked["template"] = {{"spec", std::move(spec)}};
    world.home_api().put(std::move(o));
  };
  out.settings = [](cli::service_options& s) {
    units::named(s.apis, fleetwide::pools_api).where_served = false;  // as --apis does
  };
  out.begin = [](node_world& world) {
    world.home_api().edit(
        "fleet.windlass.dev", "fleetpools", "default", "workers",
        [](json::object& o) { o["spec"].as_object()["image"].as_object()["ref"] = new_image; });
  };
  return out;
}

}  // namespace simulation
