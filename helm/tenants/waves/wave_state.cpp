#include "helm/tenants/waves/wave_state.hpp"

#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "reactor/plain/time.hpp"

#include <algorithm>
#include <array>

namespace helm::tenants {
namespace {

/// Why a Tenant is in Error; other holds are on the way to somewhere.
constexpr std::array errors = {hold_code::conflict,         hold_code::namespace_failed,
                               hold_code::version_invalid,  hold_code::version_not_found,
                               hold_code::chart_not_loaded, hold_code::backoff,
                               hold_code::invalid_spec};

bool is_error(const std::optional<units::hold>& h) {
  return h &&
         std::ranges::any_of(errors, [&](const units::hold_kind& kind) { return kind == h->code; });
}

wave_state::kind judge(const wave_state& before, bool is_same, bool is_noted,
                       const tenant_plan& p) {
  using kind = wave_state::kind;
  const bool drifted = p.hold && p.hold->code == hold_code::drifted.code;
  if (is_noted && (p.action == "skip" || drifted)) return kind::ready;
  if (is_error(p.hold)) return kind::failed;
  if (!is_same) return kind::unsettled;
  const bool stays = before.is == (is_noted ? kind::ready : kind::failed);
  return stays ? before.is : kind::unsettled;
}

}  // namespace

wave_state wave_state_after(const wave_state& before, std::string_view wanted,
                            std::string_view noted, const tenant_plan& p, reactor::wall_time now) {
  const bool is_same = before.fingerprint == wanted;
  wave_state out;
  out.fingerprint = wanted;
  out.is = judge(before, is_same, noted == wanted, p);
  out.since = is_same && out.is == before.is ? before.since : now;
  return out;
}

wave_state wave_state_seen(const tenant& t, std::string_view cluster, std::string_view wanted) {
  wave_state out;
  out.fingerprint = wanted;
  const auto of = [&](std::string_view prefix) {
    return k8s::find_condition(t.status.conditions, std::string(prefix) + std::string(cluster));
  };
  const k8s::condition* error = of(condition_prefix::error);
  const k8s::condition* ready = of(condition_prefix::ready);
  const k8s::condition* says = nullptr;
  if (error && error->is_true()) {
    out.is = wave_state::kind::failed;
    says = error;
  } else if (t.fingerprint(cluster) == wanted && ready && ready->is_true()) {
    out.is = wave_state::kind::ready;
    says = ready;
  }
  if (says)
    if (const auto at = reactor::parse_rfc3339(says->last_transition_time)) out.since = *at;
  return out;
}

void wave_progress::add(const wave_state& one) {
  ++tenants;
  if (one.is == wave_state::kind::unsettled) return;
  ++settled;
  failed += one.is == wave_state::kind::failed;
  since = std::max(since, one.since);
}

}  // namespace helm::tenants
