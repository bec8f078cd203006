#pragma once

#include "formats/base64.hpp"
#include "helm/tenants/home/deployments_api.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// KryptonDeployments at home, and the API servers of their regions.
namespace helm::tenants::testing {

inline constexpr const char* kinds_path = "/apis/mesh.openkcm.io/v1alpha1/namespaces/";

inline std::string text_in(const json::value* v, std::string_view key) {
  const json::value* t = v && v->is_object() ? v->get_object().if_contains(key) : nullptr;
  return t && t->is_string() ? std::string(t->get_string()) : std::string();
}

/// A process that looks after the KryptonDeployments of `home`.
class home_process {
public:
  home_process(reactor::loop& l, settings s, member& home, units::mode does = units::mode::act,
               kind_on_cluster kind = kind_on_cluster::as_served)
      : log_([&l] { return l.wall(); }, lines), packs_(l, {}), fleet_(l, {}, log_) {
    api_settings a;
    auto wanted = wanted_from(std::move(s), {});
    if (!wanted) throw std::runtime_error(wanted.error().text);
    a.wanted = *wanted;
    a.on_clusters = kind;
    api_ = deployments(std::move(a));
    units::api_environment environment{l, log_, metrics, packs_, fleet_, does, {}};
    environment.give_up = [this](std::string why) { given_up.push_back(std::move(why)); };
    environment.brake = &brake;
    works_ = api_.make(environment);
    k8s::cluster_options o;
    o.name = "home";
    o.needs_uid = k8s::cluster_options::uid::where_allowed;
    o.metrics = &metrics;
    home_ = std::make_unique<k8s::cluster>(l, home.to(), std::move(o), log_);
    home_->engage(units::engaging(api_, api_.home_kinds,
                                  [this](k8s::engagement& on) { return works_->at_home(on); }));
    home_->start();
  }
  awaitable<void> stop() {
    co_await home_->stop();
    co_await fleet_.stop();
  }
  deployments_at_home* part() {
    return dynamic_cast<deployments_at_home*>(home_->part("kryptondeployments"));
  }
  std::string state() { return std::string(name_of(home_->find("kryptondeployments")->state())); }

  reactor::metrics metrics;
  std::shared_ptr<reactor::log_capture> lines = std::make_shared<reactor::log_capture>();
  units::brake brake;                 // off until a test sets it
  std::vector<std::string> given_up;  // why the process would have ended

private:
  units::api api_;
  reactor::logger log_;
  policies::host packs_;
  k8s::fleet fleet_;
  std::unique_ptr<units::running_api> works_;
  std::unique_ptr<k8s::cluster> home_;
};

class KryptonAtHome : public TenantStage {
protected:
  member& home() { return cluster("home"); }
  void take_the_kind_away() {
    (void)home().api.handle(
        k8s::sim::make_request("DELETE",
                               "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                               "kryptondeployments.mesh.openkcm.io"));
  }

  static std::string kubeconfig_of(const std::string& server, const std::string& user = "one") {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: "
           "{server: 'http://" +
           server + ":6443'}}]\nusers: [{name: u, user: {username: " + user +
           ", password: p}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
  }
  /// The Secret `name` leads to the API server `server`.
  void put_way(const std::string& name, const std::string& server,
               const std::string& ns = "default", const std::string& user = "one",
               const std::string& granted_to = {}) {
    json::object data, metadata, o;
    if (!granted_to.empty()) {
      json::object annotations;
      annotations[names::region_for] = granted_to;
      metadata["annotations"] = std::move(annotations);
    }
    data["kubeconfig"] = formats::encode_base64(kubeconfig_of(server, user));
    metadata["name"] = name;
    metadata["namespace"] = ns;
    o["apiVersion"] = "v1";
    o["kind"] = "Secret";
    o["metadata"] = std::move(metadata);
    o["data"] = std::move(data);
    home().api.put(std::move(o));
  }
  static json::object deployment(const std::string& name, const std::string& ns,
                                 const std::string& region, const std::string& account = "acme") {
    json::object o = json::parse(R"({"apiVersion":"mesh.openkcm.io/v1alpha1",
      "kind":"KryptonDeployment","metadata":{},"spec":{"account":{},"region":{}}})")
                         .as_object();
    o["metadata"].as_object()["name"] = name;
    o["metadata"].as_object()["namespace"] = ns;
    o["spec"].as_object()["account"].as_object()["name"] = account;
    o["spec"].as_object()["region"].as_object()["name"] = region;
    return o;
  }
  void put(const std::string& name, const std::string& region, const std::string& ns = "default",
           const std::string& account = "acme") {
    home().api.put(deployment(name, ns, region, account));
  }
  json::object get(const std::string& name, const std::string& ns = "default") {
    auto o = home().api.get("mesh.openkcm.io", "kryptondeployments", ns, name);
    return o ? *o : json::object();
  }
  bool is_gone(const std::string& name, const std::string& ns = "default") {
    return get(name, ns).empty();
  }
  /// "Ready/Deployed": the phase and the reason of Ready.
  std::string says(const std::string& name, const std::string& ns = "default") {
    const json::object o = get(name, ns);
    const json::value* status = o.if_contains("status");
    const json::value* all =
        status && status->is_object() ? status->get_object().if_contains("conditions") : nullptr;
    const json::value* ready =
        all && all->is_array() && !all->get_array().empty() ? &all->get_array()[0] : nullptr;
    return text_in(status, "phase") + "/" + text_in(ready, "reason");
  }
  std::string message(const std::string& name) {
    const json::object o = get(name);
    return text_in(o.if_contains("status"), "lastMessage");
  }
  awaitable<bool> until_says(std::string name, std::string what,
                             reactor::nanoseconds within = 60s) {
    std::function<bool()> is = [this, name, what] { return says(name) == what; };
    co_return co_await until(std::move(is), within);
  }
  void edit(const std::string& name, const std::string& merge_patch) {
    const k8s::sim::request r = k8s::sim::make_request(
        "PATCH", kinds_path + std::string("default/kryptondeployments/") + name, merge_patch,
        "application/merge-patch+json");
    (void)home().api.handle(r);
  }
  void remove(const std::string& name, const std::string& ns = "default") {
    (void)home().api.handle(
        k8s::sim::make_request("DELETE", kinds_path + ns + "/kryptondeployments/" + name));
  }
  static void remove_map(member& at, const std::string& ns) {
    (void)at.api.handle(
        k8s::sim::make_request("DELETE", "/api/v1/namespaces/" + ns + "/configmaps/web"));
  }
  std::unique_ptr<home_process> run(const std::string& version = "1.2.0") {
    return std::make_unique<home_process>(l, of_version(version), home());
  }
};

}  // namespace helm::tenants::testing
