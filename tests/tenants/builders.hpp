#pragma once

#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "k8s/informer/view.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

/// Plain structs for table tests: a Tenant on a cluster, and what is known of it.
namespace helm::tenants::testing {

inline const reactor::wall_time noon = *reactor::parse_rfc3339("2026-11-22T12:00:00Z");

inline k8s::string_map with(const k8s::string_map& map, const std::string& key,
                            const std::string& value) {
  std::vector<k8s::string_map::member> members{{k8s::interned(key), k8s::interned(value)}};
  for (const auto& m : map)
    if (!(m.first == key)) members.push_back(m);
  return k8s::string_map(std::move(members));
}

/// A Tenant `acme` in `default`, taken care of under the name `a`: with finalizer and namespace,
/// without a release.
class situation {
public:
  situation() {
    tenant t;
    t.meta.name = "acme";
    t.meta.ns = "default";
    t.meta.uid = "00000000-0000-4000-8000-000000000001";
    t.meta.generation = 3;
    t.created = noon - std::chrono::hours(1);
    world.object = std::move(t);
    world.cluster = world.primary = "a";
    world.names_here = {"a"};
    world.discovery_ns = "fleet";
    world.wanted.chart = {"https://charts.example", "web", "1.2.0"};
    world.wanted.values = values_digest({});
    world.wanted.fingerprint = fingerprint(world.wanted.chart, {});
    world.workspace.is = workspace_facts::state::present;
    world.workspace.owner = "Tenant/default/acme";
    world.now = noon;
    finalizer(names::cleanup);
  }
  situation(const situation&) = delete;

  tenant& object() { return *world.object; }
  situation& finalizer(std::string_view name) {
    std::vector<k8s::interned> all;
    if (!name.empty()) all.emplace_back(name);
    object().meta.finalizers = k8s::shared_array<k8s::interned>(std::span(all));
    return *this;
  }
  situation& annotate(std::string_view key, const std::string& value) {
    object().meta.annotations = with(object().meta.annotations, std::string(key), value);
    return *this;
  }
  situation& noted() {
    return annotate(names::fingerprint_annotation(world.cluster), world.wanted.fingerprint);
  }
  release_facts& release(release::status state) {
    release_facts r;
    r.state = state;
    r.revision = 4;
    r.last_deployed = noon - std::chrono::hours(1);
    r.chart_name = "web";
    r.chart_version = "1.2.0";
    r.values = world.wanted.values;
    world.release = r;
    return *world.release;
  }
  situation& loaded() {
    world.chart.is = chart_facts::state::loaded;
    return *this;
  }
  situation& deleted() {
    object().meta.deletion_timestamp = noon;
    return *this;
  }
  tenant_plan plan() const { return plan_tenant(world); }

  tenant_world world;
};

inline std::string events_of(const tenant_plan& p) {
  std::string out;
  for (const told& e : p.events) out += (out.empty() ? "" : " ") + std::string(e.what.reason);
  return out;
}

inline std::string step_of(const tenant_plan& p) {
  return std::string(name_of(p.next));
}

inline std::string hold_of(const tenant_plan& p) {
  return p.hold ? p.hold->code : "";
}

}  // namespace helm::tenants::testing
