#include "bench/fleet/puppets.hpp"

#include "reactor/loop.hpp"
#include "simulation/pool_cluster.hpp"

#include <boost/json.hpp>

#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr reactor::nanoseconds host_time = 1s, heartbeat = 5min;

json::object entry_of(const std::string& image) {
  return {{"image", image}, {"imageDigest", image.substr(image.find('@') + 1)}};
}

std::string text_at(const json::object& o, std::string_view outer, std::string_view inner) {
  const json::value* v = o.if_contains(outer);
  const json::value* text = v && v->is_object() ? v->get_object().if_contains(inner) : nullptr;
  return text && text->is_string() ? std::string(text->get_string()) : std::string();
}

}  // namespace

json::object reported_status(reactor::wall_time at, const std::string& booted, const char* idle,
                             const char* reason, const std::string& staged) {
  const auto condition = [&](const char* type, const char* status, const char* why) {
    return json::object{{"type", type},
                        {"status", status},
                        {"reason", why},
                        {"message", ""},
                        {"lastTransitionTime", reactor::format_rfc3339(at)}};
  };
  json::object status{{"booted", entry_of(booted)}};
  if (!staged.empty()) status["staged"] = entry_of(staged);
  json::array conditions;
  conditions.push_back(condition("Idle", idle, reason));
  conditions.push_back(condition("Degraded", "False", "Healthy"));
  status["conditions"] = std::move(conditions);
  return status;
}

puppets::puppets(reactor::loop& l, simulation::pool_cluster& c) : loop_(l), cluster_(c) {
  cluster_.on_write = [this](const k8s::sim::written& w) { saw(w); };
  std::size_t i = 0;
  const std::vector<std::string> names = cluster_.node_names();
  for (const std::string& node : names) {
    booted_[node] = simulation::old_image;
    const auto share = static_cast<std::int64_t>(++i) * heartbeat.count() /
                       static_cast<std::int64_t>(names.size());
    beat(node, reactor::nanoseconds(share));
  }
}

void puppets::later(reactor::nanoseconds d, std::function<void()> f) {
  loop_.timers().arm(loop_.now() + d, std::move(f));
}

/// As a kubelet reports when nothing has changed.
void puppets::beat(const std::string& node, reactor::nanoseconds in) {
  later(in, [this, node] {
    cluster_.api().edit("", "nodes", "", node, [&](json::object& o) {
      for (json::value& c : o["status"].as_object()["conditions"].as_array())
        c.as_object()["lastHeartbeatTime"] = reactor::format_rfc3339(loop_.wall());
    });
    beat(node, heartbeat);
  });
}

void puppets::saw(const k8s::sim::written& w) {
  if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted || !w.after) return;
  const std::string node(w.name), image = text_at(*w.after, "spec", "desiredImage"),
                                  state = text_at(*w.after, "spec", "desiredImageState");
  if (!booted_.contains(node)) return;
  std::string& known = asked_[node];
  const std::string now = image + state;
  if (known == now) return;
  known = now;
  if (image == booted_[node])
    later(host_time, [this, node] { report(node, "True", "Idle", {}); });
  else if (state == "Staged")
    later(host_time, [this, node, image] { report(node, "False", "Staged", image); });
  else
    later(host_time / 10, [this, node, image] { reboot(node, image); });
}

void puppets::reboot(const std::string& node, const std::string& image) {
  cluster_.node_down(node);
  later(host_time, [this, node, image] {
    booted_[node] = image;
    report(node, "True", "Idle", {});
    cluster_.node_up(node, loop_.random().uuid());
  });
}

void puppets::report(const std::string& node, const char* idle, const char* reason,
                     const std::string& staged) {
  cluster_.api().edit("node.bootc.dev", "bootcnodes", "", node, [&](json::object& o) {
    json::object status = reported_status(loop_.wall(), booted_[node], idle, reason, staged);
    if (const json::value* generation = o["metadata"].as_object().if_contains("generation"))
      status["observedGeneration"] = *generation;
    o["status"] = std::move(status);
  });
}

}  // namespace bench
