#include "simulation/invariants.hpp"

#include "simulation/conditions.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace simulation {
namespace {

namespace json = boost::json;

const json::value* at(const json::object* o, std::initializer_list<std::string_view> path) {
  const json::value* v = nullptr;
  for (std::string_view key : path) {
    if (!o) return nullptr;
    v = o->if_contains(key);
    o = v ? v->if_object() : nullptr;
    if (!v) return nullptr;
  }
  return v;
}

std::string text(const json::value* v) {
  if (!v) return {};
  if (const auto* s = v->if_string()) return std::string(*s);
  if (v->is_int64()) return std::to_string(v->get_int64());
  if (v->is_uint64()) return std::to_string(v->get_uint64());
  return {};
}

/// 33 of "v1.33.1+k3s1"; -1: it is no version.
int minor_in(std::string_view version) {
  const std::size_t dot = version.find('.');
  int minor = -1;
  if (dot != version.npos)
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

bool is_true(const json::value* v) {
  return v && v->is_bool() && v->get_bool();
}

bool has_condition(const json::object& o, std::string_view type) {
  const json::object* c = condition_of(o, type);
  return c && text(at(c, {"status"})) == "True";
}

/// `share` is "3" or "25%". Percentages of a budget and of maxUnavailable both round up.
std::size_t amount(const std::string& share, std::size_t of) {
  std::size_t n = 0;
  std::from_chars(share.data(), share.data() + share.size(), n);
  return share.ends_with('%') ? (n * of + 99) / 100 : n;
}

}  // namespace

void invariants::saw(const k8s::sim::written& w) {
  if (w.plural == "nodes") saw_node(w);
  if (w.plural == "bootcnodes") saw_bootc_node(w);
  if (w.plural == "pods") saw_pod(w);
  if (w.plural == "bootcnodepools") saw_pool(w);
  if (w.plural == "poddisruptionbudgets") saw_budget(w);
}

void invariants::saw_node(const k8s::sim::written& w) {
  if (w.type == k8s::sim::write_type::deleted) {
    nodes_.erase(nodes_.find(w.name));
    return;
  }
  const std::string name(w.name);
  node_facts& facts = nodes_[name];
  facts.unschedulable = is_true(at(w.after, {"spec", "unschedulable"}));
  facts.ready = has_condition(*w.after, "Ready");
  judge_health(facts);
  const json::object* labels = nullptr;
  if (const json::value* all = at(w.after, {"metadata", "labels"})) labels = all->if_object();
  facts.plane = labels && labels->contains("node-role.kubernetes.io/control-plane");
  const int before = std::exchange(
      facts.minor, minor_in(text(at(w.after, {"status", "nodeInfo", "kubeletVersion"}))));
  if (w.type != k8s::sim::write_type::added && facts.minor != before) check_skew(name, before);
  if (w.type == k8s::sim::write_type::added) facts.schedulable_before = !facts.unschedulable;
  count_disrupted();
}

/// Of a node that came back with another minor.
void invariants::check_skew(const std::string& name, int before) {
  const node_facts& moved = nodes_.find(name)->second;
  if (moved.minor < 0) return;
  const auto beyond = [&](int kubelet, int server) {
    return kubelet >= 0 && server >= 0 &&
           (kubelet > server || server - kubelet > (kubelet < 25 ? 2 : 3));
  };
  const auto say = [&](const std::string& what) {
    violated(name + " came back with Kubernetes 1." + std::to_string(moved.minor) +
             ", beyond the skew: " + what);
  };
  const int server = server_ ? minor_in(server_()) : -1;
  if (!moved.plane && beyond(moved.minor, server)) say("/version is 1." + std::to_string(server));
  if (moved.plane && before >= 0 && std::abs(moved.minor - before) > 1)
    say("it was 1." + std::to_string(before));
  for (const auto& [other, facts] : nodes_) {
    if (other == name || facts.minor < 0) continue;
    const bool bad = moved.plane && facts.plane ? std::abs(moved.minor - facts.minor) > 1
                     : moved.plane              ? beyond(facts.minor, moved.minor)
                     : facts.plane              ? beyond(moved.minor, facts.minor)
                                                : false;
    if (bad) say(other + " is 1." + std::to_string(facts.minor));
  }
}

void invariants::saw_bootc_node(const k8s::sim::written& w) {
  const std::string name(w.name);
  if (w.type == k8s::sim::write_type::added) ++member_count_;
  if (w.type == k8s::sim::write_type::deleted) --member_count_;
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  node_facts& facts = found->second;
  const bool slotted =
      w.type != k8s::sim::write_type::deleted &&
      at(w.after, {"metadata", "annotations", "bootc.dev/in-reboot-slot"}) != nullptr;
  facts.desired = text(at(w.after, {"spec", "desiredImage"}));
  const std::size_t digest = facts.desired.find('@');
  facts.arrived =
      digest != std::string::npos &&
      text(at(w.after, {"status", "booted", "imageDigest"})) == facts.desired.substr(digest + 1);
  facts.degraded = w.after && has_condition(*w.after, "Degraded");
  if (text(at(w.after, {"spec", "desiredImageState"})) != "Booted")
    facts.approved_since.reset();
  else if (!facts.approved_since && time_.now)
    facts.approved_since = time_.now();
  const auto approved_at = reactor::parse_rfc3339(
      text(at(w.after, {"metadata", "annotations", "windlass.dev/approved-at"})));
  facts.approved_at = approved_at ? std::optional(*approved_at) : std::nullopt;
  const bool turned = slotted != facts.slotted;
  if (turned && slotted) check_halt(name, facts.desired);
  facts.slotted = slotted;
  judge_health(facts);
  if (!turned) return;
  if (slotted) {
    facts.schedulable_before = !facts.unschedulable;
    const auto taken =
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.second.slotted; });
    if (static_cast<std::size_t>(taken) > allowed_unavailable())
      violated(name + " took a reboot slot as number " + std::to_string(taken) + " of " +
               std::to_string(allowed_unavailable()));
  } else if (facts.schedulable_before && facts.unschedulable) {
    violated(name + " is still cordoned after its slot was freed");
  }
  count_disrupted();
}

void invariants::judge_health(node_facts& facts) {
  if (!time_.now) return;
  if (!facts.slotted || !((facts.arrived && !facts.ready) || facts.failed_its_reboot()))
    facts.unhealthy_since.reset();
  else if (!facts.unhealthy_since)
    facts.unhealthy_since = time_.now();
}

std::string invariants::known_trouble(const node_facts& facts) const {
  if (!time_.now || !facts.slotted) return {};
  if (facts.unhealthy_since && time_.now() - *facts.unhealthy_since > noticed_within)
    return facts.failed_its_reboot() ? "failed its reboot" : "is not Ready";
  // The service counts by the wall clock, from what the object says.
  const reactor::nanoseconds late = reboot_limit_ + noticed_within;
  if (reboot_limit_.count() > 0 && !facts.arrived && facts.approved_since && facts.approved_at &&
      time_.now() - *facts.approved_since > late && time_.wall() - *facts.approved_at > late)
    return "is not back from its reboot";
  return {};
}

std::vector<std::string> invariants::known_unhealthy(std::string_view image) const {
  std::vector<std::string> out;
  for (const auto& [name, facts] : nodes_) {
    const std::string why = known_trouble(facts);
    if (!why.empty() && (image.empty() || facts.desired == image)) out.push_back(name + " " + why);
  }
  return out;
}

void invariants::check_halt(const std::string& starter, std::string_view image) {
  const std::vector<std::string> known = known_unhealthy(image);
  if (known.size() < 2) return;
  std::string names;
  for (const std::string& one : known) names += (names.empty() ? "" : " and ") + one;
  violated(starter + " took a reboot slot although " + names);
}

void invariants::saw_pod(const k8s::sim::written& w) {
  const std::string key = std::string(w.ns) + "/" + std::string(w.name);
  if (w.type == k8s::sim::write_type::deleted) {
    pods_.erase(key);
    return;
  }
  pod_facts& facts = pods_[key];
  const bool was_healthy = facts.healthy;
  facts.app = text(at(w.after, {"metadata", "labels", "app"}));
  facts.node = text(at(w.after, {"spec", "nodeName"}));
  facts.mirror = at(w.after, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
  if (const json::value* owners = at(w.after, {"metadata", "ownerReferences"});
      owners && owners->is_array() && !owners->get_array().empty())
    facts.daemon = text(at(owners->get_array().front().if_object(), {"kind"})) == "DaemonSet";
  const bool terminating = at(w.after, {"metadata", "deletionTimestamp"}) != nullptr;
  facts.healthy = has_condition(*w.after, "Ready") && !terminating;
  if (terminating && was_healthy && !facts.healthy &&
      healthy(facts.app) < required_healthy(facts.app))
    violated("evicting " + key + " leaves " + std::to_string(healthy(facts.app)) +
             " healthy pods of " + facts.app + " where " +
             std::to_string(required_healthy(facts.app)) + " are required");
}

void invariants::saw_pool(const k8s::sim::written& w) {
  if (const json::value* max = at(w.after, {"spec", "rollout", "maxUnavailable"}))
    max_unavailable_ = text(max);
  const std::string limit = text(at(w.after, {"spec", "rollout", "rebootTimeoutSeconds"}));
  reboot_limit_ =
      limit.empty() ? std::chrono::minutes(30) : std::chrono::seconds(std::stoll(limit));
}

void invariants::saw_budget(const k8s::sim::written& w) {
  budgets_[std::string(w.name)] = {text(at(w.after, {"spec", "minAvailable"})),
                                   text(at(w.after, {"spec", "maxUnavailable"})),
                                   text(at(w.after, {"spec", "selector", "matchLabels", "app"}))};
}

void invariants::saw_reboot(std::string_view node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  const std::string name(node);
  if (!found->second.slotted) violated(name + " reboots outside a slot");
  if (!found->second.unschedulable) violated(name + " reboots without being cordoned");
  for (const auto& [key, pod] : pods_)
    if (pod.node == node && !pod.daemon && !pod.mirror)
      violated(name + " reboots with " + key + " still on it");
}

void invariants::check_at_rest() {
  for (const auto& [name, facts] : nodes_)
    if (!facts.slotted && facts.schedulable_before && facts.unschedulable)
      violated(name + " was left cordoned");
}

std::size_t invariants::allowed_unavailable() const {
  return amount(max_unavailable_, member_count_);
}

std::size_t invariants::required_healthy(const std::string& app) const {
  std::size_t required = 0;
  for (const auto& [name, b] : budgets_) {
    if (b.app != app) continue;
    const auto known = replicas_.find(app);
    const std::size_t replicas = known == replicas_.end() ? 0 : known->second;
    if (!b.min_available.empty()) required = std::max(required, amount(b.min_available, replicas));
    if (!b.max_unavailable.empty())
      required =
          std::max(required, replicas - std::min(replicas, amount(b.max_unavailable, replicas)));
  }
  return required;
}

std::size_t invariants::healthy(const std::string& app) const {
  return static_cast<std::size_t>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& p) {
    return p.second.app == app && p.second.healthy;
  }));
}

void invariants::count_disrupted() {
  const auto n = static_cast<std::size_t>(std::count_if(
      nodes_.begin(), nodes_.end(), [](const auto& f) { return f.second.disturbed(); }));
  if (n > max_disrupted_) max_disrupted_ = n;
  if (n > allowed_unavailable())
    violated(std::to_string(n) + " nodes are disturbed where " +
             std::to_string(allowed_unavailable()) + " may be");
}

void invariants::violated(std::string sentence) {
  found(cluster_ + ": " + std::move(sentence));
}

}  // namespace simulation
