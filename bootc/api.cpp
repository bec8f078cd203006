#include "bootc/api.hpp"

#include "bootc/kinds/conditions.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/coexistence/published_policy.hpp"
#include "bootc/pool/events/events.hpp"
#include "bootc/pool/guard/guarded.hpp"
#include "bootc/pool/hold.hpp"
#include "bootc/pool/metric_table.hpp"
#include "bootc/pool/pack_rollout_policy.hpp"
#include "bootc/registry_settings.hpp"
#include "bootc/tags/image_versions.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "formats/digest.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/disruption.hpp"
#include "policies/rollout.hpp"
#include "policies/versions.hpp"
#include "reactor/loop.hpp"
#include "registry/image_ref.hpp"
#include "registry/web.hpp"

#include <boost/json/object.hpp>

#include <cstdlib>
#include <map>
#include <utility>

namespace bootc {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view api_name = "bootc";

class running final : public units::running_api {
public:
  running(const units::api_environment& h, const settings& s)
      : environment_(h),
        web_(h.loop,
             [](std::string_view name) {
               const char* value = std::getenv(std::string(name).c_str());
               return std::string(value ? value : "");
             }),
        reader_(h.loop, web_, s.registries),
        operator_ns_(s.operator_ns),
        identity_(s.identity),
        assumed_(s.assumed),
        tags_(h.loop, s.tags ? *s.tags : reader_, {.interval = s.tag_interval}, h.log),
        images_(h.loop, s.tags ? *s.tags : reader_, s.kubernetes_labels, h.log),
        rows_(h.metrics, std::string(api_name)),
        policy_(h.loop, h.packs,
                {.labels_of = [this](const std::string& name) { return labels_of(name); },
                 .clusters = [this](const std::string& pool) { return elsewhere(pool); },
                 .guards =
                     [this](std::string cluster, std::string named) {
                       return guards_of(std::move(cluster), std::move(named));
                     },
                 .signals = h.signals}),
        published_(policy_) {}

  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    bootc_cluster::options o;
    o.policy = &policy_;
    if (environment_.does == units::mode::look && environment_.shows == units::verdicts::published)
      o.policy = &published_;
    o.tags = &tags_;
    o.images = &images_;
    o.assumed = assumed_;
    o.operator_ns = o.lease_ns = operator_ns_;
    o.identity = identity_;
    if (environment_.own_pod_uid) o.own_pod_uid = environment_.own_pod_uid();
    o.metrics = &environment_.metrics;
    o.rows = &rows_;
    o.does = environment_.does;
    o.limits = environment_.limits;
    o.brake = units::brake_on(environment_, std::string(api_name), on);
    if (environment_.gates) o.gate = environment_.gates(on);
    return start_on(on, std::move(o));
  }

private:
  k8s::string_map labels_of(const std::string& cluster) const {
    const k8s::cluster* c = environment_.fleet.find(cluster);
    return c ? c->labels() : k8s::string_map();
  }

  /// What the pool of that name does on the clusters that have one.
  const std::vector<policies::rollout_cluster>& elsewhere(const std::string& pool) {
    // Policies are asked often and a fleet is large: a summary serves for a second.
    if (environment_.loop.now() - summarised_at_ >= 1s) {
      summarised_at_ = environment_.loop.now();
      summaries_.clear();
    }
    const auto [summary, fresh] = summaries_.try_emplace(pool);
    if (!fresh) return summary->second;
    for (k8s::cluster* c : environment_.fleet.clusters()) {
      const bootc_cluster* part = bootc_part(*c);
      const node_pool* found = part ? part->pool(pool) : nullptr;
      if (!found) continue;
      policies::rollout_cluster one;
      one.name = c->name();
      one.cluster_labels = c->labels();
      one.target = found->status.target_digest;
      one.units = static_cast<std::uint64_t>(found->status.node_count);
      one.updated = static_cast<std::uint64_t>(found->status.updated_count);
      one.degraded = static_cast<std::uint64_t>(found->status.degraded_count);
      one.slotted = part->slotted(pool);
      one.updated_at = updated_since(found->status);
      summary->second.push_back(std::move(one));
    }
    return summary->second;
  }

  /// Policies are asked often; what was seen serves for a few seconds.
  reactor::awaitable<std::vector<policies::guarded_object>> guards_of(std::string cluster,
                                                                      std::string named) {
    const reactor::steady_time now = environment_.loop.now();
    std::erase_if(guards_, [&](const auto& one) { return now - one.second.seen_at >= 5s; });
    const std::pair<std::string, std::string> key(cluster, named);
    if (const auto known = guards_.find(key); known != guards_.end()) co_return known->second.are;
    k8s::cluster* c = environment_.fleet.find(cluster);
    if (!c) co_return std::vector<policies::guarded_object>();
    auto seen = co_await look_at_guarded(c->api(), std::move(named));
    guards_[key] = {seen, environment_.loop.now()};
    co_return seen;
  }

  static double updated_since(const node_pool_status& status) {
    for (const condition& c : status.conditions) {
      if (c.type != pool_condition::up_to_date || !c.is_true()) continue;
      const auto since = reactor::parse_rfc3339(c.last_transition_time);
      if (since) return policies::unix_seconds(*since);
    }
    return 0;
  }

  units::api_environment environment_;
  registry::web web_;
  registry::tag_reader reader_;
  std::string operator_ns_, identity_;
  std::shared_ptr<const units::assumed_targets> assumed_;
  tag_watcher tags_;
  image_versions images_;
  units::row_budget rows_;
  pack_rollout_policy policy_;
  published_policy published_;
  std::map<std::string, std::vector<policies::rollout_cluster>> summaries_;
  reactor::steady_time summarised_at_{};
  struct guards {
    std::vector<policies::guarded_object> are;
    reactor::steady_time seen_at{};
  };
  // By cluster and what its pool names.
  std::map<std::pair<std::string, std::string>, guards> guards_;
};

/// The flags are the command's own (`plan --image`); others leave the object empty.
units::api_setup declare_assumption(app::flags& f) {
  const std::shared_ptr<const units::assumed_targets> assumed =
      f.shared<units::assumed_targets>([](units::assumed_targets&) {});
  return [assumed](units::api& to, const units::process_facts&) -> reactor::result<void> {
    if (assumed->by_row.empty()) return {};
    settings s;
    set_lookup(s, assumed->registries);
    set_labels(s, {});
    s.assumed = assumed;
    set_up(to, std::move(s));
    return {};
  };
}

boost::json::object pause_patch(bool paused) {
  boost::json::object rollout{{"paused", paused}};
  boost::json::object spec{{"rollout", std::move(rollout)}};
  return boost::json::object{{"spec", std::move(spec)}};
}

reactor::result<boost::json::object> retarget_patch(const std::string& ref) {
  const auto wrong = [&](const std::string& why) {
    return reactor::make_fault(reactor::errc::malformed, "image \"" + ref + "\"", why);
  };
  auto read = registry::parse_image_ref(ref);
  if (!read) return wrong(read.error().detail);
  boost::json::object image{{"ref", ref}};
  boost::json::object spec{{"image", std::move(image)}};
  return boost::json::object{{"spec", std::move(spec)}};
}

reactor::result<boost::json::object> approve_patch(const std::string& digest) {
  if (!formats::is_digest(digest))
    return reactor::make_fault(reactor::errc::malformed, "digest \"" + digest + "\"",
                               "expected sha256: and 64 hexadecimal digits in lower case");
  boost::json::object annotations{{names::approve_digest, digest}};
  boost::json::object metadata;
  metadata["annotations"] = std::move(annotations);
  boost::json::object patch;
  patch["metadata"] = std::move(metadata);
  return patch;
}

}  // namespace

units::api api(settings s) {
  units::api a;
  a.name = api_name;
  a.says = {"pool", "pools", "node", "nodes"};
  a.kinds = {node_pools(), bootc_nodes()};
  a.unit_kind = k8s::resources::nodes();
  a.remedy = "kubectl apply --server-side -f deploy/crds";
  a.watches = "node pools";
  a.loads = "node pools and nodes";
  a.lease = names::lease;
  a.lease_ns = "bootc-operator";
  a.holds.assign(hold_code::of_nodes.begin(), hold_code::of_nodes.end());
  a.events.assign(hold_event::table.begin(), hold_event::table.end());
  a.conditions.assign(pool_conditions.begin(), pool_conditions.end());
  a.conditions.insert(a.conditions.end(), node_conditions.begin(), node_conditions.end());
  a.metrics.assign(node_metrics::all.begin(), node_metrics::all.end());
  a.edit = units::api::edits{node_pools(), pause_patch, retarget_patch, approve_patch};
  a.hooks = {policies::versions_hook(), policies::rollout_hook(), policies::disruption_hook()};
  a.settings = declare_assumption;
  a.service_settings = declare_registries;
  set_up(a, std::move(s));
  return a;
}

void set_up(units::api& to, settings s) {
  to.make = [s = std::move(s)](const units::api_environment& h) {
    return std::make_unique<running>(h, s);
  };
}

k8s::cluster_api engage_bootc(bootc_cluster::options o) {
  const units::api a = api();
  return units::engaging(a, a.kinds, [o = std::move(o)](k8s::engagement& on) {
    return std::unique_ptr<units::cluster_controller>(start_on(on, o));
  });
}

bootc_cluster* bootc_part(const k8s::cluster& c) noexcept {
  return dynamic_cast<bootc_cluster*>(c.part(api_name));
}

}  // namespace bootc
