#pragma once

#include "bootc/kinds/names.hpp"
#include "bootc/pool/rollout_planner.hpp"

#include <algorithm>
#include <deque>
#include <string>

/// Plain structs for table tests: a pool, its nodes and what they report.
namespace bootc::testing {

inline std::string digest_of(char c) {
  return "sha256:" + std::string(64, c);
}
inline std::string image_of(char c) {
  return "quay.io/example/os@" + digest_of(c);
}

inline const reactor::wall_time noon = *reactor::parse_rfc3339("2026-11-21T12:00:00Z");

inline k8s::uid uid_of(int number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012d", number);
  return k8s::uid(std::string(text));
}

inline image_info booted(char c) {
  image_info out;
  out.image = image_of(c);
  out.digest = digest_of(c);
  return out;
}

inline condition cond(std::string type, std::string status, std::string reason,
                      std::string message = {}) {
  condition out;
  out.type = std::move(type);
  out.status = std::move(status);
  out.reason = std::move(reason);
  out.message = std::move(message);
  out.last_transition_time = "2026-11-21T11:00:00Z";
  return out;
}

inline k8s::string_map with(const k8s::string_map& map, std::string key, std::string value) {
  std::vector<k8s::string_map::member> members{{k8s::interned(key), k8s::interned(value)}};
  for (const auto& m : map)
    if (!(m.first == key)) members.push_back(m);
  return k8s::string_map(std::move(members));
}

/// A pool on image `b` and a cluster to plan for. Fluent, so that a test reads as its situation.
class situation {
public:
  situation() {
    world.now = noon;
    world.pool.meta.name = "workers";
    world.pool.meta.uid = uid_of(1);
    world.pool.meta.generation = 4;
    k8s::interned finalizer(names::pool_cleanup);
    world.pool.meta.finalizers = k8s::shared_array<k8s::interned>(std::span(&finalizer, 1));
    world.pool.spec.node_selector = *k8s::label_selector::parse(std::string_view("pool=workers"));
    target('b');
  }
  situation(const situation&) = delete;

  situation& target(char c) {
    world.pool.spec.image_ref = image_of(c);
    return *this;
  }
  situation& max_unavailable(int_or_string value) {
    world.pool.spec.max_unavailable = std::move(value);
    return *this;
  }

  /// A Node of the pool that is Ready.
  k8s::node& node(const std::string& name) {
    k8s::node& n = nodes_.emplace_back();
    n.meta.name = name;
    n.meta.uid = uid_of(100 + static_cast<int>(nodes_.size()));
    n.meta.resource_version = "10";
    n.meta.labels = k8s::string_map{{"pool", "workers"}, {k8s::interned(names::managed), ""}};
    n.ready = k8s::condition_status::yes;
    n.boot_id = "boot-1";
    world.nodes.push_back(&n);
    return n;
  }
  /// Its BootcNode, owned by the pool, on image `a`, asked to stage the pool's image.
  bootc_node& object(const std::string& name) {
    bootc_node& b = objects_.emplace_back();
    b.meta.name = name;
    b.meta.uid = uid_of(500 + static_cast<int>(objects_.size()));
    b.meta.resource_version = "20";
    b.meta.owner.kind = "BootcNodePool";
    b.meta.owner.name = "workers";
    b.meta.owner.uid = world.pool.meta.uid;
    b.spec.desired_image = image_of('b');
    b.spec.desired_state = image_state::staged;
    b.status.booted = booted('a');
    world.bootc_nodes.push_back(&b);
    return b;
  }
  bootc_node& member(const std::string& name, unit_state state) {
    node(name);
    bootc_node& b = object(name);
    report(b, state);
    return b;
  }
  /// The same in a slot, cordoned by us.
  bootc_node& slotted(const std::string& name, unit_state state) {
    bootc_node& b = member(name, state);
    take_slot(b);
    nodes_.back().unschedulable = true;
    return b;
  }
  static void take_slot(bootc_node& b, const char* was_cordoned = "false") {
    b.meta.annotations = with(with(b.meta.annotations, std::string(names::in_reboot_slot), ""),
                              std::string(names::was_cordoned), was_cordoned);
  }
  static void report(bootc_node& b, unit_state state) {
    const auto idle = [&](const char* status, const char* reason) {
      b.status.conditions = {cond("Idle", status, reason), cond("Degraded", "False", "Healthy")};
    };
    switch (state) {
      case unit_state::up_to_date:
        b.status.booted = booted('b');
        idle("True", "Idle");
        break;
      case unit_state::pending: idle("True", "Idle"); break;
      case unit_state::staging: idle("False", "Staging"); break;
      case unit_state::staged:
        b.status.staged = booted('b');
        idle("False", "Staged");
        break;
      case unit_state::rebooting:
        b.status.staged = booted('b');
        idle("False", "Rebooting");
        break;
      case unit_state::degraded:
        b.status.conditions = {cond("Idle", "True", "Idle"),
                               cond("Degraded", "True", "Error", "it broke")};
        break;
      case unit_state::unclassified: break;
    }
  }
  drain_progress& drain(const std::string& name, drain_progress::phase state) {
    drain_progress& d = world.drains[name];
    d.state = state;
    d.image = image_of('b');
    return d;
  }
  k8s::node& node_named(std::string_view name) {
    for (auto& n : nodes_)
      if (n.meta.name == name) return n;
    std::abort();
  }

  rollout_plan plan() const {
    pool_world sorted = world;
    const auto by_name = [](const auto* a, const auto* b) { return a->meta.name < b->meta.name; };
    std::sort(sorted.nodes.begin(), sorted.nodes.end(), by_name);
    std::sort(sorted.bootc_nodes.begin(), sorted.bootc_nodes.end(), by_name);
    return plan_rollout(sorted);
  }

  pool_world world;

private:
  std::deque<k8s::node> nodes_;
  std::deque<bootc_node> objects_;
};

/// "take slot w1, cordon Node w1": the plan as a sentence.
inline std::string steps(const rollout_plan& plan) {
  std::string out;
  for (const action& a : plan.actions) {
    if (!out.empty()) out += ", ";
    out += text(a.kind);
    if (!a.node.empty()) out += " " + a.node;
  }
  return out;
}

/// "w1:slot-full w2:staging"
inline std::string held(const rollout_plan& plan) {
  std::string out;
  for (const hold& h : plan.holds) {
    if (!out.empty()) out += " ";
    out += h.unit + ":" + std::string(h.code);
  }
  return out;
}

inline std::string degraded_of(const node_pool_status& s) {
  const condition* c = find_condition(s.conditions, "Degraded");
  return c ? c->status + "/" + c->reason + "/" + c->message : "none";
}
inline std::string up_to_date_of(const node_pool_status& s) {
  const condition* c = find_condition(s.conditions, "UpToDate");
  return c ? c->status + "/" + c->reason + "/" + c->message : "none";
}

}  // namespace bootc::testing
