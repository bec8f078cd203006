#pragma once

#include "app/api/api.hpp"
#include "helm/placed/cluster_view.hpp"
#include "helm/placed/keeper.hpp"
#include "helm/placed/operation_slots.hpp"
#include "helm/placed/release_sight.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "helm/tenants/home/region.hpp"
#include "helm/tenants/home/remembered_places.hpp"
#include "helm/tenants/home/watched_deployments.hpp"
#include "helm/tenants/kinds/krypton_deployment.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/deployment_plan.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/engagement.hpp"
#include "reactor/gate.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

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

/// A region for one pass or one operation.
struct region_visit {
  k8s::object_key secret;
  edge_facts edge;
  std::shared_ptr<k8s::cluster> at;
  std::shared_ptr<cluster_view> view;  // null: nothing is watched there
  std::string hash, grant;
  std::uint64_t returns = 0;
};

/// What a keeper is told of KryptonDeployments.
struct kept_deployments {
  using object = krypton_deployment;
  using writes = placed::object_writes<krypton_deployment>;
  using world = deployment_world;
  using plan = deployment_plan;
  using place = region_visit;
  struct extra {
    std::optional<availability> workloads;  // looked at in this pass, or when they were as they are
    std::string workloads_at;               // cluster_view::workloads_at() of that look
    bool workloads_looked = false;          // in this pass
    std::string account_told;
    k8s::object_key routing_told;
    reactor::wall_time cleaning_since{};
  };
};

/// The KryptonDeployments at home, each with its release on the region cluster that it names.
/// Stop     within stop_limit.
/// Lifetime engagement, supply and slots outlive it; co_await stop() before destruction.
/// Source   the contract on tenants, section 15.
class deployments_at_home final : public units::cluster_controller,
                                  private placed::keeper<kept_deployments> {
public:
  struct options {
    units::mode does = units::mode::act;
    kind_on_cluster kind = kind_on_cluster::as_served;
    std::function<std::shared_ptr<const wanted_everywhere>()> wanted;
    chart_supply* charts = nullptr;
    operation_slots* slots = nullptr;
    units::brake_question brake;
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
  std::string sync_problem() const override {
    return kind_absence_.problem.empty() ? objects_.sync_problem() : kind_absence_.problem;
  }
  std::optional<k8s::fault> refusal() const override { return kind_absence_.refused; }
  void reconsider() override;
  void recover() override { reconsider(); }
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  void describe(boost::json::object& entry) const override;
  using keeper::idle;

private:
  using visit = region_visit;

  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override;
  awaitable<void> begin();
  static keeper::options keeper_of(const options& o, const reactor::logger& log);
  void changed(const krypton_deployment* before, const krypton_deployment* now);
  void forgotten(const key_type& key) override;
  /// None while it is not known whether the region can be reached.
  std::optional<visit> visit_to(const k8s::object_key& secret);
  /// Closes those that are no object's target any more.
  std::vector<key_type> all_keys() const;
  /// An object goes there.
  bool is_named(const k8s::object_key& secret) const;
  awaitable<void> let_regions_go();
  reactor::nanoseconds absence_pause() const;
  void region_changed(const k8s::object_key& secret);
  std::vector<k8s::object_key> former_targets(const krypton_deployment& d,
                                              const k8s::object_key& now) const;
  /// What we noted of where releases are; tried until home answers.
  awaitable<void> remember();
  /// Notes that we put the release there, or are about to.
  awaitable<void> note_place(const krypton_deployment& about, k8s::object_key target);  // borrowed
  awaitable<void> remember_place(const krypton_deployment& about, const visit& to) override {
    return note_place(about, to.secret);  // borrowed
  }
  void say_unnoted(const k8s::result<void>& end, const krypton_deployment& about) const;
  /// Objects here that go to the same cluster and have the same name.
  void add_claimants(deployment_world& w, const visit& to);

  // deployment_passes.cpp
  const krypton_deployment* find_object(const key_type& key) const override {
    return objects_.find(key);
  }
  bool is_live() const override { return on_.is_live(); }
  const reactor::logger& log_to() const override { return on_.log(); }
  void begin_pass(const key_type& key) override;
  awaitable<k8s::result<gathered>> gather(key_type key, krypton_deployment about, ask how) override;
  awaitable<void> look_at_region(key_type key, gathered& g, ask how);  // borrowed
  deployment_plan plan_for(const gathered& g) const override;
  bool would_say(const gathered& g, const deployment_plan& p) const override;
  void planned(const key_type& key, const gathered& g, const deployment_plan& p) override;
  awaitable<stepped> rest(key_type key, gathered g, deployment_plan p) override;
  awaitable<stepped> carry_out_own(key_type key, gathered g, deployment_plan p) override;
  k8s::client& api_of(const visit& at) const override { return at.at->api(); }
  std::string slot_of(const visit& at) const override { return at.secret.text(); }
  awaitable<void> namespace_failed(key_type key, gathered g, std::string why) override;
  void cleaning_failed(const krypton_deployment& about) override;
  awaitable<void> before_letting_go(const krypton_deployment& about) override;  // borrowed
  std::string fingerprint_name(const visit& at) const override {
    return names::deployment_fingerprint_annotation(at.secret.ns, at.secret.name);
  }
  /// Watches of a region show nothing any more: what rests because of them is looked at as before.
  void ask_instead(const k8s::object_key& secret);

  // deployment_operations.cpp
  void before_deciding(const key_type& key, const under_way& me, gathered& g) override;
  operation_facts facts_of(const under_way& me, const deployment_plan& p) const override;
  bool complete(operation_order& order, const gathered& g, const deployment_plan& p,
                const under_way& me) override;
  k8s::discovery& discovery_of(const visit& at) const override { return at.at->discovery(); }
  awaitable<void> announce(key_type key, gathered& g, deployment_plan p) override;  // borrowed
  awaitable<operation_answer> owner_of(key_type key, under_way& me,
                                       std::string workspace) override;  // borrowed
  void say_left(const krypton_deployment& about, const visit& at,
                const std::string& owner) override;
  awaitable<std::string> forget_place(krypton_deployment about, visit there,
                                      std::string workspace) override;
  outcome_words words_of(operation what, operation_end how, const gathered& g,
                         const deployment_plan& p) const override;
  void count(const under_way& me, const deployment_plan& p, const std::string& failure,
             reactor::nanoseconds took) override;
  awaitable<void> say_failure(key_type key, krypton_deployment about, step at, operation what,
                              std::string text) override;
  awaitable<void> end_operations_on(const k8s::cluster& leaving);  // borrowed

  /// False: it has to be tried again.
  awaitable<bool> say(krypton_deployment about, deployment_verdict is, std::string applied_chart);
  k8s::event_recorder& events() override { return on_.on().events(); }
  void tell_all(const krypton_deployment& about, const std::vector<told>& events) override;
  void log(reactor::log_level level, std::string_view line, const krypton_deployment& about,
           const std::string& why = {}) const override;
  attempt_key attempt_of(const krypton_deployment& about, const visit& to,
                         const desired_release& wanted) const;
  awaitable<void> show_phases();
  /// What the next pass would find, of who only looks; none where the region says nothing in time.
  awaitable<std::optional<deployment_plan>> look(krypton_deployment d);
  awaitable<std::vector<units::plan_row>> look_at_all();
  units::unit shown(const krypton_deployment& d, const deployment_plan* p) const;

  k8s::engagement& on_;
  options options_;
  watched_deployments objects_;
  remembered_places places_;
  bool remembers_ = false;
  kind_absence kind_absence_;
  std::map<key_type, std::unique_ptr<region>> regions_;
  std::set<std::pair<std::string, std::string>> shown_;  // phase and region with a series
  std::uint64_t revision_ = 0;
  reactor::gate overviews_;      // those under way
  reactor::event changed_;       // since all were looked at last
  reactor::task_group closing_;  // regions; joined, never cancelled
};

}  // namespace helm::tenants
