#include "helm/objects/readiness.hpp"

#include "helm/objects/manifest_reader.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace helm::objects {
namespace {

namespace json = boost::json;
using path = std::initializer_list<std::string_view>;

const json::value* at(const json::object& o, path steps) {
  const json::object* here = &o;
  const json::value* found = nullptr;
  for (const std::string_view step : steps) {
    if (!here) return nullptr;
    found = here->if_contains(step);
    here = found ? found->if_object() : nullptr;
  }
  return found;
}

std::optional<std::int64_t> number(const json::object& o, path steps) {
  const json::value* v = at(o, steps);
  return v && v->is_int64() ? std::optional(v->get_int64()) : std::nullopt;
}

std::int64_t count(const json::object& o, path steps) {
  return number(o, steps).value_or(0);
}

std::string_view text(const json::object& o, path steps) {
  const json::value* v = at(o, steps);
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

bool observed(const json::object& o) {
  return count(o, {"status", "observedGeneration"}) == count(o, {"metadata", "generation"});
}

/// The status of a condition, or empty.
std::string_view condition(const json::object& o, std::string_view type,
                           std::string* reason = nullptr) {
  const json::value* all = at(o, {"status", "conditions"});
  if (!all || !all->is_array()) return {};
  for (const json::value& one : all->get_array()) {
    if (!one.is_object() || text(one.get_object(), {"type"}) != type) continue;
    if (reason) *reason = text(one.get_object(), {"reason"});
    return text(one.get_object(), {"status"});
  }
  return {};
}

enum class rounding { down, up };

/// A count, or a percentage of `whole`; nothing for what is neither.
std::optional<std::int64_t> scaled(const json::value* v, std::int64_t whole, rounding how) {
  if (!v) return 0;
  if (v->is_int64()) return v->get_int64();
  if (!v->is_string()) return std::nullopt;
  const std::string_view s = v->get_string();
  std::int64_t percent = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), percent);
  if (code != std::errc{} || std::string_view(end, s.data() + s.size() - end) != "%")
    return std::nullopt;
  const double part = static_cast<double>(percent) * static_cast<double>(whole) / 100;
  return static_cast<std::int64_t>(how == rounding::up ? std::ceil(part) : std::floor(part));
}

/// How many pods a rolling Deployment may do without, as its controller resolves it.
std::int64_t max_unavailable(const json::object& deployment, std::int64_t replicas) {
  if (text(deployment, {"spec", "strategy", "type"}) != "RollingUpdate" || replicas == 0) return 0;
  const path surge_path{"spec", "strategy", "rollingUpdate", "maxSurge"},
      unavailable_path{"spec", "strategy", "rollingUpdate", "maxUnavailable"};
  const auto surge = scaled(at(deployment, surge_path), replicas, rounding::up);
  const auto unavailable = scaled(at(deployment, unavailable_path), replicas, rounding::down);
  if (!surge || !unavailable) return 0;
  if (*surge == 0 && *unavailable == 0) return 1;
  return std::min(*unavailable, replicas);
}

/// A pod template without what makes no difference: the hash label, nulls, empty objects and lists.
json::value essence(const json::value& v) {
  if (const json::object* o = v.if_object()) {
    json::object out;
    for (const auto& [name, member] : *o) {
      if (std::string_view(name) == "pod-template-hash") continue;
      json::value kept = essence(member);
      const bool empty = kept.is_null() || (kept.is_object() && kept.get_object().empty()) ||
                         (kept.is_array() && kept.get_array().empty());
      if (!empty) out[name] = std::move(kept);
    }
    return out;
  }
  if (const json::array* a = v.if_array()) {
    json::array out;
    for (const json::value& element : *a) out.push_back(essence(element));
    return out;
  }
  return v;
}

json::value template_of(const json::object& o) {
  const json::value* found = at(o, {"spec", "template"});
  return found ? essence(*found) : json::value();
}

bool controlled_by(const json::object& o, std::string_view uid) {
  const json::value* owners = at(o, {"metadata", "ownerReferences"});
  if (!owners || !owners->is_array()) return false;
  for (const json::value& one : owners->get_array()) {
    if (!one.is_object() || text(one.get_object(), {"uid"}) != uid) continue;
    const json::value* controller = one.get_object().if_contains("controller");
    if (controller && controller->is_bool() && controller->get_bool()) return true;
  }
  return false;
}

/// The oldest ReplicaSet of the Deployment that has its pod template.
const json::object* newest_revision(const json::object& deployment,
                                    const std::vector<json::object>& replica_sets) {
  const json::value wanted = template_of(deployment);
  const std::string_view uid = text(deployment, {"metadata", "uid"});
  const json::object* found = nullptr;
  const auto age = [](const json::object& o) {
    return std::pair(text(o, {"metadata", "creationTimestamp"}), text(o, {"metadata", "name"}));
  };
  for (const json::object& set : replica_sets) {
    if (!controlled_by(set, uid) || template_of(set) != wanted) continue;
    if (!found || age(set) < age(*found)) found = &set;
  }
  return found;
}

readiness when(bool ready) {
  return ready ? readiness::yes() : readiness::not_yet();
}

}  // namespace

wait_rule rule_of(const object& o) {
  const std::string& group = o.resource.group;
  if (group.empty()) {
    if (o.kind == "Pod") return wait_rule::pod;
    if (o.kind == "ReplicationController") return wait_rule::replica_set;
    if (o.kind == "PersistentVolumeClaim") return wait_rule::volume_claim;
    if (o.kind == "Service") return wait_rule::service;
  }
  if (group == "batch" && o.kind == "Job") return wait_rule::job;
  if (group == "apps" || group == "extensions") {
    if (o.kind == "Deployment") return wait_rule::deployment;
    if (o.kind == "DaemonSet") return wait_rule::daemon_set;
    if (o.kind == "StatefulSet") return wait_rule::stateful_set;
    if (o.kind == "ReplicaSet") return wait_rule::replica_set;
  }
  if (group == "apiextensions.k8s.io" && o.kind == "CustomResourceDefinition")
    return wait_rule::definition;
  return wait_rule::nothing;
}

readiness pod_ready(const json::object& pod) {
  return when(condition(pod, "Ready") == "True");
}

readiness job_ready(const json::object& job) {
  if (count(job, {"status", "failed"}) > number(job, {"spec", "backoffLimit"}).value_or(6)) {
    return {false,
            "job is failed: " + metadata_text(job, "namespace") + "/" + metadata_text(job, "name")};
  }
  const auto completions = number(job, {"spec", "completions"});
  return when(!completions || count(job, {"status", "succeeded"}) >= *completions);
}

readiness deployment_ready(const json::object& deployment,
                           const std::vector<json::object>& replica_sets) {
  const json::value* paused = at(deployment, {"spec", "paused"});
  if (paused && paused->is_bool() && paused->get_bool()) return readiness::yes();
  const json::object* current = newest_revision(deployment, replica_sets);
  if (!current || !observed(*current) || !observed(deployment)) return readiness::not_yet();
  const std::int64_t replicas = number(deployment, {"spec", "replicas"}).value_or(1);
  return when(count(*current, {"status", "readyReplicas"}) >=
              replicas - max_unavailable(deployment, replicas));
}

readiness daemon_set_ready(const json::object& set) {
  if (!observed(set)) return readiness::not_yet();
  if (text(set, {"spec", "updateStrategy", "type"}) != "RollingUpdate") return readiness::yes();
  const std::int64_t desired = count(set, {"status", "desiredNumberScheduled"});
  if (count(set, {"status", "updatedNumberScheduled"}) != desired) return readiness::not_yet();
  const json::value* limit = at(set, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"});
  const std::int64_t unavailable = scaled(limit, desired, rounding::up).value_or(desired);
  return when(count(set, {"status", "numberReady"}) >= desired - unavailable);
}

readiness stateful_set_ready(const json::object& set) {
  if (!observed(set)) return readiness::not_yet();
  if (text(set, {"spec", "updateStrategy", "type"}) != "RollingUpdate") return readiness::yes();
  const std::int64_t partition =
      count(set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  const std::int64_t replicas = number(set, {"spec", "replicas"}).value_or(1);
  if (count(set, {"status", "updatedReplicas"}) < replicas - partition) return readiness::not_yet();
  if (count(set, {"status", "readyReplicas"}) != replicas) return readiness::not_yet();
  return when(partition != 0 ||
              text(set, {"status", "currentRevision"}) == text(set, {"status", "updateRevision"}));
}

readiness replica_set_ready(const json::object& set, const std::vector<json::object>& pods) {
  return when(observed(set) && std::all_of(pods.begin(), pods.end(), [](const json::object& pod) {
                return pod_ready(pod).ready;
              }));
}

readiness volume_claim_ready(const json::object& claim) {
  return when(text(claim, {"status", "phase"}) == "Bound");
}

readiness service_ready(const json::object& service) {
  const std::string_view type = text(service, {"spec", "type"});
  if (type == "ExternalName") return readiness::yes();
  if (text(service, {"spec", "clusterIP"}).empty()) return readiness::not_yet();
  if (type != "LoadBalancer") return readiness::yes();
  const json::value* addresses = at(service, {"spec", "externalIPs"});
  if (addresses && addresses->is_array() && !addresses->get_array().empty())
    return readiness::yes();
  const json::value* ingress = at(service, {"status", "loadBalancer", "ingress"});
  return when(ingress && !ingress->is_null());
}

readiness definition_ready(const json::object& definition) {
  // Names that are taken will not become free by waiting.
  return when(condition(definition, "Established") == "True" ||
              condition(definition, "NamesAccepted") == "False");
}

std::vector<k8s::resource> defined_by(const json::object& definition) {
  std::vector<k8s::resource> all;
  if (text(definition, {"kind"}) != "CustomResourceDefinition") return all;
  const json::value* versions = at(definition, {"spec", "versions"});
  if (!versions || !versions->is_array()) return all;
  for (const json::value& one : versions->get_array()) {
    const json::object* version = one.if_object();
    const json::value* served = version ? version->if_contains("served") : nullptr;
    if (!served || !served->is_bool() || !served->get_bool()) continue;
    all.push_back({std::string(text(definition, {"spec", "group"})),
                   std::string(text(*version, {"name"})),
                   std::string(text(definition, {"spec", "names", "plural"})),
                   std::string(text(definition, {"spec", "names", "kind"})),
                   text(definition, {"spec", "scope"}) == "Namespaced"});
  }
  return all;
}

readiness hook_job_done(const json::object& job) {
  if (condition(job, "Complete") == "True") return readiness::yes();
  std::string reason;
  if (condition(job, "Failed", &reason) == "True")
    return {false, "job " + metadata_text(job, "name") + " failed: " + reason};
  return readiness::not_yet();
}

readiness hook_pod_done(const json::object& pod) {
  const std::string_view phase = text(pod, {"status", "phase"});
  if (phase == "Failed") return {false, "pod " + metadata_text(pod, "name") + " failed"};
  return when(phase == "Succeeded");
}

std::string selector_text(const json::object& o) {
  const json::value* found = at(o, {"spec", "selector"});
  const json::object* selector = found ? found->if_object() : nullptr;
  if (!selector) return {};
  std::string out;
  const auto add = [&out](std::string term) {
    if (!out.empty()) out += ',';
    out += term;
  };
  const json::value* labels = selector->if_contains("matchLabels");
  const json::value* expressions = selector->if_contains("matchExpressions");
  const json::object* equal = labels ? labels->if_object() : nullptr;
  if (!labels && !expressions) equal = selector;  // a ReplicationController's
  if (equal) {
    for (const auto& [key, v] : *equal) {
      if (v.is_string()) add(std::string(key) + "=" + std::string(v.get_string()));
    }
  }
  if (!expressions || !expressions->is_array()) return out;
  for (const json::value& one : expressions->get_array()) {
    if (!one.is_object()) continue;
    const json::object& e = one.get_object();
    const std::string key(text(e, {"key"}));
    const std::string_view how = text(e, {"operator"});
    if (how == "Exists") add(key);
    if (how == "DoesNotExist") add("!" + key);
    if (how != "In" && how != "NotIn") continue;
    std::string values;
    if (const json::value* all = e.if_contains("values"); all && all->is_array()) {
      for (const json::value& v : all->get_array()) {
        if (!v.is_string()) continue;
        if (!values.empty()) values += ',';
        values += std::string_view(v.get_string());
      }
    }
    add(key + (how == "In" ? " in (" : " notin (") + values + ")");
  }
  return out;
}

}  // namespace helm::objects
