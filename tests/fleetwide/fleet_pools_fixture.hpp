#pragma once

#include "bootc/api.hpp"
#include "bootc/kinds/names.hpp"
#include "fleetwide/api.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/view.hpp"
#include "simulation/node_world.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/simulation/fleet_service.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace fleetwide::testing {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

inline const std::string source = WINDLASS_SOURCE_DIR;
inline const std::string old_image(simulation::old_image), new_image(simulation::new_image),
    middle_image(simulation::middle_image);

inline json::object object_in(const std::string& file) {
  std::ifstream in(source + "/" + file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  auto read = formats::parse_kubernetes_yaml(text.str(), file);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? read->as_object() : json::object();
}

inline std::string digest_of(const std::string& image) {
  return image.substr(image.find('@') + 1);
}

/// Two clusters of each ring, without pools of their own.
class FleetPoolsOnClusters : public ::testing::Test {
protected:
  explicit FleetPoolsOnClusters(std::vector<std::string> rings = {"canary", "canary", "early",
                                                                  "early", "", ""},
                                std::size_t nodes = 2) {
    simulation::node_world_options o;
    o.mishaps = false;
    for (std::size_t i = 0; i < rings.size(); ++i) {
      simulation::fleet_cluster c;
      c.name = "c" + std::to_string(i);
      c.nodes = nodes;
      c.max_unavailable = "1";
      if (!rings[i].empty()) c.labels["ring"] = rings[i];
      o.fleet.push_back(std::move(c));
    }
    world_ = std::make_unique<simulation::node_world>(loop_, std::move(o));
    home().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
    for (const char* crd : {"fleetpools", "fleetgrants"})
      home().put(object_in("deploy/crds/fleet/" + std::string(crd) + ".yaml"));
    for (simulation::pool_cluster* c : world_->pools()) {
      pool_before_[c->name()] = *c->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      c->api().erase("node.bootc.dev", "bootcnodepools", "", "workers");
    }
    world_->on_write = [this](std::size_t cluster, const k8s::sim::written& w) {
      saw(world_->pools()[cluster]->name(), w);
    };
  }
  ~FleetPoolsOnClusters() override { EXPECT_EQ(loop_.live(), reactor::live_counts()); }

  k8s::sim::api_server& home() { return world_->home_api(); }
  k8s::sim::api_server& api(const std::string& cluster) {
    for (simulation::pool_cluster* c : world_->pools())
      if (c->name() == cluster) return c->api();
    ADD_FAILURE() << cluster;
    return home();
  }
  void saw(const std::string& cluster, const k8s::sim::written& w) {
    if (w.plural != "bootcnodepools" || w.type == k8s::sim::write_type::deleted) return;
    const auto ref = [](const json::object* o) {
      return o ? std::string(o->at("spec").at("image").at("ref").as_string()) : std::string();
    };
    if (ref(w.before) != ref(w.after)) moves_.emplace_back(cluster, ref(w.after));
  }

  /// A FleetPool that asks for `ref`; `rollout` and `more` are JSON.
  json::object fleet_pool(const std::string& ref, const std::string& rollout = "{}",
                          const std::string& more = "", const std::string& ns = "default",
                          const std::string& name = "workers") {
    const json::value pool = pool_before_.begin()->second.at("spec");
    json::object spec = pool.as_object();
    spec.erase("image");
    json::object o =
        json::parse(
            R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetPool","metadata":{"name":")" +
            name + R"(","namespace":")" + ns +
            R"("},"spec":{"clusters":{"selector":{}},"image":{"ref":")" + ref + R"("},"rollout":)" +
            rollout + more + "}}")
            .as_object();
    json::object made;
    made["spec"] = std::move(spec);
    if (name != "workers") made["metadata"] = json::object{{"name", "workers"}};
    o["spec"].as_object()["template"] = std::move(made);
    return o;
  }
  void edit_spec(const std::function<void(json::object& spec)>& change,
                 const std::string& name = "workers") {
    home().edit("fleet.windlass.dev", "fleetpools", "default", name,
                [&](json::object& o) { change(o["spec"].as_object()); });
  }
  void ask_for(const std::string& ref) {
    edit_spec([&](json::object& spec) { spec["image"].as_object()["ref"] = ref; });
  }
  void annotate(const char* key, const std::string& value) {
    home().edit("fleet.windlass.dev", "fleetpools", "default", "workers", [&](json::object& o) {
      json::value& all = o["metadata"].as_object()["annotations"];
      if (!all.is_object()) all.emplace_object();
      all.get_object()[key] = value;
    });
  }
  void label(const std::string& cluster, const std::string& key, const std::string& value) {
    home().edit("", "secrets", "default", cluster, [&](json::object& secret) {
      json::value& all = secret["metadata"].as_object()["labels"];
      if (value.empty())
        all.as_object().erase(key);
      else
        all.as_object()[key] = value;
    });
  }
  json::value status(const std::string& name = "workers", const std::string& ns = "default") {
    const auto o = home().get("fleet.windlass.dev", "fleetpools", ns, name);
    const json::value* s = o ? o->if_contains("status") : nullptr;
    return s ? *s : json::value(json::object());
  }
  std::string said(const std::string& type, const std::string& name = "workers",
                   const std::string& ns = "default") {
    const json::value s = status(name, ns);
    const json::value* all = s.as_object().if_contains("conditions");
    if (!all) return "none";
    for (const json::value& c : all->as_array())
      if (c.at("type") == json::string(type))
        return std::string(c.at("status").as_string()) + " " +
               std::string(c.at("reason").as_string()) + " " +
               std::string(c.at("message").as_string());
    return "none";
  }
  std::string ref_of(const std::string& cluster) {
    const auto p = api(cluster).get("node.bootc.dev", "bootcnodepools", "", "workers");
    return p ? std::string(p->at("spec").at("image").at("ref").as_string()) : std::string("none");
  }
  std::string note_of(const std::string& cluster, std::string_view key) {
    const auto p = api(cluster).get("node.bootc.dev", "bootcnodepools", "", "workers");
    if (!p) return "none";
    const json::value* notes = p->at("metadata").as_object().if_contains("annotations");
    const json::value* v = notes ? notes->as_object().if_contains(key) : nullptr;
    return v ? std::string(v->as_string()) : std::string();
  }
  /// "c0 c1" of those whose pool asks for it, in order of name.
  std::string who_asks_for(const std::string& ref) {
    std::string out;
    for (simulation::pool_cluster* c : world_->pools())
      if (ref_of(c->name()) == ref) out += (out.empty() ? "" : " ") + c->name();
    return out;
  }
  /// The clusters in the order in which their pools were moved since the last call.
  std::string moved() {
    std::string out;
    for (const auto& [cluster, ref] : moves_) out += (out.empty() ? "" : " ") + cluster;
    moves_.clear();
    return out;
  }

  std::unique_ptr<simulation::fleet_service> service(units::mode does) {
    bootc::settings nodes;
    nodes.tags = &tags_;
    nodes.tag_interval = 1min;
    std::vector<units::api> apis;
    apis.push_back(bootc::api(std::move(nodes)));
    apis.push_back(fleetwide::pools());
    return std::make_unique<simulation::fleet_service>(
        loop_, world_->home(), std::move(apis), does, policies_,
        reactor::logger([this] { return loop_.wall(); }, lines_), brake_);
  }
  void run(std::function<awaitable<void>()> story) {
    reactor::task_group tasks(loop_);
    tasks.start("story", [this, story]() -> awaitable<void> {
      auto up = world_->start();
      EXPECT_TRUE(up);
      co_await story();
      co_await world_->stop();
    });
    loop_.run();
    EXPECT_TRUE(world_->violations().empty()) << world_->violations().front();
    world_.reset();
  }
  /// What a service does within that time.
  awaitable<void> serve(reactor::nanoseconds time) {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(time);
    co_await w->stop();
  }
  awaitable<std::vector<units::plan_row>> plan(std::vector<json::object> assumed = {}) {
    auto looking = service(units::mode::look);
    co_await looking->start();
    std::vector<fleet_object> objects;
    for (json::object& o : assumed) {
      o["metadata"].as_object()["uid"] = "assumed";
      o["metadata"].as_object()["resourceVersion"] = "1";
      auto p = k8s::parse_view<fleetwide::fleet_pool>(json::serialize(o));
      EXPECT_TRUE(p);
      if (p) objects.push_back(std::move(*p));
    }
    auto* home = dynamic_cast<fleet_home*>(co_await looking->part_at_home("fleetpools"));
    EXPECT_TRUE(home);
    home->assume(std::move(objects));
    std::vector<units::plan_row> rows = co_await home->overview();
    co_await looking->stop();
    co_return rows;
  }
  static std::string holds_in(const std::vector<units::plan_row>& rows) {
    std::string out;
    for (const units::plan_row& r : rows)
      for (const units::hold& h : r.holds) out += (out.empty() ? "" : " ") + h.unit + ":" + h.code;
    return out;
  }

  static constexpr const char* rings =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"soak":"2m"})";
  static constexpr const char* rings_and_back =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"onFailure":"Return"})";

  reactor::loop loop_{reactor::loop::mode::simulated, 44};
  bootc::testing::scripted_tags tags_{loop_};
  std::unique_ptr<simulation::node_world> world_;
  units::brake brake_;
  std::string policies_;  // a folder; empty: the stock packs
  std::map<std::string, json::object> pool_before_;
  std::vector<std::pair<std::string, std::string>> moves_;
  std::shared_ptr<reactor::log_capture> lines_ = std::make_shared<reactor::log_capture>();
};

}  // namespace fleetwide::testing
