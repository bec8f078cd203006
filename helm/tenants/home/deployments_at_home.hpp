#pragma once

#include "helm/tenants/cluster/chart_memory.hpp"
#include "helm/tenants/cluster/cluster_reads.hpp"
#include "helm/tenants/cluster/object_writes.hpp"
#include "helm/tenants/cluster/operation_slots.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "helm/tenants/home/region.hpp"
#include "helm/tenants/home/remembered_places.hpp"
#include "helm/tenants/home/watched_deployments.hpp"
#include "helm/tenants/kinds/krypton_deployment.hpp"
#include "helm/tenants/plan/deployment_plan.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/controller.hpp"
#include "reactor/gate.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "app/api/api.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

class chart_supply;

constexpr std::string_view deployments_api = "kryptondeployments";  // --apis, Lease, /clusters

/// The KryptonDeployments at home: each planned and brought to what it shall be on the region
/// cluster that it names, each step decided on what the servers said just before.
/// Shape    one pass at a time for each object; an operation of Helm's runs beside its passes,
///          never two for one object.
/// Stop     what runs is cancelled and joined, its record ended; all within stop_limit.
/// Lifetime engagement, supply and slots outlive it; co_await stop() before destruction.
/// Source   the contract on tenants, section 15.
class deployments_at_home final : public units::part, private k8s::reconciler<k8s::object_key> {
public:
  struct options {
    units::mode does = units::mode::act;
    kind_on_cluster kind = kind_on_cluster::as_served;
    std::function<std::shared_ptr<const wanted_everywhere>()> wanted;
    chart_supply* charts = nullptr;
    operation_slots* slots = nullptr;
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    std::function<void()> on_stop;
    /// The kind is not there and cannot be made when the part starts; empty: it is tried again.
    std::function<void(std::string why)> give_up;
  };
  deployments_at_home(k8s::engagement& on, options o);
  ~deployments_at_home() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string doubt() const override {
    return kind_absence_.problem.empty() ? objects_.doubt() : kind_absence_.problem;
  }
  std::optional<k8s::fault> refusal() const override { return kind_absence_.refused; }
  void reconsider() override;
  void recover() override { reconsider(); }
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  void describe(boost::json::object& entry) const override;
  bool idle() const noexcept { return controller_.idle() && operations_ == 0; }

  static constexpr reactor::nanoseconds stop_limit = std::chrono::seconds(2);

private:
  using key_type = k8s::object_key;
  struct under_way;
  /// What is remembered of an object between two passes; a process that forgets it has lost nothing
  /// but time.
  struct memory {
    k8s::uid uid;
    chart_memory chart;
    attempts tries;
    std::optional<known_release> release;
    std::optional<reactor::wall_time> pending_seen;
    int pending_revision = 0;
    std::optional<availability> workloads;  // looked at in this pass
    std::string applied, account_told;
    k8s::object_key routing_told;
    reactor::wall_time cleaning_since{}, deleting_namespace_since{};
    std::unique_ptr<under_way> running;
    std::optional<deployment_plan> last;
  };
  /// A region for one pass or one operation.
  struct visit {
    k8s::object_key secret;
    edge_facts edge;
    std::shared_ptr<k8s::cluster> at;
    std::string hash, grant;
    std::uint64_t returns = 0;
  };
  struct gathered {
    deployment_world world;
    visit to;
    bool again_soon = false;  // whether the region is there is not known yet
    std::string unreadable;   // what the region said instead of what is there
  };
  struct stepped {
    bool again = false;
    std::optional<krypton_deployment> fresh;
    k8s::next then;
  };

  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override;
  awaitable<void> begin();
  void changed(const krypton_deployment* before, const krypton_deployment* now);
  memory* find(const key_type& key);
  void forget(const key_type& key);
  /// None while it is not known whether the region can be reached.
  std::optional<visit> visit_to(const k8s::object_key& secret);
  /// Closes those that nobody goes to any more.
  void let_regions_go();
  void region_changed(const k8s::object_key& secret);
  std::vector<k8s::object_key> former_targets(const krypton_deployment& d,
                                              const k8s::object_key& now) const;
  /// What we noted of where releases are; tried until home answers.
  awaitable<void> remember();
  /// Notes that we put the release there, or are about to.
  awaitable<void> note_place(const krypton_deployment& about, k8s::object_key target);  // borrowed
  void say_unnoted(const k8s::result<void>& end, const krypton_deployment& about) const;
  /// Whose release that is, where it is noted as another object's that is still there; else empty.
  std::string taken_by(const std::string& noted_owner, const key_type& me) const;
  /// Objects here that go to the same cluster and have the same name.
  void add_claimants(deployment_world& w, const visit& to);

  // deployment_passes.cpp
  awaitable<k8s::result<k8s::next>> pass(key_type key);
  awaitable<gathered> gather(key_type key, krypton_deployment about);
  awaitable<void> look_at_region(key_type key, gathered& g);  // borrowed
  awaitable<stepped> carry_out(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> rest(gathered g, deployment_plan p);
  awaitable<stepped> change_finalizer(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> make_namespace(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> remove_namespace(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> tell_deletion(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> end_abandoned(key_type key, gathered g, deployment_plan p);
  awaitable<stepped> note(key_type key, gathered g);
  awaitable<stepped> say_unreadable(gathered g);
  void start_loading(const key_type& key, const gathered& g);
  awaitable<void> load(key_type key, chart_coordinates c, attempt_key at);

  // deployment_operations.cpp
  void start_operation(const key_type& key, operation what, deployment_step step, visit to);
  awaitable<void> operate(key_type key, under_way* me);
  awaitable<void> perform(key_type key, under_way* me);
  awaitable<std::string> owner_on(under_way& me, std::string workspace);  // borrowed
  awaitable<void> conclude(key_type key, under_way* me, gathered g, deployment_plan p,
                           std::string failure);
  /// The rest of leaving a former region: our namespace there, and what the object notes of it.
  awaitable<std::string> forget_region(key_type key, visit there, std::string workspace);
  awaitable<bool> note_fingerprint(key_type key, const krypton_deployment& about,  // borrowed
                                   k8s::object_key target, std::string fingerprint);
  awaitable<void> end_operation(key_type key, reactor::nanoseconds within);
  awaitable<void> end_operations_on(const k8s::cluster& leaving);  // borrowed

  /// False: it has to be tried again.
  awaitable<bool> say(krypton_deployment about, deployment_verdict is, std::string applied_chart);
  void tell(const krypton_deployment& about, const k8s::event_kind& what, std::string text);
  void tell_all(const krypton_deployment& about, const std::vector<told>& events);
  /// From when on cleaning up has failed; nothing while it is not cleaned up.
  void note_failed_cleaning(const krypton_deployment& about);
  void log(reactor::log_level level, std::string_view line, const krypton_deployment& about,
           const std::string& why = {}) const;
  attempt_key attempt_of(const krypton_deployment& about, const visit& to,
                         const desired_release& wanted) const;
  void count_operation(operation what, const std::string& region, const std::string& failure);
  void show_phases();
  /// What the next pass would find, of who only looks; none where the region says nothing in time.
  awaitable<std::optional<deployment_plan>> look(krypton_deployment d);
  awaitable<std::vector<units::plan_row>> look_at_all();
  units::unit shown(const krypton_deployment& d, const deployment_plan* p) const;

  k8s::engagement& on_;
  options options_;
  object_writes<krypton_deployment> writes_;
  watched_deployments objects_;
  remembered_places places_;
  bool remembers_ = false;
  kind_absence kind_absence_;
  std::map<key_type, memory> known_;
  std::map<key_type, std::unique_ptr<region>> regions_;
  std::set<std::pair<std::string, std::string>> shown_;  // phase and region with a series
  std::size_t operations_ = 0;
  std::uint64_t revision_ = 0;
  k8s::controller<key_type> controller_;
  bool stopping_ = false;
  reactor::gate overviews_;  // those under way
  reactor::event changed_;                // since all were looked at last
  reactor::task_group closing_, ending_;  // joined, never cancelled
  reactor::task_group tasks_;
};

}  // namespace helm::tenants
