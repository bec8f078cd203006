#include "simulation/pool_cluster.hpp"

#include "formats/base64.hpp"
#include "k8s/sim/objects/json.hpp"
#include "reactor/loop.hpp"
#include "simulation/conditions.hpp"

#include <boost/json.hpp>

#include <stdexcept>
#include <utility>

namespace simulation {
namespace {

namespace json = boost::json;

constexpr std::string_view pool_name = "workers", login_name = "login",
                           operator_ns = "bootc-operator";

/// "3" as a number, which the pool demands; "25%" as it is.
json::value count_or_share(const std::string& amount) {
  return amount.ends_with('%') ? json::value(json::string(amount))
                               : json::value(std::stoll(amount));
}

}  // namespace

pool_cluster::pool_cluster(reactor::loop& l, cluster_options options, pool_options pool)
    : cluster(l, std::move(options)),
      checks_(name(), {[&l] { return l.now(); }, [&l] { return l.wall(); }}),
      judged_(pool.judged) {
  checks_.ask_server([this] { return api().version(); });
  seed();
  for (const auto& [app, pods] : replicas()) checks_.expect(app, pods);
  json::object metadata{{"name", pool_name}};
  for (const auto& [key, value] : pool.labels) {
    json::value& labels = metadata["labels"];
    if (!labels.is_object()) labels.emplace_object();
    labels.get_object()[key] = value;
  }
  if (!pool.policy.empty())
    metadata["annotations"] = json::object{{"windlass.dev/policy", pool.policy}};
  api().put({{"apiVersion", "node.bootc.dev/v1alpha1"},
             {"kind", "BootcNodePool"},
             {"metadata", std::move(metadata)},
             {"spec",
              {{"nodeSelector", {{"matchLabels", {{"node-role.kubernetes.io/worker", ""}}}}},
               {"image", {{"ref", old_image}}},
               {"rollout", {{"maxUnavailable", count_or_share(pool.max_unavailable)}}}}}});
}

void pool_cluster::edit_spec(const std::function<bool(json::object& spec)>& change) {
  api().edit("node.bootc.dev", "bootcnodepools", "", pool_name, [&](json::object& pool) {
    if (!change(pool["spec"].as_object())) return;
    json::value& generation = pool["metadata"].as_object()["generation"];
    generation = generation.is_int64() ? generation.get_int64() + 1 : 2;
  });
}

void pool_cluster::set_image(std::string_view ref) {
  json::object image{{"ref", ref}}, spec, patch;
  spec["image"] = std::move(image);
  patch["spec"] = std::move(spec);
  // By a request, so that the server notes who wrote the field; one that is overloaded is asked
  // again, as a person would.
  const auto request =
      k8s::sim::make_request("PATCH",
                             "/apis/node.bootc.dev/v1alpha1/bootcnodepools/" +
                                 std::string(pool_name) + "?fieldManager=kubectl-edit",
                             json::serialize(patch), "application/merge-patch+json");
  k8s::sim::answer said = api().handle(request);
  for (int tries = 0; tries < 100 && said.status != 200; ++tries) said = api().handle(request);
  if (said.status != 200) throw std::logic_error("set the image: " + said.body);
}

void pool_cluster::set_on_failure(std::string_view answer) {
  edit_spec([&](json::object& spec) {
    spec["rollout"].as_object()["onFailure"] = answer;
    return true;
  });
}

void pool_cluster::set_login(const std::string& docker_config) {
  if (!api().get("", "namespaces", "", operator_ns))
    api().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", operator_ns}}}});
  api().put({{"apiVersion", "v1"},
             {"kind", "Secret"},
             {"metadata", {{"name", login_name}, {"namespace", operator_ns}}},
             {"type", "kubernetes.io/dockerconfigjson"},
             {"data", {{".dockerconfigjson", formats::encode_base64(docker_config)}}}});
  edit_spec([&](json::object& spec) {
    if (spec.contains("pullSecretRef")) return false;
    spec["pullSecretRef"] = json::object{{"name", login_name}, {"namespace", operator_ns}};
    return true;
  });
}

bool pool_cluster::says_it_reboots(const std::string& node) const {
  const auto o = api().get("node.bootc.dev", "bootcnodes", "", node);
  const json::object* idle = o ? condition_of(*o, "Idle") : nullptr;
  return idle && k8s::sim::text(*idle, {"reason"}) == "Rebooting";
}

pool_cluster::progress pool_cluster::pool_progress() const {
  progress p;
  const auto pool = api().get("node.bootc.dev", "bootcnodepools", "", pool_name);
  if (!pool) return p;
  const json::value* status = pool->if_contains("status");
  if (!status || !status->is_object()) return p;
  const auto number = [&](std::string_view key) -> std::size_t {
    const json::value* v = status->get_object().if_contains(key);
    return v && v->is_int64() ? static_cast<std::size_t>(v->get_int64()) : 0;
  };
  p.nodes = number("nodeCount");
  p.updated = p.on_target = number("updatedCount");
  p.failed_digest = k8s::sim::text(*pool, {"status", "failedDigest"});
  if (k8s::sim::text(*pool, {"status", "targetDigest"}) !=
      new_image.substr(new_image.find('@') + 1))
    p.updated = 0;
  if (const json::object* c = condition_of(*pool, "UpToDate")) {
    p.up_to_date = k8s::sim::text(*c, {"reason"});
    p.message = k8s::sim::text(*c, {"message"});
  }
  if (const json::object* c = condition_of(*pool, "Degraded"))
    p.degraded = k8s::sim::text(*c, {"reason"});
  return p;
}

}  // namespace simulation
