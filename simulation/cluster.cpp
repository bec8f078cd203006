#include "simulation/cluster.hpp"

#include "formats/yaml/yaml.hpp"
#include "k8s/sim/objects/json.hpp"
#include "reactor/loop.hpp"
#include "reactor/per_thread.hpp"
#include "reactor/plain/entropy.hpp"

#include <boost/json.hpp>

#include <map>

namespace simulation {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

std::string node_name(std::size_t i) {
  return "node-" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1);
}

/// What a controller's spec says about its pods.
json::object pod_template(const std::string& app) {
  return {{"metadata", {{"labels", {{"app", app}}}}},
          {"spec",
           {{"containers",
             json::array{json::object{{"name", "main"}, {"image", "demo/" + app + ":1"}}}}}}};
}

json::array conditions(std::string_view type, bool status, const std::string& at) {
  return {json::object{{"type", type},
                       {"status", status ? "True" : "False"},
                       {"reason", status ? "KubeletReady" : "KubeletNotReady"},
                       {"message", ""},
                       {"lastTransitionTime", at},
                       {"lastHeartbeatTime", at}}};
}

/// Read once by each thread, which makes clusters by the thousand.
const json::object& crd_of(const std::string& manifest) {
  struct known_crds {
    std::map<std::string, json::object> all;
  };
  auto& all = reactor::of_this_thread<known_crds>().all;
  const auto known = all.find(manifest);
  if (known != all.end()) return known->second;
  const auto parsed = formats::parse_kubernetes_yaml(manifest, "CRD");
  return all.emplace(manifest, parsed.value().as_object()).first->second;
}

}  // namespace

cluster::cluster(reactor::loop& l, cluster_options options)
    : loop_(l), options_(std::move(options)), api_([&] {
        k8s::sim::api_options o;
        o.name = options_.name;
        o.wall = [&l] { return l.wall(); };
        o.now = [&l] { return l.now(); };
        o.entropy = &l.random();
        o.pod_termination = paced(400ms);
        o.managed_fields = options_.managed_fields;
        o.keep_parsed = options_.keep_parsed;
        return std::make_unique<k8s::sim::api_server>(std::move(o));
      }()) {
  for (const std::string& crd : options_.crds) api_->put(crd_of(crd));
  api_->on_write = [this](const k8s::sim::written& w) { saw(w); };
  api_->on_due_changed = [this] {
    loop_.timers().disarm(due_);
    due_ = loop_.timers().arm(api_->next_due(), [this] {
      due_ = 0;
      api_->advance();
      if (api_->on_due_changed) api_->on_due_changed();
    });
  };
}

cluster::~cluster() {
  api_->on_write = nullptr;
  api_->on_due_changed = nullptr;
  loop_.timers().disarm(due_);
  for (const reactor::timer_id id : timers_) loop_.timers().disarm(id);
}

void cluster::seed() {
  seed_nodes();
  seed_workloads();
}

std::vector<std::string> cluster::node_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < options_.nodes; ++i) names.push_back(node_name(i));
  return names;
}

void cluster::seed_nodes() {
  for (const char* ns : {"default", "kube-system"})
    api_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  static constexpr const char* zones[] = {"a", "b", "c"};
  for (std::size_t i = 0; i < options_.nodes; ++i) {
    const std::string at = reactor::format_rfc3339(loop_.wall());
    api_->put({{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata",
                {{"name", node_name(i)},
                 {"labels",
                  {{"kubernetes.io/hostname", node_name(i)},
                   {"node-role.kubernetes.io/worker", ""},
                   {"topology.kubernetes.io/zone", zones[i % 3]}}}}},
               {"spec", json::object{}},
               {"status",
                {{"conditions", conditions("Ready", true, at)},
                 {"nodeInfo",
                  {{"bootID", loop_.random().uuid()},
                   {"kubeProxyVersion", ""},
                   {"kubeletVersion", "v1.36.0"},
                   {"osImage", "Demo OS 1"}}}}}});
  }
}

void cluster::seed_workloads() {
  const json::object daemon_set =
      api_->put({{"apiVersion", "apps/v1"},
                 {"kind", "DaemonSet"},
                 {"metadata", {{"name", "agent"}, {"namespace", "kube-system"}}},
                 {"spec",
                  {{"selector", {{"matchLabels", {{"app", "agent"}}}}},
                   {"template", pod_template("agent")}}}});
  const owner agent{"kube-system", std::string(k8s::sim::text(daemon_set, {"metadata", "uid"}))};
  for (std::size_t i = 0; i < options_.nodes; ++i)
    add_pod("agent", "DaemonSet", agent, node_name(i));
  const std::size_t of_set = options_.nodes_of_apps ? options_.nodes_of_apps : options_.nodes;
  for (std::size_t set = 0, first = 0; first < options_.nodes; ++set, first += of_set)
    seed_workloads(set, first, std::min(of_set, options_.nodes - first));
}

/// The apps of `n` nodes; the first set of them is in the namespace default.
void cluster::seed_workloads(std::size_t set, std::size_t first, std::size_t n) {
  struct app {
    std::string name;
    std::size_t replicas;
    json::object budget;
  };
  std::vector<app> apps = {
      {"web", n, {{"minAvailable", std::to_string(n > 3 ? 75 : 50) + "%"}}},
      {"api", std::max<std::size_t>(2, n / 2), {{"maxUnavailable", 1}}},
      {"batch", std::max<std::size_t>(1, n / 3), {}},
  };
  if (options_.blocked_budget) apps.push_back({"legacy", 1, {{"minAvailable", 1}}});
  const std::string number = set == 0 ? std::string() : "-" + std::to_string(set + 1),
                    ns = set == 0 ? "default" : "apps" + number;
  if (set > 0)
    api_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  std::size_t next = 0;
  for (app& a : apps) {
    a.name += number;
    replicas_[a.name] = a.replicas;
    const json::object replica_set =
        api_->put({{"apiVersion", "apps/v1"},
                   {"kind", "ReplicaSet"},
                   {"metadata", {{"name", a.name}, {"namespace", ns}}},
                   {"spec",
                    {{"replicas", a.replicas},
                     {"selector", {{"matchLabels", {{"app", a.name}}}}},
                     {"template", pod_template(a.name)}}}});
    const owner& its =
        owners_[a.name] = {ns, std::string(k8s::sim::text(replica_set, {"metadata", "uid"}))};
    for (std::size_t i = 0; i < a.replicas; ++i)
      add_pod(a.name, "ReplicaSet", its, node_name(first + next++ % n));
    // behind its pods, each of which it would be counted again for
    if (!a.budget.empty()) {
      a.budget["selector"] = json::object{{"matchLabels", {{"app", a.name}}}};
      api_->put({{"apiVersion", "policy/v1"},
                 {"kind", "PodDisruptionBudget"},
                 {"metadata", {{"name", a.name}, {"namespace", ns}}},
                 {"spec", a.budget}});
    }
  }
}

void cluster::add_pod(const std::string& app, const std::string& owner_kind, const owner& its,
                      const std::string& node) {
  const std::string name = app + "-" + std::to_string(++pods_made_);
  api_->put({{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata",
              {{"name", name},
               {"namespace", its.ns},
               {"labels", {{"app", app}}},
               {"ownerReferences", json::array{json::object{{"apiVersion", "apps/v1"},
                                                            {"kind", owner_kind},
                                                            {"name", app},
                                                            {"uid", its.uid},
                                                            {"controller", true}}}}}},
             {"spec",
              {{"nodeName", node},
               {"containers",
                json::array{json::object{{"name", "main"}, {"image", "demo/" + app + ":1"}}}}}},
             {"status",
              {{"phase", "Running"},
               {"conditions", conditions("Ready", true, reactor::format_rfc3339(loop_.wall()))}}}});
}

void cluster::saw(const k8s::sim::written& w) {
  check(w);
  keep_count(w);
  if (w.plural == "pods" && w.type == k8s::sim::write_type::deleted && w.after) {
    const std::string app(k8s::sim::text(*w.after, {"metadata", "labels", "app"}));
    // Not from in here: the server is in the middle of a write.
    if (owners_.contains(app)) ++moved_pods_;
    if (owners_.contains(app)) after(paced(300ms), [this, app] { replace_pod(app); });
  }
  if (on_write) on_write(w);
}

/// Where pods are and could go, as a scheduler keeps it.
void cluster::keep_count(const k8s::sim::written& w) {
  const bool deleted = w.type == k8s::sim::write_type::deleted;
  if (w.plural == "nodes") {
    if (deleted) {
      places_.erase(std::string(w.name));
      return;
    }
    const json::value* spec = w.after->if_contains("spec");
    const json::value* cordoned = spec ? spec->as_object().if_contains("unschedulable") : nullptr;
    const json::value* status = w.after->if_contains("status");
    const json::value* all = status ? status->as_object().if_contains("conditions") : nullptr;
    const bool ready = all && all->is_array() && !all->get_array().empty() &&
                       k8s::sim::text(all->get_array().front().as_object(), {"status"}) == "True";
    places_[std::string(w.name)].open =
        ready && !(cordoned && cordoned->is_bool() && cordoned->get_bool());
  } else if (w.plural == "pods") {
    const std::string key = std::string(w.ns) + "/" + std::string(w.name);
    const auto known = node_of_pod_.find(key);
    if (deleted && known != node_of_pod_.end()) {
      if (const auto at = places_.find(known->second); at != places_.end()) --at->second.pods;
      node_of_pod_.erase(known);
    } else if (!deleted && known == node_of_pod_.end()) {
      const std::string node(k8s::sim::text(*w.after, {"spec", "nodeName"}));
      if (node.empty()) return;
      ++places_[node].pods;
      node_of_pod_[key] = node;
    }
  }
}

void cluster::replace_pod(const std::string& app) {
  const std::pair<const std::string, place>* least = nullptr;
  for (const auto& at : places_)
    if (at.second.open && (!least || at.second.pods < least->second.pods)) least = &at;
  if (!least) {
    after(paced(1s), [this, app] { replace_pod(app); });
    return;
  }
  const std::string node = least->first;
  add_pod(app, "ReplicaSet", owners_[app], node);
}

void cluster::node_down(const std::string& node) {
  set_ready(node, false, {});
}
void cluster::node_up(const std::string& node, const std::string& boot_id,
                      const std::string& kubelet) {
  set_ready(node, true, boot_id, kubelet);
}

void cluster::set_ready(const std::string& node, bool ready, const std::string& boot_id,
                        const std::string& kubelet) {
  api_->edit("", "nodes", "", node, [&](json::object& o) {
    json::object& status = o["status"].as_object();
    status["conditions"] = conditions("Ready", ready, reactor::format_rfc3339(loop_.wall()));
    json::object& info = status["nodeInfo"].as_object();
    if (!boot_id.empty()) info["bootID"] = boot_id;
    if (!kubelet.empty()) info["kubeletVersion"] = kubelet;
  });
}

void cluster::rest() {
  resting_ = true;
  for (const reactor::timer_id id : timers_) loop_.timers().disarm(id);
  timers_.clear();
}

void cluster::after(reactor::nanoseconds d, std::function<void()> f) {
  if (resting_) return;
  auto id = std::make_shared<reactor::timer_id>(0);
  *id = loop_.timers().arm(loop_.now() + d, [this, id, f = std::move(f)] {
    timers_.erase(*id);
    f();
  });
  timers_.insert(*id);
}

reactor::nanoseconds cluster::paced(reactor::nanoseconds d) const {
  return reactor::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(d.count()) / options_.speed));
}

}  // namespace simulation
