#include "helm/tenants/plan/deployment_plan.hpp"

#include "formats/plain/listed.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using release::status;
using workspace_state = workspace_facts::state;
using edge_state = edge_facts::state;

consteval std::string_view deployment_reason(std::string_view of) {
  return units::reason_in(deployment_conditions, of);
}

constexpr nanoseconds repair_pause = 20s, readiness_pause = 15s, standard_pause = 30s;

/// A Tenant of the region cluster would be among the claimants, a KryptonDeployment of this home
/// too; of another home we do not know.
bool never_elsewhere(const names::owner_reference&) {
  return false;
}

const placement_planner_words& words_of_deployments() {
  static const placement_planner_words words{deployment_event::finalizer_added,
                                             deployment_event::finalizer_removed,
                                             deployment_event::namespace_delete_requested,
                                             deployment_event::release_recovered,
                                             names::deployment_cleanup,
                                             never_elsewhere};
  return words;
}

class deployment_planning final : placement_planner {
public:
  deployment_planning(const deployment_world& w, deployment_plan& out)
      : placement_planner(w, named(w, out), w.object->meta, w.object->created,
                          {std::string(names::deployment_kind), w.object->meta.key()},
                          words_of_deployments()),
        w_(w),
        d_(*w.object),
        out_(out) {}

  void make() {
    if (d_.meta.deleting())
      clean_up();
    else
      deploy();
  }

private:
  static deployment_plan& named(const deployment_world& w, deployment_plan& out) {
    out.target = target_of(*w.object, w.discovery_ns);
    out.workspace = w.object->meta.name.str();
    out.release = names::deployment_release_name(out.workspace);
    return out;
  }

  void rest(std::string why, std::optional<nanoseconds> again) {
    out_.reason = std::move(why);
    out_.again_in = again;
  }
  void wait(waits_for why, std::string sentence, std::optional<nanoseconds> again) override {
    if (why == waits_for::braked || why == waits_for::speed_limit) out_.braked = facts_.braked;
    rest(why == waits_for::backoff ? "the last attempt failed" : std::move(sentence), again);
  }
  void say(std::string_view phase, std::string_view why, std::string message) {
    out_.is = deployment_verdict{phase, why, std::move(message)};
  }
  /// Something is wrong: its Event is told when Ready did not say so before.
  void complain(std::string_view phase, std::string_view why, std::string message,
                const k8s::event_kind* event) {
    const k8s::condition* is = k8s::find_condition(d_.status.conditions, "Ready");
    const bool known =
        is && is->is_false() && is->reason == why && is->message == safe_message(message);
    if (event && !known) tell(*event, message);
    say(phase, why, std::move(message));
  }
  std::string_view noted() const {
    return d_.meta.annotations.get(
        names::deployment_fingerprint_annotation(out_.target.ns, out_.target.name));
  }

  // -- 15.4

  void deploy() {
    if (!names_are_there() || !name_is_free() ||
        !has_finalizer("it must not go before its release"))
      return;
    if (w_.routing_told != out_.target) tell(deployment_event::routing, out_.target.text());
    if (w_.edge.is != edge_state::ready) return no_way();
    if (is_idle() && namespace_is_there()) follow_release();
  }
  nanoseconds operation_timeout() const override { return deployment_timeout; }
  void reserved(const std::string& why) override {
    complain("Error", deployment_reason("NamespaceReserved"), why,
             &deployment_event::namespace_reserved);
  }
  void lost(const std::string& conflict) override {
    complain("Error", deployment_reason("NamespaceConflict"), conflict,
             &deployment_event::namespace_conflict);
    rest(conflict, standard_pause);
  }
  void terminating() override {}
  void no_way() {
    complain("Error", deployment_reason("EdgeUnavailable"),
             "Secret " + out_.target.text() + ": " + w_.edge.problem,
             &deployment_event::edge_unavailable);
    rest(out_.is->message, pause_after(retry_cause::edge, 1));
  }

  bool names_are_there() {
    const std::string lacking = !d_.problem.empty()  ? d_.problem
                                : d_.account.empty() ? "spec.account.name is empty"
                                                     : "";
    if (!lacking.empty()) {
      complain("Error", deployment_reason("AccountMissing"), lacking,
               &deployment_event::account_missing);
      rest(lacking, standard_pause);
      return false;
    }
    if (w_.account_told != d_.account) tell(deployment_event::account_validated, d_.account);
    if (!d_.region.empty()) return true;
    complain("Error", deployment_reason("EdgeUnavailable"), "spec.region.name is empty",
             &deployment_event::edge_unavailable);
    rest(out_.is->message, pause_after(retry_cause::edge, 1));
    return false;
  }

  // -- 15.5 and 15.6: what is missing is put back, what differs is upgraded, and nothing else is
  // written

  void absent() override {
    const bool never = !w_.release;
    const std::string what =
        out_.release + (never ? ": there is no release" : ": the release is uninstalled");
    repair(step::install, what,
           never ? deployment_event::release_missing : deployment_event::release_not_installed);
  }
  void upgrade(std::string why) override { change(step::upgrade, std::move(why)); }

  void deployed() override {
    if (noted() != w_.wanted.fingerprint) {
      if (!w_.applied.empty() && w_.applied == w_.wanted.fingerprint)
        return go_unless_waiting(step::note_fingerprint, "only the annotation is missing");
      return change(step::upgrade, "another chart, version or values are asked for");
    }
    if (!w_.check_problem.empty()) {
      complain("Error", deployment_reason("HealthCheckFailed"), w_.check_problem, nullptr);
      return rest(w_.check_problem, standard_pause);
    }
    if (!w_.missing.empty())
      return repair(step::upgrade,
                    "missing: " + formats::listed(w_.missing, helm::placed::most_named),
                    deployment_event::repair_triggered);
    judge_workloads();
  }

  void judge_workloads() {
    if (!w_.workloads)
      return go(step::look_at_workloads, "whether they are available is not known");
    if (!w_.workloads->ready) {
      complain("Pending", deployment_reason("NotReady"), w_.workloads->message,
               &deployment_event::not_ready);
      return rest(w_.workloads->message, readiness_pause);
    }
    const k8s::condition* was = k8s::find_condition(d_.status.conditions, "Ready");
    if (!was || !was->is_true()) tell(deployment_event::ready, out_.release);
    say("Ready", deployment_reason("Deployed"), out_.release + " is deployed");
    rest("it is as wanted", w_.check_interval);
    leave_former_regions();
  }

  /// 15.8: after Ready here, one after the other; one that is down is tried again.
  void leave_former_regions() {
    for (const former_region& f : w_.former) {
      if (f.target == out_.target || f.edge.is == edge_state::down ||
          f.edge.is == edge_state::invalid || f.edge.is == edge_state::not_granted)
        continue;
      if (w_.braked) {
        out_.braked = w_.braked;
        if (w_.braked->again_in) out_.again_in = w_.braked->again_in;
        return;
      }
      if (w_.retry_in > nanoseconds(0)) {
        out_.again_in = std::min(w_.retry_in, w_.check_interval);
        return;
      }
      out_.leaving = f.target;
      tell(deployment_event::rerouted, f.target.text() + " to " + out_.target.text());
      go(step::leave_former_region, "it moved from " + f.target.text());
      return;
    }
  }

  void repair(step what, const std::string& why, const k8s::event_kind& event) {
    const bool may_begin =
        waits_ <= nanoseconds(0) && w_.wanted.version_problem.empty() && !w_.braked;
    if (may_begin) {
      const std::size_t before = out_.events.size();
      complain("Pending", deployment_reason("RepairTriggered"), why, &event);
      const bool fresh = out_.events.size() > before;
      if (fresh && event.reason != deployment_event::repair_triggered.reason)
        tell(deployment_event::repair_triggered, why);
    }
    change(what, why);
    if (may_begin && !out_.again_in) out_.again_in = repair_pause;
  }

  void change(step what, std::string why) {
    if (w_.wanted.version_problem.empty()) return apply(what, std::move(why));
    say("Error", deployment_reason("HelmFailed"), w_.wanted.version_problem);
    rest(w_.wanted.version_problem, std::nullopt);
  }
  void after_failure() override {
    using chart = chart_facts::state;
    if (w_.chart.is == chart::not_loaded || w_.chart.is == chart::version_not_found)
      complain("Error", deployment_reason("HelmFailed"), w_.chart.problem,
               &deployment_event::deploy_failed);
    rest("the last attempt failed", waits_);
  }
  void begin(step what, std::string why) override { go(what, std::move(why)); }

  // -- 15.7

  void clean_up() {
    if (!d_.meta.has_finalizer(names::deployment_cleanup)) {
      out_.reason = "others keep it; we are done";
      return;
    }
    if (d_.meta.annotations.get(names::deleting) != "true") {
      tell(deployment_event::delete_started, out_.release);
      return go(step::tell_deletion, "it was deleted");
    }
    if (out_.target.name.empty()) return let_go("it never went anywhere");
    if (w_.edge.is == edge_state::secret_missing)
      return abandon("Secret " + out_.target.text() + " is gone");
    if (w_.edge.is == edge_state::not_granted && !w_.was_there) return nothing_left();
    const bool began = w_.cleaning_since != reactor::wall_time{};
    if (began && w_.now - w_.cleaning_since >= abandon_after)
      return abandon("cleaning up failed for " + reactor::format_duration(abandon_after));
    if (w_.edge.is != edge_state::ready) return no_way();
    if (is_loser()) return let_go(conflict());
    uninstall();
  }

  /// It may have been elsewhere before, which is not cleaned up yet.
  void nothing_left() override {
    for (const former_region& f : w_.former) {
      if (f.target == out_.target || f.edge.is == edge_state::secret_missing) continue;
      if (f.edge.is != edge_state::ready)
        return rest("Secret " + f.target.text() + ": " + f.edge.problem,
                    pause_after(retry_cause::edge, 1));
      out_.leaving = f.target;
      return go_unless_waiting(step::leave_former_region,
                               "it was in " + f.target.text() + " before");
    }
    let_go("nothing of it is left");
  }

  void abandon(std::string why) {
    tell(deployment_event::cleanup_abandoned, why);
    let_go(std::move(why));
  }

  const deployment_world& w_;
  const krypton_deployment& d_;
  deployment_plan& out_;
};

}  // namespace

deployment_plan plan_deployment(const deployment_world& w) {
  deployment_plan out;
  if (!w.object) {
    out.reason = "it is gone";
    return out;
  }
  deployment_planning(w, out).make();
  return out;
}

tenant_status status_after(const krypton_deployment& now_is, const deployment_verdict& is,
                           const std::string& applied_chart, reactor::wall_time now) {
  tenant_status out = now_is.status;
  k8s::condition ready;
  ready.type = "Ready";
  ready.status = is.phase == "Ready" ? "True" : "False";
  ready.reason = is.reason;
  ready.message = safe_message(is.message);
  ready.observed_generation = now_is.meta.generation;
  out.phase = is.phase;
  out.last_message = ready.message;
  if (!applied_chart.empty()) out.last_applied_chart = reactor::redact(applied_chart);
  out.observed_generation = now_is.meta.generation;
  k8s::set_condition(out.conditions, std::move(ready), now);
  return out;
}

deployment_verdict failed_deployment(std::string_view why) {
  return {"Error", deployment_reason("HelmFailed"), safe_message(why)};
}

deployment_verdict failed_namespace(std::string_view why) {
  return {"Error", deployment_reason("NamespaceFailed"), safe_message(why)};
}

deployment_verdict unreadable_region(std::string_view why) {
  return {"Error", deployment_reason("HealthCheckFailed"), safe_message(why)};
}

std::optional<deployment_plan> plan_said_by(const krypton_deployment& d) {
  const k8s::condition* ready = k8s::find_condition(d.status.conditions, "Ready");
  if (!ready) return std::nullopt;
  const auto kind = std::ranges::find_if(deployment_conditions, [&](const auto& c) {
    return c.status == ready->status && c.reason == ready->reason;
  });
  if (kind == deployment_conditions.end()) return std::nullopt;
  deployment_plan out;
  out.release = names::deployment_release_name(d.meta.name.view());
  const std::string_view phase = ready->is_true()            ? "Ready"
                                 : d.status.phase == "Error" ? "Error"
                                                             : "Pending";
  out.is = deployment_verdict{phase, kind->reason, ready->message};
  return out;
}

std::optional<units::hold> hold_of(const krypton_deployment& d, const deployment_plan& p) {
  if (p.braked) return p.braked;
  const auto by = [&](const hold_code::hold_kind& kind, std::string sentence) {
    units::hold h;
    h.code = kind.code;
    h.sentence = safe_message(sentence);
    h.released_by = kind.released;
    if (const k8s::condition* is = k8s::find_condition(d.status.conditions, "Ready"))
      h.since = is->last_transition_time;
    return std::optional(std::move(h));
  };
  const std::string said = p.is ? p.is->message : p.reason;
  if (p.is && p.is->phase == "Ready") return std::nullopt;
  if (!p.is) return p.reason.empty() ? std::nullopt : by(hold_code::deployment_waits, said);
  if (p.is->reason == "AccountMissing") return by(hold_code::invalid_spec, said);
  if (p.is->reason == "NamespaceConflict") return by(hold_code::conflict, said);
  if (p.is->reason == "NamespaceReserved") return by(hold_code::namespace_reserved, said);
  if (p.is->reason == "EdgeUnavailable") return by(hold_code::region_unavailable, said);
  if (p.is->reason == "HealthCheckFailed") return by(hold_code::region_unreadable, said);
  if (p.is->reason == "NotReady") return by(hold_code::workloads_unavailable, said);
  return by(hold_code::deployment_waits, said);
}

}  // namespace helm::tenants
