#include "simulation/tenant_invariants.hpp"

#include "formats/base64.hpp"
#include "formats/gzip.hpp"
#include "k8s/sim/objects/json.hpp"
#include "simulation/chart_repository.hpp"
#include "simulation/conditions.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace simulation {
namespace {

namespace json = boost::json;

constexpr std::string_view record_prefix = "sh.helm.release.v1.",
                           fingerprint_prefix = "mesh.openkcm.io/fingerprint-",
                           deployed = "deployed", uninstalled = "uninstalled";
constexpr std::size_t most_record_bytes = 1UL << 20;

bool is_pending(std::string_view status) {
  return status.starts_with("pending-");
}

/// Of the chart in a record, as Helm packs it: base64 of gzip of JSON, in a Secret's base64.
std::string chart_version_of(const json::object& secret) {
  const auto inner = formats::decode_base64(k8s::sim::text(secret, {"data", "release"}));
  const auto packed = inner ? formats::decode_base64(*inner) : std::nullopt;
  if (!packed) return {};
  const formats::unpacked text = formats::gunzip(*packed, most_record_bytes);
  boost::system::error_code bad;
  const json::value v = json::parse(text.text, bad);
  if (bad || !v.is_object()) return {};
  return std::string(k8s::sim::text(v.get_object(), {"chart", "metadata", "version"}));
}

}  // namespace

tenant_invariants::tenant_invariants(std::vector<place> clusters) {
  for (place& p : clusters) clusters_.emplace_back().at = std::move(p);
}

void tenant_invariants::ask_for(std::string version) {
  wanted_ = std::move(version);
  for (cluster_facts& c : clusters_) {
    c.unreached = c.gone;
    for (auto& [name, t] : c.tenants) t.asked = !t.deleting;
  }
}

void tenant_invariants::out_of_reach(std::size_t cluster) {
  clusters_[cluster].unreached = true;
}

void tenant_invariants::saw(std::size_t cluster, const k8s::sim::written& w) {
  cluster_facts& c = clusters_[cluster];
  if (w.plural == "tenants") return saw_tenant(c, w);
  if (w.plural == "secrets" && w.name.starts_with(record_prefix)) return saw_record(c, w);
  if (w.plural != "configmaps" || w.name != chart_repository::chart) return;
  if (w.type == k8s::sim::write_type::deleted)
    c.versions.erase(std::string(w.ns));
  else
    c.versions[std::string(w.ns)] = k8s::sim::text(*w.after, {"data", "version"});
}

void tenant_invariants::saw_tenant(cluster_facts& c, const k8s::sim::written& w) {
  const std::string name(w.name);
  if (w.type == k8s::sim::write_type::deleted) {
    const record* last = newest(c, name);
    if (last && last->status != uninstalled)
      violated(c, name, "is gone before its release, which is " + last->status);
    c.tenants.erase(name);
    return;
  }
  const auto [known, is_new] = c.tenants.try_emplace(name);
  tenant_facts& t = known->second;
  const json::object& o = *w.after;
  t.target = k8s::sim::text(o, {"spec", "clusterRef", "secretName"});
  t.deleting = !k8s::sim::text(o, {"metadata", "deletionTimestamp"}).empty();
  if (!c.is_meant(t)) {
    const json::object* status = k8s::sim::find_object(o, {"status"});
    if (status && !status->empty())
      violated(c, name, "names cluster " + t.target + " and has a status from here");
    return;
  }
  judge_fingerprint(c, name, t, o);
  judge_status(c, name, t, o);
}

void tenant_invariants::judge_fingerprint(cluster_facts& c, std::string_view name, tenant_facts& t,
                                          const json::object& o) {
  const std::string noted(
      k8s::sim::text(o, {"metadata", "annotations", std::string(fingerprint_prefix) + c.at.name}));
  if (noted == t.fingerprint) return;
  t.fingerprint = noted;
  if (noted.empty()) return;
  const record* last = newest(c, name);
  if (!last || last->status != deployed) {
    violated(c, name,
             "has a new fingerprint while its release is " + (last ? last->status : "not there"));
    return;
  }
  const auto [of, first] = version_of_.emplace(noted, last->version);
  if (of->second != last->version)
    violated(c, name,
             "has the fingerprint of version " + of->second + " while " + last->version +
                 " is deployed");
  if (!first) return;
  for (const auto& [other, version] : version_of_)
    if (other != noted && version == last->version)
      violated(c, name, "has another fingerprint than others with version " + version);
}

void tenant_invariants::judge_status(cluster_facts& c, std::string_view name, tenant_facts& t,
                                     const json::object& o) {
  t.phase = k8s::sim::text(o, {"status", "phase"});
  const json::object* says = condition_of(o, "ClusterReady/" + c.at.name);
  const std::string ready(says ? k8s::sim::text(*says, {"status"}) : std::string_view());
  const bool turned = ready == "True" && t.ready != "True";
  const bool changed = ready != t.ready;
  t.ready = ready;
  if (changed && c.gone) violated(c, name, "has a status from a service that has let go of it");
  if (!turned) return;
  const record* last = newest(c, name);
  if (!last || last->status != deployed)
    violated(c, name, "turns Ready while its release is " + (last ? last->status : "not there"));
}

void tenant_invariants::saw_record(cluster_facts& c, const k8s::sim::written& w) {
  const json::object& o = *w.after;
  const std::string tenant(w.ns), of(k8s::sim::text(o, {"metadata", "labels", "name"}));
  const int revision =
      std::atoi(std::string(k8s::sim::text(o, {"metadata", "labels", "version"})).c_str());
  if (w.type == k8s::sim::write_type::deleted) {
    const auto known = c.releases.find(tenant);
    if (known == c.releases.end()) return;
    known->second.records.erase(revision);
    if (known->second.records.empty()) c.releases.erase(known);
    return;
  }
  if (c.gone) violated(c, tenant, "has a record from a service that has let go of it");
  const auto whose = c.tenants.find(tenant);
  if (whose == c.tenants.end())
    violated(c, tenant, "has a release and is not there");
  else if (!c.is_meant(whose->second))
    violated(c, tenant, "names cluster " + whose->second.target + " and has a release here");
  if (of != "tenant-" + tenant + "-" + c.at.name) violated(c, tenant, "has a release " + of);
  release& r = c.releases[tenant];
  const bool comes = !r.records.contains(revision);
  const record* before = r.newest();
  // A first install that failed goes on with whatever is wanted then.
  const bool installed = before && whose != c.tenants.end() && !whose->second.fingerprint.empty();
  const std::string was = before ? before->version : std::string();
  record& is = r.records[revision];
  is.status = k8s::sim::text(o, {"metadata", "labels", "status"});
  if (is.version.empty()) is.version = chart_version_of(o);
  if (is.status == deployed) r.ever_deployed.insert(is.version);
  const auto count = [&](auto&& wanted) {
    return std::ranges::count_if(r.records, [&](const auto& one) { return wanted(one.second); });
  };
  if (count([](const record& one) { return one.status == deployed; }) > 1)
    violated(c, tenant, "has two deployed records");
  if (count([](const record& one) { return is_pending(one.status); }) > 1)
    violated(c, tenant, "has two pending records");
  const bool change = comes && installed && is.version == wanted_ && was != wanted_;
  if (change) judge_waves(c, tenant);
}

void tenant_invariants::judge_waves(const cluster_facts& c, const std::string& tenant) {
  for (const cluster_facts& earlier : clusters_) {
    if (earlier.at.wave >= c.at.wave || earlier.gone || earlier.unreached) continue;
    for (const auto& [name, t] : earlier.tenants) {
      if (!t.asked || t.deleting || !earlier.is_meant(t)) continue;
      const auto r = earlier.releases.find(name);
      if (r != earlier.releases.end() && r->second.ever_deployed.contains(wanted_)) continue;
      violated(c, tenant,
               "of wave " + std::to_string(c.at.wave) + " moves to " + wanted_ + ", which " + name +
                   " on " + earlier.at.name + " of wave " + std::to_string(earlier.at.wave) +
                   " has never had");
      return;
    }
  }
}

void tenant_invariants::saw_start() {
  for (cluster_facts& c : clusters_)
    for (auto& [tenant, r] : c.releases)
      for (auto& [revision, one] : r.records) one.inherited = is_pending(one.status);
}

void tenant_invariants::saw_stop() {
  for (const cluster_facts& c : clusters_) {
    if (c.gone) continue;
    for (const auto& [tenant, r] : c.releases)
      if (const record* last = r.newest(); last && is_pending(last->status) && !last->inherited)
        violated(c, tenant, "is left " + last->status + " by a service that ended in good order");
  }
}

void tenant_invariants::check_at_rest() {
  for (const cluster_facts& c : clusters_)
    for (const auto& [tenant, r] : c.releases)
      if (!c.tenants.contains(tenant)) violated(c, tenant, "is gone, and records of it are left");
}

const tenant_invariants::record* tenant_invariants::newest(const cluster_facts& c,
                                                           std::string_view tenant) {
  const auto r = c.releases.find(tenant);
  return r == c.releases.end() ? nullptr : r->second.newest();
}

std::string tenant_invariants::lacks(const cluster_facts& c, const std::string& name,
                                     const tenant_facts& t) const {
  if (t.deleting) return "is not gone";
  const record* last = newest(c, name);
  if (!last) return "has no release";
  if (last->status != deployed) return "is " + last->status;
  if (last->version != wanted_) return "has version " + last->version;
  const auto config = c.versions.find(name);
  if (config == c.versions.end() || config->second != wanted_) return "lacks its object";
  if (t.fingerprint.empty()) return "has no fingerprint";
  if (t.phase != "Ready") return "is " + (t.phase.empty() ? "without a phase" : t.phase);
  return {};
}

std::size_t tenant_invariants::tenants() const {
  std::size_t n = 0;
  for (const cluster_facts& c : clusters_)
    for (const auto& [name, t] : c.tenants) n += c.is_meant(t);
  return n;
}

std::size_t tenant_invariants::arrived() const {
  std::size_t n = 0;
  for (const cluster_facts& c : clusters_)
    for (const auto& [name, t] : c.tenants) n += c.is_meant(t) && lacks(c, name, t).empty();
  return n;
}

std::string tenant_invariants::unfinished() const {
  std::string out;
  for (const cluster_facts& c : clusters_)
    for (const auto& [name, t] : c.tenants) {
      const std::string why = c.is_meant(t) ? lacks(c, name, t) : std::string();
      if (!why.empty()) out += (out.empty() ? "" : "; ") + c.at.name + " " + name + " " + why;
    }
  return out;
}

void tenant_invariants::violated(const cluster_facts& c, std::string_view tenant,
                                 const std::string& sentence) {
  found(c.at.name + ": Tenant " + std::string(tenant) + " " + sentence);
}

}  // namespace simulation
