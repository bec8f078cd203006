#include "tests/simulation/skew_run.hpp"

#include "bootc/api.hpp"
#include "cli/apis.hpp"
#include "fleetwide/commands/fleet_kinds.hpp"
#include "fleetwide/commands/object_command.hpp"
#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "helm/release/record.hpp"
#include "helm/upgrades/upgrade_gate.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/objects/json.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

namespace simulation {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::string_view label = "io.kubernetes.version";

std::string digest_in(std::string_view image) {
  return std::string(image.substr(image.find('@') + 1));
}

/// A registry that knows labels of images by digest.
class labels_by_digest final : public registry::tag_source {
public:
  explicit labels_by_digest(reactor::loop& l) : loop_(l) {}
  reactor::nanoseconds takes = 1s;
  std::map<std::string, std::string> says;
  registry::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    co_return of.digest;
  }
  registry::awaitable<registry::answer<registry::image_labels>> labels_of(
      registry::image_ref of, std::shared_ptr<const registry::pull_secret>) override {
    co_await loop_.sleep_for(takes);
    const auto found = says.find(of.digest);
    if (found == says.end()) co_return registry::image_labels();
    co_return registry::image_labels{{std::string(label), found->second}};
  }

private:
  reactor::loop& loop_;
};

/// One cluster, whose first nodes are its control plane, in a pool of their own.
class skew_world {
public:
  skew_world(std::uint64_t seed, std::size_t planes, std::size_t workers)
      : loop(reactor::loop::mode::simulated, seed), planes_(planes) {
    world_options o;
    o.clusters = 1;
    o.nodes = planes + workers;
    o.mishaps = false;
    world = std::make_unique<node_world>(loop, o);
  }

  pool_cluster& cluster() { return *world->pools().front(); }
  std::uint64_t roll(std::uint64_t from, std::uint64_t to) {
    return loop.random().between(from, to);
  }
  static std::string version(std::uint64_t minor) { return "v1." + std::to_string(minor) + ".1"; }

  /// The API servers are static pods, which change when kubeadm() says so and with no image.
  bool has_static_pods = false;
  void kubeadm(std::size_t plane, std::uint64_t minor) {
    const std::string node = cluster().node_names()[plane];
    cluster().api().put(
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata",
          {{"name", "kube-apiserver-" + node},
           {"namespace", "kube-system"},
           {"labels", {{"component", "kube-apiserver"}, {"tier", "control-plane"}}},
           {"annotations",
            {{"kubernetes.io/config.mirror", "abc"},
             {"kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint", "a:6443"}}}}},
         {"spec",
          {{"nodeName", node},
           {"containers",
            {{{"name", "kube-apiserver"},
              {"image", "registry.k8s.io/kube-apiserver:" + version(minor)}}}}}}});
  }

  /// Everything runs this minor; after that the control planes are in their pool.
  void begin(std::uint64_t minor) {
    (void)world->start();
    cluster().api().be(version(minor));
    // A judge of its own: the world's knows one pool, and there are two.
    judge.ask_server([this] { return cluster().api().version(); });
    world->on_write = [this](std::size_t, const k8s::sim::written& w) {
      if (w.plural != "nodes") return;
      judge.saw(w);
      // One of the servers behind the balancer answers.
      if (planes_ > 0 && !has_static_pods) answer_as_one_of_the_planes();
    };
    const std::vector<std::string> names = cluster().node_names();
    for (std::size_t i = 0; i < names.size(); ++i)
      cluster().api().edit("", "nodes", "", names[i], [&](json::object& o) {
        o["status"].as_object()["nodeInfo"].as_object()["kubeletVersion"] = version(minor);
        if (i >= planes_) return;
        json::object& labels = o["metadata"].as_object()["labels"].as_object();
        labels.erase("node-role.kubernetes.io/worker");
        labels["node-role.kubernetes.io/control-plane"] = "";
      });
    if (planes_ == 0) return;
    if (is_asked_for_at_home)
      put_fleet_pool();
    else
      put_pool();
  }
  /// The pool of the control planes is said in a FleetPool of that name.
  bool is_asked_for_at_home = false;
  static json::object pool_spec() {
    return {{"nodeSelector", {{"matchLabels", {{"node-role.kubernetes.io/control-plane", ""}}}}},
            {"rollout", {{"maxUnavailable", 1}}}};
  }
  void put_pool() {
    json::object spec = pool_spec();
    spec["image"] = {{"ref", old_image}};
    cluster().api().put({{"apiVersion", "node.bootc.dev/v1alpha1"},
                         {"kind", "BootcNodePool"},
                         {"metadata", {{"name", "planes"}}},
                         {"spec", std::move(spec)}});
  }
  void put_fleet_pool() {
    for (const char* kind : {"fleetpools", "fleetgrants"}) {
      const std::string file =
          WINDLASS_SOURCE_DIR "/deploy/crds/fleet/" + std::string(kind) + ".yaml";
      std::ifstream in(file, std::ios::binary);
      const std::string text(std::istreambuf_iterator<char>(in), {});
      world->home_api().put(formats::parse_kubernetes_yaml(text, file)->as_object());
    }
    json::object spec, clusters;
    clusters["selector"] = json::object();
    spec["clusters"] = std::move(clusters);
    spec["image"] = {{"ref", old_image}};
    spec["template"] = {{"spec", pool_spec()}};
    world->home_api().put({{"apiVersion", "fleet.windlass.dev/v1alpha1"},
                           {"kind", "FleetPool"},
                           {"metadata", {{"name", "planes"}, {"namespace", "default"}}},
                           {"spec", std::move(spec)}});
  }
  /// A release of Helm's that uses a PodSecurityPolicy.
  void put_release() {
    helm::release::record r;
    r.name = "policies";
    r.ns = "default";
    r.revision = 1;
    r.state = helm::release::status::deployed;
    r.manifest = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: strict}\n";
    cluster().api().put(
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"type", "helm.sh/release.v1"},
         {"metadata",
          {{"name", helm::release::storage_name("policies", 1)},
           {"namespace", "default"},
           {"labels",
            {{"owner", "helm"}, {"name", "policies"}, {"status", "deployed"}, {"version", "1"}}}}},
         {"data", {{"release", formats::encode_base64(*helm::release::encode_record(r))}}}});
  }
  void delete_release() {
    cluster().api().erase("", "secrets", "default", helm::release::storage_name("policies", 1));
  }
  /// The images carry 1.24 and 1.25.
  void carry_gated() {
    for (const std::string_view image : {old_image, new_image}) {
      const std::string carries = version(image == old_image ? 24 : 25);
      registry.says[digest_in(image)] = carries;
      world->carry(image, carries);
    }
  }
  /// What the service at work noted on a node that waits; empty: none waits.
  std::string noted_reason() {
    for (const json::object& o : cluster().api().list("node.bootc.dev", "bootcnodes"))
      if (const auto says =
              k8s::sim::text(o, {"metadata", "annotations", "windlass.dev/hold-reason"});
          !says.empty())
        return std::string(says);
    return {};
  }
  void answer_as_one_of_the_planes() {
    const std::string node = cluster().node_names()[roll(0, planes_ - 1)];
    const auto o = cluster().api().get("", "nodes", "", node);
    if (!o) return;
    const auto kubelet = k8s::sim::text(*o, {"status", "nodeInfo", "kubeletVersion"});
    if (!kubelet.empty()) cluster().api().be(std::string(kubelet));
  }
  void set_image(const char* pool, std::string_view image) {
    cluster().api().edit("node.bootc.dev", "bootcnodepools", "", pool, [&](json::object& o) {
      o["spec"].as_object()["image"].as_object()["ref"] = image;
      json::value& generation = o["metadata"].as_object()["generation"];
      generation = generation.is_int64() ? generation.get_int64() + 1 : 2;
    });
  }
  /// A node that holds a slot although it must not move; or empty.
  std::string slotted_in_vain() {
    for (const json::object& o : cluster().api().list("node.bootc.dev", "bootcnodes"))
      if (k8s::sim::text(o, {"metadata", "annotations", "windlass.dev/hold"}) == "version-skew" &&
          o.at("metadata")
              .as_object()
              .at("annotations")
              .as_object()
              .contains("bootc.dev/in-reboot-slot"))
        return std::string(k8s::sim::text(o, {"metadata", "name"}));
    return {};
  }
  /// How many nodes of all pools wait, by code.
  std::map<std::string, std::size_t> held() {
    std::map<std::string, std::size_t> out;
    for (const json::object& o : cluster().api().list("node.bootc.dev", "bootcnodepools"))
      if (const json::value* all = k8s::sim::find(o, {"status", "held"}); all && all->is_object())
        for (const auto& [code, n] : all->get_object())
          out[std::string(code)] += static_cast<std::size_t>(n.to_number<std::int64_t>());
    return out;
  }
  reactor::awaitable<void> work(reactor::nanoseconds time) {
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    o.packs_are_tested = true;
    o.shelf = packs_;
    bootc::settings s;
    s.tags = &registry;
    s.kubernetes_labels = {std::string(label)};
    bootc::set_up(units::named(o.apis, "bootc"), std::move(s));
    units::named(o.apis, "bootc").gates = gates;
    cli::service windlass(loop, std::move(o), reactor::logger());
    (void)co_await windlass.start();
    co_await loop.sleep_for(time);
    co_await windlass.stop();
  }
  /// Why the first held node of the pool waits, as a command says it.
  reactor::awaitable<std::string> look(std::string pool) {
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    o.does = units::mode::look;
    cli::service looking(loop, std::move(o), reactor::logger());
    (void)co_await looking.start();
    const cli::fleet_overview f =
        co_await cli::look_at(looking, loop, std::string(), loop.now() + 15s);
    co_await looking.stop();
    for (const cli::cluster_overview& c : f.clusters)
      for (const cli::api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows)
          if (r.name == pool && !r.holds.empty())
            co_return r.holds.front().code + ": " + r.holds.front().sentence;
    co_return std::string();
  }

  /// What `windlass pool status` prints of the FleetPool.
  reactor::awaitable<std::string> pool_status(std::string name) {
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    o.does = units::mode::look;
    cli::service looking(loop, std::move(o), reactor::logger());
    (void)co_await looking.start();
    cli::object_arguments a;
    a.kind = &cli::pools_for_commands();
    a.what = cli::object_arguments::command::status;
    a.name = std::move(name);
    a.timeout = 15s;
    std::string out;
    cli::command_output into;
    into.columns = 400;
    into.text = [&](const cli::page& p) { out += p.text(); };
    into.complaint = [&](const std::string& c) { out += c; };
    std::vector<fleetwide::fleet_object> none;
    (void)co_await cli::work_on_objects(loop, looking, std::move(a), std::move(none), into);
    co_await looking.stop();
    co_return out;
  }

  reactor::loop loop;
  std::unique_ptr<node_world> world;
  labels_by_digest registry{loop};
  units::upgrade_gates gates;
  invariants judge{"skew"};

private:
  std::size_t planes_;
  std::shared_ptr<policies::pack_shelf> packs_ = std::make_shared<policies::pack_shelf>();
};

}  // namespace

skew_outcome run_skewed(std::uint64_t seed) {
  skew_world w(seed, seed % 4, 2 + seed % 3);
  skew_outcome out;
  reactor::task_group tasks(w.loop);
  tasks.start("skew", [&]() -> reactor::awaitable<void> {
    const std::uint64_t first = w.roll(22, 34);
    w.registry.takes = std::chrono::seconds(w.roll(1, 60));
    w.begin(first);
    w.registry.says[digest_in(old_image)] = skew_world::version(first);
    w.world->carry(old_image, skew_world::version(first));
    co_await w.work(1min);
    for (const std::string_view image : {middle_image, new_image}) {
      // From two minors back to three ahead: most of it breaks a rule somewhere.
      const std::uint64_t minor = first + w.roll(0, 5) - 2;
      w.registry.says[digest_in(image)] = skew_world::version(minor);
      w.world->carry(image, skew_world::version(minor));
      const bool has_planes = seed % 4 != 0;
      const std::uint64_t which = w.roll(0, 3);
      if (!has_planes && which == 0) w.cluster().api().be(skew_world::version(first + 1));
      if (has_planes && which != 1) w.set_image("planes", image);
      if (which != 2) w.set_image("workers", image);
      co_await w.work(20min);
      for (const auto& [code, nodes] : w.held())
        if (code == "version-skew")
          out.held += nodes;
        else
          out.wrongly_held = code;
      if (const std::string node = w.slotted_in_vain(); !node.empty())
        out.violations.push_back(node + " holds a slot, although its move breaks the skew");
    }
    out.reboots = w.world->reboots();
    for (const std::string& one : w.judge.violations()) out.violations.push_back(one);
    co_await w.world->stop();
    w.loop.stop();
  });
  w.loop.run();
  return out;
}

gated_outcome run_gated(const std::string& waivers) {
  skew_world w(7, 3, 0);
  w.gates = helm::upgrades::gates_with(waivers);
  gated_outcome out;
  reactor::task_group tasks(w.loop);
  tasks.start("gate", [&]() -> reactor::awaitable<void> {
    w.begin(24);
    out.planes = w.world->node_count();
    w.carry_gated();
    w.put_release();
    co_await w.work(1min);
    w.set_image("planes", new_image);
    co_await w.work(1h);
    out.went_before = w.world->reboots();
    out.says = w.noted_reason();
    out.shown = co_await w.look("planes");
    w.delete_release();
    co_await w.work(1h);
    out.went_after = w.world->reboots();
    co_await w.world->stop();
    w.loop.stop();
  });
  w.loop.run();
  return out;
}

fleet_gated_outcome run_fleet_gated() {
  skew_world w(7, 3, 0);
  w.gates = helm::upgrades::gates_with("");
  w.is_asked_for_at_home = true;
  fleet_gated_outcome out;
  reactor::task_group tasks(w.loop);
  tasks.start("gate", [&]() -> reactor::awaitable<void> {
    w.begin(24);
    out.planes = w.world->node_count();
    w.carry_gated();
    w.put_release();
    co_await w.work(10min);
    w.world->home_api().edit(
        "fleet.windlass.dev", "fleetpools", "default", "planes",
        [](json::object& o) { o["spec"].as_object()["image"].as_object()["ref"] = new_image; });
    co_await w.work(1h);
    out.went_before = w.world->reboots();
    out.says = w.noted_reason();
    out.status = co_await w.pool_status("planes");
    const auto at_home =
        w.world->home_api().get("fleet.windlass.dev", "fleetpools", "default", "planes");
    if (const json::value* held = k8s::sim::find(*at_home, {"status", "held"}))
      out.held = json::serialize(*held);
    w.delete_release();
    co_await w.work(1h);
    out.went_after = w.world->reboots();
    co_await w.world->stop();
    w.loop.stop();
  });
  w.loop.run();
  return out;
}

kubeadm_outcome run_kubeadm(std::uint64_t seed) {
  skew_world w(seed, 3, 2);
  w.has_static_pods = true;
  kubeadm_outcome out;
  reactor::task_group tasks(w.loop);
  tasks.start("kubeadm", [&]() -> reactor::awaitable<void> {
    w.begin(33);
    out.planes = 3;
    for (const std::string_view image : {old_image, new_image}) {
      const std::string carries = skew_world::version(image == old_image ? 33 : 34);
      w.registry.says[digest_in(image)] = carries;
      w.world->carry(image, carries);
    }
    for (std::size_t i = 0; i < out.planes; ++i) w.kubeadm(i, 33);
    co_await w.work(1min);
    w.set_image("planes", new_image);
    co_await w.work(1h);
    out.went_before = w.world->reboots();
    out.says = co_await w.look("planes");
    // Behind the balancer an upgraded server answers first; the others still count.
    w.cluster().api().be(skew_world::version(34));
    for (std::size_t i = 0; i + 1 < out.planes; ++i) w.kubeadm(i, 34);
    co_await w.work(1h);
    out.went_before = w.world->reboots();
    w.kubeadm(out.planes - 1, 34);
    co_await w.work(1h);
    out.went_after = w.world->reboots();
    for (const std::string& one : w.judge.violations()) out.violations.push_back(one);
    co_await w.world->stop();
    w.loop.stop();
  });
  w.loop.run();
  return out;
}

lie_outcome run_lie(std::uint64_t seed) {
  skew_world w(seed, 0, 5);
  lie_outcome out;
  reactor::task_group tasks(w.loop);
  tasks.start("lie", [&]() -> reactor::awaitable<void> {
    w.begin(33);
    w.cluster().set_on_failure("Return");
    w.cluster().api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& o) {
      o["spec"].as_object()["rollout"].as_object()["maxUnavailable"] = 1;
    });
    w.registry.says[digest_in(old_image)] = "v1.33.1";
    w.registry.says[digest_in(new_image)] = "v1.33.9+k3s1";
    w.world->carry(old_image, "v1.33.1");
    w.world->carry(new_image, "v1.34.0");
    co_await w.work(2min);
    w.world->on_write = [&](std::size_t, const k8s::sim::written& write) {
      if (write.plural == "events" && write.after &&
          k8s::sim::text(*write.after, {"reason"}) == "ImageVersionDiffers")
        out.is_told = true;
    };
    w.set_image("workers", new_image);
    co_await w.work(30min);
    out.reason = w.cluster().pool_progress().degraded;
    out.nodes = w.world->node_count();
    out.on_old = w.world->hosts_on(old_image);
    out.went = w.world->reboots() / 2;
    co_await w.world->stop();
    w.loop.stop();
  });
  w.loop.run();
  return out;
}

}  // namespace simulation
