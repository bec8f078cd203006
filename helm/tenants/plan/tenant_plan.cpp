#include "helm/tenants/plan/tenant_plan.hpp"

#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/names.hpp"

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

const placement_planner_words& words_of_tenants() {
  static const placement_planner_words words{tenant_event::finalizer_added,
                                             tenant_event::finalizer_removed,
                                             tenant_event::workspace_delete_requested,
                                             tenant_event::release_recovered,
                                             names::cleanup,
                                             may_live_elsewhere};
  return words;
}

const units::hold_kind& hold_kind_of(waits_for why) noexcept {
  switch (why) {
    case waits_for::operating: return hold_code::operating;
    case waits_for::conflict: return hold_code::conflict;
    case waits_for::namespace_reserved: return hold_code::namespace_reserved;
    case waits_for::namespace_terminating: return hold_code::namespace_terminating;
    case waits_for::namespace_failed: return hold_code::namespace_failed;
    case waits_for::release_pending: return hold_code::release_pending;
    case waits_for::backoff: return hold_code::backoff;
    case waits_for::chart_loading: return hold_code::chart_loading;
    case waits_for::braked: return hold_code::braked;
    case waits_for::speed_limit: return hold_code::speed_limit;
  }
  return hold_code::backoff;
}

class tenant_planning final : placement_planner {
public:
  tenant_planning(const tenant_world& w, tenant_plan& out)
      : placement_planner(w, named(w, out), w.object->meta, w.object->created,
                          {std::string(names::tenant_kind), w.object->meta.key()},
                          words_of_tenants()),
        w_(w),
        t_(*w.object),
        out_(out) {
    if (w.release && w.release->state != status::uninstalled)
      out_.from = w.release->chart_name + " " + w.release->chart_version;
  }

  void make() {
    if (t_.meta.deleting())
      clean_up();
    else
      install_or_not();
    if (out_.hold) out_.action = "held";
  }

private:
  static tenant_plan& named(const tenant_world& w, tenant_plan& out) {
    out.workspace = w.object->workload_namespace();
    out.release = names::release_name(w.object->meta.name.view(), w.cluster);
    return out;
  }

  // -- what a plan says

  void hold(const units::hold_kind& why, std::string sentence, std::optional<nanoseconds> again) {
    out_.hold = units::hold{me_.key.text(), std::string(why.code), std::move(sentence),
                            std::string(why.released)};
    out_.reason = out_.hold->sentence;
    out_.again_in = again;
  }
  void wait(waits_for why, std::string sentence, std::optional<nanoseconds> again) override {
    const bool is_stopped = why == waits_for::braked || why == waits_for::speed_limit;
    if (is_stopped) say(transition::held, sentence);
    hold(hold_kind_of(why), std::move(sentence), again);
    if (is_stopped) out_.hold->asked_again = w_.braked->asked_again;
  }
  void say(transition what, std::string message) {
    out_.is = what;
    out_.message = std::move(message);
  }
  /// The same of something wrong, whose Event is told once: until its condition says something
  /// else.
  void complain(transition what, std::string message, const std::string& note) {
    const transition_kind& kind = kind_of(what);
    const std::string type = std::string(condition_prefix::error) + w_.cluster;
    const k8s::condition* is = k8s::find_condition(t_.status.conditions, type);
    const bool known = is && is->is_true() && is->reason == kind.error.reason &&
                       is->message == safe_message(message);
    if (!known && kind.event) tell(*kind.event, note);
    say(what, std::move(message));
  }

  // -- the first install, and what holds it

  void install_or_not() {
    if (!t_.problem.empty()) return hold(hold_code::invalid_spec, t_.problem, std::nullopt);
    if (concern_of(t_, w_) != concern::ours) return pass_over();
    if (!is_idle()) return;
    if (t_.is_workspace_open()) return ask_for_workspace();
    if (!name_is_free() || !has_finalizer("it must not go before its release") ||
        !namespace_is_there())
      return;
    if (!w_.wanted.version_problem.empty()) {
      complain(transition::version_invalid, w_.wanted.version_problem, w_.wanted.chart.version);
      return hold(hold_code::version_invalid, w_.wanted.version_problem, std::nullopt);
    }
    follow_release();  // table 7.7
  }
  void reserved(const std::string& why) override {
    complain(transition::namespace_reserved, why, why);
  }
  void lost(const std::string& conflict) override {
    out_.from.clear();  // the release of that name is the other's
    complain(transition::namespace_conflict, conflict, conflict);
    wait(waits_for::conflict, conflict, std::nullopt);
  }
  void terminating() override {
    say(transition::namespace_terminating, "namespace " + out_.workspace + " is terminating");
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
    say(transition::held, sentence);
    hold(hold_code::workspace_open, sentence, std::nullopt);
  }

  void pass_over() {
    out_.reason = "it is meant for another cluster";
    const bool was_here = !t_.fingerprint(w_.cluster).empty();
    if (concern_of(t_, w_) == concern::of_another_cluster && was_here && !w_.mismatch_told)
      tell(tenant_event::cluster_ref_mismatch, "spec.clusterRef names " + t_.target.secret_name +
                                                   ", the release " + out_.release + " stays");
  }

  // -- table 7.7

  void absent() override { operate(step::install, "there is no release"); }
  void upgrade(std::string why) override { operate(step::upgrade, std::move(why)); }
  void finishes_uninstall() override { out_.action = "install"; }
  void recovers() override { out_.action = "upgrade"; }
  void deployed() override {
    const bool applied = !w_.applied.empty() && w_.applied == w_.wanted.fingerprint;
    if (t_.fingerprint(w_.cluster) == w_.wanted.fingerprint)
      keep();
    else if (is_noted_by_the_original() || applied)
      note();
    else
      operate(step::upgrade, t_.fingerprint(w_.cluster).empty()
                                 ? "the release has no fingerprint"
                                 : "another chart, version or values are asked for");
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
    if (found.any() && w_.on_drift == drift_mode::heal) return repair(drift);
    // The process that noted the fingerprint may have died before it said so.
    if (found.moved.empty()) out_.applied_chart = w_.wanted.chart.text();
    if (found.any() && w_.on_drift == drift_mode::report) {
      if (w_.drift_told != drift) tell(tenant_event::drift_detected, drift);
      say(transition::drifted, drift);
      return hold(hold_code::drifted, drift, std::nullopt);
    }
    out_.action = "skip";
    say(transition::no_change, out_.release + " is as wanted");
    out_.reason = "fingerprint unchanged";
    if (w_.skip_told != t_.meta.generation) tell(tenant_event::skip, "fingerprint unchanged");
  }

  void note() {
    out_.action = "skip";
    if (w_.retry_in > nanoseconds(0))
      hold(hold_code::fingerprint_unsaved, "the fingerprint could not be noted", w_.retry_in);
    else
      go(step::note_fingerprint, "the release is as wanted, the annotation is not");
  }

  void operate(step what, std::string why) {
    out_.action = what == step::install ? "install" : "upgrade";
    if (w_.held) {
      out_.hold = w_.held;
      out_.reason = w_.held->sentence;
      say(transition::held, w_.held->sentence);
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

  void after_failure() override {
    using chart = chart_facts::state;
    if (w_.chart.is == chart::not_loaded)
      lacks_chart(transition::chart_not_loaded, hold_code::chart_not_loaded, w_.wanted.chart.repo);
    else if (w_.chart.is == chart::version_not_found)
      lacks_chart(transition::version_not_found, hold_code::version_not_found,
                  w_.wanted.chart.version);
    else
      wait(waits_for::backoff, "the last operation on " + out_.release + " failed", waits_);
  }

  void begin(step what, std::string why) override {
    const bool install = what == step::install;
    const std::string with = out_.release + " with " + w_.wanted.chart.text();
    if (install && names::read_owner(w_.workspace.owner) != me_)
      tell(tenant_event::workspace_exists, out_.workspace);
    if (install)
      say(transition::installing, "installing " + with);
    else
      say(transition::upgrading, "upgrading " + with);
    tell(*kind_of(*out_.is).event, out_.release);
    go(what, std::move(why));
  }

  void lacks_chart(transition what, const units::hold_kind& why, const std::string& note) {
    complain(what, w_.chart.problem, note);
    const bool ready = std::ranges::any_of(t_.status.conditions, [](const k8s::condition& c) {
      return c.is_true() && c.type.starts_with(condition_prefix::ready);
    });
    nanoseconds again = waits_;
    if (w_.skip == chart_skip::allowed && !ready)
      again = std::max(again, pause_after(retry_cause::chart_skipped, 1));
    hold(why, w_.chart.problem, again);
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
      return let_go("its annotation asks to leave the release");
    }
    if (is_loser()) return let_go(conflict());  // the release of that name is the other's
    if (w_.release && w_.release->state != status::uninstalled) out_.action = "uninstall";
    if (t_.meta.annotations.get(names::deleting) != "true") {
      say(transition::deleting, "uninstalling " + out_.release);
      tell(tenant_event::delete_started, out_.release);
      return go(step::mark_deleting, "it was deleted");
    }
    uninstall();
  }
  void nothing_left() override { let_go("nothing of it is left"); }
  void on_let_go() override { out_.action = "none"; }

  const tenant_world& w_;
  const tenant& t_;
  tenant_plan& out_;
};

tenant_plan planned(const tenant_world& w) {
  tenant_plan out;
  tenant_planning(w, out).make();
  return out;
}

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
  tenant_plan later = planned(then);
  p.action = later.action;
  p.from = std::move(later.from);
  p.then_held = std::move(later.hold);
}

}  // namespace

bool is_of_the_original(const tenant& t, std::string_view cluster) {
  return !t.fingerprint(cluster).empty() && t.status.last_applied_chart.empty();
}

concern concern_of(const tenant& t, const tenant_world& w) {
  const cluster_ref& ref = t.target;
  if (!ref.secret_ns.empty() && ref.secret_ns != w.discovery_ns) return concern::of_another_cluster;
  if (ref.secret_name == w.cluster) return concern::ours;
  if (!ref.secret_name.empty() && !is_orphan(t, w)) return concern::of_another_cluster;
  const bool chosen = w.primary.empty() || w.primary == w.cluster;
  return chosen ? concern::ours : concern::of_another_name;
}

tenant_plan plan_tenant(const tenant_world& w) {
  tenant_plan out;
  if (!w.object) {
    out.reason = "it is gone";  // an uninstall happens only through the finalizer
    return out;
  }
  out = planned(w);
  if (out.next == step::add_finalizer || out.next == step::create_namespace) look_ahead(w, out);
  return out;
}

}  // namespace helm::tenants
