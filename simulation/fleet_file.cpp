#include "simulation/fleet_file.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace simulation {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::size_t most_bytes = 64 * 1024, most_clusters = 100, fewest_nodes = 3,
                      most_nodes = 200, most_nodes_in_all = 2'000, most_labels = 50,
                      most_tenants = 20, most_trustees = 20;
constexpr reactor::nanoseconds longest = 24h * 7;

std::string shown(const json::value& v) {
  if (v.is_object()) return "a mapping";
  if (v.is_array()) return "a list";
  if (v.is_string()) return "'" + reactor::printable(v.get_string(), 40) + "'";
  return json::serialize(v);
}

std::string at(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

/// Reads on after a mistake and keeps the first.
class reader {
public:
  const std::string& why() const noexcept { return why_; }

  fleet_plan fleet(const json::value& v) {
    fleet_plan plan;
    const json::object& o =
        mapping("the fleet", v, {"clusters", "faults", "disturbed", "patience", "hosts"});
    const json::value* clusters = o.if_contains("clusters");
    if (!clusters) {
      refuse("clusters", "is missing");
      return plan;
    }
    if (!clusters->is_array() || clusters->get_array().empty()) {
      refuse("clusters", "expected a list of clusters, got " + shown(*clusters));
      return plan;
    }
    std::size_t i = 0, nodes = 0;
    std::set<std::string> names;
    for (const json::value& c : clusters->get_array()) {
      const std::string path = "clusters[" + std::to_string(i++) + "]";
      const std::size_t before = plan.clusters.size();
      read_cluster(path, c, plan.clusters);
      for (std::size_t j = before; j < plan.clusters.size(); ++j) {
        if (!names.insert(plan.clusters[j].name).second)
          refuse(at(path, "name"), "there is another cluster named " + plan.clusters[j].name);
        nodes += plan.clusters[j].nodes;
      }
      if (plan.clusters.size() > most_clusters) refuse(path, "more than 100 clusters");
      if (nodes > most_nodes_in_all) refuse(path, "more than 2000 nodes in all");
      if (!why_.empty()) return plan;
    }
    if (const json::value* f = o.if_contains("faults")) {
      if (!f->is_array()) {
        refuse("faults", "expected a list of faults, got " + shown(*f));
        return plan;
      }
      plan.faults.clear();
      i = 0;
      for (const json::value& one : f->get_array()) {
        const std::string path = "faults[" + std::to_string(i++) + "]";
        const std::string name = one.is_int64() ? std::to_string(one.get_int64()) : text(path, one);
        const auto known = trouble_named(name);
        if (known)
          plan.faults.insert(*known);
        else
          refuse(path,
                 "there is no fault " + shown(one) + "; there are " + names_of(all_troubles()));
      }
    }
    if (const json::value* d = o.if_contains("disturbed"))
      plan.disturbed_for = duration("disturbed", *d);
    if (const json::value* d = o.if_contains("patience")) plan.patience = duration("patience", *d);
    if (const json::value* h = o.if_contains("hosts")) {
      const json::object& hosts = mapping("hosts", *h, {"stage", "reboot"});
      if (const json::value* d = hosts.if_contains("stage"))
        plan.stage_time = duration("hosts.stage", *d);
      if (const json::value* d = hosts.if_contains("reboot"))
        plan.reboot_time = duration("hosts.reboot", *d);
    }
    return plan;
  }

private:
  void refuse(const std::string& path, const std::string& why) {
    if (why_.empty()) why_ = path + ": " + why;
  }

  const json::object& mapping(const std::string& path, const json::value& v,
                              std::initializer_list<std::string_view> known) {
    static const json::object nothing;
    if (!v.is_object()) {
      refuse(path, "expected a mapping, got " + shown(v));
      return nothing;
    }
    for (const auto& member : v.get_object()) {
      const std::string_view key = member.key();
      if (known.size() == 0 || std::ranges::find(known, key) != known.end()) continue;
      std::string names;
      for (const std::string_view k : known) names += (names.empty() ? "" : ", ") + std::string(k);
      refuse(path, "unknown field '" + reactor::printable(key, 40) + "'; known are " + names);
    }
    return v.get_object();
  }

  std::size_t number(const std::string& path, const json::value& v, std::size_t least,
                     std::size_t most) {
    const bool whole = v.is_int64() && v.get_int64() >= static_cast<std::int64_t>(least) &&
                       v.get_int64() <= static_cast<std::int64_t>(most);
    if (!whole) {
      refuse(path, "expected a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most) + ", got " + shown(v));
      return least;
    }
    return static_cast<std::size_t>(v.get_int64());
  }

  std::string text(const std::string& path, const json::value& v) {
    if (v.is_string()) return std::string(v.get_string());
    refuse(path, "expected a text, got " + shown(v));
    return {};
  }

  reactor::nanoseconds duration(const std::string& path, const json::value& v) {
    const std::string t = text(path, v);
    std::int64_t n = 0;
    const auto [end, code] = std::from_chars(t.data(), t.data() + t.size(), n);
    const std::string_view unit(end, t.data() + t.size());
    const reactor::nanoseconds one = unit == "s" ? 1s : unit == "m" ? 1min : unit == "h" ? 1h : 0ns;
    if (code != std::errc() || one == 0ns || n < 0 || n > longest / std::max(one, 1ns))
      refuse(path, "expected a time such as 90s, 5m or 2h, up to a week, got " + shown(v));
    return n < 0 || n > longest / 1s ? longest : std::min(longest, n * one);
  }

  /// DNS label: also the host name of its API server.
  std::string cluster_name(const std::string& path, const json::value& v) {
    const std::string name = text(path, v);
    const bool fine = !name.empty() && name.size() <= 50 && name.front() != '-' &&
                      name.back() != '-' && std::ranges::all_of(name, [](char c) {
                        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                      });
    if (!fine || name == "home")
      refuse(path,
             "expected a name of lower-case letters, digits and '-', 50 at most and not "
             "'home', got " +
                 shown(v));
    return name;
  }

  std::map<std::string, std::string> labels(const std::string& path, const json::value& v) {
    std::map<std::string, std::string> out;
    const json::object& all = mapping(path, v, {});
    if (all.size() > most_labels) refuse(path, "more than 50 labels");
    for (const auto& member : all) {
      const std::string key(member.key());
      const std::string where = path + "[\"" + reactor::printable(key, 60) + "\"]";
      const std::string value = text(where, member.value());
      if (key.empty() || key.size() > 317 || value.size() > 63)
        refuse(where, "is no label: a value has 63 characters at most");
      out.emplace(key, value);
    }
    return out;
  }

  std::string amount(const std::string& path, const json::value& v) {
    if (v.is_int64()) return std::to_string(number(path, v, 1, most_nodes));
    const std::string t = v.is_string() ? std::string(v.get_string()) : std::string();
    int percent = 0;
    const auto [end, code] = std::from_chars(t.data(), t.data() + t.size(), percent);
    if (code != std::errc() || std::string_view(end, t.data() + t.size()) != "%" || percent < 1 ||
        percent > 100)
      refuse(path, "expected a number from 1 or a share such as 25%, got " + shown(v));
    return t;
  }

  void read_cluster(const std::string& path, const json::value& v,
                    std::vector<fleet_cluster>& into) {
    const json::object& o = mapping(
        path, v,
        {"name", "count", "nodes", "maxUnavailable", "labels", "pool", "tenants", "trustees"});
    fleet_cluster c;
    std::size_t count = 0;
    const json::value* name = o.if_contains("name");
    if (!name) return refuse(at(path, "name"), "is missing");
    c.name = cluster_name(at(path, "name"), *name);
    if (const json::value* n = o.if_contains("count"))
      count = number(at(path, "count"), *n, 1, most_clusters);
    if (const json::value* n = o.if_contains("nodes"))
      c.nodes = number(at(path, "nodes"), *n, fewest_nodes, most_nodes);
    if (const json::value* n = o.if_contains("tenants"))
      c.tenants = number(at(path, "tenants"), *n, 0, most_tenants);
    if (const json::value* n = o.if_contains("trustees"))
      c.trustees = number(at(path, "trustees"), *n, 0, most_trustees);
    if (const json::value* n = o.if_contains("maxUnavailable"))
      c.max_unavailable = amount(at(path, "maxUnavailable"), *n);
    if (const json::value* l = o.if_contains("labels")) c.labels = labels(at(path, "labels"), *l);
    if (const json::value* p = o.if_contains("pool")) {
      const std::string inner = at(path, "pool");
      const json::object& pool = mapping(inner, *p, {"labels", "policy"});
      if (const json::value* l = pool.if_contains("labels"))
        c.pool_labels = labels(at(inner, "labels"), *l);
      if (const json::value* n = pool.if_contains("policy"))
        c.policy = text(at(inner, "policy"), *n);
    }
    if (count == 0) {
      into.push_back(std::move(c));
      return;
    }
    for (std::size_t i = 1; i <= count; ++i) {
      fleet_cluster one = c;
      one.name += "-" + std::to_string(i);
      into.push_back(std::move(one));
      if (into.size() > most_clusters) return;
    }
  }

  std::string why_;
};

}  // namespace

bool with_tenants(const fleet_plan& fleet) {
  return std::ranges::any_of(fleet.clusters, [](const fleet_cluster& c) { return c.tenants > 0; });
}

bool with_trustees(const fleet_plan& fleet) {
  return std::ranges::any_of(fleet.clusters, [](const fleet_cluster& c) { return c.trustees > 0; });
}

fleet_plan usual_fleet(std::size_t clusters, std::size_t nodes, lodgers each) {
  fleet_plan plan;
  for (std::size_t i = 0; i < clusters; ++i) {
    fleet_cluster c;
    c.name = "cluster-" + std::to_string(i + 1);
    c.nodes = nodes;
    c.tenants = each.tenants;
    c.trustees = each.trustees;
    if (c.tenants > 0) c.labels["mesh.openkcm.io/wave"] = std::to_string(i / 2);
    plan.clusters.push_back(std::move(c));
  }
  return plan;
}

reactor::result<fleet_plan> read_fleet(std::string_view yaml, std::string_view source) {
  const std::string doing = "read fleet " + std::string(source);
  if (yaml.size() > most_bytes)
    return reactor::make_fault(reactor::errc::limit, doing, "more than 64 KiB");
  auto read_text = formats::parse_kubernetes_yaml(yaml, source);
  if (!read_text) return read_text.error();
  reader r;
  fleet_plan plan = r.fleet(*read_text);
  if (!r.why().empty()) return reactor::make_fault(reactor::errc::malformed, doing, r.why());
  return plan;
}

}  // namespace simulation
