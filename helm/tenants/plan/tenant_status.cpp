#include "helm/tenants/plan/tenant_status.hpp"

#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <array>

namespace helm::tenants {
namespace {

consteval std::string_view tenant_reason(std::string_view of) {
  return units::reason_in(tenant_conditions, of);
}
constexpr condition_turn yes(std::string_view why) {
  return {condition_turn::to::true_, why};
}
constexpr condition_turn no(std::string_view why) {
  return {condition_turn::to::false_, why};
}
constexpr condition_turn mend(std::string_view why) {
  return {condition_turn::to::mend, why};
}
constexpr condition_turn leave{};
constexpr condition_turn resolved = mend(tenant_reason("Resolved"));

constexpr std::array transition_table = {
    transition_kind{transition::installing, leave, leave, yes(tenant_reason("Installing")),
                    &tenant_event::install_start},
    transition_kind{transition::upgrading, leave, leave, yes(tenant_reason("Upgrading")),
                    &tenant_event::upgrade_start},
    transition_kind{transition::installed, yes(tenant_reason("Installed")), resolved,
                    no(tenant_reason("InstallComplete")), &tenant_event::installed,
                    log_line::installed},
    transition_kind{transition::upgraded, yes(tenant_reason("Upgraded")), resolved,
                    no(tenant_reason("UpgradeComplete")), &tenant_event::upgraded,
                    log_line::upgraded},
    // What a process that died after the operation did not write any more.
    transition_kind{transition::no_change, yes(tenant_reason("NoChange")), resolved,
                    mend(tenant_reason("UpgradeComplete")), &tenant_event::skip,
                    log_line::unchanged},
    transition_kind{transition::drifted, yes(tenant_reason("Drifted")), resolved,
                    mend(tenant_reason("UpgradeComplete")), &tenant_event::drift_detected},
    transition_kind{transition::install_failed, no(tenant_reason("InstallFailed")),
                    yes(tenant_reason("InstallFailed")), no(tenant_reason("InstallFailed")),
                    &tenant_event::install_failed, log_line::install_failed},
    transition_kind{transition::upgrade_failed, no(tenant_reason("UpgradeFailed")),
                    yes(tenant_reason("UpgradeFailed")), no(tenant_reason("UpgradeFailed")),
                    &tenant_event::upgrade_failed, log_line::upgrade_failed},
    transition_kind{transition::uninstall_failed, leave, yes(tenant_reason("UninstallFailed")),
                    leave, &tenant_event::uninstall_failed, log_line::uninstall_failed},
    transition_kind{transition::namespace_failed, no(tenant_reason("NamespaceFailed")),
                    yes(tenant_reason("NamespaceFailed")), leave,
                    &tenant_event::workspace_create_failed},
    transition_kind{transition::namespace_conflict, no(tenant_reason("NamespaceConflict")),
                    yes(tenant_reason("NamespaceConflict")), leave,
                    &tenant_event::namespace_conflict},
    transition_kind{transition::namespace_reserved, no(tenant_reason("NamespaceReserved")),
                    yes(tenant_reason("NamespaceReserved")), leave,
                    &tenant_event::namespace_reserved},
    transition_kind{transition::namespace_terminating, leave, leave,
                    yes(tenant_reason("NamespaceTerminating"))},
    transition_kind{transition::deleting, leave, leave, yes(tenant_reason("Deleting")),
                    &tenant_event::delete_started},
    transition_kind{transition::chart_not_loaded, leave, yes(tenant_reason("ChartNotLoaded")),
                    leave, &tenant_event::chart_not_loaded, log_line::chart_missing},
    transition_kind{transition::version_not_found, leave, yes(tenant_reason("VersionNotFound")),
                    leave, &tenant_event::version_not_found, log_line::chart_missing},
    transition_kind{transition::version_invalid, leave, yes(tenant_reason("VersionInvalid")), leave,
                    &tenant_event::version_invalid, log_line::chart_missing},
    transition_kind{transition::held, leave, leave, no(tenant_reason("Held"))},
    transition_kind{transition::waiting, leave, leave, leave},
};

/// The condition's type of this cluster. A type may have 316 characters and a cluster's name 253.
std::string type_of(std::string_view prefix, std::string_view cluster) {
  return std::string(prefix) + std::string(cluster);
}

bool is_of(const k8s::condition& c, std::string_view prefix) noexcept {
  return c.type.starts_with(prefix);
}

/// The cluster that a condition is about; empty for one that is none of ours.
std::string_view cluster_of(const k8s::condition& c) noexcept {
  const std::string_view type = c.type;
  for (const std::string_view prefix : {condition_prefix::ready, condition_prefix::error,
                                        condition_prefix::progress, condition_prefix::plan})
    if (type.starts_with(prefix)) return type.substr(prefix.size());
  return {};
}

bool counts_as_error(const k8s::condition& c, chart_skip skip) noexcept {
  if (!is_of(c, condition_prefix::error) || !c.is_true()) return false;
  return skip == chart_skip::forbidden || is_fatal(c.reason);
}

/// The condition that decides the phase; null while it is Pending and nothing is under way.
const k8s::condition* deciding(const std::vector<k8s::condition>& all, chart_skip skip) noexcept {
  const auto first = [&](auto&& which) {
    const auto found = std::ranges::find_if(all, which);
    return found == all.end() ? nullptr : &*found;
  };
  if (const auto* e = first([&](const auto& c) { return counts_as_error(c, skip); })) return e;
  if (const auto* r =
          first([](const auto& c) { return is_of(c, condition_prefix::ready) && c.is_true(); }))
    return r;
  return first([](const auto& c) { return is_of(c, condition_prefix::progress) && c.is_true(); });
}

/// What is over is said with the reason of what it was.
std::string_view completed(const k8s::condition& was, std::string_view standard) noexcept {
  if (was.reason == "Installing" || was.reason == "NamespaceTerminating")
    return tenant_reason("InstallComplete");
  return standard;
}

class turning {
public:
  turning(tenant_status& out, const status_change& turn, std::int64_t generation,
          reactor::wall_time now)
      : out_(out),
        turn_(turn),
        message_(safe_message(turn.message)),
        generation_(generation),
        now_(now) {}

  void apply(std::string_view prefix, const condition_turn& t) {
    using to = condition_turn::to;
    if (t.status == to::leave) return;
    k8s::condition next;
    next.type = type_of(prefix, turn_.cluster);
    next.reason = t.reason;
    if (t.status == to::mend) {
      const k8s::condition* was = k8s::find_condition(out_.conditions, next.type);
      if (!was || !was->is_true()) return;
      if (prefix == condition_prefix::progress) next.reason = completed(*was, t.reason);
    }
    next.status = t.status == to::true_ ? "True" : "False";
    next.message = message_;
    next.observed_generation = generation_;
    k8s::set_condition(out_.conditions, std::move(next), now_);
  }

private:
  tenant_status& out_;
  const status_change& turn_;
  std::string message_;
  std::int64_t generation_;
  reactor::wall_time now_;
};

/// The kind of the original operator has no status.observedGeneration, so that what was written of
/// it is not there; the conditions that went with it are.
bool is_generation_pruned(const tenant& t, std::string_view cluster) {
  if (t.status.observed_generation != 0 || t.status.last_applied_chart.empty()) return false;
  const k8s::condition* ready =
      k8s::find_condition(t.status.conditions, type_of(condition_prefix::ready, cluster));
  return ready && ready->observed_generation == t.meta.generation;
}

void conclude(tenant_status& s, chart_skip skip) {
  s.phase = phase_of(s.conditions, skip);
  s.last_message = message_of(s.conditions, skip);
}

}  // namespace

const transition_kind& kind_of(transition what) noexcept {
  return *std::ranges::find(transition_table, what, &transition_kind::what);
}

std::string_view phase_of(const std::vector<k8s::condition>& all, chart_skip skip) noexcept {
  const k8s::condition* by = deciding(all, skip);
  if (!by || is_of(*by, condition_prefix::progress)) return "Pending";
  return is_of(*by, condition_prefix::error) ? "Error" : "Ready";
}

std::string message_of(const std::vector<k8s::condition>& all, chart_skip skip) {
  const k8s::condition* by = deciding(all, skip);
  return by ? by->message : std::string();
}

tenant_status status_after(const tenant& now_is, const status_change& turn,
                           reactor::wall_time now) {
  tenant_status out = now_is.status;
  if (turn.known)
    std::erase_if(out.conditions, [&](const k8s::condition& c) {
      const std::string_view of = cluster_of(c);
      return !of.empty() && of != turn.cluster && !turn.known(of);
    });
  const transition_kind& kind = kind_of(turn.what);
  turning each(out, turn, now_is.meta.generation, now);
  // How it became Ready stays said, so that a start that finds all as wanted writes nothing.
  const k8s::condition* was =
      k8s::find_condition(out.conditions, type_of(condition_prefix::ready, turn.cluster));
  const bool is_said = turn.what == transition::no_change && was && was->is_true() &&
                       was->reason != tenant_reason("Drifted") &&
                       was->observed_generation == now_is.meta.generation;
  each.apply(condition_prefix::ready, is_said ? leave : kind.ready);
  each.apply(condition_prefix::error, kind.error);
  each.apply(condition_prefix::progress, kind.progress);
  if (turn.plan) {
    k8s::condition plan = *turn.plan;
    plan.observed_generation = now_is.meta.generation;
    k8s::set_condition(out.conditions, std::move(plan), now);
  }
  if (!turn.applied_chart.empty()) out.last_applied_chart = reactor::redact(turn.applied_chart);
  if (!is_generation_pruned(now_is, turn.cluster)) out.observed_generation = now_is.meta.generation;
  conclude(out, turn.skip);
  return out;
}

tenant_status remerged(const tenant_status& theirs, const tenant_status& ours,
                       std::string_view cluster, chart_skip skip) {
  tenant_status out = theirs;
  for (const std::string_view prefix : {condition_prefix::ready, condition_prefix::error,
                                        condition_prefix::progress, condition_prefix::plan}) {
    const std::string type = type_of(prefix, cluster);
    const k8s::condition* mine = k8s::find_condition(ours.conditions, type);
    if (!mine) continue;
    const auto there = std::ranges::find(out.conditions, type, &k8s::condition::type);
    if (there == out.conditions.end())
      out.conditions.push_back(*mine);
    else
      *there = *mine;
  }
  out.last_applied_chart = ours.last_applied_chart;
  out.observed_generation = std::max(theirs.observed_generation, ours.observed_generation);
  conclude(out, skip);
  return out;
}

}  // namespace helm::tenants
