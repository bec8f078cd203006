#include "helm/tenants/plan/deployment_plan.hpp"

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

class deployment_planning {
public:
  explicit deployment_planning(const deployment_world& w)
      : w_(w), d_(*w.object), waits_(w.retry_in) {
    if (w.release) waits_ = std::max(waits_, until_next_revision(*w.release, w.now));
    out_.target = target_of(d_, w.discovery_ns);
    out_.workspace = d_.meta.name.str();
    out_.release = names::deployment_release_name(out_.workspace);
    me_.kind = names::deployment_kind;
    me_.key = d_.meta.key();
  }

  deployment_plan take() {
    if (d_.meta.deleting())
      clean_up();
    else
      deploy();
    return std::move(out_);
  }

private:
  void tell(const k8s::event_kind& what, std::string note) {
    out_.events.push_back({what, std::move(note)});
  }
  void go(deployment_step next, std::string why) {
    out_.next = next;
    out_.reason = std::move(why);
  }
  void wait(std::string why, std::optional<nanoseconds> again) {
    out_.reason = std::move(why);
    out_.again_in = again;
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

  bool is_loser() {
    std::vector<claimant> all = w_.others;
    all.push_back({me_, d_.created});
    owner_ = owner_of(w_.workspace, all, never_elsewhere);
    return !(owner_ == me_);
  }
  std::string conflict() const {
    return "namespace " + out_.workspace + " belongs to " + owner_.text();
  }
  std::string_view noted() const {
    return d_.meta.annotations.get(
        names::deployment_fingerprint_annotation(out_.target.ns, out_.target.name));
  }

  // -- 15.4

  void deploy() {
    if (!names_are_there()) return;
    if (const std::string why = w_.reserved.reason(out_.workspace); !why.empty()) {
      complain("Error", deployment_reason("NamespaceReserved"), why,
               &deployment_event::namespace_reserved);
      wait(why, std::nullopt);
      return;
    }
    if (!d_.meta.has_finalizer(names::deployment_cleanup)) {
      tell(deployment_event::finalizer_added, out_.release);
      go(deployment_step::add_finalizer, "it must not go before its release");
      return;
    }
    if (w_.routing_told != out_.target) tell(deployment_event::routing, out_.target.text());
    if (w_.edge.is != edge_state::ready) {
      complain("Error", deployment_reason("EdgeUnavailable"),
               "Secret " + out_.target.text() + ": " + w_.edge.problem,
               &deployment_event::edge_unavailable);
      wait(out_.is->message, pause_after(setback::edge, 1));
      return;
    }
    if (w_.running != operation::none) {
      wait("an operation on " + out_.release + " is under way", std::nullopt);
      return;
    }
    if (is_loser()) {
      complain("Error", deployment_reason("NamespaceConflict"), conflict(),
               &deployment_event::namespace_conflict);
      wait(conflict(), standard_pause);
      return;
    }
    if (w_.workspace.is == workspace_state::terminating) {
      wait("namespace " + out_.workspace + " is terminating", pause_after(setback::terminating, 1));
      return;
    }
    if (w_.workspace.is == workspace_state::absent) {
      if (w_.retry_in > nanoseconds(0))
        wait("namespace " + out_.workspace + " could not be made", w_.retry_in);
      else
        go(deployment_step::create_namespace, "namespace " + out_.workspace + " is not there");
      return;
    }
    check();
  }

  bool names_are_there() {
    const std::string lacking = !d_.problem.empty()  ? d_.problem
                                : d_.account.empty() ? "spec.account.name is empty"
                                                     : "";
    if (!lacking.empty()) {
      complain("Error", deployment_reason("AccountMissing"), lacking,
               &deployment_event::account_missing);
      wait(lacking, standard_pause);
      return false;
    }
    if (w_.account_told != d_.account) tell(deployment_event::account_validated, d_.account);
    if (!d_.region.empty()) return true;
    complain("Error", deployment_reason("EdgeUnavailable"), "spec.region.name is empty",
             &deployment_event::edge_unavailable);
    wait(out_.is->message, pause_after(setback::edge, 1));
    return false;
  }

  /// 15.5 and 15.6: what is missing is put back, what differs is upgraded, and nothing else is
  /// written.
  void check() {
    if (!w_.release || w_.release->state == status::uninstalled) {
      const bool never = !w_.release;
      const std::string what =
          out_.release + (never ? ": there is no release" : ": the release is uninstalled");
      repair(deployment_step::install, what,
             never ? deployment_event::release_missing : deployment_event::release_not_installed);
      return;
    }
    switch (w_.release->state) {
      case status::pending_install:
      case status::pending_upgrade:
      case status::pending_rollback: recover(); return;
      case status::uninstalling:
        go_unless_waiting(deployment_step::finish_uninstall, "its uninstall has begun");
        return;
      case status::deployed: compare(); return;
      case status::failed:
      case status::superseded:
      case status::unknown:
      case status::uninstalled:
        apply(deployment_step::upgrade,
              "the release is " + std::string(to_string(w_.release->state)));
        return;
    }
  }

  void compare() {
    if (noted() != w_.wanted.fingerprint) {
      if (!w_.applied.empty() && w_.applied == w_.wanted.fingerprint)
        go_unless_waiting(deployment_step::note_fingerprint, "only the annotation is missing");
      else
        apply(deployment_step::upgrade, "another chart, version or values are asked for");
      return;
    }
    if (!w_.check_problem.empty()) {
      complain("Error", deployment_reason("HealthCheckFailed"), w_.check_problem, nullptr);
      wait(w_.check_problem, standard_pause);
      return;
    }
    if (!w_.missing.empty()) {
      repair(deployment_step::upgrade, "missing: " + named(w_.missing),
             deployment_event::repair_triggered);
      return;
    }
    judge_workloads();
  }

  void judge_workloads() {
    if (!w_.workloads) {
      go(deployment_step::look_at_workloads, "whether they are available is not known");
      return;
    }
    if (!w_.workloads->ready) {
      complain("Pending", deployment_reason("NotReady"), w_.workloads->message,
               &deployment_event::not_ready);
      wait(w_.workloads->message, readiness_pause);
      return;
    }
    const k8s::condition* was = k8s::find_condition(d_.status.conditions, "Ready");
    if (!was || !was->is_true()) tell(deployment_event::ready, out_.release);
    say("Ready", deployment_reason("Deployed"), out_.release + " is deployed");
    wait("it is as wanted", w_.check_interval);
    leave_former_regions();
  }

  /// 15.8: after Ready here, one after the other; one that is down is tried again.
  void leave_former_regions() {
    for (const former_region& f : w_.former) {
      if (f.target == out_.target || f.edge.is == edge_state::down ||
          f.edge.is == edge_state::invalid || f.edge.is == edge_state::not_granted)
        continue;
      if (w_.retry_in > nanoseconds(0)) {
        out_.again_in = std::min(w_.retry_in, w_.check_interval);
        return;
      }
      out_.leaving = f.target;
      tell(deployment_event::rerouted, f.target.text() + " to " + out_.target.text());
      go(deployment_step::leave_former_region, "it moved from " + f.target.text());
      return;
    }
  }

  void recover() {
    const nanoseconds left =
        until_abandoned(*w_.release, w_.now, w_.pending_seen, deployment_timeout);
    const std::string what = out_.release + " revision " + std::to_string(w_.release->revision) +
                             " is " + std::string(to_string(w_.release->state));
    if (left > nanoseconds(0)) {
      wait(what, left);
      return;
    }
    tell(deployment_event::release_recovered, what + ", and no process can be working on it any more");
    go(deployment_step::recover, what);
  }

  void repair(deployment_step what, const std::string& why, const k8s::event_kind& event) {
    const bool may_begin = waits_ <= nanoseconds(0) && w_.wanted.version_problem.empty();
    if (may_begin) {
      const std::size_t before = out_.events.size();
      complain("Pending", deployment_reason("RepairTriggered"), why, &event);
      const bool fresh = out_.events.size() > before;
      if (fresh && event.reason != deployment_event::repair_triggered.reason)
        tell(deployment_event::repair_triggered, why);
    }
    apply(what, why);
    if (may_begin && !out_.again_in) out_.again_in = repair_pause;
  }

  void apply(deployment_step what, std::string why) {
    using chart = chart_facts::state;
    if (!w_.wanted.version_problem.empty()) {
      say("Error", deployment_reason("HelmFailed"), w_.wanted.version_problem);
      wait(w_.wanted.version_problem, std::nullopt);
    } else if (waits_ > nanoseconds(0)) {
      if (w_.chart.is == chart::not_loaded || w_.chart.is == chart::version_not_found)
        complain("Error", deployment_reason("HelmFailed"), w_.chart.problem,
                 &deployment_event::deploy_failed);
      wait("the last attempt failed", waits_);
    } else if (w_.chart.is == chart::loading) {
      wait(w_.wanted.chart.text() + " is being fetched", std::nullopt);
    } else if (w_.chart.is != chart::loaded) {
      go(deployment_step::load_chart, std::move(why));
    } else {
      go(what, std::move(why));
    }
  }

  void go_unless_waiting(deployment_step next, std::string why) {
    if (waits_ > nanoseconds(0))
      wait("the last attempt failed", waits_);
    else
      go(next, std::move(why));
  }

  // -- 15.7

  void clean_up() {
    if (!d_.meta.has_finalizer(names::deployment_cleanup)) {
      out_.reason = "others keep it; we are done";
      return;
    }
    if (d_.meta.annotations.get(names::deleting) != "true") {
      tell(deployment_event::delete_started, out_.release);
      go(deployment_step::tell_deletion, "it was deleted");
      return;
    }
    if (out_.target.name.empty()) {
      let_go("it never went anywhere");
      return;
    }
    if (w_.edge.is == edge_state::secret_missing) {
      abandon("Secret " + out_.target.text() + " is gone");
      return;
    }
    if (w_.edge.is == edge_state::not_granted && !w_.was_there) {
      leave_all();
      return;
    }
    const bool began = w_.cleaning_since != reactor::wall_time{};
    if (began && w_.now - w_.cleaning_since >= abandon_after) {
      abandon("cleaning up failed for " + reactor::format_duration(abandon_after));
      return;
    }
    if (w_.edge.is != edge_state::ready) {
      complain("Error", deployment_reason("EdgeUnavailable"),
               "Secret " + out_.target.text() + ": " + w_.edge.problem,
               &deployment_event::edge_unavailable);
      wait(out_.is->message, pause_after(setback::edge, 1));
      return;
    }
    if (is_loser()) {
      let_go(conflict());
      return;
    }
    if (w_.running == operation::install || w_.running == operation::upgrade) {
      go(deployment_step::stop_operation, "it was deleted while an operation was under way");
      return;
    }
    if (w_.running == operation::uninstall) {
      wait(out_.release + " is being uninstalled", std::nullopt);
      return;
    }
    if (w_.release && w_.release->state != status::uninstalled) {
      go_unless_waiting(deployment_step::uninstall, "it was deleted");
      return;
    }
    remove_namespace();
  }

  void remove_namespace() {
    if (!may_delete(w_.workspace, out_.workspace, me_, w_.discovery_ns)) {
      leave_all();
      return;
    }
    if (w_.workspace.is == workspace_state::terminating) {
      const bool patient = w_.now - w_.deleting_namespace_since < namespace_patience;
      wait("namespace " + out_.workspace + " is terminating",
           patient ? namespace_poll : pause_after(setback::terminating, 1));
      return;
    }
    go_unless_waiting(deployment_step::delete_namespace, "we made namespace " + out_.workspace);
    if (out_.next == deployment_step::delete_namespace)
      tell(deployment_event::namespace_delete_requested, out_.workspace);
  }

  /// It may have been elsewhere before, where nobody cleaned up yet.
  void leave_all() {
    for (const former_region& f : w_.former) {
      if (f.target == out_.target || f.edge.is == edge_state::secret_missing) continue;
      if (f.edge.is != edge_state::ready) {
        wait("Secret " + f.target.text() + ": " + f.edge.problem, pause_after(setback::edge, 1));
        return;
      }
      out_.leaving = f.target;
      go_unless_waiting(deployment_step::leave_former_region,
                        "it was in " + f.target.text() + " before");
      return;
    }
    let_go("nothing of it is left");
  }

  void abandon(std::string why) {
    tell(deployment_event::cleanup_abandoned, why);
    let_go(std::move(why));
  }
  void let_go(std::string why) {
    tell(deployment_event::finalizer_removed, out_.release);
    go(deployment_step::remove_finalizer, std::move(why));
  }

  const deployment_world& w_;
  const krypton_deployment& d_;
  nanoseconds waits_;  // before an operation may begin
  names::owner_reference me_, owner_;
  deployment_plan out_;
};

}  // namespace

std::string_view name_of(deployment_step s) noexcept {
  switch (s) {
    case deployment_step::none: return "none";
    case deployment_step::add_finalizer: return "add-finalizer";
    case deployment_step::create_namespace: return "create-namespace";
    case deployment_step::load_chart: return "load-chart";
    case deployment_step::install: return "install";
    case deployment_step::upgrade: return "upgrade";
    case deployment_step::recover: return "recover";
    case deployment_step::finish_uninstall: return "finish-uninstall";
    case deployment_step::note_fingerprint: return "note-fingerprint";
    case deployment_step::look_at_workloads: return "look-at-workloads";
    case deployment_step::leave_former_region: return "leave-former-region";
    case deployment_step::tell_deletion: return "tell-deletion";
    case deployment_step::stop_operation: return "stop-operation";
    case deployment_step::uninstall: return "uninstall";
    case deployment_step::delete_namespace: return "delete-namespace";
    case deployment_step::remove_finalizer: return "remove-finalizer";
  }
  return "";
}

deployment_plan plan_deployment(const deployment_world& w) {
  deployment_plan out;
  if (!w.object) {
    out.reason = "it is gone";
    return out;
  }
  return deployment_planning(w).take();
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
