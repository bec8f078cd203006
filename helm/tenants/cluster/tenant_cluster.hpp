#pragma once

#include "app/api/api.hpp"
#include "app/api/row_figures.hpp"
#include "helm/placed/cluster_view.hpp"
#include "helm/placed/keeper.hpp"
#include "helm/placed/operation_slots.hpp"
#include "helm/placed/plan/object_changes.hpp"
#include "helm/placed/release_sight.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/cluster/tenant_writes.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/waves/wave_gate.hpp"
#include "helm/tenants/waves/wave_state.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/gate.hpp"
#include "reactor/metrics.hpp"

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

/// What a keeper is told of Tenants: they have one place, the cluster that they are on.
struct kept_tenants {
  using object = tenant;
  using writes = placed::object_writes<tenant>;
  using world = tenant_world;
  using plan = tenant_plan;
  struct place {};
  struct extra {
    drift_findings drift;
    std::optional<reactor::steady_time> drift_looked;
    std::optional<std::int64_t> skip_told;
    std::string drift_told, refused_told;
    bool mismatch_told = false;
    struct unsaid {
      transition what;
      std::string message, applied_chart;
      std::optional<k8s::condition> plan;
    };
    std::optional<unsaid> unsaved;  // could not be written
    wave_state stands;
  };
};

/// The Tenants of one cluster, each with its release there.
/// Stop     within stop_limit, which is half of what a process has to end.
/// Lifetime engagement, supply and slots outlive it; co_await stop() before destruction.
class tenant_cluster final : public units::cluster_controller,
                             private placed::keeper<kept_tenants> {
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
    units::brake_question brake;
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
  std::string sync_problem() const override {
    return kind_absence_.problem.empty() ? tenants_.sync_problem() : kind_absence_.problem;
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
  /// How far its Tenants are with what is wanted everywhere, for the waves behind it. None: it
  /// can reach it.
  std::optional<policies::rollout_cluster> progress();
  using keeper::idle;
  /// Lists the Tenants afresh and names what differs from what was seen; for simulations, at rest.
  awaitable<k8s::result<std::vector<std::string>>> differences() { return tenants_.differences(); }

private:
  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override;
  awaitable<void> begin();
  static keeper::options keeper_of(const options& o, const reactor::logger& log);
  wave_gate::options gate_of();

  // tenant_passes.cpp
  const tenant* find_object(const key_type& key) const override { return tenants_.find(key); }
  bool is_live() const override { return on_.is_live(); }
  const reactor::logger& log_to() const override { return on_.log(); }
  awaitable<std::optional<k8s::next>> catch_up(key_type key, std::optional<tenant>& fresh) override;
  awaitable<k8s::result<gathered>> gather(key_type key, tenant about, ask how) override;
  tenant_plan plan_for(const gathered& g) const override { return plan_tenant(g.is); }
  bool would_say(const gathered& g, const tenant_plan& p) const override;
  k8s::result<k8s::next> refused(const key_type& key, const k8s::fault& why) override;
  void planned(const key_type& key, const gathered& g, const tenant_plan& p) override;
  awaitable<stepped> rest(key_type key, gathered g, tenant_plan p) override;
  k8s::client& api_of(const kept_tenants::place&) const override { return on_.api(); }
  std::string slot_of(const kept_tenants::place&) const override { return on_.on().name(); }
  awaitable<void> namespace_failed(key_type key, gathered g, std::string why) override;
  awaitable<std::optional<tenant>> say_deletion(tenant now, gathered g, tenant_plan p) override;
  std::string fingerprint_name(const kept_tenants::place&) const override {
    return names::fingerprint_annotation(on_.on().name());
  }
  void fingerprint_noted(const tenant& about, const std::string& fingerprint,
                         const written<tenant>& end) override;
  void forgotten(const key_type& key) override;
  /// Whether a change of what the release owns is told by watches.
  awaitable<bool> look_for_drift(key_type key, known_release release);
  /// A watch shows that something of these releases changed.
  void look_again(std::string_view index, std::string_view value);
  /// Watches show nothing any more: what rests because of them is looked at as before.
  void ask_instead();

  // tenant_turns.cpp
  turn_question question_for_turns(const wave_gate& at) const;
  /// Whether what is planned is a change that waits for its turn: no first install is.
  bool is_change(const tenant& t, const tenant_world& w) const;

  // tenant_operations.cpp
  bool complete(operation_order& order, const gathered& g, const tenant_plan& p,
                const under_way& me) override;
  k8s::discovery& discovery_of(const kept_tenants::place&) const override {
    return on_.discovery();
  }
  awaitable<void> announce(key_type key, gathered& g, tenant_plan p) override;  // borrowed
  outcome_words words_of(operation what, operation_end how, const gathered& g,
                         const tenant_plan& p) const override;
  void count(const under_way& me, const tenant_plan& p, const std::string& failure,
             reactor::nanoseconds took) override;
  awaitable<void> say_failure(key_type key, tenant about, step at, operation what,
                              std::string text) override;
  awaitable<void> say_done(key_type key, operation what, const gathered& g,
                           tenant_plan p) override;  // borrowed

  struct said {
    bool well = true;           // false: it has to be tried again
    std::optional<tenant> now;  // the object since
  };
  /// Status and, where it changed, the phase's Event.
  awaitable<said> say(key_type key, tenant about, transition what, std::string message,
                      std::string applied_chart = {}, std::optional<k8s::condition> plan = {});
  /// What is to be written of the plan: what came to pass, and what it is for who only looks.
  status_change turn_for(const tenant_plan& p) const;
  /// Whether what is planned is not in the object's status yet.
  bool would_say(const tenant& t, const tenant_plan& p) const;
  k8s::event_recorder& events() override { return on_.on().events(); }
  void log(reactor::log_level level, std::string_view line, const tenant& about,
           const std::string& why = {}) const override;
  attempt_key attempt_of(const tenant& t, const desired_release& wanted) const;
  tenant_world world_of(const tenant& t) const;
  void changed(const tenant* before, const tenant* now);
  void count_phase(const key_type& key, std::optional<std::size_t> phase);
  /// One more; the cluster is put to the labels.
  void count(const reactor::metric_kind& kind, reactor::metric_labels labels);
  void count_operation(std::string_view what, std::string_view outcome);
  /// What is shown of the Tenant from now on; none: it is no longer ours.
  void remember(const key_type& key, std::optional<tenant_plan> p);
  awaitable<std::vector<units::plan_row>> look_at_all();
  /// With the chart that is wanted.
  units::unit shown(const tenant& t, const tenant_plan& p, const std::string& chart) const;

  k8s::engagement& on_;
  options options_;
  cluster_reads reads_;
  std::unique_ptr<cluster_view> view_;  // null: this process only looks
  k8s::informer<tenant> tenants_;
  kind_absence kind_absence_;  // why the kind is not there
  std::unique_ptr<units::row_figures> figures_;
  std::map<key_type, std::size_t> counted_;  // phase of each that is ours
  std::array<std::size_t, 3> phases_{};      // as in phase_names
  struct {
    std::array<reactor::gauge, 3> phases;
    reactor::gauge ready, error, depth;
    reactor::histogram pass_seconds, operation_seconds;
  } series_;
  units::row_figures::counts states_, held_;
  std::string row_;  // with series of its own
  std::uint64_t connection_ = 0, revision_ = 0;
  wave_gate gate_;
  struct {
    std::uint64_t revision = 0;
    std::string fingerprint;
    wave_progress is;
  } summed_;
  reactor::gate overviews_;
};

}  // namespace helm::tenants
