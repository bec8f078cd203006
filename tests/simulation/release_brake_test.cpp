// The brake lands after every write of a rollout that a Release began: from a second later on no
// pool gets the image of its Release and no node moves, and once it is off all of them go on.
#include "app/api/brake.hpp"
#include "bootc/api.hpp"
#include "cli/apis.hpp"
#include "formats/yaml/yaml.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/brake_invariants.hpp"
#include "simulation/node_world.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
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

struct braked_release {
  std::size_t writes = 0;  // of the rollout
  bool landed = false, all_arrived = false;
  std::vector<std::string> violations;
};

/// Three clusters whose labels change to another Release; the brake lands after so many writes,
/// none where that is 0.
braked_release run_release(std::uint64_t seed, std::size_t brake_at) {
  reactor::loop l{reactor::loop::mode::simulated, seed};
  const reactor::temporary_folder folder;
  write_rules(folder);
  simulation::node_world_options o;
  o.mishaps = false;
  for (const char* name : {"c1", "c2", "c3"}) {
    simulation::fleet_cluster c;
    c.name = name;
    c.nodes = 2;
    c.max_unavailable = "1";
    c.labels["windlass.dev/provider"] = "aws";
    c.labels["release.giantswarm.io/version"] = before;
    o.fleet.push_back(std::move(c));
  }
  simulation::node_world world(l, std::move(o));
  k8s::sim::api_server& home = world.home_api();
  home.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
  const std::string crd = source + "/deploy/crds/releases.yaml";
  home.put(formats::parse_kubernetes_yaml(bytes_in(crd), crd)->as_object());
  bootc::testing::scripted_tags tags(l);
  for (const char* version : {before, after}) {
    json::object r = release(version);
    const std::string_view image = version == after ? simulation::new_image : simulation::old_image;
    tags.now[repository + image_of(r)] = image.substr(image.find('@') + 1);
    home.put(std::move(r));
  }
  for (simulation::pool_cluster* c : world.pools()) {
    c->set_image(repository + image_of(release(before)));
    c->api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
      pool["metadata"].as_object()["annotations"] = {{"windlass.dev/release", "cluster"}};
    });
  }

  braked_release out;
  simulation::brake_invariants judge([&] { return l.now(); });
  reactor::task_group tasks(l), lifting(l);
  const auto say = [&](const char* state) {
    home.put({{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", units::brake_object}, {"namespace", "default"}}},
              {"data", {{"state", state}, {"why", "a trial"}}}});
  };
  bool rolls = false;
  world.on_write = [&](std::size_t of, const k8s::sim::written& w) {
    const std::string cluster = world.clusters()[of]->name();
    judge.saw(cluster, w);
    if (!rolls || ++out.writes != brake_at) return;
    out.landed = true;
    say("on");
    judge.landed();
    lifting.start("lift", [&]() -> reactor::awaitable<void> {
      co_await l.sleep_for(3min);
      judge.lifted();
      say("off");
    });
  };
  for (const auto& c : world.clusters())
    c->api().before = [&judge, &c = *c](const k8s::sim::request& r) {
      judge.saw_request(c.name(), r, c.api());
      return std::optional<k8s::sim::answer>();
    };
  tasks.start("release", [&]() -> reactor::awaitable<void> {
    (void)world.start();
    cli::service_options s = cli::with_all_apis();
    s.home = world.home();
    s.policies = {folder.path()};
    s.packs_are_tested = true;
    bootc::settings nodes;
    nodes.tags = &tags;
    bootc::set_up(units::named(s.apis, "bootc"), std::move(nodes));
    cli::service windlass(l, std::move(s), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message());
    co_await l.sleep_for(1min);
    rolls = true;
    for (simulation::pool_cluster* c : world.pools())
      home.edit("", "secrets", "default", c->name(), [](json::object& secret) {
        secret["metadata"].as_object()["labels"].as_object()["release.giantswarm.io/version"] =
            after;
      });
    for (int i = 0; i < 120 && world.hosts_on(simulation::new_image) < world.node_count(); ++i)
      co_await l.sleep_for(15s);
    co_await l.sleep_for(4min);
    out.all_arrived = world.hosts_on(simulation::new_image) == world.node_count();
    co_await windlass.stop();
    co_await lifting.cancel_and_join();
    co_await world.stop();
  });
  l.run();
  out.violations = judge.violations();
  for (const std::string& one : world.violations()) out.violations.push_back(one);
  return out;
}

TEST(BrakeAtEveryMoment, StopsReleasesAndLetsThemGoOn) {
  const char* asked = std::getenv("WINDLASS_BRAKE_SEEDS");
  const std::uint64_t n = asked ? std::strtoull(asked, nullptr, 10) : 10;
  const braked_release whole = run_release(1, 0);
  ASSERT_TRUE(whole.all_arrived);
  ASSERT_TRUE(whole.violations.empty()) << whole.violations.front();
  ASSERT_GT(whole.writes, 50u);
  std::uint64_t landed = 0;
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    const braked_release r = run_release(seed, 1 + (seed - 1) * whole.writes / n);
    ASSERT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front();
    ASSERT_TRUE(r.all_arrived) << "seed " << seed;
    landed += r.landed;
  }
  EXPECT_GT(landed, n / 2);
  std::printf("## brake of releases: %llu of %llu landed in rollouts of %zu writes\n",
              static_cast<unsigned long long>(landed), static_cast<unsigned long long>(n),
              whole.writes);
}

}  // namespace
