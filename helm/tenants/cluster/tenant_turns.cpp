// Who of a cluster may move to what shall be everywhere now: asked once for all, then again as long
// as somebody waits.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;

/// How soon it is seen that an earlier wave has settled.
constexpr nanoseconds look_often = 1s, look_seldom = 5s;

}  // namespace

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

awaitable<std::optional<units::hold>> tenant_cluster::turn_of(key_type key,
                                                              std::string fingerprint) {
  for (;;) {
    if (turns_.fingerprint != fingerprint) {
      turns_ = {};
      turns_.fingerprint = fingerprint;
    }
    turns_.wanted.insert(key);
    if (turns_.let_in.contains(key)) co_return std::nullopt;
    if (const auto held = turns_.held.find(key); held != turns_.held.end()) co_return held->second;
    if (asks_for_turns_) {
      (void)co_await turns_known_.wait();
      continue;
    }
    co_await ask_for_turns();
    // Nobody waits for a turn that has gone, or has the new state, since it was planned.
    if (turns_.fingerprint == fingerprint && !turns_.held.contains(key)) co_return std::nullopt;
  }
}

awaitable<void> tenant_cluster::ask_for_turns() {
  struct asking {
    tenant_cluster& at;
    explicit asking(tenant_cluster& c) : at(c) { at.asks_for_turns_ = true; }
    ~asking() {
      at.asks_for_turns_ = false;
      at.turns_known_.wake_all();
    }
  };
  const asking now(*this);
  const std::string fingerprint = turns_.fingerprint;
  turn_question q = question_for_turns();
  turn_answer said = co_await options_.ask_turn(std::move(q));
  if (turns_.fingerprint != fingerprint) co_return;  // another state is asked for meanwhile
  const std::map<key_type, units::hold> before = std::exchange(turns_.held, {});
  turns_.look_again = said.look_again;
  for (const key_type& key : turns_.wanted) {
    const std::string name = key.text();
    if (said.may.contains(name)) {
      turns_.let_in.insert(key);
    } else if (const auto held = said.holds.find(name); held != said.holds.end()) {
      turns_.held.emplace(key, held->second);
    }
  }
  // Whoever asked: the others learn it, too.
  for (const auto& [key, was] : before) {
    const auto is = turns_.held.find(key);
    if (is == turns_.held.end() || is->second.code != was.code) controller_.add(key);
  }
  if (turns_.held.empty() || watches_turns_ || options_.does == units::mode::look) co_return;
  watches_turns_ = true;
  tasks_.start("turns on " + on_.on().name(), watch_turns());
}

awaitable<void> tenant_cluster::watch_turns() {
  while (!turns_.held.empty()) {
    const nanoseconds asked_for = turns_.look_again;
    const nanoseconds pause =
        asked_for.count() > 0 ? std::clamp(asked_for, look_often, look_seldom) : look_seldom;
    co_await on_.loop().sleep_for(pause);
    if (asks_for_turns_ || !on_.is_live()) continue;
    co_await ask_for_turns();
  }
  watches_turns_ = false;
}

void tenant_cluster::forget_turn(const key_type& key) {
  turns_.wanted.erase(key);
  turns_.let_in.erase(key);
  turns_.held.erase(key);
}

turn_question tenant_cluster::question_for_turns() const {
  const auto wanted = options_.wanted();
  turn_question q;
  q.cluster = on_.on().name();
  q.chart = wanted->all.chart.name;
  q.now = on_.loop().wall();
  tenants_.objects().each([&](const tenant& t) {
    const key_type key = t.meta.key();
    const auto known = known_.find(key);
    const bool wants = turns_.wanted.contains(key);
    if (!wants && (known == known_.end() || !known->second.last)) return;
    const bool is_new = t.fingerprint(q.cluster) == turns_.fingerprint;
    policies::rollout_unit u;
    u.name = key.text();
    u.cluster = q.cluster;
    u.pool = q.chart;
    u.labels = t.meta.labels;
    u.annotations = t.meta.annotations;
    u.state = is_new                                  ? turn_state::settled
              : wants && !turns_.let_in.contains(key) ? turn_state::staged
                                                      : turn_state::moving;
    u.slotted = u.state == turn_state::moving;
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
  const std::string& shall_be = wanted->release.fingerprint;
  const std::string cluster = on_.on().name();
  if (summed_.revision != revision_ || summed_.fingerprint != shall_be) {
    summed_ = {revision_, shall_be, {}};
    tenants_.objects().each([&](const tenant& t) {
      if (t.meta.deleting()) return;
      if (options_.does == units::mode::look) {
        if (concern_of(t, world_of(t)) == concern::ours)
          summed_.is.add(standing_seen(t, cluster, shall_be));
        return;
      }
      const auto known = known_.find(t.meta.key());
      const memory* m = known == known_.end() ? nullptr : &known->second;
      if (m && m->stands.is_planned() && !m->last) return;  // another cluster's, or another name's
      summed_.is.add(m && m->stands.fingerprint == shall_be ? m->stands : standing());
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
