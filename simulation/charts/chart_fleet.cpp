#include "simulation/charts/chart_fleet.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>

namespace simulation {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::string_view ends = "demo.local/ends";

/// A cluster without nodes, on which the pods of tests end as they say.
class release_cluster final : public cluster {
public:
  release_cluster(reactor::loop& l, cluster_options o) : cluster(l, std::move(o)) {
    for (const char* ns : {"default", "kube-system"})
      api().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  }

private:
  void check(const k8s::sim::written& w) override {
    if (w.plural != "pods" || w.type != k8s::sim::write_type::added || !w.after) return;
    const json::object& metadata = w.after->at("metadata").as_object();
    const json::value* notes = metadata.if_contains("annotations");
    const json::value* said = notes ? notes->as_object().if_contains(ends) : nullptr;
    if (!said) return;
    const std::string ns(metadata.at("namespace").as_string()),
        name(metadata.at("name").as_string()), phase(said->as_string());
    after(2s, [this, ns, name, phase] {
      if (!api().get("", "pods", ns, name)) return;
      api().edit("", "pods", ns, name,
                 [&](json::object& o) { o["status"] = json::object{{"phase", phase}}; });
    });
  }
};

world_options options_of(std::size_t clusters, double speed) {
  world_options o;
  o.clusters = clusters;
  o.nodes = 0;
  o.speed = speed;
  o.mishaps = false;
  return o;
}

}  // namespace

chart_fleet::chart_fleet(reactor::loop& l, std::vector<place> places, reactor::logger log,
                         double speed)
    : world(l, options_of(places.size(), speed), std::move(log)),
      story_{{"fleetchart", "fleetcharts", "cluster", "clusters"},
             "the new versions",
             "have the new versions",
             "fleetcharts"},
      shelf_(std::make_unique<chart_shelf>(l)) {
  for (place& p : places) {
    cluster_options c;
    c.name = std::move(p.name);
    c.nodes = 0;
    c.speed = speed;
    c.labels = std::move(p.labels);
    add(std::make_unique<release_cluster>(l, std::move(c)));
  }
  for (const std::string& crd : fleet_manifests()) {
    auto read = formats::parse_kubernetes_yaml(crd, "fleet");
    if (read) home_api().put(read->as_object());
  }
}

chart_fleet::~chart_fleet() = default;

void chart_fleet::inhabit(std::size_t cluster, k8s::connection) {
  if (cluster == 0) (void)shelf_->start();
}

reactor::awaitable<void> chart_fleet::leave() {
  co_await shelf_->stop();
}

k8s::sim::api_server& chart_fleet::api(std::string_view name) {
  for (const auto& c : clusters())
    if (c->name() == name) return c->api();
  return home_api();
}

std::string chart_fleet::release_on(std::string_view cluster, const std::string& ns,
                                    const std::string& release) {
  const auto made = api(cluster).get("", "configmaps", ns, release);
  if (!made) return "none";
  const json::object& data = made->at("data").as_object();
  return std::string(data.at("version").as_string()) + " " +
         std::string(data.at("level").as_string());
}

world::progress chart_fleet::progress_of(std::size_t) const {
  return {};
}

}  // namespace simulation
