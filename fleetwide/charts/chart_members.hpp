#pragma once

#include "fleetwide/charts/chart_plan.hpp"
#include "fleetwide/charts/note_writes.hpp"
#include "fleetwide/fleet_home.hpp"
#include "helm/placed/cluster_view.hpp"
#include "helm/placed/keeper.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/informer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace helm::tenants {
class chart_supply;
}

namespace fleetwide {

/// What a keeper is told of the releases of FleetCharts on one cluster.
struct kept_charts {
  using object = chart_order;
  using writes = note_writes;
  using world = chart_world;
  using plan = chart_plan;
  struct place {};
  struct extra {};
};

/// The releases of FleetCharts on one cluster. Home says what each is to be (order()); it is
/// carried out here, and what came of it is noted on the cluster. Of what rests nothing is kept but
/// its note.
/// Lifetime: engagement, supply and slots outlive it; co_await stop() before destruction.
class chart_members final : public member_part, private helm::placed::keeper<kept_charts> {
public:
  struct options {
    units::mode does = units::mode::act;
    std::function<std::shared_ptr<const helm::tenants::wanted_everywhere>()> wanted;
    helm::tenants::chart_supply* charts = nullptr;
    helm::placed::operation_slots* slots = nullptr;
    units::brake_question brake;
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    /// What is there of that claim, or what is done about it, changed.
    std::function<void(const std::string& claim)> on_change;
    /// Whether home still asks for what is about to begin.
    std::function<bool(const chart_order&)> is_asked;
    /// An object of a release that was done may be gone: order() it again.
    std::function<void(chart_members*, const std::string& claim)> on_doubt;
    std::function<void()> on_recovered;
    std::function<void(chart_members*)> on_stop;
  };
  chart_members(k8s::engagement& on, options o);
  ~chart_members() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string sync_problem() const override { return notes_.sync_problem(); }
  void reconsider() override;
  const k8s::engagement& on() const noexcept override { return on_; }
  const units::brake_question& brake() const noexcept override { return options_.brake; }
  using keeper::idle;

  /// What is seen of one release, and of what is done about it for one FleetChart.
  struct seen {
    bool is_known = false;  // what follows was seen; false: it is being looked at
    std::optional<chart_note> note;
    helm::placed::listed_record newest;  // without a name: there is no record
    bool is_ordered = false;             // something is being done about it
    bool is_told = false;                // that has not begun: what is noted counts
    std::string ordered;                 // what it is to have then
    bool goes = false;                   // it is being uninstalled
    std::optional<units::hold> hold;     // why that does not go on
    std::string refusal;                 // what the server says instead of taking it

    bool is_noted_for(const fleet_object& p) const { return note && note->object == p.mark(); }
    bool is_there() const { return !newest.name.empty() && newest.status != "uninstalled"; }
    /// Another's, or of none of ours, and not being taken over.
    bool is_foreign_to(const fleet_object& p) const {
      return !is_noted_for(p) && !is_ordered && (note || is_there());
    }
    /// The release is as it was when it was noted as done, and nothing was found amiss since.
    bool is_as_noted() const {
      return newest.name == note->record && newest.version == note->version && note->hold.empty();
    }
    /// It was done, and what it is by now is as noted or of no interest.
    bool rests(chart_spec::on_drift drift) const {
      return note->is == chart_note::state::done &&
             (is_as_noted() || drift == chart_spec::on_drift::ignore);
    }
  };
  seen look(const fleet_object& of) const;
  /// From now on it is to be so; nothing where it is being made so.
  void order(chart_order o);
  /// What was told and has not begun is forgotten.
  void take_back(const key_type& key);
  /// A revision has begun there and is not done.
  bool is_under_way(const fleet_object& of, std::string_view digest) const;
  /// How many are being done something about, without those that wait for what is no operation.
  std::size_t busy() const;
  /// What is noted of it is forgotten; the release stays.
  awaitable<k8s::result<void>> let_go(k8s::object_key key, std::string claim);
  /// The version of Kubernetes there, "v1.36.0"; empty: not known.
  std::string kubernetes() const;

private:
  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override { return pass(key); }
  awaitable<void> begin();
  static keeper::options keeper_of(chart_members* me, const options& o, const reactor::logger& log);
  static note_writes::options notes_of(chart_members* me, const options& o);
  const chart_notes* notes_now() const;
  std::optional<chart_note> note_for(const std::string& claim) const;
  void changed(const std::string& claim);
  /// What is not asked for any more is taken back.
  bool may_begin(const chart_order& o);
  void follow_kinds_of(const chart_notes& all);
  void object_gone(std::string_view ns);
  void note_refusal(const std::string& claim, std::string why);
  /// What a look from elsewhere has to know stands in the note.
  awaitable<void> note_hold(key_type key, chart_order about, units::hold why);
  awaitable<helm::placed::supplied_chart> chart(helm::placed::chart_coordinates c);

  const chart_order* find_object(const key_type& key) const override;
  void begin_pass(const key_type& key) override;
  bool is_live() const override { return on_.is_live(); }
  const reactor::logger& log_to() const override { return on_.log(); }
  awaitable<k8s::result<gathered>> gather(key_type key, chart_order about,
                                          helm::placed::ask how) override;
  chart_plan plan_for(const gathered& g) const override { return plan_chart(g.is); }
  bool would_say(const gathered&, const chart_plan&) const override { return false; }
  k8s::result<k8s::next> refused(const key_type& key, const k8s::fault& why) override;
  void planned(const key_type& key, const gathered& g, const chart_plan& p) override;
  awaitable<stepped> rest(key_type key, gathered g, chart_plan p) override;
  k8s::client& api_of(const kept_charts::place&) const override { return on_.api(); }
  std::string slot_of(const kept_charts::place&) const override { return on_.on().name(); }
  k8s::event_recorder& events() override { return on_.on().events(); }
  k8s::object_reference reference_to(const chart_order& about) const override;
  void log(reactor::log_level level, std::string_view line, const chart_order& about,
           const std::string& why = {}) const override;
  awaitable<void> namespace_failed(key_type key, gathered g, std::string why) override;
  std::string fingerprint_name(const kept_charts::place&) const override { return "done"; }
  void forgotten(const key_type& key) override;
  bool complete(helm::placed::operation_order& order, const gathered& g, const chart_plan& p,
                const under_way& me) override;
  k8s::discovery& discovery_of(const kept_charts::place&) const override { return on_.discovery(); }
  awaitable<void> announce(key_type, gathered&, chart_plan) override { co_return; }  // borrowed
  outcome_words words_of(helm::placed::operation what, helm::placed::operation_end how,
                         const gathered& g, const chart_plan& p) const override;
  void count(const under_way& me, const chart_plan& p, const std::string& failure,
             reactor::nanoseconds took) override;
  awaitable<void> say_failure(key_type key, chart_order about, helm::placed::step at,
                              helm::placed::operation what, std::string text) override;

  k8s::engagement& on_;
  options options_;
  helm::placed::cluster_reads reads_;
  k8s::informer<chart_notes> notes_;
  chart_notes written_;  // as a write of ours left them, until the watch shows it
  std::unique_ptr<helm::placed::cluster_view> view_;
  std::map<key_type, chart_order> orders_;
  std::map<std::string, std::string> refusals_;  // by claim
};

}  // namespace fleetwide
