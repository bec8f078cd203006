#pragma once

#include "app/api/brake.hpp"
#include "helm/placed/plan/chart.hpp"
#include "helm/placed/plan/release_facts.hpp"
#include "helm/placed/plan/retries.hpp"
#include "helm/placed/plan/workspace.hpp"
#include "k8s/client/event_kind.hpp"
#include "k8s/informer/meta.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::placed {

/// What this process does to a release right now.
enum class operation : std::uint8_t { none, install, upgrade, uninstall };

/// The next step of a plan; one for each pass, so that a process that dies between two has lost
/// nothing.
enum class step : std::uint8_t {
  none,  // nothing to do, or nothing that may be done now
  add_finalizer,
  create_namespace,
  load_chart,
  install,
  upgrade,
  recover,            // mark the pending release as failed
  finish_uninstall,   // of an uninstall that another process began
  note_fingerprint,   // only the annotation is missing
  look_at_workloads,  // whether they are available
  leave_former_region,
  // cleaning up
  mark_deleting,
  tell_deletion,  // the same under the name that KryptonDeployments have for it
  stop_operation,
  uninstall,
  delete_namespace,
  remove_finalizer,
};
std::string_view name_of(step s) noexcept;
/// Whether it begins something, or is a step on the way to that: the brake stops it. The others
/// read, or note what has ended.
bool begins(step s) noexcept;
/// Whether it is carried out beside the passes, once a slot for operations is free.
bool is_operation(step s) noexcept;

/// An Event to tell.
struct told {
  k8s::event_kind what;
  std::string note;
  friend bool operator==(const told& a, const told& b) {
    return a.what.reason == b.what.reason && a.note == b.note;
  }
};

/// What decides about the release of one object on one API server, as copies of one moment. Each
/// kind of object adds its own.
struct placement_facts {
  std::string discovery_ns;
  reserved_namespaces reserved;
  desired_release wanted;
  workspace_facts workspace;
  std::vector<claimant> others;  // further claimants of the namespace, this object not among them
  std::optional<release_facts> release;
  std::optional<reactor::wall_time> pending_seen;  // when it was first seen pending by this process
  chart_facts chart;
  attempt_key attempt;     // what a step of the plan is an attempt at; a failure counts for it
  nanoseconds retry_in{};  // how long `attempt` still has to wait after a failure
  operation running = operation::none;
  std::optional<units::stop> braked;  // nothing begins; what is under way ends
  // Of this process:
  std::string applied;  // the fingerprint that was installed and could not be noted on the object
  reactor::wall_time deleting_namespace_since{};  // when its deletion was asked for
  reactor::wall_time now{};
};

/// What every plan says; each kind of object adds its own.
struct placement_plan {
  step next = step::none;
  std::string release, workspace;
  std::string reason;  // one sentence for people
  std::vector<told> events;
  std::optional<nanoseconds> again_in;  // look again even if nothing changes
  friend bool operator==(const placement_plan&, const placement_plan&) = default;
};

/// Why a plan waits, where the reason is the same for every kind of object.
enum class waits_for : std::uint8_t {
  operating,
  conflict,
  namespace_reserved,
  namespace_terminating,
  namespace_failed,
  release_pending,
  backoff,
  chart_loading,
  braked,
  speed_limit,
};

/// What a kind of object says in its own words.
struct placement_planner_words {
  k8s::event_kind finalizer_added, finalizer_removed, namespace_delete_requested, release_recovered;
  std::string_view finalizer;
  /// Whether an owner that is no claimant may exist where this process does not see it.
  bool (*may_exist)(const names::owner_reference& who);
};

/// The steps that every placed release goes through, in their order. A kind of object derives from
/// it and says what differs: how a wait is shown, what comes before an operation, what it leaves.
/// Shape    one object per plan; pure.
class placement_planner {
public:
  placement_planner(const placement_planner&) = delete;
  placement_planner& operator=(const placement_planner&) = delete;

protected:
  placement_planner(const placement_facts& facts, placement_plan& out,
                    const k8s::object_meta& object, reactor::wall_time created,
                    names::owner_reference me, const placement_planner_words& words);
  ~placement_planner() = default;

  /// Notes that the plan waits, and why.
  virtual void wait(waits_for why, std::string sentence, std::optional<nanoseconds> again) = 0;
  virtual void reserved(const std::string& why) = 0;
  virtual void lost(const std::string& conflict) = 0;
  virtual void terminating() = 0;
  /// There is no release, or only an uninstalled one.
  virtual void absent() = 0;
  /// The release is deployed.
  virtual void deployed() = 0;
  /// The release is in a state out of which an upgrade leads.
  virtual void upgrade(std::string why) = 0;
  virtual void finishes_uninstall() {}
  /// The chart is there and nothing waits.
  virtual void begin(step what, std::string why) = 0;
  /// The last attempt failed, and the pause after it is not over.
  virtual void after_failure() = 0;
  /// How long an operation on the release may take: a pending one is not ended before.
  virtual nanoseconds operation_timeout() const { return placed::operation_timeout; }
  virtual void recovers() {}
  /// Nothing of the object is left at this place.
  virtual void nothing_left() = 0;
  virtual void on_let_go() {}

  void tell(const k8s::event_kind& what, std::string note);
  /// Instead of a step that begins something: the plan waits for the brake or the speed limit, and
  /// tells of nothing.
  bool is_stopped(step what);
  void go(step next, std::string why);
  void go_unless_waiting(step next, std::string why);

  // The way to a release. Each is false where the plan is made.
  bool name_is_free();
  bool has_finalizer(std::string why);
  bool is_idle();
  bool namespace_is_there();
  void follow_release();
  /// Load the chart first, unless it waits after a failure.
  void apply(step what, std::string why);

  // The way out.
  bool is_loser();
  std::string conflict() const;
  void uninstall();
  void remove_namespace();
  void let_go(std::string why);

  const placement_facts& facts_;
  const k8s::object_meta& object_;
  reactor::wall_time created_;
  names::owner_reference me_, owner_;
  nanoseconds waits_;  // before an operation may begin

private:
  void recover();
  std::string state_of_release() const;

  placement_plan& out_;
  const placement_planner_words& words_;
};

}  // namespace helm::placed
