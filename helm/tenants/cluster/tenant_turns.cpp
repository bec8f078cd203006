// What the policy of waves is told of a cluster: its Tenants, and how far they are.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace helm::tenants {

bool tenant_cluster::is_change(const tenant& t, const tenant_world& w) const {
  if (!options_.ask_turn || !w.release || t.meta.deleting()) return false;
  const release::status is = w.release->state;
  if (is == release::status::uninstalled || is == release::status::uninstalling ||
      release::is_pending(is))
    return false;
  const std::string_view noted = t.fingerprint(w.cluster);
  const auto known = known_.find(t.meta.key());
  const bool applied = known != known_.end() && known->second.applied == w.wanted.fingerprint;
  return !noted.empty() && noted != w.wanted.fingerprint && !applied;
}

turn_question tenant_cluster::question_for_turns(const wave_gate& at) const {
  const auto wanted = options_.wanted();
  turn_question q;
  q.cluster = on_.on().name();
  q.chart = wanted->all.chart.name;
  q.now = on_.loop().wall();
  tenants_.objects().each([&](const tenant& t) {
    const key_type key = t.meta.key();
    const auto known = known_.find(key);
    const bool wants = at.wants(key);
    if (!wants && (known == known_.end() || !known->second.last)) return;
    const bool is_new = t.fingerprint(q.cluster) == at.fingerprint();
    policies::rollout_unit u;
    u.name = key.text();
    u.cluster = q.cluster;
    u.pool = q.chart;
    u.labels = t.meta.labels;
    u.annotations = t.meta.annotations;
    u.state = is_new                      ? turn_state::settled
              : wants && !at.lets_in(key) ? turn_state::staged
                                          : turn_state::moving;
    u.slotted = u.state == turn_state::moving;
    if (is_new && known != known_.end() && known->second.stands.fingerprint == at.fingerprint())
      u.since = policies::unix_seconds(known->second.stands.since);
    u.image = t.status.last_applied_chart;
    u.target = wanted->release.chart.text();
    q.units.push_back(std::move(u));
  });
  std::ranges::sort(q.units, {}, &policies::rollout_unit::name);
  return q;
}

std::optional<policies::rollout_cluster> tenant_cluster::progress() {
  if (!on_.is_live()) return std::nullopt;
  const auto wanted = options_.wanted();
  const std::string& wanted_now = wanted->release.fingerprint;
  const std::string cluster = on_.on().name();
  if (summed_.revision != revision_ || summed_.fingerprint != wanted_now) {
    summed_ = {revision_, wanted_now, {}};
    tenants_.objects().each([&](const tenant& t) {
      if (t.meta.deleting()) return;
      if (options_.does == units::mode::look) {
        if (concern_of(t, world_of(t)) == concern::ours)
          summed_.is.add(wave_state_seen(t, cluster, wanted_now));
        return;
      }
      const auto known = known_.find(t.meta.key());
      const memory* m = known == known_.end() ? nullptr : &known->second;
      if (m && m->stands.is_planned() && !m->last) return;  // another cluster's, or another name's
      summed_.is.add(m && m->stands.fingerprint == wanted_now ? m->stands : wave_state());
    });
  }
  const wave_progress& is = summed_.is;
  policies::rollout_cluster out;
  out.name = cluster;
  out.cluster_labels = on_.on().labels();
  out.units = is.tenants;
  out.updated = is.settled;
  out.degraded = is.failed;
  out.slotted = operations_;
  if (is.tenants > 0 && is.is_settled()) out.updated_at = policies::unix_seconds(is.since);
  return out;
}

}  // namespace helm::tenants
