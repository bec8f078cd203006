#include "k8s/sim/workloads.hpp"

#include "formats/digest.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/objects/json.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

namespace k8s::sim {
namespace {

constexpr std::string_view revision_note = "deployment.kubernetes.io/revision",
                           hash_label = "pod-template-hash";
constexpr std::size_t hash_length = 10, longest_name = 253;
constexpr std::int64_t kept_by_default = 10;  // former ReplicaSets

struct role {
  std::string_view group, plural;
};
constexpr role played[] = {{"apps", "deployments"}, {"apps", "statefulsets"},
                           {"apps", "daemonsets"},  {"batch", "jobs"},
                           {"", "services"},        {"", "persistentvolumeclaims"}};

bool is_played(std::string_view group, std::string_view plural) {
  return std::ranges::any_of(played,
                             [&](const role& r) { return r.group == group && r.plural == plural; });
}

bool is_deleting(const json::object& o) {
  return !text(o, {"metadata", "deletionTimestamp"}).empty();
}

std::int64_t wanted(const json::object& o) {
  return number(o, {"spec", "replicas"}, 1);
}

json::object stated(std::string_view type, std::string_view reason, const std::string& now) {
  return {{"type", type}, {"status", "True"}, {"reason", reason}, {"lastTransitionTime", now}};
}

std::string hash_of(const json::object& o) {
  const json::value* pods = find(o, {"spec", "template"});
  return formats::sha256_hex(pods ? json::serialize(*pods) : std::string()).substr(0, hash_length);
}

void complete(json::object& job, const std::string& now) {
  const json::value* suspended = find(job, {"spec", "suspend"});
  if (suspended && suspended->is_bool() && suspended->get_bool()) return;
  json::object& status = ensure_object(job, "status");
  if (status.contains("completionTime")) return;
  status["startTime"] = now;
  status["completionTime"] = now;
  status["succeeded"] = number(job, {"spec", "completions"}, 1);
  status["ready"] = 0;
  status["conditions"] = json::array{stated("SuccessCriteriaMet", "CompletionsReached", now),
                                     stated("Complete", "CompletionsReached", now)};
}

void run_all(json::object& stateful_set) {
  const std::string revision =
      std::string(text(stateful_set, {"metadata", "name"})) + "-" + hash_of(stateful_set);
  json::object& status = ensure_object(stateful_set, "status");
  status["observedGeneration"] = number(stateful_set, {"metadata", "generation"});
  for (const char* count :
       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"})
    status[count] = wanted(stateful_set);
  status["currentRevision"] = status["updateRevision"] = revision;
}

void run_on_each(json::object& daemon_set, std::size_t nodes) {
  json::object& status = ensure_object(daemon_set, "status");
  status["observedGeneration"] = number(daemon_set, {"metadata", "generation"});
  for (const char* count : {"desiredNumberScheduled", "currentNumberScheduled", "numberReady",
                            "numberAvailable", "updatedNumberScheduled"})
    status[count] = nodes;
  status["numberMisscheduled"] = 0;
}

}  // namespace

void make_ready(json::object& deployment) {
  const std::int64_t replicas = wanted(deployment);
  json::object& status = ensure_object(deployment, "status");
  status["observedGeneration"] = number(deployment, {"metadata", "generation"});
  for (const char* count : {"replicas", "readyReplicas", "availableReplicas", "updatedReplicas"})
    status[count] = replicas;
  erase(status, "unavailableReplicas");
}

workloads::workloads(reactor::loop& l, api_server& api, reactor::nanoseconds ready_after)
    : loop_(l), api_(api), ready_after_(ready_after) {
  api_.on_write = [this](const written& w) { saw(w); };
}

workloads::~workloads() {
  api_.on_write = nullptr;
  for (const auto& [k, timer] : coming_) loop_.timers().disarm(timer);
}

void workloads::saw(const written& w) {
  if (w.type == write_type::deleted && w.plural == "deployments" && w.after)
    histories_.erase(std::string(text(*w.after, {"metadata", "uid"})));
  if (acts_ || w.type == write_type::deleted || !is_played(w.group, w.plural)) return;
  key k{w.plural, w.ns, w.name};
  if (coming_.contains(k)) return;
  const auto due = loop_.now() + ready_after_;
  coming_[k] = loop_.timers().arm(due, [this, k] {
    coming_.erase(k);
    acts_ = true;
    bring_up(k);
    acts_ = false;
  });
}

void workloads::bring_up(const key& k) {
  const auto& [plural, ns, name] = k;
  const std::string now = reactor::format_rfc3339(loop_.wall());
  const std::size_t nodes = plural == "daemonsets" ? api_.list("", "nodes").size() : 0;
  const auto change = [&](auto&& how) {
    const std::string_view group = std::ranges::find(played, plural, &role::plural)->group;
    api_.edit(group, plural, ns, name, [&](json::object& o) {
      if (!is_deleting(o)) how(o);
    });
  };
  if (plural == "deployments") return roll_out(k);
  if (plural == "statefulsets") return change([](json::object& o) { run_all(o); });
  if (plural == "daemonsets") return change([&](json::object& o) { run_on_each(o, nodes); });
  if (plural == "jobs") return change([&](json::object& o) { complete(o, now); });
  if (plural == "services") {
    const auto service = api_.get("", plural, ns, name);
    if (!service || text(*service, {"spec", "type"}) != "LoadBalancer") return;
    return change([](json::object& o) {
      const std::string digest = formats::sha256_hex(text(o, {"metadata", "uid"}));
      const auto last = 1 + std::strtoul(digest.substr(0, 4).c_str(), nullptr, 16) % 254;
      ensure_object(o, "status")["loadBalancer"] = json::object{
          {"ingress", json::array{json::object{{"ip", "192.0.2." + std::to_string(last)}}}}};
    });
  }
  change([](json::object& claim) {
    json::object& status = ensure_object(claim, "status");
    status["phase"] = "Bound";
    if (const json::value* modes = find(claim, {"spec", "accessModes"}))
      status["accessModes"] = *modes;
    if (const json::value* asked = find(claim, {"spec", "resources", "requests"}))
      status["capacity"] = *asked;
    const std::string volume = "pvc-" + std::string(text(claim, {"metadata", "uid"}));
    set_default(ensure_object(claim, "spec"), "volumeName", json::value(volume));
  });
}

void workloads::roll_out(const key& k) {
  const auto& [plural, ns, name] = k;
  const auto deployment = api_.get("apps", plural, ns, name);
  if (!deployment || is_deleting(*deployment)) return;
  if (flag(*deployment, {"spec", "paused"})) {
    api_.edit("apps", plural, ns, name, [](json::object& o) {
      ensure_object(o, "status")["observedGeneration"] = number(o, {"metadata", "generation"});
    });
    return;
  }
  history& known = histories_[std::string(text(*deployment, {"metadata", "uid"}))];
  const std::string hash = hash_of(*deployment),
                    current = name.substr(0, longest_name - hash.size() - 1) + "-" + hash;
  if (known.sets.empty() || known.sets.back() != current) ++known.revision;
  const bool is_made = put_set(*deployment, current, hash, known.revision);
  if (!is_made) return;
  std::erase(known.sets, current);
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(
      0, number(*deployment, {"spec", "revisionHistoryLimit"}, kept_by_default)));
  while (known.sets.size() > kept) {
    api_.erase("apps", "replicasets", ns, known.sets.front());
    known.sets.erase(known.sets.begin());
  }
  for (const std::string& former : known.sets)
    api_.edit("apps", "replicasets", ns, former, [](json::object& o) {
      ensure_object(o, "spec")["replicas"] = 0;
      o["status"] = json::object{{"replicas", 0}};
    });
  known.sets.push_back(current);
  const std::int64_t revision = known.revision;
  const std::string now = reactor::format_rfc3339(loop_.wall());
  api_.edit("apps", plural, ns, name, [&](json::object& o) {
    ensure_object(ensure_object(o, "metadata"), "annotations")[revision_note] =
        std::to_string(revision);
    make_ready(o);
    json::object& status = ensure_object(o, "status");
    if (!find_array(status, {"conditions"}))
      status["conditions"] = json::array{stated("Available", "MinimumReplicasAvailable", now),
                                         stated("Progressing", "NewReplicaSetAvailable", now)};
  });
}

/// The ReplicaSet of the present pod template, made or as it was, with all its pods. False: the
/// server does not take it.
bool workloads::put_set(const json::object& deployment, const std::string& name,
                        const std::string& hash, std::int64_t revision) {
  const std::string ns(text(deployment, {"metadata", "namespace"}));
  json::object set = api_.get("apps", "replicasets", ns, name).value_or(json::object());
  if (set.empty()) {
    set = {{"apiVersion", "apps/v1"},
           {"kind", "ReplicaSet"},
           {"metadata", {{"name", name}, {"namespace", ns}}},
           {"spec", json::object()}};
    json::object& spec = ensure_object(set, "spec");
    if (const json::value* pods = find(deployment, {"spec", "template"})) spec["template"] = *pods;
    if (const json::value* by = find(deployment, {"spec", "selector"})) spec["selector"] = *by;
    json::object& labels =
        ensure_object(ensure_object(ensure_object(spec, "template"), "metadata"), "labels");
    labels[hash_label] = hash;
    json::object& meta = ensure_object(set, "metadata");
    meta["labels"] = labels;
    meta["ownerReferences"] =
        json::array{json::object{{"apiVersion", "apps/v1"},
                                 {"kind", "Deployment"},
                                 {"name", text(deployment, {"metadata", "name"})},
                                 {"uid", text(deployment, {"metadata", "uid"})},
                                 {"controller", true},
                                 {"blockOwnerDeletion", true}}};
    ensure_object(ensure_object(spec, "selector"), "matchLabels")[hash_label] = hash;
  }
  json::object& notes = ensure_object(ensure_object(set, "metadata"), "annotations");
  notes[revision_note] = std::to_string(revision);
  const std::int64_t replicas = wanted(deployment);
  ensure_object(set, "spec")["replicas"] = replicas;
  set["status"] = json::object{{"replicas", replicas},
                               {"fullyLabeledReplicas", replicas},
                               {"readyReplicas", replicas},
                               {"availableReplicas", replicas}};
  try {
    api_.put(std::move(set));
  } catch (const std::exception&) {
    return false;  // of foreign input: what may not be made is not made
  }
  return api_.edit("apps", "replicasets", ns, name, [](json::object& o) {
    ensure_object(o, "status")["observedGeneration"] = number(o, {"metadata", "generation"});
  });
}

}  // namespace k8s::sim
