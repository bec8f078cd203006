#include "helm/tenants/plan/tenant_plan.hpp"

#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/safety.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using release::status;
using workspace_state = workspace_facts::state;

/// An owner that is no Tenant of this cluster may live at a home that we do not see; a Tenant would
/// be among the claimants.
bool may_live_elsewhere(const names::owner_reference& who) {
  return who.kind != names::tenant_kind;
}

class tenant_planning {
public:
  explicit tenant_planning(const tenant_world& w) : w_(w), t_(*w.object), waits_(w.retry_in) {
    out_.workspace = t_.workload_namespace();
    out_.release = names::release_name(t_.meta.name.view(), w.cluster);
    me_.kind = names::tenant_kind;
    me_.key = t_.meta.key();
    if (w.release) waits_ = std::max(waits_, until_next_revision(*w.release, w.now));
    if (w.release && w.release->state != status::uninstalled)
      out_.from = w.release->chart_name + " " + w.release->chart_version;
  }

  tenant_plan take() {
    if (t_.meta.deleting())
      clean_up();
    else
      install_or_not();
    if (out_.hold) out_.action = "held";
    return std::move(out_);
  }

private:
  // -- what a plan says

  void wait(const units::hold_kind& why, std::string sentence, std::optional<nanoseconds> again) {
    out_.hold = units::hold{me_.key.text(), std::string(why.code), std::move(sentence),
                            std::string(why.released)};
    out_.reason = out_.hold->sentence;
    out_.again_in = again;
  }
  void say(happening what, std::string message) {
    out_.is = what;
    out_.message = std::move(message);
  }
  /// The same of something wrong, whose Event is told once: until its condition says something
  /// else.
  void complain(happening what, std::string message, const std::string& note) {
    const happening_kind& kind = kind_of(what);
    const std::string type = std::string(condition_prefix::error) + w_.cluster;
    const k8s::condition* is = k8s::find_condition(t_.status.conditions, type);
    const bool known = is && is->is_true() && is->reason == kind.error.reason &&
                       is->message == safe_message(message);
    if (!known && kind.event) tell(*kind.event, note);
    say(what, std::move(message));
  }
  void tell(const k8s::event_kind& what, std::string note) {
    out_.events.push_back({what, std::move(note)});
  }
  void go(step next, std::string reason) {
    out_.next = next;
    out_.reason = std::move(reason);
  }

  // -- who acts

  bool is_loser() {
    std::vector<claimant> all = w_.others;
    all.push_back({me_, t_.created});
    owner_ = owner_of(w_.workspace, all, may_live_elsewhere);
    return !(owner_ == me_);
  }
  std::string conflict() const {
    return "namespace " + out_.workspace + " belongs to " + owner_.text();
  }

  // -- the first install, and what holds it

  void install_or_not() {
    if (!t_.problem.empty()) {
      wait(hold_code::invalid_spec, t_.problem, std::nullopt);
      return;
    }
    if (concern_of(t_, w_) != concern::ours) {
      pass_over();
      return;
    }
    if (w_.running != operation::none) {
      wait(hold_code::operating, "an operation on " + out_.release + " is under way", std::nullopt);
      return;
    }
    if (t_.is_workspace_open()) {
      ask_for_workspace();
      return;
    }
    if (const std::string why = w_.reserved.reason(out_.workspace); !why.empty()) {
      complain(happening::namespace_reserved, why, why);
      wait(hold_code::namespace_reserved, why, std::nullopt);
      return;
    }
    if (!t_.meta.has_finalizer(names::cleanup)) {
      tell(tenant_event::finalizer_added, out_.release);
      go(step::add_finalizer, "it must not go before its release");
      return;
    }
    if (is_loser()) {
      out_.from.clear();  // the release of that name is the other's
      complain(happening::namespace_conflict, conflict(), conflict());
      wait(hold_code::conflict, conflict(), std::nullopt);
      return;
    }
    if (w_.workspace.is == workspace_state::terminating) {
      say(happening::namespace_terminating, "namespace " + out_.workspace + " is terminating");
      wait(hold_code::namespace_terminating, out_.message, pause_after(setback::terminating, 1));
      return;
    }
    if (w_.workspace.is == workspace_state::absent) {
      make_namespace();
      return;
    }
    if (!w_.wanted.version_problem.empty()) {
      complain(happening::version_invalid, w_.wanted.version_problem, w_.wanted.chart.version);
      wait(hold_code::version_invalid, w_.wanted.version_problem, std::nullopt);
      return;
    }
    decide();
  }

  /// Another namespace would be a second release beside the one that the original operator made.
  void ask_for_workspace() {
    const std::string name = t_.meta.name.str();
    const std::string sentence = "spec.workspace is " + t_.workspace +
                                 ", so its release may be there, and here it would be a "
                                 "second one in namespace " +
                                 name + ": annotate it with " + std::string(names::workspace) +
                                 "=" + t_.workspace + " to go on with that one, or =" + name +
                                 " to leave it";
    const k8s::condition* is = k8s::find_condition(
        t_.status.conditions, std::string(condition_prefix::progress) + w_.cluster);
    if (!is || is->message != safe_message(sentence)) tell(tenant_event::workspace_open, sentence);
    say(happening::held, sentence);
    wait(hold_code::workspace_open, sentence, std::nullopt);
  }

  void pass_over() {
    out_.reason = "it is meant for another cluster";
    const bool was_here = !t_.fingerprint(w_.cluster).empty();
    if (concern_of(t_, w_) == concern::of_another_cluster && was_here && !w_.mismatch_told)
      tell(tenant_event::cluster_ref_mismatch, "spec.clusterRef names " + t_.target.secret_name +
                                                   ", the release " + out_.release + " stays");
  }

  void make_namespace() {
    if (w_.retry_in > nanoseconds(0)) {
      wait(hold_code::namespace_failed, "namespace " + out_.workspace + " could not be made",
           w_.retry_in);
      return;
    }
    go(step::create_namespace, "namespace " + out_.workspace + " is not there");
  }

  /// Table 7.7.
  void decide() {
    const bool noted = t_.fingerprint(w_.cluster) == w_.wanted.fingerprint;
    if (!w_.release || w_.release->state == status::uninstalled) {
      operate(step::install, "there is no release");
      return;
    }
    switch (w_.release->state) {
      case status::deployed:
        if (noted)
          keep();
        else if (is_noted_by_the_original())
          note();
        else if (!w_.applied.empty() && w_.applied == w_.wanted.fingerprint)
          note();
        else
          operate(step::upgrade, t_.fingerprint(w_.cluster).empty()
                                     ? "the release has no fingerprint"
                                     : "another chart, version or values are asked for");
        return;
      case status::pending_install:
      case status::pending_upgrade:
      case status::pending_rollback: recover(); return;
      case status::uninstalling:
        out_.action = "install";
        go_unless_waiting(step::finish_uninstall, "its uninstall has begun");
        return;
      case status::failed:
      case status::superseded:
      case status::unknown:
      case status::uninstalled:
        operate(step::upgrade, "the release is " + std::string(to_string(w_.release->state)));
        return;
    }
  }

  /// The original operator hashes where the chart is and not its values: where the release has the
  /// wanted ones it is what is asked for, and only the annotation is another one.
  bool is_noted_by_the_original() const {
    return t_.fingerprint(w_.cluster) == fingerprint(w_.wanted.chart, {}) &&
           moved_away(*w_.release, w_.wanted.chart, w_.wanted.values).empty();
  }

  void keep() {
    std::string moved = w_.drift.moved;
    if (moved.empty()) moved = moved_away(*w_.release, w_.wanted.chart, w_.wanted.values);
    drift_findings found = w_.drift;
    found.moved = std::move(moved);
    const std::string drift = found.text();
    if (found.any() && w_.on_drift == drift_mode::heal) {
      repair(drift);
      return;
    }
    // Whoever noted the fingerprint may have died before it said so.
    if (found.moved.empty()) out_.applied_chart = w_.wanted.chart.text();
    if (found.any() && w_.on_drift == drift_mode::report) {
      if (w_.drift_told != drift) tell(tenant_event::drift_detected, drift);
      say(happening::drifted, drift);
      wait(hold_code::drifted, drift, std::nullopt);
      return;
    }
    out_.action = "skip";
    say(happening::no_change, out_.release + " is as wanted");
    out_.reason = "fingerprint unchanged";
    if (w_.skip_told != t_.meta.generation) tell(tenant_event::skip, "fingerprint unchanged");
  }

  void note() {
    out_.action = "skip";
    if (w_.retry_in > nanoseconds(0)) {
      wait(hold_code::fingerprint_unsaved, "the fingerprint could not be noted", w_.retry_in);
      return;
    }
    go(step::note_fingerprint, "the release is as wanted, the annotation is not");
  }

  void recover() {
    const nanoseconds left = until_abandoned(*w_.release, w_.now, w_.pending_seen);
    const std::string what = out_.release + " revision " + std::to_string(w_.release->revision) +
                             " is " + std::string(to_string(w_.release->state));
    if (left > nanoseconds(0) || !keeps(safety_rule::recovery)) {
      wait(hold_code::release_pending, what, left);
      return;
    }
    out_.action = "upgrade";
    tell(tenant_event::release_recovered, what + ", and no process can be working on it any more");
    go(step::recover, what);
  }

  void wait_for_retry() {
    wait(hold_code::backoff, "the last operation on " + out_.release + " failed", waits_);
  }
  /// The step, unless the last attempt failed a moment ago.
  void go_unless_waiting(step next, std::string reason) {
    if (waits_ > nanoseconds(0))
      wait_for_retry();
    else
      go(next, std::move(reason));
  }

  void operate(step what, std::string why) {
    out_.action = what == step::install ? "install" : "upgrade";
    if (w_.held) {
      out_.hold = w_.held;
      out_.reason = w_.held->sentence;
      say(happening::held, w_.held->sentence);
      return;
    }
    apply(what, std::move(why));
  }

  /// What was let in already is put back without asking anybody.
  void repair(const std::string& drift) {
    out_.action = "upgrade";
    apply(step::upgrade, drift);
    if (out_.next == step::upgrade) tell(tenant_event::repair_triggered, drift);
  }

  void apply(step what, std::string why) {
    using chart = chart_facts::state;
    const bool waits = waits_ > nanoseconds(0);
    if (waits && w_.chart.is == chart::not_loaded) {
      lacks_chart(happening::chart_not_loaded, hold_code::chart_not_loaded, w_.wanted.chart.repo);
    } else if (waits && w_.chart.is == chart::version_not_found) {
      lacks_chart(happening::version_not_found, hold_code::version_not_found,
                  w_.wanted.chart.version);
    } else if (waits) {
      wait_for_retry();
    } else if (w_.chart.is == chart::loading) {
      wait(hold_code::chart_loading, w_.wanted.chart.text() + " is being fetched", std::nullopt);
    } else if (w_.chart.is != chart::loaded) {
      go(step::load_chart, std::move(why));
    } else {
      begin(what, std::move(why));
    }
  }

  void begin(step what, std::string why) {
    const bool install = what == step::install;
    const std::string with = out_.release + " with " + w_.wanted.chart.text();
    if (install && names::read_owner(w_.workspace.owner) != me_)
      tell(tenant_event::workspace_exists, out_.workspace);
    if (install)
      say(happening::installing, "installing " + with);
    else
      say(happening::upgrading, "upgrading " + with);
    tell(*kind_of(*out_.is).event, out_.release);
    go(what, std::move(why));
  }

  void lacks_chart(happening what, const units::hold_kind& why, const std::string& note) {
    complain(what, w_.chart.problem, note);
    const bool ready = std::ranges::any_of(t_.status.conditions, [](const k8s::condition& c) {
      return c.is_true() && c.type.starts_with(condition_prefix::ready);
    });
    nanoseconds again = waits_;
    if (w_.skip == chart_skip::allowed && !ready)
      again = std::max(again, pause_after(setback::chart_skipped, 1));
    wait(why, w_.chart.problem, again);
  }

  // -- 7.8

  void clean_up() {
    if (!t_.meta.has_finalizer(names::cleanup)) {
      out_.reason = "others keep it; we are done";
      return;
    }
    const bool carries_ours = !t_.fingerprint(w_.cluster).empty();
    if (!carries_ours && concern_of(t_, w_) != concern::ours) {
      out_.reason = "another connection cleans up";
      return;
    }
    if (t_.wants_no_uninstall()) {
      tell(tenant_event::cleanup_skipped, out_.release);
      let_go("its annotation asks to leave the release");
      return;
    }
    if (is_loser()) {  // the release of that name is the other's
      let_go(conflict());
      return;
    }
    if (w_.release && w_.release->state != status::uninstalled) out_.action = "uninstall";
    if (t_.meta.annotations.get(names::deleting) != "true") {
      say(happening::deleting, "uninstalling " + out_.release);
      tell(tenant_event::delete_started, out_.release);
      go(step::mark_deleting, "it was deleted");
      return;
    }
    if (w_.running == operation::install || w_.running == operation::upgrade) {
      go(step::stop_operation, "it was deleted while an operation was under way");
      return;
    }
    if (w_.running == operation::uninstall) {
      wait(hold_code::operating, out_.release + " is being uninstalled", std::nullopt);
      return;
    }
    if (w_.release && w_.release->state != status::uninstalled) {
      go_unless_waiting(step::uninstall, "it was deleted");
      return;
    }
    remove_namespace();
  }

  void remove_namespace() {
    const bool ours = may_delete(w_.workspace, out_.workspace, me_, w_.discovery_ns);
    if (ours && w_.workspace.is == workspace_state::present) {
      go_unless_waiting(step::delete_namespace, "we made namespace " + out_.workspace);
      if (!out_.hold) tell(tenant_event::workspace_delete_requested, out_.workspace);
      return;
    }
    if (ours && w_.workspace.is == workspace_state::terminating) {
      const bool patient = w_.now - w_.deleting_namespace_since < namespace_patience;
      wait(hold_code::namespace_terminating, "namespace " + out_.workspace + " is terminating",
           patient ? namespace_poll : pause_after(setback::terminating, 1));
      return;
    }
    let_go("nothing of it is left");
  }

  void let_go(std::string why) {
    tell(tenant_event::finalizer_removed, out_.release);
    go(step::remove_finalizer, std::move(why));
    out_.action = "none";
  }

  const tenant_world& w_;
  const tenant& t_;
  nanoseconds waits_;  // before an operation may begin
  names::owner_reference me_, owner_;
  tenant_plan out_;
};

/// It goes, the cluster that it names is not here, and nothing says that it was installed anywhere:
/// without us it would hang for ever.
bool is_orphan(const tenant& t, const tenant_world& w) {
  if (!t.meta.deleting()) return false;
  if (std::ranges::find(w.names_here, t.target.secret_name) != w.names_here.end()) return false;
  return std::ranges::none_of(t.meta.annotations, [](const k8s::string_map::member& m) {
    return m.first.view().starts_with(names::fingerprint_prefix);
  });
}

/// What it will come to once the way is free: with the finalizer, in a namespace of its own.
void look_ahead(const tenant_world& w, tenant_plan& p) {
  tenant_world then = w;
  if (p.next == step::add_finalizer) {
    std::vector<k8s::interned> all(w.object->meta.finalizers.begin(),
                                   w.object->meta.finalizers.end());
    all.emplace_back(names::cleanup);
    then.object->meta.finalizers = k8s::shared_array<k8s::interned>(std::span(all));
  }
  if (w.workspace.is == workspace_state::absent) then.workspace.is = workspace_state::present;
  tenant_plan later = tenant_planning(then).take();
  p.action = later.action;
  p.from = std::move(later.from);
  p.then_held = std::move(later.hold);
}

}  // namespace

std::string_view name_of(step s) noexcept {
  switch (s) {
    case step::none: return "none";
    case step::add_finalizer: return "add-finalizer";
    case step::create_namespace: return "create-namespace";
    case step::load_chart: return "load-chart";
    case step::install: return "install";
    case step::upgrade: return "upgrade";
    case step::recover: return "recover";
    case step::finish_uninstall: return "finish-uninstall";
    case step::note_fingerprint: return "note-fingerprint";
    case step::mark_deleting: return "mark-deleting";
    case step::stop_operation: return "stop-operation";
    case step::uninstall: return "uninstall";
    case step::delete_namespace: return "delete-namespace";
    case step::remove_finalizer: return "remove-finalizer";
  }
  return "";
}

bool is_of_the_original(const tenant& t, std::string_view cluster) {
  return !t.fingerprint(cluster).empty() && t.status.last_applied_chart.empty();
}

concern concern_of(const tenant& t, const tenant_world& w) {
  const cluster_ref& ref = t.target;
  if (!ref.secret_ns.empty() && ref.secret_ns != w.discovery_ns) return concern::of_another_cluster;
  if (ref.secret_name == w.cluster) return concern::ours;
  if (!ref.secret_name.empty() && !is_orphan(t, w) && keeps(safety_rule::target_filter))
    return concern::of_another_cluster;
  const bool chosen = w.primary.empty() || w.primary == w.cluster;
  return chosen ? concern::ours : concern::of_another_name;
}

tenant_plan plan_tenant(const tenant_world& w) {
  tenant_plan out;
  if (!w.object) {
    out.reason = "it is gone";  // an uninstall happens only through the finalizer
    return out;
  }
  out = tenant_planning(w).take();
  if (out.next == step::add_finalizer || out.next == step::create_namespace) look_ahead(w, out);
  return out;
}

}  // namespace helm::tenants
