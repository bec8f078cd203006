#pragma once

#include "app/api/extra_leases.hpp"
#include "compose/api.hpp"
#include "compose/rules/question.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "policies/host/host.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Packs that compose objects on an embedded cluster, in virtual time; what the service does for an
/// API is done here.
namespace compose_test {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using testing::HasSubstr;
using testing::Not;

inline std::string file(const std::string& path) {
  std::ifstream in(path.starts_with("/") ? path : std::string(WINDLASS_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline json::object manifest(const std::string& path) {
  auto read = formats::parse_kubernetes_yaml(file(path), path);
  return read.value().as_object();
}

struct windlass_options {
  std::string policies, record;
  units::mode does = units::mode::act;
  compose::pack_data::variable variable;
  std::function<std::string()> own_image;  // what the service reads of its own pod
  bool packs_are_tested = false;
  /// Under which name it takes turns, with Leases of the namespace `leases`; empty: it takes none.
  std::string identity;
};

inline policies::host::options pack_options(const windlass_options& from) {
  policies::host::options o;
  o.folders.push_back(from.policies);
  o.stock = false;
  o.run_tests = !from.packs_are_tested;
  o.record = from.record;
  o.limits.hooks = std::make_shared<const policies::hook_list>(
      policies::hook_list{policies::compose::related_hook(), policies::compose::sync_hook(),
                          policies::compose::data_hook()});
  return o;
}

/// A process with this one API.
class windlass {
public:
  windlass(reactor::loop& l, windlass_options o, const reactor::logger& log)
      : packs(l, pack_options(o)),
        fleet(
            l,
            [this] {
              k8s::fleet_options f;
              f.metrics = &metrics;
              return f;
            }(),
            log),
        what_(compose::api(o.variable)) {
    units::api_environment environment{l, log, metrics, packs, fleet, o.does, {}};
    if (!o.identity.empty()) {
      turns_ = std::make_unique<units::extra_leases>(
          l, [this]() -> k8s::client& { return fleet.find("c")->api(); },
          units::extra_leases::options{"leases", o.identity}, log);
      environment.extra_leases = turns_.get();
    }
    environment.own_image = o.own_image;
    works_ = what_.make(environment);
    packs.on_event = [this](const policies::pack_event&) {
      each([](units::cluster_controller& p) { p.reconsider(); });
    };
    packs.on_log = [log](const std::string& pack, const std::string& line) {
      log.info("policy says", {{"pack", pack}, {"line", line}});
    };
  }
  awaitable<void> start(k8s::connection to) {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    packs.start();
    fleet.engage(units::engaging(what_, what_.kinds,
                                 [this](k8s::engagement& on) { return works_->on_cluster(on); }));
    fleet.add("c", std::move(to));
  }
  /// As home, beside the fleet.
  void start_at_home(k8s::cluster& home) {
    home.engage(units::engaging(what_, what_.home_kinds,
                                [this](k8s::engagement& on) { return works_->at_home(on); }));
  }
  awaitable<void> stop() {
    if (turns_) {
      // As the service does: the clusters are left before their client ends.
      co_await fleet.withdraw(what_.name);
      co_await turns_->stop();
    }
    co_await fleet.stop();
    co_await packs.stop();
  }
  void each(const std::function<void(units::cluster_controller&)>& f) {
    for (k8s::cluster* c : fleet.clusters())
      for (const auto& e : c->engagements())
        if (units::cluster_controller* p = units::part_of(*e)) f(*p);
  }
  /// All that `status` and `plan` would say.
  awaitable<std::string> said() {
    std::string out;
    std::vector<units::cluster_controller*> parts;
    each([&](units::cluster_controller& p) { parts.push_back(&p); });
    for (units::cluster_controller* p : parts) {
      const std::vector<units::plan_row> rows = co_await p->overview();
      for (const units::plan_row& row : rows) {
        out += "row " + row.name + " " + row.target + "\n";
        for (const units::unit& u : row.units)
          out += "unit " + u.name + " " + u.state + " " + u.message + "\n";
        for (const units::planned_action& a : row.actions) out += a.unit + ": " + a.action + "\n";
        for (const units::hold& h : row.holds)
          out += h.unit + " [" + h.code + "] " + h.sentence + " (" + h.released_by + ")\n";
      }
      json::object entry;
      p->describe(entry);
      out += json::serialize(entry) + "\n";
    }
    co_return out;
  }

  reactor::metrics metrics;
  policies::host packs;
  k8s::fleet fleet;

private:
  units::api what_;
  std::unique_ptr<units::extra_leases> turns_;
  std::unique_ptr<units::running_api> works_;
};

class compose_cluster : public testing::Test {
protected:
  compose_cluster() { make_world(); }
  void make_world() {
    api_.reset();
    writes_ = 0;
    on_write = nullptr;
    loop_ = std::make_unique<reactor::loop>(reactor::loop::mode::simulated, 3);
    api_ = std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(*loop_));
    for (const char* ns : {"kube-system", "default"})
      api_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
    api_->put(manifest("docs/compose/crd.yaml"));
    put_shop("blue");
    api_->on_write = [this](const k8s::sim::written& w) {
      if (w.plural == "shops" || w.plural == "configmaps" || w.plural == "secrets" ||
          w.plural == "deployments")
        ++writes_;
      if (on_write) on_write(w);
    };
  }
  k8s::sim::api_server& server() { return *api_; }
  void put_shop(const std::string& name, int replicas = 2) {
    json::object shop = manifest("docs/compose/shop.yaml");
    shop["metadata"].as_object()["name"] = name;
    shop["spec"].as_object()["replicas"] = replicas;
    server().put(std::move(shop));
  }
  std::optional<json::object> get(const std::string& plural, const std::string& name) {
    const std::string group = plural == "deployments" ? "apps"
                              : plural == "shops"     ? "example.com"
                                                      : "";
    return server().get(group, plural, "default", name);
  }
  std::string at(const std::string& plural, const std::string& name, const std::string& pointer) {
    const auto o = get(plural, name);
    if (!o) return "absent";
    boost::system::error_code none;
    const json::value all(*o);
    const json::value* v = all.find_pointer(pointer, none);
    return !v ? "nothing" : v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
  }
  /// "True AsAsked", and the message of the same.
  std::string condition(const std::string& shop, const std::string& type,
                        const char* also = nullptr) {
    const auto o = get("shops", shop);
    if (!o || !o->contains("status")) return "nothing";
    for (const json::value& c : o->at("status").at("conditions").as_array()) {
      if (std::string(c.at("type").as_string()) != type) continue;
      if (also) return std::string(c.at(also).as_string());
      return std::string(c.at("status").as_string()) + " " +
             std::string(c.at("reason").as_string());
    }
    return "nothing";
  }
  std::string message(const std::string& shop, const std::string& type) {
    return condition(shop, type, "message");
  }
  /// The newest event of that reason: "Warning it is"; empty: there is none.
  std::string told(const std::string& reason, const char* field = "message") {
    std::string out;
    for (const json::object& e : server().list("", "events"))
      if (std::string(e.at("reason").as_string()) == reason)
        out = std::string(e.at("type").as_string()) + " " + std::string(e.at(field).as_string());
    return out;
  }
  /// What the controllers of a real cluster do.
  void roll_out(const std::string& name) {
    server().edit("apps", "deployments", "default", name, [](json::object& d) {
      const json::value replicas = d["spec"].as_object()["replicas"];
      d["status"] = json::object{{"observedGeneration", d["metadata"].as_object()["generation"]},
                                 {"replicas", replicas},
                                 {"readyReplicas", replicas},
                                 {"updatedReplicas", replicas}};
    });
  }
  k8s::connection there() const {
    k8s::connection to;
    to.server = net_->url();
    to.source = "a test";
    return to;
  }
  std::unique_ptr<windlass> a_windlass(units::mode does = units::mode::act,
                                       const std::string& identity = {}) {
    windlass_options o;
    o.identity = identity;
    o.policies =
        policies_.starts_with("/") ? policies_ : std::string(WINDLASS_SOURCE_DIR) + "/" + policies_;
    o.record = record_;
    o.does = does;
    o.variable = [this](const std::string& name) {
      const auto said = variables_.find(name);
      return said == variables_.end() ? data_folder_ : said->second;
    };
    return std::make_unique<windlass>(*loop_, std::move(o), log_);
  }
  void go(std::function<awaitable<void>()> drive) {
    reactor::task_group tasks(*loop_);
    tasks.start("test", [this, &drive]() -> awaitable<void> {
      net_ = std::make_unique<k8s::sim::server>(
          *loop_, k8s::sim::server::settings{{"cluster", 80}, nullptr});
      net_->add(*api_);
      EXPECT_TRUE(net_->start());
      co_await drive();
      co_await net_->stop();
      net_.reset();
    });
    loop_->run();
    EXPECT_EQ(loop_->live(), reactor::live_counts());
  }
  /// From start to stop with `between` meanwhile.
  awaitable<void> serve(std::function<awaitable<void>(windlass&)> between) {
    auto service = a_windlass();
    co_await service->start(there());
    co_await loop_->sleep_for(20s);
    co_await between(*service);
    co_await service->stop();
  }

  std::unique_ptr<reactor::loop> loop_;
  std::unique_ptr<k8s::sim::api_server> api_;
  std::unique_ptr<k8s::sim::server> net_;
  reactor::logger log_;
  std::string policies_ = "docs/compose/shop", data_folder_, record_;
  std::map<std::string, std::string> variables_;  // beside the folder of data
  std::size_t writes_ = 0;                        // of what packs compose, by whomever
  std::function<void(const k8s::sim::written& w)> on_write;
};

}  // namespace compose_test
