#pragma once

#include "bootc/pool/drains.hpp"
#include "bootc/pool/reconciler/reconciler_settings.hpp"
#include "k8s/informer/own_writes.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bootc {

/// Annotations to write on BootcNodes, by node.
using node_notes = std::map<std::string, boost::json::object>;

/// Makes the steps of a plan on the server, and knows which of its writes the views do not show
/// yet.
/// Slots     while a write may be on its way that this process does not know of (its predecessor's,
///           or an own one that was never answered) only the server itself says which slots are
///           held.
/// Brake     is asked right before each step that begins something (begins()), however long ago it
///           was planned; so is the speed limit, which counts the step.
/// Lifetime  loop, client, views, drains and log outlive it.
class pool_writer {
public:
  pool_writer(reactor::loop& l, k8s::client& api, cluster_views views, drains& running,
              units::brake_question brake, const reactor::logger& log);

  /// False while a view is older than what this process wrote to the pool or to its nodes.
  awaitable<bool> sees_own_writes(std::string pool);
  /// Makes a step of the pool; `annotations` go along. The version that its object has afterwards;
  /// empty when nothing was written. Errors: errc::conflict where the brake is on or the speed
  /// limit reached.
  awaitable<k8s::result<std::string>> carry_out(const node_pool& pool, const action& a,
                                                boost::json::object annotations);  // borrowed
  awaitable<k8s::result<void>> write_status(node_pool pool, node_pool_status status);
  /// Adds to the pool's record of images what image_histories::is_behind() found to be missing.
  awaitable<k8s::result<void>> write_history(node_pool pool, node_pool_status status,
                                             std::size_t at_once);
  /// False: `go_on` said no, the rest waits.
  awaitable<bool> write_notes(node_notes all, std::function<bool()> go_on);

  /// Other slots than the view shows may be held.
  bool knows_every_slot() const noexcept { return knows_every_slot_; }
  /// Compares the slots that the view shows with those of a consistent read. True: no other slot is
  /// held, and none can come to light later unless it is written from now on.
  awaitable<k8s::result<bool>> slots_are_as_seen();
  void note_unanswered();

  /// The last status that was written to the pool and is not seen yet; or null.
  const node_pool_status* unseen_status(const std::string& pool) const;
  void saw_status(const std::string& pool) { written_.erase(pool); }
  /// The server's kind drops what it does not know: who waits for policies is not kept there.
  bool drops_policy_holds() const;

  /// The view saw it disappear: of what was written to it nothing is awaited any more.
  void gone(const bootc_node& b) { bootc_node_writes_.gone(b.meta.key(), b.meta.uid); }
  void gone(const k8s::node& n) { node_writes_.gone(n.meta.key(), n.meta.uid); }

private:
  std::optional<units::stop> stops(const node_pool& pool) const;

  reactor::loop& loop_;
  k8s::client& api_;
  cluster_views views_;
  drains& drains_;
  units::brake_question brake_;
  const reactor::logger& log_;
  k8s::own_writes pool_writes_, bootc_node_writes_, node_writes_;
  std::map<std::string, node_pool_status> written_;  // by pool, until it is seen
  reactor::steady_time waits_pruned_until_{};
  bool knows_every_slot_ = false;
  reactor::steady_time unknown_writes_land_by_;
};

}  // namespace bootc
