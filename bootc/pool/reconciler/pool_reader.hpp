#pragma once

#include "bootc/pool/drains.hpp"
#include "bootc/pool/reconciler/reconciler_settings.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bootc {

/// What a plan is asked about: the pool as it is, or once every node has the image.
enum class plan_view { as_it_is, all_staged };

/// Gathers what a plan is made from, and plans. Reading and planning thousands of nodes takes many
/// turns of the loop: each object is as it was at some moment of the reading, as those of several
/// watch streams are anyway.
/// Lifetime  loop, views, drains and settings outlive it.
class pool_reader {
public:
  pool_reader(reactor::loop& l, cluster_views views, drains& running,
              const reconciler_settings& settings)
      : loop_(l), views_(views), drains_(running), settings_(settings) {}

  /// The plan as it may be carried out: before anything is done it is looked up whether another
  /// operator works there. Empty when there is no such pool.
  awaitable<rollout_plan> plan(std::string pool, plan_view of);
  /// Those of the pool's nodes. A drain belongs to the pool that owns the node's object.
  awaitable<drains_by_node> drains_of(std::string pool);
  /// Has the registry asked about the pool's tag, as long as it has one.
  void follow_tag(const std::string& pool);
  /// What is known of that tag; none while it is not followed.
  std::optional<tag_resolution> tag_of(const std::string& pool) const;

  /// Whether copies of what has not changed are kept from one pass to the next.
  void keep_copies(bool keep) noexcept { keep_copies_ = keep; }
  awaitable<void> drop_unused_copies();
  /// Call after a conflict. A store takes a newer version of equal content (a kubelet's heartbeat)
  /// without a word, so that a copy may have the version before it for ever.
  void forget_copies_of(const std::string& node);
  /// Frees a large plan in several turns.
  awaitable<void> give_back(rollout_plan spent);
  /// Objects that readings have taken copies of so far.
  std::size_t copied() const noexcept { return copied_; }

private:
  struct reading;
  awaitable<rollout_plan> plan_once(std::string pool, plan_view of);
  bool arrives(const std::string& pool, const rollout_plan& planned) const;
  awaitable<bool> gather(std::string pool, reading& into);  // borrowed
  awaitable<rollout_plan> decide(reading& world);           // borrowed; uses it up
  /// The plan before any policy is asked.
  awaitable<rollout_plan> first_plan(std::string pool, plan_view of);
  template <class View>
  awaitable<void> copy_all(const k8s::store<View>& from, copies<View>& known,
                           std::vector<std::shared_ptr<const View>>& into);  // borrowed
  /// What the pool asks for, or is assumed to.
  std::string image_of(const node_pool& pool) const;
  void heed_override(pool_world& world) const;
  kubernetes_facts kubernetes_of(const node_pool& pool, const std::optional<tag_resolution>& tag);
  bool is_assumed(const node_pool& pool) const;
  std::string follower(const std::string& pool) const { return settings_.cluster + "/" + pool; }

  reactor::loop& loop_;
  cluster_views views_;
  drains& drains_;
  const reconciler_settings& settings_;
  std::map<std::string, minor_step> asks_;  // by pool, what its last plan asks the gate
  std::size_t copied_ = 0;
  bool keep_copies_ = false, has_copies_ = false;
};

}  // namespace bootc
