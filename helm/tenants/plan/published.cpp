#include "helm/tenants/plan/published.hpp"

#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <array>

namespace helm::tenants {
namespace {

struct published_action {
  std::string_view action, reason;
};
constexpr std::array published_actions = {
    published_action{"skip", units::reason_in(tenant_conditions, "UpToDate")},
    published_action{"held", units::reason_in(tenant_conditions, "Held")},
    published_action{"install", units::reason_in(tenant_conditions, "Install")},
    published_action{"upgrade", units::reason_in(tenant_conditions, "Upgrade")},
    published_action{"uninstall", units::reason_in(tenant_conditions, "Uninstall")},
};

/// What a table knows of the code; null: none does.
const units::hold_kind* hold_kind_of(std::string_view code) {
  const std::string_view kind = units::kind_in(code);
  for (const units::hold_kind& k : hold_code::of_tenants)
    if (k.code == kind) return &k;
  for (const units::hold_kind& k : hold_code::of_every_api)
    if (k.code == kind) return &k;
  return nullptr;
}

}  // namespace

std::optional<k8s::condition> published(const tenant_plan& p, const desired_release& wanted,
                                        std::string_view cluster) {
  const auto as = std::ranges::find(published_actions, p.action, &published_action::action);
  if (as == published_actions.end()) return std::nullopt;
  if (p.hold) {
    const units::hold_kind* kind = hold_kind_of(p.hold->code);
    if (!kind || kind->nature == units::hold_nature::progress) return std::nullopt;
  } else if (p.action == "held") {
    return std::nullopt;  // it will wait only behind the next step
  }
  k8s::condition out;
  out.type = std::string(condition_prefix::plan) + std::string(cluster);
  out.status = p.action == "skip" ? "True" : "False";
  out.reason = as->reason;
  out.message = reactor::redact(wanted.chart.text());
  if (p.hold) out.message += "; " + p.hold->code + ": " + p.hold->sentence;
  out.message = safe_message(out.message);
  return out;
}

tenant_plan unknown_plan(const tenant& t, std::string_view cluster) {
  tenant_plan out;
  out.action = "held";
  out.release = names::release_name(t.meta.name.view(), cluster);
  out.workspace = t.workload_namespace();
  units::hold h;
  h.unit = t.meta.key().text();
  h.code = hold_code::chart_unknown.code;
  h.sentence = hold_code::chart_unknown.meaning;
  h.released_by = hold_code::chart_unknown.released;
  out.hold = std::move(h);
  return out;
}

std::optional<seen_plan> plan_published_on(const tenant& t, std::string_view cluster) {
  const k8s::condition* is = k8s::find_condition(
      t.status.conditions, std::string(condition_prefix::plan) + std::string(cluster));
  if (!is) return std::nullopt;
  const auto as = std::ranges::find(published_actions, is->reason, &published_action::reason);
  if (as == published_actions.end()) return std::nullopt;
  seen_plan out;
  out.chart = is->message.substr(0, is->message.find("; "));
  out.plan.action = as->action;
  out.plan.release = names::release_name(t.meta.name.view(), cluster);
  out.plan.workspace = t.workload_namespace();
  if (as->action != "held") return out;
  const std::string said = is->message.substr(std::min(out.chart.size() + 2, is->message.size()));
  const auto colon = said.find(": ");
  if (colon == said.npos) return std::nullopt;
  units::hold h;
  h.unit = t.meta.key().text();
  h.code = said.substr(0, colon);
  h.sentence = said.substr(colon + 2);
  if (const units::hold_kind* kind = hold_kind_of(h.code)) h.released_by = kind->released;
  h.since = is->last_transition_time;
  out.plan.hold = std::move(h);
  return out;
}

}  // namespace helm::tenants
