#include "simulation/commands/simulate/trial_trustees.hpp"

#include "compose/api.hpp"
#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/sim/workloads.hpp"
#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>

#include <array>
#include <utility>

namespace cli::simulate {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr const char *group = "confidentialcontainers.org", *ns = "default", *tls = "tls",
                     *image = "registry.example.com/windlass:1", *eldest = "i-0";
/// Each of another grammar or layout.
constexpr std::array<const char*, 4> releases = {"v0.11.0", "v0.18.0", "v0.20.0", "v0.21.0"};
constexpr const char* next_release = "v0.21.0";
constexpr std::array<const char*, 3> edited = {"-kbs-config", "-rvps-reference-values",
                                               "-resource-policy"};

std::vector<std::string> names_of(const simulation::fleet_plan& fleet) {
  std::vector<std::string> out;
  for (const simulation::fleet_cluster& c : fleet.clusters) out.push_back(c.name);
  return out;
}

json::object certificate(std::size_t serial) {
  const std::string of = std::to_string(serial);
  json::object data;
  data["tls.crt"] = formats::encode_base64("certificate " + of + "\n");
  data["tls.key"] = formats::encode_base64("key " + of + "\n");
  return data;
}

}  // namespace

trial_trustees::trial_trustees(reactor::loop& l, simulation::node_world& world,
                               const simulation::fleet_plan& fleet)
    : loop_(l), world_(world), checks_(names_of(fleet), [&l] { return l.now(); }) {
  for (const simulation::fleet_cluster& c : fleet.clusters) counts_.push_back(c.trustees);
}

k8s::sim::api_server& trial_trustees::api(std::size_t cluster) {
  return world_.clusters()[cluster]->api();
}

reactor::result<void> trial_trustees::start() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    for (const std::string& crd : simulation::trustee_manifests()) {
      auto read = formats::parse_kubernetes_yaml(crd, "CRD");
      if (!read) return read.error();
      api(i).put(read->as_object());
    }
    json::object secret{{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "kubernetes.io/tls"}};
    secret["metadata"] = json::object{{"name", tls}, {"namespace", ns}};
    secret["data"] = certificate(0);
    api(i).put(std::move(secret));
    made_ = 0;
    for (std::size_t n = 0; n < counts_[i]; ++n) {
      const std::string name = "i-" + std::to_string(made_);
      put(i, name, name);
    }
    // The younger of two that want one name.
    if (counts_[i] > 0) put(i, "rival", eldest);
  }
  return {};
}

reactor::awaitable<void> trial_trustees::stop() {
  for (const auto& [of, timer] : rolling_) loop_.timers().disarm(timer);
  rolling_.clear();
  co_return;
}

void trial_trustees::put(std::size_t cluster, const std::string& name,
                         const std::string& instance_name) {
  json::object spec{{"instanceName", instance_name},
                    {"version", releases[made_ % releases.size()]}};
  if (made_ % 3 == 1) spec["configUpdatePolicy"] = "ReplaceIfUnmodified";
  if (made_ % 3 == 2) {
    spec["profileType"] = "Restricted";
    for (const char* key : {"httpsSpec", "attestationTokenVerificationSpec"})
      spec[key] = json::object{{"tlsSecretName", tls}};
  }
  ++made_;
  json::object o{{"apiVersion", std::string(group) + "/v1alpha1"}, {"kind", "TrusteeConfig"}};
  o["metadata"] = json::object{{"name", name}, {"namespace", ns}};
  o["spec"] = std::move(spec);
  checks_.by_person([&] { api(cluster).put(std::move(o)); });
}

std::vector<units::api> trial_trustees::with(std::vector<units::api> all) const {
  units::api& set = units::named(all, "compose");
  compose::set_up(set, [folder = catalogue_.path()](const std::string& name) {
    return name == "TRUSTEE_TEMPLATES_DIR" ? folder
           : name == "OPERATOR_IMAGE_NAME" ? std::string(image)
                                           : std::string();
  });
  set.where_served = false;  // as --apis does
  return all;
}

workload::known_by trial_trustees::roll_out() {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    for (const std::string& name : instances_of(i))
      checks_.by_person([&] {
        api(i).edit(group, "trusteeconfigs", ns, name,
                    [](json::object& o) { o["spec"].as_object()["version"] = next_release; });
      });
  return known_by::objects;
}

void trial_trustees::saw(std::size_t cluster, const k8s::sim::written& w) {
  checks_.saw(cluster, w);
  if (w.plural == "deployments" && !plays_ && w.ns == ns && w.type != k8s::sim::write_type::deleted)
    run_pods(cluster, std::string(w.name));
}

/// What a controller manager and a kubelet make of a Deployment, a few seconds later.
void trial_trustees::run_pods(std::size_t cluster, const std::string& deployment) {
  const std::pair of{cluster, deployment};
  if (rolling_.contains(of)) return;
  const reactor::steady_time at = loop_.now() + loop_.random().between(1s, 20s);
  rolling_[of] = loop_.timers().arm(at, [this, cluster, deployment] {
    rolling_.erase({cluster, deployment});
    plays_ = true;
    api(cluster).edit("apps", "deployments", ns, deployment, k8s::sim::make_ready);
    plays_ = false;
  });
}

reactor::awaitable<void> trial_trustees::cause(simulation::trouble t, std::size_t cluster) {
  if (t == simulation::trouble::trustee_changes) change(cluster);
  if (t != simulation::trouble::catalogue_swaps) co_return;
  const bool is_broken = loop_.random().fraction() < 0.5;
  if (is_broken) {
    catalogue_.damage();
    co_await loop_.sleep_for(loop_.random().between(5s, 60s));
  }
  const bool moves = loop_.random().fraction() < 0.5;
  catalogue_.move_to(moves ? catalogue_.other_registry : catalogue_.first_registry);
}

void trial_trustees::calm() {
  catalogue_.move_to(catalogue_.other_registry);
  checks_.ask_for_registry(std::string(catalogue_.other_registry));
}

void trial_trustees::change(std::size_t cluster) {
  switch (loop_.random().between(std::uint64_t{0}, std::uint64_t{5})) {
    case 0: {
      const std::string name = "i-" + std::to_string(100 + made_);
      return put(cluster, name, name);
    }
    case 1: {
      const std::string name = random_of(instances_of(cluster));
      if (name != eldest) person_deletes(cluster, "trusteeconfigs", name);
      return;
    }
    case 2: {
      const std::string name = random_of(instances_of(cluster));
      const std::size_t which = loop_.random().between(std::uint64_t{0}, releases.size() - 1);
      return checks_.by_person([&] {
        api(cluster).edit(group, "trusteeconfigs", ns, name, [which](json::object& o) {
          o["spec"].as_object()["version"] = releases[which];
        });
      });
    }
    case 3: return edit_content(cluster);
    case 4: return edit_settings(cluster);
    default: return renew_certificate(cluster);
  }
}

void trial_trustees::edit_content(std::size_t cluster) {
  const std::size_t which = loop_.random().between(std::uint64_t{0}, edited.size() - 1);
  const std::string name = random_of(instances_of(cluster)) + edited[which];
  const std::string mark = "# mine " + std::to_string(++marks_);
  if (loop_.random().fraction() < 0.2) return person_deletes(cluster, "configmaps", name);
  checks_.by_person([&] {
    api(cluster).edit("", "configmaps", ns, name, [&](json::object& o) {
      for (auto& field : o["data"].as_object())
        if (!field.key().ends_with(".previous"))
          field.value() = std::string(field.value().as_string()) + mark + "\n";
    });
  });
  checks_.wrote(cluster, "configmaps", name, mark);
}

void trial_trustees::edit_settings(std::size_t cluster) {
  const std::string name = random_of(instances_of(cluster)) + "-kbs-config";
  const std::string mark = "mine-" + std::to_string(++marks_);
  checks_.by_person([&] {
    api(cluster).edit(group, "kbsconfigs", ns, name, [&](json::object& o) {
      json::object& spec = o["spec"].as_object();
      if (!spec.contains("KbsEnvVars")) spec["KbsEnvVars"] = json::object();
      spec["KbsEnvVars"].as_object()["MINE"] = mark;
    });
  });
  checks_.wrote(cluster, "kbsconfigs", name, mark);
}

void trial_trustees::renew_certificate(std::size_t cluster) {
  checks_.by_person([&] {
    api(cluster).edit("", "secrets", ns, tls,
                      [&](json::object& o) { o["data"] = certificate(++marks_); });
  });
}

void trial_trustees::person_deletes(std::size_t cluster, const std::string& plural,
                                    const std::string& name) {
  const std::string base =
      plural == "configmaps" ? "/api/v1" : "/apis/" + std::string(group) + "/v1alpha1";
  checks_.by_person([&] {
    (void)api(cluster).handle(
        k8s::sim::make_request("DELETE", base + "/namespaces/" + ns + "/" + plural + "/" + name));
  });
}

std::vector<std::string> trial_trustees::instances_of(std::size_t cluster) {
  std::vector<std::string> out;
  for (const json::object& o : api(cluster).list(group, "trusteeconfigs"))
    if (!o.at("metadata").as_object().contains("deletionTimestamp"))
      out.emplace_back(o.at("metadata").at("name").as_string());
  return out;
}

std::string trial_trustees::random_of(const std::vector<std::string>& all) {
  if (all.empty()) return {};
  return all[loop_.random().between(std::uint64_t{0}, all.size() - 1)];
}

reactor::awaitable<k8s::result<std::vector<std::string>>> trial_trustees::differences(
    k8s::cluster&) {
  co_return std::vector<std::string>();
}

}  // namespace cli::simulate
