#include "k8s/sim/core.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace k8s::sim {

namespace {

constexpr std::size_t kReactionLimit = 200'000;  // a chain longer than this is a cycle

bool has_finalizer(const json::object& o, std::string_view name) {
  const json::array* all = find_array(o, {"metadata", "finalizers"});
  return all && std::find(all->begin(), all->end(), json::value(name)) != all->end();
}

void drop_finalizer(json::object& o, std::string_view name) {
  json::value* list = find(o, {"metadata", "finalizers"});
  if (!list || !list->is_array()) return;
  json::array& all = list->get_array();
  all.erase(std::remove(all.begin(), all.end(), json::value(name)), all.end());
  if (all.empty()) erase(o["metadata"].as_object(), "finalizers");
}

/// "50%" of `total`, or the integer; rounded up, as budgets are.
std::int64_t scaled(const json::value& v, std::int64_t total) {
  if (v.is_int64()) return v.get_int64();
  if (v.is_uint64()) return static_cast<std::int64_t>(v.get_uint64());
  if (!v.is_string()) return 0;
  const double percent = std::atof(v.get_string().c_str());
  return static_cast<std::int64_t>(std::ceil(percent * static_cast<double>(total) / 100.0));
}

void set_condition(json::object& status, std::string_view type, bool truth, std::string_view reason,
                   std::int64_t generation, const std::string& now) {
  json::value& list = status["conditions"];
  if (!list.is_array()) list = json::array();
  json::object* found = nullptr;
  for (json::value& c : list.get_array()) {
    if (c.is_object() && text(c.get_object(), {"type"}) == type) found = &c.get_object();
  }
  if (!found) {
    list.get_array().push_back(json::object{{"type", type}});
    found = &list.get_array().back().get_object();
  }
  const std::string_view word = truth ? "True" : "False";
  if (text(*found, {"status"}) != word) (*found)["lastTransitionTime"] = now;
  (*found)["status"] = word;
  (*found)["reason"] = reason;
  (*found)["message"] = "";
  (*found)["observedGeneration"] = generation;
}

}  // namespace

void core::react() {
  if (reacting) return;
  reacting = true;
  std::size_t steps = 0;
  std::map<std::string, written_pods> budgets_of;
  std::vector<version_ptr> replaced;
  for (;;) {
    while (!reactions.empty() && ++steps < kReactionLimit) {
      change c = std::move(reactions.front());
      reactions.pop_front();
      const std::size_t slash = c.key.find('/');
      const std::string ns = slash == std::string::npos ? std::string() : c.key.substr(0, slash);
      if (c.collection == "policy/poddisruptionbudgets") {
        budgets_of[ns] = std::nullopt;
      } else if (c.collection == "/pods") {
        written_pods& there = budgets_of.try_emplace(ns, std::in_place).first->second;
        if (there) there->push_back(c.object);
        if (there && c.before) there->push_back(c.before);
      }
      if (c.collection == "/namespaces") settle_namespace(c.key);
      collect_garbage(c);
      if (c.type == change::what::deleted && !ns.empty()) settle_namespace(ns);
      if (c.before) replaced.push_back(std::move(c.before));
    }
    if (budgets_of.empty()) break;
    for (const auto& [ns, pods] : std::exchange(budgets_of, {})) refresh_budgets(ns, pods);
    // Their own status writes need no second look.
    reactions.erase(std::remove_if(reactions.begin(), reactions.end(),
                                   [](const change& c) {
                                     return c.collection == "policy/poddisruptionbudgets";
                                   }),
                    reactions.end());
  }
  reactions.clear();
  for (const version_ptr& v : replaced) v->keep(nullptr);  // late readers read the bytes
  reacting = false;
}

void core::collect_garbage(const change& c) {
  const bool gone = c.type == change::what::deleted;
  const bool has_owner = !c.object->owners.empty();
  const bool deleting = c.object->is_ending;
  if (!gone && !deleting && !has_owner) return;
  const auto looked = c.object->look();
  const json::object& o = *looked;
  const std::string uid(text(o, {"metadata", "uid"}));
  const bool orphan = !gone && has_finalizer(o, "orphan"),
             foreground = !gone && has_finalizer(o, "foregroundDeletion");

  if (gone || orphan || foreground) {
    // Dependents live in the same namespace, or anywhere below a cluster-scoped owner.
    bool blocked = false;
    const std::string within = c.key.substr(0, c.key.find('/') + 1);
    for (const kind_ptr& k : kinds.all()) {
      if (k->storage_elsewhere || (k->custom && k->version != k->storage_version)) continue;
      std::vector<std::string> dependents;
      const auto& those = objects.objects(k->collection());
      for (auto at = those.lower_bound(within); at != those.end() && at->first.starts_with(within);
           ++at) {
        const auto& [key, v] = *at;
        if (std::ranges::find(v->owners, uid) != v->owners.end()) dependents.push_back(key);
      }
      for (const std::string& key : dependents) {
        version_ptr v = find(*k, key);
        if (!v) continue;
        json::object d = v->parsed();
        json::value* owners = k8s::sim::find(d, {"metadata", "ownerReferences"});
        if (!owners || !owners->is_array()) continue;
        json::array& all = owners->get_array();
        auto mine = std::find_if(all.begin(), all.end(), [&](const json::value& r) {
          return r.is_object() && text(r.get_object(), {"uid"}) == uid;
        });
        if (mine == all.end()) continue;
        const bool blocks = flag(mine->get_object(), {"blockOwnerDeletion"});
        if (orphan || all.size() > 1) {
          all.erase(mine);
          if (all.empty()) erase(d["metadata"].as_object(), "ownerReferences");
          commit_put(*k, key, std::move(d));
        } else if (!d["metadata"].as_object().contains("deletionTimestamp")) {
          deletion how;
          if (foreground) how.propagation = "Foreground";
          (void)delete_object(*k, key, how, false);
        }
        if (foreground && blocks && find(*k, key)) blocked = true;
      }
    }
    if (orphan || (foreground && !blocked)) {
      kind_ptr k;
      for (const kind_ptr& candidate : kinds.all()) {
        if (candidate->collection() == c.collection && !candidate->storage_elsewhere) k = candidate;
      }
      version_ptr v = k ? find(*k, c.key) : nullptr;
      if (v) {
        json::object now_object = v->parsed();
        drop_finalizer(now_object, orphan ? "orphan" : "foregroundDeletion");
        if (find_array(now_object, {"metadata", "finalizers"})) {
          commit_put(*k, c.key, std::move(now_object));
        } else {
          commit_remove(*k, c.key, std::move(now_object));
        }
      }
    }
  }

  if (const json::array* owners = find_array(o, {"metadata", "ownerReferences"});
      owners && !owners->empty()) {
    bool any_alive = false;
    for (const json::value& r : *owners) {
      if (!r.is_object()) continue;
      const json::object& ref = r.get_object();
      kind_ptr k = kinds.find_kind(text(ref, {"apiVersion"}), text(ref, {"kind"}));
      if (!k) {
        any_alive = true;  // the collector cannot look such an owner up and leaves the object alone
        continue;
      }
      const std::string ns(k->namespaced ? text(o, {"metadata", "namespace"}) : std::string_view());
      const std::string owner_key = object_path(ns, text(ref, {"name"}));
      version_ptr owner = find(*k, owner_key);
      if (!owner) continue;
      const auto seen_parent = owner->look();
      const json::object& parent = *seen_parent;
      if (text(parent, {"metadata", "uid"}) != text(ref, {"uid"})) continue;
      any_alive = true;
      if (gone && has_finalizer(parent, "foregroundDeletion")) {
        // One dependent less: the owner may be able to go now.
        change again;
        again.type = change::what::modified;
        again.collection = k->collection();
        again.key = owner_key;
        again.object = owner;
        reactions.push_back(std::move(again));
      }
    }
    if (!gone && !any_alive && !deleting) {
      for (const kind_ptr& k : kinds.all()) {
        if (k->collection() == c.collection && !k->storage_elsewhere && find(*k, c.key)) {
          (void)delete_object(*k, c.key, {}, false);
          break;
        }
      }
    }
  }
}

bool core::namespace_is_empty(std::string_view ns) const {
  const std::string prefix = std::string(ns) + "/";
  for (const kind_ptr& k : kinds.all()) {
    if (!k->namespaced || k->storage_elsewhere) continue;
    const auto& all = objects.objects(k->collection());
    auto at = all.lower_bound(prefix);
    if (at != all.end() && at->first.starts_with(prefix)) return false;
  }
  return true;
}

void core::settle_namespace(const std::string& name) {
  version_ptr v = objects.get("/namespaces", name);
  if (!v) return;
  if (!v->is_ending) return;
  json::object ns = v->parsed();
  const std::string prefix = name + "/";
  for (const kind_ptr& k : kinds.all()) {
    if (!k->namespaced || k->storage_elsewhere || (k->custom && k->version != k->storage_version))
      continue;
    std::vector<std::string> keys;
    const auto& all = objects.objects(k->collection());
    for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix);
         ++at) {
      if (!at->second->is_ending) keys.push_back(at->first);
    }
    for (const std::string& key : keys) (void)delete_object(*k, key, {}, false);
  }
  if (!namespace_is_empty(name)) return;
  v = objects.get("/namespaces", name);
  if (!v) return;
  ns = v->parsed();
  json::value* finalizers = k8s::sim::find(ns, {"spec", "finalizers"});
  if (finalizers && finalizers->is_array()) {
    json::array& list = finalizers->get_array();
    list.erase(std::remove(list.begin(), list.end(), json::value("kubernetes")), list.end());
    if (!list.empty()) return;
    erase(ns["spec"].as_object(), "finalizers");
  }
  kind_ptr k = kinds.find("", "v1", "namespaces");
  if (!find_array(ns, {"metadata", "finalizers"})) commit_remove(*k, name, std::move(ns));
}

/// The replicas that a pod's controller is asked for; none when it is not known or has no such
/// wish.
std::optional<std::int64_t> core::replicas_of(const pod_facts::controller& owner,
                                              std::string_view ns) const {
  const kind_ptr kind = kinds.find_kind(owner.api_version, owner.kind);
  const version_ptr found = kind ? find(*kind, object_path(ns, owner.name)) : nullptr;
  if (!found) return std::nullopt;
  const auto seen = found->look();
  if (!k8s::sim::find(*seen, {"spec", "replicas"})) return std::nullopt;
  return number(*seen, {"spec", "replicas"});
}

void core::refresh_budgets(std::string_view ns, const written_pods& changed) {
  const std::string prefix = std::string(ns) + "/";
  const auto& budgets = objects.objects("policy/poddisruptionbudgets");
  auto first = budgets.lower_bound(prefix);
  if (first == budgets.end() || !first->first.starts_with(prefix)) return;
  std::vector<std::pair<std::string, version_ptr>> here;
  for (; first != budgets.end() && first->first.starts_with(prefix); ++first)
    here.push_back(*first);
  std::vector<std::shared_ptr<const pod_facts>> touched, pods;
  if (changed)
    for (const version_ptr& pod : *changed) touched.push_back(facts_of(*pod));
  kind_ptr k = kinds.find("policy", "v1", "poddisruptionbudgets");
  for (const auto& [key, v] : here) {
    const auto seen_budget = v->look();
    const json::object* selector = find_object(*seen_budget, {"spec", "selector"});
    if (!selector) continue;
    auto wanted = label_selector::from_object(*selector);
    if (!wanted) continue;
    const auto is_meant = [&](const auto& pod) { return wanted->matches(&pod->labels); };
    if (changed && std::ranges::none_of(touched, is_meant)) continue;
    json::object budget = *seen_budget;
    if (pods.empty()) {
      const auto& all = objects.objects("/pods");
      for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix);
           ++at)
        pods.push_back(facts_of(*at->second));
    }
    json::object& status = ensure_object(budget, "status");
    json::object disrupted;
    if (const json::object* d = find_object(status, {"disruptedPods"})) disrupted = *d;
    json::object still_disrupted;
    std::int64_t count = 0, healthy = 0, scale = 0;
    std::map<pod_facts::controller, std::optional<std::int64_t>> wishes;
    for (const auto& pod : pods) {
      if (!is_meant(pod) || pod->is_terminal) continue;
      ++count;
      // What percentages refer to is the controller's wish where it is known, else the pods there
      // are.
      bool scaled_by_owner = false;
      for (const pod_facts::controller& owner : pod->controllers) {
        const auto [wish, first_of_it] = wishes.try_emplace(owner);
        if (first_of_it) wish->second = replicas_of(owner, ns);
        if (!wish->second) continue;
        scaled_by_owner = true;
        if (first_of_it) scale += *wish->second;
      }
      if (!scaled_by_owner) ++scale;
      if (pod->is_ending) continue;
      if (const json::value* granted = disrupted.if_contains(pod->name)) {
        // An eviction was granted and the deletion has not been seen: it counts as gone.
        still_disrupted[pod->name] = *granted;
        continue;
      }
      if (pod->is_ready) ++healthy;
    }
    const json::value* least = k8s::sim::find(budget, {"spec", "minAvailable"});
    const json::value* most = k8s::sim::find(budget, {"spec", "maxUnavailable"});
    std::int64_t expected = count, desired = 0;
    if (most) {
      expected = scale;
      desired = std::max<std::int64_t>(0, expected - scaled(*most, expected));
    } else if (least) {
      if (least->is_string()) expected = scale;
      desired = scaled(*least, expected);
    }
    const std::int64_t allowed = expected == 0 ? 0 : std::max<std::int64_t>(0, healthy - desired);
    status["disruptionsAllowed"] = allowed;
    status["currentHealthy"] = healthy;
    status["desiredHealthy"] = desired;
    status["expectedPods"] = expected;
    status["observedGeneration"] = number(budget, {"metadata", "generation"});
    if (still_disrupted.empty()) {
      erase(status, "disruptedPods");
    } else {
      status["disruptedPods"] = still_disrupted;
    }
    set_condition(status, "DisruptionAllowed", allowed > 0,
                  allowed > 0 ? "SufficientPods" : "InsufficientPods",
                  number(budget, {"metadata", "generation"}), timestamp());
    if (!same(budget, *v->look())) commit_put(*k, key, std::move(budget));
  }
}

void core::terminate_pod(std::string_view key, std::string_view uid) {
  version_ptr v = objects.get("/pods", key);
  if (!v || !v->is_ending) return;
  if (!uid.empty() && text(*v->look(), {"metadata", "uid"}) != uid) return;
  kind_ptr k = kinds.find("", "v1", "pods");
  deletion how;
  how.grace = 0;
  (void)delete_object(*k, key, how, false);
}

}  // namespace k8s::sim
