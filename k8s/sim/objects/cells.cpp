#include "k8s/sim/objects/cells.hpp"

#include "formats/human_duration.hpp"
#include "k8s/sim/objects/selector.hpp"

#include <algorithm>
#include <set>

namespace k8s::sim {

namespace {

using cell_function = std::function<json::array(const json::object&, reactor::wall_time)>;

std::string or_none(std::string_view s, std::string_view otherwise = "<none>") {
  return std::string(s.empty() ? otherwise : s);
}

std::string name_of(const json::object& o) {
  return std::string(text(o, {"metadata", "name"}));
}
std::string age_of(const json::object& o, reactor::wall_time now) {
  return age(text(o, {"metadata", "creationTimestamp"}), now);
}

std::string joined_labels(const json::object* labels) {
  if (!labels || labels->empty()) return "<none>";
  std::vector<std::string> all;
  for (const auto& [k, v] : *labels) {
    all.push_back(std::string(k) + "=" +
                  (v.is_string() ? std::string(v.get_string()) : json::serialize(v)));
  }
  std::sort(all.begin(), all.end());
  std::string out;
  for (const std::string& s : all) out += (out.empty() ? "" : ",") + s;
  return out;
}

std::string selector_text(const json::object* selector) {
  if (!selector || selector->empty()) return "<none>";
  std::string out = joined_labels(find_object(*selector, {"matchLabels"}));
  const json::array* expressions = find_array(*selector, {"matchExpressions"});
  if (!expressions || expressions->empty()) return out;
  if (out == "<none>") out.clear();
  for (const json::value& v : *expressions) {
    if (!v.is_object()) continue;
    const json::object& e = v.get_object();
    std::string key(text(e, {"key"})), values;
    if (const json::array* list = find_array(e, {"values"})) {
      for (const json::value& each : *list) {
        values +=
            (values.empty() ? "" : ",") + (each.is_string() ? std::string(each.get_string()) : "");
      }
    }
    std::string_view op = text(e, {"operator"});
    std::string term = op == "Exists"         ? key
                       : op == "DoesNotExist" ? "!" + key
                       : op == "NotIn"        ? key + " notin (" + values + ")"
                                              : key + " in (" + values + ")";
    out += (out.empty() ? "" : ",") + term;
  }
  return out;
}

std::pair<std::string, std::string> containers_of(const json::object& o) {
  std::string names, images;
  if (const json::array* all = find_array(o, {"spec", "template", "spec", "containers"})) {
    for (const json::value& c : *all) {
      if (!c.is_object()) continue;
      names += (names.empty() ? "" : ",") + std::string(text(c.get_object(), {"name"}));
      images += (images.empty() ? "" : ",") + std::string(text(c.get_object(), {"image"}));
    }
  }
  return {names, images};
}

json::array node_cells(const json::object& o, reactor::wall_time now) {
  std::string status;
  if (const json::array* conditions = find_array(o, {"status", "conditions"})) {
    for (const json::value& c : *conditions) {
      if (!c.is_object() || text(c.get_object(), {"type"}) != "Ready") continue;
      status = text(c.get_object(), {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  if (status.empty()) status = "Unknown";
  if (flag(o, {"spec", "unschedulable"})) status += ",SchedulingDisabled";
  std::set<std::string> roles;
  if (const json::object* labels = find_object(o, {"metadata", "labels"})) {
    for (const auto& [k, v] : *labels) {
      std::string_view key = k;
      constexpr std::string_view prefix = "node-role.kubernetes.io/";
      if (key.starts_with(prefix) && key.size() > prefix.size())
        roles.insert(std::string(key.substr(prefix.size())));
      else if (key == "kubernetes.io/role" && v.is_string() && !v.get_string().empty()) {
        roles.insert(std::string(v.get_string()));
      }
    }
  }
  std::string role_text;
  for (const std::string& r : roles) role_text += (role_text.empty() ? "" : ",") + r;
  auto address = [&](std::string_view type) {
    if (const json::array* all = find_array(o, {"status", "addresses"})) {
      for (const json::value& a : *all) {
        if (a.is_object() && text(a.get_object(), {"type"}) == type) {
          return std::string(text(a.get_object(), {"address"}));
        }
      }
    }
    return std::string("<none>");
  };
  return {json::value(name_of(o)),
          json::value(status),
          json::value(or_none(role_text)),
          json::value(age_of(o, now)),
          json::value(text(o, {"status", "nodeInfo", "kubeletVersion"})),
          json::value(address("InternalIP")),
          json::value(address("ExternalIP")),
          json::value(or_none(text(o, {"status", "nodeInfo", "osImage"}), "<unknown>")),
          json::value(or_none(text(o, {"status", "nodeInfo", "kernelVersion"}), "<unknown>")),
          json::value(
              or_none(text(o, {"status", "nodeInfo", "containerRuntimeVersion"}), "<unknown>"))};
}

json::array pod_cells(const json::object& o, reactor::wall_time now) {
  std::size_t total = 0;
  if (const json::array* c = find_array(o, {"spec", "containers"})) total = c->size();
  std::int64_t ready = 0, restarts = 0;
  std::string reason(text(o, {"status", "phase"}));
  if (std::string_view why = text(o, {"status", "reason"}); !why.empty()) reason = std::string(why);
  bool running = false;
  std::string last_restart;
  if (const json::array* all = find_array(o, {"status", "containerStatuses"})) {
    for (std::size_t i = all->size(); i-- > 0;) {
      if (!(*all)[i].is_object()) continue;
      const json::object& s = (*all)[i].get_object();
      restarts += number(s, {"restartCount"});
      if (std::string_view at = text(s, {"lastState", "terminated", "finishedAt"}); !at.empty())
        last_restart = at;
      if (std::string_view w = text(s, {"state", "waiting", "reason"}); !w.empty()) {
        reason = std::string(w);
      } else if (const json::object* t = find_object(s, {"state", "terminated"})) {
        std::string_view tr = text(*t, {"reason"});
        reason =
            !tr.empty() ? std::string(tr) : "ExitCode:" + std::to_string(number(*t, {"exitCode"}));
      } else if (flag(s, {"ready"}) && find_object(s, {"state", "running"})) {
        running = true;
        ++ready;
      } else if (flag(s, {"ready"})) {
        ++ready;
      }
    }
  }
  if (reason == "Completed" && running) reason = "Running";
  if (!text(o, {"metadata", "deletionTimestamp"}).empty()) {
    reason = text(o, {"status", "reason"}) == "NodeLost" ? "Unknown" : "Terminating";
  }
  std::string restarts_text = std::to_string(restarts);
  if (restarts > 0 && !last_restart.empty())
    restarts_text += " (" + age(last_restart, now) + " ago)";
  std::string gates = "<none>";
  if (const json::array* wanted = find_array(o, {"spec", "readinessGates"});
      wanted && !wanted->empty()) {
    std::size_t met = 0;
    const json::array* conditions = find_array(o, {"status", "conditions"});
    for (const json::value& g : *wanted) {
      for (std::size_t i = 0; g.is_object() && conditions && i < conditions->size(); ++i) {
        const json::object* c = (*conditions)[i].if_object();
        if (c && text(*c, {"type"}) == text(g.get_object(), {"conditionType"}) &&
            text(*c, {"status"}) == "True")
          ++met;
      }
    }
    gates = std::to_string(met) + "/" + std::to_string(wanted->size());
  }
  return {json::value(name_of(o)),
          json::value(std::to_string(ready) + "/" + std::to_string(total)),
          json::value(reason),
          json::value(restarts_text),
          json::value(age_of(o, now)),
          json::value(or_none(text(o, {"status", "podIP"}))),
          json::value(or_none(text(o, {"spec", "nodeName"}))),
          json::value(or_none(text(o, {"status", "nominatedNodeName"}))),
          json::value(gates)};
}

json::array event_cells(const json::object& any, reactor::wall_time now) {
  // Either group's spelling.
  auto field = [&](std::string_view core, std::string_view other) {
    const json::value* v = any.if_contains(core);
    return v ? v : any.if_contains(other);
  };
  auto text_of = [&](std::string_view core, std::string_view other) {
    const json::value* v = field(core, other);
    return v && v->is_string() ? std::string(v->get_string()) : std::string();
  };
  std::string first = text_of("firstTimestamp", "deprecatedFirstTimestamp"),
              last = text_of("lastTimestamp", "deprecatedLastTimestamp"),
              event_time(text(any, {"eventTime"}));
  if (first.empty()) first = event_time;
  if (std::string_view seen = text(any, {"series", "lastObservedTime"}); !seen.empty())
    last = std::string(seen);
  if (last.empty()) last = first;
  std::int64_t count = number(any, {"series", "count"});
  if (const json::value* n = field("count", "deprecatedCount"); count == 0 && n && n->is_int64())
    count = n->get_int64();
  if (count == 0) count = 1;
  static const json::object none;
  const json::value* about = field("involvedObject", "regarding");
  const json::object& object = about && about->is_object() ? about->get_object() : none;
  std::string kind(text(object, {"kind"}));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  std::string target = kind + "/" + std::string(text(object, {"name"}));
  const json::value* s = field("source", "deprecatedSource");
  std::string source(s && s->is_object() ? text(s->get_object(), {"component"})
                                         : std::string_view());
  if (source.empty()) source = text_of("reportingComponent", "reportingController");
  std::string host(s && s->is_object() ? text(s->get_object(), {"host"})
                                       : text(any, {"reportingInstance"}));
  if (!host.empty()) source += ", " + host;
  std::string message = text_of("message", "note");
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return {json::value(age(last, now)),
          json::value(text(any, {"type"})),
          json::value(text(any, {"reason"})),
          json::value(target),
          json::value(text(object, {"fieldPath"})),
          json::value(source),
          json::value(message),
          json::value(age(first, now)),
          json::value(count),
          json::value(name_of(any))};
}

json::array daemon_set_cells(const json::object& o, reactor::wall_time now) {
  auto [names, images] = containers_of(o);
  return {json::value(name_of(o)),
          json::value(number(o, {"status", "desiredNumberScheduled"})),
          json::value(number(o, {"status", "currentNumberScheduled"})),
          json::value(number(o, {"status", "numberReady"})),
          json::value(number(o, {"status", "updatedNumberScheduled"})),
          json::value(number(o, {"status", "numberAvailable"})),
          json::value(joined_labels(find_object(o, {"spec", "template", "spec", "nodeSelector"}))),
          json::value(age_of(o, now)),
          json::value(names),
          json::value(images),
          json::value(selector_text(find_object(o, {"spec", "selector"})))};
}

std::string ready_of(const json::object& o, std::string_view ready) {
  return std::to_string(number(o, {"status", ready})) + "/" +
         std::to_string(number(o, {"spec", "replicas"}));
}

/// Where a Service is reached from outside.
std::string external_address(const json::object& o) {
  std::string out;
  const auto add = [&out](std::string_view one) {
    if (!one.empty()) (out += out.empty() ? "" : ",") += one;
  };
  const std::string_view type = text(o, {"spec", "type"});
  if (type == "ExternalName") add(text(o, {"spec", "externalName"}));
  const json::array* given = find_array(o, {"status", "loadBalancer", "ingress"});
  if (type == "LoadBalancer" && given)
    for (const json::value& one : *given)
      if (one.is_object()) {
        const std::string_view ip = text(one.get_object(), {"ip"});
        add(ip.empty() ? text(one.get_object(), {"hostname"}) : ip);
      }
  if (const json::array* also = find_array(o, {"spec", "externalIPs"}))
    for (const json::value& one : *also)
      if (one.is_string()) add(one.get_string());
  return or_none(out, type == "LoadBalancer" ? "<pending>" : "<none>");
}

json::array service_cells(const json::object& o, reactor::wall_time now) {
  std::string ports;
  if (const json::array* all = find_array(o, {"spec", "ports"})) {
    for (const json::value& p : *all) {
      if (!p.is_object()) continue;
      std::string each = std::to_string(number(p.get_object(), {"port"}));
      if (std::int64_t node = number(p.get_object(), {"nodePort"}))
        each += ":" + std::to_string(node);
      ports += (ports.empty() ? "" : ",") + each + "/" +
               or_none(text(p.get_object(), {"protocol"}), "TCP");
    }
  }
  return {json::value(name_of(o)),
          json::value(text(o, {"spec", "type"})),
          json::value(or_none(text(o, {"spec", "clusterIP"}))),
          json::value(external_address(o)),
          json::value(or_none(ports)),
          json::value(age_of(o, now)),
          json::value(joined_labels(find_object(o, {"spec", "selector"})))};
}

json::array budget_cells(const json::object& o, reactor::wall_time now) {
  auto shown = [&](std::string_view field) {
    const json::value* v = find(o, {"spec", field});
    if (!v) return std::string("N/A");
    return v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
  };
  return {json::value(name_of(o)), json::value(shown("minAvailable")),
          json::value(shown("maxUnavailable")),
          json::value(number(o, {"status", "disruptionsAllowed"})), json::value(age_of(o, now))};
}

std::int64_t size_of(const json::object& o, std::string_view member) {
  const json::object* m = find_object(o, {member});
  return m ? static_cast<std::int64_t>(m->size()) : 0;
}

}  // namespace

std::string age(std::string_view since, reactor::wall_time now) {
  if (since.empty()) return "<unknown>";
  auto t = reactor::parse_rfc3339(since);
  return t ? formats::human_duration(now - *t) : "<invalid>";
}

cell_function cells_of(std::string_view group, std::string_view kind) {
  if (kind == "Node") return node_cells;
  if (kind == "Pod") return pod_cells;
  if (kind == "Event") return event_cells;
  if (kind == "DaemonSet") return daemon_set_cells;
  if (kind == "Service") return service_cells;
  if (kind == "PodDisruptionBudget") return budget_cells;
  if (kind == "Namespace") {
    return [](const json::object& o, reactor::wall_time now) {
      return json::array{json::value(name_of(o)), json::value(text(o, {"status", "phase"})),
                         json::value(age_of(o, now))};
    };
  }
  if (kind == "Secret") {
    return [](const json::object& o, reactor::wall_time now) {
      return json::array{json::value(name_of(o)), json::value(text(o, {"type"})),
                         json::value(size_of(o, "data")), json::value(age_of(o, now))};
    };
  }
  if (kind == "ConfigMap") {
    return [](const json::object& o, reactor::wall_time now) {
      return json::array{json::value(name_of(o)),
                         json::value(size_of(o, "data") + size_of(o, "binaryData")),
                         json::value(age_of(o, now))};
    };
  }
  if (kind == "Lease") {
    return [](const json::object& o, reactor::wall_time now) {
      return json::array{json::value(name_of(o)), json::value(text(o, {"spec", "holderIdentity"})),
                         json::value(age_of(o, now))};
    };
  }
  if (kind == "Deployment") {
    return [](const json::object& o, reactor::wall_time now) {
      auto [names, images] = containers_of(o);
      return json::array{json::value(name_of(o)),
                         json::value(ready_of(o, "readyReplicas")),
                         json::value(std::to_string(number(o, {"status", "updatedReplicas"}))),
                         json::value(std::to_string(number(o, {"status", "availableReplicas"}))),
                         json::value(age_of(o, now)),
                         json::value(names),
                         json::value(images),
                         json::value(selector_text(find_object(o, {"spec", "selector"})))};
    };
  }
  if (kind == "ReplicaSet") {
    return [](const json::object& o, reactor::wall_time now) {
      auto [names, images] = containers_of(o);
      return json::array{json::value(name_of(o)),
                         json::value(number(o, {"spec", "replicas"})),
                         json::value(number(o, {"status", "replicas"})),
                         json::value(number(o, {"status", "readyReplicas"})),
                         json::value(age_of(o, now)),
                         json::value(names),
                         json::value(images),
                         json::value(selector_text(find_object(o, {"spec", "selector"})))};
    };
  }
  if (kind == "StatefulSet") {
    return [](const json::object& o, reactor::wall_time now) {
      auto [names, images] = containers_of(o);
      return json::array{json::value(name_of(o)), json::value(ready_of(o, "readyReplicas")),
                         json::value(age_of(o, now)), json::value(names), json::value(images)};
    };
  }
  if (kind == "ControllerRevision") {
    return [](const json::object& o, reactor::wall_time now) {
      std::string controller = "<none>";
      if (const json::array* owners = find_array(o, {"metadata", "ownerReferences"})) {
        for (const json::value& r : *owners) {
          if (!r.is_object() || !flag(r.get_object(), {"controller"})) continue;
          controller = std::string(text(r.get_object(), {"kind"})) + "/" +
                       std::string(text(r.get_object(), {"name"}));
          std::transform(controller.begin(),
                         controller.begin() + static_cast<std::ptrdiff_t>(controller.find('/')),
                         controller.begin(), [](unsigned char c) { return std::tolower(c); });
        }
      }
      return json::array{json::value(name_of(o)), json::value(controller),
                         json::value(number(o, {"revision"})), json::value(age_of(o, now))};
    };
  }
  if (kind == "CustomResourceDefinition" && group == "apiextensions.k8s.io") {
    return [](const json::object& o, reactor::wall_time) {
      return json::array{json::value(name_of(o)),
                         json::value(text(o, {"metadata", "creationTimestamp"}))};
    };
  }
  return [](const json::object& o, reactor::wall_time now) {
    return json::array{json::value(name_of(o)), json::value(age_of(o, now))};
  };
}

}  // namespace k8s::sim
