#include "k8s/sim/core.hpp"

namespace k8s::sim {

namespace {

// the real server's hint while a budget's status is behind
constexpr int kRetryUnprocessedSeconds = 10;
constexpr std::size_t kDisruptedPodsLimit = 2000;

failure budget_forbids(std::string_view cause, int retry_after_seconds) {
  failure f{429, "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget."};
  f.details["causes"] =
      json::array{json::object{{"reason", "DisruptionBudget"}, {"message", cause}}};
  if (retry_after_seconds) f.retry_after_seconds = retry_after_seconds;
  return f;
}

answer success() {
  answer a;
  a.status = 201;
  a.body = json::serialize(json::object{{"kind", "Status"},
                                        {"apiVersion", "v1"},
                                        {"metadata", json::object{}},
                                        {"status", "Success"},
                                        {"code", 201}});
  return a;
}

}  // namespace

outcome<answer> core::evict(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  const std::string_view name = text(*body, {"metadata", "name"}),
                         ns = text(*body, {"metadata", "namespace"});
  if (!name.empty() && name != c.name) {
    return bad_request("name in URL does not match name in Eviction object");
  }
  if (!ns.empty() && ns != c.ns) {
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (const json::array* dry = find_array(*body, {"deleteOptions", "dryRun"}); dry && !dry->empty())
    c.dry_run = true;
  auto how = read_deletion(c, find_object(*body, {"deleteOptions"}));
  if (!how) return how.error();
  version_ptr v = find(*c.kind, c.key());
  if (!v) return not_found(*c.kind, c.name);
  const auto looked = v->look();
  const json::object& pod = *looked;
  auto delete_pod = [&]() -> outcome<answer> {
    auto gone = delete_object(*c.kind, c.key(), *how, c.dry_run);
    if (!gone) return gone.error();
    return success();
  };
  // The dead, the dying and the not yet started are not protected.
  if (is_terminal(pod) || text(pod, {"status", "phase"}) == "Pending" ||
      !text(pod, {"metadata", "deletionTimestamp"}).empty()) {
    return delete_pod();
  }
  std::vector<std::pair<std::string, json::object>> budgets;
  const auto& all = objects.objects("policy/poddisruptionbudgets");
  const std::string prefix = c.ns + "/";
  for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at) {
    json::object b = at->second->parsed();
    const json::object* selector = find_object(b, {"spec", "selector"});
    if (!selector) continue;
    auto wanted = label_selector::from_object(*selector);
    if (wanted && wanted->matches_object(pod)) budgets.emplace_back(at->first, std::move(b));
  }
  if (budgets.size() > 1) {
    return failure{500, "",
                   "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                   "does not support."};
  }
  if (budgets.empty()) return delete_pod();
  auto& [key, budget] = budgets.front();
  json::object& status = ensure_object(budget, "status");
  const std::string budget_name(text(budget, {"metadata", "name"}));
  if (!is_ready(pod)) {
    const bool always = text(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow";
    const std::int64_t healthy = number(status, {"currentHealthy"}),
                       desired = number(status, {"desiredHealthy"});
    if (always || (healthy >= desired && desired > 0)) return delete_pod();
  }
  if (number(status, {"observedGeneration"}) < number(budget, {"metadata", "generation"})) {
    return budget_forbids(
        "The disruption budget " + budget_name + " is still being processed by the server.",
        kRetryUnprocessedSeconds);
  }
  const std::int64_t allowed = number(status, {"disruptionsAllowed"});
  kind_ptr budget_kind = kinds.find("policy", "v1", "poddisruptionbudgets");
  if (allowed < 0)
    return forbidden(*budget_kind, budget_name, "pdb disruptions allowed is negative");
  if (const json::object* d = find_object(status, {"disruptedPods"});
      d && d->size() > kDisruptedPodsLimit) {
    return forbidden(
        *budget_kind, budget_name,
        "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed == 0) {
    return budget_forbids("The disruption budget " + budget_name + " needs " +
                              std::to_string(number(status, {"desiredHealthy"})) +
                              " healthy pods and has " +
                              std::to_string(number(status, {"currentHealthy"})) + " currently",
                          0);
  }
  if (!how->uid.empty() && how->uid != text(pod, {"metadata", "uid"})) return delete_pod();
  if (!c.dry_run) {
    status["disruptionsAllowed"] = allowed - 1;
    ensure_object(status, "disruptedPods")[c.name] = timestamp();
    commit_put(*budget_kind, key, std::move(budget));
  }
  return delete_pod();
}

outcome<answer> core::bind(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  const std::string node(text(*body, {"target", "name"}));
  if (node.empty()) return invalid("", "Binding", c.name, {field_error::required("target.name")});
  version_ptr v = find(*c.kind, c.key());
  if (!v) return not_found(*c.kind, c.name);
  json::object pod = v->parsed();
  if (!text(pod, {"metadata", "deletionTimestamp"}).empty()) {
    return conflict(*c.kind, c.name,
                    "pod " + c.name + " is being deleted, cannot be assigned to a host");
  }
  if (std::string_view already = text(pod, {"spec", "nodeName"}); !already.empty()) {
    return conflict(*c.kind, c.name,
                    "pod " + c.name + " is already assigned to node " + quoted(already));
  }
  ensure_object(pod, "spec")["nodeName"] = node;
  json::value& conditions = ensure_object(pod, "status")["conditions"];
  if (!conditions.is_array()) conditions = json::array();
  conditions.get_array().push_back(json::object{{"type", "PodScheduled"},
                                                {"status", "True"},
                                                {"lastProbeTime", nullptr},
                                                {"lastTransitionTime", timestamp()}});
  if (!c.dry_run) commit_put(*c.kind, c.key(), std::move(pod));
  return success();
}

}  // namespace k8s::sim
