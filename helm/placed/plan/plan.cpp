#include "helm/placed/plan/plan.hpp"

#include <algorithm>
#include <utility>

namespace helm::placed {
namespace {

using release::status;
using workspace_state = workspace_facts::state;

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
    case step::look_at_workloads: return "look-at-workloads";
    case step::leave_former_region: return "leave-former-region";
    case step::mark_deleting: return "mark-deleting";
    case step::tell_deletion: return "tell-deletion";
    case step::stop_operation: return "stop-operation";
    case step::uninstall: return "uninstall";
    case step::delete_namespace: return "delete-namespace";
    case step::remove_finalizer: return "remove-finalizer";
  }
  return "";
}

bool begins(step s) noexcept {
  switch (s) {
    case step::none:
    case step::load_chart:
    case step::note_fingerprint:
    case step::look_at_workloads: return false;
    case step::add_finalizer:
    case step::create_namespace:
    case step::install:
    case step::upgrade:
    case step::recover:
    case step::finish_uninstall:
    case step::leave_former_region:
    case step::mark_deleting:
    case step::tell_deletion:
    case step::stop_operation:
    case step::uninstall:
    case step::delete_namespace:
    case step::remove_finalizer: return true;
  }
  return true;
}

bool is_operation(step s) noexcept {
  return s == step::install || s == step::upgrade || s == step::finish_uninstall ||
         s == step::uninstall || s == step::leave_former_region;
}

placement_planner::placement_planner(const placement_facts& facts, placement_plan& out,
                                     const k8s::object_meta& object, reactor::wall_time created,
                                     names::owner_reference me,
                                     const placement_planner_words& words)
    : facts_(facts),
      object_(object),
      created_(created),
      me_(std::move(me)),
      waits_(facts.retry_in),
      out_(out),
      words_(words) {
  if (facts.release) waits_ = std::max(waits_, until_next_revision(*facts.release, facts.now));
}

void placement_planner::tell(const k8s::event_kind& what, std::string note) {
  out_.events.push_back({what, std::move(note)});
}

bool placement_planner::is_stopped(step what) {
  if (!facts_.braked || !begins(what)) return false;
  out_.events.clear();
  const bool is_speed = facts_.braked->code == units::hold_code::speed_limit.code;
  wait(is_speed ? waits_for::speed_limit : waits_for::braked, facts_.braked->sentence,
       facts_.braked->again_in);
  return true;
}

void placement_planner::go(step next, std::string why) {
  if (is_stopped(next)) return;
  out_.next = next;
  out_.reason = std::move(why);
}

void placement_planner::go_unless_waiting(step next, std::string why) {
  if (waits_ > nanoseconds(0))
    wait(waits_for::backoff, "the last operation on " + out_.release + " failed", waits_);
  else
    go(next, std::move(why));
}

bool placement_planner::name_is_free() {
  const std::string why = facts_.reserved.reason(out_.workspace);
  if (why.empty()) return true;
  reserved(why);
  wait(waits_for::namespace_reserved, why, std::nullopt);
  return false;
}

bool placement_planner::has_finalizer(std::string why) {
  if (object_.has_finalizer(words_.finalizer)) return true;
  tell(words_.finalizer_added, out_.release);
  go(step::add_finalizer, std::move(why));
  return false;
}

bool placement_planner::is_idle() {
  if (facts_.running == operation::none) return true;
  wait(waits_for::operating, "an operation on " + out_.release + " is under way", std::nullopt);
  return false;
}

bool placement_planner::namespace_is_there() {
  if (is_loser()) {
    lost(conflict());
    return false;
  }
  if (facts_.workspace.is == workspace_state::terminating) {
    terminating();
    wait(waits_for::namespace_terminating, "namespace " + out_.workspace + " is terminating",
         pause_after(retry_cause::terminating, 1));
    return false;
  }
  if (facts_.workspace.is == workspace_state::present) return true;
  if (facts_.retry_in > nanoseconds(0))
    wait(waits_for::namespace_failed, "namespace " + out_.workspace + " could not be made",
         facts_.retry_in);
  else
    go(step::create_namespace, "namespace " + out_.workspace + " is not there");
  return false;
}

void placement_planner::follow_release() {
  if (!facts_.release || facts_.release->state == status::uninstalled) return absent();
  switch (facts_.release->state) {
    case status::deployed: return deployed();
    case status::pending_install:
    case status::pending_upgrade:
    case status::pending_rollback: return recover();
    case status::uninstalling:
      finishes_uninstall();
      return go_unless_waiting(step::finish_uninstall, "its uninstall has begun");
    case status::failed:
    case status::superseded:
    case status::unknown:
    case status::uninstalled:
      return upgrade("the release is " + std::string(to_string(facts_.release->state)));
  }
}

std::string placement_planner::state_of_release() const {
  return out_.release + " revision " + std::to_string(facts_.release->revision) + " is " +
         std::string(to_string(facts_.release->state));
}

void placement_planner::recover() {
  const nanoseconds left =
      until_abandoned(*facts_.release, facts_.now, facts_.pending_seen, operation_timeout());
  const std::string what = state_of_release();
  if (left > nanoseconds(0)) {
    wait(waits_for::release_pending, what, left);
    return;
  }
  recovers();
  tell(words_.release_recovered, what + ", and no process can be working on it any more");
  go(step::recover, what);
}

void placement_planner::apply(step what, std::string why) {
  using chart = chart_facts::state;
  if (is_stopped(what)) return;
  if (waits_ > nanoseconds(0))
    after_failure();
  else if (facts_.chart.is == chart::loading)
    wait(waits_for::chart_loading, facts_.wanted.chart.text() + " is being fetched", std::nullopt);
  else if (facts_.chart.is != chart::loaded)
    go(step::load_chart, std::move(why));
  else
    begin(what, std::move(why));
}

bool placement_planner::is_loser() {
  std::vector<claimant> all = facts_.others;
  all.push_back({me_, created_});
  owner_ = owner_of(facts_.workspace, all, words_.may_exist);
  return !(owner_ == me_);
}

std::string placement_planner::conflict() const {
  return "namespace " + out_.workspace + " belongs to " + owner_.text();
}

void placement_planner::uninstall() {
  if (facts_.running == operation::install || facts_.running == operation::upgrade)
    return go(step::stop_operation, "it was deleted while an operation was under way");
  if (facts_.running == operation::uninstall)
    return wait(waits_for::operating, out_.release + " is being uninstalled", std::nullopt);
  if (facts_.release && facts_.release->state != status::uninstalled)
    return go_unless_waiting(step::uninstall, "it was deleted");
  remove_namespace();
}

void placement_planner::remove_namespace() {
  if (!may_delete(facts_.workspace, out_.workspace, me_, facts_.discovery_ns))
    return nothing_left();
  if (facts_.workspace.is == workspace_state::terminating) {
    const bool patient = facts_.now - facts_.deleting_namespace_since < namespace_patience;
    return wait(waits_for::namespace_terminating, "namespace " + out_.workspace + " is terminating",
                patient ? namespace_poll : pause_after(retry_cause::terminating, 1));
  }
  go_unless_waiting(step::delete_namespace, "we made namespace " + out_.workspace);
  if (out_.next == step::delete_namespace) tell(words_.namespace_delete_requested, out_.workspace);
}

void placement_planner::let_go(std::string why) {
  tell(words_.finalizer_removed, out_.release);
  go(step::remove_finalizer, std::move(why));
  on_let_go();
}

}  // namespace helm::placed
