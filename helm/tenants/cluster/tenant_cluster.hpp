#pragma once

#include "helm/tenants/cluster/chart_memory.hpp"
#include "helm/tenants/cluster/cluster_reads.hpp"
#include "helm/tenants/cluster/operation_slots.hpp"
#include "helm/tenants/cluster/operation_task.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/cluster/tenant_writes.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "helm/tenants/plan/object_changes.hpp"
#include "helm/tenants/plan/retries.hpp"
#include "helm/tenants/waves/standing.hpp"
#include "helm/tenants/waves/turn.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/gate.hpp"
#include "reactor/metrics.hpp"
#include "reactor/waiters.hpp"
#include "app/api/api.hpp"
#include "app/api/row_figures.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

using reactor::awaitable;
class chart_supply;

constexpr std::string_view api_name = "tenants";  // --apis, Lease, metrics, /clusters

/// What a service with the same settings would do to one Tenant's release, object by object.
struct tenant_preview {
  tenant about;
  tenant_plan plan;
  std::string to;                      // the chart, as text
  std::vector<object_change> changes;  // none where nothing is to be done, or nothing may
};

/// The Tenants of one cluster: watched, planned and brought to what they shall be, each step
/// decided on what the server said
/// just before.
/// Shape    one pass at a time for each Tenant; an operation of Helm's runs beside its passes,
///          never two for one Tenant.
/// Stop     what runs is cancelled and joined, its record ended; all within stop_limit.
/// Lifetime engagement, supply and slots outlive it; co_await stop() before destruction.
class tenant_cluster final : public units::part, private k8s::reconciler<k8s::object_key> {
public:
  struct options {
    units::mode does = units::mode::act;
    kind_on_cluster kind = kind_on_cluster::as_served;
    std::function<std::shared_ptr<const wanted_everywhere>()> wanted;
    std::function<k8s::server_names()> server;
    /// Whether a cluster of that name is in the fleet, reachable or not. May be empty: every name
    /// may be.
    std::function<bool(std::string_view)> known;
    chart_supply* charts = nullptr;
    operation_slots* slots = nullptr;
    /// Who may move to a changed state; fills in what is known of the other clusters. May be empty:
    /// everybody may.
    std::function<awaitable<turn_answer>(turn_question)> ask_turn;
    /// Of the cluster as a whole, on its Secret at home. May be empty.
    std::function<void(const k8s::event_kind&, std::string note)> tell_at_home;
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    units::row_budget* rows = nullptr;
    std::function<void(tenant_cluster*)> on_stop;
  };
  tenant_cluster(k8s::engagement& on, options o);
  ~tenant_cluster() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string doubt() const override {
    return kind_absence_.problem.empty() ? tenants_.doubt() : kind_absence_.problem;
  }
  std::optional<k8s::fault> refusal() const override { return kind_absence_.refused; }
  void reconsider() override;
  void recover() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  void describe(boost::json::object& entry) const override;
  /// Of the Tenant as the server has it now; a hold is looked behind: what would be done without
  /// it. Nothing is written.
  /// Problems the server's, those of the chart, and those with which the operation would begin.
  awaitable<outcome<tenant_preview>> preview(k8s::object_key key);
  /// The Tenant as it was seen last; null where it was not.
  const tenant* seen(const k8s::object_key& key) const { return tenants_.find(key); }
  /// How far its Tenants are with what shall be everywhere, for the waves behind it. None: nobody
  /// can reach it.
  std::optional<policies::rollout_cluster> progress();
  bool idle() const noexcept { return controller_.idle() && operations_ == 0; }
  /// Lists the Tenants afresh and names what differs from what was seen; for simulations, at rest.
  awaitable<k8s::result<std::vector<std::string>>> differences() { return tenants_.differences(); }

  /// Half of what a process has to end: the rest is the others'.
  static constexpr reactor::nanoseconds stop_limit = std::chrono::seconds(2);

private:
  /// What is remembered of a Tenant between two passes; a process that forgets it has lost nothing
  /// but time.
  struct memory {
    k8s::uid uid;
    chart_memory chart;
    attempts tries;
    std::optional<known_release> release;
    std::optional<reactor::wall_time> pending_seen;
    int pending_revision = 0;
    drift_findings drift;
    std::optional<reactor::steady_time> drift_looked;
    std::string applied;
    std::optional<std::int64_t> skip_told;
    std::string drift_told, refused_told;
    bool mismatch_told = false;
    reactor::wall_time deleting_namespace_since{};
    struct unsaid {
      happening what;
      std::string message, applied_chart;
      std::optional<k8s::condition> plan;
    };
    std::optional<unsaid> unsaved;  // could not be written
    std::unique_ptr<operation_task> running;
    std::optional<tenant_plan> last;
    standing stands;
  };
  /// Who may move to one changed state.
  struct turns {
    std::string fingerprint;  // of that state
    std::set<k8s::object_key> wanted, let_in;
    std::map<k8s::object_key, units::hold> held;
    reactor::nanoseconds look_again{};
  };
  using key_type = k8s::object_key;

  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override;
  awaitable<void> begin();
  // tenant_passes.cpp
  awaitable<k8s::result<k8s::next>> pass(key_type key);
  awaitable<k8s::result<tenant_world>> gather(key_type key, std::optional<tenant> fresh);
  awaitable<void> look_for_drift(key_type key, known_release release);
  k8s::result<k8s::next> refused(const key_type& key, const k8s::fault& why);
  /// What a step led to: a look again at once, with the object as it is now where that is known; or
  /// the end of the pass.
  struct stepped {
    bool again = false;
    std::optional<tenant> fresh;
    k8s::next then;
  };
  awaitable<stepped> carry_out(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> rest(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> change_finalizer(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> make_namespace(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> remove_namespace(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> note(key_type key, tenant_world w);
  awaitable<stepped> mark_deleting(key_type key, tenant_world w, tenant_plan p);
  awaitable<stepped> end_abandoned(key_type key, tenant_world w, tenant_plan p);
  void start_loading(const key_type& key, const tenant_world& w);
  awaitable<void> load(key_type key, chart_coordinates c, attempt_key at);

  // tenant_turns.cpp
  /// Why the Tenant must not move to that state yet; none: it may. The first who wants it asks for
  /// all.
  awaitable<std::optional<units::hold>> turn_of(key_type key, std::string fingerprint);
  awaitable<void> ask_for_turns();
  /// Asks again as long as somebody waits.
  awaitable<void> watch_turns();
  turn_question question_for_turns() const;
  void forget_turn(const key_type& key);
  /// Whether what is planned is a change that waits for its turn: no first install is.
  bool is_change(const tenant& t, const tenant_world& w) const;

  // tenant_operations.cpp
  void start_operation(const key_type& key, operation what);
  awaitable<void> operate(key_type key, operation_task* me);
  awaitable<void> perform(key_type key, operation_task* me);
  awaitable<void> conclude(key_type key, operation what, tenant_world w, tenant_plan p,
                           std::string failure);
  awaitable<bool> note_fingerprint(key_type key, tenant about, std::string fingerprint);
  /// Cancels, joins and settles what runs; `within` is for all of it.
  awaitable<void> end_operation(key_type key, reactor::nanoseconds within);

  struct said {
    bool well = true;           // false: it has to be tried again
    std::optional<tenant> now;  // the object since
  };
  /// Status and, where it changed, the phase's Event.
  awaitable<said> say(key_type key, tenant about, happening what, std::string message,
                      std::string applied_chart = {}, std::optional<k8s::condition> plan = {});
  /// What is to be written of the plan: what came to pass, and what it is for who only looks.
  turn_of_events turn_for(const tenant_plan& p) const;
  /// Whether what is planned is not in the object's status yet.
  bool would_say(const tenant& t, const tenant_plan& p) const;
  void tell(const tenant& about, const k8s::event_kind& what, std::string text);
  void tell_all(const tenant& about, const std::vector<told>& events);
  void log(reactor::log_level level, std::string_view line, const tenant& about,
           const std::string& why = {}) const;
  attempt_key attempt_of(const tenant& t, const desired_release& wanted) const;
  memory* find(const key_type& key);
  tenant_world world_of(const tenant& t) const;
  void changed(const tenant* before, const tenant* now);
  void count_phase(const key_type& key, std::optional<std::size_t> phase);
  /// One more; the cluster is put to the labels.
  void count(const reactor::metric_kind& kind, reactor::metric_labels labels);
  void count_operation(std::string_view what, std::string_view outcome);
  /// What is shown of the Tenant from now on; none: it is no longer ours.
  void remember(const key_type& key, std::optional<tenant_plan> p);
  void forget(const key_type& key);
  awaitable<std::vector<units::plan_row>> look_at_all();
  /// With the chart that is wanted.
  units::unit shown(const tenant& t, const tenant_plan& p, const std::string& chart) const;

  k8s::engagement& on_;
  options options_;
  cluster_reads reads_;
  tenant_writes writes_;
  k8s::informer<tenant> tenants_;
  kind_absence kind_absence_;  // why the kind is not there
  std::unique_ptr<units::row_figures> figures_;
  std::map<key_type, memory> known_;
  std::map<key_type, std::size_t> counted_;  // phase of each that is ours
  std::array<std::size_t, 3> phases_{};      // as in phase_names
  std::array<reactor::gauge, 3> phase_gauges_;
  reactor::gauge ready_, error_, depth_;
  reactor::histogram pass_seconds_, operation_seconds_;
  units::row_figures::counts states_, held_;
  std::string row_;  // with series of its own
  std::size_t operations_ = 0;
  std::uint64_t connection_ = 0, revision_ = 0;
  turns turns_;
  bool asks_for_turns_ = false, watches_turns_ = false;
  struct {
    std::uint64_t revision = 0;
    std::string fingerprint;
    wave_progress is;
  } summed_;
  k8s::controller<key_type> controller_;
  bool stopping_ = false;
  reactor::waiters turns_known_;
  reactor::gate overviews_;
  reactor::task_group ending_;  // operations; joined, never cancelled
  reactor::task_group tasks_;
};

}  // namespace helm::tenants
