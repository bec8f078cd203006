#pragma once

#include "app/api/api.hpp"
#include "app/api/row_figures.hpp"
#include "fleetwide/kinds/fleet_grant.hpp"
#include "fleetwide/kinds/fleet_object.hpp"
#include "fleetwide/kinds/revision.hpp"
#include "fleetwide/large_contents.hpp"
#include "fleetwide/plan/member_sight.hpp"
#include "fleetwide/plan/rollout_plan.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/gate.hpp"
#include "reactor/task_group.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
class cluster;
class fleet;
}  // namespace k8s
namespace policies {
class host;
}

namespace fleetwide {

using reactor::awaitable;

/// How long a cluster that was reached counts with what was last known of it, and how long one
/// that was never reached is waited for.
inline constexpr reactor::nanoseconds patience_for_a_cluster = std::chrono::seconds(60);
/// How long an object that is deleted waits for clusters that cannot be reached.
inline constexpr reactor::nanoseconds patience_for_cleanup = std::chrono::minutes(10);

/// What home has on a cluster of one kind of fleet object.
class member_part : public units::cluster_controller {
public:
  virtual const k8s::engagement& on() const noexcept = 0;
  virtual const units::brake_question& brake() const noexcept = 0;  // asked before a write
};

/// One look at one object: what is asked for, what the clusters have, and what follows.
struct fleet_look {
  fleet_object object;
  revision_content wanted;
  std::int64_t number = 0;  // of the revision that is asked for, or would be made
  rollout_world world;
  fleet_plan plan;
  std::string unknown;    // why it is not known what is asked for; nothing is done then
  bool is_read = false;   // that is so only because it is still being read
  std::string held_at;    // what a tag or a range is held at; empty: neither, or not known
  std::string available;  // what the tag names by now
  std::string signed_by;  // of a chart whose signature is checked; empty: not checked, or not known
  std::string not_taken;  // why what it may have come to by now is not taken, and nothing changes
  std::optional<reactor::wall_time> look_again;
  /// Not later than then.
  void look_again_by(std::optional<reactor::wall_time> then) {
    if (then && (!look_again || *then < *look_again)) look_again = then;
  }
};

/// The number of the revision with that content; its digest where no history has it; "-": none.
std::string revision_text(const fleet_look& at, const std::string& digest);

/// The objects of one kind at home: each is planned over all clusters of the fleet at once, and
/// what the plan says is carried out by the clusters' parts. What has to be known after a restart
/// stands on members, in the status at home and in ControllerRevisions. A kind derives from it and
/// adds what its objects are on a member.
/// Lifetime: engagement, fleet and figures' budget outlive it; co_await stop() before destruction.
class fleet_home : public units::cluster_controller, protected k8s::reconciler<k8s::object_key> {
public:
  struct options {
    units::mode does = units::mode::act;
    std::string ns;  // the operator's own, whose objects need no grant
    k8s::fleet* fleet = nullptr;
    policies::host* packs = nullptr;  // null: no policy is asked
    /// What is known now of the signals that the pack declares which is asked, on a cluster. Empty:
    /// nothing is.
    std::function<policies::signal_facts(const policies::subject& about,
                                         const std::string& cluster)>
        signals = {};
    /// Null while it is not on that cluster.
    std::function<member_part*(const std::string& cluster)> members;
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    units::row_budget* rows = nullptr;
    std::function<void()> on_stop;
  };
  ~fleet_home() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  void reconsider() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  /// Of who only looks: from now on these are looked at as if they were at home.
  void assume(std::vector<fleet_object> objects) { assumed_ = std::move(objects); }
  /// All of them by their keys, once the clusters were waited for as long as they deserve.
  awaitable<std::vector<fleet_look>> look_at_all();
  /// The content of a revision; null: there is none, or it is large and was not loaded.
  const revision_content* content_of(const std::string& digest, const fleet_object& p) const;
  /// Loads what is large of its revisions of these digests, so that content_of() has it.
  awaitable<void> load(fleet_object p, std::vector<std::string> digests);
  /// What objects claim by that name changed on a cluster.
  void claim_changed(const std::string& claim);

protected:
  using place = std::pair<k8s::object_key, std::string>;  // an object, and a cluster
  /// What is said of a kind.
  struct words {
    const k8s::resource& resource;
    std::string_view kind, api, controller;
    std::vector<std::string> asked_at;  // the field whose writer asked for a revision
    std::string_view removes, lets_go;  // a deed, for people
    std::span<const units::condition_kind> conditions;
    std::span<const units::hold_kind> holds;
  };
  fleet_home(k8s::engagement& on, options o, words w);

  // -- what a kind says

  virtual const fleet_object* find_object(const k8s::object_key& key) const = 0;
  virtual void each_object(const std::function<void(const fleet_object&)>& f) const = 0;
  virtual awaitable<bool> objects_synced(reactor::steady_time deadline) = 0;
  virtual awaitable<void> stop_objects() = 0;
  /// Why what is asked for is not known; empty: it is. is_read: it is still being read.
  struct not_known {
    std::string why;
    bool is_read = false;
  };
  /// Looks for what has to be known first.
  virtual awaitable<not_known> prepare(fleet_object) { co_return not_known(); }
  /// The object is gone: gives back what is kept for it.
  virtual void forget(const k8s::object_key&) {}
  virtual revision_content content_wanted(const fleet_object& p) const = 0;
  /// What the cluster has of it. `part` is null while it is not there.
  virtual member_sight sight_on(fleet_look& at, member m, member_part* part) = 0;
  virtual std::string digest_on(member_part& part, const fleet_object& p) const = 0;
  /// What members found a tag to name.
  virtual void see_tags(fleet_look&) const {}
  /// What goes on beside the deeds of a plan.
  virtual void keep(const fleet_look&) {}
  struct deed_order {
    place where;
    fleet_object of;
    member_plan what;
    revision_content content;  // of deed::write
    member_marks marks;
  };
  virtual awaitable<void> carry_out(deed_order d) = 0;
  /// How many deeds more may be begun now; the others wait for a later look.
  virtual std::size_t room() const { return static_cast<std::size_t>(-1); }
  /// What changed under that claim on a cluster concerns the object.
  virtual bool concerns(const fleet_object& p, const std::string& claim) const {
    return p.claim == claim;
  }
  virtual bool grant_reaches(const fleet_grant&, const fleet_object&) const { return true; }

  // -- what all do alike

  /// Null: there is none of that digest.
  const fleetwide::revision* find_revision(const std::string& digest, const fleet_object& p) const;
  /// Loads its revisions that are in force and proven.
  awaitable<void> load_current(fleet_object p);

  void start();
  /// Gives way between clusters.
  awaitable<fleet_look> look(fleet_object p);
  void tell(const fleet_object& about, const k8s::event_kind& what, std::string note);
  /// What a deed led to; `is_seen`: a look shows it from now on.
  void deed_done(const deed_order& d, const k8s::result<void>& done, std::string version,
                 bool is_seen = false);
  /// Whether its namespace may have that cluster.
  bool is_granted(const fleet_object& p, const k8s::cluster& on) const;
  /// Whether it may have any. Of an object that may not nothing is fetched, read or kept.
  bool has_grant(const fleet_object& p) const;
  /// How many clusters are to have it, reached or not: maxClusters may be a share of them.
  std::size_t meant(const fleet_object& p) const;
  /// Nothing of the revision that is asked for begins: the last look found too many failures,
  /// whether that has been written and seen or not, or the status says so.
  bool is_halted(const fleet_object& p) const;
  bool looks_only() const noexcept { return options_.does == units::mode::look; }

  k8s::engagement& on_;
  options options_;
  std::uint64_t revision_ = 0;
  k8s::controller<k8s::object_key> controller_;
  reactor::task_group tasks_;

private:
  struct under_way {
    std::string digest, since;  // as the marks will be
    reactor::steady_time until{};
  };
  struct refused {
    std::string version, digest, why;  // of the object there, and of what was refused
    bool is_conflict = false;
    reactor::steady_time until{};  // then it is tried again
    reactor::wall_time at{};       // the same
  };

  /// Which clusters grants give an object.
  struct reach {
    bool is_all = false;
    std::vector<cluster_choice> choices = {};
    bool has(std::string_view cluster, const k8s::string_map& labels) const;
  };
  /// Older objects that claim the same, each with the clusters that it may have.
  struct rival {
    std::string mark;
    cluster_choice chooses;
    reach granted;
  };
  using rivals = std::vector<rival>;
  /// What was written of an object: nothing is decided on an older one.
  struct written {
    k8s::resource_version version;
    reactor::steady_time until{};
  };

  awaitable<k8s::result<k8s::next>> reconcile(k8s::object_key key) override;
  awaitable<k8s::result<k8s::next>> pass(k8s::object_key key);
  /// Changes that come together are looked at together.
  void look_soon(const k8s::object_key& key);
  /// While any object is rolled out, home's word is never older than seconds: a pause, a brake or
  /// another revision counts although a connection died silently.
  void set_freshness(const k8s::object_key& of, k8s::freshness how);
  awaitable<k8s::result<k8s::next>> clean_up(fleet_look at);
  awaitable<k8s::result<k8s::next>> say_without_plan(fleet_object p, std::string_view reason,
                                                     std::string why);
  std::vector<fleet_object> objects() const;
  /// The same after the policy was asked, where there is one and a cluster may begin.
  awaitable<fleet_look> look_and_ask(fleet_object p);
  awaitable<void> prepare_all();
  enum class asking { what_may_begin, what_signals_say };
  awaitable<void> ask_policy(fleet_look& at, asking what);  // borrowed
  awaitable<void> gather(fleet_look& at);                   // borrowed
  void note_lost(fleet_look& at, member& m);
  void add_member(fleet_look& at, const rivals& older, member m, member_part* part);
  large_contents& large_of(const fleet_object& p) const {
    return large_[p.meta.ns.str() == options_.ns ? 0 : 1];
  }
  static bool is_revision_of(const fleetwide::revision& r, const fleet_object& p);
  /// Whether that grant lets the object reach anything.
  bool gives(const fleet_grant& g, const fleet_object& p) const;
  reach reach_of(const fleet_object& p) const;
  rivals older_than(const fleet_object& p) const;
  void ask_brakes(fleet_look& at) const;
  awaitable<k8s::result<void>> write_revision(const fleet_look& at);               // borrowed
  awaitable<k8s::result<boost::json::object>> put_revision(const fleet_look& at);  // borrowed
  awaitable<k8s::result<void>> make_revision(fleet_look& at);                      // borrowed
  awaitable<k8s::result<void>> publish(fleet_object before, fleet_status s);
  enum class finalizer_is { wanted, done };
  awaitable<k8s::result<void>> set_finalizer(fleet_object of, finalizer_is how);
  awaitable<void> prune(fleet_object p);
  std::size_t start_deeds(const fleet_look& at);
  member_marks marks_for(const fleet_look& at, const member_plan& m) const;
  std::string deed_text(const fleet_look& at, const member_plan& m) const;
  void count(const fleet_look& at);
  units::plan_row row_of(const fleet_look& at) const;

  words words_;
  k8s::informer<fleet_grant> grants_;
  k8s::informer<fleetwide::revision> revisions_;
  mutable std::array<large_contents, 2> large_;  // of our namespace, and of the others
  std::unique_ptr<units::row_figures> figures_;
  std::map<place, under_way> begun_;
  std::map<place, refused> refused_;
  std::map<k8s::object_key, written> written_;
  std::set<k8s::object_key> halted_;                     // by the last look
  std::set<k8s::object_key> rolled_out_;                 // now
  std::map<std::string, reactor::steady_time> lost_at_;  // by cluster; of those that are not Live
  std::vector<fleet_object> assumed_;
  bool stopping_ = false;
  reactor::steady_time patient_until_;
  reactor::gate overviews_;
};

/// At most so many objects of a kind are read at home.
inline constexpr std::size_t most_fleet_objects = 1'000;

/// The objects of a kind, watched.
template <class Object>
class fleet_home_of : public fleet_home {
public:
  std::string sync_problem() const override { return objects_.sync_problem(); }

protected:
  fleet_home_of(k8s::engagement& on, options o, words w)
      : fleet_home(on, std::move(o), w),
        objects_(on.loop(), on.api(),
                 k8s::all_of(w.resource, options_.limits, on.log(), most_fleet_objects)) {
    on.follow(objects_);
    objects_.on_change([this](const Object* before, const Object* now) {
      ++revision_;
      controller_.add((now ? now : before)->meta.key());
      // Who is older, or gone, decides about the others that claim the same.
      if (!before || !now) reconsider();
    });
    objects_.start();
  }
  const fleet_object* find_object(const k8s::object_key& key) const override {
    return objects_.find(key);
  }
  void each_object(const std::function<void(const fleet_object&)>& f) const override {
    objects_.objects().each(f);
  }
  awaitable<bool> objects_synced(reactor::steady_time deadline) override {
    return objects_.synced(deadline);
  }
  awaitable<void> stop_objects() override { co_await objects_.stop(); }

  k8s::informer<Object> objects_;
};

}  // namespace fleetwide
