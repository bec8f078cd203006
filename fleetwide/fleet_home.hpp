#pragma once

#include "app/api/api.hpp"
#include "app/api/row_figures.hpp"
#include "fleetwide/fleet_members.hpp"
#include "fleetwide/kinds/fleet_grant.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/revision.hpp"
#include "fleetwide/plan/rollout_plan.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/gate.hpp"
#include "reactor/task_group.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
class fleet;
}
namespace policies {
class host;
}

namespace fleetwide {

/// How long a cluster that was reached counts with what was last known of it, and how long one
/// that was never reached is waited for.
inline constexpr reactor::nanoseconds patience_for_a_cluster = std::chrono::seconds(60);
/// How long a FleetPool that is deleted waits for clusters that cannot be reached.
inline constexpr reactor::nanoseconds patience_for_cleanup = std::chrono::minutes(10);

/// One look at one FleetPool: what is asked for, what the clusters have, and what follows.
struct fleet_look {
  fleet_pool object;
  revision_content wanted;
  std::int64_t number = 0;  // of the revision that is asked for, or would be made
  rollout_world world;
  fleet_plan plan;
  std::string held_at;    // the digest that a tag is held at; empty: no tag, or not known
  std::string available;  // what the tag names by now
  std::optional<reactor::wall_time> look_again;
  /// Not later than then.
  void look_again_by(std::optional<reactor::wall_time> then) {
    if (then && (!look_again || *then < *look_again)) look_again = then;
  }
};

/// The FleetPools at home: each is planned over all clusters of the fleet at once, and what the
/// plan says is carried out by the clusters' parts. What has to be known after a restart stands on
/// the pools of members, in the status at home and in ControllerRevisions.
/// Lifetime: engagement, fleet and figures' budget outlive it; co_await stop() before destruction.
class fleet_home final : public units::part, private k8s::reconciler<k8s::object_key> {
public:
  struct options {
    units::mode does = units::mode::act;
    std::string ns;  // the operator's own, whose objects need no grant
    k8s::fleet* fleet = nullptr;
    policies::host* packs = nullptr;  // null: no policy is asked
    /// Null while it is not on that cluster.
    std::function<fleet_members*(const std::string& cluster)> members;
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    units::row_budget* rows = nullptr;
    std::vector<fleet_pool> assumed;  // of who only looks: objects as if they were at home
    std::function<void()> on_stop;
  };
  fleet_home(k8s::engagement& on, options o);
  ~fleet_home() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string doubt() const override { return pools_.doubt(); }
  void reconsider() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }
  void describe(boost::json::object& entry) const override;
  /// All of them by their keys, once the clusters were waited for as long as they deserve.
  awaitable<std::vector<fleet_look>> look_at_all();
  /// The content of a revision that is kept; null: it is not.
  const revision_content* content_of(const std::string& digest, const fleet_pool& p) const;
  /// A pool of that name changed on a cluster.
  void pool_changed(const std::string& pool);

private:
  using place = std::pair<k8s::object_key, std::string>;  // a FleetPool, and a cluster
  struct under_way {
    std::string digest, since;  // as the marks will be
    reactor::steady_time until{};
  };
  struct refused {
    std::string version, digest, why;  // of the pool, and of what was refused
    bool is_conflict = false;
    reactor::steady_time until{};  // then it is tried again
    reactor::wall_time at{};       // the same
  };

  awaitable<k8s::result<k8s::next>> reconcile(k8s::object_key key) override;
  awaitable<k8s::result<k8s::next>> clean_up(fleet_look at);
  std::vector<fleet_pool> objects() const;
  fleet_look look(const fleet_pool& p);
  /// The same after the policy was asked, where there is one and a cluster may begin.
  awaitable<fleet_look> look_and_ask(fleet_pool p);
  awaitable<void> ask_policy(fleet_look& at);  // borrowed
  revision_content content_wanted(const fleet_pool& p) const;
  void gather(fleet_look& at);
  void note_lost(fleet_look& at, member& m);
  void add_member(fleet_look& at, member m, const bootc::node_pool* pool);
  void see_tags(fleet_look& at) const;
  bool is_granted(const fleet_pool& p, std::string_view cluster,
                  const k8s::string_map& labels) const;
  std::string claimed_by_older(const fleet_pool& p, std::string_view cluster,
                               const k8s::string_map& labels) const;
  void ask_brakes(fleet_look& at) const;
  awaitable<k8s::result<void>> write_revision(const fleet_look& at);  // borrowed
  awaitable<k8s::result<void>> make_revision(fleet_look& at);         // borrowed
  awaitable<k8s::result<void>> publish(fleet_pool before, fleet_pool_status s);
  awaitable<k8s::result<void>> finalizers(fleet_pool of, bool ours);
  awaitable<void> prune(fleet_pool p);
  std::size_t start_deeds(const fleet_look& at);
  boost::json::object body_for(const fleet_look& at, const member_plan& m,
                               const revision_content& c) const;
  awaitable<void> carry_out(place where, fleet_pool p, member_plan m, boost::json::object body);
  void tell(const fleet_pool& about, const k8s::event_kind& what, std::string note);
  void count(const fleet_look& at);
  units::plan_row row_of(const fleet_look& at) const;

  k8s::engagement& on_;
  options options_;
  k8s::informer<fleet_pool> pools_;
  k8s::informer<fleet_grant> grants_;
  k8s::informer<fleetwide::revision> revisions_;
  std::unique_ptr<units::row_figures> figures_;
  std::map<place, under_way> begun_;
  std::map<place, refused> refused_;
  std::map<std::string, reactor::steady_time> lost_at_;  // by cluster; of those that are not Live
  std::uint64_t revision_ = 0;
  k8s::controller<k8s::object_key> controller_;
  bool stopping_ = false;
  reactor::steady_time patient_until_;
  reactor::gate overviews_;
  reactor::task_group tasks_;
};

}  // namespace fleetwide
