#pragma once

#include "app/api/api.hpp"
#include "app/api/extra_leases.hpp"
#include "app/api/row_figures.hpp"
#include "compose/concerns.hpp"
#include "compose/objects.hpp"
#include "compose/other_operators.hpp"
#include "compose/pack_data.hpp"
#include "compose/rules/planner.hpp"
#include "compose/same_cluster.hpp"
#include "compose/write_steps.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/controller.hpp"
#include "policies/host/host.hpp"
#include "reactor/gate.hpp"
#include "reactor/task_group.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace compose {

using reactor::awaitable;

/// The custom resources of one cluster that packs compose objects for: it watches the kinds that
/// the packs in force name and that are served, asks the packs, and carries out what the planner
/// says.
/// Members  more than twenty, since a pass over a parent needs all of it: the packs and kinds that
///          are watched, what is known of the parents, which parents a change concerns, what people
///          see.
/// Files    compose_cluster.cpp: packs and kinds, which parents a change concerns.
///          compose_pass.cpp: one look at a parent, and what follows. compose_writes.cpp: the
///          writes. compose_rows.cpp: what people and metrics see.
/// Lifetime engagement, environment, data, rows and names outlive it; co_await stop() before
/// destruction.
class compose_cluster final : public units::cluster_controller,
                              private k8s::reconciler<object_name> {
public:
  struct options {
    units::api_environment environment;
    pack_data::variable variable;
    pack_data& data;
    units::row_budget& rows;
    same_cluster& names;
    same_cluster::place at = same_cluster::place::member;
    reactor::nanoseconds look_at_data = std::chrono::seconds(10);
  };
  compose_cluster(k8s::engagement& on, options o);
  ~compose_cluster() override;

  void start();
  awaitable<void> stop() override;
  /// The kinds that were wanted and are served have been read once.
  awaitable<bool> synced(reactor::steady_time deadline) override;
  void reconsider() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  void describe(boost::json::object& entry) const override;

  bool idle() const noexcept { return controller_.idle(); }

private:
  struct pack_in_force {
    std::shared_ptr<const policies::compose::declaration> about;
    std::shared_ptr<const policies::pack> pack;
    std::vector<std::string> namespaces;  // where it works; empty: in all

    bool is_for(const kind_name& kind, const std::string& ns) const;
  };
  /// What is remembered of a parent between two passes; a restart learns it again.
  struct parent_state {
    std::string uid;
    std::vector<object_name> claims;  // children that its last answer asked for
    std::set<policies::compose::stated_event> told;
    std::map<object_name, policies::compose::settled_write> settled;
    std::map<object_name, std::string> refused;  // what the server said
    std::vector<policies::compose::hold> holds;
    std::string row, shown_as;  // as it is counted: "shop/Shop", "Held"
    std::vector<std::string> shown_codes;
    std::uint32_t races = 0;  // writes in a row that came too late
  };
  /// One look at a parent.
  struct pass_result {
    /// wait: nothing is known well enough to write anything but, where there is one, the plan's
    /// status.
    enum class what { nothing, wait, plan } is = what::nothing;
    pack_in_force by;
    policies::compose::sync_input sync_input;
    policies::compose::sync_answer answer;
    std::vector<policies::compose::related_query> related;
    policies::compose::sync_plan plan;
    bool answered = false;
    /// What was read for it, and how much of it there was.
    std::map<object_name, std::shared_ptr<const object>> read;
    std::size_t read_bytes = 0;
  };
  struct row_counts {
    units::row_figures::counts states, held;
    std::size_t parents = 0;
  };

  // compose_pass.cpp
  awaitable<k8s::result<k8s::next>> reconcile(object_name id) override;
  awaitable<std::shared_ptr<pass_result>> look(object_name id);
  awaitable<std::shared_ptr<pass_result>> look_closely(object_name id);
  awaitable<std::optional<reactor::fault>> ask(std::shared_ptr<pass_result> o,
                                               std::shared_ptr<policies::compose::question> q);
  awaitable<reactor::result<void>> ask_hook(std::shared_ptr<pass_result> o, std::string hook,
                                            std::vector<policies::argument> arguments,
                                            std::int64_t instructions, policies::judge accept);
  awaitable<std::shared_ptr<const object>> read(std::shared_ptr<pass_result> o, object_name id);
  awaitable<void> read_ahead(std::shared_ptr<pass_result> o);
  awaitable<void> plan(std::shared_ptr<pass_result> o);
  std::shared_ptr<const object> seen(const pass_result& o, const object_name& id) const;
  std::vector<object_name> named_in(const pass_result& o) const;
  std::vector<object_name> owned_by(const pass_result& o) const;
  void gather(pass_result& o) const;
  void remember(const object_name& id, const pass_result& o);
  void forget(const object_name& id);
  void tell(const object_name& id, const pass_result& o, const write_steps& done);
  void record_event(const object_name& id, const policies::compose::declaration& about,
                    const policies::compose::stated_event& e);
  void show(const object_name& id, const pass_result& o);
  bool is_behind(const object_name& id, const parent_state* state);
  /// Says that this parent needs views that are current, or no longer does. False while what was
  /// needed is not proved yet.
  bool set_freshness(const object_name& id, const pass_result& o, k8s::freshness how);

  // compose_writes.cpp
  awaitable<write_steps> carry_out_all(object_name id, std::shared_ptr<pass_result> o);
  awaitable<k8s::result<void>> carry_out(std::shared_ptr<const pass_result> o,
                                         policies::compose::action a);
  awaitable<k8s::result<void>> write(std::shared_ptr<const pass_result> o,
                                     policies::compose::action a);
  awaitable<k8s::result<void>> take_away(std::shared_ptr<const pass_result> o,
                                         policies::compose::action a);
  awaitable<k8s::result<boost::json::object>> fill_in(std::shared_ptr<const pass_result> o,
                                                      policies::compose::action a);
  void wrote(const object_name& id, const object& now);

  // compose_rows.cpp
  void count_parents();
  void count(parent_state& state, const std::string& row, const std::string& as,
             std::vector<std::string> codes);
  static std::string row_of(const pass_result& o);

  // compose_cluster.cpp
  awaitable<void> follow_packs();
  awaitable<bool> arrange();
  awaitable<void> follow_data();
  awaitable<void> end_leaving();
  awaitable<k8s::result<k8s::resource>> find_kind(kind_name k);
  void take_packs();
  void take_turns();
  /// Whether this process acts for the pack.
  bool has_turn(const policies::compose::declaration& d) const;
  bool lost_a_kind() const;
  const pack_in_force* pack_for(const object& parent, std::string& named) const;
  /// Why what the pack needs is not there; empty: it is. `complete`: whether all of it was read.
  std::string kinds_problem(const policies::compose::declaration& d) const;
  bool is_complete(const policies::compose::declaration& d) const;
  watched_kind* watched(const kind_name& k) const;
  std::shared_ptr<const object> find(const object_name& id) const;
  /// Whether it concerns a parent, who is then looked at.
  bool changed(const kind_name& kind, const k8s::object_meta* before, const k8s::object_meta* now);
  bool wake(const object_name& changed_one, const k8s::object_meta& m);
  void look_at(const object_name& parent);
  bool is_parent_kind(const kind_name& k) const;
  bool is_parent(const object_name& id) const;
  std::vector<std::string> namespaces_of(const policies::compose::declaration& d) const;

  k8s::engagement& on_;
  options options_;
  units::brake_question brake_;  // asked before each write
  std::string cluster_;
  std::vector<pack_in_force> packs_;
  std::map<kind_name, std::unique_ptr<watched_kind>> kinds_;
  std::vector<std::unique_ptr<watched_kind>> leaving_;
  std::map<kind_name, std::string> missing_;
  std::set<kind_name> without_namespace_;
  std::map<object_name, parent_state> parents_;
  std::map<std::string, object_name> by_uid_;  // parents that are there
  concerns concerns_;  // of parents by claims, related objects, inputs and sources
  std::map<std::string, std::unique_ptr<units::extra_leases::member>> turns_;  // by Lease
  std::map<std::string, std::string> data_digests_;                            // by pack
  std::set<object_name> attending_;
  std::map<std::string, row_counts> rows_;
  units::row_figures figures_;
  std::uint64_t revision_ = 0;
  bool stopping_ = false;
  other_operators others_;
  reactor::gate overviews_;  // those under way
  reactor::event packs_changed_;
  reactor::event arranged_once_;
  std::unique_ptr<same_cluster::seat> seat_;
  k8s::controller<object_name> controller_;
  reactor::task_group tasks_;
};

}  // namespace compose
