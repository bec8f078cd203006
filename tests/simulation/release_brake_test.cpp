// The brake lands after every write of a rollout that a Release began: from a second later on no
// pool gets the image of its Release and no node moves, and once it is off all of them go on.
#include "bootc/api.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/simulation/braked_rollout.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

const std::string source = WINDLASS_SOURCE_DIR, repository = "registry.demo.local/os/node:";
constexpr const char *before = "34.4.1", *after = "34.5.0";

std::string bytes_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator(in), {});
}
json::object release(const std::string& version) {
  const std::string file = source + "/tests/data/releases/capa/v" + version + ".yaml";
  return formats::parse_kubernetes_yaml(bytes_in(file), file)->as_object();
}
std::string image_of(const json::object& r) {
  const auto version = [&](std::string_view name) {
    for (const json::value& c : r.at("spec").at("components").as_array())
      if (c.at("name") == json::string(name)) return std::string(c.at("version").as_string());
    return std::string();
  };
  return "flatcar-stable-" + version("flatcar") + "-kube-" + version("kubernetes") + "-tooling-" +
         version("os-tooling") + "-gs";
}

/// The rules of the program, with where an image of such a name is fetched.
void write_rules(const reactor::temporary_folder& to) {
  for (const auto& file : fs::directory_iterator(source + "/policies/releases/default")) {
    const std::string name = file.path().filename().string();
    if (name.ends_with("_test.lua")) continue;
    std::string text = bytes_in(file.path());
    if (name == "providers.lua")
      for (std::size_t at = 0; (at = text.find("name = current", at)) != text.npos; at += 80)
        text.insert(at, "ref = \"" + repository + "{image}\",\n        ");
    to.write("ours/" + name, text);
  }
}

/// Three clusters whose labels change to another Release.
simulation::home_rollout release_rollout(reactor::loop& l) {
  struct kept {
    explicit kept(reactor::loop& of) : tags(of) {}
    reactor::temporary_folder folder;
    bootc::testing::scripted_tags tags;
  };
  const auto with = std::make_shared<kept>(l);
  write_rules(with->folder);
  simulation::home_rollout out;
  for (const char* name : {"c1", "c2", "c3"}) {
    simulation::fleet_cluster c;
    c.name = name;
    c.nodes = 2;
    c.max_unavailable = "1";
    c.labels["windlass.dev/provider"] = "aws";
    c.labels["release.giantswarm.io/version"] = before;
    out.fleet.push_back(std::move(c));
  }
  out.prepare = [with](simulation::node_world& world) {
    k8s::sim::api_server& home = world.home_api();
    const std::string crd = source + "/deploy/crds/releases.yaml";
    home.put(formats::parse_kubernetes_yaml(bytes_in(crd), crd)->as_object());
    for (const char* version : {before, after}) {
      json::object r = release(version);
      const std::string_view image =
          version == after ? simulation::new_image : simulation::old_image;
      with->tags.now[repository + image_of(r)] = image.substr(image.find('@') + 1);
      home.put(std::move(r));
    }
    for (simulation::pool_cluster* c : world.pools()) {
      c->set_image(repository + image_of(release(before)));
      c->api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
        pool["metadata"].as_object()["annotations"] = {{"windlass.dev/release", "cluster"}};
      });
    }
  };
  out.settings = [with](cli::service_options& s) {
    s.policies = {with->folder.path()};
    bootc::settings nodes;
    nodes.tags = &with->tags;
    bootc::set_up(units::named(s.apis, "bootc"), std::move(nodes));
  };
  out.begin = [](simulation::node_world& world) {
    for (simulation::pool_cluster* c : world.pools())
      world.home_api().edit("", "secrets", "default", c->name(), [](json::object& secret) {
        secret["metadata"].as_object()["labels"].as_object()["release.giantswarm.io/version"] =
            after;
      });
  };
  return out;
}

TEST(BrakeAtEveryMoment, StopsReleasesAndLetsThemGoOn) {
  simulation::sweep_brake(release_rollout, "of releases");
}

}  // namespace
