#include "simulation/charts/chart_fleet.hpp"

#include "formats/yaml/yaml.hpp"
#include "k8s/sim/objects/json.hpp"
#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>

namespace simulation {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::string_view ends = "demo.local/ends", group = "fleet.windlass.dev",
                           plural = "fleetcharts";

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
             "have what is asked for",
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

/// By the notes that the service keeps on the cluster.
world::progress chart_fleet::progress_of(std::size_t cluster) const {
  progress p;
  const auto notes =
      clusters()[cluster]->api().get("", "configmaps", "bootc-operator", "windlass-fleet");
  const json::object* texts = notes ? k8s::sim::find_object(*notes, {"data"}) : nullptr;
  for (const json::object& o : home_api().list(group, plural)) {
    ++p.units;
    const std::string mark = "FleetChart/" +
                             std::string(k8s::sim::text(o, {"metadata", "namespace"})) + "/" +
                             std::string(k8s::sim::text(o, {"metadata", "name"}));
    if (!texts) continue;
    for (const auto& m : *texts) {
      const auto read = k8s::sim::parse(std::string_view(m.value().as_string()));
      if (!read || !read->is_object()) continue;
      const json::object& note = read->get_object();
      if (k8s::sim::text(note, {"object"}) != mark) continue;
      const std::string_view state = k8s::sim::text(note, {"state"});
      const bool is_asked =
          k8s::sim::text(note, {"digest"}) == k8s::sim::text(o, {"status", "digest"});
      p.updated += is_asked && state == "done";
      if (state == "failed") p.trouble = state;
      p.message = k8s::sim::text(note, {"why"});
    }
  }
  p.settled = p.updated == p.units;
  return p;
}

std::size_t chart_fleet::unit_count() const noexcept {
  return clusters().size() * home_api().list(group, plural).size();
}

chart_fleet::chart_state chart_fleet::chart(std::string_view name) const {
  chart_state is;
  const auto o = home_api().get(group, plural, "default", name);
  if (!o) return is;
  is.version = k8s::sim::text(*o, {"spec", "chart", "version"});
  is.wave = k8s::sim::text(*o, {"status", "wave"});
  const auto count = [&](k8s::sim::path_view path) {
    const json::value* n = k8s::sim::find(*o, path);
    return n && n->is_number() ? n->to_number<std::size_t>() : 0;
  };
  const bool is_seen = count({"status", "observedGeneration"}) == count({"metadata", "generation"});
  if (is_seen) is.ready = count({"status", "clusters", "ready"});
  is.revision = count({"status", "revision"});
  if (const json::array* all = k8s::sim::find_array(*o, {"status", "conditions"}))
    for (const json::value& c : *all)
      if (k8s::sim::text(c.as_object(), {"type"}) == "Halted" &&
          k8s::sim::text(c.as_object(), {"status"}) == "True")
        is.halted = k8s::sim::text(c.as_object(), {"message"});
  return is;
}

chart_invariants& chart_fleet::judge() {
  if (judge_) return *judge_;
  std::vector<chart_invariants::place> places;
  for (const auto& c : clusters()) places.push_back({c->name(), c->options().labels});
  judge_ = std::make_unique<chart_invariants>(std::move(places), [this] { return loop().now(); });
  home_api().on_write = [this](const k8s::sim::written& w) { judge_->saw_home(w); };
  on_write = [this](std::size_t of, const k8s::sim::written& w) { judge_->saw(of, w); };
  return *judge_;
}

void chart_fleet::judge_rests() {
  home_api().on_write = nullptr;
  on_write = nullptr;
}

std::vector<std::string> chart_fleet::violations() const {
  return judge_ ? judge_->violations() : std::vector<std::string>();
}

}  // namespace simulation
